"""GHS hazard data: from the texts of a compound's record to codes and statements, merged over depositors.

Precautionary statements come as bare codes. Their texts stand here where the wording is the same in the revisions of
the UN GHS that are in use (annex 3, section 3, of ST/SG/AC.10/30); codes whose text was revised, is filled in by the
label's author, or is offered in alternatives are left undecoded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from scigate_pubchem.pug_view import Item

__all__ = ["PRECAUTIONS", "Ghs"]

PRECAUTIONS: Final = {
    "P102": "Keep out of reach of children.",
    "P233": "Keep container tightly closed.",
    "P235": "Keep cool.",
    "P262": "Do not get in eyes, on skin, or on clothing.",
    "P270": "Do not eat, drink or smoke when using this product.",
    "P271": "Use only outdoors or in a well-ventilated area.",
    "P273": "Avoid release to the environment.",
    "P304+P340": "IF INHALED: Remove person to fresh air and keep comfortable for breathing.",
    "P305+P351+P338": "IF IN EYES: Rinse cautiously with water for several minutes. Remove contact lenses, if present "
    "and easy to do. Continue rinsing.",
    "P330": "Rinse mouth.",
    "P331": "Do NOT induce vomiting.",
    "P363": "Wash contaminated clothing before reuse.",
    "P391": "Collect spillage.",
    "P402": "Store in a dry place.",
    "P402+P404": "Store in a dry place. Store in a closed container.",
    "P403": "Store in a well-ventilated place.",
    "P403+P233": "Store in a well-ventilated place. Keep container tightly closed.",
    "P403+P235": "Store in a well-ventilated place. Keep cool.",
    "P404": "Store in a closed container.",
    "P405": "Store locked up.",
    "P410": "Protect from sunlight.",
}

_PICTOGRAMS: Final = (
    *("Explosive", "Flammable", "Oxidizer", "Compressed Gas", "Corrosive", "Toxic"),
    *("Irritant", "Health Hazard", "Environmental Hazard"),
)
"""Labels of GHS01 to GHS09."""

_CODE: Final = r"[HP]\d{3}[A-Za-z]{0,2}(?![A-Za-z0-9])"
# Between code and text stand the share of depositors, as (95.6%), and asterisks. The quantifiers give nothing back, so
# that a long run of asterisks is read once.
_STATEMENT: Final = re.compile(
    rf"\s*(?P<codes>{_CODE}(?:\s*\+\s*{_CODE})*+)(?:\s*(?:\([^()%]*%[^()]*\)|\*))*+\s*(?:[:\u2010-\u2015-]\s*)?(?P<text>.*)",
    re.DOTALL,
)
_PRECAUTION: Final = re.compile(r"P\d{3}(?:\s*\+\s*P\d{3})*+")
_SYMBOL: Final = re.compile(r"GHS0([1-9])")


@dataclass(slots=True)
class Ghs:
    """A compound's hazards.

    Attributes:
        signal: `Danger` as soon as one depositor says so; None where none gives a signal word.
        pictograms: Labels, each once.
        hazards: Text by code, the first depositor's; a suffix makes another code.
        precautions: Codes, single or joined with +, each once.
    """

    signal: str | None = None
    pictograms: list[str] = field(default_factory=list[str])
    hazards: dict[str, str] = field(default_factory=dict[str, str])
    precautions: list[str] = field(default_factory=list[str])

    def __bool__(self) -> bool:
        """Whether there is data: precautions without a hazard are none."""
        return bool(self.signal or self.pictograms or self.hazards)

    @classmethod
    def of(cls, items: Iterable[Item]) -> Ghs:
        """The hazards in the items of a section "GHS Classification"."""
        ghs = cls()
        for item in items:
            name = item.name.lower()
            if "signal" in name:
                ghs._signal(item)
            elif "pictogram" in name:
                ghs.pictograms += [label for text in item.extras or item.strings if (label := _label(text))]
            elif "hazard" in name and "statement" in name:
                ghs._hazards(item)
            elif "precautionary" in name and "statement" in name:
                ghs.precautions += [_joined(code) for text in item.strings for code in _PRECAUTION.findall(text)]
        ghs.pictograms = list(dict.fromkeys(ghs.pictograms))
        ghs.precautions = list(dict.fromkeys(ghs.precautions))
        return ghs

    def _signal(self, item: Item) -> None:
        said = item.strings[0] if item.strings else None
        if self.signal is None or (said or "").lower() == "danger":
            self.signal = said or self.signal

    def _hazards(self, item: Item) -> None:
        for text in item.strings:
            if found := _STATEMENT.fullmatch(text):
                self.hazards.setdefault(_joined(found["codes"]), found["text"].strip())


def _joined(codes: str) -> str:
    return re.sub(r"\s+", "", codes)


def _label(text: str) -> str:
    if symbol := _SYMBOL.search(text):
        return _PICTOGRAMS[int(symbol[1]) - 1]
    return text.rsplit("/", 1)[-1].rsplit(".", 1)[0].strip()
