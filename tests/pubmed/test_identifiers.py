"""`pubmed_convert_ids`, called through the host."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import scigate_pubmed
from scigate.call import LOCAL
from scigate.emulator import serving
from scigate.host import Host
from scigate.settings import Settings
from scigate_pubmed.emulator import create_pmc
from scigate_pubmed.emulator.corpus import load

Ask = Callable[..., Awaitable[dict[str, Any]]]

TOOL = "pubmed_convert_ids"
FACT = next(record for record in load() if record.pmcid and record.doi)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("pmid", FACT.pmid),
        ("pmid", f"00{FACT.pmid}"),
        ("pmid", int(FACT.pmid)),
        ("pmcid", FACT.pmcid),
        ("pmcid", FACT.pmcid.lower()),
        ("pmcid", FACT.pmcid.removeprefix("PMC")),
        ("doi", FACT.doi),
        ("doi", FACT.doi.upper()),
        ("doi", f"https://doi.org/{FACT.doi}"),
        ("doi", f"doi: {FACT.doi}"),
    ],
)
async def test_an_id_is_converted_from_any_of_its_forms(ask: Ask, kind: str, given: object) -> None:
    """The record names the id as it was given; a PMID is text."""
    result = await ask(TOOL, ids=[given], idType=kind)
    assert result["records"] == [{"requestedId": str(given), "pmid": FACT.pmid, "pmcid": FACT.pmcid, "doi": FACT.doi}]
    assert (result["totalConverted"], result["totalSubmitted"]) == (1, 1)


async def test_both_forms_of_a_pmcid_go_together(ask: Ask, offline: Host) -> None:
    """The converter refuses a list that mixes them; it gets one form."""
    result = await ask(TOOL, ids=[FACT.pmcid, FACT.pmcid.removeprefix("PMC")], idType="pmcid")
    assert [record["pmid"] for record in result["records"]] == [FACT.pmid] * 2
    assert {one.name: one.requests for one in offline.upstreams}["pmc"] == 1


async def test_there_is_a_record_for_every_id(ask: Ask) -> None:
    """In order: one known, one that is not in PMC, one that is no id, and the first again."""
    result = await ask(TOOL, ids=[FACT.pmid, "1", "abc", FACT.pmid], idType="pmid")
    known, unknown, wrong, again = result["records"]
    assert known == again
    assert "may well be in PubMed" in unknown["errmsg"]
    assert "pubmed_fetch_articles" in unknown["errmsg"]
    assert "pubmed_search_articles" in unknown["errmsg"]
    assert (wrong["requestedId"], wrong["errmsg"]) == ("abc", "This has not the form of a pmid.")
    assert (result["totalConverted"], result["totalSubmitted"]) == (2, 4)


@pytest.mark.parametrize(
    ("kind", "given"), [("pmid", "PMC1"), ("pmcid", "10.1/x"), ("doi", "12345"), ("doi", "10.1/a,b")]
)
async def test_ids_of_another_kind_are_refused(refused: Ask, offline: Host, kind: str, given: str) -> None:
    """Without a request; the hint shows the forms."""
    error = await refused(TOOL, ids=[given], idType=kind)
    assert (error["code"], error["data"]["reason"]) == (-32007, "invalid_ids")
    assert given in error["message"]
    assert "doi begins with 10." in error["data"]["recovery"]["hint"]
    assert {one.name: one.requests for one in offline.upstreams}["pmc"] == 0


@pytest.mark.parametrize(
    ("fault", "reason"),
    [("busy", "invalid_ids"), ("500", "ncbi_unreachable"), ("html", "ncbi_unreachable"), ("429", "queue_full")],
)
async def test_a_fault_of_the_converter_has_its_reason(fault: str, reason: str) -> None:
    """A 400 refuses the ids; its body is not shown. The rest is NCBI's trouble."""
    async with serving(create_pmc([fault])) as url:
        settings = {"upstreams": {"pmc": {"base_url": f"{url}/tools/idconv/api/v1/", "retries": 0}}}
        async with Host.open(Settings.model_validate(settings), plugins={"pubmed": scigate_pubmed}) as host:
            reply = await host.call(TOOL, {"ids": [FACT.pmid], "idType": "pmid"}, LOCAL)
    assert reply.structured["error"]["data"]["reason"] == reason
    assert "<" not in reply.structured["error"]["message"]


async def test_the_converter_is_never_told_the_key() -> None:
    """It takes tool and e-mail."""
    emulator = create_pmc()
    async with serving(emulator) as url:
        settings = {
            "upstreams": {"pmc": {"base_url": f"{url}/tools/idconv/api/v1/"}},
            "providers": {"pubmed": {"api_key": "s3cret", "email": "a@x.example"}},
        }
        async with Host.open(Settings.model_validate(settings), plugins={"pubmed": scigate_pubmed}) as host:
            await host.call(TOOL, {"ids": [FACT.pmid], "idType": "pmid"}, LOCAL)
    (arrival,) = emulator.requests
    assert arrival.query.endswith("&tool=scigate&email=a%40x.example")
