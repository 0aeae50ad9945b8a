"""Which stores the settings lead to."""

from pathlib import Path
from typing import Any

import pytest
from scigate.settings import Settings, SettingsError
from scigate.stores import AutoStore, cache_store, quota_store
from scigate.testing.clock import ManualClock

URL = "redis://127.0.0.1:1/0"


@pytest.mark.parametrize(
    ("quota", "offline", "auto", "kind"),
    [
        ({}, False, "memory", "memory"),
        ({}, False, "sqlite", "sqlite"),
        ({}, True, "sqlite", "memory"),
        ({"redis_url": URL}, False, "sqlite", "redis"),
        ({"redis_url": URL}, True, "sqlite", "memory"),
        ({"redis_url": URL, "store": "memory"}, False, "sqlite", "memory"),
        ({"store": "sqlite"}, False, "memory", "sqlite"),
    ],
)
async def test_where_budgets_live(
    tmp_path: Path, quota: dict[str, Any], offline: bool, auto: AutoStore, kind: str
) -> None:
    """Redis where its URL is set, else what suits the way of serving; offline nothing is shared with anybody."""
    settings = Settings.model_validate({"offline": offline, "quota": {"directory": tmp_path, **quota}})
    store = quota_store(settings, ManualClock(), auto)
    assert store.kind == kind
    await store.aclose()
    assert not any(tmp_path.iterdir())  # noqa: ASYNC240  # No store opens a file before it is used.


@pytest.mark.parametrize(
    ("cache", "offline", "kind"),
    [
        ({}, False, "memory"),
        ({"enabled": False}, False, None),
        ({"store": "sqlite"}, False, "sqlite"),
        ({"store": "sqlite"}, True, "memory"),
        ({"store": "redis"}, False, "redis"),
    ],
)
async def test_where_answers_are_kept(tmp_path: Path, cache: dict[str, Any], offline: bool, kind: str | None) -> None:
    """In memory unless a store behind it is asked for; sample data is never stored."""
    settings = Settings.model_validate(
        {"offline": offline, "quota": {"directory": tmp_path, "redis_url": URL}, "cache": cache}
    )
    store = cache_store(settings, ManualClock())
    assert (store.kind if store else None) == kind
    if store:
        await store.aclose()


def test_redis_without_an_address_is_refused() -> None:
    """The message names both settings."""
    with pytest.raises(SettingsError, match=r"quota.store is redis, and quota.redis_url is not set"):
        quota_store(Settings.model_validate({"quota": {"store": "redis"}}), ManualClock(), "memory")
    with pytest.raises(SettingsError, match=r"cache.store is redis, and quota.redis_url is not set"):
        cache_store(Settings.model_validate({"cache": {"store": "redis"}}), ManualClock())


def test_address_that_is_none_is_refused() -> None:
    """What the library says of the URL is told with the setting's name."""
    with pytest.raises(SettingsError, match=r"quota\.redis_url: "):
        quota_store(Settings.model_validate({"quota": {"redis_url": "http://127.0.0.1"}}), ManualClock(), "memory")
