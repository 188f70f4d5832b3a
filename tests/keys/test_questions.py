from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.keys import questions as keys
from cardoffers_cli.keys.questions import ApiKey, find_key, get_key, list_keys
from cardoffers_cli.keys.rules import key_hash, new_key
from tables import NOON, given, key_text, moment, select, uid

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.store import Store

DAY = timedelta(days=1)

KEYS = """
    key      institution  scopes            expires     retires     revoked     replaced_by
    app      alder        offers|reporting  2027-06-01  -           -           -
    legacy   alder        -                 -           -           -           -
    old      alder        offers            2027-06-01  2026-06-08  -           app
    gone     brook        offers            2027-06-01  -           2026-06-02  -
"""


@pytest.fixture
def known(store: Store) -> Store:
    given(store, "institutions", "institution\nalder\nbrook")
    given(store, "keys", KEYS)
    return store


def find(store: Store, name: str) -> ApiKey:
    found = find_key(store, key_text(name))
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["app", "legacy", "old", "gone"])
def test_a_key_is_found_by_its_text_whatever_its_state(known: Store, name: str) -> None:
    found = find(known, name)
    assert (uid(name), name) == (found.key_id, found.name)
    assert get_key(known, str(uid(name)).upper()) == found


def test_what_is_known_of_a_key() -> None:
    assert "key_hash" not in {field.name for field in fields(ApiKey)}


def test_scopes_are_those_that_were_given_and_all_of_a_key_from_before_scopes(known: Store) -> None:
    assert ({"offers", "reporting"}, False) == (
        find(known, "app").scopes,
        find(known, "app").is_legacy,
    )
    assert ({"offers", "reporting", "transactions"}, True) == (
        find(known, "legacy").scopes,
        find(known, "legacy").is_legacy,
    )


def test_a_key_that_begins_like_another_is_told_from_it(known: Store) -> None:
    known.connection.execute(
        "update api_keys set prefix = ? where name = 'legacy'", [find(known, "app").prefix]
    )
    known.memory.forget()  # here and below the test writes around it
    assert uid("app") == find(known, "app").key_id
    known.connection.execute("delete from api_keys where name = 'app'")
    known.memory.forget()
    assert find_key(known, key_text("app")) is None


@pytest.mark.parametrize(
    "text", [key_text("nobody"), key_text("app")[:-1], "", "é", "\ud800", "a b"]
)
def test_any_other_text_is_no_key(known: Store, text: str) -> None:
    assert find_key(known, text) is None


def test_an_id_that_is_none_is_not_found(known: Store) -> None:
    for key_id in ("nothing", str(uid("nobody")), ""):
        with pytest.raises(NotFound) as caught:
            get_key(known, key_id)
        assert "key_not_found" == caught.value.code


@pytest.mark.parametrize(
    ("hint", "given_id"),
    [
        (f"Did you mean {uid('legacy')}?", "legacy"),
        (f"Did you mean {uid('legacy')}?", "Legaci"),
        ("`cardoffers key list` shows the keys with their ids.", f"{uid('legacy')}"[:-1] + "x"),
    ],
)
def test_a_name_in_place_of_an_id_is_told_the_id(known: Store, hint: str, given_id: str) -> None:
    with pytest.raises(NotFound) as caught:
        get_key(known, given_id)
    assert hint == caught.value.hint


# The state: key, moment -> state, as people are told it
STATES = [
    ("app", "2027-05-31T23:59:59.999999Z", "valid", "valid"),
    ("app", "2027-06-01", "expired", "expired"),
    ("legacy", "2099-01-01", "valid", "valid"),
    ("old", "2026-06-07T23:59:59Z", "valid", "retiring"),
    ("old", "2026-06-08", "expired", "expired"),
    ("gone", "2026-06-02", "revoked", "revoked"),
    ("gone", "2028-01-01", "revoked", "revoked"),
]


@pytest.mark.parametrize(("name", "text", "state", "standing"), STATES)
def test_the_state_of_a_key(known: Store, name: str, text: str, state: str, standing: str) -> None:
    key, now = find(known, name), moment(text)
    assert (state, standing) == (key.state(now), key.standing(now))


def test_an_institutions_keys_are_listed_the_newest_first(known: Store) -> None:
    given(known, "keys", "key institution created\nnewer brook 2026-07-01")
    assert ["newer", "gone"] == [key.name for key in list_keys(known, uid("brook"))]
    assert 5 == len(list_keys(known))


def test_of_a_key_its_hash_alone_is_written(known: Store) -> None:
    text = new_key()
    grant = keys.Grant(
        institution_id=uid("alder"),
        name="new",
        scopes=frozenset({"transactions", "offers"}),
        expires_at=NOON + DAY,
    )
    keys.add_key(known, text, grant, uid("new"), now=NOON)
    (row,) = select(known, "select * from api_keys where name = 'new'")
    assert text not in map(str, row)
    assert {key_hash(text), text[:12], text[-4:], "offers|transactions"} <= set(row)


def test_the_last_use_only_moves_forward(known: Store) -> None:
    for days, expected in ((2, 2), (1, 2), (3, 3)):
        known.execute("keys/questions:use", key_id=uid("app"), used_at=NOON + days * DAY)
        assert NOON + expected * DAY == find(known, "app").last_used_at
