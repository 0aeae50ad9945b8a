"""Settings: where they are read, which wins, and what is said when they are wrong."""

import json
import os
from pathlib import Path

import pytest
from pydantic import BaseModel, SecretStr
from scigate.settings import Settings, SettingsError, validate_section
from scigate.settings.origin import Origin, Origins, line_numbers


class LabSettings(BaseModel):
    """A provider's own keys."""

    api_key: SecretStr | None = None
    species: list[str] = []
    depth: int = 1


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No SCIGATE_ variable of the machine reaches a test."""
    for name in list(os.environ):
        if name.startswith("SCIGATE_"):
            monkeypatch.delenv(name)


@pytest.fixture
def file(tmp_path: Path):
    """Write a configuration file and give its path."""

    def write(text: str) -> Path:
        path = tmp_path / "scigate.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def refused(path: Path | None = None) -> list[str]:
    """The problems that loading finds, with the directory cut off."""
    with pytest.raises(SettingsError) as caught:
        Settings.load(path)
    return [line.replace(f"{path.parent}{os.sep}", "") if path else line for line in caught.value.problems]


def test_defaults_read_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only `load` looks at the environment."""
    monkeypatch.setenv("SCIGATE_OFFLINE", "true")
    assert Settings().offline is False
    assert Settings.load().offline is True


