"""pubchem_get_compound_image: a compound's structure as a drawing."""

from __future__ import annotations

import base64
from typing import Annotated, Literal

from pydantic import Field
from scigate import Call, Image, Input, Output, Success, tool

from scigate_pubchem.cid import CID_NOT_FOUND, Cid
from scigate_pubchem.client import PubChem
from scigate_pubchem.faults import NotFound

__all__ = ["Size", "drawing_of", "get_image"]

Size = Literal["small", "large"]


class GetImage(Input):
    cid: Cid = Field(description="Compound number, from pubchem_search_compounds.")
    size: Size = Field(default="large", description="small is 100x100 pixels, large 300x300.")


class Drawing(Output):
    """The structural drawing of one compound; `width` and `height` are in pixels."""

    cid: int
    image_base64: str = Field(description="PNG, also beside this as an image.")
    mime_type: str
    width: int
    height: int


@tool("pubchem_get_compound_image", title="Get Compound Image", errors=[CID_NOT_FOUND])
async def get_image(args: GetImage, pubchem: PubChem, call: Call) -> Annotated[Success, Drawing]:
    """Draw the structure of a compound (CID) in two dimensions, as a PNG image for a person to look at. To reason about
    a structure read its SMILES with pubchem_get_compound_details; for coordinates in space use
    pubchem_get_compound_3d_structure. Returns the image, and its bytes in base64.

    Costs one PubChem request.
    """
    png = await drawing_of(args.cid, args.size, pubchem)
    # A PNG begins with its signature and a chunk whose first numbers are width and height.
    width, height = (int.from_bytes(png[at : at + 4]) for at in (16, 20))
    drawing = Drawing(
        cid=args.cid,
        image_base64=base64.b64encode(png).decode(),
        mime_type="image/png",
        width=width,
        height=height,
    )
    return Success(drawing, images=(Image(png, f"Drawing of the 2D structure of PubChem compound {args.cid}"),))


async def drawing_of(cid: int, size: Size, pubchem: PubChem) -> bytes:
    """A compound's drawing, a PNG. Costs one request.

    Raises:
        FailureError: There is no such compound.
        PubChemError: PubChem failed.
    """
    try:
        return await pubchem.drawing(cid, size)
    except NotFound as error:
        raise CID_NOT_FOUND.error(f"PubChem has no compound {cid}.", fault=error.fault.text) from error
