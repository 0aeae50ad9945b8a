"""A provider from outside the workspace: installed with core alone, called over MCP, and broken in every way."""

import subprocess
import sys
import sysconfig
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest
import scigate_pubchem
from mcp import Client, StdioServerParameters
from pydantic import Field
from scigate import LOCAL, Call, Host, Input, Output, Settings, hookimpl, tool

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "scigate-uniprot"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has core, the example's wheel and what they need, and nothing else of ours."""
    place = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place / "venv")], check=True, timeout=60)
    [site] = (place / "venv").glob("lib/python*/site-packages")
    # What core depends on is linked from here: a test fetches nothing.
    for entry in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if not entry.name.lower().lstrip("_").startswith(("scigate", "editable")) and not (site / entry.name).exists():
            (site / entry.name).symlink_to(entry)
    offline = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "wheel", *offline, "-w", str(place), str(EXAMPLE)], check=True, timeout=100)
    [wheel] = place.glob("scigate_uniprot-*.whl")
    subprocess.run(
        [*pip, "install", *offline, "--target", str(site), str(ROOT / "core"), str(wheel)], check=True, timeout=100
    )
    return place / "venv" / "bin" / "python"


def gateway(python: Path, **environment: str) -> Client:
    words = ["-m", "scigate.cli", "serve", "--stdio", "--offline"]
    return Client(StdioServerParameters(command=str(python), args=words, env=environment))


async def test_it_serves_beside_core_alone(fresh: Path) -> None:
    """Its tools are the only ones, its sample answers, its licence is said, its resource is there."""
    async with gateway(fresh) as client:
        assert [each.name for each in (await client.list_tools()).tools] == [
            "uniprot_search_proteins",
            "uniprot_get_protein",
        ]
        result = await client.call_tool("uniprot_search_proteins", {"query": "gene:INS"})
        templates = await client.list_resource_templates()
    assert result.structured_content is not None
    assert result.structured_content["proteins"][0]["accession"] == "P01308"
    assert "CC BY 4.0" in result.structured_content["notice"]
    assert [each.uri_template for each in templates.resource_templates] == ["uniprot://entry/{accession}"]


async def test_the_configuration_turns_it_off(fresh: Path) -> None:
    """Its code is not even imported then."""
    async with gateway(fresh, SCIGATE_PROVIDERS__UNIPROT__ENABLED="false") as client:
        assert (await client.list_tools()).tools == []


@pytest.fixture
def uniprot(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A copy of the provider's module, for its hooks to be replaced one by one."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    import scigate_uniprot

    copy = ModuleType("scigate_uniprot")
    copy.__dict__.update(vars(scigate_uniprot))
    return copy


class Odd(Input):
    way: Callable[[int], int] = Field(default=abs)


@tool("uniprot_odd", title="Odd")
async def odd(args: Odd, client: Any, call: Call) -> Output:
    """Take what no JSON Schema can say."""
    return Output()


def raising() -> None:
    raise ZeroDivisionError("no upstream today")


async def hanging() -> None:
    await anyio.sleep_forever()


@pytest.mark.parametrize(
    ("hook", "broken", "reason"),
    [
        ("register_tools", lambda: [odd], "PydanticInvalidForJsonSchema"),
        ("register_upstreams", raising, "ZeroDivisionError: no upstream today"),
        ("build_client", hanging, "build_client was not done within"),
    ],
)
async def test_a_broken_hook_sets_it_aside(
    uniprot: ModuleType, monkeypatch: pytest.MonkeyPatch, hook: str, broken: Callable[..., Any], reason: str
) -> None:
    """With its reason; the other provider serves."""
    monkeypatch.setattr("scigate.providers.BUILD_TIMEOUT_S", 0.02)
    setattr(uniprot, hook, hookimpl(broken))
    await expect_quarantine(uniprot, reason)


async def test_an_import_that_fails_sets_it_aside() -> None:
    """Its entry point names a module that is not there."""
    await expect_quarantine(EntryPoint("uniprot", "scigate_uniprot_gone", "scigate"), "No module named")


async def expect_quarantine(candidate: object, reason: str) -> None:
    async with Host.open(Settings(offline=True), plugins={"uniprot": candidate, "pubchem": scigate_pubchem}) as host:
        status, other = host.providers
        assert (status.state, other.state) == ("quarantined", "serving")
        assert reason in (status.reason or "")
        reply = await host.call("pubchem_search_assays", {"targetType": "geneid", "targetQuery": "5742"}, LOCAL)
    assert not reply.is_error


async def test_a_tool_of_a_taken_name_is_refused_alone(uniprot: ModuleType) -> None:
    """The remedy is named; everything else of both providers serves."""
    plugins = {"uniprot": uniprot, "mirror": uniprot_again(uniprot)}
    async with Host.open(Settings(offline=True), plugins=plugins) as host:
        first, second = host.providers
    assert (first.state, first.refused) == ("serving", ())
    assert second.state == "serving"
    assert "set providers.mirror.tool_prefix" in second.refused[0]


def uniprot_again(uniprot: ModuleType) -> ModuleType:
    """A second provider with the same tools; without the policy, whose name is taken too."""
    again = ModuleType("mirror")
    again.__dict__.update({name: value for name, value in vars(uniprot).items() if name != "register_policies"})
    return again
