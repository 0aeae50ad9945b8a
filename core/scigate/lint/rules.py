"""The six dimensions in which catalogues of MCP servers grade a definition, each as one function.

Purpose, usage guidance, behaviour, parameters, completeness, conciseness: what a model needs to choose a tool, to call
it rightly and to read its answer, for as few tokens as possible.
"""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from scigate.lint.definition import Definition, Finding, Schema, sentences, stem, words

__all__ = ["DIMENSIONS"]

Found = Iterator[Finding]

_VERBS: Final = """
add align analyze analyse annotate answer apply archive ask assign book browse build calculate call cancel
check cite classify clear close compare complete compute configure convert copy count create decode delete
describe detect disable download draw edit embed enable encode estimate evaluate execute explain export
extract fetch fill filter find fit format generate get give identify import index insert inspect install join
list load locate look lookup make map match measure merge move open parse plan plot predict prepare preview
print publish query rank read recommend record remove rename render replace report request reset resolve
restart retrieve return revoke rewrite run save scan schedule score search select send set show sign simulate
solve sort split start stop store submit subscribe suggest summarize summarise sync tell test trace track
translate turn update upload validate verify view wait watch write
"""
VERBS: Final = frozenset(_VERBS.split())
"""Verbs that say what a tool does; others may too, but these are known to."""

VAGUE: Final = {
    "various": "name them",
    "stuff": "name the things",
    "things": "name them",
    "etc": "name the rest, or say what they have in common",
    "handles": "say what it does with them",
    "manages": "say what it does with them",
    "processes": "say what it does with them",
    "information": "name the facts that come back",
    "functionality": "say what it does",
    "operations": "name them",
}

FILLERS: Final = {
    "this tool": "begin with the verb: Find, List, Get",
    "this function": "begin with the verb: Find, List, Get",
    "allows you to": "leave it out",
    "enables you to": "leave it out",
    "lets you": "leave it out",
    "can be used to": "leave it out",
    "is used to": "leave it out",
    "is designed to": "leave it out",
    "in order to": "to",
    "please note": "leave it out",
    "note that": "leave it out",
    "please": "leave it out",
    "simply": "leave it out",
    "easily": "leave it out",
    "powerful": "leave it out",
    "comprehensive": "say what it covers",
    "robust": "leave it out",
    "seamlessly": "leave it out",
    "cutting-edge": "leave it out",
    "state-of-the-art": "leave it out",
    "as well as": "and",
    "due to the fact that": "because",
    "a variety of": "name them",
}

_ARTICLES: Final = "a an and any as at by can each for from in into is it its of on one or the to with"
_SMALL: Final = frozenset(_ARTICLES.split())
_GUIDANCE: Final = re.compile(
    r"\b(use it|use this|used? (when|after|before|for|to)|when you|start here|first step|last step|after|before"
    r"|instead|rather than|prefer|otherwise|if you|for (an?|the|any|other|whole|words?|title|docking)\b.*\buse"
    r"|to (reason|ask|move|get|read|find|start)\b)",
    re.IGNORECASE,
)
_COST: Final = re.compile(
    r"\b(costs?|requests?|quota|rate|limit(s|ed)?|slow|seconds?|minutes?|cached?|at most|up to|per call|in a call"
    r"|pages?|truncated|cut|retr(y|ies)|ledger|deadline|no network)\b",
    re.IGNORECASE,
)
_CHANGES: Final = re.compile(
    r"\b(add|append|cancel|change|clear|create|delete|insert|move|overwrite|publish|remove|rename|replace|reset|revoke"
    r"|save|send|set|start|stop|store|submit|update|upload|write)(s|d|es|ed)?\b",
    re.IGNORECASE,
)
_GIVES: Final = re.compile(
    r"\b(returns?|gives?|lists?|yields?|shows?|answers?|results?|reports?|responds?|comes? back)\b", re.IGNORECASE
)
_PAGING: Final = re.compile(r"\b(pages?|paged|next\w*|total|cursor|offset)\b", re.IGNORECASE)
_NAMED: Final = re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b")
_LOUD: Final = re.compile(r"\b(IMPORTANT|MUST|NEVER|ALWAYS|CRITICAL|WARNING|ONLY|DO NOT)\b")
_AFFIXES: Final = frozenset(
    {"include", "max", "min", "with", "show", "is", "has", "of", "per", "to", "the", "id", "ids"}
)
_PAGE_WORDS: Final = frozenset({"offset", "limit", "page", "pagesize", "maxresults", "cursor", "perpage", "pagetoken"})

