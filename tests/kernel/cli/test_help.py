"""The help: the front page, each command's own, and the topics."""

import io
import re
from contextlib import chdir
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer

import cardoffers_cli
from cardoffers_cli.demo.help_commands import LISTS, PAGES, page_text
from cardoffers_cli.kernel.cli.commands import Format
from cardoffers_cli.kernel.cli.exits import EXIT_CODES
from cardoffers_cli.kernel.cli.layout import print_page
from cardoffers_cli.kernel.cli.main import COMMANDS
from cardoffers_cli.kernel.cli.show import Style
from cardoffers_cli.kernel.store.settings import Settings
from cardoffers_cli.kernel.words.findings import (
    BANK_CODES,
    CATALOGUE_CODES,
    CODES,
    DROP_CODES,
    FILE_CODES,
    PICKUP_CODES,
)
from cardoffers_cli.kernel.words.ids import ELLIPSIS
from cardoffers_cli.payouts.bank_codes import REASONS
from sizes import one_in

# what the store is -> the two lines that say so
STORES = [
    ("none", ["Store: none in this folder", "Next:  cardoffers demo, or cardoffers init"]),
    ("empty", ["Store: cardoffers.duckdb, 0 institutions", "Next:  cardoffers catalog import DIR"]),
    ("damaged", ["Store: ", "Next:  "]),
]


@pytest.mark.parametrize(("is_what", "expected"), STORES)
def test_without_words_it_shows_one_screen(
    cardoffers: Any, tmp_path: Path, is_what: str, expected: list[str]
) -> None:
    with chdir(tmp_path):
        if is_what == "empty":
            cardoffers("init")
        elif is_what == "damaged":
            Path("cardoffers.duckdb").write_bytes(bytes(99_999))
        outcome = cardoffers()
    lines = outcome.stdout.splitlines()
    assert (0, "", True) == (outcome.exit_code, outcome.stderr, len(lines) <= 24)
    assert max(map(len, lines)) <= 80
    assert [True, True] == [
        line.startswith(e) for line, e in zip(lines[10:12], expected, strict=True)
    ]
    assert all(f"  {entry.name} " in outcome.stdout for entry in COMMANDS if entry.name in JOBS)


JOBS = {"validate", "import", "match", "settle", "webhook", "key", "report", "nightly", "status"}


def test_the_help_lists_the_commands_by_section(cardoffers: Any) -> None:
    outcome = cardoffers("--help")
    assert (0, "") == (outcome.exit_code, outcome.stderr)
    lines = outcome.stdout.splitlines()
    headings = [line for line in lines if re.fullmatch(r"\w.*:", line)]
    sections = dict.fromkeys(f"{entry.section}:" for entry in COMMANDS)
    assert ["Options:", *sections, "Everywhere:"] == headings
    assert all(f"  {entry.name} " in outcome.stdout for entry in COMMANDS)


def test_help_fits_a_narrow_terminal(cardoffers: Any) -> None:
    for words in (["--help"], ["help", "--help"]):
        assert max(map(len, cardoffers(*words).stdout.splitlines())) <= 80


def test_examples_keep_their_lines(cardoffers: Any, probe: Any) -> None:
    def explained() -> None:
        """Do it.

        Words that are long enough to be wrapped when they are shown, because a terminal is narrow,
        are wrapped.

        Try:

            cardoffers probe one
            cardoffers probe two
        """

    probe(explained)
    shown = cardoffers("probe", "--help").stdout
    assert "\n  Try:\n\n      cardoffers probe one\n      cardoffers probe two\n" in shown
    assert "terminal is narrow, are wrapped.\n" in shown


def test_a_group_of_one_command_is_a_group(cardoffers: Any, probe: Any) -> None:
    group = typer.Typer(help="A group.")

    @group.command("reverse")
    def _reverse() -> None:
        """Turn it round."""

    probe(group)
    for words in (["probe"], ["probe", "--help"]):
        assert "\nCommands:\n  reverse  Turn it round.\n" in cardoffers(*words).stdout
    assert 0 == cardoffers("probe", "reverse").exit_code


