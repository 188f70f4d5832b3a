"""A store with an engine says and keeps what one without does, whatever dies meanwhile."""

from __future__ import annotations

import contextlib
import csv
import random
import shutil
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import nights
from buckets import Files
from cardoffers_cli.archive.archive import TABLES, archive_of, part_folder, recent
from cardoffers_cli.archive.export import MANY, compact, export
from cardoffers_cli.events.receiver import Receiver
from cardoffers_cli.intake.transactions import open_transactions
from cardoffers_cli.kernel.sheets.exports import copy_sample_data
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.words.errors import CardoffersError, EngineFailed, Refused
from cardoffers_cli.night.options import NightOptions
from cardoffers_cli.night.run import run_night
from cardoffers_cli.river.engines import compute, keep, match_purchases, target_of
from cardoffers_cli.river.imports import ImportOptions, reading_for, take_in
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.river.simulate import simulate_file
from cardoffers_cli.sample.plan import Plan
from cardoffers_cli.storage.doctor import doctor
from commands import cardoffers, command
from sizes import FULL, at_the_gate
from sparks import free_port, sail
from test_story import EXPECTED, STORY, tell
from work import file_of, found, job, kept, new_store, taken
from work import tell as told_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from buckets import ObjectStore
    from cardoffers_cli.kernel.store.job import Job
    from sparks import Spark

pytestmark = at_the_gate  # each works through two stores; test_spark.py tries the server each time

CLIENT_KILLS = 40 if FULL else 2
SERVER_KILLS = 20 if FULL else 1
HISTORY = ("history", "history_parts", "history_left")
OWN = ("runs", *HISTORY, "night_steps", "nights", "imports", "audit_log", "acts")
"""The tables that tell the runs of one store from those of another."""
OF_RUNS = (
    *("decisions", "outcomes", "outbox", "redemptions", "redemption_counts", "counted_up_to"),
    "journal_entries",
)
"""The tables that name a run beside what they hold: an engine takes more of their numbers."""


@pytest.fixture(scope="module")
def sail_at(objects: ObjectStore) -> Iterator[Spark]:
    """A server for the jobs; how tables come to be equal on each is shown in test_spark.py."""
    with sail(**objects.environment) as server:
        yield server


def service(folder: Path) -> Job:
    """Make a store of two offers, one of them with a budget for some of its purchases."""
    made = new_store(folder)
    told_to(
        made,
        institutions="institution\nalder",
        merchants="merchant\nbakery\nbutcher",
        identifiers="identifier merchant\nM0 bakery\nM1 butcher",
        offers="offer merchant budget\nof-1 bakery 9.00\nof-2 butcher -\nof-3 bakery 4.00",
        programs="offer\nof-1\nof-2\nof-3",
        links="cardholder offer\nc0 of-2\nc0 of-3\n"
        + "\n".join(f"c{n} of-{1 + n % 3}" for n in range(7)),
    )
    return made


def rows(part: int, size: int = 100) -> list[dict[str, str]]:
    return [
        {
            "ref": f"R{number - number // 19 % 2:04}",
            "cardholder": f"c{number % 7}",
            "identifier": f"M{number % 3}",
            "mcc": "5411" if number % 5 == 0 else "",
            "amount": f"{number % 90 + 1}.{number // 630 + 7:02}",  # no two purchases look alike
        }
        for number in range(part * size, part * size + size)
    ]


def on(spark: Spark, made: Job) -> Job:
    """Return the job with an engine."""
    return job(made.path, engine=spark.url)


@pytest.fixture
def pair(tmp_path: Path, sail_at: Spark) -> tuple[Job, Job]:
    """The same store twice: for DuckDB, and for an engine."""
    plain = service(tmp_path)
    copy = job(shutil.copy(plain.path, tmp_path / "engine.duckdb"), engine=sail_at.url)
    return plain, copy


@pytest.fixture(params=["beside", "bucket"])
def each_pair(request: pytest.FixtureRequest, pair: tuple[Job, Job]) -> tuple[Job, Job]:
    """The same store twice, the history of the second beside it or in a bucket."""
    if request.param == "bucket":
        export(pair[1], request.getfixturevalue("bucket"))
    return pair