LONGEST_FIRST_SENTENCE: Final = 45
LONGEST_DESCRIPTION: Final = 160
"""Words of a description; past this a model's attention and a session's budget both suffer."""


def purpose(tool: Definition) -> Found:
    """What the tool does, to what, said in its first sentence."""

    def finding(said: str, instead: str, costs: float) -> Finding:
        return Finding("purpose", "description", said, instead, costs)

    if not tool.description.strip():
        yield finding("<no description>", "say in one sentence what it does and to what", 4)
        return
    first = tool.first_sentence
    said = words(first)
    verb = said[0] if said else ""
    if verb not in VERBS:
        base = _base(verb)
        better = base.capitalize() if base else "a verb: Find, List, Get, Convert"
        yield finding(_start(first), f"begin with {better}", 0.5 if base else 1.5)
    own = {stem(word) for word in words(f"{tool.name.replace('_', ' ')} {tool.title}")}
    news = [word for word in said if word not in _SMALL and stem(word) not in own]
    if not news:
        yield finding(first, "say what the name does not: which records, from where, by what", 3)
    elif len(news) < 2:
        yield finding(first, "name the records that it works on and what they are found by", 1)
    for word, instead in VAGUE.items():
        if word in said:
            yield finding(word, instead, 0.5)


def usage(tool: Definition) -> Found:
    """When to use the tool, and when which sibling instead."""

    def finding(said: str, instead: str, costs: float) -> Finding:
        return Finding("usage guidance", "description", said, instead, costs)

    siblings = sorted(tool.siblings, key=lambda name: (difflib.SequenceMatcher(None, name, tool.name).ratio(), name))
    named = [name for name in siblings if re.search(rf"\b{re.escape(name)}\b", tool.texts)]
    if not _GUIDANCE.search(tool.description) and not named:
        yield finding("<not said when to use it>", "say when: Use it when ..., after ..., or to ...", 2)
    if siblings and not named:
        yield finding("<no sibling named>", f"say what {siblings[-1]} is for instead", 1)
    prefixes = {name.split("_")[0] for name in (*siblings, tool.name) if "_" in name}
    for token in dict.fromkeys(match[0] for match in _NAMED.finditer(tool.texts)):
        if token == tool.name or token in tool.siblings or token in tool.parameters:
            continue
        near = difflib.get_close_matches(token, siblings, 1, cutoff=0.8)
        if near or (token.split("_")[0] in prefixes and token.count("_") > 1):
            yield finding(token, f"there is no such tool; {near[0] if near else 'name one that is listed'}", 2)


def behaviour(tool: Definition) -> Found:
    """What a call does beside answering, what it costs, and whether the annotations say the same."""

    def finding(where: str, said: str, instead: str, costs: float) -> Finding:
        return Finding("behaviour", where, said, instead, costs)

    hints = tool.annotations
    wanted = ["readOnlyHint", "openWorldHint"]
    if hints.get("readOnlyHint") is not True:
        wanted += ["destructiveHint", "idempotentHint"]
    for name in wanted:
        if not isinstance(hints.get(name), bool):
            yield finding("annotations", f"<no {name}>", f"set {name} to true or false", 1)
    first = words(tool.first_sentence)[:1]
    if hints.get("readOnlyHint") is True and first and _CHANGES.fullmatch(first[0]):
        yield finding(
            "annotations", f"readOnlyHint, and {first[0]!r}", "set readOnlyHint to false, or say what it reads", 2
        )
    if hints.get("readOnlyHint") is False and not _CHANGES.search(tool.description):
        yield finding("description", "<not said what it changes>", "say what is created, changed or deleted", 2)
    if hints.get("openWorldHint") is not False and not _COST.search(tool.texts):
        yield finding("description", "<no cost or limit>", "say what a call costs: requests, seconds, or its bounds", 1)