def test_the_topics_are_listed(cardoffers: Any) -> None:
    topics = [row["topic"] for row in cardoffers("help", "--format", "json").document]
    assert [*LISTS, *PAGES] == topics
    assert {"exit-codes", "findings", "commands", "formats", "environment", "files"} < set(topics)


def test_every_page_of_the_folder_is_a_topic() -> None:
    pages = {path.stem for path in (Path(cardoffers_cli.__file__).parent / "docs").glob("*.md")}
    assert PAGES.keys() == pages


@pytest.mark.parametrize("topic", PAGES)
@one_in(4)
def test_a_page_is_plain_markdown_in_a_pipe(process: Any, topic: str) -> None:
    outcome = process("help", topic)
    assert (0, "") == (outcome.exit_code, outcome.stderr)
    assert outcome.stdout.startswith("# ")
    assert "\x1b" not in outcome.stdout


def test_a_page_comes_in_the_form_and_to_the_file_that_is_asked_for(
    cardoffers: Any, tmp_path: Path
) -> None:
    page = cardoffers("help", "formats").stdout
    as_json = cardoffers("help", "formats", "--format", "json").document
    assert {"topic": "formats", "text": page} == as_json
    cardoffers("help", "formats", "-o", tmp_path / "formats.md")
    assert page == (tmp_path / "formats.md").read_text("utf-8")


def test_exit_codes_come_from_the_table(cardoffers: Any) -> None:
    rows = cardoffers("help", "exit-codes", "--format", "json").document
    assert [(row.code, row.meaning, row.advice) for row in EXIT_CODES] == [
        (row["code"], row["meaning"], row["fix"]) for row in rows
    ]


def test_findings_come_from_the_catalogue(cardoffers: Any) -> None:
    rows = cardoffers("help", "findings", "--format", "json").document
    known = {**CATALOGUE_CODES, **CODES, **FILE_CODES, **DROP_CODES, **PICKUP_CODES, **BANK_CODES}
    assert [*known, *REASONS] == [row["code"] for row in rows]
    assert all(row["fix"] and row["summary"] for row in rows)


def test_one_finding_is_explained(cardoffers: Any) -> None:
    (row,) = cardoffers("help", "findings", "amount_precision", "--format", "json").document
    assert CODES["amount_precision"].fix == row["fix"]


@pytest.mark.parametrize(
    ("code", "words"),
    [("topic_unknown", ["help", "nope"]), ("finding_unknown", ["help", "findings", "nope"])],
)
def test_an_unknown_topic_is_not_found(cardoffers: Any, code: str, words: list[str]) -> None:
    outcome = cardoffers(*words, "--format", "json")
    assert (5, code) == (outcome.exit_code, outcome.error["code"])


@pytest.mark.parametrize(
    ("hint", "line"),
    [
        ("Did you mean findings?", "help fidings"),
        ("`cardoffers match --help` explains the command.", "help match"),
        ("Did you mean amount_precision or amount_invalid?", "help findings amount_precison"),
        ("`cardoffers help findings` lists them.", "help findings zzz"),
    ],
)
def test_a_mistyped_topic_or_code_is_guessed(cardoffers: Any, hint: str, line: str) -> None:
    assert hint == cardoffers(*line.split(), "--format", "json").error["hint"]


def test_the_environment_page_names_every_setting(cardoffers: Any) -> None:
    page = cardoffers("help", "environment").stdout
    missing = [each.name for each in fields(Settings) if f"- `{each.name}` " not in page]
    assert [] == missing


@pytest.mark.parametrize("topic", PAGES)
def test_no_word_of_a_page_is_cut_on_a_narrow_terminal(topic: str) -> None:
    out = io.StringIO()
    print_page(page_text(topic), Style(Format.md, is_terminal=True), out)
    assert page_text(topic).count(ELLIPSIS) == out.getvalue().count(
        ELLIPSIS
    )  # what was cut has one
    assert max(map(len, out.getvalue().splitlines())) <= 80
