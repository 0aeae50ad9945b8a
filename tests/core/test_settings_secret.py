"""Secrets kept in a file or in a keyring: what is read, which wins, and what is said when one is not to be had."""

import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked
from pydantic import BaseModel, Field, SecretBytes, SecretStr, model_validator
from scigate.settings import Settings, SettingsError, validate_section
from scigate.settings.origin import Origins
from scigate.settings.report import report
from scigate.settings.secret import LONGEST_BYTES

SECRET = "s3cret-canary"


class Account(BaseModel):
    """A section within a section."""

    user: str = ""
    password: SecretStr | None = None


class LabSettings(BaseModel):
    """A provider's own keys: secrets wherever one may stand."""

    api_key: Annotated[SecretStr | None, Field(min_length=3)] = None
    raw: SecretBytes | None = None
    tokens: list[SecretStr] = []
    by_site: dict[str, SecretStr] = {}
    account: Account = Account()
    accounts: list[Account] = []
    either: SecretStr | Account | None = None
    storage: dict[str, str] = {}
    depth: int = 1

    @model_validator(mode="after")
    def _shallow(self) -> "LabSettings":
        if self.depth > 5:
            raise ValueError("should have a depth of 5 at most")
        return self


class MemoryKeyring(KeyringBackend):
    """A keyring for one test."""

    priority = 1

    def __init__(self, entries: dict[tuple[str, str], str]) -> None:
        self.entries = entries
        self.asked: list[tuple[str, str]] = []

    def get_password(self, service: str, username: str) -> str | None:
        self.asked.append((service, username))
        if service == "locked":
            raise KeyringLocked(f"cannot unlock {SECRET}")
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        raise NotImplementedError

    def delete_password(self, service: str, username: str) -> None:
        raise NotImplementedError


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No SCIGATE_ variable of the machine reaches a test."""
    for name in list(os.environ):
        if name.startswith("SCIGATE_"):
            monkeypatch.delenv(name)


@pytest.fixture
def ring() -> Iterator[MemoryKeyring]:
    """The keyring that the library uses."""
    before = keyring.get_keyring()
    ring = MemoryKeyring({("ncbi", "ada"): SECRET, ("https://id.example", "ada"): "other", ("blank", "ada"): ""})
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], Settings]:
    """Load a configuration file of some text."""

    def loaded(text: str = "") -> Settings:
        path = tmp_path / "scigate.toml"
        path.write_text(text, encoding="utf-8")
        return Settings.load(path)

    return loaded


def lab(settings: Settings) -> LabSettings:
    return settings.provider_section("lab", LabSettings)


def refused(read: Callable[[], object]) -> str:
    """What is said; neither that nor its traceback holds the secret."""
    with pytest.raises(SettingsError) as caught:
        read()
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


def test_a_secret_is_read_from_its_file(tmp_path: Path, load: Any) -> None:
    """Core's and a provider's own; a relative path starts at the configuration file, and line ends are left out."""
    (tmp_path / "key").write_bytes(SECRET.encode() + b"\r\n\n")
    (tmp_path / "marked").write_bytes(b"\xef\xbb\xbf" + SECRET.encode())
    settings = load(f'[audit]\nkey = {{ file = "marked" }}\n[providers.lab]\napi_key = {{ file = "{tmp_path}/key" }}\n')
    assert settings.audit.key == SecretStr(SECRET)
    assert lab(settings).api_key == SecretStr(SECRET)


def test_a_secret_is_read_anew_each_time(tmp_path: Path, load: Any) -> None:
    """A reload validates the section again, and sees what the file holds then."""
    settings = load('[providers.lab]\napi_key = { file = "key" }\n')
    for secret in ("first", "second"):
        (tmp_path / "key").write_text(secret)
        assert lab(settings).api_key == SecretStr(secret)


def test_a_variable_names_the_file(tmp_path: Path, load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It wins over a secret that the configuration has, and over another place that it names."""
    (tmp_path / "key").write_text(SECRET)
    monkeypatch.setenv("SCIGATE_AUDIT__KEY__FILE", str(tmp_path / "key"))
    monkeypatch.setenv("SCIGATE_PROVIDERS__LAB__API_KEY__FILE", str(tmp_path / "key"))
    settings = load('[audit]\nkey = "in clear"\n[providers.lab]\napi_key = { keyring = "ncbi/ada" }\n')
    assert settings.audit.key == SecretStr(SECRET)
    assert lab(settings).api_key == SecretStr(SECRET)


