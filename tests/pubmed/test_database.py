"""The resource `pubmed://database/info`."""

import json

from scigate.call import LOCAL
from scigate.host import Host


async def test_the_resource_tells_of_pubmed_and_its_fields(offline: Host) -> None:
    """JSON in the contract's names; the count is text."""
    (definition,) = [one for one in offline.catalogue.resources if one["uri"] == "pubmed://database/info"]
    assert (definition["name"], definition["title"]) == ("database-info", "PubMed Database Info")
    assert definition["mimeType"] == "application/json"
    reading = await offline.read("pubmed://database/info", LOCAL)
    assert reading.text is not None
    content = json.loads(reading.text)
    assert (content["dbName"], content["count"]) == ("pubmed", "486")
    assert {"name", "fullName", "description"} == set(content["fields"][0])
    assert {"TIAB", "MH"} <= {field["name"] for field in content["fields"]}
