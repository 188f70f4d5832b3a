"""While a job holds the store: who only asks is answered from the snapshot, and told of when.

Whoever writes, decides anew or asks for keys waits for the store as ever.
"""

from __future__ import annotations

import json
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.copies.work import publish
from cardoffers_cli.kernel.store.layout import snapshot_path
from commands import cardoffers as process
from commands import processes_per_core
from complaints import ANN, complaints, redemption
from sizes import one_in
from work import held

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job

LATER = ("--as-of", "2026-06-03T19:00:00Z")
NOTE = "(waited 0 s); this is from the snapshot of 2026-06-03 13:00 UTC (6 h old).\n"

ASKED = """
find -i alder --ref won
inbox list -i alder
institution list
institution show alder
offer link-list -i alder --cardholder -
offer list -i alder
offer show A
redemption show WON
report funnel -i alder
report redemptions
report redemptions --all
report redemptions --by day
report settlements
report settlements --all
report unresolved
run list
run list --all
status
timeline won -i alder
webhook list
webhook show WON
why small -i alder --plain
why won -i alder
""".strip().splitlines()
"""What a snapshot may answer."""

WAITS = """
catalog export out
institution set alder --max-active-offers 3
key list
match
redemption reverse WON --reason returned
settle
store info
webhook retry WON
why won -i alder --now
""".strip().splitlines()
"""What asks for the store itself."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job on the scene of `complaints` with a snapshot, which these tests only look at."""
    made = complaints(tmp_path_factory.mktemp("complaints"))
    publish(made)
    return made


@pytest.fixture(scope="module")
def won(made: Job) -> str:
    """The redemption of the purchase won."""
    return redemption(made, "won")


@pytest.fixture
def ask(cardoffers: Any, made: Job, won: str) -> Any:
    """Run a command line at the scene, six hours later, without patience."""

    def run(line: str, *words: object) -> Any:
        line = line.replace("WON", won)
        usual = ("--store", made.path, *LATER, "--lock-wait", "0")
        return cardoffers(*line.split(), *words, *usual, stdin=f"{ANN}\n")

    return run


@pytest.mark.parametrize("line", ASKED)
@one_in(3)
def test_who_asks_is_answered_from_the_snapshot(ask: Any, made: Job, line: str) -> None:
    before = ask(line, "--format", "json")
    with held(made.path):
        ended = ask(line, "--format", "json")
    assert (0, 0) == (before.exit_code, ended.exit_code)
    assert NOTE in ended.stderr
    assert 1 == ended.stderr.count("snapshot")
    if isinstance(before.document, dict):
        assert {**before.document, "snapshot_at": "2026-06-03T13:00:00.000Z"} == ended.document
        assert before.document["snapshot_at"] is None
    else:
        assert before.document == ended.document


@pytest.mark.parametrize("line", WAITS)
def test_who_needs_the_store_itself_waits_for_it(ask: Any, made: Job, line: str) -> None:
    with held(made.path):
        ended = ask(line, "--format", "json")
    assert (11, "store_busy") == (ended.exit_code, ended.error["code"])
    assert "import" == ended.error["holder"]["command"]
    assert "" == ended.stdout


def test_what_the_snapshot_does_not_know_is_told_with_its_age(ask: Any, made: Job) -> None:
    with held(made.path):
        ended = ask("timeline nowhere -i alder", "--format", "json")
    assert (5, "not_received") == (ended.exit_code, ended.error["code"])
    assert "2026-06-03T13:00:00.000Z" == ended.error["snapshot_at"]


def test_it_is_said_in_every_format_but_not_to_who_wants_quiet(ask: Any, made: Job) -> None:
    with held(made.path):
        for form in ("table", "tsv", "md"):
            assert NOTE in ask("why won -i alder", "--format", form).stderr
        assert "" == ask("why won -i alder", "--quiet").stderr


def test_nobody_is_kept_waiting(made: Job) -> None:
    with held(made.path):
        began = monotonic()
        ended = process("status", "--store", made.path, *LATER, "--format", "table")
        assert (
            monotonic() - began < 5 * processes_per_core()
        )  # two seconds of patience, and a process to start
    assert "(waited 2 s); this is from the snapshot of 2026-06-03 13:00 UTC (6 h old)." in (
        ended.stderr
    )
    assert "Redemptions of the last 30 days" in ended.stdout


def test_without_a_snapshot_the_holder_is_named(ask: Any, made: Job) -> None:
    kept = snapshot_path(made.path)
    aside = kept.rename(kept.with_suffix(".aside"))
    try:
        with held(made.path):
            ended = ask("why won -i alder", "--format", "json")
    finally:
        aside.rename(kept)
    assert 11 == ended.exit_code
    assert "The store is held by `import`, process " in ended.error["message"]
    assert "`cardoffers store publish`" in ended.error["hint"]
    assert "import" == json.loads(ended.stderr)["error"]["holder"]["command"]
