"""Every way a command can end: its code, its words, its JSON."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import typer

from cardoffers_cli.kernel.cli.exits import EXIT_CODES, Terminated
from cardoffers_cli.kernel.words import errors
from cardoffers_cli.kernel.words.errors import (
    CardoffersError,
    ConfigurationError,
    FileUnusable,
    Interrupted,
    NetworkFailure,
    NoSpace,
    NoStore,
    NotFound,
    Refused,
    StoreBusy,
    StoreDamaged,
    StoreVersion,
    UsageError,
)
from sizes import one_in

CANARY = "tok_8f14e45fceea167a5a36dedd4bea2543"


class Narrower(Refused):
    """A case of refusal."""

    code = "narrower"


@pytest.fixture
def fails(cardoffers: Any, probe: Any) -> Any:
    """Run a command that ends with an error, and return the outcome."""

    def run(error: BaseException, *words: str) -> Any:
        def fail() -> None:
            raise error

        probe(fail)
        return cardoffers("probe", *words)

    return run


@pytest.mark.parametrize(
    ("exit_code", "code", "error"),
    [
        (1, "error", CardoffersError()),
        (2, "usage", UsageError()),
        (4, "refused", Refused()),
        (4, "narrower", Narrower()),
        (4, "already_reversed", Refused(code="already_reversed")),
        (5, "not_found", NotFound()),
        (10, "store_missing", NoStore()),
        (11, "store_busy", StoreBusy()),
        (12, "store_version", StoreVersion()),
        (13, "configuration", ConfigurationError()),
        (14, "file_unusable", FileUnusable()),
        (14, "store_damaged", StoreDamaged()),
        (15, "network", NetworkFailure()),
        (16, "no_space", NoSpace()),
        (16, "no_space", OSError(errno.ENOSPC, "No space left on device", "/data/x")),
        (16, "no_space", OSError(errno.EDQUOT, "Quota exceeded")),
        (4, "read_only", OSError(errno.EROFS, "Read-only file system", "/data/x")),
        (4, "permission", PermissionError(errno.EACCES, "Permission denied", "/data/x")),
        (1, "unexpected", ValueError(CANARY)),
        (1, "unexpected", RecursionError()),
        (130, "interrupted", Interrupted()),
        (130, "interrupted", KeyboardInterrupt()),
        (130, "interrupted", typer.Abort()),
        (143, "terminated", Terminated()),
    ],
)
def test_an_error_has_its_exit_code_and_its_json(
    fails: Any, exit_code: int, code: str, error: BaseException
) -> None:
    outcome = fails(error, "--format", "json")
    assert exit_code == outcome.exit_code == outcome.error["exit_code"]
    assert code == outcome.error["code"]
    assert {"code", "message", "hint", "exit_code"} <= outcome.error.keys()
    assert ("", 1) == (outcome.stdout, len(outcome.stderr.splitlines()))
    assert CANARY not in outcome.stderr


def test_every_error_class_stands_in_the_table() -> None:
    classes = {
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, CardoffersError)
    }
    assert classes == {kind for row in EXIT_CODES for kind in row.kinds}


def test_the_table_is_the_contract() -> None:
    contract = [0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15, 16, 130, 143]
    assert contract == [row.code for row in EXIT_CODES]


def test_an_error_says_what_is_wrong_and_what_to_do(fails: Any) -> None:
    outcome = fails(StoreBusy("Process 7 holds it.", hint="Wait."))
    assert (11, "", "Error: Process 7 holds it.\nHint: Wait.\n") == (
        outcome.exit_code,
        outcome.stdout,
        outcome.stderr,
    )


def test_details_stand_beside_the_message_in_json(fails: Any) -> None:
    error = FileUnusable("Cut off.", code="file_corrupt", line=7)
    assert {
        "line": 7,
        "code": "file_corrupt",
        "message": "Cut off.",
        "hint": None,
        "exit_code": 14,
    } == fails(error, "--format=json").error


def test_an_error_shows_what_would_act_on_a_terminal(fails: Any) -> None:
    assert "Error: \\x1b[2Jnot \\u202ehere\n" == fails(NotFound("\x1b[2Jnot \u202ehere")).stderr


def test_an_unexpected_error_is_named_by_its_type(fails: Any) -> None:
    assert [
        "Error: Unexpected error (ValueError).",
        "Hint: Run again with --debug to see where it happened.",
    ] == fails(ValueError(CANARY)).stderr.splitlines()


def test_debug_shows_where_but_no_values(fails: Any) -> None:
    cause = KeyError(CANARY)
    error = ValueError(CANARY)
    error.__cause__ = cause
    shown = fails(error, "--debug").stderr
    assert "KeyError\nTraceback (most recent call last):" in shown
    assert "in fail" in shown
    assert CANARY not in shown


INSTITUTIONS = "Add -i INST; `cardoffers institution list` shows the institutions."
BY = "Invalid value for '--by': 'merchnt' is not one of 'day', 'offer',"


@pytest.mark.parametrize(
    ("hint", "line"),
    [
        ("See `cardoffers --help`.", "mtach"),
        ("See `cardoffers --help`.", "--bogus"),
        ("See `cardoffers help --help`.", "help --bogus"),
        ("See `cardoffers help --help`.", "help one two three"),
        ("See `cardoffers help --help`.", "help --lock-wait"),
        ("See `cardoffers timeline --help`.", "timeline -i larkmere"),
        (INSTITUTIONS, "inbox list"),
        (INSTITUTIONS, "report funnel"),
    ],
)
def test_a_usage_error_points_to_the_help(cardoffers: Any, hint: str, line: str) -> None:
    outcome = cardoffers(*line.split(), "--format", "json")
    assert (2, "usage", hint) == (
        outcome.exit_code,
        outcome.error["code"],
        outcome.error["hint"],
    )


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("No such command 'mtach'. Did you mean 'match', 'watch'?", "mtach"),
        ("No such command 'lst'. Did you mean 'list'?", "offer lst"),
        ("No such command 'zzz'.", "offer zzz"),
        ("No such option: --dryrun. Did you mean --dry-run?", "match --dryrun"),
        (
            "No such option: --institut. Did you mean --institution?",
            "inbox list --institut larkmere",
        ),
        ("No such option: --stor. Did you mean --store or --as-of?", "--stor x match"),
        ("No such option: --zzz.", "match --zzz"),
        (f"{BY} 'merchant'.", "report redemptions --by merchnt"),
    ],
)
def test_a_mistyped_command_or_option_is_guessed(cardoffers: Any, message: str, line: str) -> None:
    outcome = cardoffers(*line.split(), "--format", "json")
    assert (2, message) == (outcome.exit_code, outcome.error["message"])


# With real processes and signals

WAITS = """
import sys, time, types
from pathlib import Path
import typer
from cardoffers_cli.kernel.cli import main
from cardoffers_cli.kernel.cli.context import CommandContext

