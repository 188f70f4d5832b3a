"""Judge the slices of a file, and all of them together at its end."""

from __future__ import annotations

from decimal import Decimal
from itertools import compress
from typing import TYPE_CHECKING

from cardoffers_cli.domain.findings import CODES, Finding, make_finding
from cardoffers_cli.domain.tokens import look_rotated
from cardoffers_cli.files.plain.findings import RowFindings
from cardoffers_cli.files.plain.repeats import References
from cardoffers_cli.files.plain.rulebook import PlainRules
from cardoffers_cli.files.plain.tallies import LostZerosOfRows, NumberFormsOfRows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from cardoffers_cli.files.plain.slices import RowSlice
    from cardoffers_cli.files.plain.tallies import Doubt

_ACCEPTOR = "card_acceptor"
_CARD_NUMBER, _REF = "card_number", "transaction_ref"
_FIELDS = (
    *("cardholder_token", "card_token", "instrument_token", "card_acceptor_id"),
    *("merchant_identifier", "merchant_identifier_type", "merchant_id"),
    *("amount", "transaction_ref", "transacted_at"),
)


class PlainJudge:
    """What is known of a file by now; `position` is what its records are numbered by."""

    def __init__(
        self, *, now: datetime, currency: str | None, decimals: int, zone: str | None
    ) -> None:
        self.received = self.blank_lines = self.invalid = 0
        self.duplicates = self.conflicts = 0
        self.findings = RowFindings()
        self.rejected: list[int] = []
        self._rules = PlainRules(now=now, currency=currency, decimals=decimals, zone=zone)
        self._zeros = LostZerosOfRows()
        self._forms = NumberFormsOfRows()
        self._references = References()
        self._doubts: list[Doubt] = []
        self._doubtful: dict[int, tuple[str, str]] = {}
        self._amounts: dict[str, str] = _Amounts()

    def judge(self, rows: RowSlice) -> None:
        """Judge a slice of rows."""
        self.received += rows.lines - rows.blank_lines
        self.blank_lines += rows.blank_lines
        self._zeros.note(rows)
        bad = set[int]()
        wrong = {finding.line for finding in rows.findings if finding.level == "error"}
        for finding in rows.findings:
            self.findings.add(finding)
        references, mistyped = (self._column(rows, name) for name in (_REF, "mistyped"))
        for row, broken in self._rules.broken(rows):
            shown = self._rules.is_shown(references[row], mistyped[row])
            for rule in broken:
                level = CODES[rule.code].level
                number = rows.numbers[row]
                self.findings.add(
                    Finding(
                        number,
                        references[row] if shown else None,
                        rule.column,
                        rule.code,
                        level,
                        rule.message,
                    )
                )
                if level == "error":
                    bad.add(row)
        bad_numbers = wrong | {rows.numbers[row] for row in bad}
        self.invalid += len(bad_numbers)
        valid = self._without(rows, bad)
        doubts = self._forms.note(rows)
        self._doubts += doubts
        if doubts:
            self._note_doubtful(valid, {doubt.number for doubt in doubts})
        self._take(valid)

    def end(self, position: str) -> list[Finding]:
        """Judge the file as a whole, but for its header; return what is found of it."""
        self._refuse_card_numbers()
        for repeat in self._references.repeats():
            self.duplicates += 1
            self.conflicts += repeat.is_conflict
            code = CODES["duplicate_conflict" if repeat.is_conflict else "duplicate"]
            first = f": the first is {position} {repeat.first}" if repeat.is_conflict else ""
            self.findings.add(
                make_finding(
                    code.code,
                    f"{code.summary}{first}",
                    line=repeat.number,
                    transaction_ref=repeat.reference,
                    column=_REF,
                )
            )
        repeated = {repeat.number for repeat in self._references.repeats()}
        self.rejected = sorted(self.findings.error_lines() | repeated)
        return [*self._of_file()]

    def _of_file(self) -> Iterator[Finding]:
        if not self.received:
            yield make_finding("rows_missing", "the file has no rows")
        yield from self._zeros.findings()
        yield from self._forms.findings()
        if look_rotated(self.received, *self._references.cardholders()):
            yield make_finding("tokens_unstable", CODES["tokens_unstable"].summary)

    def _column(self, rows: RowSlice, name: str) -> Sequence[str]:
        return rows.columns.get(name) or ("",) * len(rows.numbers)

    def _without(self, rows: RowSlice, bad: set[int]) -> list[Sequence[str]]:
        """Return the numbers of the valid rows, and their `_FIELDS`."""
        columns = [rows.numbers, *(self._column(rows, name) for name in _FIELDS)]
        if bad:
            is_good = [row not in bad for row in range(len(rows.numbers))]
            columns = [[*compress(column, is_good)] for column in columns]
        return columns

    def _note_doubtful(self, valid: Sequence[Sequence[str]], numbers: set[int]) -> None:
        """Keep what must be taken out again of valid rows whose numbers turn out to be cards'."""
        for number, reference, cardholder in zip(valid[0], valid[9], valid[1], strict=True):
            if number in numbers:
                self._doubtful[number] = (reference, cardholder)

    def _take(self, valid: Sequence[Sequence[str]]) -> None:
        """Take the valid rows of a slice: their references, contents and cardholders."""
        (
            numbers,
            cardholders,
            cards,
            instruments,
            acceptors,
            named,
            types,
            ids,
            amounts,
            refs,
            ats,
        ) = valid
        moments = self._rules.derive.moments
        usual = moments.usual(ats)
        contents = zip(
            cardholders,
            _first_filled(instruments, cards),
            [
                (kind or _ACCEPTOR) if name else _ACCEPTOR if acceptor else ""
                for name, kind, acceptor in zip(named, types, acceptors, strict=True)
            ],
            _first_filled(named, acceptors),
            map(str.lower, ids),
            map(self._amounts.__getitem__, amounts),
            [moments[at][0] or "" for at in ats] if usual is None else usual,
            strict=True,
        )
        self._references.add(numbers, refs, contents, cardholders)

    def _refuse_card_numbers(self) -> None:
        """Make errors of the doubtful numbers that are of no form in which they are references."""
        forms = self._forms.references()
        refused, shown = [], {}
        for doubt in self._doubts:
            is_reference = any(
                form.field == doubt.field
                and form.length == doubt.key[0]
                and doubt.key[1].startswith(form.prefix)
                for form in forms
            )
            if not is_reference:
                refused.append(doubt)
            elif doubt.field == _REF:
                shown[doubt.number] = doubt.text
        if shown:
            self.findings.show_references(shown)
        hidden = {doubt.number for doubt in refused if doubt.field == _REF}
        numbers = {doubt.number for doubt in refused}
        rows = [(number, *self._doubtful[number]) for number in numbers if number in self._doubtful]
        self.invalid += len(rows)
        self._references.refuse(rows)
        for doubt in refused:
            staged = self._doubtful.get(doubt.number)
            reference = staged[0] if staged and doubt.number not in hidden else None
            self.findings.add(
                make_finding(
                    _CARD_NUMBER,
                    f"{doubt.field} is a real card number",
                    line=doubt.number,
                    transaction_ref=reference,
                    column=doubt.field,
                )
            )


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
