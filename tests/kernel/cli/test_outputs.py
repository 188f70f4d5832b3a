"""No command writes onto the store, what is beside it, what it reads, or one file twice.

And none reads what is no file, or waits without end for who might write into it.
"""

from __future__ import annotations

import os
import socket
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from typer.main import get_command

from cardoffers_cli.kernel.cli import main
from cardoffers_cli.kernel.disk import inputs
from cardoffers_cli.storage.stores import init
from commands import in_a_pipe
from sizes import slow
from work import job, tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEADER = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at\n"

# A command, and the options of it that name a file to write; FILE is what it reads.
WRITERS: dict[str, tuple[str, ...]] = {
    "validate FILE": ("--errors", "--valid", "--rejected", "--report", "--certificate", "-o"),
    "import FILE -i alder": ("--errors", "--valid", "--rejected", "-o"),
    "refund import FILE -i alder": ("--errors", "--valid", "--rejected", "-o"),
    "credit import FILE -i alder": ("--errors", "--valid", "--rejected", "-o"),
    "profile convert FILE --profile FILE -o new.csv": ("--errors", "--rejected", "--refunds"),
    "profile convert FILE --profile FILE": ("-o",),
    "payout export --statement A-2026-000001 --form csv": ("-o",),
    "payout export --statement A-2026-000001 --form csv --again --reason closed": ("-o",),
    "pack build --profile FILE --pyodide FILE": ("-o",),
    "simulate FILE -i alder": ("--errors", "--valid", "--rejected", "-o"),
    "catalog import FILE": ("--errors", "-o"),
    "why --file FILE -i alder": ("-o",),
    "api POST /api/v1/transactions --key-file key --body FILE": ("-o",),
    "key create -i alder --name x --scopes offers": ("--key-file", "-o"),
    "key rotate 0000": ("--key-file", "-o"),
    "webhook set -i alder --url https://example.com": ("--secret-file", "-o"),
    "webhook rotate-secret -i alder": ("--secret-file", "-o"),
    "serve": ("--port-file", "--metrics-socket"),
    "nightly .": ("--metrics-file",),
    "run resume": ("--metrics-file",),
    "catalog export": ("",),
    "privacy export -i alder --cardholder -": ("--to",),
    "sample --rows 1 --seed 1": ("",),
    "statement close --all --period last-month": ("-o",),
    "invoice close --period last-month": ("-o",),
    "status": ("-o",),
    "report redemptions": ("-o",),
    "help files": ("-o",),
}
READ = {"FILE": "merchants.csv"}

OURS = (
    "store.duckdb",
    "store.duckdb.wal",
    "store.duckdb.journal",
    "store.duckdb.snapshot",
    "store.duckdb.new-thing",
    ".store.duckdb.new",
    "store.duckdb.d/anything",
    "store.duckdb.d/lock",
    "../there/store.duckdb",
    "soft",
    "lock",
    "runs/x/result.json",
)
"""Names of the store, of what is beside it, and other names of these."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store, its journal, names of both, and a file to read."""
    folder = tmp_path_factory.mktemp("outer") / "there"
    folder.mkdir()
    init(job(folder / "store.duckdb"))
    (folder / "merchants.csv").write_text(HEADER)
    (folder / "runs" / "x").mkdir(parents=True)
    (folder / "soft").symlink_to("store.duckdb")
    os.link(folder / "store.duckdb.d" / "lock", folder / "lock")
    (folder / "other.csv").write_text("")
    os.link(folder / "merchants.csv", folder / "again.csv")
    return folder


