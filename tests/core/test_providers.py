"""Providers: found, switched, and set aside one by one; whatever is wrong with one, the others serve."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest
from pydantic import BaseModel, ConfigDict, Field
from scigate import API_VERSION, Call, Input, Output, Upstream, hookimpl, providers, tool
from scigate.call import LOCAL
from scigate.catalogue import UnknownTool
from scigate.host import Host
from scigate.providers import ProviderStatus, installed, reason_text
from scigate.settings import Settings, SettingsError

Provider = Callable[..., ModuleType]


class Ask(Input):
    name: str = "A-1"


class Done(Output):
    said: str


def named(name: str) -> Any:
    @tool(name, title="Do")
    async def do(args: Ask, client: object, call: Call) -> Done:
        """Do it."""
        return Done(said=name)

    return do


def opened(plugins: dict[str, Any], **settings: Any) -> Any:
    return Host.open(Settings.model_validate(settings), plugins=plugins)


async def statuses(provider: Provider, other: object) -> dict[str, ProviderStatus]:
    """How `other` stands, between two good providers that serve in any case."""
    plugins = {"first": provider(named("first_do")), "other": other, "last": provider(named("last_do"))}
    async with opened(plugins) as host:
        assert [
            definition["name"] for definition in host.catalogue.definitions if "other" not in definition["name"]
        ] == [
            "first_do",
            "last_do",
        ]
        assert (await host.call("last_do", {}, LOCAL)).structured == {"said": "last_do"}
        return {status.name: status for status in host.providers}


class Unschematic:
    """A type that has no JSON Schema."""


@dataclass
class Unhashable:
    """An object that compares by value."""

    @hookimpl
    def register_tools(self) -> list[Any]:
        return []


def unschematic_tool() -> Any:
    class Odd(Output):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        odd: Unschematic

    @tool("other_odd", title="Odd")
    async def odd(args: Ask, client: object, call: Call) -> Odd:
        """Give something odd."""
        raise NotImplementedError

    return odd


def raising(*_: object) -> Any:
    raise LookupError("no  such\n thing")


def endless(upstreams: object) -> Any:
    return anyio.sleep_forever()


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"register_tools": raising}, "LookupError: no such thing"),
        ({"build_client": lambda: raising()}, "LookupError: no such thing"),
        (
            {"register_tools": lambda: [unschematic_tool()]},
            "PydanticInvalidForJsonSchema: Cannot generate a",
        ),
        ({"register_tools": lambda: ["other_do"]}, "register_tools gave 'other_do', which is no Tool"),
        ({"register_upstreams": lambda: [named("other_do")]}, "which is no Upstream"),
        ({"regster_tools": lambda: None}, "unknown hook 'regster_tools'"),
        ({"map_error": lambda error, colour: None}, "Argument(s) {'colour'} are declared in the hookimpl"),
        ({"build_client": lambda http: None}, "Argument(s) {'http'} are declared in the hookimpl"),
        ({"build_client": endless}, "build_client was not done within 0.01 s"),
        ({"scigate_api": ">=2"}, f"it is written for provider API >=2, this scigate has {API_VERSION}: upgrade"),
        ({"scigate_api": ">=2", "register_dreams": lambda: None}, "it is written for provider API >=2"),
        ({"scigate_api": "new"}, "scigate_api is 'new', which is no version range such as '>=1,<2'"),
        ({"register_upstreams": lambda: [Upstream("Lab", "https://lab.example/")]}, "upstream name 'Lab' is not"),
        ({"register_upstreams": lambda: [Upstream("lab", "http://lab.example/")]}, "is neither https nor http to"),
    ],
)
async def test_a_broken_provider_is_set_aside_with_its_reason(
    provider: Provider, members: dict[str, Any], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An operator reads one line that says what is wrong."""
    monkeypatch.setattr(providers, "BUILD_TIMEOUT_S", 0.01)
    broken = provider(**{"register_tools": lambda: [named("other_do")], **members})
    status = (await statuses(provider, broken))["other"]
    assert (status.state, status.tools) == ("quarantined", ())
    assert reason in (status.reason or "")
    assert "\n" not in (status.reason or "")


async def test_a_provider_without_hooks_is_set_aside(provider: Provider) -> None:
    """For instance one whose author forgot the marks: it would serve nothing and say nothing."""
    module = ModuleType("unmarked")
    module.register_tools = lambda: [named("other_do")]  # type: ignore[attr-defined]
    assert (await statuses(provider, module))["other"].reason == "none of its functions is marked with @hookimpl"


async def test_an_object_that_cannot_be_hashed_is_set_aside(provider: Provider) -> None:
    """It would stop the questions to all the others."""
    status = (await statuses(provider, Unhashable()))["other"]
    assert status.reason == "a provider is a module or another hashable object, not a Unhashable"


