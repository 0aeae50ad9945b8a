"""PubChem for scigate: the hooks of the provider `pubchem`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import httpx
from scigate import Example, Failure, Resource, Tool, Upstream, hookimpl

from scigate_pubchem import faults
from scigate_pubchem.assays import search_assays
from scigate_pubchem.bioactivity import get_bioactivity
from scigate_pubchem.client import PubChem
from scigate_pubchem.compounds import search_compounds
from scigate_pubchem.conformer import get_3d_structure
from scigate_pubchem.details import get_details
from scigate_pubchem.image import get_image
from scigate_pubchem.interactions import get_interactions
from scigate_pubchem.resources import RESOURCES
from scigate_pubchem.safety import get_safety
from scigate_pubchem.summaries import get_summary
from scigate_pubchem.upstream import PUBCHEM
from scigate_pubchem.xrefs import get_xrefs

scigate_api: Final = ">=1.0,<2"


@hookimpl
def register_upstreams() -> list[Upstream]:
    """PubChem's one budget, for PUG REST and all else on its host."""
    return [PUBCHEM]


@hookimpl
def build_client(upstreams: Mapping[str, httpx.AsyncClient]) -> PubChem:
    """The PUG REST client."""
    return PubChem(upstreams["pubchem"])


@hookimpl
def register_tools() -> list[Tool]:
    """The provider's tools."""
    return [
        search_compounds,
        get_details,
        get_image,
        get_3d_structure,
        get_xrefs,
        get_safety,
        get_bioactivity,
        get_interactions,
        search_assays,
        get_summary,
    ]


@hookimpl
def register_resources() -> list[Resource]:
    """Compounds and assays by URI."""
    return list(RESOURCES)


@hookimpl
def map_error(error: Exception) -> Failure | None:
    """PubChem's faults in a caller's words."""
    return faults.map_error(error)


@hookimpl
def register_examples() -> list[Example]:
    """Calls that show paging, caps and failures on the sample."""
    name = "pubchem_search_compounds"
    return [
        Example(
            title="Compounds by name, with properties",
            tool=name,
            arguments={
                "searchType": "identifier",
                "identifierType": "name",
                "identifiers": ["aspirin", "caffeine", "ibuprofen"],
                "properties": ["MolecularFormula", "MolecularWeight", "InChIKey"],
            },
        ),
        Example(
            title="A substructure search, page by page",
            tool=name,
            arguments={
                "searchType": "substructure",
                "query": "CC(=O)Oc1ccccc1",
                "queryType": "smiles",
                "maxResults": 5,
            },
            pages=2,
        ),
        Example(
            title="A batch above its cap",
            tool=name,
            arguments={
                "searchType": "identifier",
                "identifierType": "name",
                "identifiers": [
                    *("aspirin", "caffeine", "ibuprofen", "paracetamol", "naproxen", "metformin", "glucose"),
                    *("benzene", "toluene", "phenol", "aniline", "pyridine", "furan", "thiophene", "pyrrole"),
                    *("ethanol", "methanol", "acetone", "acetic acid", "urea", "glycine", "alanine", "serine"),
                    *("cholesterol", "morphine", "nicotine", "quinine"),
                ],
            },
        ),
        Example(
            title="Assays against a gene",
            tool="pubchem_search_assays",
            arguments={"targetType": "genesymbol", "targetQuery": "PTGS1", "maxResults": 3},
        ),
        Example(
            title="What a compound does at a target",
            tool="pubchem_get_bioactivity",
            arguments={"cid": 2244, "targetGeneId": 5743, "outcomeFilter": "active"},
        ),
        Example(
            title="A failure with its recovery hint",
            tool=name,
            arguments={"searchType": "similarity", "query": "not-a-number", "queryType": "cid"},
        ),
    ]
