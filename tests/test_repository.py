"""What a visitor sees first, and what no file may mention."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
VISIBLE = {"LICENSE", "README.md", "cardoffers_cli", "pyproject.toml", "sample_data", "tests"}
HIDDEN = {".ci", ".github", ".gitignore"}

# Written so that this file does not contain what it looks for.
MENTIONS = {
    "a folder of one machine": r"(?<![\w.}])/(work|home|root|Users|opt|mnt)/[a-z]",
    "a package index": r"\b(py[p]i\.org|python[h]osted|file:/{2}/|(artifac[t]ory|devp[i])\b)",
}
BESIDE = re.compile(r"\.\./share[d]")


def repository() -> list[Path]:
    """Return every file of the repository: what git knows, or, in a bare copy, what looks so."""
    if (CHECKOUT / ".git").exists():
        command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
        listed = subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True, text=True)
        names = [Path(name) for name in listed.stdout.split("\0") if name]
    else:
        files = (path.relative_to(CHECKOUT) for path in CHECKOUT.rglob("*"))
        names = [name for name in files if not made_by_a_tool(name)]
    return [name for name in names if (CHECKOUT / name).is_file()]


def made_by_a_tool(name: Path) -> bool:
    hidden = name.parts[0].startswith(".") and name.parts[0] not in HIDDEN
    return hidden or "__pycache__" in name.parts


def mentions(text: str) -> list[str]:
    return [what for what, pattern in MENTIONS.items() if re.search(pattern, text)]


def read(name: Path) -> str:
    return (CHECKOUT / name).read_text(encoding="utf-8", errors="replace")


def test_the_top_level_is_what_a_visitor_expects() -> None:
    assert VISIBLE == {name.parts[0] for name in repository() if not name.parts[0].startswith(".")}


def test_no_file_mentions_where_it_was_made() -> None:
    found = {str(name): what for name in repository() if (what := mentions(read(name)))}
    assert {} == found


def test_only_tests_and_their_gate_know_the_folder_beside_the_checkout() -> None:
    outside = [str(name) for name in repository() if name.parts[0] != "tests"]
    assert [".ci/run"] == [name for name in outside if BESIDE.search(read(Path(name)))]


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (["a folder of one machine"], "see /wor" + "k/notes.md"),
        (["a folder of one machine"], "'/ho" + "me/ann/store.duckdb'"),
        (["a package index"], "https://py" + "pi.org/simple"),
        (["a package index"], "fil" + "e:///wheels"),
        ([], "work/in/progress and https://www.apache.org/licenses/"),
        ([], "$HOME/work/offers, ./root/x"),
    ],
)
def test_a_mention_is_found(expected: list[str], text: str) -> None:
    assert expected == mentions(text)


def test_readme_holds_the_commands_the_gate_runs() -> None:
    blocks = re.findall(r"<!-- (\w+) -->\n```sh\n([^`]+)```", read(Path("README.md")))
    setup = "python3 -m venv .venv && .venv/bin/pip install -q "
    assert {
        "demo": f"{setup}. && .venv/bin/cardoffers demo\n",
        "tests": f"{setup}-e '.[test]' && .venv/bin/pytest -q -n auto\n",
    } == {name: block for name, block in blocks if name in {"demo", "tests"}}


def test_the_gate_installs_from_the_lock_files_as_readme_says() -> None:
    locked = dict(re.findall(r"<!-- (\w+) -->\n```sh\n([^`]+)```", read(Path("README.md"))))[
        "locked"
    ]
    assert "--require-hashes -r .ci/requirements.lock" in locked
    assert all("--require-hashes" in line or "--no-deps" in line for line in locked.splitlines())
    assert 'step locked "$(readme_command locked)' in read(Path(".ci/run"))


def is_page(name: Path) -> bool:
    return name.parts[:2] == ("cardoffers_cli", "docs") and name.suffix == ".md"


def test_every_line_of_pip_in_readme_works_from_a_clone() -> None:
    pages = [Path("README.md"), *(name for name in repository() if is_page(name))]
    lines = [line for page in pages for line in re.findall(r"pip install ([^`&\n#]+)", read(page))]
    assert len(lines) > 8
    extras = tomllib.loads(read(Path("pyproject.toml")))["project"]["optional-dependencies"]
    for line in lines:
        words = shlex.split(line)
        named = [word for word in words if not word.startswith("-")]
        local = [re.fullmatch(r"\.(?:\[([a-z0-9,]+)\])?", word) for word in named]
        files = [word for word in named if word.startswith((".ci/", ".build/"))]
        assert files or all(local), line
        wanted = [name for each in local if each and each[1] for name in each[1].split(",")]
        assert set(wanted) <= extras.keys()
        assert all(list(CHECKOUT.glob(word)) for word in files if word.startswith(".ci/"))


def test_every_dependency_has_a_lower_and_an_upper_bound() -> None:
    project = tomllib.loads(read(Path("pyproject.toml")))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    ours = f"{project['name']}["
    others = [each for group in groups for each in group if not each.startswith(ours)]
    assert [] == [each for each in others if not re.search(r">=[\d.]+,<\d", each)]
