"""Stores with a question that takes many minutes; the others are answered as ever.

What is endless looks at a million times a million rows, by what the store itself says is in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job

ENDLESS = "00000000-0000-8000-a000-000000000000"
"""An id that could be derived: each purchase's own is made to find out that it is nobody's."""

DERIVING = [
    "update imports set file_kind = 'call'",
    """
    create or replace macro transaction_id(institution_id, transaction_ref) as (
        select cast(max(tens.n) as varchar)
        from range(1_000_000) as tens(n), range(1_000_000) as ones(n)
        where hash(tens.n, ones.n) = 7
    )::uuid
    """,
]
"""Makes the search for `ENDLESS` endless."""

LOOKING = [
    "alter table rejects rename to kept_rejects",
    """
    create view rejects as
    select * from kept_rejects
    union all
    select kept_rejects.*
    from kept_rejects, range(1_000_000) as tens(n), range(1_000_000) as ones(n)
    where transaction_ref = 'free' and hash(tens.n, ones.n) = 7
    """,
]
"""Makes looking at a purchase endless: whether a row of its reference was rejected, like `free`."""


def grind(made: Job, statements: list[str]) -> Job:
    """Give the store of a job something endless."""
    with made.store() as store:
        for sql in statements:
            store.connection.execute(sql)
    return made
