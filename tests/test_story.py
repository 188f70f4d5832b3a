"""The sample data through every command, held against the goldens beside it.

Then everything again, which changes nothing (rules.md#running-again), and the input shuffled and
cut into many files, which gives the same answers. To accept a change:
`UPDATE_GOLDENS=1 pytest tests/test_story.py`, and read the difference.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shlex
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from cardoffers_cli.kernel.cli import main
from cardoffers_cli.kernel.sheets.exports import copy_sample_data
from sizes import at_the_gate, one_in, slow

if TYPE_CHECKING:
    from collections.abc import Iterator

EXPECTED = Path(__file__).parents[1] / "sample_data" / "expected"

BOUGHT = "2026-10-01"
HELD = "2026-10-08"
LATER = "2026-10-09"
SEEN = "2026-10-10"
CLOSED = "2026-11-01"
REVERSED = "8635c2d0-9d47-88e0-a248-3ba3be40c0d2"


@dataclass(frozen=True)
class Told:
    """One command of the story: its golden, how it ends, when it runs, what is typed."""

    golden: str
    exit_code: int
    as_of: str
    line: str


def table(text: str) -> list[Told]:
    lines = text.replace("\\\n", "").strip().splitlines()
    rows = (line.split(maxsplit=3) for line in lines)
    return [Told(golden, int(code), as_of, line) for golden, code, as_of, line in rows]


BEFORE = table(f"""
    init.json              0  {BOUGHT}  init
    catalog.json           0  {BOUGHT}  catalog import catalog
    institutions.csv       0  {BOUGHT}  institution list
    validate.json          3  {BOUGHT}  validate transactions/larkmere-dirty.csv --errors errors.csv
    simulate.csv           3  {BOUGHT}  simulate transactions/larkmere-dirty.csv -i larkmere
""")
IMPORTS = table(f"""
    import-larkmere.json   3  {BOUGHT}  import transactions/larkmere.csv -i larkmere
    import-tarnhollow.json 0  {BOUGHT}  import transactions/tarnhollow.csv -i tarnhollow
    import-dirty.json      3  {BOUGHT}  import transactions/larkmere-dirty.csv -i larkmere
    import-refunds.json    0  {BOUGHT}  refund import refunds/larkmere.csv -i larkmere
    import-refunds-2.json  0  {BOUGHT}  refund import refunds/tarnhollow.csv -i tarnhollow
""")
MONEY = table(f"""
    match.json             0  {BOUGHT}  match
    settle.json            0  {BOUGHT}  settle
    settle-held.json       0  {HELD}    settle
    refund.json            0  {HELD}    refund apply
    reverse.json           0  {HELD}    redemption reverse {REVERSED} --reason "goods returned"
    settle-net.json        0  {LATER}   settle
""")
CARDHOLDER = "742488db0fad2435a10c303876b855811170142399e76f757ac36b15c690058d"
CARD = "ct_f30b4142efbbd3bd8eb1005be47ec942"
OFFERS = table(f"""
    feed.json              0  {LATER}   offer feed -i larkmere --cardholder {CARDHOLDER} --limit 3
    feed-personal.json     0  {LATER}   offer feed -i larkmere --cardholder {CARDHOLDER} \
        --limit 4 --locale es --segment premium --personalize --prefer-categories dining
    add.json               0  {LATER}   offer add of-00007 -i larkmere \
        --cardholder {CARDHOLDER} --card {CARD}
    add-again.json         0  {LATER}   offer add of-00007 -i larkmere \
        --cardholder {CARDHOLDER} --card {CARD}
    links.csv              0  {LATER}   offer link-list -i larkmere --cardholder {CARDHOLDER}
