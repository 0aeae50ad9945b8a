"""The provider API: what is exported, and that its documentation tells the truth."""

import inspect
import re

import pytest
import scigate
from scigate import failure, hookspecs

HOOKS = [
    name
    for name, value in vars(hookspecs).items()
    if inspect.isfunction(value) and hasattr(value, f"{hookspecs.PROJECT}_spec")
]


def test_the_exported_names_are_these() -> None:
    """A name less breaks providers; a name more must be kept for ever."""
    assert scigate.__all__ == [
        *(
            "API_VERSION",
            "LOCAL",
            "Answer",
            "Audio",
            "Batch",
            "Call",
            "Caller",
            "Cap",
            "CircuitOpen",
            "Code",
            "Contents",
        ),
        *(
            "DeadlineExceeded",
            "Dialogue",
            "Embedded",
            "Envelope",
            "Example",
            "Failure",
            "FailureError",
            "Host",
            "Image",
            "Input",
            "InputRequest",
            "InputRequired",
            "Lifetime",
        ),
        *("Offset", "Output", "Page", "PageSize", "Policy", "Prompt", "QuotaExhausted", "Reason", "Record", "Rendered"),
        *("Resource", "Sensitive", "Settings", "Success", "Tool", "Upstream", "hookimpl", "markdown", "prompt"),
        *("resource", "result_schema", "tool"),
    ]
    assert scigate.API_VERSION == "1.0"


@pytest.mark.parametrize("name", scigate.__all__)
def test_every_exported_name_is_there_and_documented(name: str) -> None:
    """Exports are imported when first used, so each is tried; a class or function has a docstring of its own."""
    value = getattr(scigate, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        assert value.__doc__
        assert not value.__doc__.startswith(f"{name}(")


def test_a_name_that_is_not_exported_is_an_attribute_error() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match="'scigate' has no attribute 'Nothing'"):
        _ = scigate.Nothing  # type: ignore[attr-defined]


def test_the_hooks_are_these() -> None:
    """In the order in which an author meets them."""
    assert [
        *("register_tools", "build_client", "map_error", "register_upstreams", "register_resources"),
        *("register_prompts", "register_policies", "settings_model", "register_envelope", "register_examples"),
        "register_commands",
    ] == HOOKS


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_says_what_it_is_for_and_shows_it(hook: str) -> None:
    """The example is marked and named like the hook itself."""
    text = inspect.getdoc(getattr(hookspecs, hook)) or ""
    sentence, _, example = text.partition("Example:")
    assert sentence.split("\n")[0].endswith(".") or ";" in sentence
    assert re.search(rf">>> @hookimpl\n\s+\.\.\. def {hook}\(", example)


def test_core_reasons_are_those_of_the_table() -> None:
    """Names, codes and cases in the module's docstring are those in force, in the same order."""
    rows = re.findall(r"^([a-z_]+) +(-32\d{3}) +(.+)$", failure.__doc__ or "", re.MULTILINE)
    assert rows == [(reason.name, str(int(reason.code)), reason.when) for reason in failure.CORE_REASONS]


@pytest.mark.parametrize("reason", failure.CORE_REASONS, ids=lambda reason: reason.name)
def test_each_core_reason_tells_what_to_do(reason: failure.Reason) -> None:
    """Its name is snake_case, and its hint is a whole sentence in the imperative."""
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", reason.name)
    assert re.match(r"[A-Z][a-z]+ .+\.$", reason.hint)
