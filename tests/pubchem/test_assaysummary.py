"""The table of a compound's assay results, parsed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate_pubchem.assaysummary import AssayTable, Measurement
from scigate_pubchem.emulator.large_table import large_table
from scigate_pubchem.faults import UnexpectedAnswer

COLUMNS = ["AID", "Activity Outcome", "Target Accession", "Target GeneID", "Activity Value [uM]", "Activity Name"]


def parsed(*rows: list[Any], columns: list[str] = COLUMNS) -> AssayTable:
    table = {"Table": {"Columns": {"Column": columns}, "Row": [{"Cell": list(row)} for row in rows]}}
    return AssayTable.parse(json.dumps(table).encode())


def values(table: AssayTable) -> list[float]:
    return [one.value for assay in table.assays for target in assay.targets for one in target.measured]


def test_columns_are_found_by_name_and_the_unit_in_the_heading() -> None:
    """The order of columns has changed over the years, and the unit stands in the heading's brackets."""
    table = parsed(
        ["x", "0.5", 7, "Ki", "Active", "a paper"],
        columns=["RNAi", "Activity Value [nM]", "AID", "Activity Name", "Activity Outcome", "Assay Name"],
    )
    (assay,) = table.assays
    assert (assay.aid, assay.name, assay.targets[0].outcome) == (7, "a paper", "Active")
    assert list(assay.targets[0].measured) == [Measurement(0.5, "Ki", "nM")]


def test_a_heading_without_brackets_has_no_unit() -> None:
    """A unit that is not written is not made up."""
    table = parsed(["1", "3"], columns=["AID", "Activity Value"])
    assert list(table.assays[0].targets[0].measured) == [Measurement(3.0, None, None)]


def test_older_headings_are_read() -> None:
    """Tables of before 2024 said Bioactivity Outcome, Bioassay Type and Activity Type."""
    columns = ["AID", "Bioactivity Outcome", "Bioassay Type", "Activity Value [uM]", "Activity Type"]
    (assay,) = parsed(["1", "Active", "Confirmatory", "2", "EC50"], columns=columns).assays
    assert (assay.kind, assay.targets[0].outcome) == ("Confirmatory", "Active")
    assert list(assay.targets[0].measured) == [Measurement(2.0, "EC50", "uM")]


def test_every_column_but_the_number_may_be_missing() -> None:
    """A table of numbers alone gives assays without anything else."""
    (assay,) = parsed(["12"], columns=["AID"]).assays
    assert (assay.aid, assay.name, assay.kind, assay.pmids) == (12, "", "", [])
    assert [(target.accession, target.gene, target.outcome) for target in assay.targets] == [
        (None, None, "Unspecified")
    ]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("0.3", [0.3]),
        ("0", [0.0]),
        (0, [0.0]),
        (2.5, [2.5]),
        (" 7 ", [7.0]),
        ("1e-06", [1e-06]),
        ("", []),
        ("   ", []),
        (None, []),
        ("n.d.", []),
        ("inf", []),
        ("NaN", []),
        ("1e999", []),
        (True, []),
        ([], []),
    ],
)
def test_a_blank_value_is_none_and_a_zero_is_a_value(cell: Any, expected: list[float]) -> None:
    """Converting first and testing afterwards would turn every blank cell into 0 uM."""
    assert values(parsed(["1", "Active", "", "", cell, "IC50"])) == expected


@pytest.mark.parametrize("cell", ["", "0", 0, None, "abc", "-3", "1.5", 1.5, "9" * 40])
def test_a_row_without_an_assay_number_is_skipped(cell: Any) -> None:
    """A row that belongs to no assay counts for none."""
    assert [assay.aid for assay in parsed([cell, "Active"], ["5", "Active"]).assays] == [5]


def test_cells_may_be_numbers_and_rows_short_or_long() -> None:
    """JSON writers disagree on what is text; a short row lacks its last cells."""
    table = parsed([3, "Active", None, 77.0], [4.0, "Inactive", "", 0, 1, "Kd", "more", "still more"])
    assert [(assay.aid, assay.targets[0].gene) for assay in table.assays] == [(3, 77), (4, None)]


def test_replicates_count_once_and_distinct_readouts_stay() -> None:
    """Rows of one target repeat a value for each replicate; another name or value is another measurement."""
    row = ["1", "Active", "P1", "77", "0.3", "IC50"]
    table = parsed(row, row, [*row[:4], "0.3", "EC50"], [*row[:4], "0.4", "IC50"])
    assert [(one.value, one.name) for one in table.assays[0].targets[0].measured] == [
        (0.3, "IC50"),
        (0.3, "EC50"),
        (0.4, "IC50"),
    ]


