"""`cardoffers doctor`: what must not be in a store, asked of the whole of it."""

from typing import TYPE_CHECKING, Annotated

import typer

from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import option
from cardoffers_cli.kernel.cli.show import Sheet, Text
from cardoffers_cli.kernel.words import json_text

if TYPE_CHECKING:
    from cardoffers_cli.storage.doctor import DoctorReport


def doctor(
    ctx: typer.Context,
    *,
    strict: Annotated[
        bool, option("Every audit; without it the quick ones only.", "--strict")
    ] = False,
) -> None:
    """Audit the store: sums, references, states, limits, card numbers, journal. Changes nothing."""
    from cardoffers_cli.storage.doctor import Audit, names
    from cardoffers_cli.storage.doctor import doctor as look

    context = CommandContext.of(ctx)
    with context.progress("Auditing", total=len(names(strict=strict))) as bar:
        check = look(context.job, strict=strict, tell=lambda _name: bar.advance())
    rows = [
        {**audit, "example": audit.example and json_text.dumps(audit.example)}
        for audit in check.audits
    ]
    context.show(
        check, Sheet.of(Audit, "audits", rows), Text([_said(check)]), exit_code=0 if check.ok else 3
    )


def _said(report: "DoctorReport") -> str:
    failed = [audit.name for audit in report.audits if not audit.ok]
    if not failed:
        return f"All {len(report.audits)} audits are clean."
    return (
        f"{len(failed)} of {len(report.audits)} audits found something: {', '.join(failed)}. "
        "Keep the store as it is, and look at the examples before anything else runs on it."
    )
