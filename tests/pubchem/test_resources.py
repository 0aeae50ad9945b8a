"""The provider's resources."""

import json
from typing import Any

import pytest
from scigate.call import LOCAL
from scigate.catalogue import UnknownResource
from scigate.host import ReadFailed


async def read(gateway: Any, uri: str) -> dict[str, Any]:
    reading = await gateway.host.read(uri, LOCAL)
    assert reading.mime_type == "application/json"
    return json.loads(reading.text)


async def test_the_templates(gateway: Any) -> None:
    """Six, in a stable order."""
    assert [
        (one["uriTemplate"], one["name"], one["mimeType"]) for one in gateway.host.catalogue.resource_templates
    ] == [
        ("pubchem://compound/{cid}", "pubchem-compound", "application/json"),
        ("pubchem://compound/{cid}/safety", "pubchem-compound-safety", "application/json"),
        ("pubchem://compound/{cid}/image", "pubchem-compound-image", "image/png"),
        ("pubchem://compound/{cid}/xrefs", "pubchem-compound-xrefs", "application/json"),
        ("pubchem://compound/{cid}/bioactivity", "pubchem-compound-bioactivity", "application/json"),
        ("pubchem://assay/{aid}", "pubchem-assay", "application/json"),
    ]


async def test_a_compound(gateway: Any) -> None:
    """The core properties, as the tool has them by default."""
    found = await read(gateway, "pubchem://compound/2244")
    assert (found["cid"], found["properties"]["MolecularFormula"], len(found["properties"])) == (2244, "C9H8O4", 14)
    assert "Sample data" in found["notice"]


async def test_its_hazards(gateway: Any) -> None:
    """The status is the only sign of a wrong number."""
    assert (await read(gateway, "pubchem://compound/180/safety"))["ghs"]["signalWord"] == "Danger"
    nothing = await read(gateway, "pubchem://compound/962/safety")
    unknown = await read(gateway, "pubchem://compound/999999999/safety")
    assert (nothing["status"], nothing["hasData"], unknown["status"]) == ("no_ghs_data", False, "cid_not_found")
    assert "ghs" not in nothing


async def test_its_image(gateway: Any) -> None:
    """A PNG as bytes."""
    reading = await gateway.host.read("pubchem://compound/2244/image", LOCAL)
    assert (reading.mime_type, reading.text) == ("image/png", None)
    assert reading.blob.startswith(b"\x89PNG")
    assert int.from_bytes(reading.blob[16:20]) == 300


async def test_its_cross_references(gateway: Any) -> None:
    """The first 25 of each kind with their totals; kinds without any are left out."""
    found = await read(gateway, "pubchem://compound/2244/xrefs")
    assert [(one["type"], len(one["ids"]), one["totalAvailable"]) for one in found["xrefs"]] == [
        ("RN", 3, 3),
        ("RegistryID", 5, 5),
        ("PubMedID", 25, 444),
    ]
    assert (await read(gateway, "pubchem://compound/999999999/xrefs"))["xrefs"] == []


async def test_its_assays(gateway: Any) -> None:
    """The first 25, with counts over all."""
    found = await read(gateway, "pubchem://compound/2244/bioactivity")
    assert found["totalAssays"] >= len(found["results"]) > 0
    assert found["activeCount"] > 0
    assert {"aid", "assayName", "outcome", "activityValues"} <= set(found["results"][0])


async def test_an_assay(gateway: Any) -> None:
    """PubChem's own summary, untouched."""
    found = await read(gateway, "pubchem://assay/910000001")
    assert (found["aid"], found["summary"]["AID"]) == (910000001, 910000001)
    assert "CIDCountActive" in found["summary"]


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("pubchem://compound/999999999", "cid_not_found"),
        ("pubchem://compound/999999999/image", "cid_not_found"),
        ("pubchem://assay/999999999", "aid_not_found"),
        ("pubchem://compound/0", "invalid_arguments"),
        ("pubchem://compound/2147483648", "invalid_arguments"),
        ("pubchem://compound/aspirin", "invalid_arguments"),
        ("pubchem://assay/1.5", "invalid_arguments"),
    ],
)
async def test_what_is_not_there(gateway: Any, uri: str, reason: str) -> None:
    """Typed reasons, with advice."""
    with pytest.raises(ReadFailed) as caught:
        await gateway.host.read(uri, LOCAL)
    failure = caught.value.failure
    assert (failure.reason, failure.code) == (reason, -32602 if reason == "invalid_arguments" else -32001)
    assert failure.hint


async def test_other_paths_are_unknown(gateway: Any) -> None:
    """A resource of another name is no resource of this provider."""
    with pytest.raises(UnknownResource):
        await gateway.host.read("pubchem://compound/2244/price", LOCAL)
