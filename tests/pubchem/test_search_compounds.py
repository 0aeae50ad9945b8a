"""`pubchem_search_compounds`, search by search, on the emulator over a socket."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from scigate.emulator import Emulator
from scigate.host import Reply
from scigate_pubchem.emulator import create_app
from scigate_pubchem.emulator.sample import sample

Search = Callable[..., Awaitable[Reply]]

ASPIRIN = 2244
SAMPLE_NOTICE = "Sample data: answered by the offline emulator of pubchem, not by the live service."
ACIDS = 900000001
EVERY_QUERY = {"formula": "C6H6", "query": "C", "queryType": "smiles"}


@pytest.fixture(scope="module")
def emulator() -> Emulator:
    return create_app()


@pytest.fixture(scope="module")
async def on_emulator(emulator: Emulator, searching: Any) -> AsyncIterator[Search]:
    async with searching(emulator, cache=False) as search:
        yield search


@pytest.fixture
def search(on_emulator: Search, emulator: Emulator) -> Search:
    """The search, and the count of requests at nought."""
    emulator.requests.clear()
    emulator.faults.clear()
    return on_emulator


async def found(search: Search, search_type: str, **arguments: Any) -> dict[str, Any]:
    """A result; every one says that it is sample data, and the rest of its notice stays."""
    reply = await search(search_type, **arguments)
    assert not reply.is_error, reply.structured
    result = reply.structured
    assert result["searchType"] == search_type
    assert result["notice"].endswith(SAMPLE_NOTICE)
    if rest := result.pop("notice").removesuffix(SAMPLE_NOTICE).strip():
        result["notice"] = rest
    return result


async def failed(search: Search, search_type: str, **arguments: Any) -> dict[str, Any]:
    reply = await search(search_type, **arguments)
    assert reply.is_error, reply.structured
    error = reply.structured["error"]
    text = reply.content[0]["text"]
    assert error["data"]["reason"] in text
    assert f"Recovery: {error['data']['recovery']['hint']}" in text.replace("\\", "")
    return error


async def test_names_lead_to_compounds(search: Search, emulator: Emulator) -> None:
    """One request each; each row names its input; nothing to say is no notice."""
    result = await found(search, "identifier", identifierType="name", identifiers=["aspirin", "Caffeine"])
    assert result == {
        "searchType": "identifier",
        "offset": 0,
        "totalFound": 2,
        "results": [{"cid": ASPIRIN, "identifier": "aspirin"}, {"cid": 2519, "identifier": "Caffeine"}],
    }
    assert len(emulator.requests) == 2


@pytest.mark.parametrize(
    ("kind", "identifier"),
    [
        ("smiles", "CC(=O)OC1=CC=CC=C1C(=O)O"),
        ("smiles", "O=C(O)c1ccccc1OC(C)=O"),
        ("inchi", "InChI=1S/C9H8O4/c1-6(10)13-8-5-3-2-4-7(8)9(11)12/h2-5H,1H3,(H,11,12)"),
        ("inchikey", "BSYNRYMUTXBXSQ-UHFFFAOYSA-N"),
        ("inchikey", "bsynrymutxbxsq-uhfffaoysa-n"),
        ("name", "2-acetyloxybenzoic acid"),
        ("name", "  ASPIRIN  "),
    ],
)
async def test_any_kind_of_identifier_leads_to_its_compound(search: Search, kind: str, identifier: str) -> None:
    """The row repeats it as it was given."""
    result = await found(search, "identifier", identifierType=kind, identifiers=[identifier])
    assert result["results"] == [{"cid": ASPIRIN, "identifier": identifier}]


async def test_a_name_of_several_compounds_gives_them_all(search: Search) -> None:
    """In the upstream's order of preference; the total counts compounds, not inputs."""
    cids = sample().by_name("glucose")
    assert len(cids) > 1
    result = await found(search, "identifier", identifierType="name", identifiers=["glucose"])
    assert [row["cid"] for row in result["results"]] == cids
    assert result["totalFound"] == len(cids)


