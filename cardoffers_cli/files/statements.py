"""The CSV file of a statement, whose bytes never change: its digest is part of the next one.

It is one table, so that any program reads it: rows of its head, its lines, and rows of its end,
each with its `kind`. Amounts stand in the column of amounts where they add up, carried_in + entry
lines + adjustment lines = payable + carried_out, and everything else in `value`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.files.sheets import cell_text, read_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

STATED = read_columns("statement.lines")
"""The columns of the lines; the file has `value` behind them."""

HEAD = (
    *("number", "institution_id", "from", "to", "previous_number", "previous_sha256"),
    *("entries", "adjustments"),
)
"""What the head says, in its order, under the names that JSON has."""

_HEADER = ",".join([*(column.name for column in STATED), "value"])


def statement_csv(statement: Mapping[str, Any], lines: Iterable[Sequence[str]]) -> Iterator[bytes]:
    """Yield the file of a statement piece by piece; `lines` are those of its lines, as CSV."""
    currency = statement["currency"]
    head = (_row(name, currency, value=cell_text(statement[name])) for name in HEAD)
    carried_in = _amount("carried_in", statement)
    yield _joined([_HEADER, *head, carried_in])
    for some in lines:
        yield _joined(some)
    yield _joined([_amount("carried_out", statement), _amount("payable", statement)])


def _amount(name: str, statement: Mapping[str, Any]) -> str:
    return _row(name, statement["currency"], amount=cell_text(statement[name]))


def _row(kind: str, currency: str, *, amount: str = "", value: str = "") -> str:
    """Write a row that is no line; what stands in it needs no quotes."""
    return f"{kind},,,,,,,{currency},,,{amount},{value}"


def _joined(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
