"""Build the provider's sample of PubMed records from a file of bibliographic facts.

    python scripts/build_sample.py BIBLIOGRAPHY.jsonl

The input has one JSON object a line, with the keys that the emulator's `Record` reads; whatever else a line
holds (where it was found, an abstract) is left behind. The output is the same bytes for the same input.
"""

import gzip
import json
import sys
from pathlib import Path

TARGET = Path(__file__).parents[1] / "scigate_pubmed" / "data" / "bibliography.jsonl.gz"

KEPT = (
    "pmid", "title", "authors", "journal", "isoAbbreviation", "book", "publisher", "bookaccession", "volume", "issue",
    "pages", "pubdate", "doi", "pmcid", "mesh", "publicationTypes", "language", "hasAbstract", "docType", "status",
)  # fmt: skip

# Editors of GeneReviews as its own record (PMID 20301295) names them; the facts file has only authors.
EDITORS = {
    "GeneReviews™": ["Pagon RA", "Bird TD", "Dolan CR", "Stephens K", "Adam MP"],
    "GeneReviews®": ["Adam MP", "Feldman J", "Mirzaa GM", "Pagon RA", "Wallace SE", "Amemiya A"],
}


def fact(line: str) -> dict[str, object]:
    """The kept keys of one line, without those that say nothing."""
    source = json.loads(line)
    kept = {key: source[key] for key in KEPT if source.get(key) not in (None, [], "")}
    if source.get("book") in EDITORS:
        kept["editors"] = EDITORS[source["book"]]
    return kept


def main() -> None:
    records = [fact(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines() if line]
    records.sort(key=lambda record: int(str(record["pmid"])))
    lines = "".join(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records)
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(gzip.compress(lines.encode(), compresslevel=9, mtime=0))
    print(f"{len(records)} records, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
