"""Rules as values: which one decides, what its conditions mean, and that no pattern can hold the gateway up."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scigate.call import LOCAL, Caller
from scigate.rules import Decision, Rules
from scigate.settings import RuleSettings

ADA = Caller("key:ada", "key", frozenset({"lab"}))
BOB = Caller("token:bob", "token")


def rules(*given: dict[str, Any], default: Any = "allow") -> Rules:
    return Rules([RuleSettings.model_validate(rule) for rule in given], default)


def test_without_rules_everything_is_allowed_and_nothing_is_asked() -> None:
    """They are false, so that the host leaves them out."""
    assert not rules()
    assert rules(default="deny")
    assert rules({"effect": "allow"})


def test_the_first_rule_that_fits_decides() -> None:
    """The order is the operator's; the default comes last."""
    asked = rules(
        {"name": "lab", "caller": "key:*", "tool": "lab_*", "effect": "allow"},
        {"caller": "key:ada", "effect": "deny", "message": "Not you."},
        {"tool": "open_*", "effect": "allow"},
        default="deny",
    )
    assert asked.decide(ADA, "lab_find") == Decision(True, "lab")
    assert asked.decide(ADA, "open_find") == Decision(False, "rule 2", "Not you.")
    assert asked.decide(BOB, "open_find") == Decision(True, "rule 3")
    assert asked.decide(BOB, "lab_find") == Decision(False, "default")


def test_a_pattern_is_of_the_whole_name_and_of_its_case() -> None:
    """`lab` is not `my_lab`, nor is a caller's `Ada` `ada`."""
    asked = rules({"caller": "key:ada", "tool": "lab", "effect": "deny"})
    assert asked.decide(ADA, "my_lab") == Decision(True, "default")
    assert asked.decide(Caller("key:Ada", "key"), "lab") == Decision(True, "default")
    assert asked.decide(ADA, "lab") == Decision(False, "rule 1")


def test_a_rule_can_ask_for_a_scope() -> None:
    """The issuer's groups of callers, where names would be too many."""
    asked = rules({"scope": "lab", "effect": "allow"}, default="deny")
    assert asked.may_call(ADA, "find")
    assert not asked.may_call(BOB, "find")
    assert not asked.may_call(LOCAL, "find")


CONDITIONS: list[tuple[dict[str, Any], object, bool]] = [
    ({"equals": 5}, 5, True),
    ({"equals": 5}, "5", True),
    ({"equals": "5"}, 5.0, True),
    ({"equals": True}, True, True),
    ({"equals": True}, 1, False),
    ({"equals": ""}, "", True),
    ({"equals": ""}, "x", False),
    ({"in": ["a", 2]}, "2", True),
    ({"in": ["a", 2]}, "b", False),
    ({"in": []}, "b", False),
    ({"matches": "[a-z]+"}, "abc", True),
    ({"matches": "[a-z]+"}, "abc1", False),
    ({"matches": "a|b"}, "ab", False),
    ({"matches": "a"}, "a\n", False),
    ({"matches": "(?i)ABC"}, "abc", True),
    ({"matches": r"\d+"}, 12, True),
    ({"at_most": 50}, 50, True),
    ({"at_most": 50}, 50.5, False),
    ({"at_most": 50}, "50", False),
    ({"at_most": 1}, True, False),
    ({"at_most": 2}, ["a", "b"], True),
    ({"at_most": 2}, ["a", "b", "c"], False),
    ({"equals": 5}, None, False),
    ({"at_most": 5}, None, False),
    ({"matches": "[a-z]+", "at_most": 2}, ["ab", "c"], True),
]


@pytest.mark.parametrize(("condition", "value", "fits"), CONDITIONS)
def test_what_a_condition_means(condition: dict[str, Any], value: object, fits: bool) -> None:
    """A number and its text are the same, patterns are of the whole text, and what is not given fits nothing."""
    asked = rules({"arguments": {"it": condition}, "effect": "allow"}, default="deny")
    assert asked.decide_with(ADA, "find", {"it": value}).allowed is fits


@pytest.mark.parametrize(
    ("effect", "entries", "allowed"),
    [
        ("allow", ["good", "good"], True),
        ("allow", ["good", "bad"], False),
        ("deny", ["good", "good"], False),
        ("deny", ["good", "bad"], False),
        ("deny", ["bad"], True),
    ],
)
def test_a_list_is_allowed_by_all_of_its_entries_and_denied_by_one(
    effect: str, entries: list[str], allowed: bool
) -> None:
    """Else a forbidden entry would pass in company."""
    default = "deny" if effect == "allow" else "allow"
    asked = rules({"arguments": {"names": {"in": ["good"]}}, "effect": effect}, default=default)
    assert asked.decide_with(ADA, "find", {"names": entries}).allowed is allowed


