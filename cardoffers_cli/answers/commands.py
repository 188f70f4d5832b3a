"""`cardoffers why`: why a purchase did, or did not, redeem."""

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from cardoffers_cli.kernel.cli.context import WITH_FINDINGS, CommandContext
from cardoffers_cli.kernel.cli.options import AllInstitutions, AskedInstitution, argument, option
from cardoffers_cli.kernel.cli.show import Block, Column, Sheet, columns_of
from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.kernel.words.nearest import did_you_mean
from cardoffers_cli.kernel.words.sentences import counted, listed

if TYPE_CHECKING:
    from cardoffers_cli.answers.why import DecidedNow, ListedWhy, PlainAnswer, Why


PLAIN = (Column("transaction_ref"), Column("status"), Column("locale"), Column("answer"))
LISTS = {
    "documents": "Closed on",
    "refunds": "Refunds",
    "rejects": "Rejected rows",
    "duplicates": "Came again",
    "withdrawn": "Taken back with its file",
}
"""What is told of where there is any."""
_FIELDS = {
    "purchase": "Purchase",
    "merchant_known": "Its merchant is known",
    "redemption": "Redemption",
    "credit": "Credited",
}


def why(
    ctx: typer.Context,
    ref: Annotated[str | None, argument("[REF]", "The transaction reference.")] = None,
    *,
    institution: AskedInstitution = None,
    everywhere: AllInstitutions = False,
    now: Annotated[
        bool, option("Also decide it again, as things are now; keeps nothing.", "--now")
    ] = False,
    plain: Annotated[
        bool, option("Answer the cardholder: nothing internal, to paste.", "--plain")
    ] = False,
    locale: Annotated[
        str | None, option("Of --plain: en, es or pt-BR [the institution's first].")
    ] = None,
    file: Annotated[
        str | None, option("Many references, one a line.", "--file", metavar="FILE")
    ] = None,
) -> None:
    """Explain why a purchase did, or did not, redeem, with every check that was made."""
    from cardoffers_cli.answers.why import ListedWhy

    context = CommandContext.of(ctx)
    context.writes({}, reads=[file] if file else [])
    refs = _refs(ref, file, now=now, plain=plain, locale=locale)
    owner = context.institution(institution, everywhere=everywhere)
    if plain:
        _show_plain(context, refs, owner, locale, is_list=file is not None, everywhere=everywhere)
    elif file is not None:
        from cardoffers_cli.answers.why import why_each

        rows = why_each(refs, owner, context.job, everywhere=everywhere)
        context.show(rows, Sheet.of(ListedWhy, "why", rows), **_ending(rows))
    else:
        from cardoffers_cli.answers.why import why as explain

        explanation = explain(refs[0], owner, context.job, now=now, everywhere=everywhere)
        context.show(explanation, *_blocks(explanation))
        if explanation.status == "not_received":
            of = None if everywhere else explanation.institution
            _not_received(refs[0], of, explanation.near, explanation.received_from)


def _refs(
    ref: str | None, file: str | None, *, now: bool, plain: bool, locale: str | None
) -> list[str]:

    if (ref is None) == (file is None):
        raise UsageError(
            "Name one reference, or a file of them.",
            hint="Write `cardoffers why REF -i INST`, or --file FILE with one reference a line.",
        )
    if now and (plain or file is not None):
        raise UsageError(
            "--now looks at one purchase, for staff.", hint="Leave out --plain and --file."
        )
    if locale and not plain:
        raise UsageError("--locale is the language of --plain.", hint="Add --plain.")
    if file is None:
        return [ref or ""]
    from cardoffers_cli.merchants.page import read_list

    return read_list(file)


def _show_plain(
    context: CommandContext,
    refs: Sequence[str],
    institution: str | None,
    locale: str | None,
    *,
    is_list: bool,
    everywhere: bool,
) -> None:
    from cardoffers_cli.answers.why import plain_answers

    answers = plain_answers(refs, institution, context.job, locale=locale, everywhere=everywhere)
    sheet = Sheet("answers", PLAIN, answers)
    if is_list:
        context.show(answers, sheet, **_ending(answers))
        return
    if context.options.format is None and context.output is None:
        context.say(answers[0].answer)
    else:
        context.show(answers[0], sheet)
    if answers[0].status == "not_received":
        _not_received(refs[0], institution, [], [])


