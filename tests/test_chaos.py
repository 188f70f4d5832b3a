"""Struck at any moment, a command loses nothing, does nothing twice, and says what is wrong.

This is the small edition of `benchmarks/chaos.py`, whose counts `operations.md` quotes: every
command that writes is struck here by a seed, one way each. `CARDOFFERS_TESTS=full` strikes each
in every way, some times. The nights are left to `test_night.py` unless it is set: they take
seconds.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from chaos.children import KILLED, recorder
from chaos.flips import asked, files, flipped, kind_of, stage_of
from chaos.judging import Expected, content
from chaos.places import STORE, Places
from chaos.scenarios import READING, SERVED, Scenario, all_commands, scenarios
from chaos.serving import killed_server
from chaos.states import read_log
from chaos.strikes import (
    DAMAGED,
    Struck,
    Undisturbed,
    acknowledged,
    cut_off,
    faults_of_doctor,
    killed,
    starved,
    undisturbed,
)
from chaos.tally import Tally
from disks import disk_if_any
from sizes import FULL, GATE, at_the_gate, one_in, slow, tries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Strike = Callable[[Places, Undisturbed, random.Random], Struck]

pytestmark = slow

ROWS = 1200 if FULL else tries(150, 300)
TIMES = 3 if FULL else 1
OF_MOST_WEIGHT = (".duckdb", "/journal", ".wal", ".checksum") if GATE else (".duckdb", "/journal")
WITH_FINDINGS = 3
RECOVERED = "It was recovered, and nothing is lost"
LONG = ("nightly", "run resume", "demo")
SCENARIOS = [each for each in scenarios() if FULL or each.command not in LONG]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    folder = tmp_path_factory.mktemp("chaos") / "disk"
    with disk_if_any(folder, "2g"), Places(folder / "places", rows=ROWS) as made:
        yield made


def ways(scenario: Scenario, places: Places) -> list[Strike]:
    """Return the ways in which a command is struck: all, or in turn."""
    found: list[Strike] = [killed]
    found += [cut_off] if recorder() else []
    found += [starved] if places.is_disk else []
    return found if FULL else [found[SCENARIOS.index(scenario) % len(found)]]


def test_every_command_is_struck_or_reads_only() -> None:
    struck = {scenario.command for scenario in scenarios()}
    assert all_commands() == struck | READING | SERVED
    assert set() == READING & (struck | SERVED)


@one_in(16)  # in which each way of striking has its turn
@pytest.mark.parametrize("scenario", SCENARIOS, ids=[each.words for each in SCENARIOS])
def test_a_command_that_is_struck_ends_as_if_undisturbed(
    places: Places, scenario: Scenario
) -> None:
    quiet = undisturbed(places, scenario)
    chance, tally = random.Random(scenario.words), Tally("struck")  # noqa: S311
    tally.add(scenario.command, acknowledged(places, quiet))
    for strike in ways(scenario, places):
        for _ in range(TIMES):
            tally.add(scenario.command, strike(places, quiet, chance))
    assert 0 == tally.faults(), tally.notes


@pytest.mark.skipif(recorder() is None, reason="the recorder takes gcc")
def test_the_recorder_notes_everything(places: Places) -> None:
    quiet = undisturbed(places, next(each for each in SCENARIOS if each.words == "match"))
    disk = quiet.disk(places)
    disk.do(quiet.changes, "ordered")
    there = {
        str(path.relative_to(places.place)): path.read_bytes()
        for path in places.place.rglob("*")
        if path.is_file()
    }
    assert there == disk.whole()


PAGE = 4096
NIGHT = ["nightly", "drop"]


@at_the_gate
@pytest.mark.skipif(recorder() is None, reason="the recorder takes gcc")
def test_a_night_recovers_a_store_that_was_killed_inside_a_write(places: Places) -> None:
    """Kills where the engine writes over what it wrote, until a store is refused after one."""
    log = places.root / "log"
    log.unlink(missing_ok=True)
    places.put("ready")
    assert WITH_FINDINGS == places.run(NIGHT, log=str(log)).exit_code
    quiet = Expected(content=content(places.place), other=content(places.place))
    written, refused = set[int](), 0
    for number, change in enumerate(read_log(log), start=1):
        if change.kind != "write" or not change.first.endswith(STORE) or len(change.data) <= PAGE:
            continue
        if change.offset in written and refused < TIMES:
            places.put("ready")
            assert KILLED == places.run(NIGHT, kill_at=number).exit_code
            if places.run(["status"]).exit_code == DAMAGED:
                refused += 1
                ended = places.run(NIGHT)
                assert (WITH_FINDINGS, True) == (ended.exit_code, RECOVERED in ended.stderr)
                faults = quiet.faults(content(places.place), {"attempts"})
                assert [] == [each for each in faults if each.kind in {"lost", "doubled"}]
                assert [] == faults_of_doctor(places.place)
        written.add(change.offset)
    assert TIMES == refused


@pytest.mark.parametrize("number", range(TIMES))
def test_a_file_that_is_damaged_is_told_or_does_no_harm(places: Places, number: int) -> None:
    """It asks four commands for each of the files, which takes some seconds."""
    tally = Tally("damaged")
    for name in files(places):
        if FULL or name.endswith(OF_MOST_WEIGHT):
            places.put(stage_of(name))
            before = asked(places, name)
            chance = random.Random(f"{number} {kind_of(name)}")  # noqa: S311
            tally.add(kind_of(name), flipped(places, name, before, chance))
    assert 0 == tally.faults(), tally.notes


@pytest.mark.skipif(not FULL, reason="tests/http/test_crash.py does the same")
def test_a_server_that_is_killed_has_kept_what_it_acknowledged(places: Places) -> None:
    tally = Tally("killed")
    chance = random.Random(1)  # noqa: S311
    for _ in range(10):
        tally.add("serve", killed_server(places, chance))
    assert 0 == tally.faults(), tally.notes
