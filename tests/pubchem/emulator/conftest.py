"""The emulator in process, and recorded answers of the real service where they are at hand."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest
from scigate.emulator import Emulator
from scigate_pubchem.emulator import create_app

RECORDINGS = Path(__file__).parents[4] / "shared" / "recordings" / "pubchem"


@pytest.fixture
def emulator() -> Emulator:
    return create_app()


@pytest.fixture
async def pug(emulator: Emulator) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=emulator)
    async with httpx.AsyncClient(transport=transport, base_url="http://pubchem/rest/pug") as client:
        yield client


@pytest.fixture
def recorded() -> Callable[[str], str]:
    """Reads a recorded answer; skips the test where the recordings are not at hand."""

    def read(name: str) -> str:
        path = RECORDINGS / name
        if not path.exists():
            pytest.skip("the recordings are not at hand")
        return path.read_text(encoding="utf-8")

    return read
