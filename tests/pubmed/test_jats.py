"""JATS articles made readable."""

import contextlib
from pathlib import Path

import pytest
from scigate_pubmed.document import document
from scigate_pubmed.errors import NcbiUnreadable
from scigate_pubmed.jats import JatsArticle, Reference, Section, Writer, articles, pmcid

RECORDINGS = Path(__file__).parents[3] / "shared" / "recordings"


def read(body: str) -> JatsArticle:
    (article,) = articles(document("efetch", body.encode()))
    return article


def article(*, meta: str = "", body: str = "", back: str = "", journal: str = "", more: str = "") -> JatsArticle:
    front = f"<front><journal-meta>{journal}</journal-meta><article-meta>{meta}</article-meta></front>"
    inner = f"<body>{body}</body>" if body else ""
    return read(f'<article article-type="research-article">{front}{inner}<back>{back}</back>{more}</article>')


def text(body: str) -> str:
    """The text of one paragraph with such content."""
    (section,) = article(body=f"<p>{body}</p>").sections
    return section.text


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("1.73 m<sup>2</sup> of <i>body</i> surface", "1.73 m² of body surface"),
        ("CO<sub>2</sub> and <italic>E. <bold>coli</bold></italic> grow", "CO₂ and E. coli grow"),
        ("mice<sup>+/<italic>+</italic></sup> were", "mice^+/+ were"),
        ("10<sup>\u22123</sup> M", "10⁻³ M"),
        ("known <xref rid='R1'>[1]</xref>, <xref rid='R2'>[2]</xref>.", "known [1], [2]."),
        ("P &lt; 0.05 &amp; more", "P < 0.05 & more"),
        ("a<!-- said --><?so by?>b", "ab"),
        ("soft\u00adhyphen", "softhyphen"),
        ("line<break/>break", "line break"),
        ("see <ext-link>https://example.org/x</ext-link>", "see https://example.org/x"),
        ("x <inline-graphic/> y", "x y"),
    ],
)
def test_a_line_is_read_whole_and_in_order(marked: str, plain: str) -> None:
    """Reading the first text node alone loses everything after the first inline element."""
    assert text(marked) == plain


@pytest.mark.parametrize(
    ("formula", "plain"),
    [
        ("<inline-formula><tex-math>x^2</tex-math></inline-formula>", "[formula: x^2]"),
        (
            "<inline-formula><alternatives><tex-math>\\documentclass{a}\\begin{document}$$ y = \\mu $$\\end{document}"
            "</tex-math><mml:math xmlns:mml='http://www.w3.org/1998/Math/MathML'><mml:mi>y</mml:mi></mml:math>"
            "</alternatives></inline-formula>",
            "[formula: y = \\mu]",
        ),
        ("<inline-formula><math><mi>z</mi></math></inline-formula>", "[formula not shown]"),
        ("<inline-formula><italic>n</italic> = 3</inline-formula>", "n = 3"),
        ("<disp-formula><label>(1)</label><graphic/></disp-formula>", "[formula not shown] (1)"),
    ],
)
def test_a_formula_is_its_tex_or_is_marked(formula: str, plain: str) -> None:
    """MathML's letters without their arrangement would be another formula."""
    assert text(formula) == plain


def test_a_block_within_a_paragraph_divides_it_and_nothing_is_lost() -> None:
    """What follows a list or a formula in its paragraph belongs to the text."""
    listed = text(
        "Before: <list><list-item><p>one</p></list-item><list-item><label>b)</label><p>two</p></list-item></list> after"
    )
    assert listed == "Before:\n\n- one\nb) two\n\nafter"


def test_tables_and_figures_are_marked_where_they_stood() -> None:
    """Their cells are dropped; label, title and caption are text."""
    (section,) = article(
        body="<sec><title>Results</title><p>See below.</p>"
        "<table-wrap><label>Table 1.</label><caption><title>Doses</title><p>In mg.</p></caption>"
        "<table><tr><td>42</td></tr></table></table-wrap>"
        "<fig><label>Figure 2</label><caption><p>A gel?</p></caption><graphic/></fig><p>End.</p></sec>"
    ).sections
    assert section.text.split("\n\n") == [
        "See below.",
        "[Table 1. Doses. In mg. Table not shown.]",
        "[Figure 2. A gel? Figure not shown.]",
        "End.",
    ]


