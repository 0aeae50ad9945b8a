"""config/scigate.toml and `scigate config example`: every setting, its default, its variable and its reason."""

import re
import tomllib
from pathlib import Path

from pydantic import BaseModel, Field
from scigate.settings import Settings
from scigate.settings.example import example_file

CONFIG = Path(__file__).parents[2] / "config" / "scigate.toml"


class LabSettings(BaseModel):
    """A provider's own keys."""

    depth: int = Field(1, description="How deep to look.")


def uncommented(text: str) -> str:
    """The file with every commented setting in force."""
    return re.sub(r"^#(?=[\[a-z])", "", text, flags=re.MULTILINE)


def test_loading_the_example_gives_the_defaults() -> None:
    """A copy of the file changes nothing."""
    assert Settings.load(CONFIG).model_dump() == Settings().model_dump()


def test_every_setting_stands_in_the_example_with_its_default() -> None:
    """Core's own settings, with no key too many; sections of which there may be many stand as a comment."""
    defaults = Settings().model_dump(exclude={"providers", "upstreams", "rules", "limits"}, exclude_none=True)
    assert tomllib.loads(CONFIG.read_text(encoding="utf-8")) == defaults


def test_every_setting_has_its_variable_and_a_reason() -> None:
    """Two comment lines or more stand before each setting: why, then the variable."""
    lines = CONFIG.read_text(encoding="utf-8").splitlines()
    section = ""
    for number, line in enumerate(lines):
        if header := re.fullmatch(r"#?\[(\S+)\]", line):
            section = header[1].replace(".", "__") + "__"
        elif setting := re.match(r"#?([a-z]\w*) = ", line):
            assert lines[number - 1] == f"# SCIGATE_{section.upper()}{setting[1].upper()}"
            assert re.match(r"# [^\[]{10,}", lines[number - 2])


def test_uncommenting_everything_is_still_the_defaults(tmp_path: Path) -> None:
    """What is commented out stands for a default too: an empty text counts as not set."""
    path = tmp_path / "scigate.toml"
    path.write_text(uncommented(example_file({"lab": LabSettings}, ["lab"])), encoding="utf-8")
    settings = Settings.load(path)
    assert settings.provider("lab").enabled
    assert settings.provider_section("lab", LabSettings) == LabSettings()
    assert settings.upstreams["lab"].model_dump(exclude_none=True) == {}
