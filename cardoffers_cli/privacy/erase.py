"""Erase a cardholder: a tombstone takes the place of every token, counts and money stay.

The keyed hash of the token is put on the list beside the store before the store is changed, so a
crash in between, or the restore of an older backup, is made good by what the list says. Killed at
any time it can be run again, and then ends what was begun. The snapshot is withdrawn; freed blocks
of the store's file hold the tokens until it is written anew (`archive/export.py`).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from secrets import token_bytes
from typing import TYPE_CHECKING, Any

from cardoffers_cli.copies.work import entries, newest_erasures, repository_of
from cardoffers_cli.institutions.holds import hold_on
from cardoffers_cli.kernel.store import acts, snapshot
from cardoffers_cli.kernel.store.approval_requests import approvable, require_approval
from cardoffers_cli.kernel.store.erasures import (
    KEY_BYTES,
    ListedErasure,
    add,
    erasure_id,
    keep,
    mark,
    own_list,
    read_list,
    token_hash,
)
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from cardoffers_cli.kernel.words.moments import format_moment
from cardoffers_cli.kernel.words.records import Record, if_any
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.offers.links import CardholderUnknown, find_cardholder
from cardoffers_cli.privacy.erasures import (
    KIND,
    TOLD_APART,
    ErasedCounts,
    Erasure,
    erase,
    erase_again,
    log_erasure,
    missing_erasures,
    shared_instruments,
)
from cardoffers_cli.privacy.traces import Trace, traces

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

_NOBODY = dict.fromkeys(("cardholders", "instruments", "links", "purchases"), 0)
_NONE = ErasedCounts(**_NOBODY, redemptions=0, events=0)
_NO_KEY = bytes(32)
"""For dry runs, which draw none, where nobody was erased yet: what it hashes is not told."""


class ErasureRemainder(Record):
    """A table in whose texts a token stands still, such as a reference that was made of it."""

    place: str
    rows: int


class Erased(Record):
    """A cardholder who was erased, by the keyed hash of the token, and what there was and stays.

    `was_erased` says that an earlier run did it, and this one only looked. `shared_instruments`
    are tokens of cards that others have too, with whom they stay; `tokens_removed` the others, and
    `kept_rows` what stays under `cardholder_no`. `token_hash` is None of a dry run
    while nobody was erased yet. `places` are tables and `files`
    the files in which a token stands still, or may.
    """

    institution: str
    cardholder_no: int | None
    token_hash: str | None
    erased_at: datetime
    was_erased: bool
    instruments: int
    shared_instruments: int
    links: int
    purchases: int
    redemptions: int
    events: int
    tokens_removed: int
    kept_rows: int
    places: Sequence[ErasureRemainder]
    files: Sequence[Trace]
    approval: str | None = if_any()
    reason: str
    dry_run: bool


class ErasedAgain(Record):
    """How many erasures of the list the store did not know, and knows now.

    Of a restored store, erasures after `erasures_unknown_since` may be missing in the list.
    """

    erasures: int
    erasures_unknown_since: datetime | None = if_any()
    dry_run: bool


def erase_cardholder(
    job: Job, institution: str, token: str, reason: str, *, dry_run: bool = False
) -> Erased:
    """Erase the cardholder of an institution who has this token; return what there was of them.

    Raises `NotFound` for a stranger, `ApprovalNeeded`, and `Refused` under a legal hold, and while
    purchases wait for a match or events for being sent.
    """
    if not reason.strip() or token in reason:
        raise UsageError(
            "An erasure needs a reason, without the token in it.",
            hint='Say why: --reason "asked on 2026-11-02".',
        )
    with approvable(job, dry_run=dry_run) as store:
        owner = find_institution(store, institution)
        own = own_list(job.path)
        key = own.key if dry_run else own.key or token_bytes(KEY_BYTES)
        if not dry_run:
            keep(job.path, replace(own, key=key))
        named = _named(store, job, owner, token, reason, key=key or _NO_KEY)
        number = find_cardholder(store, owner.id, token)
        if number is None:
            earlier = store.record(
                Erasure,
                "privacy/erasures:latest",
                institution_id=owner.id,
                token_hash=named.token_hash,
            )
            erased = _earlier(owner, named, earlier, dry_run=dry_run)
            tokens = [token] if len(token) > TOLD_APART else []
        else:
            _may_go(store, owner, number)
            erased, tokens = _erase(
                store, job, owner, number, named, key=key or _NO_KEY, dry_run=dry_run
            )
        places = _places(store, tokens)
        files = traces(store, job, owner.slug, tokens)
    hashed = named.token_hash if key else None
    return Erased(**{**erased, "token_hash": hashed, "places": places, "files": files})


def reapply(
    job: Job, source: Path | str | None = None, *, none_since: bool = False, dry_run: bool = False
) -> ErasedAgain:
    """Do the erasures of the list that the store does not know, as after a loss of commits.

    `source` is the file of a newer list or the repository that has it, which is joined to the one
    beside the store; with `none_since` somebody says that there is none. Either answers for a
    restored store whose list may not be whole. Raises `NotFound` for a repository that has nothing
    of the store, which is no answer.
    """
    newer = None
    if str(source).startswith(("borg:", "plain:", "ssh:")):
        repository = repository_of(job, str(source))
        of = entries(job, repository)
        if not of:
            raise NotFound.from_table("privacy", "nothing_of_store", place=source)
        newer = newest_erasures(repository, of)
    elif source:
        newer = read_list(Path(source))
    with job.store(read_only=dry_run) as store:
        own = own_list(job.path)
        listed = own.joined(newer) if newer else own
        if newer or none_since:
            listed = replace(listed, unknown_since=None)
        count = len(missing_erasures(store, listed))
        if not dry_run:
            if own.unknown_since and not listed.unknown_since:
                # The security log says by what the list is known to be whole.
                with store.transaction():
                    acts.append(
                        store,
                        "erasures_known",
                        job,
                        details={
                            "since": format_moment(own.unknown_since),
                            "list": str(source) if source else None,
                        },
                    )
            keep(job.path, listed)
            if count:
                mark(job.path)
                erase_again(store, job, listed)
    if count and not dry_run:
        snapshot.withdraw(job.path)
    return ErasedAgain(erasures=count, erasures_unknown_since=listed.unknown_since, dry_run=dry_run)


def _named(
    store: Store, job: Job, owner: Institution, token: str, reason: str, *, key: bytes
) -> ListedErasure:
    """Return the erasure of a token, as it is to stand on the list."""
    hashed = token_hash(key, owner.id, token)
    of = {"institution_id": owner.id, "token_hash": hashed}
    number = int(store.value("privacy/erasures:number", **of))  # whoever returned is somebody new
    return ListedErasure(
        erasure_id=erasure_id(owner.id, hashed, number),
        institution_id=owner.id,
        token_hash=hashed,
        reason=reason.strip(),
        erased_at=job.now,
        actor=job.actor,
    )


def _places(store: Store, tokens: Sequence[str]) -> list[ErasureRemainder]:
    """Return the tables in which any of the tokens stands still, once for each token."""
    tables = [row["table_name"] for row in store.rows("kernel/store/copying:tables")]
    return [
        ErasureRemainder(place=table, rows=rows)
        for token in tokens
        for table in tables
        if (
            rows := int(store.value("kernel/store/copying:rows_with", table_name=table, text=token))
        )
    ]


def _erase(
    store: Store,
    job: Job,
    owner: Institution,
    cardholder_no: int,
    erasure: ListedErasure,
    *,
    key: bytes,
    dry_run: bool,
) -> tuple[Erased, list[str]]:
    """Erase in the caller's transaction, the list first; return the tokens that are gone too."""
    shared = shared_instruments(store, owner.id, cardholder_no)
    with run_record(store, kind=KIND, now=job.now, actor=job.actor) as run:
        approval = require_approval(
            store,
            run,
            owner,
            action="cardholder_erase",
            subject=f"cardholder {erasure.token_hash[:16]}",
            details={"token_hash": erasure.token_hash, "reason": erasure.reason},
            dry_run=dry_run,
        )
        if not dry_run:
            add(job.path, erasure)
        counts, tokens = erase(store, [erasure], key, run_no=run.run_no)
        run.counts.update(counts)
    log_erasure(store, erasure, job)
    if not dry_run:
        mark(job.path)
        snapshot.withdraw(job.path)  # before the commit: no copy may hold it longer than the store
    return _report(
        owner,
        erasure,
        counts,
        cardholder_no=cardholder_no,
        shared=shared,
        approval=approval,
        dry_run=dry_run,
    ), tokens


