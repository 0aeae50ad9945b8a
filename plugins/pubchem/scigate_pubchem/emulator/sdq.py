"""The SDQ agent over the sample: two tables keyed by compound, and its refusals under HTTP 200."""

from __future__ import annotations

import json
from typing import Any, Final

from .annotations import SOURCE, Annotations
from .bioassays import Bioassays
from .targets import Targets

__all__ = ["Sdq"]

Json = dict[str, Any]

_LARGEST: Final = 2**31 - 1


class Sdq:
    """Answers queries, given as the JSON text in `query`."""

    def __init__(self, annotations: Annotations, bioassays: Bioassays, targets: Targets) -> None:
        self._annotations = annotations
        self._bioassays = bioassays
        self._names: dict[str, str] = {}
        for target in targets.all:
            for identifier in (target.accession, target.further, str(target.gene)):
                self._names.setdefault(identifier, target.name)

    def answer(self, text: str) -> Json:
        """The answer to a query; a query that cannot be read is refused in it."""
        try:
            query = json.loads(text)
            collection, cid = str(query["collection"]), int(query["where"]["ands"][0]["cid"])
            columns, start, limit = list(query["select"]), int(query["start"]), int(query["limit"])
        except (ValueError, KeyError, IndexError, TypeError):
            return _set("", {"code": -1, "error": "eInvalidQuery"})
        tables = {"drugbankddi": self._interactions, "bioactivity": self._activities}
        if collection not in tables or not 1 <= start <= _LARGEST:
            return _set(collection, {"code": -1, "error": "eInvalidQuery"})
        rows = tables[collection](cid)
        if "order" in query:
            column, _, _direction = query["order"][0].partition(",")
            rows = sorted(rows, key=lambda row: (row.get(column) is None, row.get(column) or 0))
        window = [{name: row[name] for name in columns if name in row} for row in rows[start - 1 : start - 1 + limit]]
        if not window:
            return _set(collection, {"code": 0, "warning": ["eNoHitsFound"]})
        return _set(collection, {"code": 0}, window, len(rows))

    def _interactions(self, cid: int) -> list[Json]:
        return [
            {"cid": cid, "name2": partner, **({"descr": text} if text else {})}
            for partner, text in self._annotations.pairs(cid)
        ]

    def _activities(self, cid: int) -> list[Json]:
        return [
            {
                "cid": cid,
                "targetname": self._names.get(row.accession) or self._names.get(str(row.gene)),
                "acname": row.readout or None,
                "acqualifier": "=" if row.value else None,
                "acvalue": float(row.value) if row.value else None,
                "aidsrcname": SOURCE,
            }
            for row in self._bioassays.rows(cid)
        ]


def _set(collection: str, status: Json, rows: list[Json] | None = None, total: int = 0) -> Json:
    found = {"status": status, "totalCount": total, "collection": collection, "rows": rows or []}
    return {"SDQOutputSet": [found]}