def parameters(tool: Definition) -> Found:
    """Whether each argument can be filled in without a guess."""

    def finding(name: str, said: str, instead: str, costs: float) -> Finding:
        where = f"inputSchema.{name}" if name else "inputSchema"
        return Finding("parameters", where, said, instead, costs)

    if tool.input_schema.get("additionalProperties") is not False and "properties" in tool.input_schema:
        yield finding("", "<unknown arguments accepted>", "set additionalProperties to false", 0.5)
    unexplained = [name for name, schema in tool.parameters.items() if not _explained(name, schema, tool)]
    for name in unexplained:
        share = 4 / max(len(tool.parameters), 2)
        yield finding(name, "<no description>", "say what it is, with one example or its unit", share)
    for name, schema in tool.parameters.items():
        said = [stem(word) for word in words(str(schema.get("description", ""))) if word not in _SMALL]
        if said and set(said) <= {stem(part) for part in _parts(name)}:
            yield finding(name, str(schema["description"]), "say what its name does not, or leave it out", 0.5)
        kinds = _kinds(schema)
        if not kinds:
            yield finding(name, "<no type>", "give its type", 1)
        if kinds & {"integer", "number"} and not _bounded(schema):
            yield finding(name, "<no bounds>", "give minimum and maximum", 0.5)


def completeness(tool: Definition) -> Found:
    """Whether a reader knows what comes back, and how to go on from there."""

    def finding(where: str, said: str, instead: str, costs: float) -> Finding:
        return Finding("completeness", where, said, instead, costs)

    if not tool.title:
        yield finding("title", "<no title>", "give a short name for people", 0.5)
    if tool.output_schema is None:
        if _GIVES.search(tool.description):
            yield finding("outputSchema", "<no outputSchema>", "give the shape of the result", 1)
        else:
            yield finding("outputSchema", "<not said what comes back>", "give an outputSchema, or: Returns ...", 2.5)
    elif not _has_property(tool.output_schema, "error"):
        yield finding("outputSchema", "<no error>", "give the shape of a failure beside that of the result", 0.5)
    paged = {name for name in tool.parameters if name.lower() in _PAGE_WORDS}
    if paged & {"offset", "cursor", "page", "pageToken"} and not _PAGING.search(tool.texts):
        yield finding(
            "description", "<paging not explained>", "say how to get the next page and when it is the last", 1
        )
    if len(tool.parameters) >= 6 and len(words(tool.description)) < 25:
        said = f"{len(words(tool.description))} words for {len(tool.parameters)} arguments"
        yield finding("description", said, "say which arguments go together and what the usual call is", 1)


def conciseness(tool: Definition) -> Found:
    """Whether each word earns its tokens."""

    def finding(where: str, said: str, instead: str, costs: float) -> Finding:
        return Finding("conciseness", where, said, instead, costs)

    length = len(words(tool.description))
    if length > LONGEST_DESCRIPTION:
        costs = 1.0 if length <= 1.5 * LONGEST_DESCRIPTION else 2.0
        instead = "move what belongs to an argument into its description, and leave examples to the schema"
        yield finding("description", f"{length} words", instead, costs)
    first = len(words(tool.first_sentence))
    if first > LONGEST_FIRST_SENTENCE:
        yield finding("description", f"first sentence of {first} words", "say the purpose alone in it", 1)
    for where, text in _texts(tool):
        for filler, instead in FILLERS.items():
            if re.search(rf"\b{re.escape(filler)}\b", text, re.IGNORECASE):
                yield finding(where, filler, instead, 0.5)
        for loud in dict.fromkeys(_LOUD.findall(text)):
            if loud not in _codes(tool):
                yield finding(where, loud, "say the rule and its reason in plain letters", 0.5)
    seen: set[str] = set()
    for where, text in _texts(tool):
        for sentence in sentences(text):
            if len(words(sentence)) >= 5 and sentence in seen and where == "description":
                yield finding(where, sentence, "say it once", 1)
            if len(words(sentence)) >= 5 and sentence in seen and where != "description":
                yield finding(where, sentence, "say it once: in the description or at the argument", 0.5)
            seen.add(sentence)


