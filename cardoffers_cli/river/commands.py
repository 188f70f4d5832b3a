"""`cardoffers import` and its like for other kinds of rows: take files into the store.

To add a kind, make its command as those below and name it in its group.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardoffers_cli.intake import file_options
from cardoffers_cli.intake.file_options import layout_for, layout_of
from cardoffers_cli.kernel.cli import options
from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import AnyInstitution, DryRun, Engine, Yes, argument, option
from cardoffers_cli.kernel.cli.show import Block, Column, Sheet, Text
from cardoffers_cli.kernel.words.moments import format_moment
from cardoffers_cli.kernel.words.row_kinds import CREDITS, PURCHASES, REFUNDS
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.kernel.words.visible import shortened
from cardoffers_cli.river.checking_commands import one_file_for

if TYPE_CHECKING:
    from cardoffers_cli.kernel.words.row_kinds import RowKind
    from cardoffers_cli.river.imports import ImportOptions, ImportReport
    from cardoffers_cli.river.receiving import Outputs


def import_command(kind: "RowKind", about: str) -> "Callable[..., None]":
    """Return the command that takes files of one kind of rows; `about` is its help."""

    def import_files(
        ctx: typer.Context,
        sources: Annotated[list[str], argument("FILE...", "Files; - is stdin.")],
        *,
        institution: options.Institution,
        delimiter: file_options.Delimiter = ",",
        sheet: file_options.SheetName = None,
        profile: file_options.LayoutProfile = None,
        no_profile: file_options.NoProfile = False,
        assume_timezone: file_options.Timezone = None,
        allow_unterminated: file_options.AllowUnterminated = False,
        errors: file_options.Errors = None,
        valid: file_options.Valid = None,
        rejected: file_options.Rejected = None,
        raw_rejected: file_options.RawRejected = False,
        engine: options.Engine = None,
        yes_it_is: file_options.YesItIs = False,
        yes_it_is_whole: file_options.YesItIsWhole = False,
        dry_run: options.DryRun = False,
    ) -> None:
        from cardoffers_cli.river.imports import ImportOptions
        from cardoffers_cli.river.receiving import Outputs

        context = CommandContext.of(ctx, engine=engine)
        written = {"--errors": errors, "--valid": valid, "--rejected": rejected}
        one_file_for(sources, *written.values())
        context.writes(written, reads=sources)
        is_other = no_profile or delimiter != "," or sheet is not None
        layout = layout_of(profile, delimiter, sheet)
        chosen = ImportOptions(
            delimiter=delimiter,
            assume_timezone=assume_timezone,
            allow_unterminated=allow_unterminated,
            profile=layout_for(context, institution, layout, is_other=is_other, to_write=True),
            sheet=sheet,
            dry_run=dry_run,
            is_own=yes_it_is,
            is_whole=yes_it_is_whole,
            kind=kind,
        )
        outputs = Outputs(errors=errors, valid=valid, rejected=rejected, raw=raw_rejected)
        _import(context, sources, institution, chosen, outputs)

    import_files.__doc__ = about
    return import_files


import_ = import_command(PURCHASES, "Import transaction files, each as a whole or not at all.")
import_refunds = import_command(REFUNDS, "Import files of refunds, each as a whole or not at all.")
import_credits = import_command(CREDITS, "Import files of credits, each as a whole or not at all.")


def _import(
    context: CommandContext,
    sources: list[str],
    institution: str,
    chosen: "ImportOptions",
    outputs: "Outputs",
) -> None:
    """Import each file and show what came of it."""
    from cardoffers_cli.kernel.words.errors import FileUnusable
    from cardoffers_cli.river.checking_commands import show_files
    from cardoffers_cli.river.imports import HELD, import_file
    from cardoffers_cli.river.receiving import FileReport

    documents, reports, lines = [], list[FileReport](), list[str]()
    for source in sources:
        try:
            with context.progress(f"Importing {source}") as bar:
                result = import_file(
                    *(source, institution, context.job, chosen),
                    outputs=outputs,
                    look=_compare,
                    progress=bar.update,
                )
        except FileUnusable as error:
            reports.append(FileReport(file=source, file_error=error))
            document = {**reports[-1].document(), **_NOTHING_TAKEN, "held": error.code == HELD}
            documents.append({**document, "dry_run": chosen.dry_run})
        else:
            reports.append(result.report)
            documents.append({**result.document()})
            lines += map(taken_line, result.parts)
            if result.earlier:
                context.note(f"{shortened(source)} is {result.earlier.told()}.")
            for line in result.unusual:
                context.note(line)
    show_files(context, documents, reports, Text(lines))


def _compare(*of: Any) -> list[str]:
    from cardoffers_cli.watch.scan import look_at_imports  # only files of who is watched need it

    return look_at_imports(*of)


_NOTHING_TAKEN: Mapping[str, Any] = {
    "import_id": None,
    "institution_id": None,
    "accepted": 0,
    "already_imported": None,
    "already_imported_as": None,
    "already_imported_at": None,
}


def taken_line(result: "ImportReport") -> str:
    """Say what an import took, or would take."""
    amount = result.document()["amount_accepted"]
    would_be = "would be " if result.dry_run else ""
    kind = result.report.row_kind or PURCHASES
    return (
        f"{result.report.file}: {counted(result.accepted, kind.noun)} {would_be}taken, "
        f"{amount:,} {result.institution.currency}."
    )


# `cardoffers match`: decide which purchases redeem which offers.


MONEY = (
    Column("currency"),
    Column("merchant_funded_amount", "merchants fund", "money"),
    Column("commission_amount", "commission", "money"),
    Column("institution_payout_amount", "payout", "money"),
)
_MEANINGS = {
    "redeemed": "earned the cashback of an offer",
    "not_redeemed": "fit no offer their cardholder had added",
    "merchant_unresolved": "wait: the merchant is still unknown",
    "considered": "in all",
}


def match(
    ctx: typer.Context,
    *,
    rematch: Annotated[bool, option("Look again at all that never redeemed.", "--rematch")] = False,
    engine: Engine = None,
    dry_run: DryRun = False,
) -> None:
    """Match every purchase that is not decided yet to the offers its cardholder has added."""
    from cardoffers_cli.river.engines import match_purchases

    context = CommandContext.of(ctx, engine=engine)
    with context.progress("Matching"):
        report = match_purchases(context.job, rematch=rematch, dry_run=dry_run).document()
    context.show(report, *decided(report), Text(list(_said(report))))


def decided(report: Mapping[str, Any]) -> Iterator[Block]:
    """Yield what was decided of how many purchases, and the money of it by currency."""
    return outcomes(report, "decided", "purchases", _MEANINGS)


def outcomes(
    report: Mapping[str, Any],
    name: str,
    of: str,
    meanings: Mapping[str, str],
    money_title: str | None = None,
) -> Iterator[Block]:
    """Yield how many had each outcome, and what that means, and the money of all by currency."""
    columns = (Column(name), Column(of, kind="integer"), Column("meaning"))
    known = ((word, says) for word, says in meanings.items() if word in report)
    rows = [{name: word, of: report[word], "meaning": says} for word, says in known]
    yield Sheet(name, columns, rows)
    money = [
        {"currency": currency, **{item.name: report[item.name][currency] for item in MONEY[1:]}}
        for currency in report["merchant_funded_amount"]
    ]
    if money:
        yield Sheet("money", MONEY, money, title=money_title)


def _said(report: Mapping[str, Any]) -> Iterator[str]:
    yield f"Run {report['run_id']}, {counted(report['rounds'], 'round')}."
    if "unmerged" in report:
        yield f"Small parts of the history were left as they are: {report['unmerged']}"
    if report["dry_run"]:
        yield "Nothing was written (--dry-run)."
    elif report["merchant_unresolved"]:
        yield "Next: `cardoffers report unresolved` lists the unknown merchants."


# `cardoffers redemption`: look at one redemption, or take it back.


app = group("Show or reverse a redemption.")


RedemptionId = Annotated[
    str,
    argument(
        "ID", "The redemption: its id, the beginning of that, its purchase's reference, or latest."
    ),
]


@app.command("show")
def show_(
    ctx: typer.Context, redemption_id: RedemptionId, *, institution: AnyInstitution = None
) -> None:
    """Show a redemption: purchase, offer, money, webhook, and every change of its state."""
    from cardoffers_cli.river.redemptions import StateMove, show

    context = CommandContext.of(ctx)
    redemption = show(redemption_id, context.job, institution=institution)
    fields = {name: value for name, value in redemption.items() if name != "history"}
    context.show(
        redemption,
        Sheet.of_fields("redemption", fields),
        Sheet.of(StateMove, "history", redemption["history"], title="History"),
    )


@app.command()
def reverse(
    ctx: typer.Context,
    redemption_id: RedemptionId,
    *,
    reason: Annotated[str, option("Why; kept in the ledger's history.")],
    institution: AnyInstitution = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Reverse a redemption: its budget and its use come back. This is final."""
    from cardoffers_cli.river.redemptions import reverse as take_back

    context = CommandContext.of(ctx)
    reversal = take_back(redemption_id, reason, context.job, institution=institution, dry_run=True)
    if not dry_run:
        money = f"{reversal['currency']} {{}}"
        deducted = ", deducted from the next settlement" if reversal["deducted"] else ""
        context.ask(
            f"Reverse the redemption of {reversal['transaction_ref']} of"
            f" {reversal['institution']}, {reversal['offer_id']} at {reversal['merchant_name']}? "
            f"{money.format(reversal['institution_payout_amount'])} of cashback is taken back, "
            f"{money.format(reversal['merchant_funded_amount'])} of the merchant's{deducted}. "
            f"{_ENDS[reversal.get('approval')]}",
            yes=yes,
        )
        reversal = take_back(str(reversal["redemption_id"]), reason, context.job)
    context.show(reversal)