async def test_identifiers_that_match_nothing_are_named(search: Search) -> None:
    """Unmatched and unreadable apart, each with its advice; both are unresolved, in the order of the input."""
    result = await found(
        search,
        "identifier",
        identifierType="smiles",
        identifiers=["c1ccccc12cCc4", "CCO", "C[Fe](C)(C)OC(C)=O", "not a smiles"],
    )
    assert [row["cid"] for row in result["results"]] == [702]
    assert result["unresolvedIdentifiers"] == ["c1ccccc12cCc4", "C[Fe](C)(C)OC(C)=O", "not a smiles"]
    assert result["notice"] == (
        "1 of 4 identifiers matched no compound: 'C[Fe](C)(C)OC(C)=O'. Check the spelling and identifierType. "
        "2 of 4 identifiers could not be read as smiles: 'c1ccccc12cCc4', 'not a smiles'. "
        "Check ring closures, brackets and element symbols."
    )


async def test_nothing_found_of_readable_identifiers_is_a_success(search: Search) -> None:
    """With an exact total of none."""
    result = await found(search, "identifier", identifierType="name", identifiers=["nonesuch", "neither"])
    assert (result["results"], result["totalFound"]) == ([], 0)
    assert result["notice"].startswith("2 of 2 identifiers matched no compound")


async def test_inputs_that_meet_on_one_compound_are_told(search: Search) -> None:
    """The row names the first; an input given twice is not worth a word."""
    names = ["aspirin", "acetylsalicylic acid", "aspirin", "caffeine", "caffeine"]
    result = await found(search, "identifier", identifierType="name", identifiers=names)
    assert result["results"] == [{"cid": ASPIRIN, "identifier": "aspirin"}, {"cid": 2519, "identifier": "caffeine"}]
    assert result["notice"] == (
        "'aspirin', 'acetylsalicylic acid' all lead to CID 2244, whose row names 'aspirin' alone."
    )


async def test_identifiers_over_the_cap_are_given_back(search: Search, emulator: Emulator) -> None:
    """25 are looked up; what the notices count are those."""
    names = [f"nonesuch {number}" for number in range(24)] + ["aspirin", "caffeine", "water"]
    result = await found(search, "identifier", identifierType="name", identifiers=names)
    assert result["unprocessed"] == ["caffeine", "water"]
    assert result["cappedInputs"] == [{"input": "identifiers", "requested": 27, "served": 25, "unprocessed": 2}]
    assert [row["identifier"] for row in result["results"]] == ["aspirin"]
    assert len(emulator.requests) == 25
    assert result["notice"].startswith("24 of 25 identifiers matched no compound: 'nonesuch 0', ")
    assert "and 14 more" in result["notice"]


async def test_compounds_of_identifiers_are_paged(search: Search) -> None:
    """All are looked up first, then cut: the total is exact on every page."""
    names = ["aspirin", "caffeine", "ibuprofen", "naproxen", "morphine"]
    asked = {"identifierType": "name", "identifiers": names, "maxResults": 2}
    result = await found(search, "identifier", **asked, offset=2)
    assert [row["identifier"] for row in result["results"]] == ["ibuprofen", "naproxen"]
    assert {name: result[name] for name in ("offset", "nextOffset", "truncated", "shown", "cap", "totalFound")} == {
        "offset": 2,
        "nextOffset": 4,
        "truncated": True,
        "shown": 2,
        "cap": 2,
        "totalFound": 5,
    }
    assert result["notice"] == "Showing 3 to 4 of 5; next page: offset 4."
    past = await found(search, "identifier", **asked, offset=20_000)
    assert past["notice"] == "Offset 20,000 is past the end: 5 found. Ask again with a smaller offset."


async def test_a_formula_lists_its_compounds(search: Search, emulator: Emulator) -> None:
    """The total is exact, as fewer came back than were asked for."""
    result = await found(search, "formula", formula=" C9H8O4 ", maxResults=200)
    assert ASPIRIN in [row["cid"] for row in result["results"]]
    assert result["totalFound"] == len(result["results"])
    assert "truncated" not in result
    (request,) = emulator.requests
    assert (request.path, request.query) == ("/rest/pug/compound/fastformula/C9H8O4/cids/JSON", "MaxRecords=250")
    assert {"identifier", "properties"}.isdisjoint(result["results"][0])


async def test_a_formula_may_allow_other_elements(search: Search) -> None:
    """Then there are more."""
    plain = await found(search, "formula", formula="C9H8O4")
    more = await found(search, "formula", formula="C9H8O4", allowOtherElements=True)
    assert more["totalFound"] > plain["totalFound"]


