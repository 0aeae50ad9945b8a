"""`key=value` words become arguments as the input schema wants them."""

import pytest
from scigate.cli.arguments import parse_arguments
from scigate.cli.refusal import Refusal

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "count": {"type": "integer"},
        "limit": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "deep": {"type": "boolean"},
        "names": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
        "cids": {"type": "array", "items": {"type": "integer"}},
        "range": {"$ref": "#/$defs/Range"},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "kind": {"enum": ["a", "b"]},
    },
    "$defs": {"Range": {"type": "object", "properties": {"from": {"type": "string"}}}},
}


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (["name=aspirin"], {"name": "aspirin"}),
        (["name=42"], {"name": "42"}),
        (['name="breast cancer"'], {"name": '"breast cancer"'}),
        (["name=CC(=O)O"], {"name": "CC(=O)O"}),
        (["name="], {"name": ""}),
        (["count=5"], {"count": 5}),
        (["count=five"], {"count": "five"}),
        (["count=5.5"], {"count": "5.5"}),
        (["limit=5"], {"limit": 5}),
        (["limit=0.5"], {"limit": 0.5}),
        (["limit=null"], {"limit": None}),
        (["deep=true"], {"deep": True}),
        (["count=true"], {"count": "true"}),
        (["names=aspirin"], {"names": ["aspirin"]}),
        (["names=aspirin", "names=caffeine"], {"names": ["aspirin", "caffeine"]}),
        (['names=["a", "b"]'], {"names": ["a", "b"]}),
        (["names=2244"], {"names": ["2244"]}),
        (["names=[Na+]"], {"names": ["[Na+]"]}),
        (["names=a,b"], {"names": ["a,b"]}),
        (["cids=2244", "cids=[2519, 3672]"], {"cids": [2244, 2519, 3672]}),
        (['range={"from": "2020"}'], {"range": {"from": "2020"}}),
        (["either=7"], {"either": 7}),
        (["kind=a"], {"kind": "a"}),
        (["unknown=1"], {"unknown": "1"}),
    ],
)
def test_values_take_the_type_that_the_schema_wants(words: list[str], arguments: dict[str, object]) -> None:
    """Text stays as it is typed: quotes of a query, brackets of a SMILES, commas of a name."""
    assert parse_arguments(words, SCHEMA) == arguments


def test_alternatives_of_a_schema_give_their_properties() -> None:
    """A union of inputs may describe its keys in its branches."""
    schema = {"oneOf": [{"$ref": "#/$defs/A"}], "$defs": {"A": {"properties": {"count": {"type": "integer"}}}}}
    assert parse_arguments(["count=5"], schema) == {"count": 5}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["aspirin"], "'aspirin' is not an argument; write key=value (keys: name, count, limit, deep, names, cids, "),
        (["=aspirin"], "'=aspirin' is not an argument"),
        (["name=a", "name=b"], "name is given twice and takes one value"),
    ],
)
def test_words_that_are_no_arguments_are_refused(words: list[str], message: str) -> None:
    """Wrong usage is told before anything is called."""
    with pytest.raises(Refusal) as caught:
        parse_arguments(words, SCHEMA)
    assert str(caught.value).startswith(message)
