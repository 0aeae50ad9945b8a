"""A pytest plugin for a provider's own suite: the fixture `conformance`.

Turn it on with `-p scigate.testing.plugin` in pytest's `addopts`; it needs the extra `testing`.

Example:
    >>> def test_it_conforms(conformance):
    ...     '''What core promises of every provider holds for this one.'''
    ...     conformance("mylab").require()
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import anyio
import pytest

from scigate.testing.conformance import Report
from scigate.testing.conformance import conformance as run

__all__ = ["conformance"]


@pytest.fixture(scope="session")
def conformance() -> Callable[..., Report]:
    """Runs the kit: `conformance(name, plugin=None, cases=None, thoroughness=8)` gives its `Report`."""

    def tried(
        name: str,
        plugin: object = None,
        *,
        cases: Mapping[str, Mapping[str, Any]] | None = None,
        thoroughness: int = 8,
    ) -> Report:
        return anyio.run(partial(run, name, plugin, cases=cases, thoroughness=thoroughness))

    return tried
