"""`cardoffers find`: what was received, by what somebody remembers of it."""

import os
import select
import shutil
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from cardoffers_cli.answers import PurchaseState
from cardoffers_cli.intake.local_forms import read_amount, read_day
from cardoffers_cli.kernel.cli import options
from cardoffers_cli.kernel.cli.context import WITH_FINDINGS, CommandContext
from cardoffers_cli.kernel.cli.exits import Terminated, on_ctrl_c
from cardoffers_cli.kernel.cli.options import argument, institution_option, option, typed
from cardoffers_cli.kernel.cli.people import extra
from cardoffers_cli.kernel.cli.show import Column, Row, Sheet, columns_of
from cardoffers_cli.kernel.store.clock import Clock
from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.kernel.words.ids import ELLIPSIS, SHOWN_AT_EACH_END
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.nearest import did_you_mean
from cardoffers_cli.kernel.words.sentences import counted, listed
from cardoffers_cli.river.outcomes import IN_BRIEF

if TYPE_CHECKING:
    from cardoffers_cli.answers.browse.inquiry import Inquiry
    from cardoffers_cli.answers.find import FindResult
    from cardoffers_cli.answers.search import PurchaseFilter


class Reason(Column):
    """Why a purchase redeemed nothing or a row was rejected, or its state; in words for people."""

    def seen(self, row: Row) -> str:
        """Return the reason in a word or two."""
        reason = super().seen(row)
        return IN_BRIEF.get(reason, reason.replace("_", " "))


Filters = Mapping[str, Any]
"""What options say is wanted: fields of `PurchaseFilter`."""
TRAILS = "story verdict credited_amount statement bank_state invoice"
"""What is told where any purchase that was found has it."""


def exact(value: str | None) -> Decimal | None:
    """Read an option's amount, as people write it."""
    try:
        return read_amount(value) if value is not None else None
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def find(
    ctx: typer.Context,
    *,
    institution: options.AskedInstitution = None,
    everywhere: options.AllInstitutions = False,
    ref: Annotated[str | None, option("The reference; * and ? stand for any letters.")] = None,
    cardholder: Annotated[
        str | None,
        option(
            "The last 4 letters of the token, or it masked, or - to read it from standard input.",
            metavar="wxyz|abcd…wxyz|-",
        ),
    ] = None,
    token_file: Annotated[
        Path | None, option("A full token, in a file of mode 0600.", metavar="FILE")
    ] = None,
    card: Annotated[
        str | None,
        option(
            "The last 4 letters of the card's (or account's) token, or it masked.",
            metavar="wxyz|abcd…wxyz",
        ),
    ] = None,
    redemption: Annotated[str | None, option("A redemption.", metavar="ID")] = None,
    merchant: Annotated[
        str | None,
        option("Part of a merchant's name or of the text on the statement, an identifier, an id."),
    ] = None,
    amount: Annotated[
        str | None, option("The amount: 41.50, 41,50, £41.50.", metavar="AMOUNT", callback=exact)
    ] = None,
    tolerance: Annotated[
        str, option("How far off --amount may be.", metavar="AMOUNT", callback=exact)
    ] = "0",
    on_day: Annotated[
        str | None,
        option("The day, UTC: 2026-09-02, 02.09.2026, 2 Sep, yesterday.", "--day", metavar="DATE"),
    ] = None,
    from_at: options.From = None,
    to_at: options.To = None,
    state: Annotated[
        PurchaseState | None,
        option(f"One of {', '.join(get_args(PurchaseState))}.", metavar="STATE"),
    ] = None,
    limit: options.Limit = 100,
    raw: options.Raw = False,
) -> None:
    """Search purchases, rejected rows and duplicates."""
    from cardoffers_cli.answers.find import find as look
    from cardoffers_cli.answers.search import PurchaseFilter, PurchaseRow, ReceivedRow

    context = CommandContext.of(ctx)
    filters = {
        "ref": ref,
        "redemption_id": redemption,
        "merchant": merchant,
        "state": state,
        **_cardholder(cardholder, token_file),
        "card_ends": None if card is None else _ends(card),
        **_amounts(amount, tolerance),
        **_window(_day(context, on_day), from_at, to_at),
    }
    owner = context.institution(institution, everywhere=everywhere)
    wanted = PurchaseFilter(**filters)
    hits = look(owner, wanted, context.job, limit=limit, everywhere=everywhere)
    _tell(context, hits)
    trails = " ".join(name for name in TRAILS.split() if any(hit.get(name) for hit in hits.data))
    columns = (
        *columns_of(PurchaseRow),
        *columns_of(ReceivedRow, "code day"),
        Reason("reason"),
        *columns_of(PurchaseRow, "merchant_descriptor card_token_masked"),
        *(columns_of(PurchaseRow, "institution") if len(hits.institutions) > 1 else ()),
        *(columns_of(PurchaseRow, trails) if trails else ()),
    )
    sheet = Sheet.of(PurchaseRow, "found", hits.data, is_list=True)
    context.show(hits, replace(sheet, columns=columns), raw=raw)
    if not hits.data:
        raise _nothing(hits, wanted)


