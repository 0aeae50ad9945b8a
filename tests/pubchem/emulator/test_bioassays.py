"""The emulator's bioassays, targets and taxa."""

import csv
from typing import Any

import httpx
import pytest
from scigate_pubchem.emulator.bioassays import COLUMNS, Bioassays
from scigate_pubchem.emulator.sample import sample
from scigate_pubchem.emulator.targets import Targets


@pytest.mark.parametrize(
    ("path", "count"),
    [
        ("genesymbol/PTGS2", 3),
        ("genesymbol/ptgs1", 6),
        ("proteinname/Dopamine receptor D2", 4),
        ("geneid/1956", 3),
        ("accession/P03372", 4),
        ("accession/NP_000116", 4),
    ],
)
async def test_assays_of_a_target(pug: httpx.AsyncClient, path: str, count: int) -> None:
    """By any of its names; symbols and names whatever their case, an accession as it is written."""
    answer = await pug.get(f"/assay/target/{path}/aids/JSON")
    aids = answer.json()["IdentifierList"]["AID"]
    assert aids == sorted(set(aids))
    assert len(aids) >= count
    assert min(aids) > 900_000_000


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("assay/target/genesymbol/NONESUCH/aids", 404),
        ("assay/target/accession/p03372/aids", 404),
        ("assay/target/geneid/EGFR/aids", 400),
        ("assay/target/gi/116516899/aids", 501),
        ("compound/cid/1/assaysummary", 404),
        ("gene/geneid/77/summary", 404),
        ("protein/accession/Q99999/summary", 400),
        ("taxonomy/taxid/1/summary", 400),
        ("gene/genesymbol/EGFR/summary", 501),
    ],
)
async def test_what_is_not_there(pug: httpx.AsyncClient, path: str, status: int) -> None:
    """Unknown genes are 404, unknown proteins and taxa 400; what the sample does not have at all is 501."""
    answer = await pug.get(f"/{path}/JSON")
    assert (answer.status_code, list(answer.json())) == (status, ["Fault"])


async def test_the_table_of_a_compound(pug: httpx.AsyncClient) -> None:
    """Thirteen columns, cells of text; the CSV has the same rows."""
    table = (await pug.get("/compound/cid/2244/assaysummary/JSON")).json()["Table"]
    rows: list[list[str]] = [row["Cell"] for row in table["Row"]]
    assert tuple(table["Columns"]["Column"]) == COLUMNS
    assert all(type(cell) is str for row in rows for cell in row)
    text = (await pug.get("/compound/cid/2244/assaysummary/CSV")).text
    assert list(csv.reader(text.splitlines())) == [list(COLUMNS), *rows]
    assert {row[3] for row in rows} == {"2244"}


async def test_several_entities_in_one_request(pug: httpx.AsyncClient) -> None:
    """Known ones of a list, in its order."""
    found = (await pug.get("/taxonomy/taxid/10090,1,9606/summary/JSON")).json()
    summaries = found["TaxonomySummaries"]["TaxonomySummary"]
    assert [one["ScientificName"] for one in summaries] == ["Mus musculus", "Homo sapiens"]
    assert next(iter(summaries[0]["RankedLineage"])) == "Species"


async def test_an_assay_names_its_targets(pug: httpx.AsyncClient) -> None:
    """A panel has several, and says that it is sample data."""
    found = (await pug.get("/assay/aid/911000001/summary/JSON")).json()["AssaySummaries"]["AssaySummary"][0]
    assert [one["Accession"] for one in found["Target"]] == ["P23219", "P35354", "P22437"]
    assert found["Description"][0] == "This is sample data, not a measurement."
    assert found["SIDCountAll"] == found["SIDCountActive"] + found["SIDCountInactive"]


def test_the_sample_covers_the_cases_of_real_tables() -> None:
    """Replicates, several readouts, several targets, one identifier alone, none at all, and every kind of assay."""
    assays = Bioassays(sample(), Targets())
    compounds = {cid for screen in assays.screens.values() for cid in screen.tested}
    rows = [row for cid in compounds for row in assays.rows(cid)]
    assert (len(compounds), len(assays.screens)) >= (60, 100)
    assert {row.kind for row in rows} == {"Confirmatory", "Screening", "Summary", "Other", ""}
    assert {(bool(row.accession), bool(row.gene)) for row in rows} == {
        (True, True),
        (True, False),
        (False, True),
        (False, False),
    }
    assert all(screen.name.startswith("Sample ") for screen in assays.screens.values())


@pytest.mark.parametrize("entities", ["genes", "proteins"])
def test_facts_are_complete(entities: str) -> None:
    """Every gene and protein has its organism among the taxa."""
    targets = Targets()
    found: dict[str, dict[str, Any]] = getattr(targets, entities)()
    assert {str(one["TaxonomyID"]) for one in found.values()} <= set(targets.taxa())
    assert all(one["Name"] and one["Synonym"] for one in found.values())
