"""The rule table applied to slices of rows, in plain Python: which rules each row breaks.

Most values are proven good by the suspicions of the rules, and each value of a slice once: a rule
that reads one column is asked of its different values, one that reads several of the different
combinations of them. All of it is derived from the table of `files/rules.py`. What the rules read
beside texts is derived here, as `files/chunks.py` does for columns; a moment is ISO text in UTC,
which has the order of moments.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.row_kinds import PURCHASES
from cardoffers_cli.files import rules
from cardoffers_cli.files.fields import NUMBER
from cardoffers_cli.files.plain.times import Moments
from cardoffers_cli.files.predicates import predicate, searching
from cardoffers_cli.files.splitting import plain_line_ends

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from cardoffers_cli.files.conditions import Condition
    from cardoffers_cli.files.plain.slices import RowSlice
    from cardoffers_cli.files.predicates import Predicate
    from cardoffers_cli.files.rules import Rule, Suspicion

_DERIVED = {
    "at": "transacted_at",
    "assumed": "transacted_at",
    "value": "amount",
    "is_usual_amount": "amount",
}
"""What is derived -> the column that it is derived from."""

_AHEAD = timedelta(hours=24)
_MOST_KNOWN = 200_000
"""Values of a column that are remembered as good."""

Value = str | tuple[str, ...]


class PlainRules:
    """The rules with the limits of one reading."""

    def __init__(
        self, *, now: datetime, currency: str | None, decimals: int, zone: str | None
    ) -> None:
        self.moments = Moments(zone)
        self._limits: dict[str, Any] = {
            "decimals": decimals,
            "program_currency": currency,
            "latest": (now + _AHEAD).isoformat(),
            "is_alone": False,
            "caller": None,
        }
        fraction = rf"(?:\.[0-9]{{1,{decimals}}})?" if decimals else ""
        self._is_usual = searching(f"^[0-9]{{1,12}}{fraction}$")
        self._is_number = searching(NUMBER)
        self._table = tuple(rule for rule in rules.RULES if rule.holds_of(PURCHASES))
        self._shown = predicate(rules.shown_reference(PURCHASES.reference))
        self._books: dict[frozenset[str], _Book] = {}

    def broken(self, rows: RowSlice) -> Iterator[tuple[int, list[Rule]]]:
        """Yield the rows that break rules, by their place in the slice, with the causes."""
        if not rows.numbers:
            return
        present = frozenset(rows.columns)
        book = self._books.get(present)
        if book is None:
            book = self._books[present] = _Book(self._table, present, self._limits, self._row_of)
        found = book.broken(rows)
        for row in sorted(found):
            causes: dict[str, Rule] = {}
            for number in sorted(found[row]):
                rule = self._table[number]
                causes.setdefault(rule.cause, rule)
            yield row, [*causes.values()]

    def is_shown(self, reference: str, mistyped: str) -> bool:
        """Say whether a finding names the reference of its row."""
        row = {"transaction_ref": reference or None, "mistyped": mistyped or None}
        return self._shown(row) is True

    def _row_of(self, columns: Sequence[str], value: Value) -> Mapping[str, Any]:
        """Return a row of some columns, with what is derived from them, and the limits."""
        values = (value,) if isinstance(value, str) else value
        row = {**self._limits, **dict(zip(columns, (text or None for text in values), strict=True))}
        if text := row.get("transacted_at"):
            row["at"], row["assumed"] = self.moments[text]
        elif "transacted_at" in row:
            row["assumed"] = False
        if text := row.get("amount"):
            row["value"] = Decimal(text) if self._is_number(text) else None
            row["is_usual_amount"] = self._is_usual(text) is not None
        return row


class _Book:
    """The rules as they are asked of rows that have some columns."""

    def __init__(
        self,
        table: Sequence[Rule],
        present: frozenset[str],
        limits: Mapping[str, Any],
        row_of: Callable[[Sequence[str], Value], Mapping[str, Any]],
    ) -> None:
        self._always: list[int] = []
        self._groups: dict[tuple[str, ...], _Group] = {}
        for number, rule in enumerate(table):
            asked = [rule.broken, *(each.holds for each in rule.suspicions)]
            read = {_DERIVED.get(name, name) for each in asked for name in each.columns}
            columns = tuple(sorted(read & present))
            if columns:
                group = self._groups.setdefault(columns, _Group(columns, row_of))
                group.add(number, rule)
            elif predicate(rule.broken)(limits):
                self._always.append(number)

    def broken(self, rows: RowSlice) -> dict[int, list[int]]:
        """Return the rows that break rules, and the numbers of these."""
        found: dict[int, list[int]] = {}
        if self._always:
            found = {row: [*self._always] for row in range(len(rows.numbers))}
        for group in self._groups.values():
            for row, numbers in group.broken(rows):
                found.setdefault(row, []).extend(numbers)
        return found


class _Group:
    """The rules that read the same columns; `columns` are sorted, one or more."""

    def __init__(
        self,
        columns: tuple[str, ...],
        row_of: Callable[[Sequence[str], Value], Mapping[str, Any]],
    ) -> None:
        self._columns = columns
        self._row_of = row_of
        self._rules: list[tuple[int, Predicate]] = []
        self._suspicions: dict[Suspicion, None] = {}
        self._unsuspected: list[Condition] = []
        self._good: dict[bool, set[Value]] = {True: set(), False: set()}
        self._screens = cache(self._made_screens)

    def add(self, number: int, rule: Rule) -> None:
        """Add a rule by its number in the table."""
        self._rules.append((number, predicate(rule.broken)))
        self._suspicions |= dict.fromkeys(rule.suspicions)
        if not rule.suspicions:
            self._unsuspected.append(rule.broken)

    def broken(self, rows: RowSlice) -> Iterator[tuple[int, list[int]]]:
        """Yield the rows that break rules, and the numbers of these."""
        values = self._values(rows)
        suspicious = self._suspicious(set(values), is_plain=rows.is_plain or _are_plain(values))
        verdicts = {value: numbers for value in suspicious if (numbers := self._broken_by(value))}
        if verdicts:
            for row, value in enumerate(values):
                if value in verdicts:
                    yield row, verdicts[value]

    def _values(self, rows: RowSlice) -> Sequence[Value]:
        columns = [rows.columns[name] for name in self._columns]
        return columns[0] if len(columns) == 1 else [*zip(*columns, strict=True)]

    def _suspicious(self, values: set[Value], *, is_plain: bool) -> list[Value]:
        """Return the values that may break a rule, each of them once."""
        good = self._good[is_plain]
        new = [*(values - good)]
        left = [(value, self._row_of(self._columns, value)) for value in new]
        found = []
        for screen in self._screens(is_plain):
            doubted = [value for value, row in left if screen(row)]
            if doubted:
                found += doubted
                gone = set(doubted)
                left = [each for each in left if each[0] not in gone]
        if len(good) < _MOST_KNOWN and len(new) < len(values):
            good.update(value for value, _ in left)
        return found

    def _made_screens(self, is_plain: bool) -> list[Predicate]:
        held = (each for each in self._suspicions if not (each.unless_plain and is_plain))
        return [predicate(each) for each in (*(each.holds for each in held), *self._unsuspected)]

    def _broken_by(self, value: Value) -> list[int]:
        row = self._row_of(self._columns, value)
        return [number for number, is_broken in self._rules if is_broken(row)]


def _are_plain(values: Sequence[Value]) -> bool:
    """Say whether the texts of a column are plain, as `TextPage.is_plain` says of a page."""
    if not values or not isinstance(values[0], str):
        return False
    text = "\n".join(values)  # type: ignore[arg-type]
    return '"' not in text and plain_line_ends(text.encode(), ",") is not None
