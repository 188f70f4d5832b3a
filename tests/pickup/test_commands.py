"""`cardoffers pickup` from a folder: what it tells on a screen, in a pipe, and by its exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sizes import slow
from work import file_of, new_store, tell

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def run(tmp_path: Path, cardoffers: Any) -> Any:
    """Run a command at a store whose institution alder has a place, the folder `remote`."""
    made = new_store(tmp_path)
    tell(made, institutions="institution  plan\nalder  growth\nbirch  growth")
    remote = tmp_path / "remote"
    for folder in (remote, tmp_path / "drop"):
        folder.mkdir()
    file_of(remote / "a.csv", "ref amount\nr1 10.00")
    (remote / "a.csv.done").touch()
    table = f'[pickup.alder]\nfrom = "{remote.as_uri()}"\nafter = "move:done"\n'
    (tmp_path / "c.toml").write_text(table)

    def run(*words: str, config: bool = True) -> Any:
        named = ["--config", tmp_path / "c.toml"] if config else []
        return cardoffers(*words, *named, "--store", made.path)

    return run


@slow
def test_a_file_is_fetched_taken_in_and_moved_away(run: Any, tmp_path: Path) -> None:
    drop = str(tmp_path / "drop")
    dry = run("pickup", drop, "--dry-run", "--format", "json").document
    assert [("a.csv", "new")] == [(each["file"], each["state"]) for each in dry["files"]]
    told = run("pickup", drop, "--format", "json")
    assert (0, 1, 1, False) == (
        told.exit_code,
        told.document["places"],
        told.document["fetched"],
        told.document["dry_run"],
    )
    assert "alder\ta.csv\twaiting\t" in run("pickup", drop, "--format", "tsv").stdout
    assert 0 == run("nightly", drop, "--quiet", "--format", "json").exit_code
    assert ["a.csv", "a.csv.done"] == sorted(
        each.name for each in (tmp_path / "remote" / "done").iterdir()
    )
    assert [] == run("pickup", "--format", "json").document["files"]


def test_what_needs_somebody_is_told_where_no_table_is_shown(run: Any, tmp_path: Path) -> None:
    (tmp_path / "remote" / "link.csv").symlink_to("/etc/passwd")
    ended = run("pickup", str(tmp_path / "drop"), "--dry-run", "--format", "csv")
    assert 3 == ended.exit_code
    assert "alder/link.csv was left at its place: " in ended.stderr
    assert "    -> ask the sender" in ended.stderr


@pytest.mark.parametrize(
    ("exit_code", "said", "words"),
    [
        (13, "No place is configured", ["pickup", "DROP"]),
        (5, "no institution 'elder'", ["pickup", "DROP", "-i", "elder"]),
        (5, "files of birch", ["pickup", "DROP", "-i", "birch"]),
        (5, "no folder", ["pickup", "DROP/nowhere"]),
        (2, "no nightly run yet", ["pickup"]),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_do(
    run: Any, tmp_path: Path, exit_code: int, said: str, words: list[str]
) -> None:
    named = [word.replace("DROP", str(tmp_path / "drop")) for word in words]
    ended = run(*named, config=exit_code != 13)
    assert (exit_code, True) == (ended.exit_code, said in ended.stderr), ended.stderr
    assert "Hint: " in ended.stderr
