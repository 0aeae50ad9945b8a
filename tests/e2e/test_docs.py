"""What the documentation says works, word for word."""

import importlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from scigate.call import LOCAL
from scigate.failure import CORE_REASONS
from scigate.host import Host
from scigate.settings import Settings
from scigate.testing.conformance import conformance

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"```(?:python|toml)\n# (\S+)\n(.*?)```", re.DOTALL)


@pytest.fixture
def mylab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The provider of docs/providers.md, written to disk as the page has it and imported."""
    for name, text in BLOCK.findall((ROOT / "docs/providers.md").read_text()):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("scigate_mylab")
    for name in [name for name in sys.modules if name.startswith("scigate_mylab")]:
        del sys.modules[name]


async def test_the_pages_provider_serves_pages_and_failures(mylab: ModuleType) -> None:
    """The provider of docs/providers.md pages through its emulator and maps its 404 to its own reason."""
    async with Host.open(Settings(offline=True), plugins={"mylab": mylab}) as host:
        first = await host.call("mylab_find_samples", {"project": "P-12"}, LOCAL)
        last = await host.call("mylab_find_samples", {"project": "P-12", "offset": 40}, LOCAL)
        unknown = await host.call("mylab_find_samples", {"project": "P-13"}, LOCAL)
    assert (first.structured["totalFound"], first.structured["nextOffset"]) == (45, 20)
    assert [sample["name"] for sample in last.structured["samples"]] == [f"S-{n}" for n in range(40, 45)]
    assert "nextOffset" not in last.structured
    assert "Sample data: answered by the offline emulator of mylab" in first.structured["notice"]
    assert unknown.structured["error"]["data"]["reason"] == "unknown_project"


async def test_the_pages_provider_conforms(mylab: ModuleType) -> None:
    """A reader who follows the page word for word has a provider that passes the kit."""
    (await conformance("mylab", mylab, thoroughness=3)).require()


async def test_the_pages_tool_that_asks_is_tested_as_the_page_says(mylab: ModuleType, tmp_path: Path) -> None:
    """The page's test, run here on the page's provider with the page's tool registered, and the kit beside it."""
    block = re.search(
        r"```python\n(@hookimpl\ndef register_tools.*?)```", (ROOT / "docs/providers.md").read_text(), re.DOTALL
    )
    assert block is not None
    exec(block[1], vars(mylab))
    page: dict[str, Any] = {}
    exec((tmp_path / "tests/test_ordering.py").read_text(), page)
    await page["test_an_order_is_as_large_as_the_answer"]()
    (await conformance("mylab", mylab, thoroughness=3)).require()


async def test_the_reference_is_what_the_code_says(module_at: Callable[[Path], ModuleType]) -> None:
    """`python docs/generate.py` writes it; a change of a tool, setting, hook or reason is not complete without."""
    for name, text in (await module_at(ROOT / "docs/generate.py").pages()).items():
        assert (ROOT / "docs/reference" / name).read_text() == text, f"{name}: run python docs/generate.py"


def test_troubleshooting_has_every_core_reason() -> None:
    """In the order of the table of reasons."""
    headings = re.findall(r"^## ([a-z_]+)$", (ROOT / "docs/troubleshooting.md").read_text(), re.MULTILINE)
    assert headings == [reason.name for reason in CORE_REASONS]


def test_every_page_is_in_the_navigation() -> None:
    """And every page of the navigation is there."""
    listed = set(re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    assert listed == {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}


def test_the_registry_entry_is_of_this_version() -> None:
    """What server.json starts is a command that exists, of the version that is built here."""
    entry = json.loads((ROOT / "server.json").read_text())
    [package] = entry["packages"]
    assert entry["version"] == package["version"] == version("scigate")
    assert package["identifier"] == "scigate"
    assert [each.get("value", each.get("name")) for each in package["packageArguments"]] == ["serve", "--stdio"]
    assert len(entry["description"]) <= 100


def test_the_readmes_first_blocks_are_its_two_commands() -> None:
    """The README begins with exactly the command that runs the main job and the one that passes the tests."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert [block.strip() for block in blocks] == [
        "pip install ./core ./plugins/* && scigate demo",
        "pip install ./core ./plugins/* -r requirements-dev.txt && pytest",
    ]
