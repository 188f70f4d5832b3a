"""`cardoffers merchant`: the merchants that offers are of, and whose unknown identifiers are."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardoffers_cli.kernel.cli import options, show
from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import WITH_FINDINGS, CommandContext
from cardoffers_cli.kernel.cli.options import DryRun, argument, option
from cardoffers_cli.kernel.cli.show import Column, Sheet, Text, columns_of
from cardoffers_cli.kernel.store.clock import Clock
from cardoffers_cli.kernel.words.errors import FileUnusable, UsageError
from cardoffers_cli.kernel.words.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardoffers_cli.catalogue import merchants
    from cardoffers_cli.merchants.answers import AnsweredIdentifier, Reviewed
    from cardoffers_cli.merchants.suggestions import RatedPair, Suggestion


EVIDENCE = (
    *("known_as", "spelling", "words_in_common", "rarest_word", "leading_characters"),
    *("leading_characters_of_any", "cardholders_in_common", "links", "cluster", "mcc"),
)

Identifier = Annotated[str, argument("IDENTIFIER", "What purchases call the merchant.")]
Type = Annotated[
    str | None,
    option("What kind it is, where several have it: card_acceptor, pix_key, …", "--type"),
]
Reason = Annotated[str, option("Why; kept with the answer.")]


def suggest(
    ctx: typer.Context,
    *,
    institution: options.AnyInstitution = None,
    limit: options.Limit = 50,
    raw: options.Raw = False,
    review: Annotated[
        bool, option("Show one after the other, and take your answers.", "--review")
    ] = False,
    as_table: Annotated[
        Path | None,
        option("Rate pairs of a file instead: identifier, descriptor.", metavar="FILE.csv"),
    ] = None,
) -> None:
    """Suggest merchants for unknown identifiers, largest amount first."""
    from cardoffers_cli.merchants.discovery import rate_pairs, suggest_merchants
    from cardoffers_cli.merchants.suggestions import RatedPair

    context = CommandContext.of(ctx)
    if as_table:
        rated = rate_pairs(context.job, _pairs(as_table))
        context.show([_told(pair) for pair in rated], Sheet.of(RatedPair, "rated", rated), raw=raw)
        return
    if review:
        from cardoffers_cli.merchants.review import check

        check(context)
    with context.progress("Comparing"):
        rows = suggest_merchants(context.job, institution, limit=limit)
    if review and rows:
        _review(context, rows)
        return
    context.show([_told(row) for row in rows], suggested("suggestions", rows), raw=raw)
    if rows:
        context.note(
            "Next: `--review` takes your answers one by one. Or, with `-o review.csv`, write a"
            " reason beside those that are right; then `cardoffers merchant accept --from"
            " review.csv`."
        )
    else:
        context.note(
            "No merchant is likelier than not; `cardoffers report unresolved` lists what waits."
        )


def suggested(name: str, rows: "Sequence[Mapping[str, Any]]") -> Sheet:
    """Return the sheet of suggestions, with room for the reason of a person who takes one."""
    from cardoffers_cli.merchants.suggestions import Suggestion

    columns = (*columns_of(Suggestion), Column("reason", gives_way=15))
    return Sheet(name, columns, rows)


def evidence(
    ctx: typer.Context,
    identifier: Identifier,
    *,
    identifier_type: Type = None,
    raw: options.Raw = False,
) -> None:
    """Show every merchant an unknown identifier was compared with, and the evidence."""
    from cardoffers_cli.merchants.discovery import show_evidence

    context = CommandContext.of(ctx)
    result = show_evidence(context.job, identifier, identifier_type)
    context.show(result, suggested("evidence", result.candidates), raw=raw)
    if not result.candidates:
        context.note(
            "No known merchant has a name like its own, or it has the names of many: "
            f"`cardoffers merchant new --from {identifier} --category …` makes a merchant of it."
        )


def accept(
    ctx: typer.Context,
    identifier: Annotated[str | None, argument("[IDENTIFIER]", "The unknown identifier.")] = None,
    merchant: Annotated[
        str | None, argument("[MERCHANT]", "Whose it is: a name, or an id.")
    ] = None,
    *,
    reason: Annotated[str | None, option("Why; kept with the answer.")] = None,
    identifier_type: Type = None,
    cluster: Annotated[
        bool, option("Also those of its name that the merchant is suggested for.", "--cluster")
    ] = False,
    source: Annotated[
        Path | None,
        option(
            "A reviewed list of `merchant suggest`: rows with a reason.", "--from", metavar="FILE"
        ),
    ] = None,
    dry_run: options.DryRun = False,
) -> None:
    """Link an unknown identifier to a merchant; the next match redeems its purchases."""
    from cardoffers_cli.merchants import answers

    context = CommandContext.of(ctx)
    context.writes({}, reads=[source] if source else [])
    if source is not None:
        if identifier or reason or cluster:
            raise UsageError(
                "--from has identifiers and reasons of its own.", hint="Leave the others out."
            )
        _show_answer(
            context, answers.accept_reviewed(context.job, _reviewed(source), dry_run=dry_run)
        )
        return
    if not identifier or not merchant or not reason:
        raise UsageError(
            "Name an identifier, its merchant and a reason, or a file.",
            hint='Write `cardoffers merchant accept IDENTIFIER MERCHANT --reason "…"`.',
        )
    results = answers.accept(
        *(context.job, identifier, merchant, reason),
        identifier_type=identifier_type,
        is_cluster=cluster,
        dry_run=dry_run,
    )
    _show_answer(context, results)


def refuse(
    ctx: typer.Context,
    identifier: Identifier,
    merchant: Annotated[str, argument("MERCHANT", "The merchant: its name, or its id.")],
    *,
    reason: Reason,
    identifier_type: Type = None,
    dry_run: options.DryRun = False,
) -> None:
    """Reject a suggested merchant for an identifier; it is not suggested again."""
    from cardoffers_cli.merchants import answers
    from cardoffers_cli.merchants.answers import AnsweredIdentifier

    context = CommandContext.of(ctx)
    result = answers.refuse(
        *(context.job, identifier, merchant, reason),
        identifier_type=identifier_type,
        dry_run=dry_run,
    )
    context.show(result, Sheet.of(AnsweredIdentifier, "answers", [result]))


def new(
    ctx: typer.Context,
    *,
    source: Annotated[str, option("The unknown identifier.", "--from", metavar="IDENTIFIER")],
    category: Annotated[str, option("What it sells; in feeds it is preferred by this.")],
    name: Annotated[
        str | None, option("What cardholders call it [what purchases mostly say].")
    ] = None,
    identifier_type: Type = None,
    dry_run: options.DryRun = False,
) -> None:
    """Add a merchant for an unknown identifier."""
    from cardoffers_cli.merchants import answers
    from cardoffers_cli.merchants.answers import AnsweredIdentifier

    context = CommandContext.of(ctx)
    result = answers.make_merchant(
        *(context.job, source, category),
        name=name,
        identifier_type=identifier_type,
        dry_run=dry_run,
    )
    context.show(result, Sheet.of(AnsweredIdentifier, "answers", [result]))


def unlink(
    ctx: typer.Context,
    identifier: Identifier,
    *,
    reason: Reason,
    identifier_type: Type = None,
    dry_run: options.DryRun = False,
) -> None:
    """Unlink an identifier from its merchant; past redemptions are kept and shown."""
    from cardoffers_cli.merchants import answers
    from cardoffers_cli.merchants.answers import RedeemedByIdentifier

    context = CommandContext.of(ctx)
    result = answers.unlink(
        context.job, identifier, reason, identifier_type=identifier_type, dry_run=dry_run
    )
    fields = {name: value for name, value in result.items() if name != "redeemed"}
    blocks = [Sheet.of_fields("identifier", fields)]
    if result.redeemed:
        blocks.append(
            Sheet.of(RedeemedByIdentifier, "redeemed", result.redeemed, title="It redeemed")
        )
    context.show(result, *blocks)
    if result.redeemed:
        context.note(
            "What it redeemed stands: `cardoffers redemption reverse` takes one back, and"
            " `cardoffers report redemptions` lists them."
        )


def _review(context: CommandContext, rows: "Sequence[Suggestion]") -> None:
    from cardoffers_cli.merchants.review import Review, Terminal

    with Terminal() as terminal:
        review = Review(context.job, Clock(context.options.as_of), terminal, context.say)
        try:
            review.run(rows)
        except KeyboardInterrupt:
            context.note(f"{counted(len(review.told), 'answer')} given; what was answered stands.")
            raise
    if review.told:
        _show_answer(context, review.told)
    else:
        context.note("Nothing was answered.")


def _show_answer(context: CommandContext, results: "Sequence[AnsweredIdentifier]") -> None:
    from cardoffers_cli.merchants.answers import AnsweredIdentifier

    failed = sum(result.code is not None for result in results)
    accepted = sum(result.answer in {"accepted", "new"} for result in results)
    lines = (
        ["Next: `cardoffers match` looks at the purchases that waited."]
        if accepted and not results[0].dry_run
        else []
    )
    context.show(
        results,
        *(Sheet.of(AnsweredIdentifier, "answers", results), Text(lines)),
        exit_code=WITH_FINDINGS if failed else 0,
        why=f"Not answered: {failed:,} of {counted(len(results), 'identifier')}." if failed else "",
    )


def _told(row: "Suggestion | RatedPair") -> Mapping[str, Any]:
    """Return a row as JSON has it, with what speaks for it together too."""
    evidence = {name: row[name] for name in EVIDENCE if name in row}
    return {"descriptor": row.get("merchant_descriptor"), **row, "evidence": evidence}


def _pairs(source: Path) -> "Sequence[Mapping[str, Any]]":
    """Read pairs of an identifier and what it is called; its type is of a column, if there is."""
    rows = csv.DictReader(_lines(source))
    if missing := {"identifier", "descriptor"}.difference(rows.fieldnames or ()):
        raise FileUnusable(
            f"The file has no column {', '.join(sorted(missing))}.",
            code="header_column_missing",
            hint="Its columns are identifier, descriptor, and merchant_identifier_type if need be.",
        )
    return [
        {
            "line": line,
            "kind": row.get("merchant_identifier_type") or "card_acceptor",
            "identifier": row["identifier"],
            "text": row["descriptor"],
        }
        for line, row in enumerate(rows, start=1)
        if row["identifier"] and row["descriptor"]
    ]


def _reviewed(source: Path) -> "list[Reviewed]":
    """Read the rows of a reviewed list that have a reason."""
    from cardoffers_cli.merchants.answers import Reviewed

    rows = csv.DictReader(_lines(source))
    names = [*Reviewed.__annotations__]
    if missing := [name for name in names if name not in (rows.fieldnames or ())]:
        raise FileUnusable(
            f"The list has no column {', '.join(missing)}.",
            code="header_column_missing",
            hint="`cardoffers merchant suggest -o review.csv` writes one to fill in.",
        )
    entries = [Reviewed(**{name: (row[name] or "").strip() for name in names}) for row in rows]
    with_reason = [entry for entry in entries if entry.reason]
    if not with_reason:
        raise UsageError(
            "No row of the list has a reason.", hint="Write one beside each that is right."
        )
    return with_reason


def _lines(source: Path) -> list[str]:
    """Return the lines of a list, or of the first sheet of a workbook."""
    from cardoffers_cli.intake.paging import read_sheet
    from cardoffers_cli.intake.sources import open_source
    from cardoffers_cli.merchants.page import read_list

    if source != Path("-"):
        with open_source(str(source)) as opened:
            read_sheet(opened, named=1, or_text=True)
            if opened.sheet:
                return b"".join(opened.blocks()).decode().splitlines()
    return read_list(str(source))


app = group("List, add and change merchants, and link identifiers to them.")

"""What is told where any merchant has it."""
CHANGES = (show.Column("field"), show.Column("old_value"), show.Column("new_value"))

MerchantName = Annotated[
    str, argument("MERCHANT", "The merchant: its name, its id, the beginning of that, or latest.")
]
NetDays = Annotated[
    int | None, option("Within how many days it pays an invoice [30].", min=0, max=9999)
]
TaxId = Annotated[str | None, option("Its tax number, as its invoices are to say it; none.")]
TaxNote = Annotated[str | None, option("What its invoices are to say of tax, unchanged; none.")]
Address = Annotated[str | None, option("Its address in one line; none.")]
Country = Annotated[str | None, option("Its country, ISO 3166, such as GB; none.")]
IdentifierType = Annotated[
    str,
    option("What kind it is: card_acceptor, pix_key, upi_vpa, codi, psp_merchant_id.", "--type"),
]


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """List the merchants with their identifiers."""
    from cardoffers_cli.catalogue.merchants import Merchant, list_merchants

    context = CommandContext.of(ctx)
    rows = list_merchants(context.job)
    terms = [
        column
        for column in show.columns_of(Merchant, "net_days tax_id tax_note address country")
        if any(row.get(column.name) is not None for row in rows)
    ]
    columns = (*show.columns_of(Merchant), *terms)
    context.show(rows, show.Sheet("merchants", columns, [_row(row) for row in rows]))


@app.command()
def add(
    ctx: typer.Context,
    name: Annotated[str, argument("NAME", "What cardholders call it.")],
    *,
    category: Annotated[str, option("What it sells; in feeds it is preferred by this.")],
    identifier: Annotated[
        str | None, option("What purchases call it, such as its card-acceptor id (field 42).")
    ] = None,
    identifier_type: IdentifierType = "card_acceptor",
    merchant_id: Annotated[
        str | None, option("Its id [a new one].", "--id", metavar="UUID")
    ] = None,
    net_days: NetDays = None,
    tax_id: TaxId = None,
    tax_note: TaxNote = None,
    address: Address = None,
    country: Country = None,
    dry_run: DryRun = False,
) -> None:
    """Add a merchant."""
    from cardoffers_cli.merchants.work import add_merchant

    context = CommandContext.of(ctx)
    named = _identifier(identifier, identifier_type) if identifier else None
    cells = _given(name, category, net_days, tax_id, tax_note, address, country)
    merchant = add_merchant(
        context.job, cells, merchant_id=merchant_id, identifier=named, dry_run=dry_run
    )
    _show(context, merchant)


@app.command("set")
def set_(
    ctx: typer.Context,
    merchant: MerchantName,
    *,
    name: Annotated[str | None, option("What cardholders call it.")] = None,
    category: Annotated[str | None, option("What it sells.")] = None,
    address: Address = None,
    country: Country = None,
    net_days: NetDays = None,
    tax_id: TaxId = None,
    tax_note: TaxNote = None,
    dry_run: DryRun = False,
) -> None:
    """Change a merchant and its terms; the audit log keeps the old values."""
    from cardoffers_cli.merchants.work import set_merchant

    cells = _given(name, category, net_days, tax_id, tax_note, address, country)
    if not cells:
        raise UsageError("Nothing is given to set.", hint="Name a setting, such as --net-days 14.")
    context = CommandContext.of(ctx)
    result = set_merchant(context.job, merchant, cells, dry_run=dry_run)
    if not result.changes:
        context.note("Nothing changes.")
    context.show(result, show.Sheet("changes", CHANGES, result.changes or ()))


@app.command()
def identify(
    ctx: typer.Context,
    merchant: MerchantName,
    identifier: Annotated[str, argument("IDENTIFIER", "One more that purchases call it.")],
    *,
    identifier_type: IdentifierType = "card_acceptor",
    dry_run: DryRun = False,
) -> None:
    """Link another identifier to a merchant; waiting purchases redeem at the next match."""
    from cardoffers_cli.merchants.work import identify_merchant

    context = CommandContext.of(ctx)
    named = _identifier(identifier, identifier_type)
    _show(context, identify_merchant(context.job, merchant, named, dry_run=dry_run))
    context.note("Next: `cardoffers match` looks at the purchases that waited for it.")


def _given(*values: str | int | None) -> dict[str, str | None]:
    """Return what was given, in this order, as the cells of a catalogue file."""
    names = ("name", "category", "net_days", "tax_id", "tax_note", "address", "country")
    return {name: str(cell) for name, cell in zip(names, values, strict=True) if cell is not None}


for command in (suggest, evidence, accept, refuse, new, unlink):
    app.command()(command)


def _identifier(identifier: str, identifier_type: str) -> dict[str, str | None]:
    return {"merchant_identifier": identifier, "merchant_identifier_type": identifier_type}


def _row(merchant: "merchants.Merchant") -> Mapping[str, Any]:
    return {**merchant, "identifiers": " ".join(merchant.identifiers or ())}


def _show(context: CommandContext, merchant: "merchants.Merchant") -> None:
    context.show(merchant, show.Sheet.of_fields("merchant", _row(merchant)))
