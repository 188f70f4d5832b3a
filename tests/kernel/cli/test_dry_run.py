"""Every command either changes nothing, or has `--dry-run`, with which it says so and changes
nothing.

The commands come from the command line itself and their words from `tests/kit/everything.py`. What
may change are locks, which tell who holds them. That the same words without `--dry-run` change
something is seen too, so that the comparison is known to see it.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.main import get_command

from cardoffers_cli.kernel.cli import main
from cardoffers_cli.kernel.store.layout import usage_path
from cardoffers_cli.night import run as night
from cardoffers_cli.night.options import NightOptions
from cardoffers_cli.night.steps import STEPS
from commands import in_a_pipe
from everything import RUN_ON, Line, Place, everything, lines
from sizes import at_the_gate, one_in, slow
from work import file_of, found, kept, with_catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

pytestmark = slow

LOCKS = {"lock", "turn", "sender", "night", "engine"}
REFUSED = {4, 5}
MORE = {"api": ["--include"]}
"""What a command is also told, so that what it prints is a document."""

LEAVES_NOTHING = {
    "demo": "without a folder of its own",
    "catalog import dirty": "no row is good, but the run is recorded",
    "store migrate": "the store is a current one",
    "privacy reapply": "no erasure was lost",
    "retention run --yes": "no age is set",
    "invoice close --period 2026-10": "the month is closed already",
    "api GET /openapi.json": "reading",
}
"""Words of commands that could change something, and as they stand there do not."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return everything(tmp_path_factory.mktemp("dry") / "place")


def commands(command: Any, *path: str) -> Iterator[tuple[str, bool]]:
    """Yield the name of each command that does work, and whether it has `--dry-run`."""
    if not hasattr(command, "commands"):
        yield " ".join(path), any("--dry-run" in param.opts for param in command.params)
        return
    if path and command.invoke_without_command:
        yield " ".join(path), any("--dry-run" in param.opts for param in command.params)
    for name in command.commands:
        yield from commands(command.commands[name], *path, name)


COMMANDS = dict(commands(get_command(main.app)))
DRY = [name for name, has_dry_run in COMMANDS.items() if has_dry_run]


def command_of(line: Line) -> str:
    return max(
        (name for name in COMMANDS if f"{line.words} ".startswith(f"{name} ")), key=len, default=""
    )


def of(names: Sequence[str]) -> Any:
    chosen = [line for line in lines() if command_of(line) in names]
    return pytest.mark.parametrize("line", chosen, ids=[line.words for line in chosen])