def content(made: Job) -> dict[str, Any]:
    """Return what a store keeps, wherever it is, but for run numbers and random ids."""
    own = dict.fromkeys(OF_RUNS, "run_no")
    own |= {"imports": "import_id, run_no", "ledger_moves": "run_no, actor"}
    return kept(made, *OWN, *own) | {
        name: found(made, f"select columns(* exclude ({but})) from {name} order by all")  # noqa: S608
        for name, but in own.items()
    }


def audits(made: Job) -> list[str]:
    """Return the audits that find something."""
    return [each["name"] for each in doctor(made, strict=True)["audits"] if not each["ok"]]


def on_the_way(made: Job) -> list[str]:
    """Return what is left in the working folder of the history."""
    with made.store(read_only=True) as store:
        archive = archive_of(store)
    return Files(str(archive.root)).below("work") if archive else []


# With an engine as without one


def test_imports_and_matches_keep_the_same(each_pair: tuple[Job, Job], tmp_path: Path) -> None:
    told = []
    for made in each_pair:
        documents = []
        for part in (0, 1, 1):
            documents.append(taken(made, file_of(tmp_path / "tx.csv", rows(part))))
            documents.append(match_purchases(made, rematch=part == 1).document())
        told.append([{**each, **RANDOM} for each in documents])
    plain, elsewhere = each_pair
    assert told[0] == told[1]
    assert content(plain) == content(elsewhere)
    assert [] == audits(elsewhere) + on_the_way(elsewhere)
    with elsewhere.store(read_only=True) as store:
        assert {} == recent(store)
    [(counts,)] = found(elsewhere, "select counts from runs where kind = 'match' limit 1")
    assert f'"engine": "{elsewhere.settings.engine}"' in counts


RANDOM = dict.fromkeys(("import_id", "run_id", "already_imported"))


def test_an_engine_may_have_another_name_for_the_folder(tmp_path: Path, sail_at: Spark) -> None:
    made = service(tmp_path)
    export(made, str(tmp_path / "history"))
    url = (tmp_path / "history").as_uri() + "/"
    there = job(made.path, engine=sail_at.url, engine_root=url)
    taken(there, file_of(tmp_path / "tx.csv", rows(0)))
    assert 0 < match_purchases(there).redeemed.redeemed
    assert [] == audits(made)
    assert {"purchases", "purchase_details", "decisions", "outcomes", "work"} == {
        folder.name for folder in (tmp_path / "history").iterdir()
    }
    assert [] == list((tmp_path / "history" / "work").iterdir())


def test_what_comes_without_an_engine_is_seen_by_the_next(
    pair: tuple[Job, Job], tmp_path: Path
) -> None:
    plain, elsewhere = pair
    without = job(elsewhere.path)
    for part, ways in enumerate([(plain, elsewhere), (plain, without), (plain, elsewhere)]):
        for way in ways:
            taken(way, file_of(tmp_path / "tx.csv", rows(part)))
            match_purchases(way)
    assert content(plain) == content(elsewhere)
    assert [] == audits(elsewhere)


def test_a_rehearsal_keeps_and_leaves_nothing(each_pair: tuple[Job, Job], tmp_path: Path) -> None:
    _, elsewhere = each_pair
    documents = []
    for made in each_pair:
        taken(made, file_of(tmp_path / "tx.csv", rows(0)))
        before = kept(made)
        files = sorted(tmp_path.rglob("*.parquet"))
        file = file_of(tmp_path / "more.csv", rows(1))
        simulated = simulate_file(str(file), "alder", made, ImportOptions(), outputs=Outputs())
        imported = taken(made, file, dry_run=True)
        matched = match_purchases(made, dry_run=True).document()
        assert before == kept(made)
        assert files == sorted(tmp_path.rglob("*.parquet"))
        documents.append([simulated.document(), {**imported, **RANDOM}, {**matched, **RANDOM}])
    assert documents[0] == documents[1]
    assert 10 < documents[0][0]["match"]
    assert [] == on_the_way(elsewhere)