DIMENSIONS: Final[Mapping[str, Callable[[Definition], Found]]] = {
    "purpose": purpose,
    "usage guidance": usage,
    "behaviour": behaviour,
    "parameters": parameters,
    "completeness": completeness,
    "conciseness": conciseness,
}


def _start(sentence: str) -> str:
    return " ".join(sentence.split()[:3])


def _base(verb: str) -> str:
    """The plain form of a known verb in its third person or with -ing; "" for anything else."""
    for ending, plain in (("ies", "y"), ("es", ""), ("es", "e"), ("s", ""), ("ing", ""), ("ing", "e")):
        if verb.endswith(ending) and (found := verb.removesuffix(ending) + plain) in VERBS:
            return found
    return ""


def _parts(name: str) -> list[str]:
    """The words of an argument's name, in camelCase or snake_case."""
    return [part.lower() for part in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)]


def _explained(name: str, schema: Schema, tool: Definition) -> bool:
    """Whether an argument has a description, or needs none: a page's, or one whose words the tool's description has."""
    if str(schema.get("description", "")).strip() or name.lower() in _PAGE_WORDS:
        return True
    said = {stem(word) for word in words(f"{tool.description} {tool.title}")}
    meant = [stem(part) for part in _parts(name) if part not in _AFFIXES] or [stem(name)]
    # "offset" and the like in a compound name (synonymOffset) explain themselves.
    return all(part in said or part in {stem(word) for word in _PAGE_WORDS} for part in meant)


def _kinds(schema: Schema) -> set[str]:
    """The JSON types that a schema takes; those of an enumeration are its values'."""
    kind = schema.get("type")
    found = {kind} if isinstance(kind, str) else {str(each) for each in cast("list[Any]", kind or [])}
    if "enum" in schema or "const" in schema or "$ref" in schema:
        found.add("enum")
    for keyword in ("anyOf", "oneOf", "allOf"):
        for part in cast("list[Schema]", schema.get(keyword) or []):
            found |= _kinds(part)
    return found


def _bounded(schema: Schema) -> bool:
    low = "minimum" in schema or "exclusiveMinimum" in schema
    high = "maximum" in schema or "exclusiveMaximum" in schema
    parts = [part for keyword in ("anyOf", "oneOf") for part in cast("list[Schema]", schema.get(keyword) or [])]
    return (low and high) or "enum" in schema or any(_bounded(part) for part in parts)


def _has_property(schema: Schema, name: str) -> bool:
    """Whether a schema, or one of its alternatives, has a property."""
    parts = [
        part for keyword in ("anyOf", "oneOf", "allOf") for part in cast("list[Schema]", schema.get(keyword) or [])
    ]
    return name in schema.get("properties", {}) or any(_has_property(part, name) for part in parts)


def _texts(tool: Definition) -> list[tuple[str, str]]:
    own = [(f"inputSchema.{name}", str(each.get("description", ""))) for name, each in tool.parameters.items()]
    return [("description", tool.description), *own]


def _codes(tool: Definition) -> set[str]:
    """Words that are in capitals because values of an enumeration are."""
    values = [str(value) for each in tool.parameters.values() for value in cast("list[Any]", each.get("enum") or [])]
    return {part for value in values for part in re.split(r"[^A-Z]+", value)}
