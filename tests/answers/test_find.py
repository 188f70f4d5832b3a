from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.answers import search
from cardoffers_cli.answers.find import find
from cardoffers_cli.answers.search import STATES, PurchaseFilter
from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from complaints import ANN, complaints, redemption
from sizes import one_in
from tables import NOON, uid
from work import file_of, taken

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

ALL = "won second third spent small early ended late stranger nothing unknown nobody waits TX-0010"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job on the scene of `complaints`, which these tests only look at."""
    return complaints(tmp_path_factory.mktemp("complaints"))


def looked(made: Job, institution: str = "alder", limit: int = 100, **wanted: Any) -> Any:
    return find(institution, PurchaseFilter(**wanted), made, limit=limit)


def refs(found: Any) -> list[str]:
    """Return kind and ref of what was found; a purchase is known by its ref alone."""
    return [
        each["transaction_ref"] if each["kind"] == "purchase"
        else f"{each['kind']} {each['transaction_ref']}"
        for each in found["data"]
    ]  # fmt: skip


# what is wanted, what is found, the newest first
FOUND: list[tuple[dict[str, Any], str]] = [
    ({"ref": "small"}, "small"),
    ({"ref": "won"}, "won, duplicate won"),
    ({"ref": "free"}, "rejected row free"),
    ({"ref": "theirs"}, ""),
    ({"ref": "Small"}, ""),
    ({"ref": "s*"}, "stranger, small, spent, second, duplicate second"),
    ({"ref": "?on"}, "won, duplicate won"),
    ({"ref": "*"}, f"{len(ALL.split())}"),
    ({"ref": "TX-????"}, "TX-0010"),
    ({"ref": "TX-[0-9]*"}, ""),
    ({"ref": "T.*"}, ""),
    ({"token": ANN}, "third, second, won"),
    ({"token": "no-such-token"}, ""),
    ({"token_ends": ("ann-", "b1a0")}, "third, second, won"),
    ({"token_ends": ("ann-", "ffff")}, ""),
    ({"token_ends": (None, "b1a0")}, "third, second, won"),
    ({"token_ends": (None, "ffff")}, ""),
    ({"token_ends": (None, "ben")}, ""),
    ({"card_ends": (None, "xxxx")}, ""),
    ({"merchant": "BAKE", "state": "not_redeemed"}, "stranger, late, spent, third"),
    ({"merchant": "M9"}, "unknown"),
    ({"merchant": str(uid("kiosk"))}, "nothing"),
    ({"merchant": "M1", "token": ANN}, "third, second, won"),
    ({"merchant": "nowhere"}, ""),
    ({"least_amount": Decimal("12.50"), "most_amount": Decimal("12.50")}, "small"),
    ({"least_amount": Decimal(21), "most_amount": Decimal("22.00")}, "third, second"),
    ({"from_at": datetime(2026, 6, 2), "to_at": datetime(2026, 6, 3)}, "TX-0010, waits"),  # noqa: DTZ001
    (
        {"from_at": NOON - timedelta(hours=2), "to_at": NOON - timedelta(hours=1)},
        "early, third",
    ),
    ({"state": "not_matched_yet"}, "TX-0010, waits"),
    ({"state": "merchant_unresolved"}, "nobody, unknown"),
    ({"state": "settled"}, "won"),
    ({"state": "reversed"}, "second"),
    ({"state": "pending"}, ""),
    ({"state": "rejected"}, "rejected row free"),
    ({"state": "duplicate"}, "duplicate won, duplicate second"),
    ({"state": "duplicate_conflict"}, "duplicate second"),
    ({"state": "rejected", "ref": "won"}, ""),
    ({"state": "rejected", "token": ANN}, ""),
    ({"ref": "won", "state": "reversed"}, ""),
]


@pytest.mark.parametrize(("wanted", "expected"), FOUND, ids=[str(i) for i in range(len(FOUND))])
def test_everything_given_must_hold(made: Job, wanted: dict[str, Any], expected: str) -> None:
    found = refs(looked(made, **wanted))
    if expected.isdigit():
        assert int(expected) == sum(" " not in ref for ref in found)
    else:
        assert expected == ", ".join(found)


def test_a_redemption_leads_to_its_purchase(made: Job) -> None:
    (found,) = looked(made, redemption_id=redemption(made, "won"))["data"]
    assert ("won", "settled", "20.00", "bakery", "ann-…b1a0", 2) == tuple(
        str(found[name]) if name == "amount" else found[name]
        for name in (
            "transaction_ref",
            "state",
            "amount",
            "merchant_name",
            "cardholder_token_masked",
            "line",
        )
    )
    assert [] == looked(made, "brook", redemption_id=redemption(made, "won"))["data"]
    assert [] == looked(made, redemption_id="no-id")["data"]


@pytest.mark.parametrize("newest", [1, 3, 100_000])
@one_in(3)
def test_every_state_can_be_asked_for(
    made: Job, newest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_NEWEST", newest)
    everything = looked(made, ref="*")["data"]
    assert {state for each in everything for state in states_of(each)} <= set(STATES)
    for state in set(STATES) - {"duplicate"}:  # which the conflicts are, too
        assert [each for each in everything if state in states_of(each)] == (
            looked(made, state=state)["data"]
        )


def states_of(hit: Any) -> set[str]:
    """Return what a hit can be asked for by; what is settled may have a story of its own."""
    return {hit["state"], hit.get("story", hit["state"])}


def test_what_is_left_out_is_said(made: Job) -> None:
    found = looked(made, limit=2, ref="*")
    assert (2, True, 2) == (len(found["data"]), found["more"], found["limit"])
    assert refs(looked(made, ref="*"))[:2] == refs(found)
    assert not looked(made, limit=14, state="not_redeemed")["more"]
    assert looked(made, limit=7, state="not_redeemed")["more"]


def test_what_was_searched_is_said_and_as_of_when(made: Job) -> None:
    latest = {"last_import_at": NOON + timedelta(days=2)}
    searched = {"purchases": 14, "rejected": 1, "duplicates": 2, **latest}
    assert searched == looked(made, ref="none")["searched"]
    assert {"purchases": 14, **latest} == looked(made, merchant="bakery")["searched"]
    assert {"rejected": 1, **latest} == looked(made, state="rejected")["searched"]
    assert latest == looked(made, state="rejected", token=ANN)["searched"]
    assert made.now == looked(made, ref="none")["as_of"]


def test_nothing_wanted_is_a_mistake(made: Job) -> None:
    with pytest.raises(UsageError) as caught:
        looked(made)
    assert "nothing_wanted" == caught.value.code
    with pytest.raises(NotFound):
        looked(made, "nowhere", ref="won")


def test_a_token_is_shown_by_nothing(made: Job) -> None:
    assert ANN not in repr(PurchaseFilter(token=ANN))
    assert ANN not in repr(looked(made, token=ANN))


def test_a_short_token_is_found_whole_and_not_by_its_ends(tmp_path: Path) -> None:
    made = complaints(tmp_path)
    tokens = "ref cardholder\nshort abcdwxyz\nlong abcd0wxyz"
    taken(made, file_of(tmp_path / "tokens.csv", tokens))
    assert ["short"] == refs(looked(made, token="abcdwxyz"))  # noqa: S106 - a token of a test
    assert ["long"] == refs(looked(made, token_ends=("abcd", "wxyz")))