def _nothing(hits: "FindResult", wanted: "PurchaseFilter") -> NotFound:
    """Say that nothing was found, and what may have been meant."""
    others = hits.received_from
    if others:
        message = f"{_whose(hits)} sent nothing like that; {listed(others)} did."
        hint = f"`cardoffers find --ref {quote(wanted.ref or '')} -i {others[0]}` shows it."
    else:
        message = f"Nothing that {_whose(hits)} sent is like that."
        hint = did_you_mean(hits.near) or _less(hits, wanted)
    return NotFound(message, code="nothing_found", hint=hint, near=hits.near, received_from=others)


def _less(hits: "FindResult", wanted: "PurchaseFilter") -> str:
    """Return what to change about a search that finds nothing."""
    ends = {"most_amount", "to_at"}  # each of a pair
    terms = [name for name, value in vars(wanted).items() if value is not None and name not in ends]
    ways = ["leave something out"] if len(terms) > 1 else []
    if wanted.ref and not set("*?") & set(wanted.ref):
        ways.append("end the reference with * to look for its beginning")
    if wanted.least_amount is not None:
        ways.append("add --tolerance 1")
    if wanted.from_at is not None:
        ways.append("try the days before and after with --from and --to")
    if hits.institution:
        ways.append("look at every institution with --all-institutions")
    hint = "; or ".join(ways) or "look by --merchant, --day or --amount"
    return f"{hint[0].upper()}{hint[1:]}."


def _whose(hits: "FindResult") -> str:
    return hits.institution or "any institution"


def _day(context: CommandContext, text: str | None) -> datetime | None:
    """Read the day that was asked for, as of the command's clock."""
    try:
        day = read_day(text, context.now.date()) if text is not None else None
    except ValueError as error:
        raise UsageError(str(error), hint="For times of a day: --from and --to.") from None
    return datetime.combine(day, datetime.min.time()) if day else None


def _cardholder(named: str | None, file: Path | None) -> Filters:
    if named is not None and file is not None:
        raise UsageError(
            "--cardholder and --token-file both name a cardholder.", hint="Leave one out."
        )
    if file is not None:
        from cardoffers_cli.kernel.disk.outputs import read_private_file

        return {"token": read_private_file(file).partition("\n")[0].strip()}
    if named is None:
        return {}
    if named == "-":
        return {"token": next(typed(named))}
    return {"token_ends": _ends(named)}


def _ends(masked: str) -> tuple[str | None, str]:
    """Return both ends of a masked token, or its last letters alone.

    A full one is not read from a command line.
    """
    head, cut, tail = masked.replace("...", ELLIPSIS).partition(ELLIPSIS)
    if not cut:
        head, tail = "", masked
    if len(tail) != SHOWN_AT_EACH_END or len(head) not in {0, SHOWN_AT_EACH_END}:
        raise UsageError(
            "A cardholder or a card is named by the last 4 letters of the token, or also by the "
            "first 4: wxyz or abcd…wxyz.",
            code="token_not_masked",
            hint="Send a full token to --cardholder - on standard input, or name a --token-file.",
        )
    return head or None, tail


