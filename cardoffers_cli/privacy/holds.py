"""Legal holds (rules.md#legal-holds): what must be kept, whatever ages or requests say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store


class LegalHold(Record, sheet="institution cardholder_no reason set_at actor"):
    """A hold that stands, of one cardholder, or where `cardholder_no` is None of the institution.

    `set_at` is naive UTC.
    """

    institution: str
    institution_id: UUID
    cardholder_no: int | None = shown("cardholder")
    reason: str = shown(gives_way=1)
    set_at: datetime = shown(gives_way=2)
    actor: str = shown(gives_way=3)


def standing_holds(store: Store, institution_id: UUID | None = None) -> list[LegalHold]:
    """Return the holds of one institution and its cardholders, or of all."""
    return store.records(LegalHold, "privacy/holds:standing", institution_id=institution_id)


def hold_on(
    store: Store, institution_id: UUID, cardholder_no: int | None = None
) -> LegalHold | None:
    """Return the hold of an institution, or one that a cardholder is under, if there is any."""
    return next(
        (
            hold
            for hold in standing_holds(store, institution_id)
            if hold.cardholder_no in {None, cardholder_no}
        ),
        None,
    )


def keep_hold(
    store: Store,
    institution_id: UUID,
    cardholder_no: int | None,
    *,
    is_on: bool,
    reason: str,
    **by: Any,
) -> None:
    """Write that a hold was set, or lifted, in the caller's transaction.

    `by` has run_no, now and actor.
    """
    store.execute(
        "privacy/holds:keep",
        institution_id=institution_id,
        cardholder_no=cardholder_no,
        is_on=is_on,
        reason=reason,
        **by,
    )


def log_setting(
    store: Store, institution_id: UUID, slug: str, change: Mapping[str, str | None], **by: Any
) -> None:
    """Write the change of an institution's hold to the audit log; `by` as above."""
    of = {"institution_id": institution_id, "slug": slug}
    store.execute("institutions/changes:keep_setting", **of, **change, **by)
