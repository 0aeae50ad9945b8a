"""docs/operate-upstreams.md: its configuration loads, and what it says of figures is so."""

import re
from pathlib import Path

import pytest
from scigate.settings import CacheSettings, QuotaSettings, Settings
from scigate.upstream import pace, redis_quotas, window

PAGE = (Path(__file__).parents[2] / "docs" / "operate-upstreams.md").read_text(encoding="utf-8")


def test_the_pages_configuration_loads(tmp_path: Path) -> None:
    """The replica's file is one that the gateway reads."""
    [text] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    path = tmp_path / "scigate.toml"
    path.write_text(text, encoding="utf-8")
    settings = Settings.load(path)
    assert (settings.cache.store, settings.quota.replicas) == ("redis", 3)
    assert settings.quota.redis_url is not None


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("counts for {} ms more", f"{window.TRAVEL_MARGIN_S * 1000:.0f}"),
        ("({} s, then one short window)", f"{redis_quotas.TIMEOUT_S + redis_quotas.STALE_S:g}"),
        ("up to {} s.\n", f"{pace.LONGEST_PAUSE_S:.0f}"),
    ],
)
def test_figures_of_the_page_are_those_of_the_code(sentence: str, value: str) -> None:
    """A constant that changes changes the page."""
    assert sentence.format(value) in PAGE


def test_every_setting_that_the_page_names_is_one() -> None:
    """A dotted name in code is a setting of core."""
    names = set(re.findall(r"`((?:quota|cache)\.\w+)", PAGE))
    models = {"quota": QuotaSettings, "cache": CacheSettings}
    known = {f"{section}.{name}" for section, model in models.items() for name in model.model_fields}
    assert names
    assert names <= known