def test_a_plain_variable_wins_over_a_place_in_the_file(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not in force is not read."""
    monkeypatch.setenv("SCIGATE_AUDIT__KEY", SECRET)
    assert load('[audit]\nkey = { file = "nowhere" }\n').audit.key == SecretStr(SECRET)


def test_secrets_are_found_at_any_depth(tmp_path: Path, load: Any) -> None:
    """In lists, mappings and sections; and tables that are no secret's stay as they are."""
    (tmp_path / "key").write_text(SECRET)
    place = '{ file = "key" }'
    found = lab(
        load(f"""
[providers.lab]
raw = {place}
tokens = ["plain", {place}]
by_site = {{ file = "plain", here = {place} }}
account = {{ user = "ada", password = {place} }}
accounts = [{{ password = {place} }}]
either = {place}
storage = {{ file = "nowhere" }}
""")
    )
    assert found.raw is not None
    assert found.account.password is not None
    assert found.accounts[0].password is not None
    assert isinstance(found.either, SecretStr)
    texts = [found.raw.get_secret_value().decode(), *(token.get_secret_value() for token in found.tokens)]
    texts += [found.by_site[name].get_secret_value() for name in ("file", "here")]
    texts += [found.account.password.get_secret_value(), found.accounts[0].password.get_secret_value()]
    assert texts == [SECRET, "plain", SECRET, "plain", SECRET, SECRET, SECRET]
    assert found.either.get_secret_value() == SECRET
    assert found.storage == {"file": "nowhere"}
    other = lab(load('[providers.lab]\neither = { user = "ada" }\n'))
    assert other.either == Account(user="ada")


def test_a_place_that_is_not_filled_in_is_no_place(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with any setting: clients pass empty texts, and placeholders that they did not replace."""
    monkeypatch.setenv("SCIGATE_AUDIT__KEY__FILE", "${AUDIT_KEY_FILE}")
    settings = load('[quota]\nredis_url = { file = "" }\n[providers.lab]\ntokens = [{ file = "" }]\n')
    assert (settings.audit.key, settings.quota.redis_url, lab(settings).tokens) == (None, None, [])


def bad_files(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text(" \n")
    (tmp_path / "latin").write_bytes(SECRET.encode() + b"\xe9")
    (tmp_path / "long").write_text(SECRET + "x" * LONGEST_BYTES)
    (tmp_path / "short").write_text("x")
    (tmp_path / "here").mkdir()


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ('{ file = "gone" }', "gone: No such file or directory; put a file there that this user can read"),
        ('{ file = "here" }', "here: Is a directory; put a file there that this user can read"),
        ('{ file = "empty" }', "empty: empty; write the secret into it"),
        ('{ file = "latin" }', "latin: not UTF-8 text; save it as UTF-8"),
        ('{ file = "long" }', "long: longer than 65,536 bytes; name the file of the secret alone"),
        ('{ keyring = "no/ada" }', "no/ada: no such entry in the keyring; `python -m keyring set no ada` makes one"),
        ('{ keyring = "blank/ada" }', "blank/ada: no such entry in the keyring"),
        ('{ keyring = "locked/ada" }', "locked/ada: the keyring fails (KeyringLocked); `python -m keyring diagnose`"),
    ],
)
@pytest.mark.usefixtures("ring")
def test_a_secret_that_is_not_to_be_had_is_a_problem_of_its_setting(
    table: str, problem: str, tmp_path: Path, load: Any
) -> None:
    """It names the line, the setting, the place and what to do; a provider's like core's."""
    bad_files(tmp_path)
    told = refused(lambda: load(f"[audit]\nkey = {table}\n")).replace(f"{tmp_path}{os.sep}", "")
    assert told.startswith(f"scigate.toml:2: audit.key: {problem}")
    settings = load(f"[providers.lab]\ndepth = 2\napi_key = {table}\n")
    told = refused(lambda: lab(settings)).replace(f"{tmp_path}{os.sep}", "")
    assert told.startswith(f"scigate.toml:3: providers.lab.api_key: {problem}")
    assert "\n" not in told


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("{ file = 3 }", 'audit.key should be a text, { file = PATH } or { keyring = "SERVICE/USER" }'),
        (
            '{ file = "a", keyring = "b/c" }',
            'audit.key should be a text, { file = PATH } or { keyring = "SERVICE/USER" }',
        ),
        ('{ flie = "a" }', "audit.key.flie is not a setting; did you mean audit.key.file?"),
        ('{ keyring = "ncbi" }', "audit.key should be SERVICE/USER, as the entry is called in the keyring"),
    ],
)
def test_a_table_of_another_form_is_refused(table: str, problem: str, load: Any) -> None:
    """The forms that there are are named."""
    assert refused(lambda: load(f"[audit]\nkey = {table}\n")).endswith(f"scigate.toml:2: {problem}")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name")
def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path, load: Any) -> None:
    """A reload could not read it a second time."""
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in refused(lambda: load('[audit]\nkey = { file = "pipe" }\n'))


def test_a_relative_path_of_a_variable_is_refused(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor starts servers in a directory of its own choice; the text says so."""
    monkeypatch.setenv("SCIGATE_PROVIDERS__LAB__API_KEY__FILE", "key")
    told = refused(lambda: lab(load()))
    assert told.startswith("SCIGATE_PROVIDERS__LAB__API_KEY__FILE: key: should be an absolute path")


def test_a_path_from_the_home_directory_is_absolute(tmp_path: Path, load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that no shell has read may say ~ as well."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SCIGATE_AUDIT__KEY__FILE", "~/key")
    (tmp_path / "key").write_text(SECRET)
    assert load().audit.key == SecretStr(SECRET)


def test_two_variables_for_one_secret_are_refused(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which one is meant cannot be known."""
    monkeypatch.setenv("SCIGATE_AUDIT__KEY", SECRET)
    monkeypatch.setenv("SCIGATE_AUDIT__KEY__FILE", "/nowhere")
    assert refused(load) == "SCIGATE_AUDIT__KEY and SCIGATE_AUDIT__KEY__FILE say the same; set one of them"


def test_all_problems_are_told_at_once(load: Any) -> None:
    """Those of secrets among the others, and a secret that could not be read is not also called wrong."""
    told = refused(lambda: load('[server]\nport = "x"\n[audit]\nkey = { file = "gone" }\nchian = true\n'))
    assert [line.split(":")[1] for line in told.splitlines()] == ["4", "2", "5"]


def test_no_error_shows_a_secret_that_was_read(tmp_path: Path, load: Any) -> None:
    """Neither one about the secret itself nor one about the section that holds it."""
    bad_files(tmp_path)
    (tmp_path / "key").write_text(SECRET)
    settings = load('[providers.lab]\ndepth = 9\napi_key = { file = "key" }\n')
    assert refused(lambda: lab(settings)).endswith("providers.lab should have a depth of 5 at most")
    settings = load('[providers.lab]\napi_key = { file = "short" }\n')
    assert refused(lambda: lab(settings)).endswith(
        "providers.lab.api_key should have at least 3 items after validation, not 1"
    )


@pytest.mark.parametrize("value", [f"key={SECRET}", f'{{"key": "{SECRET}"'])
def test_a_section_that_cannot_be_read_is_not_shown(value: str, load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole section may be given as JSON, its secrets with it."""
    monkeypatch.setenv("SCIGATE_AUDIT", value)
    assert refused(load).startswith("SCIGATE_AUDIT should be")


def test_a_secret_is_read_from_the_keyring(ring: MemoryKeyring, load: Any) -> None:
    """The user stands behind the last slash, since a service is often called by its address."""
    settings = load(
        '[audit]\nkey = { keyring = "https://id.example/ada" }\n[providers.lab]\napi_key = { keyring = "ncbi/ada" }\n'
    )
    assert settings.audit.key == SecretStr("other")
    assert lab(settings).api_key == SecretStr(SECRET)
    assert ring.asked == [("https://id.example", "ada"), ("ncbi", "ada")]


BACKEND = f"""
from keyring.backend import KeyringBackend

class Ring(KeyringBackend):
    priority = 1
    def get_password(self, service, username):
        return {SECRET!r} if (service, username) == ("ncbi", "ada") else None
    def set_password(self, service, username, password): ...
    def delete_password(self, service, username): ...
"""
PROGRAM = """
from scigate.settings import Settings
import sys
used = "keyring" in sys.modules
key = Settings.load().audit.key
print(used, "keyring" in sys.modules, key and len(key.get_secret_value()))
"""


def run(directory: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(directory), **variables}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
    )


def test_the_keyring_is_the_one_that_its_own_settings_choose(tmp_path: Path) -> None:
    """The library is imported only where a secret is kept in it."""
    (tmp_path / "lab_ring.py").write_text(BACKEND)
    chosen = {"PYTHON_KEYRING_BACKEND": "lab_ring.Ring"}
    done = run(tmp_path, SCIGATE_AUDIT__KEY__KEYRING="ncbi/ada", **chosen)
    assert (done.stdout, done.stderr) == (f"False True {len(SECRET)}\n", "")
    done = run(tmp_path, **chosen)
    assert (done.stdout, done.stderr) == ("False False None\n", "")


def test_a_keyring_that_is_not_installed_names_the_extra(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As every optional library."""
    monkeypatch.setitem(sys.modules, "keyring", None)
    told = refused(lambda: load('[audit]\nkey = { keyring = "ncbi/ada" }\n'))
    assert told.endswith("audit.key: ncbi/ada: needs an extra: pip install 'scigate[keyring]'")


def test_a_report_says_where_a_secret_is_kept(
    tmp_path: Path, ring: MemoryKeyring, load: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The setting, then the place, and that it is set; a list's places stand together."""
    (tmp_path / "key").write_text(SECRET)
    monkeypatch.setenv("SCIGATE_QUOTA__REDIS_URL__FILE", str(tmp_path / "key"))
    settings = load(
        '[audit]\nkey = { keyring = "ncbi/ada" }\n'
        '[providers.lab]\ndepth = 1\napi_key = { file = "key" }\ntokens = ["x", { file = "key" }]\n'
    )
    lines = {line.name: line for line in report(settings, {"lab": LabSettings})}
    file, key = tmp_path / "scigate.toml", tmp_path / "key"
    assert lines["audit.key"].value == lines["providers.lab.api_key"].value == "set, not shown"
    assert lines["audit.key"].origin == f"{file}:2 (keyring ncbi/ada)"
    assert lines["quota.redis_url"].origin == f"SCIGATE_QUOTA__REDIS_URL__FILE (file {key})"
    assert lines["providers.lab.api_key"].origin == f"{file}:5 (file {key})"
    assert lines["providers.lab.tokens"].origin == f"{file}:6 (file {key})"
    assert SECRET not in repr(lines)


def test_a_section_without_origins_can_name_absolute_paths(tmp_path: Path) -> None:
    """Settings that a program makes have no file that a path could be relative to."""
    (tmp_path / "key").write_text(SECRET)
    found = validate_section(LabSettings, {"api_key": {"file": str(tmp_path / "key")}}, Origins())
    assert found.api_key == SecretStr(SECRET)
    assert "absolute path" in refused(lambda: validate_section(LabSettings, {"api_key": {"file": "key"}}, Origins()))