def _earlier(
    owner: Institution, named: ListedErasure, erasure: Erasure | None, *, dry_run: bool
) -> Erased:
    """Return what is said of somebody who was erased before; raise `NotFound` of a stranger."""
    if erasure is None:
        raise CardholderUnknown(owner.slug)
    earlier = replace(named, erased_at=erasure.erased_at)
    return _report(
        owner, earlier, _NONE, cardholder_no=erasure.cardholder_no, was_erased=True, dry_run=dry_run
    )


def _report(
    owner: Institution,
    erasure: ListedErasure,
    counts: ErasedCounts,
    *,
    shared: int = 0,
    **more: Any,
) -> Erased:
    return Erased(
        **{
            "institution": owner.slug,
            "token_hash": erasure.token_hash,
            "erased_at": erasure.erased_at,
            "was_erased": False,
            **{name: value for name, value in counts.items() if name != "cardholders"},
            "shared_instruments": shared,
            "tokens_removed": counts.cardholders + counts.instruments - shared,
            "kept_rows": counts.links + counts.purchases + counts.redemptions + counts.events,
            "places": [],
            "files": [],
            "approval": None,
            "reason": erasure.reason,
            **more,
        }
    )


def _may_go(store: Store, owner: Institution, cardholder_no: int) -> None:
    """Raise `Refused` under a legal hold, and while the cardholder waits for something."""
    if hold := hold_on(store, owner.id, cardholder_no):
        whose = owner.slug if hold.cardholder_no is None else "The cardholder"
        lift = (
            f"institution set {owner.slug} --legal-hold off"
            if hold.cardholder_no is None
            else f"privacy hold -i {owner.slug} --cardholder - --release --reason TEXT"
        )
        raise Refused(
            f"{whose} is on legal hold since {format_moment(hold.set_at)}: {hold.reason}.",
            code="legal_hold",
            hint=f"Once the hold may end, lift it with `cardoffers {lift}`.",
        )
    of = {"institution_id": owner.id, "cardholder_no": cardholder_no}
    waiting = store.rows("privacy/erasures:unsettled", **of)[0]
    if waiting["purchases"]:
        raise Refused.from_table(
            "privacy", "purchases_waiting", waiting=counted(waiting["purchases"], "purchase")
        )
    if waiting["events"]:
        raise Refused.from_table(
            "privacy",
            "webhooks_undelivered",
            waiting=counted(waiting["events"], "event"),
            owner=owner,
        )