_ENDS = {
    None: "This is final.",
    "given": "A second person has approved it. This is final.",
    "pending": "A second person has to approve it first, and was asked to.",
    "needed": "A second person has to approve it first, and will be asked to.",
}
"""What the question ends with, by how far the approval is that a reversal needs."""


# `cardoffers settle`: put what is due into settlements.


FIRST = ("institution", "currency", "institution_payout_amount")


def settle(ctx: typer.Context, *, dry_run: DryRun = False) -> None:
    """Settle every ledger entry whose hold has ended: one settlement per institution and currency."""  # noqa: E501  one line of help
    from cardoffers_cli.river.settle import NewSettlement
    from cardoffers_cli.river.settlements import settle_due

    context = CommandContext.of(ctx)
    report = settle_due(context.job, dry_run=dry_run)
    sheet = Sheet.of(NewSettlement, "settlements", report["settlements"], first=FIRST)
    lines = []
    if report["settled"] or not report["settlements"]:
        verb = "are" if dry_run else "were"
        lines.append(f"{report['settled']:,} ledger entries {verb} due.")
    if report["next_settles_at"]:
        due = format_moment(report["next_settles_at"])
        lines.append(f"{report['still_pending']:,} are pending; the next is due at {due}.")
    if dry_run:
        lines.append("Nothing was written (--dry-run).")
    context.show(report, sheet, Text(lines))