def wait(ctx: typer.Context) -> None:
    try:
        print("ready", flush=True)
        time.sleep(30)
    finally:
        print("rolled back", flush=True)

def query() -> None:
    import duckdb
    connection = duckdb.connect(config={"threads": 1})
    try:
        print("ready", flush=True)
        connection.execute("select max(hash(a.range)) from range(1000000000) a, range(99) b")
    finally:
        print("rolled back", flush=True)

def flood(ctx: typer.Context) -> None:
    CommandContext.of(ctx).show([{"n": n} for n in range(100_000)], exit_code=3, why="")

for name in ("wait", "query", "flood"):
    module = types.ModuleType(f"cardoffers_cli.{name}")
    module.command = globals()[name]
    sys.modules[module.__name__] = module
    main.COMMANDS += (main.Entry("Tests", name, f"{name}:command", ""),)
main.main()
"""


@pytest.fixture
def start() -> Iterator[Any]:
    """Start a command as a process that does not outlive the test."""
    with ExitStack() as stack:

        def begin(*words: str) -> subprocess.Popen[str]:
            command = [sys.executable, "-c", WAITS, *words]
            streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            running = stack.enter_context(subprocess.Popen(command, text=True, **streams))
            stack.callback(running.kill)
            return running

        yield begin


@pytest.mark.parametrize("work", ["wait", "query"])
@pytest.mark.parametrize(
    ("exit_code", "number", "word"),
    [(130, signal.SIGINT, "Interrupted"), (143, signal.SIGTERM, "Terminated")],
)
def test_a_signal_unwinds_the_work(
    start: Any, work: str, exit_code: int, number: signal.Signals, word: str
) -> None:
    running = start(work)
    assert "ready\n" == running.stdout.readline()
    running.send_signal(number)
    stdout, stderr = running.communicate(timeout=20)
    assert (exit_code, "rolled back\n") == (running.returncode, stdout)
    assert f"Error: {word}.\nHint: Run it again to finish.\n" == stderr


@pytest.mark.parametrize("form", ["tsv", "json", "table"])
@one_in(3)
def test_a_reader_who_has_seen_enough_is_no_error(start: Any, form: str) -> None:
    running = start("flood", "--format", form)
    assert running.stdout.readline()
    running.stdout.close()
    assert "" == running.stderr.read()
    assert 3 == running.wait(timeout=20)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_ends_with_its_own_code(process: Any) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        outcome = process("help", "exit-codes", stdout=full)
    finally:
        os.close(full)
    assert 16 == outcome.exit_code
    assert outcome.stderr.startswith("Error: There is no space left on the disk.")
