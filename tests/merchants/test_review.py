"""`merchant suggest --review`: what keys do, at a keyboard of the test and at a real terminal."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import termios
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.sheets.workbooks import write_xlsx
from cardoffers_cli.kernel.store.clock import Clock
from cardoffers_cli.merchants.answers import accept
from cardoffers_cli.merchants.commands import suggested as sheet_of
from cardoffers_cli.merchants.discovery import suggest_merchants
from cardoffers_cli.merchants.review import Review
from commands import command, in_a_pipe, on_a_screen, read_all
from discovering import unknown_world
from sizes import slow
from work import found

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.merchants.suggestions import Suggestion

ANSWERS = """
select merchant_identifier, answer, name, reason
from merchant_answers
inner join identifiers using (identifier_no)
inner join merchants on merchants.merchant_id = merchant_answers.merchant_id
order by answer_no
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Job, list[Suggestion]]:
    """A store that nobody answers in, and what is suggested there."""
    made = unknown_world(tmp_path_factory.mktemp("world"))
    return made, suggest_merchants(made)


@pytest.fixture
def job(world: tuple[Job, list[Suggestion]], tmp_path: Path) -> Job:
    made, _ = world
    copied = shutil.copyfile(made.path, tmp_path / "store.duckdb")
    copied.chmod(0o600)
    return replace(made, path=copied)


@pytest.fixture
def suggested(world: tuple[Job, list[Suggestion]]) -> list[Suggestion]:
    return world[1]


class Typed:
    """A keyboard of the test; after the last key nobody is there."""

    def __init__(self, keys: str, lines: Iterable[str]) -> None:
        self.keys, self.lines = iter(keys), iter(lines)

    def forget(self) -> None:
        pass

    def key(self) -> str:
        return next(self.keys, "")

    def line(self) -> str:
        return next(self.lines, "")


def reviewed(
    job: Job, suggested: list[Suggestion], keys: str, lines: Iterable[str] = ()
) -> tuple[Review, str]:
    """Answer what is suggested; return what was seen."""
    seen: list[str] = []
    review = Review(job, Clock(job.now), Typed(keys, lines), seen.append)
    review.run(suggested)
    return review, "\n".join(seen)


def of_luna(answer: str, **reasons: str) -> list[tuple[str, ...]]:
    return [(each[1:], answer, "Luna Books", reason) for each, reason in reasons.items()]


# expected answers, keys, lines that are typed
REVIEWS = [
    ([], "q", []),
    ([], "", []),
    ([], "ss", []),
    ([], "x\x1b\x04", []),
    ([], "aq", [""]),
    ([], "nq", [""]),
    (of_luna("accepted", n101="receipt"), "aq", ["receipt"]),
    (of_luna("accepted", n101="once", n102="once"), "aa", ["once"]),
    (of_luna("accepted", n101="one", n102="two"), "awa", ["one", "two"]),
    (of_luna("accepted", n101="tills", n102="tills"), "cy", ["tills"]),
    ([], "cn", ["tills"]),
    (of_luna("refused", n101="no") + of_luna("accepted", n102="yes"), "ra", ["no", "yes"]),
    ([("101", "new", "Luna Too", "a new merchant")], "nq", ["books", "Luna Too"]),
]


@pytest.mark.parametrize(("expected", "keys", "lines"), REVIEWS)
def test_a_key_is_an_answer(
    job: Job,
    suggested: list[Suggestion],
    expected: list[tuple[str, ...]],
    keys: str,
    lines: list[str],
) -> None:
    reviewed(job, suggested, keys, lines)
    assert expected == found(job, ANSWERS)


def test_a_suggestion_is_shown_with_what_speaks_for_it(
    job: Job, suggested: list[Suggestion]
) -> None:
    _, seen = reviewed(job, suggested, "s")
    first, second = seen.split("2 of 2")
    assert [
        "1 of 2",
        "is called      LUNA BOOKS #101",
        "may be         Luna Books, no category",
    ] == [line.strip() for line in first.split("\n") if line.lstrip()[:2] in {"1 ", "is", "ma"}]
    assert "would pay      GBP 2.00, 1 link" in first
    assert "a accept, c accept all 2, r refuse, n new merchant, s skip" in first
    assert "LUNA BOOKS #102" in second


def test_what_cannot_be_answered_so_is_said_and_asked_again(
    job: Job, suggested: list[Suggestion]
) -> None:
    accept(job, "101", "Oakwell Pharmacy", "it moved in meanwhile")
    review, seen = reviewed(job, suggested, "asq", ["why"])
    assert "\nError: 101 is an identifier of Oakwell Pharmacy." in seen
    assert [] == review.told


def test_a_list_may_be_filled_in_as_a_workbook(
    job: Job, suggested: list[Suggestion], tmp_path: Path
) -> None:
    rows = [{**suggested[0], "reason": "same till"}, {**suggested[1], "reason": None}]
    filled = tmp_path / "filled.xlsx"
    with filled.open("wb") as out:
        write_xlsx([sheet_of("suggestions", rows)], out)
    ended = in_a_pipe(["merchant", "accept", "--from", filled, "--store", job.path])
    assert 0 == ended.exit_code, ended
    assert [("101", "accepted", "Luna Books", "same till")] == found(job, ANSWERS)


def test_a_review_needs_a_terminal(job: Job) -> None:
    words = ["merchant", "suggest", "--review", "--store", str(job.path)]
    for ended in (in_a_pipe(words), on_a_screen(words)):
        assert 2 == ended.exit_code
        assert "Error: --review asks at a terminal, and here is none." in ended.stderr
        assert "-o review.csv" in ended.stderr


@slow
def test_at_a_terminal_ctrl_c_leaves_what_was_answered_and_the_terminal_as_it_was(job: Job) -> None:
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    words = ["merchant", "suggest", "--review", "--as-of", f"{job.now.isoformat()}Z"]
    shown, unread = read_all(ours), ""

    def until(text: str) -> None:
        nonlocal unread
        while text not in unread:
            unread += next(shown).decode()
        unread = unread.partition(text)[2]

    with subprocess.Popen(
        command(*words, "--store", job.path), stdin=theirs, stdout=theirs, stderr=subprocess.PIPE
    ) as running:
        until("leave:")
        os.write(ours, b"a")
        until("Why do you accept?")
        os.write(ours, b"same till\n")
        until("2 of 2")
        until("leave:")
        running.send_signal(signal.SIGINT)
        _, notes = running.communicate(timeout=60)
    after = termios.tcgetattr(theirs)
    os.close(theirs)
    os.close(ours)
    assert (130, before) == (running.returncode, after)
    assert b"1 answer given; what was answered stands." in notes
    assert [("101", "accepted", "Luna Books", "same till")] == found(job, ANSWERS)
