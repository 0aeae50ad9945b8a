"""The prompt `research_plan`."""

import re

import pytest
from scigate import LOCAL
from scigate.host import Host, ReadFailed

ASKED = {"title": "Mice\n# and men", "goal": "See.", "keywords": " asthma, ,child ,"}


async def text(host: Host, **more: str) -> str:
    _, said = await host.prompt("research_plan", {**ASKED, **more}, LOCAL)
    return said


async def test_its_arguments_are_advertised_as_they_are(offline: Host) -> None:
    """A default makes an argument optional."""
    (definition,) = [one for one in offline.catalogue.prompts if one["name"] == "research_plan"]
    assert {one["name"]: one["required"] for one in definition["arguments"]} == {
        "title": True,
        "goal": True,
        "keywords": True,
        "organism": False,
        "includeAgentPrompts": False,
    }


async def test_the_plan_has_four_phases_and_what_was_given(offline: Host) -> None:
    """Keywords are trimmed, empty ones dropped, and a line break in a value starts no heading."""
    plan = await text(offline)
    assert [line for line in plan.splitlines() if line.startswith("# ")] == ["# Research plan: Mice # and men"]
    assert len([line for line in plan.splitlines() if line.startswith("## ")]) == 4
    assert "- Keywords: asthma, child\n" in plan
    assert "- Organism: Not specified\n" in plan
    assert ">" not in plan
    assert "- Organism: Mus musculus\n" in await text(offline, organism="Mus musculus")


async def test_guidance_is_one_quoted_line_for_each_part(offline: Host) -> None:
    """On request, and no tool is named in it that does not exist."""
    plan = await text(offline, includeAgentPrompts="true")
    assert len(re.findall(r"^> ", plan, re.MULTILINE)) == len(re.findall(r"^### ", plan, re.MULTILINE)) == 9
    named = set(re.findall(r"pubmed_\w+", plan))
    assert named == {"pubmed_search_articles", "pubmed_lookup_mesh"}
    assert named <= {definition["name"] for definition in offline.catalogue.definitions}


async def test_a_flag_of_another_word_is_refused(offline: Host) -> None:
    """Text that is neither true nor false is not guessed at."""
    with pytest.raises(ReadFailed):
        await text(offline, includeAgentPrompts="yes please")
