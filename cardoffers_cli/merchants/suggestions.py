"""Which known merchant an unknown identifier may be of, by what purchases say of it.

Descriptors never resolve a purchase: what is found here is a suggestion, which a person answers
(rules.md#suggestions). All of it is columns: texts are normalised once each, names that may be
alike are compared once each, whatever number of identifiers or merchants bears them, and the
features of each pair are weighed as `merchants/suggestions.py` says. Nothing is written but by
the statement `try`, which is for a transaction that is never kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.ids import MOST_ROWS
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from decimal import Decimal
    from uuid import UUID

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


# How much each feature speaks for a merchant, in log-odds (rules.md#suggestions).
#
# Fitted by `tests/benchmarks/merchants.py --fit` on 773 descriptions of a public list of purchasing
# cards of 2010, held against 4,875 merchants, each with its merchant in the catalogue and without.
# Cross-validated by merchant, in five parts:
#
#     probability at least   answered   right    95 % interval
#                     0.90     65.6 %   99.8 %   98.9 to 100 %
#                     0.80     85.1 %   99.7 %   98.9 to 99.9 %
#                     0.50     89.1 %   99.0 %   97.9 to 99.5 %
#
# and 98 % are right of the likeliest 92.8 %. Without the numbers that have ten names or more, 134
# are left: at least 0.80: 20.9 %, 92.9 % right; at least 0.50: 44.0 %, 88.1 % right, so that among
# names that differ a likelihood is a little less than it says. The features and the strength of the
# ridge were chosen by these figures, and no part of the list was held out: on names never seen they
# may be lower. Nor are the descriptions independent, as the intervals take them to be: 639 are of
# nine numbers. For the one aggregator among the numbers nobody was proposed. The list has neither
# category codes nor cardholders; these are shown beside a suggestion, and weigh nothing.


WEIGHTS = {
    "bias": -14.45,
    "spelling": 4.13,
    "covered": 1.34,
    "rarest": 10.31,
    "first": 2.06,
    "numbers": 0.21,
    "others": -0.15,
}
EVEN = 0.5
"""Below this probability nothing is suggested."""


Compared = dict[str, "Table"]
"""The temporary tables of one comparison, by name."""

_AT = "merchants/suggestions:"
_STEPS = (
    "known_said normal sought known_names known_words candidates likeness pairs numbers features"
).split()


class Suggestion(
    Record,
    sheet="* currency cardholders cardholders_in_common links cluster known_as spelling"
    " words_in_common rarest_word leading_characters leading_characters_of_any mcc category"
    " first_seen_at last_seen_at merchant_id facts",
):
    """A merchant that an unknown identifier may be of, what speaks for it, what hangs on it.

    One row per identifier, merchant and currency. `known_as` is the merchant's name that fits best,
    normalised; `cashback` what one match would pay if all suggestions were accepted, None where no
    match was tried. `links` are of its cardholders to the merchant's offers. `spelling`,
    `words_in_common` and `rarest_word` are from 0 to 1; `leading_characters` are of the identifier,
    as the merchant's known ones have them, and as those of anybody have. `cluster` counts the
    identifiers of the same name that the merchant is suggested for. `facts` changes when the
    evidence does.
    """

    merchant_identifier_type: str = shown("type", gives_way=6)
    merchant_identifier: str = shown("identifier")
    merchant_descriptor: str = shown("descriptor", gives_way=1)
    merchant_id: UUID = shown(gives_way=13)
    merchant_name: str = shown("merchant")
    known_as: str = shown("known as", gives_way=10)
    probability: Decimal
    purchases: int = shown(gives_way=2)
    amount: Amount
    currency: str = shown(gives_way=3)
    cashback: Amount | None = shown("would pay", gives_way=1)
    cardholders: int = shown(gives_way=7)
    cardholders_in_common: int = shown("in common", gives_way=4)
    links: int = shown(gives_way=3)
    mcc: str | None = shown(gives_way=11)
    category: str | None = shown(gives_way=11)
    spelling: Decimal = shown(gives_way=8)
    words_in_common: Decimal = shown("words in common", gives_way=9)
    rarest_word: Decimal = shown("rarest word", gives_way=9)
    leading_characters: int = shown("leading", gives_way=8)
    leading_characters_of_any: int = shown("of any", gives_way=9)
    cluster: int = shown(gives_way=2)
    first_seen_at: datetime = shown("first seen at", gives_way=12)
    last_seen_at: datetime = shown("last seen at", gives_way=12)
    facts: str = shown(gives_way=14)


class RatedPair(Record, sheet="* known_as spelling words_in_common rarest_word merchant_id"):
    """The likeliest merchant of an identifier and a text that were given, as of a suggestion."""

    merchant_identifier_type: str = shown("type", gives_way=6)
    merchant_identifier: str = shown("identifier")
    descriptor: str
    merchant_id: UUID = shown(gives_way=7)
    merchant_name: str = shown("merchant")
    known_as: str = shown("known as", gives_way=5)
    probability: Decimal
    spelling: Decimal = shown(gives_way=3)
    words_in_common: Decimal = shown("words in common", gives_way=4)
    rarest_word: Decimal = shown("rarest word", gives_way=4)


def compare(
    store: Store, institution_id: UUID | None = None, *, said: Table | None = None
) -> Compared:
    """Hold the unknown identifiers of an institution, or of all, against the known merchants.

    `said` are identifiers and texts that are held against them instead.
    """
    tables: Compared = {"said": said or store.make(f"{_AT}said", institution_id=institution_id)}
    for step in _STEPS:
        address = f"{_AT}{step}"
        tables[step] = store.make(address, *store.declared_by(address, tables))
    tables["weighed"] = store.make(f"{_AT}weighed", tables["features"], weights=WEIGHTS)
    return tables


def rate(store: Store, pairs: Sequence[Mapping[str, Any]]) -> list[RatedPair]:
    """Return the likeliest merchant of each pair, in a transaction that is never kept.

    A pair has its `line`, the `kind` of the `identifier`, and the `text`.
    """
    pair_table = store.make(f"{_AT}given", pairs=pairs)
    store.execute(f"{_AT}add_given", pair_table)
    chosen = choose(store, compare(store, said=pair_table.called("said")), even=0)
    return store.records(RatedPair, f"{_AT}rated", chosen["suggested"], chosen["sought"])


def choose(
    store: Store, compared: Compared, identifier_no: int | None = None, *, even: float = EVEN
) -> Compared:
    """Add what is suggested: the likely merchant of each identifier, or all of one identifier."""
    chosen = store.make(
        f"{_AT}suggested",
        *(compared["weighed"], compared["sought"]),
        even=even,
        identifier_no=identifier_no,
    )
    return {**compared, "suggested": chosen}


def listed(
    store: Store,
    chosen: Compared,
    *,
    paid: Table | None = None,
    waiting: Table | None = None,
    institution_id: UUID | None = None,
    limit: int = MOST_ROWS,
) -> list[Suggestion]:
    """Return what is suggested, the most money first, with what a match `paid` if one was tried."""
    of = {"institution_id": institution_id}
    tables = {
        **chosen,
        "would_pay": paid or store.make(f"{_AT}pays_nothing"),
        "waits": waiting or store.make(f"{_AT}waits", chosen["suggested"], **of),
    }
    return store.records(
        Suggestion, f"{_AT}list", *store.declared_by(f"{_AT}list", tables), **of, limit=limit
    )
