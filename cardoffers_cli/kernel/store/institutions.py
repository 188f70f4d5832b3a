"""Institutions with their programs: find one, list them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.kernel.words.ids import ids_beginning
from cardoffers_cli.kernel.words.money import quantize
from cardoffers_cli.kernel.words.nearest import did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store


_NONE = "The store has no institution yet."
_HOW = "`cardoffers catalog import DIR` brings them."
_NAMED = 8
"""Institutions that an error names."""


@dataclass(frozen=True, kw_only=True)
class Institution:
    """An institution and its program (rules.md#programs); `minor_unit`: its currency's decimals."""

    id: UUID
    slug: str
    name: str
    plan: str
    currency: str
    minor_unit: int
    languages: tuple[str, ...]
    max_active_offers: int | None
    widget_limit: int
    settlement_hold_days: int
    webhook_url: str | None
    require_marker: bool
    refund_window_days: int
    refund_auto_link: str
    clawback_days: int | None
    webhook_events: str
    approvals: str
    approval_limit: Decimal | None
    credit_days: int
    hold_short: str
    tax_id: str | None
    tax_note: str | None
    address: str | None
    country: str | None
    time_zone: str | None
    accepts_percent: bool | None
    numbers: str | None
    shares_tokens_with: str | None
    is_watched: bool


def find_institution(store: Store, slug_or_id: str) -> Institution:
    """Return one institution by its slug, its id, or a beginning of that which only it has.

    Raises `NotFound` with the nearest slugs.
    """
    row = store.row("kernel/store/institutions:find", slug_or_id=slug_or_id)
    if row is None and (bounds := ids_beginning(slug_or_id)):
        first, last = bounds
        slugs = store.rows("kernel/store/institutions:between", first=first, last=last)
        if len(slugs) == 1:
            row = store.row("kernel/store/institutions:find", slug_or_id=slugs[0]["slug"])
    if row is None:
        raise _unknown(store, slug_or_id)
    return _institution(row)


def institution_of(store: Store, institution_id: UUID) -> Institution:
    """Return the institution of an id that stands in the store."""
    address = "kernel/store/institutions:find"

    def read() -> Institution:
        return _institution(store.rows(address, slug_or_id=str(institution_id))[0])

    return store.memory.recall((address, institution_id), (address,), read)


def asked_institutions(
    store: Store, slug_or_id: str | None, *, everywhere: bool = False
) -> list[Institution]:
    """Return the institutions that a question is for: the one named, or all, or the only one.

    Raises `NotFound`, and `UsageError` where none is named and there are several.
    """
    if slug_or_id is not None:
        return [find_institution(store, slug_or_id)]
    institutions = list_institutions(store)
    if not institutions:
        raise NotFound(_NONE, code="institution_not_found", hint=_HOW)
    if len(institutions) > 1 and not everywhere:
        slugs = ", ".join(institution.slug for institution in institutions[:_NAMED])
        more = ", …" if len(institutions) > _NAMED else ""
        raise UsageError.from_table("kernel/store", "institution_missing", slugs=slugs, more=more)
    return institutions


def list_institutions(store: Store) -> list[Institution]:
    """Return every institution, by slug."""
    return [
        _institution(row) for row in store.rows("kernel/store/institutions:find", slug_or_id=None)
    ]


def _institution(row: Mapping[str, Any]) -> Institution:
    limit = row["approval_limit"]
    exact = None if limit is None else quantize(limit, row["currency"])
    languages = tuple(row["languages"].split("|"))
    return Institution(**{**row, "languages": languages, "approval_limit": exact})


def _unknown(store: Store, slug_or_id: str) -> NotFound:
    slugs = [row["slug"] for row in store.rows("kernel/store/institutions:find", slug_or_id=None)]
    advice = "`cardoffers institution list` shows them all."
    return NotFound(
        f"There is no institution {slug_or_id!r}.",
        code="institution_not_found",
        hint=did_you_mean(nearest(slug_or_id, slugs)) or (advice if slugs else f"{_NONE} {_HOW}"),
    )
