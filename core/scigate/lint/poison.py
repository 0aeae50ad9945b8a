"""Definitions that try to steer the model that reads them, or to pass for another tool.

What a server lists reaches a model before any call is made, so an instruction there works without a call. The four
kinds are those of the public catalogues of attacks on MCP: hidden characters, instructions, look-alike names, and
definitions that speak about another provider's tool.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, Literal, cast

from scigate.lint.definition import sentences

__all__ = ["Poison", "poison"]

Kind = Literal["hidden characters", "instruction", "look-alike name", "shadowing"]


@dataclass(frozen=True, slots=True)
class Poison:
    """A place in a definition that no honest definition needs.

    Attributes:
        tool: Name of the tool.
        kind: Which of the four.
        where: Path in the definition, such as `inputSchema.properties.query.description`.
        words: What stands there; hidden characters as their names.
        why: What it would do.
    """

    tool: str
    kind: Kind
    where: str
    words: str
    why: str


_SECRETS: Final = r"(api[ _-]?keys?|passwords?|credentials?|private keys?|access tokens?)"
_FILES: Final = r"(~/|\.ssh\b|\.env\b|\.aws\b|id_rsa|mcp\.json|/etc/|passwd)"

_INSTRUCTIONS: Final = {
    "it overrides what the model was told": (
        r"\b(ignore|disregard|forget|override)\b[^.]{0,40}\b(previous|prior|above|earlier|other|all|system|your)\b"
        r"[^.]{0,30}\b(instructions?|prompts?|rules?|messages?|context)\b"
    ),
    "it hides something from the user": (
        r"\b(do not|don't|never|without)\b[^.]{0,30}\b(ask|inform|mention|reveal|show|tell)(ing)?\b"
        r"[^.]{0,30}\b(user|human|person|operator)\b"
    ),
    "it imitates markup of a prompt": (
        r"<\s*/?\s*(important|system|instructions?|secret|hidden|admin|assistant|user)\b[^>]*>"
    ),
    "it reaches for the conversation": (
        r"\b(system prompt|(system|developer|previous) messages?|(chat|conversation) history)\b"
    ),
    "it makes the model read files": r"\b(read|open|cat|load|include|send|pass|attach)\b[^.]{0,60}" + _FILES,
    "it collects secrets": (
        rf"\b(append|attach|copy|include|pass|provide|put|send)\b[^.]{{0,60}}\b{_SECRETS}\b"
        rf"|\b{_SECRETS}\b[^.]{{0,60}}\b(append|attach|copy|include|pass|put|send)\b"
    ),
    "it puts itself before every other tool": (
        r"\b(before|after|prior to|whenever|every time)\b[^.]{0,40}\b(any|every|each|all|other)\b[^.]{0,20}\btools?\b"
        r"[^.]{0,60}\b(must|call|use|invoke|run|read)\b"
        r"|\b(must|always)\b[^.]{0,20}\b(call|invoke|run|use) this (tool )?(first|before)\b"
    ),
    "it gives the model another role": (
        r"\b(you are|you're|act as|pretend to be)\b[^.]{0,20}\b(an?|the|now)\b"
        r"[^.]{0,40}\b(assistant|agent|admin|model|ai)\b"
    ),
    "it sends something to an address": r"\b(send|post|forward|upload|report|exfiltrate)\b[^.]{0,60}\bhttps?://",
    "it asks for something unseen": r"\b(secretly|silently|covertly)\b",
}
"""What an order to the model would do, and its pattern; a description speaks of the tool, not to the model."""

_PATTERNS: Final = [(re.compile(pattern, re.IGNORECASE | re.DOTALL), why) for why, pattern in _INSTRUCTIONS.items()]

_ORDER_ABOUT: Final = re.compile(
    r"\b(instead of|rather than|not use|never|do not|don't|always|must (first|not|always)|replaces?"
    r"|overrides?|deprecated|broken|unsafe"
    r"|before (using|calling)|whenever|when using|when calling)\b",
    re.IGNORECASE,
)
_BLOB: Final = re.compile(r"[A-Za-z0-9+/=]{160,}")

_LOOKS_LIKE: Final = str.maketrans(
    # Cyrillic and Greek letters that fonts draw as Latin ones (Unicode's confusables, UTS 39), and digits as letters.
    "аеорсухіјѕһԁԛԝɡοανικτ01",
    "aeopcyxijshdqwgoavikto" + "l",
)

_HIDDEN: Final = frozenset({"Cf", "Co", "Cn", "Cs"})


def poison(definitions: Sequence[Mapping[str, Any]], owners: Mapping[str, str] | None = None) -> list[Poison]:
    """What in these definitions tries to steer a model, in their order.

    Args:
        definitions: Tools as `tools/list` gives them.
        owners: Provider of each tool by the tool's name; a tool without one is of the same, unnamed server.
    """
    owners = owners or {}
    found: list[Poison] = []
    for definition in definitions:
        name = str(definition.get("name", ""))
        foreign = [other for other in owners if owners[other] != owners.get(name)]
        for where, text in _strings(definition, ""):
            found += _hidden(name, where, text)
            found += _instructions(name, where, text)
            found += _shadowing(name, where, text, foreign)
    found += _alike([str(definition.get("name", "")) for definition in definitions])
    return found


def _hidden(tool: str, where: str, text: str) -> Iterator[Poison]:
    odd = dict.fromkeys(character for character in text if _is_hidden(character))
    if odd:
        names = ", ".join(f"U+{ord(each):04X} {unicodedata.name(each, 'unassigned')}" for each in list(odd)[:5])
        yield Poison(tool, "hidden characters", where, names, "a model reads what a person does not see")
    if blob := _BLOB.search(text):
        yield Poison(tool, "hidden characters", where, f"{blob[0][:40]}...", "encoded text that a person cannot read")


def _is_hidden(character: str) -> bool:
    control = unicodedata.category(character) == "Cc" and character not in "\n\t"
    # Variation selectors and blank letters have ordinary categories and show nothing.
    blank = "\ufe00" <= character <= "\ufe0f" or character >= "\U000e0000" or character in "\u115f\u1160\u3164\uffa0"
    return control or blank or unicodedata.category(character) in _HIDDEN


def _instructions(tool: str, where: str, text: str) -> Iterator[Poison]:
    plain = unicodedata.normalize("NFKC", "".join(each for each in text if not _is_hidden(each)))
    for pattern, why in _PATTERNS:
        if match := pattern.search(plain):
            yield Poison(tool, "instruction", where, " ".join(match[0].split())[:120], why)


def _shadowing(tool: str, where: str, text: str, foreign: Sequence[str]) -> Iterator[Poison]:
    for sentence in sentences(text):
        for other in foreign:
            if re.search(rf"\b{re.escape(other)}\b", sentence) and _ORDER_ABOUT.search(sentence):
                yield Poison(
                    tool, "shadowing", where, sentence[:120], f"it gives orders about another provider's {other}"
                )


def _alike(names: Sequence[str]) -> Iterator[Poison]:
    for name in names:
        if not name.isascii():
            odd = ", ".join(unicodedata.name(each, "?") for each in name if not each.isascii())
            yield Poison(name, "look-alike name", "name", odd, "letters that look like others; names are ASCII")
    for first, second in combinations(dict.fromkeys(names), 2):
        if _skeleton(first) == _skeleton(second):
            yield Poison(second, "look-alike name", "name", f"{second} and {first}", f"it passes for {first}")
    for name in {name for name in names if list(names).count(name) > 1}:
        yield Poison(name, "shadowing", "name", name, "two tools have this name")


def _skeleton(name: str) -> str:
    """A name as it looks: without case, separators, and differences that a reader does not see."""
    plain = unicodedata.normalize("NFKC", name).casefold().translate(_LOOKS_LIKE)
    return re.sub(r"[\W_]", "", plain).replace("rn", "m").replace("vv", "w").replace("i", "l")


def _strings(node: object, path: str) -> Iterator[tuple[str, str]]:
    """Every text of a definition with its path, names of properties included."""
    if isinstance(node, str):
        yield path, node
    elif isinstance(node, Mapping):
        for key, value in cast("Mapping[str, object]", node).items():
            below = f"{path}.{key}" if path else key
            yield below, key
            yield from _strings(value, below)
    elif isinstance(node, Sequence):
        for index, value in enumerate(cast("Sequence[object]", node)):
            yield from _strings(value, f"{path}.{index}")
