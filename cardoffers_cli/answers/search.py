"""Search: purchases, rejected rows and duplicates of an institution, by what somebody remembers.

There is no index (a store has none that could be trusted after a crash). What names one cardholder,
merchant or redemption is first turned into its number, in a small table; then one pass over the
narrow columns of the purchases finds theirs, and only those that are shown are put together.

A merchant is known by its name, its identifiers, and the texts that came with purchases of it: the
last is all there is to know of one that no catalogue has.

A rejected row keeps its ref, its line and the day it came, and a duplicate no more than that; where
something else is asked for they are not searched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from cardoffers_cli.answers import PurchaseState
from cardoffers_cli.answers.money_trails import DocumentLine, documents_of, stories_of
from cardoffers_cli.kernel.store.interning import purchases_of_refs
from cardoffers_cli.kernel.words.ids import mask
from cardoffers_cli.kernel.words.records import Record, if_any, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date, datetime
    from decimal import Decimal
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

    Filters = dict[str, object]
    Rows = Sequence[Mapping[str, Any]]

STATES: tuple[PurchaseState, ...] = get_args(PurchaseState)

_OF_LEDGER = {"pending", "settled", "reversed"}
"""The states of ledger entries, each of several stories: what is credited is settled too."""

_OF_ROWS = {"rejected": "rejects", "duplicate": "duplicates", "duplicate_conflict": "duplicates"}
"""The states of what is no purchase, and where it is kept."""

_KINDS = {
    "purchases": "purchase",
    "rejects": "rejected row",
    "duplicates": "duplicate",
    "refunds": "refund",
    "credits": "credited row",
}
_STORY = ("story", "story_at", "story_amount", "verdict", "credited_amount")
_TOKENS = ("cardholder_token", "instrument_token")
_MOST_TOKENS = 1000
_NEWEST = 100_000
"""Purchases that are looked at first for a state."""
_WILDCARD = re.compile(r"[*?]")
_LAST = "\U0010ffff"


@dataclass(frozen=True, kw_only=True)
class PurchaseFilter:
    """What is looked for; None is anything. Windows are half-open, UTC; amounts include both ends.

    A `ref` may hold `*` and `?`. A cardholder is a full token, or its first and last letters, or
    None and the last; so is a card.
    """

    ref: str | None = None
    token: str | None = field(default=None, repr=False)
    token_ends: tuple[str | None, str] | None = None
    card_ends: tuple[str | None, str] | None = None
    redemption_id: str | None = None
    merchant: str | None = None
    least_amount: Decimal | None = None
    most_amount: Decimal | None = None
    from_at: datetime | None = None
    to_at: datetime | None = None
    state: str | None = None

    @property
    def is_of_purchases_only(self) -> bool:
        """Whether something is asked for that only purchases keep."""
        return self.redemption_id is not None or self.is_of_a_purchase

    @property
    def is_of_a_purchase(self) -> bool:
        """Whether something is asked for that neither rows nor redemptions keep."""
        texts = (self.token, self.token_ends, self.card_ends, self.merchant)
        amounts = (self.least_amount, self.most_amount)
        return any(value is not None for value in (*texts, *amounts))

    @property
    def is_of_a_redemption(self) -> bool:
        """Whether a redemption is named, and nothing else that a credited row does not keep."""
        return self.redemption_id is not None and self.state is None and not self.is_of_a_purchase


class PurchaseRow(
    Record,
    sheet="kind transaction_ref state transacted_at amount currency merchant_name"
    " merchant_identifier cardholder_token_masked redemption_id received_at file line",
    first="day amount reason merchant_name transaction_ref currency",
):
    """A purchase that was found. `reason` is its state, where nobody knows a nearer one.

    Of one that redeemed, `story` says what became of it (rules.md#stories), `verdict` whether it
    was credited, and `statement` and `invoice` on which it stands, with what the bank said of the
    first; where there is any.
    """

    kind: str = shown(gives_way=7)
    transaction_ref: str = shown("reference")
    state: str = shown(gives_way=8)
    transacted_at: datetime = shown("purchased at", gives_way=3)
    received_at: datetime = shown("received at", gives_way=10)
    amount: Amount
    currency: str = shown(gives_way=2)
    merchant_name: str | None = shown(
        "merchant", instead=("merchant_descriptor", "merchant_identifier")
    )
    merchant_identifier: str | None = shown("identifier", gives_way=9)
    merchant_descriptor: str | None = shown("descriptor", gives_way=6)
    redemption_id: UUID | None = shown(gives_way=12)
    file: str | None = shown(gives_way=11)
    line: int | None = shown(gives_way=11)
    cardholder_token_masked: str = shown("cardholder", gives_way=4)
    card_token_masked: str | None = shown("card", gives_way=5)
    reason: str
    day: date
    institution: str = shown(gives_way=1)
    story: str | None = if_any(gives_way=11)
    story_at: datetime | None = if_any(gives_way=14)
    story_amount: Amount | None = if_any(gives_way=15)
    verdict: str | None = if_any("credited", gives_way=14)
    credited_amount: Amount | None = if_any("amount credited", gives_way=15)
    statement: str | None = if_any(gives_way=16)
    bank_state: str | None = if_any("the bank", gives_way=18)
    invoice: str | None = if_any(gives_way=17)


class ReceivedRow(Record):
    """A row of a file that is no purchase: rejected for its `code`, repeated, or another kind."""

    kind: str
    transaction_ref: str | None
    state: str
    received_at: datetime
    file: str
    line: int
    code: str | None = if_any(gives_way=13)
    reason: str
    day: date
    institution: str


Hit = PurchaseRow | ReceivedRow


class SearchScope(Record):
    """How much was looked through: of the places that can hold what was looked for."""

    purchases: int | None = if_any()
    rejected: int | None = if_any()
    duplicates: int | None = if_any()
    last_import_at: datetime | None


class SearchResult(Record):
    """What passes every filter: purchases, rejected rows, duplicates, refunds, credited rows.

    Of each the newest come first. `data` are at most `limit` in all; `more` says that there are
    others.
    """

    searched: SearchScope
    limit: int
    more: bool
    data: list[Hit]


def search(
    store: Store, institution_id: UUID, institution: str, wanted: PurchaseFilter, *, limit: int
) -> SearchResult:
    """Return what passes every filter at the institution of an id and a slug."""
    if wanted.state in _OF_ROWS:
        places: tuple[str, ...] = () if wanted.is_of_purchases_only else (_OF_ROWS[wanted.state],)
    elif wanted.is_of_a_redemption:
        places = ("purchases", "credits")
    elif wanted.state or wanted.is_of_purchases_only:
        places = ("purchases",)
    else:
        places = ("purchases", "rejects", "duplicates", "refunds", "credits")
    hits: list[Hit] = []
    for place in places:
        if len(hits) <= limit:
            rows = _SEARCHES[place](store, institution_id, wanted, limit + 1 - len(hits))
            hits += [_hit(place, row, institution) for row in rows]
    (all_,) = store.records(SearchScope, "answers/search:searched", institution_id=institution_id)
    return SearchResult(
        searched=replace(
            all_,
            purchases=all_.purchases if "purchases" in places else None,
            rejected=all_.rejected if "rejects" in places else None,
            duplicates=all_.duplicates if "duplicates" in places else None,
        ),
        limit=limit,
        more=len(hits) > limit,
        data=hits[:limit],
    )


def senders(store: Store, refs: Sequence[str], *, but: UUID | None = None) -> dict[str, list[str]]:
    """Return the slugs of the institutions that sent refs, but for one, by ref."""
    slugs: dict[str, list[str]] = {}
    of = {"purchase_nos": purchases_of_refs(store, refs), "refs": list(refs)}
    rows = store.rows("answers/search:senders", **of, institution_id=but)
    for row in rows:
        slugs.setdefault(row["transaction_ref"], []).append(row["slug"])
    return slugs


def _purchases(store: Store, institution_id: UUID, wanted: PurchaseFilter, limit: int) -> Rows:
    numbers = _numbers(store, institution_id, wanted)
    if numbers is None:
        return []
    # the range that refs with the same beginning lie in, up to the first wildcard
    wildcard = _WILDCARD.search(wanted.ref or "")
    head = wanted.ref[: wildcard.start()] if wanted.ref and wildcard else ""
    filters = {
        "institution_id": institution_id,
        "pattern": _text_filters(wanted.ref)["pattern"],
        "first_ref": head or None,
        "end_ref": f"{head}{_LAST}" if head else None,
        **numbers,
        "least_amount": wanted.least_amount,
        "most_amount": wanted.most_amount,
        "from_at": wanted.from_at,
        "to_at": wanted.to_at,
    }
    # What is in a state stands in other tables. Most states are found among the newest purchases.
    for most in (_NEWEST, None) if wanted.state else (limit,):
        matching = store.execute("answers/search:matching", **filters, limit=most)
        count = _show(store, institution_id, wanted.state, limit)
        if count == limit or matching != most:
            break
    rows = store.rows("answers/search:purchases", institution_id=institution_id)
    redeemed = [row["redemption_no"] for row in rows if row["redemption_no"] is not None]
    stories = stories_of(store, institution_id, redeemed)
    documents = documents_of(store, institution_id, redeemed)
    return [
        {
            **row,
            **{name: stories.get(number, {}).get(name) for name in _STORY},
            **_standing(documents.get(number, [])),
        }
        for row in rows
        for number in (row.pop("redemption_no"),)
    ]


def _standing(documents: Sequence[DocumentLine]) -> dict[str, str | None]:
    """Return on which documents a redemption stands, and what is paid of its statements."""
    statements = [line for line in documents if line.kind == "statement"]
    return {
        "statement": ", ".join(line.number for line in statements) or None,
        "bank_state": ", ".join(line.bank_state for line in statements if line.bank_state) or None,
        "invoice": ", ".join(line.number for line in documents if line not in statements) or None,
    }


def _show(store: Store, institution_id: UUID, state: str | None, limit: int) -> int:
    """Make `shown` of `matching`, each state where it is written down; return how many."""
    match state:
        case None:
            return store.execute("answers/search:shown", institution_id=institution_id)
        case "not_matched_yet":
            return store.execute("answers/search:shown_undecided", limit=limit)
        case "not_redeemed" | "merchant_unresolved":
            return store.execute("answers/search:shown_decided", state=state, limit=limit)
        case _:
            place = "shown_in_ledger" if state in _OF_LEDGER else "shown_in_story"
            of = {"institution_id": institution_id, "state": state, "limit": limit}
            return store.execute(f"answers/search:{place}", **of)


def _others(
    place: str, store: Store, institution_id: UUID, wanted: PurchaseFilter, limit: int
) -> Rows:
    own_filters: Mapping[str, Mapping[str, Any]] = {
        "credits": {"redemption_id": wanted.redemption_id},
        "duplicates": {"state": wanted.state},
    }
    return store.rows(
        f"answers/search:{place}",
        institution_id=institution_id,
        **_text_filters(wanted.ref),
        **own_filters.get(place, {}),
        from_at=wanted.from_at,
        to_at=wanted.to_at,
        limit=limit,
    )


_SEARCHES: Mapping[str, Callable[[Store, UUID, PurchaseFilter, int], Rows]] = {
    "purchases": _purchases,
    **{place: partial(_others, place) for place in ("rejects", "duplicates", "refunds", "credits")},
}


def _hit(place: str, row: Mapping[str, Any], institution: str) -> Hit:
    """Return a row of a place, with its day and its tokens masked."""
    common = {"kind": _KINDS[place], "institution": institution}
    if place != "purchases":
        reason, day = row.get("code", row["state"]), row["received_at"].date()
        return ReceivedRow.of({**row, **common, "reason": reason, "day": day})
    values = {name: value for name, value in row.items() if name not in _TOKENS}
    cardholder, card = (row[name] for name in _TOKENS)
    return PurchaseRow.of(
        {
            **values,
            **common,
            "cardholder_token_masked": mask(cardholder),
            "card_token_masked": mask(card) if card else None,
            "reason": row["state"],
            "day": row["transacted_at"].date(),
        }
    )


def _numbers(store: Store, institution_id: UUID, wanted: PurchaseFilter) -> Filters | None:
    """Return the numbers behind reference, cardholder, card, merchant and redemption.

    None if there can be no purchase of them.
    """
    cardholder_nos = _cardholder_nos(store, institution_id, wanted)
    instrument_nos = None
    if wanted.card_ends is not None:
        head, tail = wanted.card_ends
        of: Filters = {"institution_id": institution_id, "head": head, "tail": tail}
        rows = store.rows("answers/search:cards", **of, limit=_MOST_TOKENS)
        instrument_nos = [row["instrument_no"] for row in rows]
    identifier_nos, merchant_ids = _merchants(store, wanted)
    named: list[set[int]] = []
    if wanted.redemption_id is not None:
        of = {"institution_id": institution_id, "redemption_id": wanted.redemption_id}
        rows = store.rows("answers/search:purchase_of_redemption", **of)
        named.append({row["purchase_no"] for row in rows})
    if wanted.ref is not None and not _WILDCARD.search(wanted.ref):
        named.append({*purchases_of_refs(store, [wanted.ref], institution_id)})
    purchase_nos = sorted(set.intersection(*named)) if named else None
    if [] in (cardholder_nos, instrument_nos, purchase_nos):
        return None
    return {
        "purchase_no": purchase_nos[0] if purchase_nos else None,
        "cardholder_nos": cardholder_nos,
        "first_cardholder_no": min(cardholder_nos) if cardholder_nos else None,
        "last_cardholder_no": max(cardholder_nos) if cardholder_nos else None,
        "instrument_nos": instrument_nos,
        "merchant": wanted.merchant,
        "identifier_nos": identifier_nos,
        "merchant_ids": merchant_ids,
    }


def _cardholder_nos(store: Store, institution_id: UUID, wanted: PurchaseFilter) -> list[int] | None:
    if wanted.token is None and wanted.token_ends is None:
        return None
    head, tail = wanted.token_ends or (None, None)
    rows = store.rows(
        "answers/search:cardholders",
        institution_id=institution_id,
        token=wanted.token,
        head=head,
        end_of_head=None if head is None else f"{head}{_LAST}",
        tail=tail,
        limit=_MOST_TOKENS,
    )
    return [row["cardholder_no"] for row in rows]


def _merchants(store: Store, wanted: PurchaseFilter) -> tuple[list[int], list[str]]:
    """Return the numbers of identifiers and the ids of merchants that are wanted."""
    if wanted.merchant is None:
        return [], []
    rows = store.rows("answers/search:merchants", merchant=wanted.merchant)
    numbers = [row["identifier_no"] for row in rows if row["identifier_no"] is not None]
    ids = {str(row["merchant_id"]) for row in rows if row["merchant_id"] is not None}
    return numbers, sorted(ids)


def _text_filters(ref: str | None) -> Filters:
    """Return the filters of a ref: its text, or for one with wildcards an expression."""
    if ref is None or not _WILDCARD.search(ref):
        return {"ref": ref, "pattern": None}
    signs = {"*": ".*", "?": "."}
    pattern = "".join(signs.get(letter) or re.escape(letter) for letter in ref)
    return {"ref": None, "pattern": f"(?s){pattern}"}
