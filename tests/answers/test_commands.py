"""`why`, `timeline`, `find` and `redemption show` as support meets them.

Each is held in every format against the goldens. To accept a change:
`UPDATE_GOLDENS=1 pytest tests/answers/test_commands.py`, and read the difference.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import fastexcel
import polars as pl
import pytest

from complaints import ANN, HOSTILE, complaints, redemption
from goldens import held
from sizes import one_in, slow

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

FORMATS = ("table", "tsv", "csv", "json", "jsonl", "md")
LINES = {
    "why-won": "why won",
    "why-small": "why small",
    "why-free": "why free",
    "why-now": "why third --now",
    "why-list": "why --file refs.txt",
    "why-plain": "why small --plain --locale es",
    "timeline": "timeline won",
    "find": "find --ref s*",
    "redemption": "redemption show WON",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job on the scene of `complaints`, which these tests only look at."""
    return complaints(tmp_path_factory.mktemp("complaints"))


@pytest.fixture
def ask(cardoffers: Any, made: Job) -> Any:
    """Run a command line at the scene, for alder."""

    def run(line: str, *words: object, stdin: str | None = None) -> Any:
        line = line.replace("refs.txt", str(made.path.parent / "refs.txt"))
        line = line.replace("WON", redemption(made, "won"))
        owner = () if line.startswith("redemption") else ("-i", "alder")
        usual = ("--store", made.path, "--as-of", f"{made.now.isoformat()}Z")
        return cardoffers(*line.split(), *words, *owner, *usual, stdin=stdin)

    refs = "won\nsmall\n\n  nope\nfree\nwon\n"
    (made.path.parent / "refs.txt").write_text(refs)
    return run


@slow
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", LINES)
@one_in(3)
def test_it_is_shown_in_every_format(ask: Any, name: str, form: str) -> None:
    ended = ask(LINES[name], "--format", form)
    assert (3 if name == "why-list" else 0) == ended.exit_code
    held(f"{name}.{form}", ended.stdout)


@slow
@pytest.mark.parametrize("name", LINES)
@one_in(3)
def test_nothing_that_acts_and_no_token_leaves(ask: Any, name: str) -> None:
    for form in FORMATS:
        ended = ask(LINES[name], "--format", form)
        said = ended.stdout + ended.stderr
        assert ANN not in said
        assert form in {"csv", "json", "jsonl"} or "\x1b" not in said
        assert form not in {"table", "md"} or "\u202e" not in said
        if form in {"tsv", "csv"}:
            assert not re.search(r"(^|[\t,])=", said, re.MULTILINE)


def test_files_of_people_hold_what_is_shown(ask: Any, tmp_path: Path) -> None:
    ask("find --ref s*", "-o", tmp_path / "found.parquet")
    frame = pl.read_parquet(tmp_path / "found.parquet")
    assert ["stranger", "small", "spent", "second", "second"] == frame["transaction_ref"].to_list()
    assert HOSTILE == frame["merchant_name"][1]
    ask("find --ref s*", "-o", tmp_path / "found.xlsx")
    sheet = fastexcel.read_excel(tmp_path / "found.xlsx").load_sheet(0).to_polars()
    assert frame["transaction_ref"].to_list() == sheet["transaction_ref"].to_list()
    ask("why small", "-o", tmp_path / "why.xlsx")
    book = fastexcel.read_excel(tmp_path / "why.xlsx")
    assert {"why", "checks", "terms", "purchase"} == set(book.sheet_names)


# the line, exit code, code of the error
ENDS = [
    ("why theirs", 5, "not_received"),
    ("why tx-0010", 5, "not_received"),
    ("why theirs --plain", 5, "not_received"),
    ("why", 2, "usage"),
    ("why won --file refs.txt", 2, "usage"),
    ("why won --now --plain", 2, "usage"),
    ("why --file refs.txt --now", 2, "usage"),
    ("why won --locale es", 2, "usage"),
    ("why won --plain --locale fr", 2, "locale_unknown"),
    ("why --file nowhere.txt", 14, "file_missing"),
    ("timeline theirs", 5, "not_received"),
    ("find", 2, "nothing_wanted"),
    (f"find --cardholder {ANN}", 2, "token_not_masked"),
    ("find --cardholder ann…b1a0 --token-file token.txt", 2, "usage"),
    ("find --token-file nowhere.txt", 5, "file_missing"),
    ("find --ref nope", 5, "nothing_found"),
    ("find --card ann", 2, "token_not_masked"),
    ("find --day 02/09/2026", 2, "usage"),
    ("find --amount 1e", 2, "usage"),
    ("find --amount NaN", 2, "usage"),
    ("find --amount -1", 2, "usage"),
    ("find --day 2026-06-01T12:00:00Z", 2, "usage"),
    ("find --day 2026-06-01 --from 2026-06-01", 2, "usage"),
    ("find --state lost", 2, "usage"),
    ("redemption show nope", 5, "redemption_not_found"),
]


@pytest.mark.parametrize(("line", "exit_code", "code"), ENDS)
def test_an_end_has_its_code(ask: Any, line: str, exit_code: int, code: str) -> None:
    ended = ask(line, "--format", "json")
    assert (exit_code, code) == (ended.exit_code, ended.error["code"])
    assert ANN not in ended.stdout + ended.stderr


def test_what_was_never_received_is_answered_and_is_an_error(ask: Any) -> None:
    ended = ask("why tx-oo1o", "--format", "json")
    assert ("not_received", ["TX-0010"]) == (ended.document["status"], ended.document["near"])
    assert "Did you mean TX-0010?" == ended.error["hint"]


def test_a_plain_answer_is_the_text_alone(ask: Any) -> None:
    ended = ask("why won --plain")
    assert (
        "Your purchase of GBP 20.00 at bakery on 1 June 2026 earned GBP 3.00 of cashback with the "
        "offer “Bread!”. It was settled on 3 June 2026.\n"
    ) == ended.stdout
    assert "" == ended.stderr


def test_a_token_comes_from_standard_input_or_a_private_file(ask: Any, tmp_path: Path) -> None:
    typed = ask("find --cardholder -", "--format", "jsonl", stdin=f"{ANN}\n")
    path = tmp_path / "token.txt"
    path.write_text(f"{ANN}\n")
    path.chmod(0o600)
    assert 3 == len(typed.stdout.splitlines())
    assert typed.stdout == ask("find --token-file", path, "--format", "jsonl").stdout
    masked = ask("find --cardholder ann-...b1a0", "--format", "jsonl")
    assert typed.stdout == masked.stdout


def test_a_day_and_a_tolerance_are_windows(ask: Any) -> None:
    found = ask("find --amount 21.50 --tolerance 0.50 --day 2026-06-01", "--format", "json")
    assert ["third", "second"] == [each["transaction_ref"] for each in found.document["data"]]
    assert "Searched 14 purchases of alder" in found.stderr


def test_a_list_on_standard_input_is_read_too(ask: Any) -> None:
    ended = ask("why --file -", "--format", "jsonl", stdin="won\nwon\n")
    assert (0, 1) == (ended.exit_code, len(ended.stdout.splitlines()))


def test_a_quiet_timeline_says_that_nothing_more_comes(ask: Any) -> None:
    assert "Nothing more is expected.\n" == ask("timeline small").stderr


@pytest.mark.parametrize("words", ["why", "timeline", "find", "redemption show"])
def test_the_help_ends_with_examples(cardoffers: Any, words: str) -> None:
    shown = cardoffers(*words.split(), "--help").stdout
    assert f"  Try:\n\n      cardoffers {words} " in shown
    assert max(map(len, shown.splitlines())) <= 80