""")
REPORTS = table(f"""
    offers.csv             0  {SEEN}    offer list -i larkmere
    funnel.json            0  {SEEN}    report funnel -i larkmere --compare
    funnel.csv             0  {SEEN}    report funnel -i larkmere --from 2026-07-01 --compare
    funnel-merchants.csv   0  {SEEN}    report funnel -i larkmere --by merchant
    funnel-days.csv        0  {SEEN}    report funnel -i larkmere --by day
    redemptions.csv        0  {LATER}   report redemptions --all
    redemptions-page.json  0  {LATER}   report redemptions -i larkmere --limit 2
    settlements.csv        0  {LATER}   report settlements --all
    unresolved.csv         0  {LATER}   report unresolved --all
    refunds.csv            0  {LATER}   refund list -i larkmere --all
    status.json            0  {LATER}   status
""")
MONTH = table(f"""
    import-credits.json    0  {CLOSED}  credit import credits/larkmere.csv -i larkmere
    reconcile.json         3  {CLOSED}  reconcile
    findings.csv           0  {CLOSED}  reconcile list -i larkmere
    statement.json         0  {CLOSED}  statement close -i tarnhollow --period 2026-10
    statements.csv         3  {CLOSED}  statement close --all --period 2026-10
    invoices.csv           0  {CLOSED}  invoice close --period 2026-10
    verified.json          0  {CLOSED}  statement verify
""")
STORY = (*BEFORE, *IMPORTS, *MONEY, *OFFERS, *REPORTS, *MONTH)
FINDINGS = "errors.csv"

MADE_ANEW = re.compile(r'("(?:run_id|import_id|already_imported)": ")[0-9a-f-]{36}"')


def run(line: str, as_of: str = LATER, form: str = "json", exit_code: int = 0) -> str:
    """Run a command line in the working directory; return stdout, ids made anew left out."""
    words = [*shlex.split(line), "--as-of", as_of, "--format", form]
    ended = CliRunner().invoke(main.app, words)
    assert exit_code == ended.exit_code, ended.output
    return MADE_ANEW.sub(r'\1…"', ended.stdout_bytes.decode())


def tell(step: Told) -> str:
    form = step.golden.rpartition(".")[2]
    return run(step.line, step.as_of, form, step.exit_code)


def reports() -> dict[str, str]:
    return {step.golden: tell(step) for step in REPORTS if step.golden.endswith(".csv")}


@pytest.fixture(scope="module")
def told_in(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Run everything once in a folder; return it, and what each command said by its golden."""
    folder = tmp_path_factory.mktemp("story")
    copy_sample_data(folder)
    with contextlib.chdir(folder):
        told = {step.golden: tell(step) for step in STORY}
    return folder, {**told, FINDINGS: (folder / FINDINGS).read_text("utf-8")}