def test_the_story_is_the_same_on_an_engine(
    tmp_path: Path, sail_at: Spark, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_sample_data(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CARDOFFERS_ENGINE", sail_at.url)
    for step in STORY:
        told = tell(step)
        if step.golden != "status.json":  # which lists the runs
            assert (EXPECTED / step.golden).read_text("utf-8") == told, step
    assert [] == audits(job("cardoffers.duckdb"))


def test_a_night_on_an_engine_ends_as_one_without(
    tmp_path: Path, sail_at: Spark, bucket: str
) -> None:
    with Receiver(clock=nights.real_now) as receiver:
        base = tmp_path / "base"
        base.mkdir()
        plan = Plan(rows=300, links=150, seed=3, institutions=2, files=1)
        nights.furnish(base, plan, receiver.url)
        ends = {}
        for where in ("inside", "beside", "bucket"):
            folder = nights.World(base).copy(tmp_path / where)
            at = nights.at(folder)
            if where != "inside":
                at = replace(at, settings=replace(at.settings, engine=sail_at.url))
            if where == "bucket":
                export(at, bucket)
            result = run_night(at, NightOptions(drop=folder / nights.DROP))
            ends[where] = (nights.exports(folder), nights.content(folder))
            assert "finished" == result["status"]
            assert [] == audits(at)
    assert ends["inside"] == ends["beside"] == ends["bucket"]
    tables = "select table_name from history_parts order by all"
    assert [("decisions",), ("outcomes",), ("purchases",)] == found(at, tables)


def test_a_night_whose_purchases_are_inside_takes_no_file(tmp_path: Path, sail_at: Spark) -> None:
    made = service(tmp_path)
    taken(made, file_of(tmp_path / "tx.csv", rows(0)))
    (tmp_path / "drop" / "alder").mkdir(parents=True)
    file = file_of(tmp_path / "drop" / "alder" / "tx.csv", rows(1))
    file.with_name("tx.csv.done").touch()
    with pytest.raises(Refused) as caught:
        run_night(on(sail_at, made), NightOptions(drop=tmp_path / "drop"))
    assert "history_missing" == caught.value.code
    assert file.exists()
    export(made, str(tmp_path / "history"))
    assert (
        "finished" == run_night(on(sail_at, made), NightOptions(drop=tmp_path / "drop"))["status"]
    )
    assert [] == audits(made)


# Parts that are merged


def test_a_match_after_merging_decides_as_without(pair: tuple[Job, Job], tmp_path: Path) -> None:
    """Parts that the engine wrote are merged with those of the store, and it reads what results."""
    plain, elsewhere = pair
    for part, way in enumerate([elsewhere, job(elsewhere.path), elsewhere]):
        if part == 2:
            compact(elsewhere)
            assert dict.fromkeys(TABLES, 1) == dict(found(elsewhere, PARTS))
        for each in (plain, way):
            taken(each, file_of(tmp_path / "tx.csv", rows(part)))
            match_purchases(each)
    assert content(plain) == content(elsewhere)
    assert [] == audits(elsewhere)


PARTS = "select table_name, count(*) from history_parts group by all order by all"


def test_a_match_merges_ten_parts_and_goes_on_where_it_cannot(
    tmp_path: Path, sail_at: Spark
) -> None:
    made = service(tmp_path)
    for part in range(MANY):
        taken(made, file_of(tmp_path / "tx.csv", rows(part)), is_own=True)
        if part < MANY - 1:
            export(made, str(tmp_path / "history"))
    [details, *_] = (tmp_path / "history" / "purchase_details").rglob("*.parquet")
    shutil.copy(details, details.with_name("again.parquet"))  # which no match reads
    (tmp_path / "drop").mkdir()
    result = run_night(on(sail_at, made), NightOptions(drop=tmp_path / "drop"))
    [step] = [step for step in result["steps"] if step["name"] == "match"]
    assert MANY * 100 - MANY * 100 // 38 == step["counts"]["considered"]
    [finding] = [each for each in result["findings"] if each["code"] == "history_not_merged"]
    assert "is not what was read back" in finding["message"]
    told = match_purchases(on(sail_at, made)).document()["unmerged"]
    assert "is not what was read back" in told
    details.with_name("again.parquet").unlink()
    by_table = {"purchase_details": MANY, "purchases": MANY, "decisions": 1, "outcomes": 1}
    assert by_table == dict(found(made, PARTS))
    match_purchases(on(sail_at, made))
    by_table |= {"purchase_details": 1, "purchases": 1}
    assert by_table == dict(found(made, PARTS))
    assert [] == audits(made)


# A store that an engine cannot help


def test_a_store_whose_purchases_are_inside_is_refused(tmp_path: Path, sail_at: Spark) -> None:
    made = service(tmp_path)
    file = file_of(tmp_path / "tx.csv", rows(0))
    taken(made, file)
    before = kept(made)
    for way in (match_purchases, lambda made: taken(made, file)):
        with pytest.raises(Refused) as caught:
            way(on(sail_at, made))
        assert "history_missing" == caught.value.code
        assert "store export --to" in str(caught.value.hint)
    assert before == kept(made)


def test_an_import_that_died_before_its_purchases_moved_is_no_hindrance(
    tmp_path: Path, sail_at: Spark
) -> None:
    made = on(sail_at, service(tmp_path))
    file = file_of(tmp_path / "tx.csv", rows(0))
    options = ImportOptions()
    with made.store() as store, store.transaction():
        owner = find_institution(store, "alder")
        with open_transactions(str(file), reading_for(store, owner, made, options)) as opened:
            take_in(store, opened, owner, made, options, target=target_of(store, made))
    assert 0 < match_purchases(made).redeemed.redeemed
    assert [] == audits(made)


def test_an_engine_that_nobody_finds_leaves_the_store_alone(tmp_path: Path) -> None:
    made = service(tmp_path)
    nobody = job(made.path, engine=f"sc://127.0.0.1:{free_port()}")
    before = kept(made)
    with pytest.raises(EngineFailed) as caught:
        match_purchases(nobody)
    assert "engine_unreachable" == caught.value.code
    file = file_of(tmp_path / "tx.csv", rows(0))
    words = ("import", file, "-i", "alder", "--store", made.path, "--format", "json")
    ended = cardoffers(*words, "--engine", nobody.settings.engine, exit_code=15)
    assert "engine_unreachable" == ended.error["code"]
    assert before == kept(made)


# Only one match is kept


def test_a_run_is_kept_once(pair: tuple[Job, Job], tmp_path: Path) -> None:
    _, made = pair
    taken(made, file_of(tmp_path / "tx.csv", rows(0)))
    computed = compute(made)
    with made.store() as store, store.transaction():
        keep(store, made, computed)
    before = kept(made)
    with made.store() as store, pytest.raises(Refused) as caught, store.transaction():
        keep(store, made, computed)
    assert "run_committed" == caught.value.code
    assert before == kept(made)


def test_a_match_in_between_is_not_overridden(pair: tuple[Job, Job], tmp_path: Path) -> None:
    _, made = pair
    taken(made, file_of(tmp_path / "tx.csv", rows(0)))
    computed = compute(made)
    match_purchases(job(made.path))
    before = kept(made)
    with made.store() as store, pytest.raises(Refused) as caught, store.transaction():
        keep(store, made, computed)
    assert "run_overtaken" == caught.value.code
    assert before == kept(made)
    match_purchases(made)
    assert [] == audits(made)


def test_what_was_computed_by_other_terms_is_not_kept(
    pair: tuple[Job, Job], tmp_path: Path
) -> None:
    _, made = pair
    taken(made, file_of(tmp_path / "tx.csv", rows(0)))
    computed = compute(made)
    raise_cashback(made, tmp_path / "catalog")
    before = kept(made)
    with made.store() as store, pytest.raises(Refused) as caught, store.transaction():
        keep(store, made, computed)
    assert "run_overtaken" == caught.value.code
    assert before == kept(made)
    match_purchases(made)
    assert [] == audits(made)


def raise_cashback(made: Job, folder: Path) -> None:
    """Let every offer pay more from now on, as a catalogue that is imported does."""
    cardoffers("catalog", "export", folder, "--store", made.path)
    offers = folder / "offers.csv"
    header, *lines = list(csv.reader(offers.read_text(encoding="utf-8").splitlines()))
    cashback = header.index("cashback_amount")
    for line in lines:
        line[cashback] = "2.50"
    with offers.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([header, *lines])
    cardoffers("catalog", "import", offers, "--store", made.path)


def test_parts_that_are_not_what_was_computed_are_not_listed(
    each_pair: tuple[Job, Job], tmp_path: Path
) -> None:
    _, made = each_pair
    taken(made, file_of(tmp_path / "tx.csv", rows(0)))
    computed = compute(made)
    part_folder(computed.target.root, "outcomes", computed.run.run_id).remove()
    before = kept(made)
    with made.store() as store, pytest.raises(CardoffersError) as caught, store.transaction():
        keep(store, made, computed)
    assert "part_differs" == caught.value.code
    assert before == kept(made)


# Whatever dies, everything happens once


@dataclass(frozen=True)
class Undisturbed:
    """A store before an import and a match, and what they come to when nobody disturbs."""

    store: Path
    file: Path
    seconds: float
    content: dict[str, Any]

    def lines(self, store: Path, url: str) -> list[tuple[object, ...]]:
        """Return the commands that are disturbed."""
        options = ("--store", store, "--engine", url, "--as-of", "2026-06-01T12:00:00Z")
        return [("import", self.file, "-i", "alder", *options), ("match", *options)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, sail_at: Spark) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    made = service(folder)
    file = file_of(folder / "tx.csv", rows(0, 200))
    before = Path(shutil.copy(made.path, folder / "before.duckdb"))
    blank = Undisturbed(before, file, 0, {})
    began = time.monotonic()
    for line in blank.lines(made.path, sail_at.url):
        cardoffers(*line, exit_code=None)
    seconds = time.monotonic() - began
    return Undisturbed(before, file, seconds, once(made))


def once(made: Job) -> dict[str, Any]:
    """Return the content, but for what says how often a file came."""
    sql = "select columns(* exclude import_no) from purchases order by all"
    again = {"imports", "duplicates", "rejects", "purchases"}
    everything = {name: rows for name, rows in content(made).items() if name not in again}
    return everything | {"purchases": found(made, sql)}


def finish(whole: Undisturbed, store: Path, url: str) -> None:
    """Do it all again, and hold that everything happened once."""
    made = job(store, engine=url)
    taken(made, whole.file)
    match_purchases(made)
    assert whole.content == once(made)
    assert [] == audits(made) + on_the_way(made)


def moments(count: int) -> list[float]:
    chance = random.Random(count)  # noqa: S311 - moments, not secrets
    return [round(chance.random(), 3) for _ in range(count)]


@pytest.mark.parametrize("moment", moments(CLIENT_KILLS))
def test_a_client_killed_at_any_moment(
    undisturbed: Undisturbed, sail_at: Spark, tmp_path: Path, moment: float
) -> None:
    store = Path(shutil.copy(undisturbed.store, tmp_path / "store.duckdb"))
    deadline = time.monotonic() + moment * undisturbed.seconds
    for line in undisturbed.lines(store, sail_at.url):
        with subprocess.Popen(
            command(*line), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as working:
            with contextlib.suppress(subprocess.TimeoutExpired):
                working.wait(max(0.0, deadline - time.monotonic()))
            working.kill()
        if time.monotonic() >= deadline:
            break
    finish(undisturbed, store, sail_at.url)


@pytest.mark.parametrize("moment", moments(SERVER_KILLS))
def test_a_server_killed_at_any_moment(
    undisturbed: Undisturbed, tmp_path: Path, moment: float
) -> None:
    store = Path(shutil.copy(undisturbed.store, tmp_path / "store.duckdb"))
    with sail() as server:
        deadline = time.monotonic() + moment * undisturbed.seconds
        for line in undisturbed.lines(store, server.url):
            with subprocess.Popen(
                command(*line), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            ) as working:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    working.wait(max(0.0, deadline - time.monotonic()))
                if working.poll() is None:
                    server.kill()
                _, said = working.communicate()
            if server.process.poll() is not None:
                assert (True, False) == (working.returncode in {0, 3, 15}, b"Traceback" in said)
                break
    with sail() as server:
        finish(undisturbed, store, server.url)