async def test_a_substructure_search_states_a_floor(search: Search, emulator: Emulator) -> None:
    """As many came back as were asked for: at least so many, and no total."""
    result = await found(search, "substructure", query="c1ccccc1", queryType="smiles", maxResults=3)
    assert (result["totalFoundAtLeast"], result["nextOffset"], result["shown"]) == (250, 3, 3)
    assert "totalFound" not in result
    assert result["notice"] == "Showing 1 to 3 of at least 250 (no exact count); next page: offset 3."
    assert [request.query for request in emulator.requests] == ["MaxRecords=250"]


@pytest.mark.parametrize(("offset", "asked"), [(0, 250), (229, 250), (230, 1000), (900, 1000), (990, 4000)])
async def test_a_search_asks_for_the_step_that_holds_the_page(
    search: Search, emulator: Emulator, offset: int, asked: int
) -> None:
    """Larger than the page, so that its next pages come from the cache."""
    await found(search, "substructure", query="C", queryType="smiles", maxResults=20, offset=offset)
    assert [request.query for request in emulator.requests] == [f"MaxRecords={asked}"]


@pytest.mark.parametrize("form", [("smiles", "CC(=O)Oc1ccccc1C(=O)O"), ("cid", "2244"), ("cid", " 0002244 ")])
@pytest.mark.parametrize("kind", ["substructure", "superstructure", "similarity"])
async def test_structures_are_searched_by_smiles_or_cid(search: Search, kind: str, form: tuple[str, str]) -> None:
    """A compound is its own sub- and superstructure, and like itself."""
    result = await found(search, kind, query=form[1], queryType=form[0], maxResults=200)
    assert ASPIRIN in [row["cid"] for row in result["results"]]


async def test_a_lower_threshold_finds_more(search: Search, emulator: Emulator) -> None:
    """It is sent as a whole number, to similarity searches alone."""
    near = await found(search, "similarity", query="2244", queryType="cid", threshold=95)
    far = await found(search, "similarity", query="2244", queryType="cid", threshold=70.4)
    assert near["totalFound"] < far.get("totalFound", far.get("totalFoundAtLeast"))
    assert [request.query for request in emulator.requests] == [
        "MaxRecords=250&Threshold=95",
        "MaxRecords=250&Threshold=70",
    ]


@pytest.mark.parametrize(
    ("kind", "arguments", "advice"),
    [
        ("formula", {"formula": "C99H99"}, "No compound has the formula 'C99H99': check its Hill order, or set allow"),
        ("formula", {"formula": "C99H99", "allowOtherElements": True}, "'C99H99': check its Hill order."),
        ("substructure", {"query": "[U]1CCCCCCCCC1", "queryType": "smiles"}, "use a smaller query structure."),
        ("superstructure", {"query": "[He]", "queryType": "smiles"}, None),
        ("similarity", {"query": "[U]1CCCCCCCCC1", "queryType": "smiles", "threshold": 99}, "lower threshold from 99."),
    ],
)
async def test_nothing_found_says_how_to_widen(
    search: Search, kind: str, arguments: dict[str, Any], advice: str | None
) -> None:
    """An empty page with an exact total of none, and advice of its kind."""
    result = await found(search, kind, **arguments)
    if advice is not None:
        assert (result["results"], result["totalFound"]) == ([], 0)
        assert advice in result["notice"]


async def test_an_assay_lists_its_active_compounds(search: Search, emulator: Emulator) -> None:
    """Exact total, one page fetched: a request for the list and one for the page."""
    screen = sample().screens[ACIDS]
    result = await found(search, "assay", aid=ACIDS, maxResults=3, offset=10)
    assert [row["cid"] for row in result["results"]] == screen.active[10:13]
    assert (result["totalFound"], result["activeOnly"], result["nextOffset"]) == (len(screen.active), True, 13)
    assert len(emulator.requests) == 2
    everything = await found(search, "assay", aid=ACIDS, activeOnly=False)
    assert everything["totalFound"] == len(screen.active) + len(screen.inactive)
    assert everything["activeOnly"] is False


async def test_an_assay_is_paged_to_its_end(search: Search) -> None:
    """No ceiling: its list can be read anywhere."""
    total = (await found(search, "assay", aid=ACIDS, activeOnly=False))["totalFound"]
    last = await found(search, "assay", aid=ACIDS, activeOnly=False, offset=total - 1)
    assert len(last["results"]) == 1
    assert "nextOffset" not in last
    past = await found(search, "assay", aid=ACIDS, offset=20_000)
    assert past["results"] == []
    assert past["notice"].startswith("Offset 20,000 is past the end: ")


