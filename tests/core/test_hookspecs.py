"""The hook specifications as pluggy sees them."""

import inspect

import pluggy
import pytest
from scigate import hookspecs


def specified() -> dict[str, pluggy.HookCaller]:
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    return {name: caller for name, caller in vars(manager.hook).items() if not name.startswith("_")}


@pytest.mark.parametrize("name", ["build_client", "map_error", "settings_model", "register_envelope"])
def test_hooks_of_one_answer_give_it_and_not_a_list(name: str) -> None:
    """A provider answers once; the others contribute lists of things."""
    assert specified()[name].spec.opts["firstresult"]


def test_arguments_have_the_same_names_everywhere() -> None:
    """An implementation takes those that it needs by name, so they may not be renamed."""
    arguments = {name: list(inspect.signature(getattr(hookspecs, name)).parameters) for name in specified()}
    assert arguments.pop("build_client") == ["upstreams", "settings"]
    assert arguments.pop("map_error") == ["error"]
    assert all(names in ([], ["settings"]) for names in arguments.values())


def test_nothing_heavy_is_imported_to_mark_a_hook() -> None:
    """Providers import the marker at their start."""
    assert isinstance(hookspecs.hookimpl, pluggy.HookimplMarker)
    assert hookspecs.hookimpl.project_name == hookspecs.PROJECT == "scigate"
