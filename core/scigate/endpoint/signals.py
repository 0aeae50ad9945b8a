"""The two signals that ask a server to stop."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from typing import Final

import anyio
import structlog

__all__ = ["at_stop_signal"]

_log: Final = structlog.get_logger("scigate.endpoint")


async def at_stop_signal(stop: Callable[[], object]) -> None:
    """Call `stop` at each SIGTERM and SIGINT until cancelled.

    Returns at once where no signal can be received: outside of the main thread, and on Windows.
    """
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        return
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            _log.info("stopping", signal=number.name)
            stop()
