"""The database of MeSH, as far as the sample's records use it: the names and identifiers of their headings are facts.

Scope notes are sample text. Tree numbers and synonyms are in MeSH of some headings only; those here are MeSH's own.
"""

import json
from collections.abc import Sequence
from functools import cached_property

from scigate_pubmed.emulator.corpus import Record, plain

_NOTE = "Sample note of scigate's emulator, not the scope note of MeSH."
_KNOWN: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "Asthma": (("C08.127.108", "C08.381.495.108"), ("Asthma, Bronchial", "Bronchial Asthma")),
    "Hypertension": (("C14.907.489",), ("Blood Pressure, High", "High Blood Pressure")),
    "Neoplasms": (("C04",), ("Cancer", "Malignancy", "Neoplasia", "Tumors")),
    "Diabetes Mellitus": (("C18.452.394.750", "C19.246"), ()),
    "Myocardial Infarction": (("C14.280.647.500",), ("Heart Attack",)),
}


class Thesaurus:
    """The headings of one sample under their Entrez numbers."""

    def __init__(self, sample: Sequence[Record]) -> None:
        self._sample = sample

    def search(self, term: str) -> list[str]:
        """Numbers of the headings that have all words in name or synonyms; with [MH] only one of that very name."""
        bare, _, tag = term.partition("[")
        wanted = plain(bare)
        if tag.strip("] ").lower() in ("mh", "mesh terms"):
            return [uid for uid, name in self._names.items() if wanted in map(plain, (name, *_known(name)[1]))]
        words = wanted.split()
        found = [uid for uid, name in self._names.items() if words and _holds(name, words)]
        return sorted(found, key=lambda uid: (len(self._names[uid]), self._names[uid]))

    def summary_json(self, uids: Sequence[str]) -> str:
        """ESummary, `retmode=json`."""
        result: dict[str, object] = {"uids": list(uids)}
        for uid in uids:
            name = self._names.get(uid)
            result[uid] = _summary(uid, name) if name else {"uid": uid, "error": "cannot get document summary"}
        return json.dumps({"header": {"type": "esummary", "version": "0.3"}, "result": result}, ensure_ascii=False)

    @cached_property
    def _names(self) -> dict[str, str]:
        headings = {heading.ui: heading.name for record in self._sample for heading in record.headings}
        return {_uid(ui): name for ui, name in sorted(headings.items()) if ui[:1] == "D" and ui[1:].isdigit()}


def _uid(ui: str) -> str:
    """Entrez's number: the letter's code and the digits, D003924 as 68003924."""
    return f"{ord(ui[0])}{ui[1:]}"


def _known(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return _KNOWN.get(name, ((), ()))


def _holds(name: str, words: Sequence[str]) -> bool:
    text = f" {plain(' '.join((name, *_known(name)[1])))} "
    return all(f" {word} " in text for word in words)


def _summary(uid: str, name: str) -> dict[str, object]:
    trees, synonyms = _known(name)
    return {
        "uid": uid,
        "ds_meshterms": [name, *synonyms],
        "ds_meshui": f"{chr(int(uid[:2]))}{uid[2:]}",
        "ds_scopenote": _NOTE,
        "ds_idxlinks": [{"parent": 0, "treenum": tree, "children": []} for tree in trees],
        "ds_recordtype": "descriptor",
    }
