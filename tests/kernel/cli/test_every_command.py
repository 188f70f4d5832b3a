"""Every command, in a pipe and on terminals of all kinds: nothing is cut, boxed or broken.

The commands come from the command line itself, so that a new one cannot be forgotten: give it a
line in `tests/kit/everything.py`.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from rich.cells import cell_len
from typer.main import get_command

from cardoffers_cli.kernel.cli import main
from cardoffers_cli.kernel.cli.context import FINDINGS, WITH_FINDINGS
from cardoffers_cli.kernel.sheets.sheets import cell_text
from commands import command, every_command
from everything import AS_OF, RUN_ON, Line, Place, everything, lines
from sizes import one_in, slow

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = slow

COLUMNS = 80
WIDE = 500
ESCAPES_AND_BOXES = re.compile("[\x1b\u2500-\u257f]")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
PICTURES = re.compile("[\u2500-\u259f]+")
LEFT_OUT = re.compile(r"Left out on this screen: .*?\.\n", re.DOTALL)
EMPTY = "(none)"
LONG = 36
"""Letters of an id: a column has room for one, so that no shorter word needs to be broken."""
PROSE = {
    *("api GET /openapi.json", "help formats", "browse -i larkmere {ref} --text"),
    "approve document {approval}",
}
"""Lines that print a text as it is, and no data."""
SAMPLE = ("status", "offer feed", "why", "timeline", "report redemptions --by", "report funnel")
LOOKS = {"NO_COLOR": {"NO_COLOR": "1"}, "dumb": {"TERM": "dumb"}, "--no-color": {}}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return everything(tmp_path_factory.mktemp("everything") / "place")


def every(chosen: list[Line]) -> Any:
    return pytest.mark.parametrize("line", chosen, ids=[line.words for line in chosen])


def words(text: str) -> set[str]:
    return set(PICTURES.sub(" ", LEFT_OUT.sub("", text).replace(EMPTY, "")).split())


def as_on_screen(text: str) -> str:
    """Write the times of every format as screens do, and numbers without the groups these have."""
    minutes = re.sub(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d\.\d{3}Z", r"\1 \2 UTC", text)
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", minutes)


def masked(line: Line, text: str) -> str:
    """Leave out what no two runs share, if the line's runs do not: ids, digests, numbers."""
    return re.sub("[0-9a-f]{4,}|[0-9]+", "0", text) if line.varies else text


def texts(value: Any) -> Iterator[str]:
    """Yield the text of a value and of everything in it, of lists also as cells show them."""
    yield cell_text(value)
    if isinstance(value, dict):
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        inside = [text for inner in value for text in texts(inner)]
        yield from (*inside, "|".join(inside), " ".join(inside))


def test_every_command_has_a_line() -> None:
    named = [*RUN_ON, *(line.words for line in lines())]
    missing = [
        name
        for name in every_command(get_command(main.app))
        if not any(f"{each} ".startswith(f"{name} ") for each in named)
    ]
    assert [] == missing


@every([line for line in lines() if line.words not in PROSE])
@one_in(6, gate=2)
def test_a_pipe_gets_every_cell_whole(place: Place, line: Line) -> None:
    header, *rows = [row.split("\t") for row in piped(place, line, "tsv").splitlines()] or [[]]
    lines = piped(place, line, "jsonl").splitlines()
    found = [json.loads(text, parse_float=Decimal) for text in lines]
    for cells, row in zip(rows, found, strict=True):
        assert len(header) == len(cells)
        known = {masked(line, text) for text in texts(row)} | {""}
        assert set() == {masked(line, cell) for cell in cells} - known


@every(lines())
@one_in(6, gate=3)
def test_a_wide_screen_shows_everything_and_a_narrow_one_breaks_nothing(
    place: Place, line: Line
) -> None:
    whole = words(as_on_screen(piped(place, line, "table")))
    shown = screened(place, line, COLUMNS)
    narrow = as_on_screen(shown)
    if line.words in PROSE:
        return
    assert max(map(cell_len, shown.splitlines()), default=0) <= COLUMNS
    known = {masked(line, word) for word in whole}
    long = " ".join(word for word in whole if len(word) > LONG)
    broken = [word for word in words(narrow) if masked(line, word) not in known]
    hidden = masked(line, long)
    assert [] == [word for word in broken if not (word in long or masked(line, word) in hidden)]
    if not line.varies:
        wide = as_on_screen(screened(place, line, WIDE))
        assert whole == words(wide) or EMPTY in wide  # there nothing has no header


def piped(place: Place, line: Line, form: str) -> str:
    run = place.in_a_pipe(line, "--format", form)
    assert line.exit_code == run.exit_code, run
    assert not ESCAPES_AND_BOXES.search(run.stdout + run.stderr)
    assert not any(secret in run.stdout + run.stderr for secret in place.secrets)
    return run.stdout


def screened(place: Place, line: Line, columns: int) -> str:
    run = place.on_a_screen(line, columns=columns, NO_COLOR="1")
    assert line.exit_code == run.exit_code, run
    assert "\x1b" not in run.stdout + run.stderr
    return run.stdout


@pytest.mark.parametrize("how", ["", "--format json", "--quiet"])
@every([line for line in lines() if line.exit_code == WITH_FINDINGS])
@one_in(6)
def test_what_ends_with_findings_says_why_on_stderr(place: Place, line: Line, how: str) -> None:
    run = place.in_a_pipe(line, *how.split())
    assert WITH_FINDINGS == run.exit_code
    said = [each for each in run.stderr.splitlines() if each.strip()]
    assert said, "the exit code stands alone"
    assert FINDINGS not in said, "say `why`, as only the command knows"


@pytest.mark.parametrize("looks", LOOKS)
@every([line for line in lines() if line.words.startswith(SAMPLE)])
@one_in(6)
def test_who_wants_no_colour_gets_none(place: Place, line: Line, looks: str) -> None:
    more = [looks] if looks.startswith("-") else []
    plain = place.on_a_screen(line, *more, **LOOKS[looks])
    coloured = place.on_a_screen(line)
    assert "\x1b[1m" in coloured.stdout
    assert COLOURS.sub("", coloured.stdout) == plain.stdout


@pytest.mark.parametrize("name", RUN_ON)
def test_a_command_that_runs_on_says_plain_lines(place: Place, name: str) -> None:
    words = [*name.split(), "--port", "0", "--as-of", AS_OF]
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command(*words), cwd=place.folder, **streams) as running:
        said = running.stderr.readline() if running.stderr else ""
        running.send_signal(signal.SIGINT)
        shown, more = running.communicate(timeout=60)
    assert said.startswith("Listening on http://127.0.0.1:")
    assert not ESCAPES_AND_BOXES.search(shown + said + more)
