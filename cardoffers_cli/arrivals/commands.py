"""`cardoffers arrivals`: which expected files came, and which did not."""

from typing import Any

import typer

from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import AnyInstitution, From, To
from cardoffers_cli.kernel.cli.show import Sheet


def arrivals(
    ctx: typer.Context,
    *,
    institution: AnyInstitution = None,
    from_at: From = None,
    to_at: To = None,
) -> None:
    """Show which expected files came in time, late or not at all, and which come next."""
    from cardoffers_cli.arrivals.work import Arrival
    from cardoffers_cli.arrivals.work import arrivals as look

    context = CommandContext.of(ctx)
    period: dict[str, Any] = {"from_at": from_at, "to_at": to_at}
    rows = look(context.job, institution, **period)
    if not rows:
        context.note(
            "No file was expected then. `cardoffers institution set INST --expects "
            "'*.csv by 01:00 Europe/London on weekdays'` says what is."
        )
    context.show(rows, Sheet.of(Arrival, "arrivals", rows))
