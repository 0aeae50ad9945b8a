"""Drug classes in a compound's record: the FDA's, MeSH's and ATC's."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from scigate_pubchem.pug_view import View

__all__ = ["DrugClasses"]

# "Mechanisms of Action [MoA] - Cyclooxygenase Inhibitors", or "Cyclooxygenase Inhibitors [MoA]" in a list with ";".
_FDA: Final = re.compile(r"(?P<before>[^\[\]]*)\[(?P<tag>\w+)\](?:\s*-\s*(?P<after>.*))?", re.DOTALL)
_ATC: Final = re.compile(r"([A-Z]\d{2}[A-Z]{2}\d{2})(?!\w)(?P<rest>.*)", re.DOTALL)


@dataclass(slots=True)
class DrugClasses:
    """The classes, each once and in the record's order.

    Attributes:
        fda: Established pharmacologic classes, which the FDA tags EPC.
        mechanisms: Mechanisms of action, tagged MoA; what is tagged CS or PE is in neither list.
        mesh: Texts of MeSH.
        atc: Label by seven-character code; "" where the record gives none.
    """

    fda: list[str] = field(default_factory=list[str])
    mechanisms: list[str] = field(default_factory=list[str])
    mesh: list[str] = field(default_factory=list[str])
    atc: dict[str, str] = field(default_factory=dict[str, str])

    def __bool__(self) -> bool:
        return bool(self.fda or self.mechanisms or self.mesh or self.atc)

    @classmethod
    def of(cls, view: View) -> DrugClasses:
        """The classes in what a record has under "Pharmacology and Biochemistry"."""
        classes = cls(mesh=[text for text, _ in view.texts("MeSH Pharmacological Classification")])
        for text, _ in view.texts("FDA Pharmacological Classification"):
            for part in text.split(";"):
                classes._tagged(part.strip())
        for text, _ in view.texts("ATC Code"):
            if found := _ATC.match(text):
                classes.atc.setdefault(found[1], found["rest"].partition(" - ")[2].strip())
        return classes

    def _tagged(self, text: str) -> None:
        found = _FDA.match(text)
        if found is None:
            return
        name = (found["after"] or found["before"]).strip()
        listed = {"epc": self.fda, "moa": self.mechanisms}.get(found["tag"].lower())
        if listed is not None and name and name not in listed:
            listed.append(name)