def _ending(answers: "Sequence[ListedWhy] | Sequence[PlainAnswer]") -> Mapping[str, Any]:
    unknown = sum(answer.status == "not_received" for answer in answers)
    why = f"Never received: {unknown:,} of {counted(len(answers), 'reference')}." if unknown else ""
    return {"exit_code": WITH_FINDINGS if unknown else 0, "why": why}


def _not_received(
    ref: str, institution: str | None, near: Sequence[str], others: Sequence[str]
) -> NoReturn:
    hint = "`cardoffers find` looks by day, amount, merchant or card."
    message = f"Nothing with the reference {ref!r} was received"
    if others:
        message += f" from {institution}; {listed(others)} sent it"
        hint = f"`cardoffers why {quote(ref)} -i {others[0]}` tells why."
    raise NotFound(
        f"{message}.",
        code="not_received",
        hint=hint if others else did_you_mean(near) or hint,
        near=list(near),
        received_from=list(others),
    )


def _blocks(explanation: "Why") -> Iterator[Block]:
    from cardoffers_cli.answers.explanations import Evaluation
    from cardoffers_cli.answers.why import ListedWhy
    from cardoffers_cli.river.outcomes import Check

    yield Sheet.of(ListedWhy, "why", [explanation])
    if explanation.checks:
        title = f"Every check of {explanation.offer_id}"
        yield Sheet.of(Check, "checks", explanation.checks, title=title)
    # The version of the nearest offer's terms, with its figures.
    for row in explanation.evaluations:
        if row.offer_id == explanation.offer_id:
            terms = {**row.terms, "since": row.terms.since or "the beginning"}
            yield Sheet.of_fields(
                "terms", terms, f"The terms of {explanation.offer_id} at the purchase"
            )
    others = [
        {**evaluation, "version": evaluation.terms.version}
        for evaluation in explanation.evaluations
        if evaluation.offer_id != explanation.offer_id
    ]
    if others:
        columns = (*columns_of(Evaluation), Column("version", kind="integer", gives_way=1))
        yield Sheet("offers", columns, others, title="The other offers")
    for name, title in _FIELDS.items():
        if fields := explanation.get(name):
            yield Sheet.of_fields(name, fields, title)
    for name, title in LISTS.items():
        if rows := explanation.get(name):
            yield Sheet.of(type(rows[0]), name, rows, title=title)
    if explanation.now:
        yield from _now(explanation.now)


def _now(again: "DecidedNow") -> Iterator[Block]:
    from cardoffers_cli.river.outcomes import Check

    fields = {name: again[name] for name in ("status", "reason", "headline", "offer_id")}
    fields["differs"] = ", ".join(again.differs) or "nothing"
    yield Sheet.of_fields("now", fields, "If it were decided now")
    if again.checks:
        yield Sheet.of(Check, "checks_now", again.checks, title="Every check, now")


# `cardoffers timeline`: everything that happened, from any id.


def timeline(
    ctx: typer.Context,
    id_: Annotated[
        str,
        argument(
            "ID",
            "A reference, or the id of a redemption, ledger entry, settlement, import, "
            "webhook (its redemption), link or transaction. Of the first five the beginning does, "
            "and latest is the newest redemption.",
        ),
    ],
    *,
    institution: AskedInstitution = None,
    everywhere: AllInstitutions = False,
) -> None:
    """Show everything that happened, from the purchase to the money, and what comes next."""
    from cardoffers_cli.answers.timelines import ExpectedEvent, TimelineEvent, tell_timeline

    context = CommandContext.of(ctx)
    owner = context.institution(institution, everywhere=everywhere)
    result = tell_timeline(id_, owner, context.job, everywhere=everywhere)
    if result.redemption:
        context.note(result.redemption.sentence)
    if not result.expected:
        context.note("Nothing more is expected.")
    context.show(
        result,
        Sheet.of(TimelineEvent, "events", result.events),
        Sheet.of(ExpectedEvent, "expected", result.expected, title="Expected next"),
    )