@pytest.fixture
def story(told_in: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Go where the story was told; return what each command said, by its golden."""
    folder, told = told_in
    monkeypatch.chdir(folder)
    return told


@pytest.fixture
def new_folder(tmp_path: Path) -> Path:
    """Return a folder with the sample data and no store yet."""
    copy_sample_data(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", [*(step.golden for step in STORY), FINDINGS])
@one_in(4)
def test_a_command_says_what_its_golden_says(story: dict[str, str], name: str) -> None:
    golden = EXPECTED / name
    if os.environ.get("UPDATE_GOLDENS"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_bytes(story[name].encode())
    assert golden.read_bytes().decode() == story[name]


def test_every_golden_is_told() -> None:
    told = {*(step.golden for step in STORY), FINDINGS}
    assert told == {path.name for path in EXPECTED.iterdir()}


@slow
def test_everything_again_changes_nothing(story: dict[str, str]) -> None:
    again = json.loads(run("catalog import catalog"))
    assert (0, 0) == (again["new"], again["changed"])
    for step in IMPORTS:
        again = json.loads(run(step.line, exit_code=step.exit_code))
        assert 0 == again["accepted"]
    assert 0 == json.loads(run("match"))["redeemed"]
    assert 0 == json.loads(run("refund apply"))["reversed"]
    settled = json.loads(run("settle"))
    assert (0, []) == (settled["settled"], settled["settlements"])
    run(f"redemption reverse {REVERSED} --reason again", exit_code=4)
    assert story["add-again.json"] == run(OFFERS[2].line)
    closed = MONTH[2:]  # by when there is something to pay, which `reconcile` says
    assert [story[step.golden] for step in closed] == [tell(step) for step in closed]
    assert [] == json.loads(run("store migrate"))["applied"]
    before, now = {name: story[name] for name in reports()}, reports()
    before_rows, rows = (each.pop("redemptions.csv").splitlines() for each in (before, now))
    assert before == now
    # The month was reconciled since, which says of each redemption whether it was credited.
    assert rows[0] == f"{before_rows[0]},verdict,credited_amount,credited_at"
    assert before_rows == [row.rsplit(",", 3)[0] for row in rows]


def test_the_store_passes_every_audit(story: dict[str, str]) -> None:
    assert story
    assert json.loads(run("doctor --strict"))["ok"]


def test_an_exported_catalogue_is_the_same_catalogue(story: dict[str, str]) -> None:
    files = json.loads(story["catalog.json"])["files"]
    with_tokens = {"links", "engagement"}
    received = sum(file["received"] for file in files if file["kind"] not in with_tokens)
    run("catalog export exported")
    again = json.loads(run("catalog import exported"))
    assert (received, 0, 0) == (again["same"], again["new"], again["changed"])


@at_the_gate
@pytest.mark.parametrize("seed", [1, 2])
@one_in(3)
def test_shuffled_and_cut_input_gives_the_same_answers(
    story: dict[str, str], new_folder: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.chdir(new_folder)
    chance = random.Random(seed)  # noqa: S311 - no secret
    for step in BEFORE[:2]:
        tell(step)
    files = [
        (slug, file)
        for slug in ("larkmere", "tarnhollow")
        for file in cut(new_folder / "transactions" / f"{slug}.csv", chance)
    ]
    for slug, file in in_turns(files, chance):
        CliRunner().invoke(main.app, ["import", str(file), "-i", slug, "--as-of", BOUGHT])
    for step in IMPORTS[2:]:
        tell(step)
    for step in (*MONEY, *OFFERS):
        tell(step)
    assert {name: story[name] for name in reports()} == reports()
    month = {step.golden: tell(step) for step in MONTH}
    assert {name: story[name] for name in month} == month


def cut(path: Path, chance: random.Random) -> Iterator[Path]:
    """Yield files of a few shuffled rows each; rows of one reference keep their order."""
    header, *rows = path.read_text("utf-8").splitlines(keepends=True)
    in_order = defaultdict(list)
    for row in rows:
        in_order[reference(row)].append(row)
    references = [reference(row) for row in rows]
    chance.shuffle(references)
    shuffled = [in_order[ref].pop(0) for ref in references]
    for first in range(0, len(shuffled), 60):
        made = path.with_name(f"{path.stem}-{first}.csv")
        made.write_text("".join([header, *shuffled[first : first + 60]]), "utf-8")
        yield made


def reference(row: str) -> str:
    return row.split(",")[4]


def in_turns(files: list[tuple[str, Path]], chance: random.Random) -> list[tuple[str, Path]]:
    """Mix the institutions' files; each institution's stay in order."""
    waiting: dict[str, list[Path]] = defaultdict(list)
    for slug, file in files:
        waiting[slug].append(file)
    turns = [slug for slug, _ in files]
    chance.shuffle(turns)
    return [(slug, waiting[slug].pop(0)) for slug in turns]


def test_a_file_that_was_cut_has_every_row(new_folder: Path) -> None:
    path = new_folder / "transactions" / "larkmere.csv"
    header, *rows = path.read_text("utf-8").splitlines()
    parts = [part.read_text("utf-8").splitlines() for part in cut(path, random.Random(3))]  # noqa: S311
    assert {header} == {part[0] for part in parts}
    assert sorted(rows) == sorted(row for part in parts for row in part[1:])
    assert rows != [row for part in parts for row in part[1:]]
