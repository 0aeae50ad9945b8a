"""The answer of ELink (`cmd=neighbor`) as a list of PMIDs."""

from scigate_pubmed.document import children, document, text_of
from scigate_pubmed.errors import NcbiOtherDocument


def parse_links(body: bytes, *, source: str, name: str) -> tuple[str, ...]:
    """The PMIDs of the set with this link name, in its order, each once, without the source and without 0.

    No set of that name means that there are no such links, or that PubMed does not know the source. Another set is
    another relation and is not read in its place.

    Raises:
        NcbiOtherDocument: The root is not an ELink result.
        NcbiUnreadable: The body is damaged.
    """
    root = document("elink", body)
    if root.tag != "eLinkResult":
        raise NcbiOtherDocument("elink", "has no eLinkResult at its root")
    found: dict[str, None] = {}
    for links in children(root, "LinkSet/LinkSetDb"):
        if text_of(links, "LinkName") == name:
            found |= dict.fromkeys(text_of(one) for one in children(links, "Link/Id"))
    return tuple(pmid for pmid in found if pmid.isdigit() and pmid not in (source, "0"))