def test_environment_wins_over_the_file_and_options_over_both(file, monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearer to the person, the stronger."""
    monkeypatch.setenv("SCIGATE_SERVER__PORT", "2")
    path = file('[server]\nport = 1\npath = "/file"\n')
    settings = Settings.load(path, server={"host": "::1"})
    assert (settings.server.port, settings.server.path, settings.server.host) == (2, "/file", "::1")
    assert Settings.load(path, server={"port": 3}).server.port == 3


def test_each_value_knows_its_origin(file, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file's value has its line, a variable's its name."""
    monkeypatch.setenv("SCIGATE_LOG__LEVEL", "debug")
    path = file("deadline_s = 5\n[server]\nport = 1\n")
    origins = Settings.load(path, offline=True).origins
    assert origins.of(("server", "port")) == Origin("file", f"{path}:3")
    assert origins.of(("log", "level")) == Origin("environment", "SCIGATE_LOG__LEVEL")
    assert origins.of(("offline",)) == Origin("option", "--offline")
    assert origins.of(("cache", "enabled")) == Origin("default", "default")


@pytest.mark.parametrize(
    ("name", "value", "path", "expected"),
    [
        ("SCIGATE_UPSTREAMS__PUBCHEM__BASE_URL", "http://127.0.0.1:1", ("upstreams", "pubchem", "base_url"), None),
        ("SCIGATE_PROVIDERS__PUBMED__ENABLED", "false", ("providers", "pubmed", "enabled"), False),
        (
            "SCIGATE_SERVER__ALLOWED_HOSTS",
            "a.example, b.example",
            ("server", "allowed_hosts"),
            ["a.example", "b.example"],
        ),
        ("SCIGATE_SERVER__ALLOWED_HOSTS", '["a.example"]', ("server", "allowed_hosts"), ["a.example"]),
        ("SCIGATE_UPSTREAMS__PUBCHEM__QUOTAS", "5/second", ("upstreams", "pubchem", "quotas"), ["5/second"]),
        ("SCIGATE_LOG", '{"level": "error"}', ("log", "level"), "error"),
        ("scigate_deadline_s", "2.5", ("deadline_s",), 2.5),
    ],
)
def test_variables_name_nested_settings(
    name: str, value: str, path: tuple[str, ...], expected: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two underscores part the levels, and a list may be written with commas."""
    monkeypatch.setenv(name, value)
    node: object = Settings.load()
    for key in path:
        node = node[key] if isinstance(node, dict) else getattr(node, key)
    assert node == (value if expected is None else expected)


@pytest.mark.parametrize("value", ["", "  ", "${SCIGATE_PORT}", "${user_config.port}"])
def test_an_unset_value_is_the_default(value: str, file, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients pass empty texts, and placeholders that they did not replace."""
    monkeypatch.setenv("SCIGATE_SERVER__PORT", value)
    settings = Settings.load(file(f'deadline_s = "{value}"\n'))
    assert settings.server.port == 8765
    assert settings.deadline_s == 60


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("SCIGATE_SEVER__PORT", "SCIGATE_SEVER__PORT is not a setting; did you mean SCIGATE_SERVER__PORT?"),
        ("SCIGATE_SERVER__PROT", "SCIGATE_SERVER__PROT is not a setting; did you mean SCIGATE_SERVER__PORT?"),
        (
            "SCIGATE_UPSTREAMS__NCBI__BASE_ULR",
            "SCIGATE_UPSTREAMS__NCBI__BASE_ULR is not a setting; did you mean SCIGATE_UPSTREAMS__NCBI__BASE_URL?",
        ),
        ("SCIGATE_XYZZY", "SCIGATE_XYZZY is not a setting"),
        (
            "SCIGATE_SERVER__PORT",
            "SCIGATE_SERVER__PORT should be a valid integer, unable to parse string as an integer; it is 'x'",
        ),
    ],
)
def test_a_wrong_variable_is_named_with_the_nearest(name: str, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelt variable is an error, not silence."""
    monkeypatch.setenv(name, "x")
    assert refused() == [problem]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[server]\nprot = 1\n", "scigate.toml:2: server.prot is not a setting; did you mean server.port?"),
        ("\n\nprot = 1\n", "scigate.toml:3: prot is not a setting; did you mean server.port?"),
        ("[sever]\nport = 1\n", "scigate.toml:1: sever is not a setting; did you mean server?"),
        ("server.prot = 1\n", "scigate.toml:1: server.prot is not a setting; did you mean server.port?"),
        ("[server]\nport = 1\nport = 2\n", "scigate.toml:3: not TOML: Cannot overwrite a value (at line 3, column 9)"),
        ("a = \n", "scigate.toml:1: not TOML: Invalid value (at line 1, column 5)"),
        (
            "[log]\nlevel = 'loud'\n",
            "scigate.toml:2: log.level should be 'debug', 'info', 'warning' or 'error'; it is 'loud'",
        ),
        (
            "[server]\nallowed_hosts = [\n  'a',\n  1,\n]\n",
            "scigate.toml:2: server.allowed_hosts.1 should be a valid string; it is 1",
        ),
        (
            "[providers.lab]\nenabled = 'maybe'\n",
            "scigate.toml:2: providers.lab.enabled should be a valid boolean, unable to interpret input; it is 'maybe'",
        ),
        (
            "[upstreams.pubchem]\nquotas = ['5 a second']\n",
            "scigate.toml:2: upstreams.pubchem.quotas.0 should be a number of requests and a window, "
            "such as 5/second, 400/minute or 100/10s; it is '5 a second'",
        ),
    ],
)
def test_a_wrong_line_is_named(text: str, problem: str, file) -> None:
    """The line, the key, what is wanted and what is there."""
    assert refused(file(text)) == [problem]


def test_all_problems_are_told_at_once(file, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody mends settings one run at a time."""
    monkeypatch.setenv("SCIGATE_SEVER__PORT", "1")
    assert len(refused(file("[server]\nprot = 1\nport = 'x'\n"))) == 3


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The text says how the file was chosen."""
    assert refused(tmp_path / "no.toml") == ["no.toml: No such file or directory; --config or SCIGATE_CONFIG names it"]


def test_bytes_that_are_not_text_are_refused(tmp_path: Path) -> None:
    """TOML is UTF-8."""
    path = tmp_path / "scigate.toml"
    path.write_bytes(b"# caf\xe9\n")
    assert refused(path) == ["scigate.toml: not UTF-8 text (invalid continuation byte at byte 5)"]


def test_a_providers_own_keys_are_kept_for_its_model(file, monkeypatch: pytest.MonkeyPatch) -> None:
    """An API key of digits stays text, and a list may be written with commas."""
    monkeypatch.setenv("SCIGATE_PROVIDERS__LAB__API_KEY", "12345")
    monkeypatch.setenv("SCIGATE_PROVIDERS__LAB__SPECIES", "mouse,rat")
    lab = Settings.load(file("[providers.lab]\ndepth = 3\n")).provider_section("lab", LabSettings)
    assert lab.api_key is not None
    assert lab.api_key.get_secret_value() == "12345"
    assert (lab.species, lab.depth) == (["mouse", "rat"], 3)


def test_a_providers_wrong_keys_are_named_like_cores(file) -> None:
    """Core's own keys of the section count among the nearest names, and keys that a model would ignore are refused."""
    settings = Settings.load(file("[providers.lab]\nenabeld = true\ndepht = 1\ndepth = 'deep'\n"))
    with pytest.raises(SettingsError) as caught:
        settings.provider_section("lab", LabSettings)
    assert [line.rpartition(os.sep)[2] for line in caught.value.problems] == [
        "scigate.toml:2: providers.lab.enabeld is not a setting; did you mean providers.lab.enabled?",
        "scigate.toml:3: providers.lab.depht is not a setting; did you mean providers.lab.depth?",
        "scigate.toml:4: providers.lab.depth should be a valid integer, unable to parse string as an integer; "
        "it is 'deep'",
    ]


def test_a_secret_is_not_told_in_an_error() -> None:
    """An error's text ends up in logs."""
    with pytest.raises(SettingsError) as caught:
        validate_section(LabSettings, {"api_key": ["s3cret"]}, Origins())
    assert "s3cret" not in str(caught.value)
    assert "api_key should be a valid string" in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        (["s3cret"], "should each have 32 bytes or more (`openssl rand -hex 32` makes one)"),
        (["s3cret" * 6] * 2, "should differ"),
    ],
)
def test_keys_that_seal_nothing_are_refused_and_not_told(keys: list[str], problem: str, file) -> None:
    """A short key can be guessed; of two alike, one was meant to be another."""
    [told] = refused(file(f"[server]\nstate_keys = {json.dumps(keys)}\n"))
    assert told == f"scigate.toml:2: server.state_keys {problem}"