def test_a_decision_waits_for_the_arguments_only_where_they_matter() -> None:
    """A caller who may never call a tool is refused before its arguments are looked at."""
    asked = rules(
        {"caller": "key:*", "arguments": {"size": {"at_most": 5}}, "effect": "allow"},
        {"effect": "deny"},
    )
    assert asked.decide(ADA, "find") is None
    assert asked.may_call(ADA, "find")
    assert asked.decide(BOB, "find") == Decision(False, "rule 2")
    assert not asked.may_call(BOB, "find")


def test_a_conditional_denial_leaves_a_tool_in_the_list() -> None:
    """With other arguments it may be called."""
    asked = rules({"arguments": {"size": {"equals": 5}}, "effect": "deny"})
    assert asked.may_call(ADA, "find")
    assert not rules({"arguments": {"size": {"equals": 5}}, "effect": "deny"}, default="deny").may_call(ADA, "find")


def test_every_rule_says_how_it_stands_to_a_call() -> None:
    """What an operator sees who asks why."""
    asked = rules(
        {"tool": "other", "effect": "deny"},
        {"caller": "token:*", "effect": "deny"},
        {"scope": "admin", "effect": "deny"},
        {"arguments": {"size": {"at_most": 5}}, "effect": "allow"},
        {"effect": "deny"},
    )
    told = [(one.rule, one.fits, one.why) for one in asked.explain(ADA, "find", {"size": 9})]
    assert told == [
        ("rule 1", False, "is about the tools other"),
        ("rule 2", False, "is about the callers token:*"),
        ("rule 3", False, "is about callers with the scope admin"),
        ("rule 4", False, "size is over 5"),
        ("rule 5", True, "caller and tool fit"),
    ]


@pytest.mark.parametrize("pattern", [r"(a)\1", "(?=a)", "(?<!a)b", "(", "a)|(b", "a{1000}{1000}"])
def test_a_pattern_that_needs_backtracking_is_refused(pattern: str) -> None:
    """So is one that is none; the operator is told at start."""
    with pytest.raises(ValidationError, match="regular expression"):
        RuleSettings.model_validate({"arguments": {"a": {"matches": pattern}}, "effect": "deny"})


def test_a_pattern_that_ruins_a_backtracking_engine_is_harmless() -> None:
    """On 100,000 characters Python's own engine would not come back from this one."""
    asked = rules({"arguments": {"text": {"matches": "(a+)+(a|b)*c"}}, "effect": "deny"})
    assert asked.decide_with(ADA, "find", {"text": "a" * 100_000}).allowed


@pytest.mark.parametrize("condition", [{}, {"is": 1}, {"one_of": ["a"]}, {"at_most": "many"}])
def test_a_condition_that_says_nothing_is_refused(condition: dict[str, Any]) -> None:
    """A misspelt one would let everything pass, or nothing."""
    with pytest.raises(ValidationError):
        RuleSettings.model_validate({"arguments": {"a": condition}, "effect": "deny"})


RULE = st.fixed_dictionaries(
    {
        "caller": st.sampled_from(["*", "key:*", "key:ada", "token:?ob"]),
        "tool": st.sampled_from(["*", "find", "f*", "other"]),
        "effect": st.sampled_from(["allow", "deny"]),
        "arguments": st.sampled_from([{}, {"size": {"at_most": 5}}, {"size": {"equals": 3}}]),
    }
)


@given(st.lists(RULE, max_size=6), st.sampled_from(["allow", "deny"]), st.sampled_from([1, 3, 5, 9, None]))
def test_what_is_decided_early_is_what_is_decided_in_the_end(
    given_rules: list[dict[str, Any]], default: str, size: int | None
) -> None:
    """And the list shows a tool wherever some arguments are allowed."""
    asked = rules(*given_rules, default=default)
    for caller, tool in itertools.product((ADA, BOB, LOCAL), ("find", "other")):
        late = asked.decide_with(caller, tool, {"size": size})
        early = asked.decide(caller, tool)
        assert early is None or early == late
        assert asked.may_call(caller, tool) or not late.allowed
        deciding = next((one for one in asked.explain(caller, tool, {"size": size}) if one.fits), None)
        assert late.rule == (deciding.rule if deciding else "default")
