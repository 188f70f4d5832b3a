"""A night that nobody watched: what cron's mail says, and what `status` and `run list` say then.

The night has one good file, one with a bad row, one without a known column, and an empty one. Each
test takes the two seconds that a whole night takes with its pages and audits.
"""

from __future__ import annotations

import json
import re
import threading
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.cli.commands import Options
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.store.layout import make_folder, night_path
from cardoffers_cli.kernel.store.lock import night_holder, night_lock
from cardoffers_cli.night.hooks import HookOutcome
from cardoffers_cli.night.screen import JsonLines, failed_hook, in_words
from commands import seen
from sizes import at_the_gate, one_in, slow
from tables import NOON, select
from work import found, job, with_catalogue

if TYPE_CHECKING:
    from pathlib import Path

HEADER = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at\n"
FILES = {
    "good.csv": f"{HEADER}c0,card-1,M0,20.00,r1,2026-05-30T12:00:00Z\n",
    "bad.csv": f"{HEADER}c1,card-2,M0,20.00,r2,2026-05-30T12:00:00Z\n"
    "c1,card-2,M0,-1,r3,2026-05-30T12:00:00Z\n",
    "strange.csv": "a,b\n1,2\n",
    "empty.csv": "",
}
CLOCK = ("--as-of", "2026-06-01T12:00:00Z")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with a catalogue beside a drop folder; the working directory."""
    with_catalogue(tmp_path)
    drop = tmp_path / "drop" / "alder"
    drop.mkdir(parents=True)
    for name, text in FILES.items():
        (drop / name).write_text(text)
        (drop / f"{name}.done").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CARDOFFERS_STORE", "store.duckdb")
    return tmp_path


NIGHT = ("nightly", "drop", *CLOCK)


MAIL = """
Nightly run of 2026-06-01, run RUN: finished; 4 files, 2 of them failed, 3 findings need attention.
error: alder/bad.csv: 1 of 2 rows not taken: 1 where the amount is zero or negative.
    -> cat PROCESSED/alder/done/bad.csv.errors.csv
error: alder/empty.csv: The file has no content.
    -> cat PROCESSED/alder/failed/empty.csv.errors.csv
error: alder/strange.csv: The first line holds none of the known column names, but 2 fields, \
separated by a comma: a, b.
    -> cat PROCESSED/alder/failed/strange.csv.errors.csv
note: 2 webhooks of alder cannot be sent (it has no webhook URL).
    -> cardoffers webhook set -i alder --url URL
note: There is no copy of this store outside its disk since 2026-06-01 12:00 UTC.
    -> cardoffers help operations
Page: REPORTS/2026-06-01/index.html
"""


@slow
@pytest.mark.parametrize("quiet", [(), ("-q",)])
@one_in(2)
def test_the_mail_of_cron_says_what_happened_and_what_to_type(
    cardoffers: Any, folder: Path, quiet: tuple[str, ...]
) -> None:
    ended = cardoffers(*NIGHT, *quiet)
    assert 3 == ended.exit_code
    places = {"RUN": run_of(folder), "PROCESSED": folder / "processed"}
    places |= {"REPORTS": folder / "reports"}
    mail = MAIL
    for name, place in places.items():
        mail = mail.replace(name, str(place))
    steps = re.compile(r"\d\d:\d\d:\d\d \d+/\d+ ")
    lines = [line for line in ended.stderr.splitlines() if not steps.match(line)]
    assert mail.strip().splitlines() == lines
    assert (folder / "reports" / "2026-06-01" / "index.html").exists()


def cut_off(*_given: object) -> None:
    raise KeyboardInterrupt


@at_the_gate
@pytest.mark.usefixtures("folder")
def test_the_mail_says_what_a_night_found_that_was_cut_off_and_nothing_twice(
    cardoffers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was printed when a process was killed may be lost: it is told until that is kept."""
    mails = []
    for exit_code, day, cut_off_in in [
        (130, "01", "steps.decide"),
        (130, "03", "status.tell_nights"),
        (3, "03", None),
        (0, "03", None),
    ]:
        with monkeypatch.context() as patch:
            if cut_off_in:
                patch.setattr(f"cardoffers_cli.night.{cut_off_in}", cut_off)
            ended = cardoffers("nightly", "drop", "-q", "--as-of", f"2026-06-{day}T12:00:00Z")
        assert exit_code == ended.exit_code
        mails += [re.findall(r"Nightly run of \S+(?=,)|error: alder/bad\.csv", ended.stderr)]
    both = ["Nightly run of 2026-06-01", "error: alder/bad.csv", "Nightly run of 2026-06-03"]
    assert [[], both, both, []] == mails