async def test_a_page_size_over_the_cap_is_served_at_the_cap(search: Search) -> None:
    """And said so."""
    result = await found(search, "assay", aid=ACIDS, maxResults=500)
    assert result["cappedInputs"] == [{"input": "maxResults", "requested": 500, "served": 200}]
    assert (len(result["results"]), result["cap"], result["nextOffset"]) == (200, 200, 200)


async def test_properties_come_under_the_names_asked_for(search: Search, emulator: Emulator) -> None:
    """For the page's compounds, in one request more; one without a value is absent."""
    result = await found(
        search,
        "identifier",
        identifierType="name",
        identifiers=["aspirin"],
        properties=["CanonicalSMILES", "IsomericSMILES", "MolecularWeight", "Charge", "Volume3D"],
    )
    (row,) = result["results"]
    assert row["properties"] == {
        "CanonicalSMILES": "CC(=O)OC1=CC=CC=C1C(=O)O",
        "IsomericSMILES": "CC(=O)OC1=CC=CC=C1C(=O)O",
        "MolecularWeight": "180.16",
        "Charge": 0,
    }
    assert len(emulator.requests) == 2
    assert emulator.requests[-1].path == (
        "/rest/pug/compound/cid/2244/property/ConnectivitySMILES,SMILES,MolecularWeight,Charge,Volume3D/JSON"
    )


async def test_properties_of_a_large_page_are_one_request(search: Search, emulator: Emulator) -> None:
    """Sent in a form; every compound has its own."""
    result = await found(search, "assay", aid=ACIDS, maxResults=200, properties=["MolecularFormula"])
    assert all(row["properties"]["MolecularFormula"].startswith("C") for row in result["results"])
    assert [request.method for request in emulator.requests] == ["GET", "GET", "POST"]


async def test_no_properties_are_asked_for_an_empty_page(search: Search, emulator: Emulator) -> None:
    """There is nobody to attach them to."""
    await found(search, "formula", formula="C99H99", properties=["Charge"])
    assert len(emulator.requests) == 1


@pytest.mark.parametrize(
    ("kind", "arguments", "reason", "code", "said"),
    [
        ("identifier", {}, "missing_identifier_args", -32007, "identifierType and identifiers is missing"),
        ("identifier", {"identifierType": "name"}, "missing_identifier_args", -32007, "identifiers is missing"),
        ("identifier", {"identifiers": ["a"]}, "missing_identifier_args", -32007, "identifierType is missing"),
        ("identifier", {"identifierType": "", "identifiers": []}, "missing_identifier_args", -32007, "is missing"),
        ("formula", {}, "missing_formula", -32007, "formula is missing or blank"),
        ("formula", {"formula": " \t"}, "missing_formula", -32007, "formula is missing or blank"),
        ("formula", {"query": "C", "queryType": "smiles"}, "missing_formula", -32007, "formula is missing"),
        ("substructure", {}, "missing_structure_args", -32007, "query and queryType is missing or blank"),
        ("superstructure", {"query": "CC"}, "missing_structure_args", -32007, "queryType is missing"),
        ("similarity", {"query": " ", "queryType": "smiles"}, "missing_structure_args", -32007, "query is missing"),
        ("similarity", {"query": "C", "queryType": ""}, "missing_structure_args", -32007, "queryType is missing"),
        ("assay", {}, "missing_aid", -32007, "aid is missing"),
        ("assay", {"aid": ""}, "missing_aid", -32007, "aid is missing"),
        *(
            ("similarity", {"query": query, "queryType": "cid"}, "invalid_cid_query", -32007, "is not a CID")
            for query in ("0", "-1", "1.0", "aspirin", "2147483648", "00000000000099999999999", "٣", "1" * 5000)
        ),
        *(
            (kind, {**EVERY_QUERY, "offset": 10_001}, "offset_ceiling_exceeded", -32007, "offset is 10001")
            for kind in ("formula", "substructure", "superstructure", "similarity")
        ),
    ],
)
async def test_what_a_search_needs_is_asked_for_before_any_request(
    search: Search, emulator: Emulator, kind: str, arguments: dict[str, Any], reason: str, code: int, said: str
) -> None:
    """Each with its declared reason."""
    error = await failed(search, kind, **arguments)
    assert (error["data"]["reason"], error["code"]) == (reason, code)
    assert said in error["message"]
    assert not error["data"]["retryable"]
    assert len(emulator.requests) == 0


