"""From which source a compound is served: the fallback policies, and what becomes of each in turn.

Only trouble moves on to the next source: no connection, no turn, no time, a fault or an answer that cannot be read.
That PubChem has no such compound is an answer, and ends the search.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Protocol

import anyio
from scigate import Call, Failure, FailureError

from scigate_immunograph.compound import Compound, Provenance, Skipped
from scigate_immunograph.faults import NotCached, failure_of
from scigate_immunograph.fixtures import Fixture, Fixtures
from scigate_immunograph.pubchem import LICENCE, Cache, PubChem
from scigate_immunograph.reasons import FIXTURE_NOT_FOUND
from scigate_immunograph.step import timestamp

__all__ = ["ORDERS", "CompoundSource", "FallbackPolicy", "Retrieval", "Retrieved"]

FallbackPolicy = Literal[
    "LIVE_ONLY", "LIVE_THEN_CACHE", "LIVE_THEN_CACHE_THEN_FIXTURE", "CACHE_THEN_LIVE", "FIXTURE_ONLY"
]
Place = Literal["live", "cache", "fixture"]

ORDERS: Final[dict[FallbackPolicy, tuple[Place, ...]]] = {
    "LIVE_ONLY": ("live",),
    "LIVE_THEN_CACHE": ("live", "cache"),
    "LIVE_THEN_CACHE_THEN_FIXTURE": ("live", "cache", "fixture"),
    "CACHE_THEN_LIVE": ("cache", "live"),
    "FIXTURE_ONLY": ("fixture",),
}
"""The sources that a policy allows, in its order."""

_LIVE_SHARE: Final = 0.8
"""Share of a call's remaining time for the live source where others come after it."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A compound, its provenance, and what the source said.

    Attributes:
        evidence: From which the compound can be read again: `{"answer": text}` or `{"fixture": content}`.
    """

    compound: Compound
    provenance: Provenance
    evidence: dict[str, Any]


class CompoundSource(Protocol):
    """Serves compounds by reference."""

    async def fixture(self, key: str) -> Retrieved:
        """The fixture of exactly this key, as its own source.

        Raises:
            FailureError: There is none, or it is refused.
        """
        ...

    async def compound(self, cid: int, policy: FallbackPolicy, call: Call) -> Retrieved:
        """A compound of PubChem from the first source in the policy's order that serves it.

        Raises:
            NoSuchCompound: PubChem has none of this CID.
            FailureError: No source serves; it tells of the live source's trouble where there was one.
        """
        ...


class Retrieval:
    """Serves compounds of PubChem and fixtures.

    Args:
        pubchem: The live source, and the cache before it.
        fixtures: The recorded ones.
    """

    def __init__(self, pubchem: PubChem, fixtures: Fixtures) -> None:
        self._pubchem = pubchem
        self._fixtures = fixtures

    async def fixture(self, key: str) -> Retrieved:
        found = await anyio.to_thread.run_sync(self._fixtures.by_key, key)
        return _from_fixture(found, "fixture")

    async def compound(self, cid: int, policy: FallbackPolicy, call: Call) -> Retrieved:
        skipped: list[Skipped] = []
        troubles: list[Failure] = []
        order = ORDERS[policy]
        for place in order:
            try:
                with anyio.fail_after(call.remaining_s * _LIVE_SHARE if place != order[-1] else None):
                    found = await self._from[place](cid, order, call)
            except NotCached:
                skipped.append(Skipped(source="cache", reason="not_cached", message="The cache holds no fresh answer."))
            except FailureError as error:
                skipped.append(_skip(place, error.failure))
                troubles.append(error.failure)
            except Exception as error:
                failure = failure_of(error)
                if failure is None:
                    raise
                skipped.append(_skip(place, failure))
                troubles.append(failure)
            else:
                return replace(found, provenance=found.provenance.model_copy(update={"skipped": skipped or None}))
        raise _nothing_serves(troubles, skipped)

    @property
    def _from(self) -> dict[Place, Callable[[int, tuple[Place, ...], Call], Awaitable[Retrieved]]]:
        return {"live": self._live, "cache": self._cached, "fixture": self._stand_in}

    async def _live(self, cid: int, order: tuple[Place, ...], call: Call) -> Retrieved:
        # Where the cache may serve later calls, a live answer is put there; otherwise it is kept out of it.
        return await self._asked(cid, "refresh" if "cache" in order else "none", call)

    async def _cached(self, cid: int, order: tuple[Place, ...], call: Call) -> Retrieved:
        return await self._asked(cid, "only", call)

    async def _asked(self, cid: int, cache: Cache, call: Call) -> Retrieved:
        answer = await self._pubchem.compound(cid, cache)
        compound = answer.compound(cid)
        return Retrieved(
            compound,
            Provenance(
                source="pubchem",
                mode=answer.mode,
                url=answer.url,
                retrieved_at=timestamp(answer.retrieved_at(call.clock.now())),
                content_hash=compound.content_hash,
                licence=LICENCE,
                sample_data=answer.sample or None,
            ),
            {"answer": answer.body},
        )

    async def _stand_in(self, cid: int, order: tuple[Place, ...], call: Call) -> Retrieved:
        found = await anyio.to_thread.run_sync(self._fixtures.standing_for, "pubchem", str(cid))
        return _from_fixture(found, "pubchem")


def _from_fixture(fixture: Fixture, source: Literal["pubchem", "fixture"]) -> Retrieved:
    content = fixture.content
    return Retrieved(
        content.compound,
        Provenance(
            source=source,
            mode="fixture",
            url=content.url,
            retrieved_at=content.retrieved_at,
            content_hash=content.compound.content_hash,
            licence=content.licence,
            fixture_key=content.key,
            fixture_set=fixture.origin,
        ),
        {"fixture": content.model_dump(mode="json", by_alias=True, exclude_none=True)},
    )


def _skip(place: Place, failure: Failure) -> Skipped:
    return Skipped(source=place, reason=failure.reason, message=failure.message)


def _nothing_serves(troubles: list[Failure], skipped: list[Skipped]) -> FailureError:
    """The most telling trouble, with all that were met: what was wrong upstream before what was not recorded."""
    chief = next((failure for failure in troubles if failure.reason != FIXTURE_NOT_FOUND.name), None) or troubles[0]
    met = [part.model_dump(mode="json", by_alias=True) for part in skipped]
    return FailureError(replace(chief, data={**chief.data, "skipped": met} if len(met) > 1 else chief.data))
