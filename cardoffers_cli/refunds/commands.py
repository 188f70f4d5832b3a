"""`cardoffers refund`: what came back, from the file on to what it takes back."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cardoffers_cli.kernel.cli import options
from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import WITH_FINDINGS, CommandContext
from cardoffers_cli.kernel.cli.options import argument, option
from cardoffers_cli.kernel.cli.show import Block, Sheet, Text
from cardoffers_cli.kernel.words.errors import FileUnusable, UsageError
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.river.commands import import_refunds, outcomes

if TYPE_CHECKING:
    from cardoffers_cli.refunds.linking import RefundLink
    from cardoffers_cli.refunds.questions import RefundDetails

app = group("Refunds: import, link to purchases, list.")
app.command("import")(import_refunds)


RefundRef = Annotated[str, argument("REFUND_REF", "The institution's own name of the refund.")]

StateFilter = Annotated[
    Literal["waiting", "linked", "refused", "dismissed"] | None, option("Only in this state.")
]


@app.command()
def apply(ctx: typer.Context, *, dry_run: options.DryRun = False) -> None:
    """Link refunds to their purchases, and reverse the cashback."""
    from cardoffers_cli.refunds.apply import apply_refunds

    context = CommandContext.of(ctx)
    result = apply_refunds(context.job, dry_run=dry_run)
    context.show(result, *applied(result))


@app.command("list")
def list_(
    ctx: typer.Context,
    *,
    institution: options.AskedInstitution = None,
    all_institutions: options.AllInstitutions = False,
    state: StateFilter = None,
    limit: options.Limit = 100,
    all_rows: options.All = False,
    raw: options.Raw = False,
) -> None:
    """List refunds with state and outcome, newest first."""
    from cardoffers_cli.refunds.questions import ListedRefund, refund_rows

    context = CommandContext.of(ctx)
    most = options.Extent(limit=limit, all_rows=all_rows).most
    rows, refunds = refund_rows(
        context.job, institution, state=state, limit=most, everywhere=all_institutions
    )
    context.show(rows, Sheet.of(ListedRefund, "refunds", rows), raw=raw)
    if refunds > len(rows):
        context.note(f"There are {counted(refunds, 'refund')}: --all for every one.")


def refunds(
    ctx: typer.Context,
    *,
    institution: options.AnyInstitution = None,
    state: StateFilter = None,
    from_at: options.From = None,
    to_at: options.To = None,
    limit: options.Limit = 100,
    all_rows: options.All = False,
    raw: options.Raw = False,
) -> None:
    """Show refunds with purchase and reversed cashback, newest first."""
    from cardoffers_cli.refunds.questions import ListedRefund, refund_rows

    context = CommandContext.of(ctx)
    most = options.Extent(limit=limit, all_rows=all_rows).most
    span: Mapping[str, Any] = {"from_at": from_at, "to_at": to_at}  # which are times by now
    rows, total = refund_rows(
        context.job, institution, state=state, limit=most, everywhere=True, **span
    )
    context.show(
        {"data": rows}, Sheet.of(ListedRefund, "refunds", rows, totals_by=("currency",)), raw=raw
    )
    if total > len(rows):
        context.note("There is more: --all for every row.")


@app.command("show")
def show_(
    ctx: typer.Context, refund_ref: RefundRef, *, institution: options.AskedInstitution = None
) -> None:
    """Show a refund: what was received, its purchase, what it took back, and what it may be of."""
    from cardoffers_cli.refunds.questions import show_refund

    context = CommandContext.of(ctx)
    refund = show_refund(context.job, institution, refund_ref)
    context.show(refund, *_shown(refund))


@app.command()
def suggest(
    ctx: typer.Context, *, institution: options.AskedInstitution = None, raw: options.Raw = False
) -> None:
    """Show the purchases that refunds without a reference may be of, best first."""
    from cardoffers_cli.refunds.questions import RefundCandidate, suggestions

    context = CommandContext.of(ctx)
    rows = suggestions(context.job, institution)
    context.show(rows, Sheet.of(RefundCandidate, "candidates", rows), raw=raw)
    if rows:
        context.note(
            "Next: with `--format csv -o review.csv`, write a reason beside those that are right; "
            f"then `cardoffers refund link --from review.csv -i {institution or 'INST'}`."
        )


@app.command()
def link(
    ctx: typer.Context,
    refund_ref: Annotated[str | None, argument("[REFUND_REF]", "The refund.")] = None,
    transaction_ref: Annotated[
        str | None, argument("[TRANSACTION_REF]", "The purchase that it is of.")
    ] = None,
    *,
    institution: options.Institution,
    reason: Annotated[str | None, option("Why; kept with the link.")] = None,
    source: Annotated[
        Path | None,
        option(
            "A reviewed list of `refund suggest`: rows with a reason.", "--from", metavar="FILE"
        ),
    ] = None,
    dry_run: options.DryRun = False,
) -> None:
    """Link a refund to its purchase, or those of a reviewed list. This is final."""
    from cardoffers_cli.refunds.linking import LinkedRefund, RefundLink, link_refund, link_refunds

    context = CommandContext.of(ctx)
    context.writes({}, reads=[source] if source else [])
    if source is not None:
        if refund_ref or reason:
            raise UsageError(
                "--from has references and reasons of its own.", hint="Leave them out."
            )
        rows = link_refunds(context.job, institution, _reviewed(source), dry_run=dry_run)
        failed = sum(not row.is_linked for row in rows)
        why = f"Not linked: {failed:,} of {counted(len(rows), 'refund')}." if failed else ""
        exit_code = WITH_FINDINGS if failed else 0
        context.show(rows, Sheet.of(LinkedRefund, "links", rows), exit_code=exit_code, why=why)
        return
    if not refund_ref or not transaction_ref or not reason:
        raise UsageError(
            "Name a refund, its purchase and a reason, or a file.",
            hint='Write `cardoffers refund link REFUND_REF TRANSACTION_REF --reason "…" -i INST`.',
        )
    request = RefundLink(refund_ref=refund_ref, transaction_ref=transaction_ref, reason=reason)
    result = link_refund(context.job, institution, request, dry_run=dry_run)
    context.show(result, Sheet.of(LinkedRefund, "links", [result]))


@app.command()
def dismiss(
    ctx: typer.Context,
    refund_ref: RefundRef,
    *,
    reason: Annotated[str, option("Why; kept with the refund.")],
    institution: options.AskedInstitution = None,
    dry_run: options.DryRun = False,
) -> None:
    """Dismiss a refund: its purchase is not searched for any more. This is final."""
    from cardoffers_cli.refunds.linking import dismiss_refund

    context = CommandContext.of(ctx)
    context.show(dismiss_refund(context.job, institution, refund_ref, reason, dry_run=dry_run))


def applied(result: Mapping[str, Any]) -> Iterator[Block]:
    """Say what an application of refunds came to, and what it took back."""
    from cardoffers_cli.refunds.texts import TEXTS

    yield from outcomes(result, "found", "refunds", TEXTS["counts"], "Taken back")
    if result["dry_run"]:
        yield Text(["Nothing was written (--dry-run)."])


def _shown(refund: "RefundDetails") -> Iterator[Block]:
    from cardoffers_cli.refunds.questions import RefundCandidate

    fields = {name: value for name, value in refund.items() if name != "may_be_of"}
    yield Sheet.of_fields("refund", fields)
    if refund.may_be_of:
        yield Sheet.of(RefundCandidate, "candidates", refund.may_be_of, title="It may be of")


def _reviewed(source: Path) -> "list[RefundLink]":
    """Read the rows of a reviewed list that have a reason."""
    from cardoffers_cli.merchants.page import read_list
    from cardoffers_cli.refunds.linking import RefundLink

    rows = csv.DictReader(read_list(str(source)))
    if missing := {"refund_ref", "transaction_ref", "reason"} - set(rows.fieldnames or ()):
        raise FileUnusable.from_table(
            "refunds", "header_column_missing", sorted=", ".join(sorted(missing))
        )
    entries = [
        RefundLink(**{name: (row[name] or "").strip() for name in RefundLink.__annotations__})
        for row in rows
    ]
    with_reason = [entry for entry in entries if entry.reason]
    if not with_reason:
        raise UsageError(
            "No row of the list has a reason.", hint="Write one beside each link that is right."
        )
    return with_reason