def _amounts(amount: Any, tolerance: Any) -> Filters:
    if amount is None:
        return {}
    return {"least_amount": amount - tolerance, "most_amount": amount + tolerance}


def _window(on_day: Any, from_at: Any, to_at: Any) -> Filters:
    if on_day is None:
        return {"from_at": from_at, "to_at": to_at}
    if from_at is not None or to_at is not None:
        raise UsageError("--day is a window of its own.", hint="Leave out --from and --to.")
    return {"from_at": on_day, "to_at": on_day + timedelta(days=1)}


def _tell(context: CommandContext, hits: "FindResult") -> None:
    """Say what was looked through, as of when, and whether there is more."""
    words = {"purchases": "purchase", "rejected": "rejected row", "duplicates": "duplicate"}
    counts = [counted(count, words[name]) for name, count in hits.searched.items() if name in words]
    what = (
        " and ".join(", ".join(counts).rsplit(", ", 1)) or "nothing that keeps what was asked for"
    )
    last = hits.searched.last_import_at
    until = f", the last received {format_minute(last)}" if last else ""
    context.note(f"Searched {what} of {listed(hits.institutions)}{until}.")
    if hits.more:
        context.note(f"There are more than the {hits.limit:,} shown: say more, or raise --limit.")


# `cardoffers browse`: one screen to search, look and answer.


EXTRA = {"textual"}
"""The packages of the extra `browse`."""

_LONGEST = 4096  # bytes of a line; nothing that is looked for is as long


def browse(
    ctx: typer.Context,
    query: Annotated[list[str] | None, argument("QUERY", "What to look for first.")] = None,
    *,
    institution: Annotated[
        str | None,
        institution_option(
            help="The institution: slug or id [the only one, else it is asked for]."
        ),
    ] = None,
    text: Annotated[
        bool, option("Plain lines in place of a screen, also in a pipe.", "--text")
    ] = False,
) -> None:
    """Search and answer on one screen; nothing is changed."""
    from cardoffers_cli.answers.browse.inquiry import Inquiry

    context = CommandContext.of(ctx)
    inquiry = Inquiry(context.job, Clock(context.options.as_of).now, institution)
    can_move = sys.stdin.isatty() and os.environ.get("TERM") != "dumb"
    if not (text or (context.is_terminal and can_move)):
        context.note("This terminal shows no screen, so here it is in plain lines.")
        text = True
    show = _talk if text else _show
    show(context, inquiry, " ".join(query or ()))


def _show(context: CommandContext, inquiry: "Inquiry", query: str) -> None:
    with extra("browse", EXTRA, "The screen"):
        from cardoffers_cli.answers.browse.app import Browser
    screen = Browser(inquiry, query, has_colour=context.has_colour)
    ended_by = screen.run()
    if screen.fault:
        raise screen.fault
    if ended_by:
        raise KeyboardInterrupt if ended_by == signal.SIGINT else Terminated


def _talk(context: CommandContext, inquiry: "Inquiry", query: str) -> None:
    from cardoffers_cli.answers.browse.plain import Talk

    def read() -> str | None:
        if sys.stdin.isatty():
            select.select([sys.stdin], [], [])  # Ctrl-C ends this; polars lets a read go on
        line = sys.stdin.buffer.readline(_LONGEST)
        return line.decode(errors="replace") if line else None

    width = shutil.get_terminal_size().columns if context.is_terminal else None
    talk = Talk(inquiry, read, context.say, context.note, on_ctrl_c=on_ctrl_c, width=width)
    talk.run(query)
    if talk.failures:
        raise typer.Exit(WITH_FINDINGS)