@pytest.fixture
def run(place: Path, cardoffers: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(place)

    def run(line: str, *more: str) -> Any:
        words = [READ.get(word, word) for word in line.split()]
        return cardoffers(*words, *more, "--store", "store.duckdb", "--format", "csv")

    return run


def bytes_of(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}


def writers() -> list[tuple[str, str]]:
    return [(line, option) for line, options in WRITERS.items() for option in options]


@pytest.mark.parametrize(("line", "option"), writers())
def test_the_store_is_not_written_onto(run: Any, place: Path, line: str, option: str) -> None:
    before = bytes_of(place)
    for name in OURS:
        if not option and name in {"soft", "lock", "store.duckdb", "../there/store.duckdb"}:
            continue  # a file where a folder is to be
        ended = run(line, *([option, name] if option else [name]))
        assert (4, True) == (ended.exit_code, "store" in ended.stderr), (name, ended.stderr)
        assert before == bytes_of(place)


@pytest.mark.parametrize(("line", "option"), [each for each in writers() if "FILE" in each[0]])
@pytest.mark.parametrize("name", ["merchants.csv", "again.csv", "../there/merchants.csv"])
def test_what_is_read_is_not_written_onto(
    run: Any, place: Path, line: str, option: str, name: str
) -> None:
    before = bytes_of(place)
    ended = run(line, option, name)
    assert (4, True) == (ended.exit_code, "onto what is read" in ended.stderr)
    assert before == bytes_of(place)


def test_two_outputs_are_two_files(run: Any, place: Path) -> None:
    before = bytes_of(place)
    for names in (("a.csv", "a.csv"), ("a.csv", "../there/a.csv"), ("other.csv", "./other.csv")):
        ended = run("validate FILE", "--errors", names[0], "--rejected", names[1])
        assert "--rejected and --errors would write the same file" in ended.stderr
        ended = run("validate FILE", "--errors", names[0], "-o", names[1])
        assert "--output and --errors would write the same file" in ended.stderr
    assert before == bytes_of(place)


def test_a_device_takes_everything(run: Any) -> None:
    ended = run("validate FILE", "--errors", "/dev/null", "--valid", "/dev/null")
    assert 0 == ended.exit_code


def test_other_files_are_written(run: Any, place: Path) -> None:
    for name in ("report.csv", "store.csv", "store.duckdb-report.csv", "runs.csv"):
        assert 0 == run("validate FILE", "--errors", name).exit_code
        (place / name).unlink()


# Options that name a file which is read
READERS = {
    ("approve give", "--key"),
    ("approve give", "--signature"),
    ("approver add", "--key"),
    ("institution set", "--holidays"),
    ("api", "--key-file"),
    ("api", "--body"),
    ("validate", "--check"),
    ("find", "--token-file"),
    ("refund link", "--from"),
    ("merchant accept", "--from"),
    ("merchant suggest", "--as-table"),
    ("pack build", "--pyodide"),
    ("serve", "--tls-cert"),
    ("serve", "--tls-key"),
    ("webhook listen", "--secret-file"),
    ("webhook listen", "--certificate"),
    ("webhook verify", "--secret-file"),
    ("webhook verify", "--headers"),
    ("why", "--file"),
}


def file_options(command: Any, *path: str) -> Iterator[tuple[str, str]]:
    """Yield the options of each command that name a file, but for those of every command."""
    for name in getattr(command, "commands", ()):
        yield from file_options(command.commands[name], *path, name)
    for param in command.params:
        if param.metavar and "FILE" in param.metavar and param.param_type_name == "option":
            yield " ".join(path), param.opts[0]


def test_every_option_that_names_a_file_is_known_here() -> None:
    """One that is written belongs into `WRITERS`, and its command calls `CommandContext.writes`."""
    written = {
        (words.partition(" -")[0].strip(), option)
        for line, options in WRITERS.items()
        for words in [line.replace(" FILE", "").replace(" 0000", "").replace(" .", "")]
        for option in options
        if option.startswith("--") and option != "--to"  # a folder
    }
    assert written | READERS == set(file_options(get_command(main.app)))


INPUTS = """
validate GIVEN
validate known.csv --check GIVEN
import GIVEN -i alder
refund import GIVEN -i alder
credit import GIVEN -i alder
simulate GIVEN -i alder
catalog import GIVEN
bank import GIVEN
profile new GIVEN
validate known.csv --profile GIVEN
profile convert known.csv --profile GIVEN -o new.csv
institution set alder --profile GIVEN
institution set alder --holidays GIVEN
why --file GIVEN -i alder
store restore GIVEN
find -i alder --token-file GIVEN
api POST /api/v1/transactions --key-file key --body GIVEN
api GET /api/v1/offers --key-file GIVEN
merchant accept --from GIVEN
merchant suggest --as-table GIVEN
refund link --from GIVEN -i alder
webhook verify GIVEN --headers GIVEN --secret-file GIVEN
privacy reapply --erasures GIVEN
pack build --pyodide GIVEN -o page.html
""".strip().splitlines()


def a_socket(path: Path) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as made:
        made.bind(str(path))


@slow
@pytest.mark.parametrize("line", INPUTS)
def test_what_is_no_file_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(inputs, "WRITER_S", 0.05)
    init(made := job(tmp_path / "cardoffers.duckdb"))
    tell(made, institutions="institution\nalder")
    (tmp_path / "known.csv").write_text(HEADER)
    (tmp_path / "key").write_text("x")
    (tmp_path / "key").chmod(0o600)
    for make in (os.mkfifo, a_socket, lambda path: path.symlink_to("/dev/zero")):
        make(given := tmp_path / "GIVEN")
        began = time.monotonic()
        ended = in_a_pipe([*line.split(), "--format", "json"])
        assert time.monotonic() - began < 5
        assert ended.exit_code in {2, 4, 5, 14}, ended
        assert "GIVEN" in ended.stderr
        given.unlink()
