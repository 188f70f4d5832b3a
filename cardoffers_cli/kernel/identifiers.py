"""Ids that are not typed whole: a beginning that only one has, `latest`, or a reference.

A whole id is left as it is, known or not, and so is what leads to nothing: whoever looks it up says
that it is not there. A beginning that several have is refused, with some of them. To add a kind,
add its block to the SQL, with the newest first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.interning import purchases_of_refs
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.ids import LATEST, ids_beginning, is_whole

if TYPE_CHECKING:
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store

_FEW = 5


def whole_id(store: Store, kind: str, text: str, institution_id: UUID | None = None) -> str:
    """Return the id that is meant: of a redemption, key, approval, run, or what else is in the SQL.

    Where an institution is named, only its own are looked at. Raises `UsageError` id_ambiguous.
    """
    if is_whole(text):
        return text
    bounds = (None, None) if text == LATEST else ids_beginning(text)
    if bounds is None:
        return text
    first, last = bounds
    rows = store.rows(
        f"kernel/identifiers:{kind}",
        first=first,
        last=last,
        institution_id=institution_id,
        most=1 if text == LATEST else _FEW,
    )
    return _only([str(row["id"]) for row in rows], text)


def whole_offer_id(store: Store, text: str) -> str:
    """Return the id of the offer that is meant; raise as `whole_id` does."""
    rows = store.rows(
        "kernel/identifiers:offer", beginning="" if text == LATEST else text, most=_FEW
    )
    ids = [row["id"] for row in rows]
    if text in ids:
        return text
    return _only(ids[:1] if text == LATEST else ids, text)


def redemption_id(store: Store, text: str, institution_id: UUID | None = None) -> str:
    """Return the id of a redemption by itself, by its beginning, or by the purchase's reference.

    A reference is known to one institution: where it has redeemed at several, `UsageError`
    reference_ambiguous says to name one.
    """
    if is_whole(text):
        return text
    numbers = purchases_of_refs(store, [text], institution_id)
    rows = store.rows("kernel/identifiers:redemption_of_ref", purchase_nos=numbers)
    if len(rows) > 1:
        raise UsageError(
            f"The reference {text} is one of {' and of '.join(row['slug'] for row in rows)}.",
            code="reference_ambiguous",
            hint="Name the institution with -i.",
        )
    return str(rows[0]["id"]) if rows else whole_id(store, "redemption", text, institution_id)


def subject_id(store: Store, text: str, event: str | None = None) -> str:
    """Return the id of what an event is of, by its name, `latest`, or as `redemption_id` does."""
    rows = store.rows("kernel/identifiers:subject", given=text.strip(), event=event)
    return str(rows[0]["id"]) if rows else redemption_id(store, text)


def _only(ids: list[str], text: str) -> str:
    """Return the one that was found, or what was given where there is none."""
    if len(ids) > 1:
        more = ", …" if len(ids) == _FEW else ""
        raise UsageError(
            f"More than one id begins with {text}.",
            code="id_ambiguous",
            hint=f"Give more of it: {', '.join(ids)}{more}.",
        )
    return ids[0] if ids else text
