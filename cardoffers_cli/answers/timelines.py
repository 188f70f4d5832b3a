"""Timelines: everything that happened to a purchase, from any id that leads to it.

A ref, also of a refund or a credited row, or the id of a redemption (which is also that of its
webhook), of a ledger entry, settlement, import or call, link, or transaction. Settlements and
imports are of many purchases; what happened to them together stands in one row. What is missing
shows as the time between two events.
"""

from __future__ import annotations

from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cardoffers_cli.answers.explanations import near_refs
from cardoffers_cli.answers.money_trails import stories_of
from cardoffers_cli.answers.search import senders
from cardoffers_cli.credits.rules import story_text
from cardoffers_cli.kernel.identifiers import whole_id
from cardoffers_cli.kernel.store.institutions import asked_institutions
from cardoffers_cli.kernel.store.interning import purchases_of_refs
from cardoffers_cli.kernel.store.masking import without_cards
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.kernel.words.moments import format_length
from cardoffers_cli.kernel.words.nearest import did_you_mean
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.kernel.words.sentences import listed, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime, timedelta

    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


_WAYS = ("known_by_id", "known_by_refund", "known_by_credit", "known_by_line")
"""Where what is written down is looked for, when it is no reference, the quickest first."""

_DERIVED = ("link", "transaction")
"""What has its id made of what it is, and never written down: every one there is must be made."""

_LOOKED_FOR = {"ref", *_DERIVED}
"""What is followed as soon as it is found, as it is found by its purchases."""

_DERIVED_VERSION = 8
"""RFC 9562: ids that are drawn are of version 4."""

_OF_MANY = {"settlement", "import"}


class TimelineEvent(Record, sheet="happened_at gap event detail amount currency times actor"):
    """What happened at a moment, so many `times` at once, with the time since the event before.

    `amount` is of them together. `gap_s` are seconds, and `gap` the same for the eye.
    """

    happened_at: datetime
    event: str
    detail: str | None
    actor: str | None = shown(gives_way=1)
    currency: str | None = shown(gives_way=4)
    amount: Amount | None = shown(gives_way=3)
    times: int = shown(gives_way=5)
    gap_s: int | None
    gap: str | None = shown(gives_way=2)


class ExpectedEvent(Record):
    """What is expected next, so many `times`, from when, and the command that does it."""

    event: str
    at: datetime | None
    overdue: bool
    times: int
    by: str


class TimelineStory(Record):
    """What became of a redemption (rules.md#stories), and the same as a sentence for staff."""

    redemption_id: UUID
    story: str
    story_at: datetime
    story_amount: Amount
    currency: str
    sentence: str


class Timeline(Record):
    """What happened to that which an id is of, the earliest first, and what is expected next.

    Of what is of one purchase `redemption` says what became of that which it redeemed.
    """

    id: str
    kind: str
    institution: str
    as_of: datetime
    redemption: TimelineStory | None = if_any()
    events: list[TimelineEvent]
    expected: list[ExpectedEvent]


def kind_of(store: Store, institution_id: UUID, id_: str) -> str | None:
    """Return what an institution has under an id, or None.

    One of ref (of a purchase, or of rows that were not accepted), refund, credit, redemption,
    entry, settlement, import, link, transaction. Looking for the last two takes seconds where there
    are millions, and what it finds is kept for `timeline`, in the same opening of the store.
    """
    numbers = purchases_of_refs(store, [id_], institution_id)
    store.execute(_following("ref"), purchase_nos=numbers)
    if numbers:
        return "ref"
    for way in _WAYS:
        kind: str | None = store.value(
            f"answers/timelines:{way}", institution_id=institution_id, id=id_
        )
        if kind:
            return kind
    try:
        named = UUID(id_)
    except ValueError:
        return None
    if named.version != _DERIVED_VERSION:
        return None
    beginning = named.hex[:12]  # the digits before the version
    of = {"institution_id": institution_id, "id": id_, "beginning": beginning}
    if store.execute(_following("link"), **of):
        return "link"
    # the derived id of a purchase is told to calls only
    takes_calls = store.value("answers/timelines:takes_calls", institution_id=institution_id)
    is_purchase = takes_calls and store.execute(_following("transaction"), **of)
    return "transaction" if is_purchase else None


def timeline(
    store: Store, institution_id: UUID, id_: str, kind: str, now: datetime, *, institution: str
) -> Timeline:
    """Return the timeline of an id, which is of a `kind` at the institution of an id and a slug."""
    of = {"institution_id": institution_id, "id": id_}
    single = {"is_single": kind not in _OF_MANY}
    if kind not in _LOOKED_FOR:
        store.execute(_following(kind), **of)
    store.execute("answers/timelines:refs", **of, **single)
    store.execute("answers/timelines:imports_followed", **of, **single)
    store.execute("answers/timelines:refunds_followed", **of, **single)
    store.execute("answers/timelines:credits_followed", **of, **single)
    store.execute("answers/timelines:links_followed", **of, **single)
    (waits,) = store.rows("answers/timelines:waiting", institution_id=institution_id)
    return Timeline(
        id=id_,
        kind=kind,
        institution=institution,
        as_of=now,
        redemption=_story(store, institution_id) if single["is_single"] else None,
        events=[*_events(store, {"institution_id": institution_id, **single})],
        expected=[*_expected(waits, now)],
    )


