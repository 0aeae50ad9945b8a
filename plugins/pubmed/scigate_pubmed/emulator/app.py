"""The emulator's ASGI app: E-utilities' addresses, parameters and limits."""

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from urllib.parse import parse_qsl

from scigate.emulator import Body, Emulator, Fault
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scigate_pubmed.emulator import answers, fulltexts, records
from scigate_pubmed.emulator.corpus import Record, load, plain
from scigate_pubmed.emulator.headings import Thesaurus
from scigate_pubmed.emulator.language import FIELD_NAMES, Hits, Matches, date_bounds, search
from scigate_pubmed.emulator.matching import matched
from scigate_pubmed.emulator.neighbours import Neighbours

_LAST_START = 9998
_DATABASES = ("pubmed", "protein", "nuccore", "gene", "mesh", "pmc", "nlmcatalog", "books", "pccompound")
_PAST_THE_WINDOW = (
    "Search Backend failed: Exception:\n'retstart' cannot be larger than 9998. For PubMed, ESearch can only retrieve"
    " the first 9,999 records matching the query.\n"
)
_KEPT_SETS = 100

Parameters = Mapping[str, str]


def create_app(
    faults: Iterable[Fault | str] | None = None,
    *,
    records: Sequence[Record] | None = None,
    enforce_quota: bool = False,
    monotonic: Callable[[], float] = time.monotonic,
) -> Emulator:
    """Build the emulator, with paths below `/entrez/eutils/`.

    Args:
        faults: Faults that wait from the start.
        records: The sample to answer from; the provider's own when None.
        enforce_quota: Answer 429 above 3 requests in a second, 10 with an `api_key`, as NCBI does.
        monotonic: The clock of that second.
    """
    app = _application(_Service(load() if records is None else records), _Gate(monotonic) if enforce_quota else None)
    emulator = Emulator(app, "ncbi", wording, monotonic=monotonic)
    emulator.faults.add(*(faults or ()))
    return emulator


def wording(kind: str, status: int) -> Body:
    """How NCBI words a fault: its rate limit in JSON, a backend's failure as an answer, the rest as a page."""
    if kind == "429":
        return Body(status, "application/json", _too_many(3).encode())
    if kind == "busy":
        text = "Search Backend failed: Database is not supported: pubmed"
        return Body(status, "application/json; charset=UTF-8", answers.search_error_json(text).encode())
    return Body(status, "text/html", b"<!DOCTYPE html>\n<html><body><h1>Error</h1></body></html>\n")


def _application(service: "_Service", gate: "_Gate | None") -> Starlette:
    def route(path: str, answer: Callable[[Parameters], Response]) -> Route:
        async def endpoint(request: Request) -> Response:
            parameters = dict(parse_qsl(request.url.query, keep_blank_values=True))
            if request.method == "POST":
                parameters |= parse_qsl((await request.body()).decode(), keep_blank_values=True)
            key = parameters.get("api_key", "")
            limit = 10 if key else 3
            if gate is None or gate.admits(key, limit):
                response = answer(parameters)
            else:
                response = Response(_too_many(limit), status_code=429, media_type="application/json")
            response.headers["X-RateLimit-Limit"] = str(limit)
            return response

        return Route(f"/entrez/eutils/{path}", endpoint, methods=["GET", "POST"])

    routes = {
        "esearch.fcgi": service.search,
        "esummary.fcgi": service.summary,
        "efetch.fcgi": service.fetch,
        "elink.fcgi": service.link,
        "espell.fcgi": service.spell,
        "einfo.fcgi": service.info,
        "ecitmatch.cgi": service.match,
    }
    return Starlette(routes=[route(path, answer) for path, answer in routes.items()])