def test_captions_kept_apart_from_the_text_follow_it() -> None:
    """PMC sets figures and tables of manuscripts into a group of floats, or into a section at the end."""
    figure = "<fig><label>Figure 1</label><caption><p>A map.</p></caption></fig>"
    for apart in (
        {"more": f"<floats-group>{figure}</floats-group>"},
        {"back": f"<sec sec-type='display-objects'>{figure}</sec>"},
    ):
        *_, last = article(body="<p>Text.</p>", **apart).sections
        assert last == Section("Figures and tables", "", "[Figure 1. A map. Figure not shown.]")


def test_loose_paragraphs_around_sections_are_sections_without_title() -> None:
    """They were once read as no body at all."""
    sections = article(
        body="<p>a</p><p>b</p><sec><label>1</label><title>Methods</title><p>c</p></sec><p>d</p>"
    ).sections
    assert sections == (Section("", "", "a\n\nb"), Section("Methods", "1", "c"), Section("", "", "d"))


def test_deeper_sections_are_folded_into_the_second_level() -> None:
    """The result has one level below a section; a third level is text of the second, its heading a paragraph."""
    (section,) = article(
        body="<sec><title>A</title><p>a</p><sec><label>1.1</label><title>B</title><p>b</p>"
        "<sec><label>1.1.1</label><title>C</title><p>c</p><sec><title>D</title><p>d</p></sec></sec></sec></sec>"
    ).sections
    assert (section.title, section.text) == ("A", "a")
    assert section.subsections == (Section("B", "1.1", "b\n\n1.1.1 C\n\nc\n\nD\n\nd"),)


def test_boxes_quotes_and_definitions_are_text() -> None:
    """They hold what authors wrote like any paragraph."""
    (section,) = article(
        body="<sec><title>T</title><boxed-text><caption><title>Key points</title></caption><p>box</p></boxed-text>"
        "<disp-quote><p>quoted</p></disp-quote>"
        "<def-list><def-item><term>PCR</term><def><p>a reaction</p></def></def-item></def-list>"
        "<preformat>x\n  y</preformat></sec>"
    ).sections
    assert section.text.split("\n\n") == ["Key points", "box", "quoted", "PCR: a reaction", "x\n  y"]


def test_an_article_without_a_body_has_no_sections() -> None:
    """Its publisher allows the front matter alone."""
    assert article(meta="<title-group><article-title>T</article-title></title-group>").sections == ()


@pytest.mark.parametrize("kind", ["pmc", "pmcid", "pmc-uid", "pmcaid"])
@pytest.mark.parametrize("value", ["123", "PMC123", "pmc123"])
def test_a_pmcid_is_found_under_every_name_and_form(kind: str, value: str) -> None:
    """Some answers lack the prefix, some have it."""
    assert article(meta=f'<article-id pub-id-type="{kind}">{value}</article-id>').pmcid == "PMC123"


def test_what_is_no_pmcid_is_none() -> None:
    """An empty id once became the text PMC and a broken address."""
    assert [pmcid(text) for text in ("", "PMC", "NOT-1", "1 2", " PMC7 ")] == ["", "", "", "", "PMC7"]


def test_pages_and_numbers_stay_text() -> None:
    """A parser that makes numbers of them loses zeros and letters."""
    numbered = article(meta="<volume>007</volume><issue>1-2</issue><fpage>4002.e26</fpage><lpage>0123</lpage>")
    assert (numbered.volume, numbered.issue, numbered.pages) == ("007", "1-2", "4002.e26-0123")
    assert article(meta="<fpage>5</fpage><lpage>5</lpage>").pages == "5"
    assert article(meta="<elocation-id>e30</elocation-id>").pages == "e30"


