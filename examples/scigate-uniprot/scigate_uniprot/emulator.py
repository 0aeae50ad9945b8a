"""An emulator of UniProt's REST service over a dozen proteins.

Accessions, names, genes, organisms and lengths are UniProtKB's. A query is words and `field:value` joined by AND.
"""

import re
from typing import Any

from scigate.emulator import Emulator
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

ORGANISMS = {9606: "Homo sapiens", 10090: "Mus musculus"}

PROTEINS = [
    ("P23219", "PGH1_HUMAN", "Prostaglandin G/H synthase 1", "PTGS1", 9606, 599),
    ("P35354", "PGH2_HUMAN", "Prostaglandin G/H synthase 2", "PTGS2", 9606, 604),
    ("Q05769", "PGH2_MOUSE", "Prostaglandin G/H synthase 2", "Ptgs2", 10090, 604),
    ("P00533", "EGFR_HUMAN", "Epidermal growth factor receptor", "EGFR", 9606, 1210),
    ("P04637", "P53_HUMAN", "Cellular tumor antigen p53", "TP53", 9606, 393),
    ("P38398", "BRCA1_HUMAN", "Breast cancer type 1 susceptibility protein", "BRCA1", 9606, 1863),
    ("P22303", "ACES_HUMAN", "Acetylcholinesterase", "ACHE", 9606, 614),
    ("P00918", "CAH2_HUMAN", "Carbonic anhydrase 2", "CA2", 9606, 260),
    ("P02768", "ALBU_HUMAN", "Albumin", "ALB", 9606, 609),
    ("P01308", "INS_HUMAN", "Insulin", "INS", 9606, 110),
    ("P69905", "HBA_HUMAN", "Hemoglobin subunit alpha", "HBA1", 9606, 142),
    ("P68871", "HBB_HUMAN", "Hemoglobin subunit beta", "HBB", 9606, 147),
]
SEQUENCES = {
    "P01308": (
        "MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKTRREAEDLQVGQVELGGGPGAGSLQPLALEGSLQKRGIVEQCCTSICSLYQLENYCN"
    ),
    "P69905": (
        "MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLSHGSAQVKGHGKKVADALTNAVAHVDDMPNALSALSDLHAH"
        "KLRVDPVNFKLLSHCLLVTLAAHLPAEFTPAVHASLDKFLASVSTVLTSKYR"
    ),
    "P68871": (
        "MVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGNPKVKAHGKKVLGAFSDGLAHLDNLKGTFATLS"
        "ELHCDKLHVDPENFRLLGNVLVCVLAHHFGKEFTPPVQAAYQKVVAGVANALAHKYH"
    ),
}


def _entry(accession: str, entry_name: str, name: str, gene: str, taxon: int, length: int) -> dict[str, Any]:
    sequence = {"length": length} | ({"value": SEQUENCES[accession]} if accession in SEQUENCES else {})
    return {
        "entryType": "UniProtKB reviewed (Swiss-Prot)",
        "primaryAccession": accession,
        "uniProtkbId": entry_name,
        "organism": {"scientificName": ORGANISMS[taxon], "taxonId": taxon},
        "proteinDescription": {"recommendedName": {"fullName": {"value": name}}},
        "genes": [{"geneName": {"value": gene}}],
        "sequence": sequence,
    }


ENTRIES = {row[0]: _entry(*row) for row in PROTEINS}


def _matches(entry: dict[str, Any], term: str) -> bool:
    field, colon, value = term.strip("()").partition(":")
    if not colon:
        return term.strip('"').lower() in str(entry).lower()
    known = {
        "accession": entry["primaryAccession"],
        "gene": entry["genes"][0]["geneName"]["value"],
        "organism_id": str(entry["organism"]["taxonId"]),
        "reviewed": "true",
        "id": entry["uniProtkbId"],
    }
    return known.get(field, "").lower() == value.strip('"').lower()


def _refusal(request: Request, status: int, sentence: str) -> JSONResponse:
    return JSONResponse({"url": str(request.url), "messages": [sentence]}, status)


async def search(request: Request) -> JSONResponse:
    query = request.query_params.get("query", "")
    if query.count('"') % 2 or query.count("(") != query.count(")"):
        return _refusal(request, 400, "query parameter has an invalid syntax")
    terms = [term for term in re.split(r"\s+AND\s+|\s+", query) if term]
    found = [entry for entry in ENTRIES.values() if all(_matches(entry, term) for term in terms)]
    shown = [{**entry, "sequence": {"length": entry["sequence"]["length"]}} for entry in found]
    size = int(request.query_params.get("size", 25))
    return JSONResponse({"results": shown[:size]}, headers={"X-Total-Results": str(len(found))})


async def read(request: Request) -> JSONResponse:
    entry = ENTRIES.get(request.path_params["accession"])
    return JSONResponse(entry) if entry else _refusal(request, 404, "Resource not found")


def create_app() -> Emulator:
    """The emulator; faults can be injected, as `scigate.emulator` tells."""
    routes = [Route("/uniprotkb/search", search), Route("/uniprotkb/{accession}", read)]
    return Emulator(Starlette(routes=routes), "uniprot")
