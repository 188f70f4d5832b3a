"""The rule table applied to slices of rows, in plain Python: which rules each row breaks.

Most values are proven good by the suspicions of the rules, and each value of a slice once: a rule
that reads one column is asked of its different values, one that reads several of the different
combinations of them. All of it is derived from the table of `intake/rules.py`. What the rules read
beside texts is derived here, as `intake/chunks.py` does for columns; a moment is ISO text in UTC,
which has the order of moments.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake import rules
from cardoffers_cli.intake.conditions import (
    Condition,
    Exceeds,
    KnownTrue,
    Not,
    predicate,
    searching,
    settled,
)
from cardoffers_cli.intake.fields import NUMBER, TOKENS
from cardoffers_cli.intake.lines import plain_line_ends
from cardoffers_cli.intake.plain.clocks import Moments
from cardoffers_cli.intake.plain.slices import exceptions, proof
from cardoffers_cli.kernel.words.row_kinds import MERCHANTS, PURCHASES

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
    from datetime import datetime

    from cardoffers_cli.intake.conditions import Predicate
    from cardoffers_cli.intake.plain.slices import RowSlice
    from cardoffers_cli.intake.rules import Rule
    from cardoffers_cli.kernel.words.row_kinds import RowKind

_AHEAD = timedelta(hours=24)
_MOST_KNOWN = 200_000
"""Values of a column that are remembered as good."""

Value = str | tuple[str, ...]


class PlainRules:
    """The rules with the limits of one reading."""

    def __init__(
        self,
        kind: RowKind,
        *,
        now: datetime,
        currency: str | None,
        decimals: int,
        zone: str | None,
        is_table: bool = False,
    ) -> None:
        self.derive = Derive(kind, zone, decimals)
        self._limits: Mapping[str, Any] = {
            "decimals": decimals,
            "program_currency": currency,
            "latest": (now + _AHEAD).isoformat(),
            **dict.fromkeys((f"declared_{name}" for name in TOKENS), False),
            "caller": None,
        }
        self.is_nameless = False
        self._may_be_nameless = is_table and kind is PURCHASES
        self._table = tuple(rule for rule in rules.RULES if rule.holds_of(kind))
        self._reference = kind.reference
        self._shown = predicate(rules.shown_reference(kind.reference))
        self._books: dict[frozenset[str], _Book] = {}

    def broken(self, rows: RowSlice) -> Iterator[tuple[int, list[Rule]]]:
        """Yield the rows that break rules, by their place in the slice, with the causes."""
        if not rows.numbers:
            return
        present = frozenset(rows.columns)
        self.is_nameless = self._may_be_nameless and present.isdisjoint(MERCHANTS)
        book = self._books.get(present)
        if book is None:
            limits = {**self._limits, "is_nameless": self.is_nameless}
            book = self._books[present] = _Book(self._table, present, limits, self.derive)
        by_row = book.broken(rows)
        for row in sorted(by_row):
            causes: dict[str, Rule] = {}
            for number in sorted(by_row[row]):
                rule = self._table[number]
                causes.setdefault(rule.cause, rule)
            yield row, [*causes.values()]

    def is_shown(self, reference: str, mistyped: str) -> bool:
        """Say whether a finding names the reference of its row."""
        row = {self._reference: reference or None, "mistyped": mistyped or None}
        return self._shown(row) is True


class Derive:
    """What the rules read of a row beside its texts; `of` says what is derived of which column."""

    def __init__(self, kind: RowKind, zone: str | None, decimals: int) -> None:
        self.of = {
            **dict.fromkeys(("at", "assumed"), kind.moment),
            **dict.fromkeys(("value", "is_usual_amount"), "amount"),
        }
        self._moment = kind.moment
        self.moments = Moments(zone)
        fraction = rf"(?:\.[0-9]{{1,{decimals}}})?" if decimals else ""
        self._is_usual = searching(f"^[0-9]{{1,12}}{fraction}$")
        self._is_number = searching(NUMBER)

    def fill(self, row: MutableMapping[str, Any]) -> None:
        """Put what is derived of a row's texts beside them."""
        if self._moment in row:
            text = row[self._moment]
            row["at"], row["assumed"] = self.moments[text] if text else (None, False)
        if "amount" in row:
            text = row["amount"]
            row["value"] = Decimal(text) if text and self._is_number(text) else None
            row["is_usual_amount"] = self._is_usual(text) is not None if text else None


class _Book:
    """The rules as they are asked of rows that have some columns."""

    def __init__(
        self,
        table: Sequence[Rule],
        present: frozenset[str],
        limits: Mapping[str, Any],
        derive: Derive,
    ) -> None:
        self._present = present
        self._always: list[int] = []
        self._groups: dict[tuple[str, ...], _Group] = {}
        terms = [rule.broken for rule in table]
        terms += [test.holds for rule in table for test in rule.suspicions]
        self._of = derive.of
        read = {self._of.get(name, name) for term in terms for name in term.columns}
        absent = {*(read - present), *(name for name, of in self._of.items() if of not in present)}
        fixed = {**dict.fromkeys(absent), **limits}
        for number, rule in enumerate(table):
            broken = settled(rule.broken, fixed)
            suspicions = [(test, settled(test.holds, fixed)) for test in rule.suspicions]
            is_suspected = not any(value is True for _, value in suspicions)
            open_ones = {
                value: test.unless_plain
                for test, value in suspicions
                if isinstance(value, Condition)
            }
            if broken is True:
                self._always.append(number)
            elif isinstance(broken, Condition) and not (
                suspicions and is_suspected and not open_ones
            ):
                screens = open_ones if suspicions and is_suspected else {broken: False}
                self._add(number, broken, screens, limits, derive)

    def _add(
        self,
        number: int,
        broken: Condition,
        screens: Mapping[Condition, bool],
        limits: Mapping[str, Any],
        derive: Derive,
    ) -> None:
        """Add a rule to those that read the same columns."""
        read = {self._of.get(name, name) for term in (broken, *screens) for name in term.columns}
        columns = tuple(sorted(read & self._present))
        if columns not in self._groups:
            self._groups[columns] = _Group(columns, limits, derive)
        self._groups[columns].add(number, broken, screens)

    def broken(self, rows: RowSlice) -> dict[int, list[int]]:
        """Return the rows that break rules, and the numbers of these."""
        by_row: dict[int, list[int]] = {}
        if self._always:
            by_row = {row: [*self._always] for row in range(len(rows.numbers))}
        for group in self._groups.values():
            for row, numbers in group.broken(rows):
                by_row.setdefault(row, []).extend(numbers)
        return by_row


