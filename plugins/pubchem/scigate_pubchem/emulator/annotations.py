"""What the sample's records say under PUG View's headings; `data/ANNOTATIONS.md` tells documented facts from made-up.

Above is the web application. A record has the sections of the real ones as far as a heading leads to them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from .sample import Sample

__all__ = ["Annotations", "ViewFault"]

Json = dict[str, Any]

SOURCE: Final = "scigate sample data"

_PATHS: Final = {
    "Record Description": ("Names and Identifiers", "Record Description"),
    "GHS Classification": ("Safety and Hazards", "Hazards Identification", "GHS Classification"),
    "FDA Pharmacological Classification": ("Pharmacology and Biochemistry", "FDA Pharmacological Classification"),
    "MeSH Pharmacological Classification": ("Pharmacology and Biochemistry", "MeSH Pharmacological Classification"),
    "ATC Code": ("Pharmacology and Biochemistry", "ATC Code"),
    "Drug-Food Interactions": ("Interactions and Pathways", "Drug-Food Interactions"),
}
"""Where each section with information stands."""

_LABELS: Final = (
    *("Explosive", "Flammable", "Oxidizer", "Compressed Gas", "Corrosive", "Acute Toxic"),
    *("Irritant", "Health Hazard", "Environmental Hazard"),
)

_STATEMENTS: Final = {
    "H220": "Extremely flammable gas",
    "H221": "Flammable gas",
    "H224": "Extremely flammable liquid and vapor",
    "H225": "Highly Flammable liquid and vapor",
    "H226": "Flammable liquid and vapor",
    "H271": "May cause fire or explosion; strong Oxidizer",
    "H280": "Contains gas under pressure; may explode if heated",
    "H300": "Fatal if swallowed",
    "H301": "Toxic if swallowed",
    "H302": "Harmful if swallowed",
    "H304": "May be fatal if swallowed and enters airways",
    "H310": "Fatal in contact with skin",
    "H311": "Toxic in contact with skin",
    "H312": "Harmful in contact with skin",
    "H314": "Causes severe skin burns and eye damage",
    "H315": "Causes skin irritation",
    "H317": "May cause an allergic skin reaction",
    "H318": "Causes serious eye damage",
    "H319": "Causes serious eye irritation",
    "H330": "Fatal if inhaled",
    "H331": "Toxic if inhaled",
    "H332": "Harmful if inhaled",
    "H335": "May cause respiratory irritation",
    "H336": "May cause drowsiness or dizziness",
    "H340": "May cause genetic defects",
    "H341": "Suspected of causing genetic defects",
    "H350": "May cause cancer",
    "H351": "Suspected of causing cancer",
    "H360D": "May damage the unborn child",
    "H361d": "Suspected of damaging the unborn child",
    "H361f": "Suspected of damaging fertility",
    "H370": "Causes damage to organs",
    "H372": "Causes damage to organs through prolonged or repeated exposure",
    "H373": "May cause damage to organs through prolonged or repeated exposure",
    "H400": "Very toxic to aquatic life",
    "H411": "Toxic to aquatic life with long lasting effects",
    "H412": "Harmful to aquatic life with long lasting effects",
}

_PROSE: Final = "(The corresponding statement to each P-code can be found at the GHS Classification page.)"


@dataclass(frozen=True)
class ViewFault(Exception):
    """A fault as PUG View words it; the message alone tells a missing compound from a missing heading."""

    message: str

    def body(self) -> Json:
        """The fault as PUG View writes it."""
        return {"Fault": {"Code": "PUGVIEW.NotFound", "Message": self.message}}


class Annotations:
    """The annotations by compound."""

    def __init__(self, sample: Sample) -> None:
        text = files("scigate_pubchem").joinpath("data", "annotations.json").read_text(encoding="utf-8")
        whole = json.loads(text)
        self._sample = sample
        self._cids = {entry["name"]: sample.by_name(entry["name"])[0] for entry in whole["compounds"]}
        self._entries: dict[int, Json] = {self._cids[entry["name"]]: entry for entry in whole["compounds"]}
        self._pairs: dict[frozenset[str], str] = {frozenset((a, b)): told for a, b, told in whole["pairs"]}

    def descriptions(self, cid: int) -> list[str]:
        """The texts on a compound; none where the sample has no annotation of it."""
        return self._entries.get(cid, {}).get("descriptions", [])

    def record(self, cid: int, heading: str | None) -> Json:
        """The compound's record, cut down to a heading where one is given.

        Raises:
            ViewFault: There is no such compound, or it has nothing under the heading.
        """
        if cid not in self._sample:
            raise ViewFault("No record found")
        sections: list[Json] = []
        for name, information in self._informations(cid):
            if information and (heading is None or heading in _PATHS[name]):
                _put(sections, _PATHS[name], information)
        if not sections:
            raise ViewFault("No data found")
        title = self._sample.text(cid, "Title")
        references = [{"ReferenceNumber": 1, "SourceName": SOURCE, "SourceID": f"SAMPLE-{cid}", "Name": title}]
        record = {"RecordType": "CID", "RecordNumber": cid, "RecordTitle": title, "Section": sections}
        return {"Record": {**record, "Reference": references}}

    def pairs(self, cid: int) -> list[tuple[str, str | None]]:
        """A drug's partners with a statement on each pair, the documented ones first; one has no statement."""
        entry = self._entries.get(cid, {})
        if "classes" not in entry:
            return []
        drugs = [other["name"] for other in self._entries.values() if "classes" in other and other is not entry]
        told = [(drug, self._pairs.get(frozenset((drug, entry["name"])))) for drug in drugs]
        documented = [(self._title(drug), text) for drug, text in told if text]
        others = [self._title(drug) for drug, text in told if not text]
        made = [(drug, f"Sample data: stands for a statement on {entry['name']} with {drug}.") for drug in others[:-1]]
        return [*documented, *made, (others[-1], None)]

    def _title(self, name: str) -> str:
        return self._sample.text(self._cids[name], "Title")

    def _informations(self, cid: int) -> Iterator[tuple[str, list[Json]]]:
        entry = self._entries.get(cid, {})
        classes = entry.get("classes", {})
        yield "Record Description", [_information(None, [text]) for text in entry.get("descriptions", [])]
        yield "GHS Classification", _hazards(entry["hazards"]) if "hazards" in entry else []
        yield "FDA Pharmacological Classification", _fda(classes) if classes else []
        yield "MeSH Pharmacological Classification", [_information(None, [text]) for text in classes.get("mesh", [])]
        atc = [f"{code} - {label}" for code, label in classes.get("atc", {}).items()]
        groups = [f"{code[:1]} - anatomical group" for code in classes.get("atc", {})]
        yield "ATC Code", [_information(None, [*groups, *atc])] if atc else []
        yield "Drug-Food Interactions", [_information(None, [text]) for text in entry.get("food", [])]