@pytest.fixture
def installed_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], EntryPoint]:
    """Writes a module and gives the entry point that names it."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(text: str) -> EntryPoint:
        name = f"made_{abs(hash(text))}"
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        return EntryPoint(name="other", value=name, group="scigate")

    return write


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import nothing_of_this_name", "ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def f(:", "SyntaxError: "),
        ("import sys; sys.exit(3)", "its import asked the process to end (SystemExit: 3)"),
    ],
)
async def test_a_provider_that_does_not_import_is_set_aside(
    provider: Provider, installed_module: Callable[[str], EntryPoint], text: str, reason: str
) -> None:
    """Entry points are loaded one at a time."""
    status = (await statuses(provider, installed_module(text)))["other"]
    assert status.state == "quarantined"
    assert (status.reason or "").startswith(reason)


async def test_an_entry_point_that_is_not_there_is_set_aside(provider: Provider) -> None:
    """For instance of a distribution that is half removed."""
    missing = EntryPoint(name="other", value="scigate:nothing", group="scigate")
    assert "has no attribute 'nothing'" in ((await statuses(provider, missing))["other"].reason or "")


@pytest.mark.parametrize("api", [">=1,<2", ">=1.0", f"=={API_VERSION}"])
async def test_a_range_that_holds_this_api_serves(provider: Provider, api: str) -> None:
    """As does a provider that states none."""
    for members in ({"scigate_api": api}, {}):
        found = await statuses(provider, provider(named("other_do"), **members))
        assert found["other"] == ProviderStatus("other", "", "", "serving", None, ("other_do",))


async def test_a_provider_that_is_turned_off_is_not_loaded(
    provider: Provider, installed_module: Callable[[str], EntryPoint]
) -> None:
    """Its import would fail here; it is named as turned off instead."""
    plugins = {"lab": provider(named("lab_do")), "other": installed_module("1 / 0 # off")}
    async with opened(plugins, providers={"other": {"enabled": False}}) as host:
        status = host.providers[1]
        assert (status.state, status.reason) == ("disabled", "turned off by the configuration")
        assert "other" not in host.instructions


async def test_a_provider_is_turned_off_by_an_environment_variable(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its name in the variable's name."""
    monkeypatch.setenv("SCIGATE_PROVIDERS__OTHER__ENABLED", "false")
    plugins = {"lab": provider(named("lab_do")), "other": provider(named("other_do"))}
    async with Host.open(Settings.load(), plugins=plugins) as host:
        assert [status.state for status in host.providers] == ["serving", "disabled"]
        with pytest.raises(UnknownTool):
            await host.call("other_do", {}, LOCAL)


async def test_of_two_tools_of_one_name_the_later_is_refused(provider: Provider) -> None:
    """The sentence names both providers and the setting that mends it; with that setting both serve."""
    plugins = {"a": provider(named("do"), named("a_do")), "b": provider(named("do"), named("b_do"))}
    async with opened(plugins) as host:
        assert [status.tools for status in host.providers] == [("do", "a_do"), ("b_do",)]
        assert host.providers[1].refused == (
            "tool do of b has the name of a tool of a; set providers.b.tool_prefix to serve both",
        )
    async with opened(plugins, providers={"b": {"tool_prefix": "b_"}}) as host:
        assert [status.tools for status in host.providers] == [("do", "a_do"), ("b_do", "b_b_do")]
        assert (await host.call("b_b_do", {}, LOCAL)).structured == {"said": "b_do"}
        assert [status.refused for status in host.providers] == [(), ()]


async def test_a_name_that_clients_refuse_is_refused_at_the_start(provider: Provider) -> None:
    """Clients put `mcp__scigate__` in front and take 64 characters in all."""
    fits, long = "a" * 50, "b" * 51
    async with opened({"lab": provider(named(fits), named(long))}) as host:
        (status,) = host.providers
        assert status.tools == (fits,)
        assert status.refused == (f"tool {long}: 51 characters, clients take 50; shorten it or its tool_prefix",)
    async with opened({"lab": provider(named(fits))}, providers={"lab": {"tool_prefix": "x"}}) as host:
        assert host.catalogue.definitions == []
        assert "51 characters" in host.providers[0].refused[0]


class LabSettings(BaseModel):
    species: str = "mouse"
    depth: int = Field(default=1, ge=1)


@pytest.mark.parametrize(("depth", "listed"), [(1, ["lab_do"]), (2, ["lab_do", "lab_more"])])
async def test_a_provider_s_own_settings_say_which_tools_and_upstreams_it_has(
    provider: Provider, depth: int, listed: list[str]
) -> None:
    """A service that is switched off leaves no tool behind that could only fail."""
    lab = provider(
        settings_model=lambda: LabSettings,
        register_tools=lambda settings: [named("lab_do"), named("lab_more")][: settings.depth],
        register_upstreams=lambda settings: [Upstream("more", "https://more.example/")][: settings.depth - 1],
    )
    async with opened({"lab": lab}, providers={"lab": {"depth": depth}}) as host:
        assert [definition["name"] for definition in host.catalogue.definitions] == listed
        assert [upstream.name for upstream in host.upstreams] == ["more"][: depth - 1]


