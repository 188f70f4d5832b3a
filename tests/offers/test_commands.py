"""`cardoffers offer` as operators and scripts meet it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.offers import feed
from cardoffers_cli.offers import work as offers
from sizes import one_in
from work import new_store, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOKEN = "ch_9f8e7d6c5b4a3kanarie0f1e2d3c4b5a6"  # noqa: S105 - a token of a test
CARD = "ct_9f8e7d6c5b4a3kanarie0f1e2d3c4b5a6"
HINTS = (
    "--segment kanarie-segment --prefer-merchants kanarie-merchant"
    " --prefer-categories kanarie-category"
)

FORMATS = ("table", "tsv", "csv", "json", "jsonl", "md")


@pytest.fixture
def offer(cardoffers: Any, tmp_path: Path) -> Callable[..., Any]:
    """Run `cardoffers offer` on a store with a program of three offers, for `alder` if not said."""
    job = new_store(tmp_path)
    tell(
        job,
        institutions="institution max_active_offers\nalder 1",
        merchants="merchant category\nbakery food\ncinema leisure",
        offers="""
            offer  merchant  min_spend  segments  paused  budget
            A      bakery    12.5       -         no      -
            B      cinema    10         gold      no      -
            C      cinema    10         -         yes     5
            D      cinema    10         -         no      -
        """,
        texts="offer language title description\nA es pan fresco",
        programs="offer\nA\nB\nC\nD",
    )

    def run(line: str, stdin: str | None = None, form: str = "json") -> Any:
        words = line.split()
        owner = [] if words[0] == "show" or "-i" in words else ["-i", "alder"]
        usual = ["--store", job.path, "--as-of", "2026-06-01T12:00:00Z", "--format", form]
        return cardoffers("offer", *words, *owner, *usual, stdin=stdin)

    return run


def test_a_feed_is_the_body_of_the_http_contract(offer: Any) -> None:
    ended = offer("feed --cardholder ann --locale es --limit 1 --personalize")
    assert 0 == ended.exit_code
    assert {"offers", "total", "personalized"} == set(ended.document)
    (shown,) = ended.document["offers"]
    assert {
        "id": "A",
        "title": "pan",
        "description": "fresco",
        "min_spend": 12.5,
        "cashback_amount": 1.0,
        "currency": "GBP",
        "starts_at": "2026-05-02T12:00:00.000Z",
        "expires_at": "2026-07-01T12:00:00.000Z",
        "added": False,
        "reason": "program_order",
    } == {name: value for name, value in shown.items() if name != "merchant_id"}
    assert '"min_spend": 12.50,' in ended.stdout
    assert "Shown: 1 of 2 offers." in ended.stderr


def test_hints_and_segment_reach_the_feed(offer: Any) -> None:
    ended = offer("feed --cardholder ann --segment gold --personalize --prefer-merchants x,CINEMA")
    assert [
        ("B", "preferred_merchant"),
        ("D", "preferred_merchant"),
        ("A", "program_order"),
    ] == [(each["id"], each["reason"]) for each in ended.document["offers"]]


def test_a_plain_feed_gives_no_reasons(offer: Any) -> None:
    header, *rows = offer("feed --cardholder ann", form="csv").stdout.splitlines()
    assert (2, "added") == (len(rows), header.rpartition(",")[2])
    header = offer("feed --cardholder ann --personalize", form="csv").stdout.splitlines()[0]
    assert header.endswith(",added,reason")


def test_a_dry_run_says_so(offer: Any) -> None:
    assert offer("feed --cardholder ann --dry-run").document["dry_run"]
    assert offer("add A --cardholder ann --card c --dry-run").document["dry_run"]
    assert [] == offer("link-list --cardholder ann").document["links"]


def test_tokens_may_come_from_standard_input(offer: Any) -> None:
    added = offer("add A --cardholder - --card -", f"{TOKEN}\r\n{CARD}\n")
    assert ("added", 0) == (added.document["status"], added.exit_code)
    again = offer("add A --cardholder - --card other", TOKEN)
    assert {**added.document, "status": "already_added"} == again.document
    assert offer("feed --cardholder - --limit 1", TOKEN).document["offers"][0]["added"]
    (link,) = offer("link-list --cardholder -", TOKEN).document["links"]
    assert added.document["cardholder_offer_id"] == link["cardholder_offer_id"]


# the line after `offer`, what is typed, exit code, code
ENDS = [
    ("feed --cardholder ann --limit 0", None, 2, "limit_invalid"),
    ("feed --cardholder ann --limit 101", None, 2, "limit_invalid"),
    ("feed --cardholder ann --limit -1", None, 2, "limit_invalid"),
    ("feed --cardholder ann --limit x", None, 2, "usage"),
    ("feed --cardholder 4111111111111111", None, 2, "card_number"),
    ("feed --cardholder -", "4111 1111 1111 1111\n", 2, "card_number"),
    ("feed --cardholder -", "ann@example.com\n", 2, "personal_data"),
    ("feed --cardholder -", "\n", 2, "required_missing"),
    ("feed --cardholder -", "", 2, "input_missing"),
    ("add A --cardholder - --card -", "ann\n", 2, "input_missing"),
    ("add A --cardholder ann --card 4111111111111111", None, 2, "card_number"),
    ("feed --cardholder ann -i nowhere", None, 5, "institution_not_found"),
    ("add Z --cardholder ann --card c", None, 5, "offer_not_found"),
    ("add C --cardholder ann --card c", None, 4, "offer_not_available"),
    ("add B --cardholder ann --card c --segment silver", None, 4, "segment_not_eligible"),
    ("show Z", None, 5, "offer_not_found"),
    ("list -i nowhere", None, 5, "institution_not_found"),
]


@pytest.mark.parametrize(("line", "stdin", "exit_code", "code"), ENDS)
@one_in(4)
def test_a_refusal_has_the_code_of_the_contract(
    offer: Any, line: str, stdin: str | None, exit_code: int, code: str
) -> None:
    ended = offer(line, stdin)
    assert (exit_code, code, "") == (ended.exit_code, ended.error["code"], ended.stdout)
    assert not re.search("4111|ann@example", ended.stderr)


def test_the_maximum_is_a_refusal_too(offer: Any) -> None:
    offer("add A --cardholder ann --card c")
    ended = offer("add D --cardholder ann --card c")
    assert (4, "max_active_offers") == (ended.exit_code, ended.error["code"])
    assert "Active offers: 1 of at most 1." in offer("link-list --cardholder ann").stderr


def test_a_program_is_listed_with_its_money(offer: Any) -> None:
    listed = offer("list").document
    assert [("A", "active"), ("B", "active"), ("C", "paused"), ("D", "active")] == [
        (each["id"], each["state"]) for each in listed
    ]
    assert (5.0, 0.0, 5.0, 0) == tuple(
        listed[2][name]
        for name in ("budget_amount", "reserved_amount", "left_amount", "redemptions")
    )
    lines = offer("list", form="tsv").stdout.splitlines()
    assert ["A", "B", "C", "D"] == [line.split("\t")[1] for line in lines[1:]]


def test_an_offer_is_shown_with_its_lists(offer: Any) -> None:
    shown = offer("show A").document
    assert ["alder"] == [each["institution"] for each in shown["programs"]]
    assert ["en", "es"] == [each["language"] for each in shown["texts"]]
    text = offer("show A", form="table").stdout
    assert all(title in text for title in ("min_spend", "Texts", "Programs", "Versions"))


@pytest.mark.parametrize("form", FORMATS)
@one_in(2)
def test_no_token_segment_or_hint_leaves(
    offer: Any, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    typed = f"{TOKEN}\n{CARD}\n"
    lines = [
        f"feed --cardholder - --personalize --debug {HINTS}",
        f"feed --cardholder - --limit 0 --debug {HINTS}",
        "add A --cardholder - --card - --debug --segment kanarie-segment",
        "add B --cardholder - --card - --debug --segment kanarie-segment",
        "link-list --cardholder - --debug",
    ]
    said = [offer(line, typed, form) for line in lines]
    assert [0, 2, 0, 4, 0] == [ended.exit_code for ended in said]

    def fail(*given: Any, **named: Any) -> None:
        raise RuntimeError(given, named)

    takers = [(offers, "find_cardholders"), (feed.FeedProgram, "open_to"), (feed, "by_affinity")]
    for owner, taker in takers:  # of the token, of the segment, of the hints
        with monkeypatch.context() as patched:
            patched.setattr(owner, taker, fail)
            said.append(offer(lines[0], typed, form))
        assert 1 == said[-1].exit_code
        assert "RuntimeError" in said[-1].stderr
    assert [] == [ended for ended in said if "kanarie" in ended.stdout + ended.stderr]