# `cardoffers simulate`: what a file would come to, with nothing written.


REASONS = (Column("outcome"), Column("reason"), Column("purchases", kind="integer"))


def simulate(
    ctx: typer.Context,
    source: Annotated[str, argument("FILE", "A file; - is stdin.")],
    *,
    institution: options.Institution,
    delimiter: file_options.Delimiter = ",",
    sheet: file_options.SheetName = None,
    profile: file_options.LayoutProfile = None,
    no_profile: file_options.NoProfile = False,
    assume_timezone: file_options.Timezone = None,
    allow_unterminated: file_options.AllowUnterminated = False,
    errors: file_options.Errors = None,
    valid: file_options.Valid = None,
    rejected: file_options.Rejected = None,
    raw_rejected: file_options.RawRejected = False,
    engine: options.Engine = None,
    yes_it_is: file_options.YesItIs = False,
) -> None:
    """Show what importing and matching a file would do; nothing is written."""
    from cardoffers_cli.kernel.words.errors import FileUnusable
    from cardoffers_cli.river.checking_commands import blocks, named
    from cardoffers_cli.river.imports import ImportOptions
    from cardoffers_cli.river.outcomes import SimulatedPurchase
    from cardoffers_cli.river.receiving import Outputs
    from cardoffers_cli.river.simulate import simulate_file

    context = CommandContext.of(ctx, engine=engine)
    context.writes({"--errors": errors, "--valid": valid, "--rejected": rejected}, reads=[source])
    layout = layout_of(profile, delimiter, sheet)
    is_other = no_profile or delimiter != "," or sheet is not None
    chosen = ImportOptions(
        delimiter=delimiter,
        assume_timezone=assume_timezone,
        allow_unterminated=allow_unterminated,
        is_own=yes_it_is,
        sheet=sheet,
        profile=layout_for(context, institution, layout, is_other=is_other),
    )
    outputs = Outputs(errors=errors, valid=valid, rejected=rejected, raw=raw_rejected)
    try:
        with context.progress(f"Simulating {source}") as bar:
            report = simulate_file(
                source, institution, context.job, chosen, outputs=outputs, progress=bar.update
            )
    except FileUnusable as error:
        raise named(source, error) from None
    file_report = report.taken.report
    context.show(
        report.document(),
        Sheet.of(SimulatedPurchase, "items", report.items, title="Purchases"),
        Sheet("reasons", REASONS, list(_reasons(report.items)), title="In all"),
        *blocks([file_report]),
        exit_code=0 if file_report.ok else 3,
    )


def _reasons(items: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    counted = Counter((item["outcome"], item["reason"]) for item in items)
    for (outcome, reason), purchases in counted.most_common():
        yield {"outcome": outcome, "reason": reason, "purchases": purchases}