async def test_a_provider_s_own_settings_reach_its_client(provider: Provider) -> None:
    """Validated by its own model; without a model there are none."""
    seen: list[Any] = []
    lab = provider(
        named("lab_do"), settings_model=lambda: LabSettings, build_client=lambda settings: seen.append(settings)
    )
    bare = provider(named("bare_do"), build_client=lambda settings: seen.append(settings))
    async with opened({"lab": lab, "bare": bare}, providers={"lab": {"depth": 3}}):
        pass
    assert seen == [LabSettings(species="mouse", depth=3), None]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"providers": {"lab": {"dept": 3}}}, "dept"),
        ({"providers": {"lab": {"depth": 0}}}, "depth"),
        ({"providers": {"lap": {"enabled": True}}}, "lap"),
        ({"upstreams": {"labb": {"quotas": ["1/second"]}}}, "labb"),
    ],
)
async def test_wrong_settings_stop_the_start(provider: Provider, settings: dict[str, Any], said: str) -> None:
    """They are the operator's to mend: the error names the key and the nearest right name."""
    lab = provider(
        named("lab_do"),
        settings_model=lambda: LabSettings,
        register_upstreams=lambda: [Upstream("lab", "https://lab.example/")],
    )
    with pytest.raises(SettingsError, match=said):
        async with opened({"lab": lab}, **settings):
            pass


async def test_an_upstream_s_section_stands_while_its_provider_does_not(provider: Provider) -> None:
    """A quarantined provider must not turn good settings into wrong ones."""
    lab = provider(named("lab_do"))
    async with opened(
        {"lab": lab, "other": provider(register_tools=raising)}, upstreams={"elsewhere": {"retries": 0}}
    ) as host:
        assert [status.state for status in host.providers] == ["serving", "quarantined"]


async def test_two_providers_share_an_upstream_of_one_name(provider: Provider) -> None:
    """One client, one quota; a contradiction sets the later provider aside."""
    seen: list[Any] = []

    def one(name: str, *quotas: str) -> ModuleType:
        return provider(
            named(f"{name}_do"),
            register_upstreams=lambda: [Upstream("lab", "https://lab.example/", quotas=quotas)],
            build_client=lambda upstreams: seen.append(upstreams["lab"]),
        )

    async with opened({"a": one("a", "5/second"), "b": one("b", "5/second")}) as host:
        assert [status.name for status in host.upstreams] == ["lab"]
    assert seen[0] is seen[1]
    async with opened({"a": one("a", "5/second"), "b": one("b", "9/second")}) as host:
        assert host.providers[1].state == "quarantined"
        assert "is declared with quotas ('5/second',) and with ('9/second',)" in (host.providers[1].reason or "")


async def test_a_provider_gets_the_upstreams_that_it_named(provider: Provider) -> None:
    """And no others."""
    seen: list[list[str]] = []
    lab = provider(
        named("lab_do"),
        register_upstreams=lambda: [Upstream("lab", "https://lab.example/")],
        build_client=lambda upstreams: seen.append(list(upstreams)),
    )
    other = provider(named("other_do"), build_client=lambda upstreams: seen.append(list(upstreams)))
    async with opened({"lab": lab, "other": other}):
        pass
    assert seen == [["lab"], []]


class Closing:
    """A client that notes when it is closed."""

    def __init__(self, name: str, closed: list[str], error: Exception | None = None) -> None:
        self.name, self.closed, self.error = name, closed, error

    async def aclose(self) -> None:
        self.closed.append(self.name)
        if self.error is not None:
            raise self.error


async def test_clients_are_closed_in_reverse_order(provider: Provider) -> None:
    """One that fails to close does not keep the others open; `close()` is taken where there is no `aclose()`."""
    closed: list[str] = []

    class Plain:
        def close(self) -> None:
            closed.append("b")

    def serving(name: str, client: object) -> ModuleType:
        return provider(named(f"{name}_do"), build_client=lambda: client)

    async def late() -> Closing:
        return Closing("d", closed)

    plugins = {
        "a": serving("a", Closing("a", closed)),
        "b": serving("b", Plain()),
        "c": serving("c", Closing("c", closed, OSError("gone"))),
        "d": provider(named("d_do"), build_client=late),
        "e": serving("e", None),
    }
    async with opened(plugins) as host:
        assert closed == []
        assert {status.state for status in host.providers} == {"serving"}
    assert closed == ["d", "c", "b", "a"]


async def test_clients_are_closed_when_the_start_fails(provider: Provider) -> None:
    """What was built before a wrong setting was found is not left open."""
    closed: list[str] = []
    lab = provider(named("lab_do"), build_client=lambda: Closing("lab", closed))

    async def wrong() -> None:
        raise SettingsError(["wrong"])

    with pytest.raises(SettingsError):
        async with opened({"lab": lab, "other": provider(named("other_do"), build_client=wrong)}):
            pass
    assert closed == ["lab"]


def test_installed_providers_are_found_by_their_entry_points() -> None:
    """In the order of their names; nothing is imported to find them."""
    found = installed()
    assert list(found) == sorted(found)
    assert {point.group for point in found.values()} <= {"scigate"}


def test_a_reason_is_one_line() -> None:
    """With the exception's type, as its text alone may say too little."""
    assert reason_text(KeyError("name")) == "KeyError: 'name'"
