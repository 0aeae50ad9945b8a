"""The `pubchem` upstream, declared as the PubChem provider declares it: both share one budget, cache and breaker."""

from __future__ import annotations

from typing import Final

from scigate import Lifetime, Upstream

__all__ = ["PUBCHEM"]

PUBCHEM: Final = Upstream(
    name="pubchem",
    base_url="https://pubchem.ncbi.nlm.nih.gov/",
    # PubChem programmatic access policy, https://pubchem.ncbi.nlm.nih.gov/docs/programmatic-access
    quotas=("5/second", "400/minute"),
    concurrency=10,
    timeout_s=30.0,
    retries=1,
    # Named, not imported: another provider brings it.
    emulator="scigate_pubchem.emulator:create_app",
    lifetimes=(Lifetime(r"\w+ /rest/pug/compound/cid/[^/]*/?property/", 7 * 24 * 3600.0),),
)
