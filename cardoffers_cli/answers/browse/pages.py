"""What is told of one finding: at a glance, why, its timeline, and the cardholder's answer.

The screen and the conversation share these lines without a look: a line's `tone` says what it is
for the eye; the words alone say everything. Whatever came from outside is cut where it is endless,
and its control characters are visible.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from shlex import quote
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

from cardoffers_cli.answers.browse.inquiry import EXAMPLES
from cardoffers_cli.answers.headlines import place
from cardoffers_cli.credits.rules import document_text, meaning_of
from cardoffers_cli.events.deliver import delivery_text
from cardoffers_cli.kernel.sheets.sheets import cell_text
from cardoffers_cli.kernel.words.moments import format_length, format_minute
from cardoffers_cli.kernel.words.money import money_text, quantize
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.kernel.words.visible import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from cardoffers_cli.answers.browse.inquiry import AnsweredFrom, Case, FoundOne, Hits
    from cardoffers_cli.answers.explanations import Evaluation, ExplainedRedemption, ExplainedRefund
    from cardoffers_cli.answers.why import Why
    from cardoffers_cli.merchants.suggestions import Suggestion
    from cardoffers_cli.river.outcomes import Check


Tone = Literal["plain", "title", "strong", "faint"]

_LONGEST = 200
"""Letters of a name or a detail that are shown; nobody reads on."""


@dataclass(frozen=True)
class Line:
    """One line, as long as it may be; where it is broken, what follows is set in by `indent`."""

    text: str
    tone: Tone = "plain"
    indent: int = 0


EMPTY = Line("")


def broken(lines: Iterable[Line], width: int) -> Iterator[Line]:
    """Yield lines that fit a width, broken between words."""
    for line in lines:
        indent = " " * min(line.indent, width // 2)
        parts = wrap(line.text, width, subsequent_indent=indent, break_on_hyphens=False)
        yield from (Line(part, line.tone) for part in parts or [""])


def pair(word: str, meaning: str, width: int) -> Line:
    """Return a line of two columns, a word and what it means."""
    return Line(f"{word:<{width}} {meaning}", indent=width + 1)


def words(code: str) -> str:
    """Write a code as words: `not_matched_yet` is `not matched yet`."""
    return code.replace("_", " ")


def named(text: Any) -> str:
    """Return a name from outside, what acts or hides in it escaped, and cut where it is endless."""
    return shortened(str(text), _LONGEST)


# What is said about a search: what it can be for, what it came to, and of when that is.


_SELLER = ("merchant_name", "merchant_descriptor", "merchant_identifier", "code")
"""What says where a purchase was made, or why a row was rejected; the first that is there."""


def examples() -> Iterator[Line]:
    """Tell what can be looked for."""
    yield Line("What can be looked for", "title")
    yield from (pair(word, meaning, 28) for word, meaning in EXAMPLES)
    yield Line(
        "All that is written must hold. ref: merchant: cardholder: redemption: amount: day: or "
        "state: before a word says what it is."
    )


def summary(hits: Hits) -> Iterator[Line]:
    """Say what was searched, how what was typed was taken, and as of when."""
    names = {"purchases": "purchases", "rejected": "rejected rows", "duplicates": "duplicates"}
    counts = [
        f"{count:,} {names[name] if count != 1 else names[name][:-1]}"
        for name, count in hits.searched.items()
        if name in names
    ]
    among = f" among {', '.join(counts)}" if counts else ""
    if hits.rows:
        meaning = f" {hits.attempt.meaning}" if hits.attempt.meaning else ""
        yield Line(f"{len(hits.rows):,} found{meaning}{among}.", "strong")
    else:
        yield Line(f"Nothing found{among}.", "strong")
    if hits.near:
        yield Line(f"Did you mean {' or '.join(map(named, hits.near))}?")
    if not (hits.rows or hits.near):
        yield Line("Say less, or end a reference with * to look for its beginning.")
    if hits.is_cut_off:
        yield Line("There are more than are shown: add a day, an amount or a state.")


def moment(source: AnsweredFrom) -> str:
    """Say of when the answers are."""
    return f"as of {format_minute(source.snapshot_at or source.as_of)}"


def age(source: AnsweredFrom) -> Iterator[Line]:
    """Say how old the answers are and who holds the store, if they are from the snapshot."""
    if source.snapshot_at is None:
        return
    old = source.as_of - source.snapshot_at
    length = f", {format_length(old)} old" if old >= timedelta() else ""
    minute = format_minute(source.snapshot_at)
    yield Line(f"SNAPSHOT of {minute}{length}. {source.busy}", "strong")


def item(row: FoundOne) -> str:
    """Say what a row of a list is, in one sentence without columns."""
    moment = row.get("transacted_at") or row.get("received_at")
    masked, ref = row.get("cardholder_token_masked"), row.get("transaction_ref")
    parts = (
        format_minute(moment) if moment else None,
        money_text(row["amount"], row["currency"]) if row.get("amount") is not None else None,
        words(row.get("story") or row["state"]),
        next((row[name] for name in _SELLER if row.get(name)), None),
        f"reference {ref}" if ref else row.get("id"),
        f"cardholder {masked}" if masked else None,
    )
    return ", ".join(named(part) for part in parts if part)


if TYPE_CHECKING:
    Row = Mapping[str, Any]


def glance(case: Case) -> Iterator[Line]:
    """Say in three lines what it is, what became of the money, and of the webhook."""
    row, explanation = case.row, case.why
    if case.ref is None or explanation is None:
        if "id" in row:
            title = f"{row['kind'].capitalize()} {row['id']}"
        else:
            title = f"A row without a reference: {place({'file_kind': None, **row})}"
        yield Line(title, "strong", indent=2)
        return
    purchase, bought = explanation.purchase, words(explanation.status)
    if purchase is not None:
        who = purchase.cardholder_token_masked
        bought = f"{format_minute(purchase.transacted_at)}  cardholder {who}"
    yield Line(f"{named(case.ref)}  {bought}", "strong", indent=2)
    earned = explanation.redemption
    yield Line(f"Money    {_money(case.redemption, earned)}", indent=9)
    yield Line(f"Webhook  {delivery_text(earned) if earned else 'none'}", indent=9)


def why_page(case: Case) -> Iterator[Line]:
    """Tell why it redeemed or not: checks, what came back, other offers, what was not taken."""
    explanation = case.why
    if explanation is None:
        yield from _without_ref(case.row)
        return
    yield Line(explanation.headline, "strong")
    yield from _section(f"Every check of {named(explanation.offer_id)}", _checks(explanation))
    yield from _section("Credited, closed and paid", _trail(explanation))
    yield from _section("What came back", _refunds(explanation))
    yield from _section("The other offers", _other_offers(explanation))
    yield from _section("Rejected rows", _rejects(explanation))
    yield from _section("Came again", _repeats(explanation))


def _section(title: str, body: Iterable[Line]) -> Iterator[Line]:
    """Yield what is told below a title; nothing where nothing is."""
    if lines := list(body):
        yield from (EMPTY, Line(title, "title"), *lines)


def timeline_page(case: Case) -> Iterator[Line]:
    """Tell everything that happened, with the time between, and what is expected next."""
    timeline = case.timeline
    if timeline is None:
        yield from _without_ref(case.row)
        return
    for event in timeline.events:
        detail = event.detail or ""
        if event.event == "decided":
            detail = words(detail)
        parts = [named(detail)] if detail else []
        if event.amount is not None and event.currency:
            parts.append(money_text(event.amount, event.currency))
        if event.times > 1:
            parts.append(f"{event.times:,} times")
        if event.gap:
            parts.append(f"{event.gap} later")
        if event.actor:
            parts.append(f"by {named(event.actor)}")
        yield Line(
            f"{event.happened_at:%Y-%m-%d %H:%M}  {event.event:<12} {', '.join(parts)}", indent=31
        )
    yield EMPTY
    if not timeline.expected:
        yield Line("Nothing more is expected.")
        return
    yield Line("Expected next", "title")
    for next_event in timeline.expected:
        when = f" at {format_minute(next_event.at)}" if next_event.at else ""
        overdue = ", overdue" if next_event.overdue else ""
        many = f", {next_event.times:,} times" if next_event.times > 1 else ""
        yield Line(f"{next_event.event}{when}{overdue}{many}: {next_event.by}", indent=2)


def answer_page(case: Case, locale: str | None) -> Iterator[Line]:
    """Tell what the cardholder may be told."""
    answer = case.answer(locale)
    if answer is None:
        yield Line("There is no one purchase to answer for.")
        return
    yield Line(answer.answer)


def merchants_page(suggested: Sequence[Suggestion]) -> Iterator[Line]:
    """Tell which known merchants unknown identifiers may be of, and how to answer."""
    yield Line("Unknown merchants that may be known", "title")
    if not suggested:
        yield Line("None: no known merchant is likelier than not.")
        return
    for row in suggested:
        yield EMPTY
        name, identifier = named(row.merchant_name), named(row.merchant_identifier)
        yield Line(
            f"{row.probability:.0%}  {named(row.merchant_descriptor)} may be {name}", "strong", 5
        )
        yield Line(
            f"     {counted(row.purchases, 'purchase')}, {money_text(row.amount, row.currency)};"
            f" {counted(row.links, 'link')} to its offers; {row.leading_characters} leading"
            " characters as its own",
            indent=5,
        )
        merchant = quote(name if name == row.merchant_name else str(row.merchant_id))
        yield Line(
            f'     cardoffers merchant accept {quote(identifier)} {merchant} --reason "…"', indent=7
        )
    yield EMPTY
    yield Line("Nothing here answers: type the command in a shell, or answer them one by one with")
    yield Line("`cardoffers merchant suggest --review`; what a match would pay is shown there too.")


def _without_ref(row: FoundOne) -> Iterator[Line]:
    if "id" in row:
        yield Line(
            f"A {row['kind']} may be of many purchases: the timeline tells of them together."
        )
        return
    yield Line(f"It was rejected ({words(row.get('code') or 'unknown')}), and kept no reference.")
    yield Line(f"It came in {place({'file_kind': None, **row})}.")


def _money(redemption: Row | None, earned: ExplainedRedemption | None) -> str:
    if redemption is None or earned is None:
        return "none"
    currency = redemption["currency"]
    payout, funded, commission = (
        quantize(redemption[name], currency)
        for name in ("institution_payout_amount", "merchant_funded_amount", "commission_amount")
    )
    became = f"{words(earned.story)} {format_minute(earned.story_at)}"
    return f"{currency} {payout} {became} (merchant {funded}, commission {commission})"


_MARKS: dict[bool | None, tuple[str, Tone]] = {
    True: ("yes", "plain"),
    False: ("NO", "strong"),
    None: ("-", "faint"),
}
"""How a check stands out: held, failed, or never reached."""


def _checks(explanation: Why) -> Iterator[Line]:
    for check in explanation.checks:
        mark, tone = _MARKS[check.ok]
        text = f"{mark:<5}{words(check.check):<12} {named(check.detail)}"
        missed = _difference(check) if check.ok is False else ""
        yield Line(f"{text}{missed}", tone, indent=18)


def _difference(check: Check | Evaluation) -> str:
    """Say what a failed check expected, and what was there."""
    if check.actual is None:
        return ""
    return f" (expected {_value(check.expected)}, was {_value(check.actual)})"


def _value(value: Any) -> str:
    return format_minute(value) if isinstance(value, datetime) else cell_text(value)


def _other_offers(explanation: Why) -> Iterator[Line]:
    for offer in explanation.evaluations:
        if offer.offer_id != explanation.offer_id:
            text = f"{named(offer.offer_id)}  {words(offer.outcome)}{_difference(offer)}"
            yield Line(text, indent=2)


def _trail(explanation: Why) -> Iterator[Line]:
    """Tell what became of the money: credited or not, what it stands on, what the bank said."""
    credit = explanation.credit
    if credit is not None:
        amount = money_text(credit.credited_amount, credit.currency)
        last = f", last at {format_minute(credit.credited_at)}" if credit.credited_at else ""
        row = f" ({named(credit.credit_ref)})" if credit.credit_ref else ""
        yield Line(f"credited {amount}{last}{row}", indent=2)
        yield Line(f"  {meaning_of(credit.verdict, credit.credit_days).says}", indent=2)
    for document in explanation.documents or ():
        amount = money_text(document.amount, document.currency)
        yield Line(f"{named(document_text(document))}, {amount}", indent=2)


def _refunds(explanation: Why) -> Iterator[Line]:
    """Tell what came back of a purchase, as `why` does, or how far a refund is."""
    for row in explanation.refunds or ():
        what = f"{row.kind} of {money_text(row.amount, row.currency)}"
        yield Line(f"{named(row.refund_ref)}  {format_minute(row.refunded_at)}  {what}", indent=2)
        yield Line(f"  {_became(row)}", indent=2)


def _became(refund: ExplainedRefund) -> str:
    """Say the state of a refund, who linked it, what is left of its purchase, and what moved."""
    parts = [words(refund.state)]
    if refund.outcome:
        parts.append(words(refund.outcome))
    if refund.how:
        parts.append(f"by {named(refund.actor)}" if refund.how == "person" else words(refund.how))
    if refund.purchase_amount is not None and refund.net_after is not None:
        net, spent = (
            money_text(part, refund.currency) for part in (refund.net_after, refund.purchase_amount)
        )
        parts.append(f"{net} of {spent} left")
    if refund.outcome == "reversed" and refund.institution_payout_amount is not None:
        back = money_text(refund.institution_payout_amount, refund.currency)
        parts.append(f"{back} of cashback taken back")
    return ", ".join(parts)


def _rejects(explanation: Why) -> Iterator[Line]:
    for reject in explanation.rejects:
        column = f"{reject.column}: " if reject.column else ""
        yield Line(f"{place(reject)}: {column}the {reject.message} ({reject.code})", indent=2)
        yield Line(f"  To fix it: {reject.fix}.", indent=2)


def _repeats(explanation: Why) -> Iterator[Line]:
    for row in explanation.duplicates:
        content = "other content" if row.conflict else "the same content"
        yield Line(f"{place(row)}, {format_minute(row.imported_at)}, {content}", indent=2)
