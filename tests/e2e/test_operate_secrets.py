"""docs/operate-secrets.md: each place of its table is read, in both forms, and its configuration loads."""

import re
from pathlib import Path

import keyring
import pytest
from keyring.backends.null import Keyring
from scigate.settings import Settings
from scigate_pubmed.settings import PubMedSettings

PAGE = (Path(__file__).parents[2] / "docs" / "operate-secrets.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+?) \| `(api_key = .+?)` \| `(SCIGATE_\w+)=(.+?)` \|$", PAGE, re.MULTILINE)
(CONFIG,) = re.findall(r"```toml\n# scigate.toml\n(.*?)```", PAGE, re.DOTALL)


class Ring(Keyring):
    """Has the page's one entry."""

    def get_password(self, service: str, username: str | None) -> str | None:
        return "KEY" if (service, username) == ("ncbi", "ada") else None


@pytest.fixture(autouse=True)
def ring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring.core, "_keyring_backend", Ring())


def key_of(settings: Settings) -> str | None:
    key = settings.provider_section("pubmed", PubMedSettings).api_key
    return key.get_secret_value() if key else None


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_place_of_the_page_is_read(
    row: tuple[str, str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the configuration and as a variable."""
    _, line, variable, value = row
    (tmp_path / "ncbi").write_text("KEY\n")
    path = tmp_path / "scigate.toml"
    path.write_text(f"[providers.pubmed]\n{line}\n".replace("/run/secrets", str(tmp_path)))
    assert key_of(Settings.load(path)) == "KEY"
    monkeypatch.setenv(variable, value.replace("/run/secrets", str(tmp_path)))
    assert key_of(Settings.load()) == "KEY"


def test_the_page_has_every_place() -> None:
    """In clear, a file, the keyring."""
    assert len(ROWS) == 3


def test_the_configuration_of_the_page_loads(tmp_path: Path) -> None:
    """Its files stand beside it."""
    (tmp_path / "secrets").mkdir()
    for name in ("audit", "ncbi"):
        (tmp_path / "secrets" / name).write_text(f"{name} KEY\n")
    path = tmp_path / "scigate.toml"
    path.write_text(CONFIG)
    settings = Settings.load(path)
    assert settings.audit.key is not None
    assert settings.audit.key.get_secret_value() == "audit KEY"
    assert key_of(settings) == "ncbi KEY"
