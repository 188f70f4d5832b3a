"""Merchants with their identifiers: find one by what people know of it, list them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.records import Record, if_any, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID


class NamedMerchant(Record):
    """A merchant; `category` is what it sells."""

    merchant_id: UUID = shown(kind="text")
    name: str
    category: str | None = shown(gives_way=2)


class Merchant(NamedMerchant, sheet="name category identifiers merchant_id"):
    """A merchant with what purchases call it, each `type:identifier`; None of a new one.

    It pays an invoice within `net_days`, 30 where none are set; the tax fields stand on it.
    """

    identifiers: Sequence[str] | None = shown(gives_way=1)
    net_days: int | None = if_any("net days", gives_way=5)
    tax_id: str | None = if_any("tax id", gives_way=4)
    tax_note: str | None = if_any("tax note", gives_way=6)


class IdentifiedMerchant(Record):
    """The merchant that an identifier is of."""

    merchant_id: UUID
    name: str