@pytest.mark.parametrize(
    ("kind", "arguments", "hint"),
    [
        ("substructure", {"query": "C1CC", "queryType": "smiles"}, "Correct the SMILES in query"),
        ("similarity", {"query": "2147483647", "queryType": "cid"}, "Confirm that the CID in query exists"),
        ("formula", {"formula": "not a formula"}, "Write the formula in Hill order"),
    ],
)
async def test_a_query_that_pubchem_cannot_search_is_rejected(
    search: Search, emulator: Emulator, kind: str, arguments: dict[str, Any], hint: str
) -> None:
    """The hint names the form that was sent, the fault is beside it, and it is not tried again."""
    error = await failed(search, kind, **arguments)
    assert (error["code"], error["data"]["reason"]) == (-32007, "search_query_rejected")
    assert error["data"]["recovery"]["hint"].startswith(hint)
    assert error["data"]["fault"] == "PUGREST.ServerError: Search status indicates failure"
    assert len(emulator.requests) == 1


async def test_identifiers_of_which_none_is_readable_are_rejected(search: Search) -> None:
    """With the fault's text; one that is readable turns it into a success."""
    error = await failed(search, "identifier", identifierType="smiles", identifiers=["C1CC", "not a smiles"])
    assert (error["code"], error["data"]["reason"]) == (-32007, "identifier_rejected")
    assert "'C1CC', 'not a smiles'" in error["message"]
    assert error["data"]["fault"].startswith("PUGREST.BadRequest: Unable to standardize")
    result = await found(search, "identifier", identifierType="smiles", identifiers=["C1CC", "C[Fe](C)(C)OC(C)=O"])
    assert result["unresolvedIdentifiers"] == ["C1CC", "C[Fe](C)(C)OC(C)=O"]


async def test_an_assay_that_is_not_there_is_not_found(search: Search) -> None:
    """It is told apart from one without compounds by its summary."""
    error = await failed(search, "assay", aid=1)
    assert (error["code"], error["data"]["reason"]) == (-32001, "aid_not_found")
    assert error["message"] == "PubChem has no live assay 1."


@pytest.mark.parametrize("identifiers", [[""], [" "], ["a", "\t"]])
async def test_a_blank_identifier_is_refused(search: Search, identifiers: list[str]) -> None:
    """It would be sent as a question about nothing."""
    error = await failed(search, "identifier", identifierType="name", identifiers=identifiers)
    assert error["data"]["reason"] == "invalid_arguments"
    assert "must not be blank" in error["message"]


@pytest.mark.parametrize(
    "others",
    [
        {"identifierType": "", "identifiers": [], "query": "", "queryType": "", "aid": ""},
        {"identifierType": "name", "identifiers": [f"name {number}" for number in range(30)]},
        {"identifiers": [""], "query": " ", "queryType": "cid", "threshold": 99, "aid": 7, "activeOnly": False},
    ],
)
async def test_fields_of_other_searches_are_ignored(search: Search, others: dict[str, Any]) -> None:
    """Agents fill them in, often with empty text; they are neither refused nor capped nor given back."""
    plain = await found(search, "formula", formula="C9H8O4")
    assert await found(search, "formula", formula="C9H8O4", **others) == plain


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("503;retry-after=30", "upstream_rate_limited"),
        ("busy", "upstream_rate_limited"),
        ("504", "upstream_timeout"),
        ("500", "upstream_unavailable"),
        ("html", "upstream_invalid_response"),
        ("wrong-type", "upstream_invalid_response"),
        ("truncated", "upstream_invalid_response"),
        ("reset", "upstream_unavailable"),
    ],
)
@pytest.mark.parametrize("kind", ["identifier", "formula", "assay"])
async def test_a_fault_of_the_upstream_is_never_an_empty_result(
    searching: Any, fault: str, reason: str, kind: str
) -> None:
    """Whichever search it meets; of several lookups one that fails fails the call."""
    names = {"identifierType": "name", "identifiers": ["aspirin", "caffeine"]}
    async with searching(create_app([fault])) as search:
        error = await failed(search, kind, formula="C9H8O4", aid=ACIDS, **names)
    assert error["data"]["reason"] == reason
    assert error["data"]["retryable"]
    assert error["data"].get("retryAfterMs") == (30_000 if "retry-after" in fault else None)
