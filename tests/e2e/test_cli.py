"""The `scigate` command as a person or a script runs it: exit codes, what is on which stream, and nothing else."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

SCIGATE = [sys.executable, "-m", "scigate.cli"]
ASPIRIN = ["pubchem_search_compounds", "searchType=identifier", "identifierType=name", "identifiers=aspirin"]
BOUND_S = 60
"""Seconds that any process may take: a bound on a hang, not an expectation."""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The machine's, without settings of scigate."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SCIGATE_")}
    return kept | {"XDG_CONFIG_HOME": str(tmp_path / "none"), "XDG_CACHE_HOME": str(tmp_path / "cache")}


@pytest.fixture
def run(environment: dict[str, str]):
    """Run `scigate` with these words to its end."""

    def scigate(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*SCIGATE, *words],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=environment | variables,
            timeout=BOUND_S,
            check=False,
        )

    return scigate


@contextmanager
def served(words: list[str], environment: dict[str, str]) -> Iterator[str]:
    """Start a server with these words; give the URL that it tells, and interrupt it at the end."""
    with subprocess.Popen([*SCIGATE, *words], stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        bound = threading.Timer(BOUND_S, process.kill)
        bound.start()
        try:
            yield next(found[1] for line in process.stderr if (found := re.search(r"(?:running on |url=)(\S+)", line)))
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate()
            bound.cancel()
    assert process.returncode in (0, 130)


def test_a_result_is_alone_on_standard_output(run) -> None:
    """With --json it is the structured content; exit code 0."""
    done = run("call", *ASPIRIN, "--offline", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert [row["cid"] for row in json.loads(done.stdout)["results"]] == [2244]


def test_without_json_the_text_for_a_reader_is_printed(run) -> None:
    """The same text that a model gets."""
    done = run("call", *ASPIRIN, "--offline")
    assert done.returncode == 0
    assert "2244" in done.stdout
    assert "Sample data" in done.stdout


def test_a_failure_is_exit_code_1(run) -> None:
    """With --json its envelope is on standard output; without, its text is on standard error."""
    wrong = ["call", "pubchem_search_compounds", "searchType=everything", "--offline"]
    as_json = run(*wrong, "--json")
    as_text = run(*wrong)
    assert (as_json.returncode, as_text.returncode) == (1, 1)
    assert json.loads(as_json.stdout)["error"]["data"]["reason"] == "invalid_arguments"
    assert as_text.stdout == ""
    assert "Recovery:" in as_text.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["call", "pubchem_search_compound", "--offline"], "did you mean pubchem_search_compounds"),
        (["call", "pubchem_search_compounds", "aspirin", "--offline"], "write key=value"),
        (["serve", "--http", "--host", "0.0.0.0", "--offline"], "--insecure"),
        (["emulate", "pubchm"], "there is no upstream 'pubchm'; did you mean pubchem?"),
        (["emulate", "pubchem", "--fault", "503;retry=2"], "--fault: no option 'retry'; there are times, match"),
    ],
)
def test_wrong_usage_is_exit_code_2_and_one_line(words: list[str], line: str, run) -> None:
    """The line names what to do instead."""
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("scigate: ")
    assert line in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("variables", "line"),
    [
        ({"SCIGATE_SEVER__PORT": "1"}, "SCIGATE_SEVER__PORT is not a setting; did you mean SCIGATE_SERVER__PORT?"),
        (
            {"SCIGATE_PROVIDERS__PUBMDE__ENABLED": "false"},
            "SCIGATE_PROVIDERS__PUBMDE is not a setting; did you mean SCIGATE_PROVIDERS__PUBMED?",
        ),
        (
            {"SCIGATE_PROVIDERS__PUBMED__API_KYE": "k"},
            "SCIGATE_PROVIDERS__PUBMED__API_KYE is not a setting; did you mean SCIGATE_PROVIDERS__PUBMED__API_KEY?",
        ),
    ],
)
def test_wrong_settings_are_exit_code_2(variables: dict[str, str], line: str, run) -> None:
    """Those of the environment and those of providers alike."""
    done = run("tools", **variables)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"scigate: {line}\n")


def test_a_provider_is_turned_off_by_a_variable(run) -> None:
    """Its tools are not listed and it is said to be disabled."""
    off = {"SCIGATE_PROVIDERS__PUBMED__ENABLED": "false"}
    tools = [tool["name"] for tool in json.loads(run("tools", "--json", **off).stdout)]
    states = {provider["name"]: provider["state"] for provider in json.loads(run("providers", "--json", **off).stdout)}
    assert not [name for name in tools if name.startswith("pubmed")]
    assert states == {"immunograph": "serving", "pubchem": "serving", "pubmed": "disabled"}


def test_piped_lists_are_plain_lines(run) -> None:
    """One line each, tabs between, no colour."""
    tools = run("tools").stdout.splitlines()
    upstreams = run("upstreams", "--offline").stdout.splitlines()
    assert any(line.startswith("pubchem_search_compounds\tSearch Compounds\t") for line in tools)
    assert any(line.startswith("pubchem\tsample data\t5/second, 400/minute\t") for line in upstreams)


def test_config_show_says_where_values_come_from_and_no_secret(run, tmp_path: Path) -> None:
    """A file's line, a variable's name, an option, or the default."""
    file = tmp_path / "c.toml"
    file.write_text("deadline_s = 5\n", encoding="utf-8")
    done = run("config", "show", "--config", str(file), SCIGATE_PROVIDERS__PUBMED__API_KEY="s3cret")
    lines = done.stdout.splitlines()
    assert f"deadline_s\t5.0\t{file}:1" in lines
    assert "providers.pubmed.api_key\tset, not shown\tSCIGATE_PROVIDERS__PUBMED__API_KEY" in lines
    assert "s3cret" not in done.stdout + done.stderr


def test_config_example_is_the_file_in_the_repository(run) -> None:
    """`config/scigate.toml` is what the command prints: `scigate config example > config/scigate.toml` renews it."""
    file = Path(__file__).parents[2] / "config" / "scigate.toml"
    assert run("config", "example").stdout == file.read_text(encoding="utf-8")


def test_the_command_for_a_client_starts_a_server(run, environment: dict[str, str]) -> None:
    """What `config client` prints answers JSON-RPC on standard output, and on nothing else."""
    entry = json.loads(run("config", "client", "--client", "cursor", "--offline").stdout)["mcpServers"]["scigate"]
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    command = [entry["command"], *entry["args"]]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.writelines(json.dumps(message).encode() + b"\n" for message in messages)
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        rest, _ = process.communicate(timeout=BOUND_S)
    assert [answer["id"] for answer in answers] == [1, 2]
    assert len(answers[1]["result"]["tools"]) >= 3
    assert (rest, process.returncode) == (b"", 0)


def test_call_asks_a_running_gateway_by_its_url(run, environment: dict[str, str]) -> None:
    """The same answer, the same exit codes, over the wire."""
    with served(["serve", "--http", "--port", "0", "--offline"], environment) as url:
        done = run("call", *ASPIRIN, "--json", "--url", url)
        unknown = run("call", "pubchem_search_compound", "--url", url)
        failed = run("call", "pubchem_search_compounds", "searchType=everything", "--url", url)
        lost = run("call", *ASPIRIN, "--url", url + "/nowhere")
    assert (done.returncode, done.stderr) == (0, "")
    assert [row["cid"] for row in json.loads(done.stdout)["results"]] == [2244]
    assert (unknown.returncode, failed.returncode, lost.returncode) == (2, 1, 2)
    assert lost.stderr.count("\n") == 1


@pytest.fixture
def guarded(run, environment: dict[str, str], tmp_path: Path) -> Iterator[tuple[str, str]]:
    """A gateway that asks who calls: its URL, and a key that it accepts."""
    variables = {"SCIGATE_AUTH__KEYS_FILE": str(tmp_path / "keys.json"), "SCIGATE_AUTH__ACCEPT": "keys"}
    key = run("keys", "new", "ada", **variables).stdout.split()[0]
    with served(["serve", "--http", "--port", "0", "--offline"], environment | variables) as url:
        yield url, key


def test_call_shows_a_key_that_is_kept_somewhere(run, guarded: tuple[str, str], tmp_path: Path) -> None:
    """In a variable, a file or the keyring; the commands that judge definitions do the same."""
    url, key = guarded
    (tmp_path / "key").write_text(f"{key}\n")
    (tmp_path / "lab_ring.py").write_text(
        "import os\nfrom keyring.backends.null import Keyring\n"
        "class Ring(Keyring):\n    def get_password(self, service, username):\n        return os.environ['KEPT']\n"
    )
    ring = {"PYTHONPATH": str(tmp_path), "PYTHON_KEYRING_BACKEND": "lab_ring.Ring", "KEPT": key}
    for place, variables in (
        ("env:SCIGATE_KEY", {"SCIGATE_KEY": key}),
        (f"file:{tmp_path / 'key'}", {}),
        ("keyring:gate/ada", ring),
    ):
        done = run("call", *ASPIRIN, "--json", "--url", url, "--key-from", place, **variables)
        assert (done.returncode, done.stderr) == (0, "")
        assert [row["cid"] for row in json.loads(done.stdout)["results"]] == [2244]
    listed = run("schema", "snapshot", "--url", url, "--key-from", f"file:{tmp_path / 'key'}")
    assert "pubchem_search_compounds" in listed.stdout


def test_a_gateway_that_asks_who_calls_is_a_line_that_says_how_to_tell(
    run, guarded: tuple[str, str], tmp_path: Path
) -> None:
    """Without a key and with a wrong one, and never with the key in it."""
    url, key = guarded
    (tmp_path / "two").write_text(f"{key}\nX-Other: {key}")
    wrong = {"SCIGATE_KEY": f"{key}x"}
    for words, variables, said in (
        ([], {}, "asks who calls: say where a key is kept with --key-from env:NAME"),
        (["--key-from", "env:SCIGATE_KEY"], wrong, "does not accept the key from env:SCIGATE_KEY"),
        (["--key-from", "env:SCIGATE_KEY"], {}, "the variable SCIGATE_KEY is not set"),
        (["--key-from", f"file:{tmp_path / 'gone'}"], {}, "No such file"),
        (["--key-from", f"file:{tmp_path / 'two'}"], {}, "characters that no key has"),
        (["--key-from", key], {}, "never the key itself"),
    ):
        for command in (["call", *ASPIRIN], ["schema", "snapshot"], ["lint"]):
            done = run(*command, "--url", url, *words, **variables)
            assert (done.returncode, done.stdout) == (2, "")
            assert said in done.stderr
            assert done.stderr.startswith("scigate: ")
            assert done.stderr.count("\n") == 1
            assert key not in done.stderr


def test_a_variable_for_the_key_is_no_setting(run) -> None:
    """A shell that has it can run every command; and a key is shown to nobody who is not named."""
    assert run("call", *ASPIRIN, "--offline", "--json", SCIGATE_KEY="x").returncode == 0
    done = run("call", *ASPIRIN, "--offline", "--key-from", "env:SCIGATE_KEY", SCIGATE_KEY="x")
    assert (done.returncode, done.stderr) == (2, "scigate: --key-from is for --url\n")


def test_an_emulator_is_served_with_faults_on_request(environment: dict[str, str]) -> None:
    """The first answer shows the fault, the next is from sample data and says so."""
    with served(["emulate", "pubchem", "--fault", "503;retry-after=2"], environment) as url:
        address = f"{url}/rest/pug/compound/name/aspirin/cids/JSON"
        first, second = httpx.get(address), httpx.get(address)
    assert (first.status_code, first.headers["retry-after"]) == (503, "2")
    assert second.json()["IdentifierList"]["CID"] == [2244]
    assert second.headers["x-sample-data"] == "pubchem"


def test_one_tool_is_shown_with_its_arguments(run) -> None:
    """What it is for, and of each argument its type or choices, whether it must be given, and its description."""
    lines = run("tools", "pubmed_search_articles").stdout.splitlines()
    assert lines[0].startswith("pubmed_search_articles: Search PubMed")
    rows = [line.split("\t") for line in lines if "\t" in line]
    assert ["query", "text", "required"] in [row[:3] for row in rows]
    assert ["species", "humans or animals", ""] in [row[:3] for row in rows]
    assert ["meshTerms", "text, several", ""] in [row[:3] for row in rows]
    unknown = run("tools", "pubmed_serch_articles")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "did you mean pubmed_search_articles" in unknown.stderr


def test_an_upstreams_address_is_set_by_its_variable(run, environment: dict[str, str]) -> None:
    """A gateway that is not offline asks the emulator, as it would ask the service."""
    with served(["emulate", "pubchem"], environment) as url:
        done = run("call", *ASPIRIN, SCIGATE_UPSTREAMS__PUBCHEM__BASE_URL=f"{url}/")
    assert done.returncode == 0
    assert "2244" in done.stdout


def test_the_demo_shows_every_provider(run) -> None:
    """Each provider's tool, a next page, a capped batch, a failure with its hint, and JSON to paste; exit code 0."""
    done = run("demo")
    assert (done.returncode, done.stderr) == (0, "")
    for told in (
        "pubchem_",
        "pubmed_",
        "fetch_compound",
        "next page at",
        "... page 2",
        "left unprocessed",
        "Recovery:",
    ):
        assert told in done.stdout
    assert '"mcpServers"' in done.stdout
    assert '"servers"' in done.stdout
