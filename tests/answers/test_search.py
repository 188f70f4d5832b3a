from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

from hypothesis import HealthCheck
from hypothesis import given as examples
from hypothesis import settings as profile
from hypothesis import strategies as st

from cardoffers_cli.answers.search import PurchaseFilter, search
from sizes import tries
from tables import given, put, uid

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.store import Store

LETTERS = r"aA0*?[].\^$%_"
REFS = st.text(LETTERS, min_size=1, max_size=5)


def refs(store: Store, pattern: str) -> set[str]:
    found = search(store, uid("alder"), "alder", PurchaseFilter(ref=pattern), limit=1000)
    return {each["transaction_ref"] for each in found["data"]}


@profile(
    max_examples=tries(10, 60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@examples(pattern=REFS, known=st.sets(REFS, max_size=8))
def test_only_a_star_and_a_question_mark_are_wild(
    store: Store, pattern: str, known: set[str]
) -> None:
    store.connection.execute("delete from recent_purchases")
    store.connection.execute("delete from purchase_refs")
    store.connection.execute("delete from institutions")
    given(store, "institutions", "institution\nalder")
    put(store, "purchases", [{"ref": ref} for ref in sorted(known)])
    plain = pattern.replace("[", "[[]")
    assert {ref for ref in known if fnmatch.fnmatchcase(ref, plain)} == refs(store, pattern)


def test_a_merchant_is_sent_by_identifier_or_by_id(store: Store) -> None:
    given(store, "institutions", "institution\nalder")
    given(store, "merchants", "merchant\nbakery\nBAKERY-2\ncinema")
    given(store, "identifiers", "identifier merchant\nM1 bakery\nM2 cinema")
    given(
        store,
        "purchases",
        """
        ref         identifier  merchant  card
        identified  M1          -         card_of_ann
        named       -           bakery    card_of_ann
        second      -           BAKERY-2  card_of_ann
        both        M2          bakery    card_of_ann
        other       M2          -         card_of_ann
        unknown     M2          florist   another_card
        """,
    )

    def found(merchant: str) -> list[str]:
        told = search(store, uid("alder"), "alder", PurchaseFilter(merchant=merchant), limit=10)
        return sorted(each["transaction_ref"] for each in told["data"])

    assert ["both", "identified", "named", "second"] == found("Bakery")
    assert ["both", "identified", "named"] == found(str(uid("bakery")))
    assert ["both", "other", "unknown"] == found("M2")
    everything = search(store, uid("alder"), "alder", PurchaseFilter(ref="*"), limit=10)["data"]
    merchants = {"both": "bakery", "identified": "bakery", "named": "bakery", "second": "BAKERY-2"}
    merchants |= {"other": "cinema", "unknown": "cinema"}
    assert merchants == {each["transaction_ref"]: each["merchant_name"] for each in everything}
    told = search(store, uid("alder"), "alder", PurchaseFilter(ref="unknown"), limit=10)["data"]
    assert [("cinema", "anot…card")] == [
        (each["merchant_name"], each["card_token_masked"]) for each in told
    ]
    assert [] == found("m2")
    assert [] == found("%")