def run_of(folder: Path) -> str:
    """Return the id of the only night."""
    return str(found(job(folder / "store.duckdb"), "select run_id from nights")[0][0])


@at_the_gate
def test_a_quiet_night_that_needs_nothing_says_nothing(cardoffers: Any, folder: Path) -> None:
    for name in FILES:
        if name != "good.csv":
            (folder / "drop" / "alder" / name).unlink()
            (folder / "drop" / "alder" / f"{name}.done").unlink()
    ended = cardoffers(*NIGHT, "-q")
    assert (0, "") == (ended.exit_code, ended.stderr)


@at_the_gate
@pytest.mark.usefixtures("folder")
def test_a_log_for_machines_ends_with_the_findings(cardoffers: Any) -> None:
    ended = cardoffers(*NIGHT, "--log-format", "json")
    last = json.loads(ended.stderr.splitlines()[-1])
    assert ("night_ends", "2026-06-01", "finished") == (
        last["event"],
        last["night"],
        last["status"],
    )
    assert {"error", "note"} == {each["level"] for each in last["findings"]}
    assert {"cat", "cardoffers"} == {each["next"].split()[0] for each in last["findings"]}


@slow
@pytest.mark.usefixtures("folder")
def test_status_begins_with_the_last_night(cardoffers: Any) -> None:
    cardoffers(*NIGHT)
    lines = cardoffers("status", *CLOCK, "--format", "table").stdout.splitlines()
    counts = "4 files; 2 of them failed; 3 rows, 1 of them rejected."
    assert [
        "The last nightly run",
        f"Nightly run of 2026-06-01: finished; {counts}",
        "error: alder/bad.csv: 1 of 2 rows not taken: 1 where the amount is zero or negative.",
    ] == lines[:3]
    assert "error: alder/empty.csv: The file has no content." in lines
    document = cardoffers("status", *CLOCK, "--format", "json").document
    assert ("finished", 2) == (
        document["last_night"]["state"],
        document["last_night"]["failed_files"],
    )


def break_off(cardoffers: Any, folder: Path) -> str:
    """Make the night of a folder one that did not end, with a purchase to match; return its id."""
    (folder / "more.csv").write_text(f"{HEADER}c2,card-1,M1,9.00,r9,2026-05-30T12:00:00Z\n")
    assert 0 == cardoffers("import", "more.csv", "-i", "alder", *CLOCK).exit_code
    with job(folder / "store.duckdb").store() as store:
        select(store, "update nights set ended_at = null")
    return run_of(folder)


@slow
def test_a_night_that_was_broken_off_is_gone_on_with(cardoffers: Any, folder: Path) -> None:
    cardoffers(*NIGHT)
    break_off(cardoffers, folder)
    shown = cardoffers("status", *CLOCK, "--format", "table").stdout
    assert "Nightly run of 2026-06-01: broken off; 4 files" in shown
    assert (
        "warning: The nightly run of 2026-06-01 was broken off.\n    -> cardoffers run resume\n"
        in shown
    )
    assert "cardoffers match" not in shown
    rows = shown.partition("What waits, and what to do next\n")[2]
    assert re.search(r"purchases to match +cardoffers run resume", rows)


