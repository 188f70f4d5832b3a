"""Lines without a look, which the screen and the conversation share.

A line's `tone` says what it is for the eye; the words alone say everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

from cardoffers_cli.answers.browse.queries import EXAMPLES
from cardoffers_cli.kernel.words.moments import format_length, format_minute
from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.visible import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cardoffers_cli.answers.browse.inquiry import AnsweredFrom, FoundOne, Hits


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
        words(row["state"]),
        next((row[name] for name in _SELLER if row.get(name)), None),
        f"reference {ref}" if ref else row.get("id"),
        f"cardholder {masked}" if masked else None,
    )
    return ", ".join(named(part) for part in parts if part)
