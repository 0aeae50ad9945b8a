"""What outlives a host: the upstreams in use, the audit log, and what callers have used of their allowances.

The host that is served changes when the settings do. What is counted, kept or written goes on, so that no quota is
given twice and no audit line is missed.
"""

from __future__ import annotations

from typing import Final, Self

import anyio
import anyio.to_thread

from scigate.audit import AuditError, AuditLog
from scigate.clock import Clock
from scigate.policy.allowance import Allowances
from scigate.settings import Settings, SettingsError
from scigate.settings.access import LimitSettings
from scigate.stores import AutoStore, cache_store, quota_store
from scigate.upstream import Sites

__all__ = ["Holdings"]

_KEPT: Final = 8
"""Sets of limits whose counts are remembered, so that going back to one gives nobody its allowance again."""


class Holdings:
    """Made by `Holdings.open`, and closed after the last host that uses them.

    Attributes:
        sites: The upstreams in use, with the stores of their budgets and answers.
        audit: The audit log; None where none is kept.
    """

    def __init__(self, sites: Sites, audit: AuditLog | None) -> None:
        self.sites = sites
        self.audit = audit
        self._allowances: list[tuple[list[LimitSettings], Allowances]] = []

    @classmethod
    def open(cls, settings: Settings, clock: Clock, auto_store: AutoStore) -> Self:
        """As the settings ask for.

        Raises:
            SettingsError: A store cannot be opened, or the audit log not be written.
        """
        audit = _audit_log(settings, clock)
        sites = Sites(
            clock,
            quotas=quota_store(settings, clock, auto_store),
            cache=cache_store(settings, clock),
            stale_s=settings.cache.stale_s,
        )
        return cls(sites, audit)

    def allowances(self, limits: list[LimitSettings]) -> Allowances | None:
        """What callers may ask, and have asked; None for no bound. Limits that are new count from zero."""
        if not limits:
            return None
        found = next((entry for entry in self._allowances if entry[0] == limits), None)
        allowances = found[1] if found else Allowances(limits)
        self._allowances = [entry for entry in self._allowances if entry is not found]
        # A configuration that is written anew and anew is not to be remembered for ever.
        self._allowances = [*self._allowances[1 - _KEPT :], (limits, allowances)]
        return allowances

    async def aclose(self) -> None:
        """Close the stores, then the audit log."""
        try:
            await self.sites.aclose()
        finally:
            if self.audit is not None:
                # On a thread, since it waits for the disk; to its end, whatever ends the gateway.
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(self.audit.close)


def _audit_log(settings: Settings, clock: Clock) -> AuditLog | None:
    if settings.audit.path is None:
        return None
    try:
        return AuditLog(settings.audit, clock)
    except AuditError as error:
        raise SettingsError([str(error)]) from error