@slow
def test_a_night_that_runs_is_told_from_one_that_was_broken_off(
    cardoffers: Any, folder: Path
) -> None:
    cardoffers(*NIGHT)
    states = [cardoffers("run", "list", "--format", "json").document[0]["state"]]
    run_id = break_off(cardoffers, folder)
    states += [cardoffers("run", "list", "--format", "json").document[0]["state"]]
    with night_lock(folder / "store.duckdb", since=NOON, wait_s=0) as lock:
        lock.tell(run_id=str(run_id))
        lock.tell(step="match")
        states += [cardoffers("run", "list", "--format", "json").document[0]["state"]]
        assert "The nightly run of 2026-06-01 is running." in (
            cardoffers("status", *CLOCK, "--format", "table").stdout
        )
        assert (run_id, "match") == tuple(
            (night_holder(folder / "store.duckdb") or {})[name] for name in ("run_id", "step")
        )
        lock.tell(run_id="0" * 32)
        lock.tell(step="match")
        states += [cardoffers("run", "list", "--format", "json").document[0]["state"]]
    assert ["finished", "broken off", "running", "broken off"] == states


def test_nobody_holds_a_night_that_never_was(tmp_path: Path) -> None:
    assert night_holder(tmp_path / "store.duckdb") is None
    make_folder(tmp_path / "store.duckdb")
    night_path(tmp_path / "store.duckdb").touch()
    assert night_holder(tmp_path / "store.duckdb") is None


def test_who_looks_does_not_stop_a_night_that_begins(tmp_path: Path) -> None:
    """The lock is taken though somebody looks at it at that instant, again and again."""
    store, stop = tmp_path / "store.duckdb", threading.Event()
    make_folder(store)
    night_path(store).touch()

    def look() -> None:
        while not stop.is_set():
            night_holder(store)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        for _ in range(20):
            with night_lock(store, since=NOON, wait_s=2):
                pass
    finally:
        stop.set()
        looking.join()


@at_the_gate
def test_each_night_is_one_line_at_80_columns(cardoffers: Any, folder: Path) -> None:
    cardoffers(*NIGHT)
    run_id = break_off(cardoffers, folder)
    shown = seen("run", "list", NO_COLOR="1")
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert "run of status files failed run_id" in lines[0]
    assert f"2026-06-01 broken off 4 2 {run_id}" == lines[2]


FAILED = HookOutcome(
    event="on_findings",
    to="mail",
    status="failed",
    seconds=0.1,
    error="it ended with exit code 7",
    output="no such host\nbye\n",
)


def test_a_hook_that_failed_is_said_with_what_it_said() -> None:
    assert [
        "warning: The hook on_findings, mail, failed: it ended with exit code 7.",
        "    no such host",
        "    bye",
        "    -> cardoffers help watch",
    ] == [*failed_hook(FAILED)]


def test_a_log_for_machines_tells_of_hooks(capsys: pytest.CaptureFixture[str]) -> None:
    JsonLines(CommandContext(Options(), {}, "cardoffers nightly")).told(FAILED)
    told = json.loads(capsys.readouterr().err)
    assert ("hook", "on_findings", "mail", "failed") == tuple(
        told[name] for name in ("event", "hook", "to", "status")
    )


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        (["1 file on time"], {"files_on_time": 1, "files_late": 0}),
        (["2 files on time", "1 purchase"], {"files_on_time": 2, "purchases": 1}),
        (["1 status missed", "1 address"], {"status_missed": 1, "address": 1}),
        (["1.50 GBP payout"], {"payout": {"GBP": Decimal("1.50"), "EUR": Decimal(0)}}),
        (["16,527,360 bytes"], {"size_bytes": 16_527_360}),
        (["state ready"], {"state": "ready", "up_to_run_no": 7}),
    ],
)
def test_a_step_says_its_counts_in_words(said: list[str], counts: dict[str, Any]) -> None:
    assert said == in_words(counts)