class _Gate:
    """Counts requests of each key in the second behind each of them."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._stamps: dict[str, deque[float]] = {}

    def admits(self, key: str, limit: int) -> bool:
        now = self._monotonic()
        stamps = self._stamps.setdefault(key, deque())
        while stamps and stamps[0] <= now - 1.0:
            stamps.popleft()
        if len(stamps) >= limit:
            return False
        stamps.append(now)
        return True


class _Service:
    """The answers over one sample."""

    def __init__(self, sample: Sequence[Record]) -> None:
        self._sample = sample
        self._by_pmid = {record.pmid: record for record in sample}
        self._by_pmcid = {record.pmcid.removeprefix("PMC"): record for record in sample if record.pmcid}
        self._neighbours = Neighbours(sample)
        self._thesaurus = Thesaurus(sample)
        self._sets: dict[str, list[str]] = {}

    @cached_property
    def _vocabulary(self) -> list[str]:
        return sorted({word for record in self._sample for word in record.texts["text"].split() if len(word) > 3})

    def search(self, parameters: Parameters) -> Response:
        as_json = parameters.get("retmode") == "json"
        start, most = _number(parameters, "retstart", 0), _number(parameters, "retmax", 20)
        error = self._refusal(parameters, start)
        if error:
            return _json(answers.search_error_json(error)) if as_json else _xml(answers.search_error_xml(error))
        if parameters.get("db") == "mesh":
            return self._headings(parameters["term"], start, most, as_json=as_json)
        matches = search(parameters["term"], self._sample)
        matches.hits = self._dated(matches.hits, parameters)
        pmids = self._ordered(matches, parameters.get("sort", ""))
        remarks: list[str] = [] if pmids else ["No items found."]
        if len(pmids) > _LAST_START + 1 and start + most > _LAST_START + 1:
            most = _LAST_START + 1 - start
            remarks.append(f"Restrictions achieved. start and count adjusted to {start}, {most}")
        history = self._kept(pmids) if parameters.get("usehistory") == "y" else None
        shown = pmids[start : start + most]
        if as_json:
            return _json(answers.search_json(matches, shown, start, history, remarks))
        return _xml(answers.search_xml(matches, shown, start, history, remarks))

    def summary(self, parameters: Parameters) -> Response:
        as_json = parameters.get("retmode") == "json"
        start, most = _number(parameters, "retstart", 0), _number(parameters, "retmax", 10_000)
        if "id" in parameters:
            asked = [pmid.strip() for pmid in parameters["id"].split(",") if pmid.strip()]
            error = "" if asked else "Empty id list - nothing todo"
        else:
            asked = self._sets.get(parameters.get("WebEnv", ""), [])[start : start + most]
            error = "" if asked else "Neither query_key nor id specified"
        if parameters.get("db") == "mesh" and not error:
            return _json(self._thesaurus.summary_json(asked))
        if as_json:
            return _json(answers.summary_error_json(error) if error else answers.summary_json(asked, self._by_pmid))
        if error:
            return _xml(answers.summary_error_xml(error))
        form = answers.summary_xml_2 if parameters.get("version") == "2.0" else answers.summary_xml_1
        return _xml(form(asked, self._by_pmid))

    def fetch(self, parameters: Parameters) -> Response:
        asked = [one.strip() for one in parameters.get("id", "").split(",") if one.strip()]
        if not asked:
            return _xml(records.error_xml("Supplied id parameter is empty."))
        if parameters.get("db") == "pmc":
            numbers = [one.upper().removeprefix("PMC") for one in asked]
            known = [self._by_pmcid[one] for one in numbers if one in self._by_pmcid]
            return _xml(fulltexts.articleset(known, [one for one in numbers if one not in self._by_pmcid]))
        found = dict.fromkeys(one.lstrip("0") for one in asked if one.lstrip("0") in self._by_pmid)
        return _xml(records.set_xml(self._by_pmid[one] for one in found))

    def link(self, parameters: Parameters) -> Response:
        source, name = parameters.get("id", ""), parameters.get("linkname", "pubmed_pubmed")
        kinds: dict[str, Callable[[str], list[str]]] = {
            "pubmed_pubmed": self._neighbours.similar,
            "pubmed_pubmed_citedin": self._neighbours.citing,
            "pubmed_pubmed_refs": self._neighbours.references,
        }
        if not source:
            return _xml(answers.links_error_xml("Empty id list; nothing todo"))
        return _xml(answers.links_xml(source, name, kinds[name](source) if name in kinds else []))

    def match(self, parameters: Parameters) -> Response:
        return Response(matched(parameters.get("bdata", ""), self._sample), media_type="text/plain")

    def spell(self, parameters: Parameters) -> Response:
        query = parameters.get("term", "")
        words = [(word, self._nearest(plain(word))) for word in query.split()]
        changed = any(near != plain(word) for word, near in words)
        return _xml(answers.spell_xml(query, " ".join(near for _, near in words) if changed else ""))

    def info(self, parameters: Parameters) -> Response:
        name = parameters.get("db", "")
        if not name:
            return _xml(answers.databases_xml(_DATABASES))
        if name != "pubmed":
            return _xml(answers.info_error_xml(f"Can not retrieve DbInfo for db={name}"))
        return _xml(answers.database_xml(name, len(self._sample), FIELD_NAMES))

    def _headings(self, term: str, start: int, most: int, *, as_json: bool) -> Response:
        found = self._thesaurus.search(term)
        matches = Matches(hits=frozenset(range(len(found))), translation=term)
        remarks = [] if found else ["No items found."]
        form, answer = (_json, answers.search_json) if as_json else (_xml, answers.search_xml)
        return form(answer(matches, found[start : start + most], start, None, remarks))

    def _refusal(self, parameters: Parameters, start: int) -> str:
        if parameters.get("db", "pubmed") not in ("pubmed", "mesh"):
            return f"Invalid db name specified: {parameters['db']}"
        if not parameters.get("term", "").strip():
            return "Empty term and query_key - nothing todo"
        return _PAST_THE_WINDOW if start > _LAST_START and parameters.get("db") != "mesh" else ""

    def _dated(self, hits: Hits, parameters: Parameters) -> Hits:
        low, high = date_bounds(parameters.get("mindate", "")), date_bounds(parameters.get("maxdate", ""))
        if low is None or high is None:
            return hits
        return frozenset(hit for hit in hits if low[0] <= self._sample[hit].date <= high[1])

    def _ordered(self, matches: Matches, sort: str) -> list[str]:
        """PMIDs in the order asked for; an order that PubMed does not know leaves the newest PMIDs first."""
        found = sorted((self._sample[hit] for hit in matches.hits), key=lambda record: -int(record.pmid))
        match sort:
            case "relevance":
                found.sort(key=lambda record: -sum(f" {word} " in record.texts["title"] for word in matches.words))
            case "pub_date" | "pub+date":
                found.sort(key=lambda record: record.date, reverse=True)
            case "Author":
                found.sort(key=lambda record: plain(record.authors[0][0]) if record.authors else "")
            case "JournalName":
                found.sort(key=lambda record: plain(record.abbreviation))
            case _:
                pass
        return [record.pmid for record in found]

    def _kept(self, pmids: list[str]) -> tuple[str, str]:
        """A name under which ESummary finds the set again, and the query's key in it."""
        name = "MCID_" + hashlib.sha256(",".join(pmids).encode()).hexdigest()[:24]
        self._sets.pop(name, None)
        self._sets[name] = pmids
        while len(self._sets) > _KEPT_SETS:
            del self._sets[next(iter(self._sets))]
        return name, "1"

    def _nearest(self, word: str) -> str:
        if len(word) < 4 or word in self._vocabulary:
            return word
        return (get_close_matches(word, self._vocabulary, n=1, cutoff=0.8) or [word])[0]


def _number(parameters: Parameters, name: str, default: int) -> int:
    text = parameters.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else default


def _too_many(limit: int) -> str:
    return f'{{"error":"API rate limit exceeded","api-key":"127.0.0.1","count":"{limit + 1}","limit":"{limit}"}}'


def _json(body: str) -> Response:
    return Response(body, media_type="application/json; charset=UTF-8")


def _xml(body: str) -> Response:
    return Response(body, media_type="text/xml")
