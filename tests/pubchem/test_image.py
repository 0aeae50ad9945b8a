"""`pubchem_get_compound_image`."""

import base64
from collections.abc import Callable
from typing import Any

import pytest

TOOL = "pubchem_get_compound_image"


@pytest.mark.parametrize(("size", "side"), [("small", 100), ("large", 300)])
async def test_a_drawing(gateway: Any, size: str, side: int) -> None:
    """As an image block, as base64 among the facts, and in words in the text. One request."""
    reply = await gateway.call(TOOL, cid=2244, size=size)
    text, image = reply.content
    assert (image["type"], image["mimeType"]) == ("image", "image/png")
    assert base64.b64decode(image["data"]).startswith(b"\x89PNG")
    assert reply.structured["imageBase64"] == image["data"]
    assert (reply.structured["width"], reply.structured["height"]) == (side, side)
    assert "Drawing of the 2D structure of PubChem compound 2244" in text["text"]
    assert image["data"][:40] not in text["text"]
    assert gateway.asked == ["/rest/pug/compound/cid/2244/PNG"]


async def test_no_such_compound(gateway: Any) -> None:
    """404 is a typed failure with advice; the fault is text on this endpoint."""
    error = await gateway.bad(TOOL, cid=999999999)
    assert (error["code"], error["data"]["reason"]) == (-32001, "cid_not_found")
    assert "pubchem_search_compounds" in error["data"]["recovery"]["hint"]
    assert error["data"]["fault"].startswith("PUGREST.NotFound")


@pytest.mark.parametrize(
    ("fault", "reason"),
    [("500", "upstream_unavailable"), ("503", "upstream_rate_limited"), ("html", "upstream_invalid_response")],
)
async def test_other_faults_keep_their_own_reason(gateway: Any, fault: str, reason: str) -> None:
    """A busy service says nothing of the compound, and a page is no image."""
    gateway.emulator.faults.add(fault)
    assert (await gateway.bad(TOOL, cid=2244))["data"]["reason"] == reason


async def test_a_recorded_image(saying: Any, answer: Any, recorded: Callable[[str], bytes]) -> None:
    """Width and height are the image's own."""
    png = answer(recorded("image_coumarin_50x50.png"), kind="image/png")
    async with saying(lambda path, query: png) as gateway:
        found = await gateway.good(TOOL, cid=323)
    assert (found["width"], found["height"], base64.b64decode(found["imageBase64"])) == (50, 50, png.content)
