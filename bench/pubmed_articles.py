"""What two hundred PubMed records cost to read: `python bench/pubmed_articles.py [RECORDS]`.

The records have the size of today's: an abstract, an affiliation for each author and a list of references, about 20 kB
of XML each. Reading them into records is compared with building lxml's tree of the same bytes, which is the least that
any reader of the whole document does, in time and in memory, each in a process of its own.
"""

from __future__ import annotations

import multiprocessing
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from lxml import etree
from scigate_pubmed.efetch import parse_articles
from scigate_pubmed.emulator.corpus import load
from scigate_pubmed.emulator.records import set_xml

ROUNDS = 5
SPAWN = multiprocessing.get_context("spawn")
ABSTRACT = (
    "<Abstract>" + "<AbstractText Label='RESULTS'>CO<sub>2</sub> rose, P&lt;0.05. </AbstractText>" * 25 + "</Abstract>"
)
PLACE = (
    "<AffiliationInfo><Affiliation>Department of Samples, University of Somewhere, 12345 Town.</Affiliation>"
    "</AffiliationInfo>"
)
REFERENCES = (
    "<ReferenceList>"
    + "<Reference><Citation>Somebody A. Some title of another paper. J Test. 2020;1(2):3-4.</Citation><ArticleIdList>"
    '<ArticleId IdType="doi">10.1000/another.paper</ArticleId></ArticleIdList></Reference>' * 60 + "</ReferenceList>"
)


def body(count: int) -> bytes:
    """An answer of EFetch with so many records."""
    articles = [record for record in load() if not record.book]
    xml = set_xml(articles[number % len(articles)] for number in range(count))
    xml = re.sub("<Abstract>.*?</Abstract>", "", xml).replace("</Pagination>", f"</Pagination>{ABSTRACT}")
    xml = xml.replace("</Author>", f"{PLACE}</Author>").replace("</PubmedData>", f"{REFERENCES}</PubmedData>")
    return re.sub(
        "</Pagination>(<Abstract>.*?</Abstract>)(<ELocationID.*?</ELocationID>)?", r"</Pagination>\2\1", xml
    ).encode()


def write(file: Path, count: int) -> None:
    """Write an answer into a file."""
    file.write_bytes(body(count))


def resident_kb() -> int:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measured(step: Callable[[bytes], object], file: Path, reply: multiprocessing.Queue[tuple[float, float]]) -> None:
    """Put the best time in milliseconds, and the megabytes above rest of the first run."""
    content = file.read_bytes()
    step(b"<PubmedArticleSet></PubmedArticleSet>")
    rest = resident_kb()
    times: list[float] = []
    peak = 0
    for _ in range(ROUNDS):
        before = time.perf_counter()
        result = step(content)
        times.append((time.perf_counter() - before) * 1000)
        peak = peak or resident_kb()
        del result
    reply.put((min(times), (peak - rest) / 1024))


def alone(step: Callable[[bytes], object], file: Path) -> tuple[float, float]:
    """Measure in a process of its own, whose memory nobody else has raised."""
    reply: multiprocessing.Queue[tuple[float, float]] = SPAWN.Queue()
    process = SPAWN.Process(target=measured, args=(step, file, reply))
    process.start()
    found = reply.get(timeout=120)
    process.join()
    return found


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "articles.xml"
        # A process hands the peak of its memory on to its children, so writing is left to one of them.
        writer = SPAWN.Process(target=write, args=(file, count))
        writer.start()
        writer.join()
        print(f"{count} records, {file.stat().st_size / 1e6:.1f} MB of XML")
        tree_ms, tree_mb = alone(etree.fromstring, file)
        read_ms, read_mb = alone(parse_articles, file)
    print(f"{'tree of lxml':16}{tree_ms:8.0f} ms{tree_mb:8.0f} MB")
    print(f"{'records':16}{read_ms:8.0f} ms{read_mb:8.0f} MB")
    print(f"{'ratio':16}{read_ms / tree_ms:8.1f}   {read_mb / max(tree_mb, 0.1):8.2f}")


if __name__ == "__main__":
    main()
