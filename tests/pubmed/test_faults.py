"""What a body of NCBI's really is, whatever its status."""

import httpx
import pytest
from scigate_pubmed.errors import (
    NcbiError,
    NcbiKeyRefused,
    NcbiNotFound,
    NcbiRateLimited,
    NcbiUnavailable,
)
from scigate_pubmed.faults import error_text, fault, is_answer, is_transient

PROLOG = '<?xml version="1.0" encoding="UTF-8" ?>\n'
DOCTYPE = '<!DOCTYPE eSearchResult PUBLIC "-//NLM//DTD esearch 20060628//EN" "https://eutils.ncbi.nlm.nih.gov/x.dtd">'
RATE_LIMIT = '{"error":"API rate limit exceeded","api-key":"203.0.113.9","count":"4","limit":"3"}'


def response(body: str, status: int = 200, **headers: str) -> httpx.Response:
    return httpx.Response(status, content=body.encode(), headers=headers)


@pytest.mark.parametrize(
    ("answer", "kind", "transient"),
    [
        (response(RATE_LIMIT, 429), NcbiRateLimited, True),
        (response(RATE_LIMIT, 200), NcbiRateLimited, True),
        (response('{"error":"/lbsm/eutils_lb -> Neg","type":"ip","status":"ok"}'), NcbiUnavailable, True),
        (response('{"error":"API key invalid","api-key":"x"}', 400), NcbiKeyRefused, False),
        (response("oops", 500), NcbiUnavailable, True),
        (response("oops", 503), NcbiUnavailable, True),
        (response("oops", 501), NcbiUnavailable, False),
        (response("<!DOCTYPE html><html></html>"), NcbiUnavailable, True),
        (response("  <html><body>Service unavailable</body></html>"), NcbiUnavailable, True),
        (response(PROLOG + '<!DOCTYPE html PUBLIC "x" "y"><html/>'), NcbiUnavailable, True),
        (response(PROLOG), NcbiUnavailable, True),
        (response(PROLOG + DOCTYPE + "\n"), NcbiUnavailable, True),
        (response(""), NcbiUnavailable, True),
        (response("NCBI C++ Exception:\n Error: TXCLIENT(CException::eUnknown)"), NcbiUnavailable, True),
        (response("CTxRawClient::readAll EOF"), NcbiUnavailable, True),
        (
            response('{"esearchresult":{"ERROR":"Search Backend failed: Database is not supported: pubmed"}}'),
            NcbiUnavailable,
            True,
        ),
        (response('{"esearchresult":{"ERROR":500}}'), NcbiUnavailable, True),
        (response('{"esearchresult":{"ERROR":"Invalid db name specified: fleegle"}}'), NcbiUnavailable, False),
        (
            response("{\"esearchresult\":{\"ERROR\":\"Exception:\n'retstart' cannot be larger than 9998.\n\"}}"),
            NcbiUnavailable,
            False,
        ),
        (response(f"{PROLOG}<eSearchResult><ERROR>Database is down</ERROR></eSearchResult>"), NcbiUnavailable, True),
        (response("<x><ERROR>UID=1: cannot get document summary</ERROR></x>"), NcbiNotFound, False),
        (response('{"esummaryresult":["Empty id list - nothing todo"],"error":"Empty id list"}'), NcbiNotFound, False),
    ],
)  # fmt: skip
def test_a_fault_is_named_and_known_to_pass_or_not(
    answer: httpx.Response, kind: type[NcbiError], transient: bool
) -> None:
    """Faults come with status 200 as often as with one of their own; none of them is an empty result."""
    found = fault(answer)
    assert type(found) is kind
    assert is_transient(answer) is transient
    assert not is_answer(answer)


@pytest.mark.parametrize(
    "body",
    [
        '{"esearchresult":{"count":"0","idlist":[],"errorlist":{"phrasesnotfound":["ERROR"]}}}',
        '{"result":{"uids":["1"],"1":{"uid":"1","error":"cannot get document summary"}}}',
        '{"result":{"uids":["1"],"1":{"uid":"1","title":"What an NCBI C++ Exception says"}}}',
        "<eSpellResult><Query>x</Query><ERROR/></eSpellResult>",
        '<pmc-articleset><error id="1">not available</error></pmc-articleset>',
    ],
)
def test_an_answer_about_one_record_or_with_warnings_is_no_fault(body: str) -> None:
    """Lower-case errors belong to single records, and lists of unmatched phrases accompany valid answers."""
    assert fault(response(body)) is None
    assert is_answer(response(body))


@pytest.mark.parametrize("body", ['{"esearchresult":', "<eSearchResult><Count>1", '{"a":1}}'])
def test_a_damaged_body_is_neither_asked_again_nor_kept(body: str) -> None:
    """It is told to the caller; kept in a cache it would be told for an hour."""
    assert fault(response(body)) is None
    assert not is_answer(response(body))


def test_a_rate_limit_keeps_its_wish_and_hides_the_callers_address() -> None:
    """NCBI echoes the key or the address of the caller in the body."""
    found = fault(response(RATE_LIMIT, 429, **{"Retry-After": "2"}))
    assert isinstance(found, NcbiRateLimited)
    assert found.retry_after_s == 2.0
    assert "203.0.113.9" not in str(found)


def test_an_error_text_of_any_scalar_or_list_is_text() -> None:
    """A number as an error is still an error."""
    assert error_text(b'{"esearchresult":{"ERROR":404}}') == "404"
    assert error_text(b'{"error":["a",true]}') == "a; True"
    assert error_text(b"<x><ERROR>one</ERROR><ERROR>two</ERROR></x>") == "one; two"


def test_a_refusal_by_status_is_left_to_httpx() -> None:
    """A URL that is too long is refused with a page of XHTML and status 414."""
    assert fault(response("<html>414</html>", 414)) is None