def test_each_target_of_an_assay_has_its_own_outcome_and_values() -> None:
    """Mixing them would report one target's inactivity as another's activity."""
    table = parsed(
        ["1", "Active", "P1", "11", "0.3", "Ki"],
        ["1", "Inactive", "P2", "12", "50", "Ki"],
        ["1", "Inactive", "P1", "11", "0.4", "Ki"],
    )
    first, second = table.assays[0].targets
    assert (first.accession, first.outcome, [one.value for one in first.measured]) == ("P1", "Active", [0.3, 0.4])
    assert (second.accession, second.outcome, [one.value for one in second.measured]) == ("P2", "Inactive", [50.0])


def test_rows_that_name_no_target_belong_to_the_first_one() -> None:
    """They are no target of their own where the assay has one, wherever they stand."""
    table = parsed(
        ["1", "Unspecified", "", "", "9", "Hill"],
        ["1", "Active", "P1", "11", "0.3", "Ki"],
        ["1", "Active", "", "0", "8", "Hill"],
    )
    (target,) = table.assays[0].targets
    assert (target.outcome, [one.value for one in target.measured]) == ("Active", [0.3, 9.0, 8.0])


def test_papers_are_numbers_over_all_rows_largest_first() -> None:
    """Whether a cell can hold several is not documented, so every run of digits counts, once."""
    table = parsed(["1", "11; 30"], ["1", 30], ["1", ""], ["1", 200.0], columns=["AID", "PubMed ID"])
    assert table.assays[0].pmids == [200, 30, 11]


def test_pairs_come_from_rows_that_name_both() -> None:
    """A gene and an accession in one assay but in different rows are not paired."""
    table = parsed(
        ["1", "Active", "p23219", "5742"],
        ["2", "Active", "P35354", ""],
        ["2", "Active", "", "5743"],
    )
    assert (table.accessions_of, table.genes_of) == ({5742: {"P23219": None}}, {"P23219": {5742: None}})


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"Table": {}}',
        b'{"Table": {"Columns": {"Column": ["CID"]}, "Row": []}}',
        b'{"Table": {"Columns": {"Column": ["AID"]}, "Row": [{"Cell": "12"}]}}',
        b'{"Table": {"Columns": {"Column": ["AID"]}, "Row": [12]}}',
        b'{"Table": {"Columns": {"Column": ["AID"]}, "Row": [{"Cell": ["12"]',
        b'{"Fault": {"Code": "x"}}',
    ],
)
def test_what_is_no_table_is_told_and_never_empty(body: bytes) -> None:
    """An upstream fault must not read as a compound without assays."""
    with pytest.raises(UnexpectedAnswer):
        AssayTable.parse(body)


def test_a_table_without_rows_is_empty() -> None:
    """Columns alone say that there is nothing."""
    assert parsed().assays == []


TARGET = st.tuples(st.sampled_from(["", "P1", "P2", "p2"]), st.sampled_from(["", "0", "11", "12"]))
ROW = st.tuples(
    st.integers(1, 3), st.sampled_from(["Active", "Inactive"]), TARGET, st.sampled_from(["", "0", "0.5", "3"])
)


@given(st.lists(ROW, max_size=14))
def test_grouping_neither_loses_nor_mixes(rows: list[Any]) -> None:
    """Assays stand in the order of their first rows; targets are the pairs named; every value is with its own."""
    table = parsed(*([str(aid), outcome, *target, value, "Ki"] for aid, outcome, target, value in rows))
    assert [assay.aid for assay in table.assays] == list(dict.fromkeys(row[0] for row in rows))
    for assay in table.assays:
        own = [
            ((target[0].upper() or None, int(target[1] or 0) or None), outcome, value)
            for aid, outcome, target, value in rows
            if aid == assay.aid
        ]
        named = dict.fromkeys(pair for pair, _, _ in own if pair != (None, None)) or {(None, None): None}
        assert [(target.accession, target.gene) for target in assay.targets] == list(named)
        first = assay.targets[0]
        for target in assay.targets:
            pair = (target.accession, target.gene)
            assert target.outcome == next(outcome for other, outcome, _ in own if other == pair)
            theirs = {float(v) for other, _, v in own if v and (other == pair or (target is first and not any(other)))}
            assert {one.value for one in target.measured} == theirs


def test_a_large_table_loses_no_row() -> None:
    """Every assay and value of a table with thousands of rows is there."""
    body = large_table(3000)
    rows = [row["Cell"] for row in body["Table"]["Row"]]
    table = AssayTable.parse(json.dumps(body).encode())
    assert [str(assay.aid) for assay in table.assays] == list(dict.fromkeys(row[0] for row in rows))
    assert set(values(table)) == {float(row[7]) for row in rows if row[7]}
