"""The options of every command, wherever they stand, and what a command gets of them."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import typer

from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import DryRun, From, Institution, Yes


def look(
    ctx: typer.Context,
    institution: Institution = "alder",
    since: From = None,
    dry_run: DryRun = False,
) -> None:
    """Show what a command gets."""
    context = CommandContext.of(ctx)
    context.note("a note")
    context.show(
        {
            "institution": institution,
            "since": since,
            "dry_run": dry_run,
            "store": str(context.store_path),
            "lock_wait_s": context.settings.lock_wait_s,
            "now": context.now,
            "format": context.format,
        }
    )


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def seen(cardoffers: Any, probe: Any) -> Any:
    """Run a line, with `probe` in it, and return what the command got."""
    probe(look)

    def run(line: str, **environment: str) -> dict[str, Any]:
        outcome = cardoffers(*line.split(), "--format", "json", **environment)
        assert (0, outcome.stderr.replace("a note\n", "")) == (outcome.exit_code, "")
        return dict(outcome.document)

    return run


@pytest.mark.parametrize(
    ("store", "line"),
    [
        ("cardoffers.duckdb", "probe"),
        ("before", "--store before probe"),
        ("after", "probe --store after"),
        ("equals", "probe --store=equals"),
        ("same", "--store same probe --store same --store=same"),
    ],
)
def test_an_option_works_before_and_after_the_command(seen: Any, store: str, line: str) -> None:
    assert store == seen(line)["store"]


TWICE = "{} is given twice, with different values."
EXCLUDE = "{} and {} exclude each other."


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (TWICE.format("--store"), "--store before status --store after"),
        (TWICE.format("--store"), "status --store first --store last"),
        (TWICE.format("--institution"), "import x.csv -i alder --institution brook"),
        (TWICE.format("--institution"), "refund import x.csv --institution=alder -i brook"),
        (TWICE.format("--institution"), "why r-1 -i alder -i brook"),
        (TWICE.format("--format"), "--format csv status"),
        (TWICE.format("--format"), "institution --format csv list"),
        (TWICE.format("--delimiter"), "import x.csv -i alder --delimiter ; --delimiter |"),
        (TWICE.format("--as-of"), "match --as-of 2026-03-01 --as-of 2026-03-02"),
        (TWICE.format("--reason"), "redemption reverse 7 --reason one --reason other"),
        (TWICE.format("--watch"), "institution set alder --watch on --watch off"),
        (
            EXCLUDE.format("--require-marker", "--no-require-marker"),
            "institution set alder --require-marker --no-require-marker",
        ),
        (EXCLUDE.format("--quiet", "--debug"), "status --quiet --debug"),
        (EXCLUDE.format("--quiet", "--debug"), "-q nightly drop --debug"),
        (
            EXCLUDE.format("--profile", "--no-profile"),
            "institution set alder --profile p.toml --no-profile",
        ),
        (
            EXCLUDE.format("--profile", "--no-profile"),
            "import x.csv -i alder --no-profile --profile p.toml",
        ),
    ],
)
@pytest.mark.usefixtures("in_folder")
def test_options_that_contradict_each_other_are_refused(
    cardoffers: Any, message: str, line: str
) -> None:
    outcome = cardoffers(*line.split(), "--format", "json")
    error = json.loads(outcome.stderr.splitlines()[-1])["error"]
    assert (2, 2, "usage", message) == (
        outcome.exit_code,
        error["exit_code"],
        error["code"],
        error["message"],
    )


@pytest.mark.parametrize(
    "line", ["probe -i alder --institution alder --dry-run --dry-run -q -q", "-q probe -q -i alder"]
)
def test_an_option_may_be_repeated(seen: Any, line: str) -> None:
    assert "alder" == seen(line)["institution"]


@pytest.mark.parametrize(
    ("store", "line"),
    [
        ("from-environment", "probe"),
        ("before", "--store before probe"),
        ("after", "probe --store after"),
    ],
)
def test_a_flag_wins_over_the_environment(seen: Any, store: str, line: str) -> None:
    assert store == seen(line, CARDOFFERS_STORE="from-environment")["store"]


def test_options_reach_the_commands_of_a_group(cardoffers: Any, probe: Any) -> None:
    group = typer.Typer()
    group.command("look")(look)
    probe(group)
    for line in ["--store x probe look", "probe --store x look", "probe look --store x"]:
        assert "x" == cardoffers(*line.split(), "--format", "json").document["store"]


@pytest.mark.parametrize(
    ("now", "text"),
    [
        ("2026-03-01T00:00:00.000Z", "2026-03-01"),
        ("2026-03-01T06:30:00.000Z", "2026-03-01T06:30:00Z"),
        ("2026-03-01T05:30:00.000Z", "2026-03-01T06:30:00+01:00"),
    ],
)
def test_as_of_is_the_clock(seen: Any, now: str, text: str) -> None:
    assert now == seen(f"--as-of {text} probe")["now"]


def test_without_as_of_the_clock_is_now(seen: Any) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    assert before <= datetime.fromisoformat(seen("probe")["now"]) <= datetime.now(UTC)


def test_shared_options_are_declared_once(seen: Any) -> None:
    got = seen("probe -i brook --from 2026-03-01 --dry-run")
    assert ("brook", "2026-03-01T00:00:00.000Z", True) == (
        got["institution"],
        got["since"],
        got["dry_run"],
    )


@pytest.mark.parametrize(
    ("notes", "line"), [("a note\n", "probe"), ("", "probe -q"), ("", "--quiet probe")]
)
def test_quiet_leaves_the_notes_out(cardoffers: Any, probe: Any, notes: str, line: str) -> None:
    probe(look)
    assert notes == cardoffers(*line.split()).stderr


@pytest.mark.usefixtures("in_folder")
@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("tsv", ()),
        ("csv", ("--format", "csv")),
        ("csv", ("-o", "out.csv")),
        ("jsonl", ("-o", "out.ndjson")),
        ("table", ("-o", "OUT.TXT")),
        ("md", ("-o", "out.csv", "--format", "md")),
        ("tsv", ("-o", "-")),
    ],
)
def test_the_format_is_asked_for_or_found(
    cardoffers: Any, probe: Any, form: str, words: tuple[str, ...]
) -> None:
    found = []

    def keep(ctx: typer.Context) -> None:
        found.append(str(CommandContext.of(ctx).format))

    probe(keep)
    cardoffers("probe", *words)
    assert [form] == found


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("usage", ("--format", "yaml")),
        ("usage", ("--lock-wait", "soon")),
        ("usage", ("--lock-wait", "-1")),
        ("usage", ("--as-of", "yesterday")),
        ("usage", ("--as-of", "2026-02-30")),
        ("folder_missing", ("-o", "nowhere/out.csv")),
    ],
)
def test_a_wrong_option_is_a_usage_error_before_any_work(
    cardoffers: Any, probe: Any, code: str, words: tuple[str, ...]
) -> None:
    probe(look)
    outcome = cardoffers("probe", "--format", "json", *words)
    assert (2, "", code) == (outcome.exit_code, outcome.stdout, outcome.error["code"])


def test_a_suffix_without_a_format_is_a_usage_error(cardoffers: Any, probe: Any) -> None:
    probe(look)
    outcome = cardoffers("probe", "-o", "out.docx")
    assert (2, "") == (outcome.exit_code, outcome.stdout)
    assert "Hint: Add --format, one of table, tsv, csv" in outcome.stderr


@pytest.mark.parametrize(("exit_code", "words"), [(0, ["--yes"]), (2, [])])
def test_nothing_prompts_without_a_terminal(
    cardoffers: Any, probe: Any, exit_code: int, words: list[str]
) -> None:
    def sure(ctx: typer.Context, yes: Yes = False) -> None:
        CommandContext.of(ctx).confirm("Really?", yes=yes)

    probe(sure)
    assert exit_code == cardoffers("probe", *words, stdin="y\n").exit_code


@pytest.mark.parametrize(
    ("exit_code", "zone"), [(14, "Europe/London"), (14, "UTC"), (2, "Mars/Olympus"), (2, "../UTC")]
)
def test_a_zone_is_checked_before_the_file_is_opened(
    cardoffers: Any, exit_code: int, zone: str
) -> None:
    outcome = cardoffers("validate", "nothing.csv", "--assume-timezone", zone)
    assert exit_code == outcome.exit_code