def state(folder: Path) -> dict[str, str]:
    """Return every file below a folder with a digest of its bytes, but for locks."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in LOCKS
    }


def changed(place: Place, line: Line, *more: str) -> tuple[dict[str, str], dict[str, str], Any]:
    """Run a line in a copy of the folder; return the state before and after, and how it ended."""
    with place.copied() as folder:
        before = state(folder)
        ended = in_a_pipe([*place.words(line), *more], stdin=place.stdin(line))
        return before, state(folder), ended


def test_what_runs_on_is_all_that_is_not_looked_at() -> None:
    assert set(COMMANDS) == {*RUN_ON, *(command_of(line) for line in lines())}
    assert not set(RUN_ON) & set(DRY)


@of([name for name in COMMANDS if name not in DRY])
@one_in(3, gate=2)
def test_what_has_no_dry_run_changes_nothing(place: Place, line: Line) -> None:
    before, after, ended = changed(place, line, "--format", "json")
    assert line.exit_code == ended.exit_code, ended
    assert before == after


@of(DRY)
@one_in(3, gate=2)
def test_a_dry_run_says_so_and_changes_nothing(place: Place, line: Line) -> None:
    dry = [] if "--dry-run" in line.words else ["--dry-run"]
    more = MORE.get(command_of(line), [])
    before, after, ended = changed(place, line, *dry, *more, "--format", "json")
    assert before == after
    assert ended.exit_code in {0, 3, line.exit_code}, ended
    if ended.exit_code not in REFUSED:
        told = ended.document if isinstance(ended.document, list) else [ended.document]
        assert told
        assert [True] * len(told) == [each["dry_run"] for each in told]


@of(DRY)
@one_in(3, gate=2)
def test_the_same_words_without_it_change_something(place: Place, line: Line) -> None:
    if line.words in LEAVES_NOTHING or line.exit_code in REFUSED or "--dry-run" in line.words:
        pytest.skip("nothing is to be done")
    before, after, ended = changed(place, line, "--format", "json")
    assert line.exit_code == ended.exit_code, ended
    assert before != after


# What the table's words leave out

EVENT = {
    "cardholder_token": "c0" * 16,
    "card_token": "k0" * 16,
    "amount": 20,
    "transaction_ref": "dry-1",
    "transacted_at": "2026-10-09T12:00:00Z",
}


@pytest.mark.parametrize(
    "words", ["GET /api/v1/offers?cardholder_token=c0", "POST /api/v1/nothing"]
)
def test_a_call_is_answered_and_leaves_nothing(place: Place, words: str) -> None:
    line = Line(0, varies=True, words=f"api {words} --key-file app.key", stdin="")
    before, after, ended = changed(place, line, "--dry-run", "--include", "--format", "json")
    assert before == after
    assert ended.document["status"] in {200, 404}
    assert ended.document["dry_run"] is True
    noted = changed(place, line, "--include", "--format", "json")
    assert (noted[0] != noted[1]) == words.startswith("GET")


@at_the_gate
def test_a_demo_that_would_stay_leaves_nothing(place: Place) -> None:
    line = Line(0, varies=True, words="demo kept", stdin="")
    before, after, ended = changed(place, line, "--dry-run", "--format", "json")
    assert before == after
    assert (True, "kept") == (ended.document["dry_run"], ended.document["folder"])


def test_an_event_that_is_posted_dry_is_answered_as_accepted(tmp_path: Path) -> None:
    made = with_catalogue(tmp_path)
    store = ["--store", made.path]
    key = ["--key-file", tmp_path / "key"]
    words = ["-i", "alder", "--name", "app", "--scopes", "transactions", *key]
    assert 0 == in_a_pipe(["key", "create", *words, *store]).exit_code
    (tmp_path / "event.json").write_text(json.dumps(EVENT))
    before = kept(made)
    call = ["api", "POST", "/api/v1/transactions", *key, "--body", tmp_path / "event.json", *store]
    for _ in range(2):
        ended = in_a_pipe([*call, "--dry-run", "--include", "--format", "json"])
        assert (202, "accepted") == (ended.document["status"], ended.document["body"]["status"])
    assert before == kept(made)
    assert not usage_path(made.path).exists()


def test_the_rest_of_a_night_is_rehearsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = with_catalogue(tmp_path)
    drop = tmp_path / "drop" / "alder"
    drop.mkdir(parents=True)
    file_of(drop / "a.csv", "ref cardholder identifier\nr-1 c0 M0")
    (drop / "a.csv.done").touch()
    with monkeypatch.context() as broken:
        broken.setattr(night, "STEPS", (STEPS[0], *(_broken(step) for step in STEPS[1:2])))
        with pytest.raises(ZeroDivisionError):
            night.run_night(made, NightOptions(drop=tmp_path / "drop"))
    before = state(tmp_path)
    (run_id,) = [str(each) for (each,) in found(made, "select run_id from nights")]
    words = ["run", "resume", run_id[:8], "--store", made.path, "--format", "json"]
    dry = in_a_pipe([*words, "--dry-run"])
    assert before == state(tmp_path)
    assert ("rehearsed", True) == (dry.document["status"], dry.document["dry_run"])
    done = in_a_pipe(words)
    assert "finished" == done.document["status"]
    assert _counts(dry.document) == _counts(done.document)


def _broken(step: Any) -> Any:
    def fail(*_given: Any) -> Any:
        return 1 // 0

    return type(step)(step.name, in_store=fail)


def _counts(result: dict[str, Any]) -> dict[str, Any]:
    names = ("import", "match", "refund", "settle", "publish", "key_notices")
    return {each["name"]: each["counts"] for each in result["steps"] if each["name"] in names}