def _put(sections: list[Json], path: tuple[str, ...], information: list[Json]) -> None:
    """Put information into its place, opening the sections on the way."""
    for depth, name in enumerate(path):
        found = next((section for section in sections if section["TOCHeading"] == name), None)
        if found is None:
            found = Json(TOCHeading=name)
            sections.append(found)
        if depth == len(path) - 1:
            found["Information"] = information
        else:
            sections = found.setdefault("Section", [])


def _information(name: str | None, texts: list[str], markup: list[Json] | None = None) -> Json:
    strings = [{"String": text, **({"Markup": markup} if markup else {})} for text in texts]
    named = {"ReferenceNumber": 1, **({"Name": name} if name else {})}
    return {**named, "Value": {"StringWithMarkup": strings}}


def _hazards(hazards: Json) -> list[Json]:
    icons: list[Json] = [
        {
            "Start": at,
            "Length": 1,
            "URL": f"https://pubchem.ncbi.nlm.nih.gov/images/ghs/GHS0{number}.svg",
            "Type": "Icon",
            "Extra": _LABELS[number - 1],
        }
        for at, number in enumerate(hazards["pictograms"])
    ]
    statements = [f"{code}: {text}" for code in hazards["statements"] if (text := _STATEMENTS.get(code.split(" ")[0]))]
    *codes, last = hazards["precautions"]
    return [
        _information("Pictogram(s)", [" " * 5 * len(icons)], icons),
        _information("Signal", [hazards["signal"]]),
        _information("GHS Hazard Statements", statements),
        _information("Precautionary Statement Codes", [f"{', '.join(codes)}, and {last}", _PROSE]),
    ]


def _fda(classes: Json) -> list[Json]:
    """Both shapes that records have: one class in a text, and a list of them."""
    single = [f"Established Pharmacologic Class [EPC] - {name}" for name in classes["fda"]]
    single += [f"Mechanisms of Action [MoA] - {name}" for name in classes["mechanisms"]]
    joined = [f"{name} [EPC]" for name in classes["fda"]] + [f"{name} [MoA]" for name in classes["mechanisms"]]
    if not joined:
        return []
    return [_information("Pharmacological Classes", single), _information("FDA Class", ["; ".join(joined)])]