def test_authors_are_those_who_wrote_it() -> None:
    """Editors stand beside them; a group's name does not hold the names of its members."""
    found = article(
        meta="<contrib-group>"
        "<contrib contrib-type='author'><name><surname>Berg</surname><given-names>A K</given-names><suffix>Jr</suffix>"
        "</name></contrib>"
        "<contrib><name-alternatives><name><surname>Li</surname><given-names>Na</given-names></name></name-alternatives>"
        "</contrib>"
        "<contrib contrib-type='author'><collab>XYZ <italic>Group</italic><contrib-group><contrib><name>"
        "<surname>Member</surname></name></contrib></contrib-group></collab></contrib>"
        "<contrib contrib-type='author'><string-name>Plato</string-name></contrib>"
        "<contrib contrib-type='author'><anonymous/></contrib>"
        "</contrib-group><contrib-group><contrib contrib-type='editor'><name><surname>Ed</surname></name></contrib>"
        "</contrib-group>"
    ).authors
    assert found == (
        Writer(family="Berg Jr", given="A K"),
        Writer(family="Li", given="Na"),
        Writer(group="XYZ Group"),
        Writer(family="Plato"),
    )


def test_affiliations_are_found_in_every_place_and_told_once() -> None:
    """Their printed markers are left out, and fields without punctuation are set apart."""
    found = article(
        meta="<contrib-group><contrib contrib-type='author'><aff><label>1</label>Dept A, Oslo</aff></contrib>"
        "<aff><sup>2</sup> <institution>Dept B</institution> <country>Norway</country></aff></contrib-group>"
        "<aff id='a1'><label>1</label>Dept A, Oslo</aff>"
    ).affiliations
    assert found == ("Dept A, Oslo", "Dept B, Norway")


@pytest.mark.parametrize(
    ("dates", "date"),
    [
        ('<pub-date pub-type="ppub"><year>2020</year></pub-date><pub-date pub-type="epub"><day>5</day><month>12</month>'
         "<year>2019</year></pub-date>", ("2019", "12", "5")),
        ('<pub-date date-type="collection"><year>2018</year></pub-date><pub-date date-type="pub"><year>2019</year>'
         "</pub-date>", ("2019", "", "")),
        ("<pub-date><season>Spring</season><year>2001</year></pub-date>", ("2001", "Spring", "")),
        ('<pub-date pub-type="epub"><month>5</month></pub-date><pub-date><year>2002</year></pub-date>',
         ("2002", "", "")),
        ("", ("", "", "")),
    ],
)  # fmt: skip
def test_the_date_is_that_of_electronic_publication_then_print(dates: str, date: tuple[str, str, str]) -> None:
    """A date needs a year, and no part is made up."""
    assert article(meta=dates).date == date


def test_the_abstract_is_the_articles_own() -> None:
    """Graphical abstracts, teasers and summaries name their type; parts are told with their headings."""
    meta = (
        "<abstract abstract-type='graphical'><p>picture</p></abstract>"
        "<abstract><sec><title>Aim</title><p>To see.</p><p>Well.</p></sec><sec><title>Result</title><p>Seen.</p></sec>"
        "</abstract>"
    )
    assert article(meta=meta).abstract == "Aim: To see. Well.\n\nResult: Seen."
    assert article(meta="<abstract><title>Abstract</title><p>One.</p><p>Two.</p></abstract>").abstract == "One. Two."


