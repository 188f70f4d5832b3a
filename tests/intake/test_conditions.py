"""A condition is the same of a row in plain Python and of columns in polars."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from itertools import product
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardoffers_cli.intake import conditions, fields
from cardoffers_cli.intake.conditions import (
    Condition,
    Differs,
    Exceeds,
    Flagged,
    KnownTrue,
    Matches,
    Missing,
    Mistyped,
    MoreDecimals,
    OneOf,
    Sized,
    TextTest,
    predicate,
    settled,
)
from cardoffers_cli.intake.plain.slices import exceptions, proof
from cardoffers_cli.intake.rulebook import TOLD, expression
from cardoffers_cli.intake.rules import RULES, shown_reference
from sizes import slow, tries

if TYPE_CHECKING:
    from collections.abc import Iterator

NOON = datetime(2026, 11, 1, 12)  # noqa: DTZ001 - moments are naive UTC inside the product
FLAGS = [
    *("is_alone", "is_usual_amount", "assumed", "is_nameless"),
    *(f"declared_{name}" for name in ("cardholder_token", "card_token", "instrument_token")),
]
KINDS: dict[str, Any] = {
    "value": pl.Decimal(18, 4),
    "at": pl.Datetime("us"),
    "latest": pl.Datetime("us"),
    "decimals": pl.UInt32,
    **dict.fromkeys(FLAGS, pl.Boolean),
}
"""The columns that are not text."""

NASTY = [
    *("", " ", "\n", "a\n", "\na", "a\r", "\x1c", "\x1f", "\x85", "\xa0", "\u2003a", "a\u3000"),
    *("\u200b", "\ufeff", "\u061c", "\u180e", "\x00", "\x7f", "\x9f", "\xa1", "é", "e\u0301"),
    *("\u0664" * 13, "٣", "\U0001f355", "\U0010ffff", "İ", "ß", "K", "\\", "$", "^", "|a|"),
    *("a@b.cc", "a@b.cc\n", " a@b.cc ", "\x1ca@b.cc", "a\x1d@b.cc", "a@b", "@", "a b@c.dd"),
    *("NULL", "null\n", "N/A", "#N/A", "#REF!", "nan", "-", "----", "-----", "\\N", "##", "None"),
    *("5.2E+14", "5,2e+14\n", "='0'", '"1"', "'1", " 1", "1 ", "1\n", "\x1c1", "1\x1c", "1\x85"),
    *("4111111111111111", "4111 1111 1111 1111", "4111\u20101111\u20101111\u20101111"),
    *("4111111111111111\n", "of 4111111111111111!", "498750000000129", "378282246310005", "4" * 64),
    *("12.50", "12.500\n", "-1", "-0", "0", "0.0", "1.", ".1", "1e3", "9" * 13, "0" * 20 + "1.25"),
    *("2026-03-18T13:12:54Z", "2026-03-18t13:12Z\n", "2026-02-30", "2026-03-18", "20260318"),
    *("2026-03-18 13:12:54,5+0200", "2026-03-18T24:00:00Z", "\u0662026-03-18", "1969-01-01"),
    *(
        "card",
        "Card",
        "card_acceptor",
        "GBP",
        "gbp",
        "EUR\n",
        "0f8fad5b-d9cb-469f-a165-70867728950e",
    ),
    *("unknown", "(missing)", "x" * 31, "x" * 32, "t" * 128, "t" * 129, "é" * 128, "t" * 257),
]
PATTERNS = {
    name: value
    for name, value in vars(fields).items()
    if isinstance(value, str) and value.startswith(("^", "[^", "[\\"))
}


def both(condition: Condition, rows: list[dict[str, Any]]) -> tuple[list[Any], list[Any]]:
    """Return what the two readings tell of rows."""
    names = sorted({*condition.columns, *(name for row in rows for name in row)})
    columns = {
        name: pl.Series([row.get(name) for row in rows], dtype=KINDS.get(name, pl.String))
        for name in names
    }
    told = pl.DataFrame(columns).select(expression(condition).alias("told"))["told"]
    return [*map(predicate(condition), rows)], told.to_list()


def _conditions(kind: type[Condition] = Condition) -> Iterator[type[Condition]]:
    for each in kind.__subclasses__():
        yield each
        yield from _conditions(each)


EVERY_KIND: list[Condition] = [
    Missing("a") & Flagged("assumed"),
    Missing("a") | Flagged("assumed"),
    ~Flagged("assumed"),
    KnownTrue(Flagged("assumed")),
    Missing("a"),
    Matches("a", fields.SPREADSHEET),
    OneOf("a", ("card", "GBP")),
    Sized("a", 1, 3),
    Sized("a", 1, 3, in_bytes=True),
    Flagged("assumed"),
    Mistyped("a"),
    Differs("a", "b"),
    Differs("a", "b", in_any_case=True),
    Exceeds("at", "latest"),
    Exceeds("decimals", 1),
    MoreDecimals("a", "decimals"),
    *(TextTest("a", by) for by in TOLD),
]


def test_every_kind_is_told_below() -> None:
    used = {type(each) for each in EVERY_KIND}
    assert set(_conditions()) == used, "add the kind to EVERY_KIND"


ROWS: list[dict[str, Any]] = [
    {"a": a, "b": b, "assumed": flag, "mistyped": mistyped, "at": at, "latest": NOON, "decimals": n}
    for (a, b), flag, mistyped, (at, n) in product(
        [(None, "x"), ("card", "Card"), ("12.50", None), ("1.125", "1.125"), ("éé", "É\u0301")],
        [None, True, False],
        [None, "|a|b|", "|ab|"],
        [(None, 2), (NOON, None), (NOON + timedelta(seconds=1), 1)],
    )
]


@pytest.mark.parametrize("condition", EVERY_KIND)
def test_a_kind_of_condition_is_the_same_of_rows_and_of_columns(condition: Condition) -> None:
    plain, columnar = both(condition, ROWS)
    assert columnar == plain


@pytest.mark.parametrize(("one", "other"), [*product([None, True, False], repeat=2)], ids=str)
def test_what_is_unknown_stays_so(one: bool | None, other: bool | None) -> None:
    rows = [{"is_alone": one, "assumed": other}]
    first, second = Flagged("is_alone"), Flagged("assumed")
    for condition in (first & second, first | second, ~first, ~(first | ~second), KnownTrue(first)):
        plain, columnar = both(condition, rows)
        assert columnar == plain


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_means_the_same_to_both(name: str) -> None:
    plain, columnar = both(Matches("a", PATTERNS[name]), [{"a": text} for text in NASTY])
    assert columnar == plain


@pytest.mark.parametrize(
    ("pattern", "text"), [("^1$", "1\n"), (r"^\s", "\x1c1"), (r"[\s]", "\x1f")]
)
def test_what_python_reads_otherwise_is_among_them(pattern: str, text: str) -> None:
    assert re.search(pattern, text)
    assert ([False], [False]) == both(Matches("a", pattern), [{"a": text}])


CELLS = st.none() | st.sampled_from(NASTY) | st.text(max_size=20)
WHOLE_ROWS = st.fixed_dictionaries(
    dict.fromkeys((*fields.ALL_COLUMNS, fields.OTHERS, "caller", "program_currency"), CELLS)
    | {
        "mistyped": st.none() | st.sampled_from(["|mcc|", "|amount|", "|transaction_ref|amount|"]),
        "at": st.sampled_from([None, NOON, NOON + timedelta(days=2)]),
        "latest": st.just(NOON),
        "value": st.none() | st.decimals(0, 5, places=2),
        "decimals": st.sampled_from([0, 2, 3]),
    }
    | dict.fromkeys(FLAGS, st.none() | st.booleans())
)
ASKED = [
    shown_reference("transaction_ref"),
    *(rule.broken for rule in RULES),
    *(each.holds for rule in RULES for each in rule.suspicions),
]


@slow
@settings(max_examples=tries(15, 60), deadline=None)
@given(rows=st.lists(WHOLE_ROWS, min_size=1, max_size=15))
def test_the_rules_are_the_same_of_rows_and_of_columns(rows: list[dict[str, Any]]) -> None:
    for condition in ASKED:
        plain, columnar = both(condition, rows)
        assert columnar == plain, condition


@settings(max_examples=tries(15, 60), deadline=None)
@given(
    row=WHOLE_ROWS, known=st.sets(st.sampled_from(sorted(set().union(*(e.columns for e in ASKED)))))
)
def test_what_is_settled_of_some_columns_is_what_it_comes_to(
    row: dict[str, Any], known: set[str]
) -> None:
    for condition in ASKED:
        left = settled(condition, {name: row.get(name) for name in known})
        told = predicate(left)(row) if isinstance(left, Condition) else left
        assert predicate(condition)(row) == told, (condition, left)


TOLD_BY_PATTERN = [
    Missing("a"),
    ~Sized("a", 2, 8),
    ~KnownTrue(Sized("a", 2, 8)),
    ~OneOf("a", ("card", "N/A", "12.50")),
    *(Matches("a", each) for each in PATTERNS.values()),
    *(each for each in ASKED if isinstance(each, TextTest)),
]


@pytest.mark.parametrize("condition", TOLD_BY_PATTERN)
def test_a_pattern_proves_no_text_that_is_suspicious(condition: Condition) -> None:
    run = proof([condition])
    assert run
    texts = [text for text in NASTY if text.isascii() and "\n" not in text]
    (column,) = condition.columns
    suspicious = {text for text in texts if predicate(condition)({column: text or None})}
    assert suspicious <= (exceptions(texts, run) or set())
    assert set() == exceptions([], run)
    good = [each for each in texts if each not in suspicious]
    assert exceptions(good, run) != {*good}, "it proves nothing"


@pytest.mark.parametrize("texts", [["é"], ["a\nb"]])
def test_texts_that_no_pattern_tells_apart_are_not_proven(texts: list[str]) -> None:
    run = proof([Missing("a")])
    assert run
    assert exceptions(texts, run) is None


def test_what_no_pattern_says_has_no_proof() -> None:
    assert proof([Missing("a"), Exceeds("at", "latest")]) is None


def test_every_told_function_has_one_for_columns() -> None:
    def told(condition: Condition) -> Iterator[TextTest]:
        if isinstance(condition, TextTest):
            yield condition
        for value in vars(condition).values():
            if isinstance(value, Condition):
                yield from told(value)

    assert {each.by for condition in ASKED for each in told(condition)} <= TOLD.keys()


def test_a_kind_that_is_not_known_is_refused() -> None:
    for make in (predicate, expression):
        with pytest.raises(TypeError, match="Condition"):
            make(conditions.Condition())
