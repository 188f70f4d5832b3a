"""Merchants with their identifiers: find one by what people know of it, list them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cardoffers_cli.store.store import Store


def find(store: Store, merchant_id: str) -> dict[str, Any] | None:
    """Return the merchant of a whole id, or None."""
    return store.row("services/merchants:find", merchant_id=merchant_id)


def of_name(store: Store, name: str) -> list[dict[str, Any]]:
    """Return the merchants of a name, in letters of either case; a few at most."""
    return store.rows("services/merchants:of_name", name=name)


def of_identifier(store: Store, identifier: Mapping[str, str | None]) -> dict[str, Any] | None:
    """Return the merchant, its id and name, of a merchant_identifier and its type; or None."""
    return store.row("services/merchants:of_identifier", **identifier)


def list_all(store: Store) -> list[dict[str, Any]]:
    """Return every merchant, by name: merchant_id, name, category, identifiers."""
    return store.rows("services/merchants:list")
