from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.domain.errors import FileUnusable
from cardoffers_cli.files.drop import (
    Manifest,
    clear_drafts,
    free_name,
    look,
    move,
    read_manifest,
    ready,
)

if TYPE_CHECKING:
    from pathlib import Path

NOW_S = 2_000_000_000.0


def put(drop: Path, *names: str, age_s: float = 60) -> None:
    for name in names:
        path = drop / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        os.utime(path, (NOW_S - age_s, NOW_S - age_s))


def seen(drop: Path) -> tuple[list[str], list[str], list[str]]:
    """Return the files that are ready, those that are not, and the strays."""
    found = look(drop)
    taken, left = ready(found, look(drop), now_s=NOW_S)
    shown = [[f"{file.institution}/{file.name}" for file in files] for files in (taken, left)]
    return shown[0], shown[1], list(found.strays)


@pytest.mark.parametrize(
    ("name", "age_s", "beside", "is_ready"),
    [
        ("tx.csv", 60, [], True),
        ("tx.csv", 1, [], False),
        ("tx.csv", -60, [], True),
        ("tx.csv", 1, ["tx.csv.done"], True),
        ("tx.csv", 1, ["tx.done"], True),
        ("tx.csv", 1, ["tx.csv.manifest.json"], True),
        ("tx.csv", 1, ["other.csv.done"], False),
        ("tx.csv.gz", 60, [], True),
        ("anything", 60, [], True),
    ],
)
def test_a_file_is_ready_when_it_is_still_or_marked(
    tmp_path: Path, name: str, age_s: float, beside: list[str], is_ready: bool
) -> None:
    put(tmp_path, f"alder/{name}", age_s=age_s)
    put(tmp_path, *(f"alder/{marker}" for marker in beside))
    taken, left, strays = seen(tmp_path)
    assert ([f"alder/{name}"], [])[:: 1 if is_ready else -1] == (taken, left)
    assert [] == strays


def test_a_file_that_grows_between_two_looks_is_left(tmp_path: Path) -> None:
    put(tmp_path, "alder/tx.csv")
    first = look(tmp_path)
    (tmp_path / "alder" / "tx.csv").write_text("longer than it was")
    taken, left = ready(first, look(tmp_path), now_s=NOW_S)
    assert ([], ["tx.csv"]) == (taken, [file.name for file in left])


def test_what_is_no_input_is_left_alone(tmp_path: Path) -> None:
    put(
        tmp_path,
        *(
            "alder/.hidden",
            "alder/tx.csv.part",
            "alder/a.csv.errors.csv",
            "alder/a.csv.rejected.csv",
        ),
        *("alder/done/tx.csv", "alder/failed/tx.csv", "alder/tx.done", "stray.csv", ".hidden"),
    )
    (tmp_path / "alder" / "link.csv").symlink_to(tmp_path / "stray.csv")
    (tmp_path / "birch").symlink_to(tmp_path / "alder")
    assert ([], [], ["alder/link.csv", "birch", "stray.csv"]) == seen(tmp_path)


def test_the_order_is_by_institution_and_name(tmp_path: Path) -> None:
    names = ["alder/a.csv", "alder/b.csv", "birch/a.csv"]
    put(tmp_path, *reversed(names))
    assert names == seen(tmp_path)[0]


def test_a_file_is_moved_and_never_over_another(tmp_path: Path) -> None:
    done = tmp_path / "done"
    for text in ("first", "second", "third"):
        (tmp_path / "tx.csv.gz").write_text(text)
        move(tmp_path / "tx.csv.gz", done, free_name(done, "tx.csv.gz", set()))
    kept = {path.name: path.read_text() for path in done.iterdir()}
    assert {"tx.csv.gz": "first", "tx-2.csv.gz": "second", "tx-3.csv.gz": "third"} == kept
    assert not (tmp_path / "tx.csv.gz").exists()


def test_a_move_that_was_broken_off_is_finished(tmp_path: Path) -> None:
    put(tmp_path, "tx.csv")
    (tmp_path / "done").mkdir()
    os.link(tmp_path / "tx.csv", tmp_path / "done" / "tx.csv")
    assert "tx.csv" == move(tmp_path / "tx.csv", tmp_path / "done", "tx.csv")
    assert ["done"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", Manifest()),
        ('{"sha256": "AB", "rows": 3}', Manifest(sha256="ab", rows=3)),
    ],
)
def test_a_manifest_is_read(tmp_path: Path, text: str, expected: Manifest) -> None:
    (tmp_path / "tx.csv.manifest.json").write_text(text)
    assert expected == read_manifest(tmp_path / "tx.csv")


@pytest.mark.parametrize("amount", ["12.50", '"12.50"'])
def test_the_amount_of_a_manifest_is_exact(tmp_path: Path, amount: str) -> None:
    (tmp_path / "tx.manifest.json").write_text(f'{{"amount_sum": {amount}}}')
    manifest = read_manifest(tmp_path / "tx.csv")
    assert manifest
    assert "12.50" == str(manifest.amount_sum)


@pytest.mark.parametrize(
    "text", ["", "[]", "nonsense", '{"rows": 1.5}', '{"rows": "1"}', '{"amount_sum": "much"}']
)
def test_a_manifest_that_says_nothing_clear_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "tx.csv.manifest.json").write_text(text)
    with pytest.raises(FileUnusable) as refused:
        read_manifest(tmp_path / "tx.csv")
    assert "manifest_invalid" == refused.value.code


def test_only_drafts_are_cleared(tmp_path: Path) -> None:
    put(tmp_path, ".tx.csv.1.part", "tx.csv", ".kept")
    clear_drafts(tmp_path)
    clear_drafts(tmp_path / "missing")
    assert {"tx.csv", ".kept"} == {path.name for path in tmp_path.iterdir()}
