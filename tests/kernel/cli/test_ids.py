"""Wherever an id is asked for, a beginning that only one has does, and so does `latest`.

Every command that takes an id stands in a table; a test holds the table against the command line.
"""

from __future__ import annotations

import os
import pty
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from typer.main import get_command

from cardoffers_cli.events.subscriptions import retry
from cardoffers_cli.kernel.cli import main
from cardoffers_cli.kernel.identifiers import redemption_id, whole_id, whole_offer_id
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from commands import command, in_a_pipe
from everything import AS_OF, Place, everything
from outbox import events
from sizes import one_in, slow
from work import found

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

TABLE = """
webhook show {redemption}
webhook resend {redemption} --dry-run
webhook retry {exhausted} --dry-run
redemption show {redemption}
redemption reverse {redemption} --reason back --dry-run
key show {key}
key rotate {key} --dry-run
key revoke {key} --dry-run
run show {night}
run resume {unfinished}
reconcile show {finding}
reconcile accept {finding} --reason known --dry-run
watch show {watched}
watch accept {watched} --reason known --dry-run
inbox read {message} -i larkmere --dry-run
offer show {offer}
offer add {offer} -i larkmere --cardholder - --card - --dry-run
timeline {redemption} -i larkmere
"""
IDS = {"id", "redemption_id", "redemption_ids", "key_id", "run_id", "message_id", "offer_id", "id_"}
IDS |= {"finding_id"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return everything(tmp_path_factory.mktemp("ids") / "place")


@pytest.fixture(scope="module")
def ids(place: Place) -> dict[str, str]:
    """Return one id of each kind, the newest."""
    with place.copied():
        message = _run("inbox list -i larkmere")[0]["id"]
        redemption = _run("webhook list --limit 1")[0]["redemption_id"]
        offer = _run("offer list -i larkmere")[0]["id"]
    return {**place.ids, "redemption": redemption, "message": message, "offer": offer}


def _run(line: str, stdin: str = "") -> Any:
    words = [*line.split(), "--as-of", AS_OF, "--format", "json"]
    ended = in_a_pipe(words, stdin=stdin)
    assert ended.exit_code in {0, 3}, ended
    return ended.document


def commands_with_ids(command: Any, *path: str) -> Iterator[str]:
    if not hasattr(command, "commands"):
        names = {param.name for param in command.params if param.param_type_name == "argument"}
        if names & IDS:
            yield " ".join(path)
        return
    for name in command.commands:
        yield from commands_with_ids(command.commands[name], *path, name)


def test_every_command_that_takes_an_id_is_in_the_table() -> None:
    named = {" ".join(line.split(" {")[0].split()) for line in TABLE.strip().splitlines()}
    assert set(commands_with_ids(get_command(main.app))) == named | {"offer create"}  # a new id


KINDS = ("redemption", "finding", "key", "night", "message", "offer")


@slow
@pytest.mark.parametrize("line", TABLE.strip().splitlines())
@one_in(4)
def test_a_beginning_and_latest_mean_the_same_as_the_whole_id(
    place: Place, ids: dict[str, str], line: str
) -> None:
    kind = line.partition("{")[2].partition("}")[0]
    if kind not in KINDS:
        pytest.skip("a test of its own has it, below or in test_dry_run.py")
    stdin = (place.folder / "cardholder.txt").read_text()
    whole = ids[kind]
    with place.copied():
        short = whole if kind == "offer" else whole[:9]
        told = [_run(line.format(**{kind: each}), stdin) for each in (whole, short)]
        if kind != "message":  # there may be a newer one of each of the others
            assert _run(line.format(**{kind: "latest"}), stdin)
    assert _same(told[0]) == _same(told[1])


def _same(told: Any) -> Any:
    """Leave out what is made anew each time."""
    drawn = {"as_of", "snapshot_at", "id"}
    return (
        {name: each for name, each in told.items() if name not in drawn}
        if isinstance(told, dict)
        else told
    )


# Which one is meant, on a store with few


@pytest.fixture
def made(tmp_path: Path) -> Job:
    """Return a store with two redemptions of alder and one of brook, under ids of our choice."""
    made = events(tmp_path, 2, institutions=("alder", "brook"))
    with made.store() as store:
        for sql in CHOSEN.split(";"):
            store.connection.execute(sql)
    return made


CHOSEN = """
delete from redemptions where redemption_no = 4;
delete from ledger_entries where redemption_no = 4;
update redemptions set redemption_id = ([
    '6b0e4c1d-0000-8000-8000-000000000001', '6b0e4c1d-0000-8000-8000-000000000002',
    '7c000000-0000-8000-8000-000000000003'
]::uuid[])[redemption_no];
update outbox set subject_id = redemptions.redemption_id from redemptions
where redemptions.redemption_no = outbox.redemption_no;
update recent_purchases set transaction_ref = 'both' where purchase_no in (2, 3);
update purchase_refs set ref_hash = ref_hash(institution_id, transaction_ref) from purchases
where purchases.purchase_no = purchase_refs.purchase_no;
insert into offers select * replace (offer_no + 9 as offer_no, 'A0' as offer_id) from offers;
insert into offers select * replace (offer_no + 9 as offer_no, 'A-2' as offer_id) from offers
where offer_id = 'A0'
"""


def test_a_beginning_of_several_names_some_of_them(made: Job) -> None:
    with made.store() as store, pytest.raises(UsageError) as caught:
        whole_id(store, "redemption", "6b0e4c")
    assert "id_ambiguous" == caught.value.code
    assert all(f"000{n}" in (caught.value.hint or "") for n in (1, 2))


def test_what_leads_nowhere_is_left_as_it_is(made: Job) -> None:
    with made.store() as store:
        for given in ("ffff", "6b0", "nothing", "6b0e4c1d-0000-8000-8000-00000000000f"):
            assert given == whole_id(store, "redemption", given)
        assert "latest" == whole_id(store, "key", "latest")
        assert "B" == whole_offer_id(store, "B")


def test_an_offer_whose_id_begins_another_is_the_one_that_is_meant(made: Job) -> None:
    with made.store() as store:
        assert "A" == whole_offer_id(store, "A")
        assert "A-2" == whole_offer_id(store, "A-")
        assert "A-2" == whole_offer_id(store, "latest")
        store.connection.execute("update offers set offer_id = 'AB' where offer_id = 'A'")
        with pytest.raises(UsageError):
            whole_offer_id(store, "A")


def test_a_reference_is_that_of_one_institution(made: Job) -> None:
    with made.store() as store:
        assert redemption_id(store, "alder-0").endswith("1")
        with pytest.raises(UsageError) as caught:
            redemption_id(store, "both")
        assert "alder and of brook" in caught.value.message
        (alder,) = [row[0] for row in _rows(store, "alder")]
        assert redemption_id(store, "both", alder).endswith("2")


def _rows(store: Any, slug: str) -> Any:
    return store.connection.execute(
        "select institution_id from institutions where slug = $1", [slug]
    ).fetchall()


def test_an_institution_is_known_by_the_beginning_of_its_id(made: Job) -> None:
    with made.store() as store:
        (brook,) = [row[0] for row in _rows(store, "brook")]
        assert "brook" == find_institution(store, str(brook)[:6]).slug
        for nobody in (str(brook)[:3], "ffff"):
            with pytest.raises(NotFound):
                find_institution(store, nobody)


def test_an_event_is_retried_by_a_beginning_or_a_reference(made: Job) -> None:
    for given in ("7c00", "alder-0"):
        with pytest.raises(Refused) as caught:
            retry(made, subjects=[given])
        assert "not_failed" == caught.value.code


# A reversal on a terminal


def reversed_with(made: Job, *words: str, typed: str | None) -> tuple[int, str]:
    """Reverse with a terminal as standard input, or with none; return exit code and stderr."""
    line = command("redemption", "reverse", *words, "--store", made.path, "--reason", "back")
    if typed is None:
        done = subprocess.run(line, check=False, text=True, capture_output=True, stdin=-3)
        return done.returncode, done.stderr
    ours, theirs = pty.openpty()
    with subprocess.Popen(line, stdin=theirs, stdout=-3, stderr=-1, text=True) as running:
        os.close(theirs)
        os.write(ours, f"{typed}\n".encode())
        _, said = running.communicate(timeout=60)
    os.close(ours)
    return running.returncode, said


@pytest.mark.parametrize(
    ("status", "exit_code", "typed", "more"),
    [
        ("pending", 1, "n", []),
        ("reversed", 0, "y", []),
        ("reversed", 0, "n", ["--yes"]),
        ("reversed", 0, None, []),  # nobody is asked where nobody is
    ],
)
@one_in(2)
def test_a_reversal_shows_what_it_moves_and_asks_whoever_is_there(
    made: Job, status: str, exit_code: int, typed: str | None, more: list[str]
) -> None:
    ended, said = reversed_with(made, "alder-0", *more, typed=typed)
    assert (exit_code == 0) == (ended == 0), said
    asked = "Reverse the redemption of alder-0 of alder, A at bakery?" in said.replace("\n", " ")
    assert asked == (typed is not None and not more)
    assert ("GBP" in said) == asked
    query = "select status from ledger_entries order by redemption_no limit 1"
    assert [(status,)] == found(made, query)