@pytest.mark.parametrize(
    ("ref", "citation"),
    [
        ("<mixed-citation>Berg A. <source>J</source>. 2020;<volume>1</volume>(<issue>2</issue>):3.</mixed-citation>",
         "Berg A. J. 2020;1(2):3."),
        ("<element-citation><person-group><name><surname>Berg</surname><given-names>A</given-names></name><name>"
         "<surname>Li</surname><given-names>N</given-names></name><etal/></person-group><article-title>T</article-title>"
         "<source>J</source><year>2020</year><volume>3</volume><fpage>4</fpage><lpage>9</lpage>"
         "<pub-id pub-id-type='pmid'>1</pub-id><pub-id pub-id-type='doi'>10.1/x</pub-id></element-citation>",
         "Berg A, Li N, et al. T J 2020 3 4-9 PMID 1 DOI 10.1/x"),
        ("<citation-alternatives><element-citation><source>fields</source></element-citation>"
         "<mixed-citation>Text of it.</mixed-citation></citation-alternatives>", "Text of it."),
        ("<citation-alternatives><element-citation><source>fields</source></element-citation></citation-alternatives>",
         "fields"),
        ("<mixed-citation>A. doi: <pub-id pub-id-type='doi'>10.1/x</pub-id></mixed-citation>", "A. doi: 10.1/x"),
        ("<mixed-citation>a) One.</mixed-citation><mixed-citation>b) Two.</mixed-citation>", "a) One.; b) Two."),
        ("<note><p>A remark.</p></note>", "A remark."),
    ],
)  # fmt: skip
def test_a_reference_is_one_readable_line(ref: str, citation: str) -> None:
    """Fields without punctuation between them are set apart, and alternatives are one reference."""
    back = f"<ref-list><ref-list><ref id='R1'><label>1</label>{ref}</ref></ref-list></ref-list>"
    assert article(back=back).references == (Reference("R1", "1", citation),)


def test_an_entity_that_nobody_declares_is_text() -> None:
    """HTML's names occur where a document type is named but not read."""
    found = read('<!DOCTYPE article SYSTEM "JATS.dtd"><article><body><p>a&nbsp;&alpha;b</p></body></article>')
    assert found.sections[0].text == "a αb"


def test_entities_of_the_documents_own_are_refused() -> None:
    """They expand without bound, or name files."""
    with pytest.raises(NcbiUnreadable):
        read('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><article><body><p>&x;</p></body></article>')


def test_a_thousand_and_more_character_references_are_read() -> None:
    """Some parsers take them for an attack."""
    assert text("&#945;" * 5000) == "α" * 5000


@pytest.mark.parametrize("tag", ["italic", "sup", "list><list-item"])
def test_deep_nesting_is_read_or_refused(tag: str) -> None:
    """Up to the parser's bound of 256 levels; whatever it costs, it is no fault of the gateway."""
    first, *rest = tag.split("><")
    opening = f"<{tag}>"
    closing = "".join(f"</{name}>" for name in reversed([first, *rest]))
    depth = 240 // (1 + len(rest))
    body = f"<article><body><p>{opening * depth}deep{closing * depth}</p></body></article>"
    with contextlib.suppress(NcbiUnreadable):
        assert "deep" in read(body).sections[0].text


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason="no recordings beside the repository")
@pytest.mark.parametrize(
    ("name", "pmcid", "authors", "sections", "references"),
    [
        ("ncbi/efetch_pmc_3040717.xml", "PMC3040717", 11, 6, 53),
        ("ncbi/efetch_pmc_3299399.xml", "PMC3299399", 4, 5, 76),
        ("ncbi/bp_efetch_pmc.xml", "PMC8435807", 0, 1, 0),
        ("ncbi/nodencbi_pmc_not_oa.xml", "PMC3714218", 6, 0, 0),
        ("ncbi/pmc_oai_PMC65048.xml", "PMC65048", 2, 0, 0),
        ("ncbi/jats_aiid_4275071.nxml", "", 11, 1, 0),
        ("europepmc/fullTextXML_PMC8118396.xml", "PMC8118396", 3, 1, 8),
        ("europepmc/fullTextXML_PMC8249384.xml", "PMC8249384", 10, 4, 49),
    ],
)
def test_recorded_articles_are_read(name: str, pmcid: str, authors: int, sections: int, references: int) -> None:
    """Of EFetch, of OAI (in a namespace), of Europe PMC, and two without a body."""
    (found,) = articles(document("efetch", (RECORDINGS / name).read_bytes()))
    assert found.pmcid == pmcid
    assert found.title
    assert found.date[0].isdigit()
    assert (len(found.authors), len(found.sections), len(found.references)) == (authors, sections, references)
    told = [found.title, found.abstract, *(entry.citation for entry in found.references)]
    told += [part.text for section in found.sections for part in (section, *section.subsections)]
    assert not any("<" + tag in piece for piece in told for tag in ("p>", "sup", "xref", "italic"))
