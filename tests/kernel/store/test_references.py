"""A purchase is found by its reference: a hash leads to it, and the text decides."""

from __future__ import annotations

from hashlib import md5
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.answers.explanations import explain
from cardoffers_cli.archive.export import export
from cardoffers_cli.kernel.store.interning import purchases_of_refs
from cardoffers_cli.kernel.words import ids
from hostile import LET_IN, REFUSED
from tables import given, select, uid
from work import file_of, found, taken, with_catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.store import Store

REFS = ["", "r-1", "R-1", "0" * 19, "é\u20ac😀", "x" * 4_000]


def hash_of(text: str) -> int:
    return int(md5(text.encode(), usedforsecurity=False).hexdigest()[:16], 16)


def test_the_hash_is_the_same_for_ever(store: Store) -> None:
    owner = uid("alder")
    assert [hash_of(ref) ^ hash_of(str(owner)) for ref in REFS] == [
        store.connection.execute("select ref_hash($1, $2)", [owner, ref]).fetchall()[0][0]
        for ref in REFS
    ]
    assert [(14376505089298183975,)] == select(
        store, "select ref_hash('6b0e4c1d-0000-8000-8000-000000000001'::uuid, 'LAR-0017')"
    )


def test_what_is_derived_without_a_statement_is_what_one_derives(store: Store) -> None:
    owner = uid("alder")
    for ref in (*REFS, *LET_IN.values(), *REFUSED.values()):
        assert (ids.ref_hash(owner, ref), ids.transaction_id(owner, ref)) == (
            store.connection.execute(
                "select ref_hash($1, $2), transaction_id($1, $2)", [owner, ref]
            ).fetchone()
        )


COLLIDES = "create or replace macro text_hash(content) as cast(7 as ubigint)"
FILE = "ref cardholder identifier amount\nr-1 c0 M0 1.00\nr-2 c0 M0 2.00\nr-3 c1 M0 3.00"
AGAIN = "ref cardholder identifier amount\nr-2 c0 M0 2.00\nr-9 c0 M0 2.00\nr-3 c1 M0 9.00"


@pytest.mark.parametrize("is_archived", [False, True])
def test_of_references_with_one_hash_the_text_decides(
    tmp_path: Path, is_archived: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ids, "_text_hash", lambda _content: 7)
    made = with_catalogue(tmp_path)
    with made.store() as store:
        select(store, COLLIDES)
    taken(made, file_of(tmp_path / "tx.csv", FILE))
    assert [(1,)] == found(made, "select count(distinct ref_hash) from purchase_refs")
    if is_archived:
        export(made, str(tmp_path / "history"))
    again = taken(made, file_of(tmp_path / "again.csv", AGAIN))
    assert (1, 2, 1) == (again["accepted"], again["duplicates"], again["conflicts"])
    with made.store() as store:
        (owner,) = select(store, "select institution_id from institutions")[0]
        refs = dict(select(store, "select transaction_ref, purchase_no from purchases"))
        for ref, number in refs.items():
            assert [number] == purchases_of_refs(store, [ref], owner)
        assert [] == purchases_of_refs(store, ["r-4"], owner)
        assert "not_received" == explain(store, owner, ["r-4"])["r-4"].status


def test_purchases_of_one_institution_or_of_all_are_found(store: Store) -> None:
    given(store, "institutions", "institution\nalder\nbrook")
    given(store, "purchases", "ref institution\na alder\nb alder\na brook\nc brook")
    assert [1] == purchases_of_refs(store, ["a"], uid("alder"))
    assert [1, 2] == purchases_of_refs(store, ["b", "a", "c", "a"], uid("alder"))
    assert [1, 3, 4] == purchases_of_refs(store, ["a", "c"])
    assert [] == purchases_of_refs(store, [], uid("alder"))
    assert [] == purchases_of_refs(store, ["a"], uid("nobody"))
