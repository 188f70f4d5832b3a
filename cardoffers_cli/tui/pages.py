"""What is told of a finding, as lines without a look: the screen and the conversation share them.

A line's `tone` says what it is for the eye; the words alone say everything. Whatever came from
outside is shown with its control characters visible, and cut where it is endless.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

from cardoffers_cli.domain.headlines import place
from cardoffers_cli.domain.moments import format_length, format_minute
from cardoffers_cli.domain.money import money_text, quantize
from cardoffers_cli.domain.visible import shortened
from cardoffers_cli.files.sheets import cell_text
from cardoffers_cli.tui.queries import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cardoffers_cli.tui.inquiry import Case, Found, Source

    Row = dict[str, Any]

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
        parts = wrap(line.text, width, subsequent_indent=indent, drop_whitespace=True)
        yield from (Line(part, line.tone) for part in parts or [""])


def pair(word: str, meaning: str, width: int) -> Line:
    """Return a line of two columns, a word and what it means."""
    return Line(f"{word:<{width}} {meaning}", indent=width + 1)


def examples() -> Iterator[Line]:
    """Tell what can be looked for."""
    yield Line("What can be looked for", "title")
    yield from (pair(word, meaning, 28) for word, meaning in EXAMPLES)
    yield Line(
        "All that is written must hold. ref: merchant: cardholder: redemption: amount: day: or "
        "state: before a word says what it is."
    )


def summary(found: Found) -> Iterator[Line]:
    """Say what was searched, how what was typed was taken, and as of when."""
    names = {"purchases": "purchases", "rejected": "rejected rows", "duplicates": "duplicates"}
    counts = [
        f"{count:,} {names[name] if count != 1 else names[name][:-1]}"
        for name, count in found.searched.items()
        if name in names
    ]
    among = f" among {', '.join(counts)}" if counts else ""
    if found.rows:
        meaning = f" {found.attempt.meaning}" if found.attempt.meaning else ""
        yield Line(f"{len(found.rows):,} found{meaning}{among}.", "strong")
    else:
        yield Line(f"Nothing found{among}.", "strong")
    if found.near:
        yield Line(f"Did you mean {' or '.join(map(_name, found.near))}?")
    if not (found.rows or found.near):
        yield Line("Say less, or end a reference with * to look for its beginning.")
    if found.is_cut_off:
        yield Line("There are more than are shown: add a day, an amount or a state.")


def moment(source: Source) -> str:
    """Say of when the answers are."""
    return f"as of {format_minute(source.snapshot_at or source.as_of)}"


def age(source: Source) -> Iterator[Line]:
    """Say how old the answers are and who holds the store, if they are from the snapshot."""
    if source.snapshot_at is None:
        return
    old = source.as_of - source.snapshot_at
    length = f", {format_length(old)} old" if old >= timedelta() else ""
    taken = format_minute(source.snapshot_at)
    yield Line(f"SNAPSHOT of {taken}{length}. {source.busy}", "strong")


def item(row: Row) -> str:
    """Say what a row of a list is, in one sentence without columns."""
    moment = row.get("transacted_at") or row.get("received_at")
    masked, ref = row.get("cardholder_token_masked"), row.get("transaction_ref")
    parts = (
        format_minute(moment) if moment else None,
        money_text(row["amount"], row["currency"]) if row.get("amount") is not None else None,
        _words(row["state"]),
        row.get("merchant_name") or row.get("merchant_identifier") or row.get("code"),
        f"reference {ref}" if ref else row.get("id"),
        f"cardholder {masked}" if masked else None,
    )
    return ", ".join(_name(part) for part in parts if part)


def glance(case: Case) -> Iterator[Line]:
    """Say in three lines what it is, what became of the money, and of the webhook."""
    row, found = case.row, case.why
    if case.ref is None or found is None:
        yield Line(_unnamed(row), "strong", indent=2)
        return
    yield Line(f"{_name(case.ref)}  {_bought(found)}", "strong", indent=2)
    yield Line(f"Money    {_money(case.redemption)}", indent=9)
    yield Line(f"Webhook  {_webhook(case.redemption)}", indent=9)


def why_page(case: Case) -> Iterator[Line]:
    """Tell why it redeemed or not, with every check, the other offers, and what was not taken."""
    found = case.why
    if found is None:
        yield from _without_ref(case.row)
        return
    yield Line(found["headline"], "strong")
    yield from _checks(found)
    yield from _other_offers(found)
    yield from _rejects(found)
    yield from _repeats(found)


def timeline_page(case: Case) -> Iterator[Line]:
    """Tell everything that happened, with the time between, and what is expected next."""
    found = case.timeline
    if found is None:
        yield from _without_ref(case.row)
        return
    for event in found["events"]:
        yield Line(_event(event), indent=31)
    yield EMPTY
    if not found["expected"]:
        yield Line("Nothing more is expected.")
        return
    yield Line("Expected next", "title")
    for each in found["expected"]:
        yield Line(_expected(each), indent=2)


def answer_page(case: Case, locale: str | None) -> Iterator[Line]:
    """Tell what the cardholder may be told."""
    found = case.answer(locale)
    if found is None:
        yield Line("There is no one purchase to answer for.")
        return
    yield Line(found["answer"])


def _unnamed(row: Row) -> str:
    if "id" in row:
        return f"{row['kind'].capitalize()} {row['id']}"
    return f"A row without a reference: {place({'file_kind': None, **row})}"


def _without_ref(row: Row) -> Iterator[Line]:
    if "id" in row:
        yield Line(
            f"A {row['kind']} may be of many purchases: the timeline tells of them together."
        )
        return
    yield Line(f"It was rejected ({_words(row.get('code') or 'unknown')}), and kept no reference.")
    yield Line(f"It came in {place({'file_kind': None, **row})}.")


def _bought(found: Row) -> str:
    purchase = found["purchase"]
    if purchase is None:
        return _words(found["status"])
    who = purchase["cardholder_token_masked"]
    return f"{format_minute(purchase['transacted_at'])}  cardholder {who}"


def _money(redemption: Row | None) -> str:
    if redemption is None:
        return "none"
    currency, state = redemption["currency"], redemption["status"]
    payout, funded, commission = (
        quantize(redemption[name], currency)
        for name in ("institution_payout_amount", "merchant_funded_amount", "commission_amount")
    )
    moment = redemption["settles_at" if state == "pending" else f"{state}_at"]
    when = f"{'until ' if state == 'pending' else ''}{format_minute(moment)}"
    return f"{currency} {payout} {state} {when} (merchant {funded}, commission {commission})"


def _webhook(redemption: Row | None) -> str:
    if redemption is None or redemption["webhook_state"] is None:
        return "none"
    state, count = redemption["webhook_state"], redemption["webhook_attempts"]
    tried = "1 attempt" if count == 1 else f"{count} attempts"
    next_at = redemption["webhook_next_attempt_at"]
    due = state in {"due", "failed"} and next_at
    return f"{state}, {tried}{f', next at {format_minute(next_at)}' if due else ''}"


_MARKS: dict[bool | None, tuple[str, Tone]] = {
    True: ("yes", "plain"),
    False: ("NO", "strong"),
    None: ("-", "faint"),
}
"""How a check stands out: held, failed, or never reached."""


def _checks(found: Row) -> Iterator[Line]:
    if not found["checks"]:
        return
    yield EMPTY
    yield Line(f"Every check of {_name(found['offer_id'])}", "title")
    for each in found["checks"]:
        mark, tone = _MARKS[each["ok"]]
        text = f"{mark:<5}{_words(each['check']):<12} {_name(each['detail'])}"
        yield Line(f"{text}{_difference(each)}", tone, indent=18)


def _difference(check: Row) -> str:
    """Say what a failed check expected, and what was there."""
    if check["ok"] is not False or check["actual"] is None:
        return ""
    return f" (expected {cell_text(check['expected'])}, was {cell_text(check['actual'])})"


def _other_offers(found: Row) -> Iterator[Line]:
    others = [each for each in found["evaluations"] if each["offer_id"] != found["offer_id"]]
    if not others:
        return
    yield EMPTY
    yield Line("The other offers", "title")
    for each in others:
        compared = _difference({"ok": False, **each})
        yield Line(f"{_name(each['offer_id'])}  {_words(each['outcome'])}{compared}", indent=2)


def _rejects(found: Row) -> Iterator[Line]:
    if not found["rejects"]:
        return
    yield EMPTY
    yield Line("Rejected rows", "title")
    for each in found["rejects"]:
        column = f"{each['column']}: " if each["column"] else ""
        yield Line(f"{place(each)}: {column}the {each['message']} ({each['code']})", indent=2)
        yield Line(f"  To mend it: {each['fix']}.", indent=2)


def _repeats(found: Row) -> Iterator[Line]:
    if not found["duplicates"]:
        return
    yield EMPTY
    yield Line("Came again", "title")
    for each in found["duplicates"]:
        content = "other content" if each["conflict"] else "the same content"
        yield Line(f"{place(each)}, {format_minute(each['imported_at'])}, {content}", indent=2)


def _event(event: Row) -> str:
    detail = event["detail"] or ""
    if event["event"] == "decided":
        detail = _words(detail)
    parts = [_name(detail)] if detail else []
    if event["amount"] is not None:
        parts.append(money_text(event["amount"], event["currency"]))
    if event["times"] > 1:
        parts.append(f"{event['times']:,} times")
    if event["gap"]:
        parts.append(f"{event['gap']} later")
    if event["actor"]:
        parts.append(f"by {_name(event['actor'])}")
    return f"{event['happened_at']:%Y-%m-%d %H:%M}  {event['event']:<12} {', '.join(parts)}"


def _expected(each: Row) -> str:
    when = f" at {format_minute(each['at'])}" if each["at"] else ""
    late = ", overdue" if each["overdue"] else ""
    many = f", {each['times']:,} times" if each["times"] > 1 else ""
    return f"{each['event']}{when}{late}{many}: {each['by']}"


def _words(code: str) -> str:
    """Write a code as words: `not_matched_yet` is `not matched yet`."""
    return code.replace("_", " ")


def _name(text: Any) -> str:
    return shortened(str(text), _LONGEST)
