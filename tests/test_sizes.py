"""What an everyday run tries of each table, and what is said of what a machine cannot try."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from figures import git
from sizes import is_tried, not_tried, slow

CHECKOUT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("tried", "of", "one_in", "most"),
    [
        ([0], 1, 1, 3),
        ([0, 1, 2], 3, 1, 3),
        ([0, 2, 3], 4, 1, 3),
        ([0, 4, 7], 10, 1, 3),
        ([0, 34, 67], 100, 1, 3),
        ([0, 3, 6, 9], 10, 3, None),
        ([0, 6, 9], 10, 3, 3),
        ([*range(10)], 10, 1, None),
    ],
)
def test_of_each_table_some_rows_are_tried(
    tried: list[int], of: int, one_in: int, most: int | None
) -> None:
    assert tried == [row for row in range(of) if is_tried(row, of, one_in=one_in, most=most)]


@slow
@pytest.mark.parametrize(
    ("is_tried", "named", "level"),
    [
        (False, "tests/kernel/net", ""),
        (True, "tests/kernel/net/test_strangers.py", ""),
        (True, "tests/kernel/net", "gate"),
    ],
)
def test_what_is_slow_is_tried_at_the_gate_and_by_name(
    is_tried: bool, named: str, level: str
) -> None:
    collected = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", named],
        cwd=CHECKOUT,
        env={**os.environ, "CARDOFFERS_TESTS": level},
        capture_output=True,
        text=True,
        check=True,
    )
    assert is_tried == ("::test_a_stranger_costs_little" in collected.stdout)


@pytest.mark.parametrize(
    ("expected", "reason"),
    [
        (["! a browser"], "Skipped: no browser is installed, such as chromium"),
        (["! gpg"], "Skipped: gpg is not installed: gnupg"),
        (["Apache Spark on Java"], "Skipped: CARDOFFERS_SPARK_TESTS is unset"),
        (["needs tmux"], "Skipped: needs tmux"),
        ([], "Skipped: nothing is to be done"),
    ],
)
def test_what_a_machine_lacks_is_named(expected: list[str], reason: str) -> None:
    assert expected == not_tried([reason, reason])


@slow
def test_a_run_of_tests_names_what_it_skipped(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "CARDOFFERS_TESTS": "gate",
        "CARDOFFERS_NOT_TRIED": str(tmp_path / "not-tried"),
        "CARDOFFERS_PYODIDE": "",
        "PATH": str(tmp_path),
    }
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/intake/pack/test_use.py"],
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    names = (tmp_path / "not-tried").read_text().split("\n")
    assert {"! a browser", "! the runtime of the page that checks files"} & {*names}, ended.stdout


TOOLS = (
    "mkdir -p {0}/bin; for each in pip ruff mypy python cardoffers; do cp ok {0}/bin/$each; done"
)
GATE = """
<!-- tests -->
```sh
{tests}; {venv}
```
<!-- locked -->
```sh
{locked}
```
<!-- demo -->
```sh
echo demo
```
"""


@slow
@pytest.mark.parametrize(
    ("code", "ci", "written", "last"),
    [
        (0, "", "", "demo"),
        (0, "", "! gpg\\ndata\\n", "Not tried here: gpg, data."),
        (4, "true", "! gpg\\ndata\\n", "Not tried here: gpg, data."),
        (0, "true", "data\\n", "Not tried here: data."),
        (4, "true", None, "Not tried here: any test to its end."),
        (1, "", "false", "Not tried here: gpg."),
    ],
)
def test_the_gate_ends_with_what_was_not_tried(
    code: int, ci: str, written: str | None, last: str, tmp_path: Path
) -> None:
    """The gate itself, on a checkout whose tests and linters do nothing."""
    tests = f"printf '{written}' >$CARDOFFERS_NOT_TRIED" if written is not None else "true"
    if written == "false":
        tests = "printf '! gpg' >$CARDOFFERS_NOT_TRIED; false"
    (tmp_path / ".ci").mkdir()
    shutil.copy(CHECKOUT / ".ci" / "run", tmp_path / ".ci")
    (tmp_path / ".ci" / "sbom.py").touch()
    (tmp_path / "ok").write_text("#!/bin/sh\necho '\"bom-ref\"'\n")
    (tmp_path / "ok").chmod(0o755)
    steps = {"venv": TOOLS.format(".venv"), "locked": TOOLS.format(".locked")}
    (tmp_path / "README.md").write_text(GATE.format(tests=tests, **steps))
    git(tmp_path, "init", "-q")
    ended = subprocess.run(
        [tmp_path / ".ci" / "run"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "CI": ci, "CARDOFFERS_PYODIDE": "given"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (code, last) == (ended.returncode, ended.stdout.splitlines()[-1]), ended
