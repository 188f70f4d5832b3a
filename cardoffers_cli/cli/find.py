"""`cardoffers find`: what was received, by what somebody remembers of it."""

from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardoffers_cli.cli.desk import Desk
from cardoffers_cli.cli.options import From, Institution, Limit, Raw, To, moment
from cardoffers_cli.cli.show import Column, Sheet
from cardoffers_cli.cli.typed import typed
from cardoffers_cli.domain.counting import counted
from cardoffers_cli.domain.errors import UsageError
from cardoffers_cli.domain.moments import format_moment
from cardoffers_cli.domain.tokens import ELLIPSIS, SHOWN_AT_EACH_END

if TYPE_CHECKING:
    from cardoffers_cli.services.search import Wanted

FOUND = (
    Column("kind", gives_way=6),
    Column("transaction_ref"),
    Column("state"),
    Column("transacted_at", kind="moment", gives_way=1),
    Column("amount", kind="money"),
    Column("currency", gives_way=2),
    Column("merchant_name", "merchant", gives_way=3),
    Column("merchant_identifier", gives_way=8),
    Column("cardholder_token_masked", "cardholder", gives_way=4),
    Column("redemption_id", gives_way=9),
    Column("received_at", kind="moment", gives_way=7),
    Column("file", gives_way=10),
    Column("line", kind="integer", gives_way=11),
    Column("code", gives_way=5),
)


class State(StrEnum):
    """How far something that was received can be."""

    not_matched_yet = "not_matched_yet"
    merchant_unresolved = "merchant_unresolved"
    not_redeemed = "not_redeemed"
    pending = "pending"
    settled = "settled"
    reversed = "reversed"
    rejected = "rejected"
    duplicate = "duplicate"
    duplicate_conflict = "duplicate_conflict"


def exact(value: str | None) -> Decimal | None:
    """Read an option's amount: digits, and decimals if there are any."""
    try:
        number = Decimal(value) if value is not None else None
    except InvalidOperation:
        number = Decimal("NaN")
    if number is not None and not (number.is_finite() and number >= 0):
        raise typer.BadParameter(f"{value!r} is no amount; write 12.50")
    return number


def day(value: str | None) -> datetime | None:
    """Read an option's day."""
    found = moment(value)
    if found is not None and found != datetime.combine(found, datetime.min.time()):
        raise typer.BadParameter(f"{value!r} is no day; write 2026-03-01, or use --from and --to")
    return found


def find(
    ctx: typer.Context,
    *,
    institution: Institution,
    ref: Annotated[
        str | None, typer.Option(help="The reference; * and ? stand for any letters.")
    ] = None,
    cardholder: Annotated[
        str | None,
        typer.Option(
            metavar="abcd…wxyz|-", help="A masked token, or - for a full one on standard input."
        ),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A full token, in a file of mode 0600.")
    ] = None,
    redemption: Annotated[str | None, typer.Option(metavar="ID", help="A redemption.")] = None,
    merchant: Annotated[
        str | None, typer.Option(help="Part of a merchant's name, or an identifier, or an id.")
    ] = None,
    amount: Annotated[
        str | None, typer.Option(metavar="AMOUNT", callback=exact, help="The amount.")
    ] = None,
    tolerance: Annotated[
        str, typer.Option(metavar="AMOUNT", callback=exact, help="How far off --amount may be.")
    ] = "0",
    on_day: Annotated[
        str | None, typer.Option("--day", metavar="DATE", callback=day, help="The day, UTC.")
    ] = None,
    from_at: From = None,
    to_at: To = None,
    state: Annotated[
        State | None, typer.Option(metavar="STATE", help=f"One of {', '.join(State)}.")
    ] = None,
    limit: Limit = 100,
    raw: Raw = False,
) -> None:
    """Find purchases, rejected rows and duplicates by what is known of them.

    Everything given must hold. Rejected rows and duplicates keep their reference and the day they
    came, and are found by these.

    Try:

        cardoffers find -i larkmere --ref 'LAR1-93*'
        cardoffers find -i larkmere --cardholder - < token.txt
        cardoffers find -i larkmere --merchant grocers --day 2026-09-05
        cardoffers find -i larkmere --amount 20 --tolerance 1 --state settled
    """
    from cardoffers_cli.jobs.find import find as look  # polars is heavy

    desk = Desk.of(ctx)
    filters = {
        "ref": ref,
        "redemption_id": redemption,
        "merchant": merchant,
        "state": state.value if state else None,
        **_cardholder(cardholder, token_file),
        **_amounts(amount, tolerance),
        **_window(on_day, from_at, to_at),
    }
    found = look(institution, _wanted(filters), desk.job, limit=limit)
    _tell(desk, found)
    desk.show(found, Sheet("found", FOUND, found["data"]), raw=raw)


def _wanted(filters: dict[str, Any]) -> "Wanted":
    from cardoffers_cli.services.search import Wanted

    return Wanted(**filters)


def _cardholder(named: str | None, file: Path | None) -> dict[str, Any]:
    if named is not None and file is not None:
        raise UsageError(
            "--cardholder and --token-file both name a cardholder.", hint="Leave one out."
        )
    if file is not None:
        from cardoffers_cli.files.private import read_private_file

        return {"token": read_private_file(file).partition("\n")[0].strip()}
    if named is None:
        return {}
    if named == "-":
        return {"token": next(typed(named))}
    return {"token_ends": _ends(named)}


def _ends(masked: str) -> tuple[str, str]:
    """Return both ends of a masked token; a full one is not read from a command line."""
    head, cut, tail = masked.replace("...", ELLIPSIS).partition(ELLIPSIS)
    if not cut or {len(head), len(tail)} != {SHOWN_AT_EACH_END}:
        raise UsageError(
            "A cardholder is named by the 4 first and 4 last letters of the token, abcd…wxyz.",
            code="token_not_masked",
            hint="Send a full token to --cardholder - on standard input, or name a --token-file.",
        )
    return head, tail


def _amounts(amount: Any, tolerance: Any) -> dict[str, Any]:
    if amount is None:
        return {}
    return {"least_amount": amount - tolerance, "most_amount": amount + tolerance}


def _window(on_day: Any, from_at: Any, to_at: Any) -> dict[str, Any]:
    if on_day is None:
        return {"from_at": from_at, "to_at": to_at}
    if from_at is not None or to_at is not None:
        raise UsageError("--day is a window of its own.", hint="Leave out --from and --to.")
    return {"from_at": on_day, "to_at": on_day + timedelta(days=1)}


def _tell(desk: Desk, found: dict[str, Any]) -> None:
    """Say what was looked through, as of when, and whether there is more."""
    searched = dict(found["searched"])
    last = searched.pop("last_import_at")
    words = {"purchases": "purchase", "rejected": "rejected row", "duplicates": "duplicate"}
    counts = [counted(count, words[name]) for name, count in searched.items()]
    what = (
        " and ".join(", ".join(counts).rsplit(", ", 1)) or "nothing that keeps what was asked for"
    )
    until = f", the last received {format_moment(last)}" if last else ""
    desk.note(f"Searched {what} of {found['institution']}{until}.")
    if found["more"]:
        desk.note(f"There are more than the {found['limit']:,} shown: say more, or raise --limit.")
