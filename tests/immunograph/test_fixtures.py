"""Fixture folders: what is served, what is refused, and that a refusal names the fixture."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import scigate_immunograph
from scigate import FailureError
from scigate.host import Host, Reply
from scigate.settings import Settings, SettingsError
from scigate_immunograph.fixtures import SHIPPED, FixtureFile, Fixtures, sealed

Call = Callable[..., Awaitable[Reply]]
Write = Callable[..., None]

ASPIRIN = json.loads((SHIPPED / "aspirin.json").read_text("utf-8"))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a fixture into the user's folder: aspirin's with changes, sealed anew unless told otherwise."""

    def write(name: str, *, seal: bool = True, **changes: Any) -> None:
        plain = {**ASPIRIN, "key": name, **changes}
        if seal:
            plain.pop("hash")
            plain = sealed(FixtureFile.model_validate(plain))
        (tmp_path / f"{name}.json").write_text(json.dumps(plain), "utf-8")

    return write


def test_every_shipped_fixture_is_intact() -> None:
    """Some tens of compounds, each found by its key and by its CID."""
    fixtures = Fixtures()
    assert len(fixtures.keys) >= 40
    for key in fixtures.keys:
        content = fixtures.by_key(key).content
        assert fixtures.standing_for("pubchem", str(content.compound.cid)).content.key == key


def test_a_users_fixture_comes_before_a_shipped_one(tmp_path: Path, write: Write) -> None:
    """Of one key and of one CID alike, and its set says so."""
    write("aspirin", licence="mine")
    fixtures = Fixtures(tmp_path)
    assert fixtures.by_key("aspirin").content.licence == "mine"
    assert fixtures.standing_for("pubchem", "2244").origin == "user"


def test_a_changed_fixture_is_refused_by_name(tmp_path: Path, write: Write) -> None:
    """One letter is enough; the others serve, and nothing stands in for it under its key."""
    write("changed", seal=False, licence="other")
    fixtures = Fixtures(tmp_path)
    with pytest.raises(FailureError, match="'changed' does not match its recorded hash") as caught:
        fixtures.by_key("changed")
    assert caught.value.failure.reason == "fixture_hash_mismatch"
    assert fixtures.by_key("caffeine").origin == "shipped"
    with pytest.raises(FailureError, match="Refused for what is in their files: changed"):
        fixtures.standing_for("pubchem", "999999999")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"key": "odd", "hash": "x"}', '{"n": 1e400}', "\ufeff{}"])
def test_a_file_of_another_form_is_refused_by_name(tmp_path: Path, text: str) -> None:
    """Whatever is in it."""
    (tmp_path / "odd.json").write_text(text, "utf-8")
    with pytest.raises(FailureError, match="'odd'") as caught:
        Fixtures(tmp_path).by_key("odd")
    assert caught.value.failure.reason == "fixture_invalid"


def test_a_fixture_under_another_name_is_refused(tmp_path: Path, write: Write) -> None:
    """A copied file must not serve under two keys."""
    write("first")
    (tmp_path / "second.json").write_bytes((tmp_path / "first.json").read_bytes())
    with pytest.raises(FailureError, match="holds the key 'first'"):
        Fixtures(tmp_path).by_key("second")


async def test_a_folder_that_is_not_there_is_refused_at_the_start(tmp_path: Path) -> None:
    """Instead of serving without the fixtures in it."""
    section = {"immunograph": {"fixtures": str(tmp_path / "missing")}}
    with pytest.raises(SettingsError, match="fixtures"):
        async with Host.open(
            Settings.model_validate({"providers": section}), plugins={"immunograph": scigate_immunograph}
        ):
            pass


async def test_a_users_folder_is_served_by_config(tmp_path: Path, write: Write, fetch: Call) -> None:
    """And the result says whose fixture it was."""
    write("mine")
    section = {"immunograph": {"fixtures": str(tmp_path), "record": False}}
    settings = Settings.model_validate({"offline": True, "providers": section})
    async with Host.open(settings, plugins={"immunograph": scigate_immunograph}) as host:
        reply = await fetch(host, source="fixture", compoundRef="mine", fallbackPolicy="FIXTURE_ONLY")
    assert reply.structured["data"]["provenance"]["fixtureSet"] == "user"
