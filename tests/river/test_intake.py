"""One intake in two sizes: few rows stay at hand, many are in tables, and nothing else differs."""

from __future__ import annotations

import csv
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase
from hypothesis import given as examples
from hypothesis import settings as profile
from hypothesis import strategies as st

from cardoffers_cli.intake import chunks
from cardoffers_cli.intake.documents import parse_marked
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.river import stage
from cardoffers_cli.river.checks import validate
from cardoffers_cli.river.events import EventCall, take_events
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.river.simulate import simulate_file
from hostile import LET_IN, REFUSED
from sizes import FULL, slow, tries
from statements import statements_in
from tables import NOON, uid
from test_every_door import GOOD, all_of_them, as_json
from work import found, kept, new_store, tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

    Event = dict[str, str | None]

SIZES = (-1, 10_000)
"""Up to so many rows are few: with the first none are, with the second all."""

TRIES = 30 if FULL else tries(2, 10)
"""Each looks at every door twice, in some five seconds; the hostile rows are always tried."""

OF_A_RUN = ("runs", "imports", "acts")
"""What carries ids that are random."""

COUNTS = "select * exclude (import_id, run_no) from imports order by import_no"


@contextmanager
def few_rows_are(most: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage, "FEW_ROWS", most)
        yield


def store_in(folder: Path) -> Job:
    made = new_store(folder)
    tell(
        made,
        institutions="institution plan\nalder growth",
        merchants="merchant\nbakery",
        identifiers="identifier merchant\nM1 bakery",
        offers="offer merchant cashback budget uses\nA bakery 3.00 6.60 -\nB bakery 2.00 - 1",
        programs="offer\nA\nB",
        links="cardholder offer added_at\nann A 08:00:00\nann B 08:00:00",
    )
    return made


def write_csv(path: Path, events: list[Event]) -> str:
    names = {name: None for event in events for name in event} | dict.fromkeys(GOOD)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*names], lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: text or "" for name, text in event.items()} for event in events)
    return str(path)


def of_files(folder: Path, files: list[list[Event]]) -> list[Any]:
    """Return what is told of files at each door, how they are parted, and what is kept."""
    made = store_in(folder)
    told: list[Any] = []
    for number, events in enumerate(files):
        path = write_csv(folder.parent / f"{number}.csv", events)
        out = {name: folder / f"{number}-{name}" for name in ("errors", "valid", "rejected")}
        reading = chunks.FileReading(now=NOON, currency="GBP")
        told += [
            validate(path, reading, made, outputs=Outputs()).document(),
            simulate_file(path, "alder", made, ImportOptions(), outputs=Outputs()).document(),
        ]
        done = import_file(path, "alder", made, ImportOptions(), outputs=Outputs(**out))
        told += [done.report, done.accepted, done.amount_accepted]
        told += [each.read_bytes() for each in out.values()]
    return [*told, kept(made, *OF_A_RUN), found(made, COUNTS)]


def of_calls(folder: Path, groups: list[list[list[Event]]]) -> list[Any]:
    """Return what groups of calls are told, each taken together, and what is kept of them."""
    made = store_in(folder)
    told: list[Any] = []
    with made.store() as store:
        owner = find_institution(store, "alder")
        for number, group in enumerate(groups):
            calls = [sent(f"{number}-{place}", events) for place, events in enumerate(group)]
            told += take_events(store, owner, calls, made)
    return [*told, kept(made, *OF_A_RUN), found(made, COUNTS)]


def sent(name: str, events: list[Event]) -> EventCall:
    items, marked = parse_marked(f"[{','.join(map(as_json, events))}]".encode())
    return EventCall(
        call_id=uid(name),
        items=items,
        body_sha256="0" * 64,
        size_bytes=1,
        key_prefix="co_live_abcd",
        marked=marked,
    )


def same_in_both_sizes(folders: Path, ask: Any, given: Any) -> None:
    answers = []
    for most in SIZES:
        folder = folders / str(most)
        folder.mkdir()
        with few_rows_are(most):
            answers.append(ask(folder, given))
    many, few = answers
    assert many == few


EVENT = st.fixed_dictionaries(
    {
        "cardholder_token": st.sampled_from(["ann", "ben", "cat", None, "ann@bank.example"]),
        "card_token": st.sampled_from(["c1", "c2", "4111111111111111"]),
        "card_acceptor_id": st.sampled_from(["M1", "M2", "Käse 24", None]),
        "merchant_id": st.sampled_from([None, None, str(uid("bakery")), "x"]),
        "amount": st.sampled_from(["20.00", "20.00", "9.99", "0", "x", "1.005"]),
        "transaction_ref": st.sampled_from(["r1", "r2", "r3", "r4", "4111111111111111", None]),
        "transacted_at": st.sampled_from(
            [
                "2026-06-01T09:00:00Z",
                "2026-06-01T09:00:00Z",
                "2026-06-01T09:00",
                "2026-05-31T23:59:59Z",
            ]
        ),
        "mcc": st.sampled_from([None, None, "5411", "a\u200bb"]),
    }
)
EVENTS = st.lists(EVENT, max_size=12)


@profile(max_examples=TRIES, deadline=None, phases=[Phase.generate])
@examples(files=st.lists(EVENTS, min_size=1, max_size=2))
def test_files_come_to_the_same(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[Event]]
) -> None:
    same_in_both_sizes(tmp_path_factory.mktemp("files"), of_files, files)


@profile(max_examples=TRIES, deadline=None, phases=[Phase.generate])
@examples(groups=st.lists(st.lists(EVENTS, min_size=1, max_size=3), min_size=1, max_size=3))
def test_calls_come_to_the_same(
    tmp_path_factory: pytest.TempPathFactory, groups: list[list[list[Event]]]
) -> None:
    same_in_both_sizes(tmp_path_factory.mktemp("calls"), of_calls, groups)


def hostile_events() -> list[Event]:
    """Return the bad events of every door, and good ones in which hostile names stand."""
    _, events = all_of_them()
    names = [*LET_IN.values(), *REFUSED.values()]
    fields = ("merchant_descriptor", "card_acceptor_id", "network")
    return [
        *events,
        *(
            {**GOOD, fields[number % 3]: name, "transaction_ref": f"H{number % 40}"}
            for number, name in enumerate(names)
        ),
    ]


@slow
def test_hostile_rows_of_files_come_to_the_same(tmp_path: Path) -> None:
    events = hostile_events()
    without_cards = [event for event in events if not _has_card_number(event)]
    same_in_both_sizes(tmp_path, of_files, [without_cards, events])


@slow
def test_hostile_events_of_calls_come_to_the_same(tmp_path: Path) -> None:
    events = hostile_events()
    same_in_both_sizes(tmp_path, of_calls, [[events[:50], events[20:]], [events]])


def _has_card_number(event: Event) -> bool:
    return any("4111" in text or "5555" in text for text in event.values() if text)


@pytest.mark.parametrize(("most", "are_made"), [*zip(SIZES, (True, False), strict=True)])
def test_of_few_rows_no_table_is_made(tmp_path: Path, most: int, are_made: bool) -> None:
    made = store_in(tmp_path)
    said: list[str] = []
    with few_rows_are(most), made.store() as store:
        owner = find_institution(store, "alder")
        with statements_in(store, said):
            take_events(store, owner, [sent("call", [GOOD])], made)
    assert said
    assert are_made == any("create temp" in text for text in said)
