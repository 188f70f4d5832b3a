"""Offers as operators look at them: those of a program, or one with everything about it.

What an offer's state means stands in `offer_state` (migrations): expired, paused, not_started,
budget_spent or active, the first that holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.errors import NotFound
from cardoffers_cli.domain.money import quantize
from cardoffers_cli.domain.nearest import did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.store.store import Store

    Row = dict[str, Any]


def offers_in_program(store: Store, institution_id: UUID, now: datetime) -> list[Row]:
    """Return the offers of a program in its order: terms, state at `now`, budget and uptake."""
    rows = store.rows("services/offers:in_program", institution_id=institution_id, now=now)
    return [_exact({**row, "segments": _segments(row)}, row["currency"]) for row in rows]


def show_offer(store: Store, offer_id: str, now: datetime) -> Row:
    """Return one offer with its texts, its programs and the versions of its terms.

    Raises `NotFound` with the nearest ids.
    """
    found = store.row("services/offers:terms", offer_id=offer_id, now=now)
    if found is None:
        known = (row["offer_id"] for row in store.rows("services/offers:ids"))
        raise offer_not_found(nearest(offer_id, known))
    number = {"offer_no": found.pop("offer_no")}
    currency = found["currency"]
    programs = store.rows("services/offers:programs", offer_id=offer_id, **number)
    versions = store.rows("services/offers:versions", **number)
    return {
        **_exact({**found, "segments": _segments(found)}, currency),
        "texts": store.rows("services/offers:texts", offer_id=offer_id),
        "programs": _all_exact(programs, currency),
        "versions": _all_exact(versions, currency),
    }


def standing(
    store: Store, institution_id: UUID, offer_id: str, now: datetime
) -> tuple[str, list[str]]:
    """Return the state of an offer of a program at `now`, and its segments (none: for everybody).

    Raises `NotFound` for an offer that is unknown, or not in the program.
    """
    row = store.row(
        "services/offers:standing", institution_id=institution_id, offer_id=offer_id, now=now
    )
    if row is None:
        raise offer_not_found()
    return row["state"], _segments(row)


def offer_not_found(near: Sequence[str] = ()) -> NotFound:
    """Build the refusal of an offer id; it does not repeat the id, which may be anything."""
    shown = "`cardoffers offer list -i INST` shows the offers of a program."
    return NotFound(
        "There is no such offer.",
        code="offer_not_found",
        hint=did_you_mean(near) or shown,
    )


def _segments(row: Row) -> list[str]:
    return row["segments"].split("|") if row["segments"] else []


def _all_exact(rows: Iterable[Row], currency: str) -> list[Row]:
    return [_exact(row, currency) for row in rows]


def _exact(row: Row, currency: str) -> Row:
    """Give every amount of a row its currency's decimals."""
    return {
        name: quantize(value, currency) if value is not None and _is_money(name) else value
        for name, value in row.items()
    }


def _is_money(name: str) -> bool:
    return name == "min_spend" or name.endswith("_amount")


def is_known(store: Store, offer_id: str) -> bool:
    """Whether an id is an offer's."""
    return bool(store.value("services/offers:is_known", offer_id=offer_id))


def next_position(store: Store, institution_id: UUID) -> int:
    """Return the first position behind the offers of a program."""
    return int(store.value("services/offers:next_position", institution_id=institution_id))
