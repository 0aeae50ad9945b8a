"""The chain of services that know links between articles."""

import httpx
import pytest
from scigate import DeadlineExceeded, QuotaExhausted
from scigate_pubmed.client import Entrez
from scigate_pubmed.errors import LinksUnavailable
from scigate_pubmed.links import Found, Linked, Linker, Links, Provider, Relationship
from scigate_pubmed.upstream import Identity

NONE = "<eLinkResult><LinkSet><DbFrom>pubmed</DbFrom></LinkSet></eLinkResult>"
KNOWN = '{"result":{"uids":["1"],"1":{"uid":"1","title":"T"}}}'
UNKNOWN = '{"result":{"uids":["1"],"1":{"uid":"1","error":"cannot get document summary"}}}'


class Other:
    """A service whose answer is given beforehand, and that counts how often it is asked."""

    def __init__(self, provider: Provider, answer: Linked | Exception | None) -> None:
        self.provider: Provider = provider
        self.asked = 0
        self._answer = answer

    async def linked(self, pmid: str, relationship: Relationship, *, need: int) -> Linked | None:
        self.asked += 1
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def links(elink: httpx.Response | Exception, *others: Linker, summary: str = KNOWN) -> Links:
    def handler(request: httpx.Request) -> httpx.Response:
        if "esummary" in request.url.path:
            return httpx.Response(200, text=summary)
        if isinstance(elink, Exception):
            raise elink
        return elink

    http = httpx.AsyncClient(base_url="https://ncbi.example/", transport=httpx.MockTransport(handler))
    return Links(Entrez(http, Identity("lab")), *others)


def ncbi(*pmids: str) -> httpx.Response:
    found = "".join(f"<Link><Id>{pmid}</Id></Link>" for pmid in pmids)
    linkset = f"<LinkSetDb><LinkName>pubmed_pubmed</LinkName>{found}</LinkSetDb>"
    return httpx.Response(200, text=f"<eLinkResult><LinkSet>{linkset}</LinkSet></eLinkResult>")


async def test_the_first_service_with_links_answers() -> None:
    """NCBI's are never joined with another's, which is not asked."""
    europe = Other("europepmc", Linked(("9",)))
    found = await links(ncbi("1", "3", "2"), europe).find("1", "similar", need=1)
    assert found == Found("ncbi", Linked(("3", "2")), answered=True)
    assert europe.asked == 0


async def test_an_empty_answer_of_another_service_is_not_the_last_word() -> None:
    """Europe PMC has no links of much that it does not hold."""
    found = await links(
        httpx.Response(200, text=NONE), Other("europepmc", Linked()), Other("openalex", Linked(("5",)))
    ).find("1", "cited_by", need=1)
    assert (found.provider, found.linked.pmids, found.failed) == ("openalex", ("5",), ())
    assert found.source is not None


async def test_a_service_without_the_relationship_is_passed_over() -> None:
    """It has neither answered nor failed."""
    found = await links(
        httpx.Response(200, text=NONE), Other("europepmc", None), Other("openalex", Linked(("5",), complete=False))
    ).find("1", "similar", need=1)
    assert (found.provider, found.failed, found.linked.complete) == ("openalex", (), False)


async def test_an_unknown_source_stops_the_chain() -> None:
    """No links and no such article look alike to ELink; the summary tells, and nobody else need be asked."""
    europe = Other("europepmc", Linked(("9",)))
    found = await links(httpx.Response(200, text=NONE), europe, summary=UNKNOWN).find("1", "cited_by", need=1)
    assert (found.unknown, found.linked.pmids, europe.asked) == (True, (), 0)


async def test_a_source_that_cannot_be_looked_up_is_not_unknown() -> None:
    """A disturbed ESummary says nothing about the article."""
    found = await links(httpx.Response(200, text=NONE), summary="<html>").find("1", "similar", need=1)
    assert (found.unknown, found.answered, found.source) == (False, True, None)


async def test_an_error_of_elink_is_not_an_unknown_source() -> None:
    """The next service is asked, and what was wrong is kept."""
    answer = "<eLinkResult><LinkSet><ERROR>BLOB ID IS NOT IMPLEMENTED</ERROR></LinkSet></eLinkResult>"
    found = await links(httpx.Response(200, text=answer), Other("openalex", Linked(("5",)))).find(
        "1", "similar", need=1
    )
    assert (found.provider, found.unknown) == ("openalex", False)
    assert [name for name, _ in found.failed] == ["ncbi"]


async def test_when_all_fail_it_is_known_that_nobody_answered() -> None:
    """With what was wrong with each, and no address."""
    found = await links(
        httpx.ConnectError("https://ncbi.example/secret"),
        Other("europepmc", LinksUnavailable("Europe PMC", "refused the request")),
        Other("openalex", httpx.ReadTimeout("slow")),
    ).find("1", "cited_by", need=1)
    assert not found.answered
    assert found.failed == (
        ("ncbi", "no connection"),
        ("europepmc", "Europe PMC refused the request"),
        ("openalex", "no answer in time"),
    )


OUT_OF_TURNS = QuotaExhausted("no turn", upstream="x", retry_after_s=1.0)
OUT_OF_TIME = DeadlineExceeded("too late", upstream="x")


@pytest.mark.parametrize("error", [OUT_OF_TURNS, OUT_OF_TIME])
async def test_the_calls_own_end_is_not_a_services_failure(error: Exception) -> None:
    """Without time or turns for NCBI nobody else is asked, and the call fails with that reason."""
    other = Other("openalex", Linked(("5",)))
    with pytest.raises(type(error)):
        await links(error, other).find("1", "similar", need=1)
    assert other.asked == 0


@pytest.mark.parametrize(
    ("error", "said"), [(OUT_OF_TURNS, "no turn before the deadline"), (OUT_OF_TIME, "no answer in time")]
)
async def test_another_services_quota_does_not_undo_ncbis_answer(error: Exception, said: str) -> None:
    """NCBI has said that there are none; that somebody else could not be asked is told beside it."""
    found = await links(httpx.Response(200, text=NONE), Other("openalex", error)).find("1", "similar", need=1)
    assert (found.answered, found.failed) == (True, (("openalex", said),))