def test_keys_between_commas_are_read_from_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a fleet's secret store hands them over."""
    monkeypatch.setenv("SCIGATE_SERVER__STATE_KEYS", f"{'a' * 32},{'b' * 32}")
    settings = Settings.load()
    assert [key.get_secret_value()[0] for key in settings.server.state_keys] == ["a", "b"]
    assert "aaaa" not in repr(settings)


def test_a_password_in_an_address_is_not_told(file) -> None:
    """A URL may carry one."""
    [problem] = refused(file("[upstreams.pubchem]\nbase_url = 'ftp://me:s3cret@lab.example'\n"))
    assert "s3cret" not in problem
    assert "ftp://***@lab.example" in problem


def test_sections_that_nobody_declares_are_refused(file) -> None:
    """An unknown provider or upstream is named with the nearest one."""
    settings = Settings.load(file("[providers.pubmde]\nenabled = false\n\n[upstreams.nbci]\ncache = false\n"))
    with pytest.raises(SettingsError) as caught:
        settings.require_known(providers=["pubchem", "pubmed"], upstreams=["ncbi"])
    assert [line.rpartition(os.sep)[2] for line in caught.value.problems] == [
        "scigate.toml:1: providers.pubmde is not a setting; did you mean providers.pubmed?",
        "scigate.toml:4: upstreams.nbci is not a setting; did you mean upstreams.ncbi?",
    ]


def test_line_numbers_hold_for_every_form_of_toml() -> None:
    """Dotted keys, inline tables and values over several lines each have the line on which they begin."""
    text = "a.b = 1\nc = {d = 2,\n  e = 3}\n"
    assert line_numbers(text.replace(",\n ", ",")) == {
        ("a",): 1,
        ("a", "b"): 1,
        ("c",): 2,
        ("c", "d"): 2,
        ("c", "e"): 2,
    }
    text = '# note\nlong = """\nx = 1\n"""\nlist = [\n  1,\n]\n[t]\nk = 1\n'
    assert line_numbers(text) == {("long",): 2, ("list",): 5, ("t",): 8, ("t", "k"): 9}


def test_paths_in_a_file_are_meant_from_its_directory(tmp_path: Path) -> None:
    """Wherever the gateway is started; a whole path stays as it is."""
    path = tmp_path / "scigate.toml"
    path.write_text('[audit]\npath = "audit.jsonl"\n[auth]\nkeys_file = "/etc/keys.json"\n', encoding="utf-8")
    settings = Settings.load(path)
    assert settings.audit.path == tmp_path / "audit.jsonl"
    assert settings.auth.keys_file == Path("/etc/keys.json")
