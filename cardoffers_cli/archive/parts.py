"""The parts of an archive, and which of them are to become one.

Whoever reads an archive looks into every part, and each night adds some. They are merged as digits
are carried in counting: ten parts of a table whose numbers of rows have as many digits become one,
which has more. So there are some nine of a size at most, and a row is written anew at most once for
each digit that its part gains. A part of ten million rows is large: it is no slower to read than
the same rows in a larger one, so it stays, and a row was then written seven times at most.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    Choice = Callable[[Sequence["Part"]], list["Part"]]
    """Says which parts of a table are to become one."""

TABLES = ("purchases", "purchase_details", "decisions", "outcomes")
"""The tables that an archive has parts of."""

MANY = 10
LARGE_ROWS = 10_000_000


class Sums(Record):
    """What tells rows that came whole: how many, and what their numbers and amounts come to."""

    row_count: int
    purchase_no_sum: int | Decimal
    amount: Decimal | None


class Part(Sums):
    """One table's rows of one run, in a folder of their own."""

    table_name: str
    run_id: UUID


def due(parts: Sequence[Part]) -> list[Part]:
    """Return the small parts of a table of whose size there are many."""
    few_rows = [part for part in parts if part.row_count < LARGE_ROWS]
    sizes = Counter(len(str(part.row_count)) for part in few_rows)
    return [part for part in few_rows if sizes[len(str(part.row_count))] >= MANY]


def small(parts: Sequence[Part]) -> list[Part]:
    """Return the small parts of a table, if there are several."""
    few_rows = [part for part in parts if part.row_count < LARGE_ROWS]
    return few_rows if len(few_rows) > 1 else []


def total(sums: Sequence[Sums]) -> Sums:
    """Return what several parts of a table come to together."""
    amounts = [each.amount for each in sums if each.amount is not None]
    return Sums(
        row_count=sum(each.row_count for each in sums),
        purchase_no_sum=sum(each.purchase_no_sum for each in sums),
        amount=sum(amounts, Decimal(0)) if amounts else None,
    )