@dataclass(frozen=True, kw_only=True)
class _Screens:
    """What is asked of the values of a group: one by one, or of a column by one pattern.

    `run` proves all but what is `limited`, which the least and the greatest moment are asked.
    """

    asked: Sequence[Predicate]
    run: re.Pattern[str] | None
    limited: Sequence[Predicate]


class _Group:
    """The rules that read the same columns; `columns` are sorted, one or more."""

    def __init__(self, columns: tuple[str, ...], limits: Mapping[str, Any], derive: Derive) -> None:
        self._columns = columns
        self._row = dict(limits)
        self._derive = derive
        self._rules: list[tuple[int, Predicate]] = []
        self._suspicions: dict[Condition, bool] = {}
        self._good: dict[bool, set[Value]] = {True: set(), False: set()}
        self._screens = cache(self._made_screens)

    def add(self, number: int, broken: Condition, screens: Mapping[Condition, bool]) -> None:
        """Add a rule by its number; `screens` are its suspicions, each with its `unless_plain`."""
        self._rules.append((number, predicate(broken)))
        for condition, unless_plain in screens.items():
            self._suspicions[condition] = unless_plain and self._suspicions.get(condition, True)

    def broken(self, rows: RowSlice) -> Iterator[tuple[int, list[int]]]:
        """Yield the rows that break rules, and the numbers of these."""
        columns = [rows.columns[name] for name in self._columns]
        values: Sequence[Value] = columns[0] if len(columns) == 1 else [*zip(*columns, strict=True)]
        is_plain = rows.is_plain or _are_plain(columns)
        screens = self._screens(is_plain)
        suspects: Iterable[Value] | None = None
        if screens.run and len(columns) == 1 and self._is_within(columns[0], screens.limited):
            suspects = exceptions(columns[0], screens.run)
        if suspects is None:
            suspects = self._suspicious(values, self._good[is_plain], screens.asked)
        verdicts: dict[Value, list[int]] = {}
        for value in suspects:
            cells = self._row_of(value)
            if numbers := [number for number, is_broken in self._rules if is_broken(cells)]:
                verdicts[value] = numbers
        if verdicts:
            for row, value in enumerate(values):
                if value in verdicts:
                    yield row, verdicts[value]

    def _suspicious(
        self, values: Sequence[Value], good: set[Value], screens: Sequence[Predicate]
    ) -> list[Value]:
        """Return the values that may break a rule, each of them once."""
        new = set(values) - good
        suspects = []
        for value in new:
            row = self._row_of(value)
            for screen in screens:
                if screen(row):
                    suspects.append(value)
                    break
        if len(good) < _MOST_KNOWN and len(new) * 2 < len(values):
            good.update(new.difference(suspects))
        return suspects

    def _is_within(self, texts: Sequence[str], limited: Sequence[Predicate]) -> bool:
        """Whether the first and the last moment of a column are within limits, and so all are."""
        if not limited:
            return True
        moments = self._derive.moments.usual(texts)
        if not moments:
            return False
        rows = [{**self._row, "at": moment} for moment in (min(moments), max(moments))]
        return not any(exceeds(row) for exceeds in limited for row in rows)

    def _made_screens(self, is_plain: bool) -> _Screens:
        terms = [term for term, but in self._suspicions.items() if not (but and is_plain)]
        limited = [term for term in terms if _is_limit(term)]
        return _Screens(
            asked=[*map(predicate, terms)],
            run=proof(term for term in terms if term not in limited),
            limited=[*map(predicate, limited)],
        )

    def _row_of(self, value: Value) -> Mapping[str, Any]:
        """Return the row of these columns; there is one, which is filled again and again."""
        if isinstance(value, str):
            self._row[self._columns[0]] = value or None
        else:
            self._row.update(zip(self._columns, (text or None for text in value), strict=True))
        self._derive.fill(self._row)
        return self._row


def _is_limit(condition: Condition) -> bool:
    """Whether a condition asks nothing but whether the moment of a row exceeds a limit."""
    while isinstance(condition, Not | KnownTrue):
        condition = condition.condition
    return isinstance(condition, Exceeds) and condition.column == "at"


def _are_plain(columns: Sequence[Sequence[str]]) -> bool:
    """Say whether the texts of columns are plain, as `TextPage.is_plain` says of a page."""
    text = "\n".join(chain.from_iterable(columns))
    texts = sum(map(len, columns))
    return '"' not in text and plain_line_ends(text.encode(), ",") == texts - 1
