"""Judge the slices of a file, and all of them together at its end."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import compress
from types import MappingProxyType
from typing import TYPE_CHECKING

from cardoffers_cli.intake.conditions import MISTYPED
from cardoffers_cli.intake.headers import nameless
from cardoffers_cli.intake.plain.findings import (
    LostZerosOfRows,
    References,
    RowFindings,
    note_numbers,
)
from cardoffers_cli.intake.plain.rulebook import PlainRules
from cardoffers_cli.intake.profiles.written import refunds_told
from cardoffers_cli.kernel.words.card_forms import NumberEvidence
from cardoffers_cli.kernel.words.findings import CODES, Finding, make_finding
from cardoffers_cli.kernel.words.ids import look_rotated
from cardoffers_cli.kernel.words.row_kinds import IDS, PURCHASES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from cardoffers_cli.intake.plain.findings import CheckDigitHit
    from cardoffers_cli.intake.plain.slices import RowSlice
    from cardoffers_cli.kernel.words.row_kinds import RowKind

_ACCEPTOR = "card_acceptor"
_LOOK_ALIKE = CODES["look_alike"]
_DAY, _SECOND = len("YYYY-MM-DD"), len("YYYY-MM-DDTHH:MM:SS")
_CARD_NUMBER = "card_number"
_NO_TIME = "timestamp_invalid"


class PlainJudge:
    """What is known by now of a file of a kind of rows.

    `messages` are what is said of codes in its layout, where something else than the rules say.
    Refunds that are `among` purchases are judged by themselves, but what the numbers of both look
    like holds of both. Times are bare dates where the layout `has_days`. `findings` are
    added to those of other rows, if there are any.
    """

    def __init__(
        self,
        kind: RowKind,
        *,
        is_table: bool,
        has_days: bool,
        now: datetime,
        currency: str | None,
        decimals: int,
        zone: str | None,
        messages: Mapping[str, str] = MappingProxyType({}),
        among: PlainJudge | None = None,
        findings: RowFindings | None = None,
    ) -> None:
        self.received = self.blank_lines = self.invalid = 0
        self.duplicates = self.conflicts = self.look_alikes_by_date = 0
        self.findings = findings or RowFindings()
        self.lines: set[int] | None = set() if among else None
        self._has_days = has_days
        self.kind = kind
        self._messages = messages
        self._rules = PlainRules(
            kind, now=now, currency=currency, decimals=decimals, zone=zone, is_table=is_table
        )
        self._zeros = LostZerosOfRows()
        self.numbers: NumberEvidence = among.numbers if among else NumberEvidence()
        self._references = References()
        self._doubts: list[CheckDigitHit] = []
        self._doubtful: dict[int, tuple[str, str]] = {}
        self._amounts: dict[str, str] = _Amounts()

    def judge(self, rows: RowSlice) -> None:
        """Judge a slice of rows."""
        self.received += rows.lines - rows.blank_lines
        self.blank_lines += rows.blank_lines
        self._zeros.note(rows)
        if self.lines is not None:
            self.lines.update(rows.numbers)
        bad = set[int]()
        wrong = {finding.line for finding in rows.findings if finding.level == "error"}
        for finding in rows.findings:
            self.findings.add(finding)
        references, mistyped = (
            self._column(rows, name) for name in (self.kind.reference, MISTYPED)
        )
        for row, broken in self._rules.broken(rows):
            is_shown = self._rules.is_shown(references[row], mistyped[row])
            for rule in broken:
                level = CODES[rule.code].level
                number = rows.numbers[row]
                code = rule.code
                if code == _NO_TIME:
                    code = rows.faults.get(number, code)
                self.findings.add(
                    Finding(
                        number,
                        references[row] if is_shown else None,
                        rule.column,
                        code,
                        level,
                        self._messages.get(code, rule.message),
                    )
                )
                if level == "error":
                    bad.add(row)
        bad_numbers = wrong | {rows.numbers[row] for row in bad}
        bad |= {row for row, number in enumerate(rows.numbers if wrong else ()) if number in wrong}
        self.invalid += len(bad_numbers)
        valid = self._valid(rows, bad)
        doubts = note_numbers(self.numbers, self.kind, rows)
        self._doubts += doubts
        if doubts:  # what must be taken out again where the numbers turn out to be cards'
            names, numbers = (self.kind.reference, "cardholder_token"), {d.number for d in doubts}
            value_rows = zip(*(self._column(valid, name) for name in names), strict=True)
            numbered = zip(valid.numbers, value_rows, strict=True)
            self._doubtful |= {number: values for number, values in numbered if number in numbers}
        self._take(valid)

    def end(self, position: str, *, refunds: int = 0) -> list[Finding]:
        """Judge the file as a whole, but for its header; return what is found of it.

        So many `refunds` are among its rows, which are judged by themselves.
        """
        self._refuse_card_numbers()
        for repeat in self._references.repeats():
            self.duplicates += 1
            self.conflicts += repeat.is_conflict
            code = CODES["duplicate_conflict" if repeat.is_conflict else "duplicate"]
            first = f": the first is {position} {repeat.first}" if repeat.is_conflict else ""
            message = f"{code.summary}{first}"
            self._note(code.code, message, repeat.number, repeat.reference, self.kind.reference)
        for alike, is_by_date in self._references.alike():
            self.look_alikes_by_date += is_by_date
            if not is_by_date:
                message = f"{_LOOK_ALIKE.summary}: the first is {position} {alike.first}"
                own = self.kind.reference
                self._note(_LOOK_ALIKE.code, message, alike.number, alike.reference, own)
        return [*self._of_file(refunds)]

    def _note(self, code: str, message: str, line: int, reference: str | None, column: str) -> None:
        self.findings.add(
            make_finding(code, message, line=line, transaction_ref=reference, column=column)
        )

    @property
    def earning(self) -> int:
        """How many of the rows that can be taken name a merchant."""
        if self._rules.is_nameless:
            return 0
        lost = self.findings.error_lines() | self.repeated()
        return self.received - self.invalid - self.duplicates - len(self.findings.nameless() - lost)

    def repeated(self) -> set[int]:
        """Return the lines of the rows whose reference was there before."""
        return {repeat.number for repeat in self._references.repeats()}

    def _of_file(self, refunds: int) -> Iterator[Finding]:
        if not self.received and not refunds:
            yield make_finding("rows_missing", "the file has no rows")
        if self._rules.is_nameless:
            yield nameless()
        yield from self._zeros.findings()
        yield from self.numbers.findings()
        if refunds:
            yield refunds_told(refunds)
        if self.kind is PURCHASES and look_rotated(self.received, *self._references.cardholders()):
            yield make_finding("tokens_unstable", CODES["tokens_unstable"].summary)

    def _column(self, rows: RowSlice, name: str) -> Sequence[str]:
        return rows.columns.get(name) or ("",) * len(rows.numbers)

    def _valid(self, rows: RowSlice, bad: set[int]) -> RowSlice:
        """Leave the bad rows out."""
        if not bad:
            return rows
        is_good = [row not in bad for row in range(len(rows.numbers))]
        columns = {name: [*compress(texts, is_good)] for name, texts in rows.columns.items()}
        return replace(rows, numbers=[*compress(rows.numbers, is_good)], columns=columns)

    def _take(self, valid: RowSlice) -> None:
        """Take the valid rows of a slice: their references, contents and cardholders."""
        column, kind = partial(self._column, valid), self.kind
        named, acceptors = column("merchant_identifier"), column("card_acceptor_id")
        types, ats = column("merchant_identifier_type"), column(kind.moment)
        moments = self._rules.derive.moments
        usual = moments.usual(ats)
        columns = [
            column("cardholder_token"),
            _first_filled(column("instrument_token"), column("card_token")),
            [
                (of_kind or _ACCEPTOR) if name else _ACCEPTOR if acceptor else ""
                for name, of_kind, acceptor in zip(named, types, acceptors, strict=True)
            ],
            _first_filled(named, acceptors),
            [*map(str.lower, column("merchant_id"))],
            [*map(self._amounts.__getitem__, column("amount"))],
        ]
        times = [moments[at][0] or "" for at in ats] if usual is None else usual
        contents = zip(
            *(*columns, times),
            *(
                [*map(str.lower, column(name))]
                if name in IDS
                else [text or default or "" for text in column(name)]
                for name, default in kind.further.items()
            ),
            strict=True,
        )
        references = column(kind.reference)
        holders = column("cardholder_token")
        if kind is not PURCHASES:
            self._references.add(valid.numbers, references, contents, holders)
            return
        looks = zip(*columns, [time[:_SECOND] for time in times], strict=True)
        days = [self._has_days or len(at) == _DAY for at in ats]
        self._references.add(
            valid.numbers, references, contents, holders, looks=looks, by_date=days
        )

    def _refuse_card_numbers(self) -> None:
        """Make errors of the doubtful numbers that are card numbers by all those of the file."""
        verdicts = {form: self.numbers.is_refused(form) for form in {d.form for d in self._doubts}}
        refused = dict.fromkeys((d.number, d.form.field) for d in self._doubts if verdicts[d.form])
        own = self.kind.reference
        hidden = {number for number, field in refused if field == own}
        references = {
            doubt.number: doubt.text
            for doubt in self._doubts
            if doubt.form.field == own and doubt.number not in hidden
        }
        if references:
            self.findings.show_references(references)
        numbers = {number for number, _ in refused}
        rows = [(number, *self._doubtful[number]) for number in numbers if number in self._doubtful]
        self.invalid += len(rows)
        self._references.refuse(rows)
        for number, field in refused:
            staged = self._doubtful.get(number)
            reference = staged[0] if staged and number not in hidden else None
            self._note(_CARD_NUMBER, f"{field} is a real card number", number, reference, field)


def _first_filled(texts: Sequence[str], others: Sequence[str]) -> Sequence[str]:
    if not any(texts):
        return others
    return [text or other for text, other in zip(texts, others, strict=True)]


class _Amounts(dict[str, str]):
    """Amounts written in one way for each value."""

    def __missing__(self, text: str) -> str:
        value = str(Decimal(text).normalize())
        if len(self) < _MOST_AMOUNTS:
            self[text] = value
        return value


_MOST_AMOUNTS = 1_000_000