def _story(store: Store, institution_id: UUID) -> TimelineStory | None:
    """Return what became of the redemption that is followed, if it is one."""
    rows = store.rows("answers/timelines:redeemed", institution_id=institution_id)
    numbers = [row["redemption_no"] for row in rows]
    if len(numbers) != 1:
        return None
    (story,) = stories_of(store, institution_id, numbers).values()
    text = story_text(story, story["verdict"])
    return TimelineStory.part(story, sentence=f"{sentence(text)}.")


def _following(kind: str) -> str:
    return f"answers/timelines:follow_{kind}"


def _events(store: Store, of: dict[str, object]) -> Iterator[TimelineEvent]:
    before: datetime | None = None
    for row in store.rows("answers/timelines:events", **of):
        gap: timedelta | None = row["happened_at"] - before if before else None
        before = row["happened_at"]
        seconds = None if gap is None else int(gap.total_seconds())
        length = format_length(gap) if gap else None
        yield TimelineEvent.of({**row, "gap_s": seconds, "gap": length})


def _expected(waits: Mapping[str, Any], now: datetime) -> Iterator[ExpectedEvent]:
    steps = (
        ("to_match", "decided", None, "cardoffers match"),
        ("unresolved", "merchant known", None, "cardoffers catalog import, then cardoffers match"),
        ("to_apply", "refund applied", None, "cardoffers refund apply"),
        ("to_settle", "settled", waits["settles_at"], "cardoffers settle"),
        ("to_deduct", "deducted", None, "cardoffers settle"),
        ("to_send", "delivered", waits["sends_at"], "cardoffers webhook send"),
        ("exhausted", "delivered", None, "cardoffers webhook retry"),
    )
    for count, event, at, how in steps:
        if times := waits[count]:
            overdue = at is not None and at <= now
            yield ExpectedEvent(event=event, at=at, overdue=overdue, times=times, by=how)


# Timeline: everything that happened, from any id, and what is expected next.


def tell_timeline(
    id_: str, institution: str | None, job: Job, *, everywhere: bool = False
) -> Timeline:
    """Return the timeline of an id or ref; raise `NotFound`.

    With `everywhere` it is that of the institution that has it; where several have, `UsageError`
    reference_ambiguous.
    """
    with reading(job) as source:
        owners = asked_institutions(source.store, institution, everywhere=everywhere)
        hits = [hit for owner in owners if (hit := _known(source.store, owner, id_))]
        if not hits:
            raise _unknown(source.store, owners, id_)
        if len(hits) > 1:
            raise UsageError(
                f"{id_} is one of {listed([owner.slug for owner, *_ in hits])}.",
                code="reference_ambiguous",
                hint="Name the institution with -i.",
            )
        ((owner, full_id, kind),) = hits
        if len(owners) > 1:
            kind_of(source.store, owner.id, full_id)  # what it left for `timeline` is another's now
        result = timeline(source.store, owner.id, full_id, kind, job.now, institution=owner.slug)
    masked: Timeline = without_cards(result)
    return replace(masked, id=full_id)  # who asks has written it


def _known(store: Store, owner: Institution, id_: str) -> tuple[Institution, str, str] | None:
    """Return the whole id that an institution has, and what it is of; None if it has none."""
    if kind := kind_of(store, owner.id, id_):
        return owner, id_, kind
    full_id = whole_id(store, "told", id_, owner.id)
    kind = kind_of(store, owner.id, full_id)
    return (owner, full_id, kind) if kind else None


def _unknown(store: Store, owners: Sequence[Institution], id_: str) -> NotFound:
    """Say that nothing is known of an id, who else sent it, or what may have been meant."""
    if len(owners) > 1:
        hint = "`cardoffers find --all-institutions` looks by day, amount or merchant."
        return NotFound(f"No institution has {id_!r}.", code="not_received", hint=hint)
    (owner,) = owners
    others = senders(store, [id_], but=owner.id).get(id_, [])
    if others:
        message = f"{owner.slug} did not send {id_!r}; {listed(others)} did."
        hint = f"`cardoffers timeline {quote(id_)} -i {others[0]}` tells of it."
        return NotFound(message, code="not_received", hint=hint, received_from=others)
    near = near_refs(store, owner.id, id_)
    hint = f"`cardoffers find -i {owner.slug}` looks by day, amount, merchant or card."
    return NotFound(
        f"{owner.slug} has nothing under {id_!r}.",
        code="not_received",
        hint=did_you_mean(near) or hint,
        near=near,
    )
