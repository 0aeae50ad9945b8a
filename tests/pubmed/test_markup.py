"""Titles made plain."""

import pytest
from scigate_pubmed.markup import flatten


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("m<sup>2</sup>", "m²"),
        ("m&lt;sup&gt;2&lt;/sup&gt;", "m²"),
        ("CO<sub>2</sub> in <i>E. coli</i>.", "CO₂ in E. coli."),
        ("m<sup>\u22122</sup>", "m⁻²"),
        ("Apoe<sup>+/+</sup> mice", "Apoe^+/+ mice"),
        ("H<inf>max</inf>", "H_max"),
        ("<i>a<sup>2</sup></i>b", "a²b"),
        ("x<sup>1<sub>2</sub></sup>", "x^1₂"),
        ("1.73 m<sup>2</sup> of body surface", "1.73 m² of body surface"),
        ("P<0.001 and n<5 <b>bold</b> end", "P<0.001 and n<5 bold end"),
        ("P &lt; 0.05 &amp; more", "P < 0.05 & more"),
        ("the &lt;gene&gt; of it", "the <gene> of it"),
        ("soft\u00adhyphen", "softhyphen"),
        ("[Translated title].", "[Translated title]."),
        ("1984", "1984"),
        ("", ""),
    ],
)
def test_markup_becomes_plain_text_without_loss(marked: str, plain: str) -> None:
    """Text behind an inline element stays, and a bare `<` is no tag."""
    assert flatten(marked) == plain
