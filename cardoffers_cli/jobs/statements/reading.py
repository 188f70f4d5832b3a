"""What is shown of statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.jobs.context.reading import reading
from cardoffers_cli.jobs.statements.closing import StatementTold, told_of
from cardoffers_cli.services.institutions import find_institution
from cardoffers_cli.services.statements import (
    StatedSettlement,
    find_statement,
    list_statements,
    settlements_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardoffers_cli.jobs.context.job import Job


class ShownStatement(StatementTold):
    """A statement with the settlements that it took."""

    settlements: Sequence[StatedSettlement]


def statement_rows(
    job: Job, institution: str | None, *, limit: int
) -> tuple[list[StatementTold], int]:
    """Return statements, the newest period first, and how many there are in all."""
    with reading(job) as source:
        owner = find_institution(source.store, institution).id if institution else None
        found = list_statements(source.store, institution_id=owner, limit=limit)
    return [told_of(each) for each in found], found[0].statements if found else 0


def show_statement(job: Job, number: str) -> ShownStatement:
    """Return one statement; raise `NotFound`."""
    with reading(job) as source:
        statement = find_statement(source.store, number)
        settlements = settlements_of(source.store, statement)
    told = told_of(statement)
    return ShownStatement.part({**told, "from_": told.from_}, settlements=settlements)
