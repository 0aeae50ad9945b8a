"""What the tests of commands share."""

import logging
from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(autouse=True)
def log_as_before() -> Iterator[None]:
    """The commands set the process's log up, to a standard error that is gone after them."""
    handlers, level = logging.root.handlers[:], logging.root.level
    yield
    structlog.reset_defaults()
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)
