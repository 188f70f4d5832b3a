"""What lies in a drop folder: what is ready, what waits, and what is none of a night's business."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.drop.drop import clear_drafts, held_open, look, marker_names, ready

if TYPE_CHECKING:
    from pathlib import Path

NOW_S = 2_000_000_000.0
QUIET_S = 120


def put(drop: Path, *names: str, age_s: float = 600) -> None:
    for name in names:
        path = drop / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        os.utime(path, (NOW_S - age_s, NOW_S - age_s))


def seen(drop: Path, by_marker: str = "") -> tuple[list[str], dict[str, str], dict[str, str]]:
    """Return the files that are ready, why others wait, and the codes of the strays."""
    found = look(drop)
    taken, left = ready(
        found, look(drop), now_s=NOW_S, quiet_s=QUIET_S, by_marker=by_marker.split()
    )
    return (
        [f"{file.institution}/{file.name}" for file in taken],
        {f"{each.file.institution}/{each.file.name}": each.why for each in left},
        {stray.name: stray.code for stray in found.strays},
    )


@pytest.mark.parametrize(
    ("name", "age_s", "beside", "why_not"),
    [
        ("tx.csv", 121, [], None),
        ("tx.csv", 119, [], "young"),
        ("tx.csv", 1, [], "young"),
        ("tx.csv", -60, [], None),
        ("tx.csv", 1, ["tx.csv.done"], None),
        ("tx.csv", 1, ["tx.done"], None),
        ("tx.csv", 1, ["tx.csv.manifest.json"], None),
        ("tx.csv", 1, ["other.csv.done"], "young"),
        ("tx.csv.gz", 121, [], None),
        ("anything", 121, [], None),
    ],
)
def test_a_file_is_ready_when_it_is_still_or_marked(
    tmp_path: Path, name: str, age_s: float, beside: list[str], why_not: str | None
) -> None:
    put(tmp_path, f"alder/{name}", age_s=age_s)
    put(tmp_path, *(f"alder/{marker}" for marker in beside))
    file = f"alder/{name}"
    expected = ([], {file: why_not}, {}) if why_not else ([file], {}, {})
    assert expected == seen(tmp_path)


@pytest.mark.parametrize(
    ("age_s", "beside", "why_not"),
    [(600, [], "marker"), (1, [], "young"), (1, ["tx.csv.done"], None), (600, ["tx.done"], None)],
)
def test_some_institutions_files_need_a_marker(
    tmp_path: Path, age_s: float, beside: list[str], why_not: str | None
) -> None:
    put(tmp_path, "alder/tx.csv", age_s=age_s)
    put(tmp_path, "birch/tx.csv", *(f"alder/{marker}" for marker in beside))
    taken, left, _ = seen(tmp_path, by_marker="alder")
    assert why_not == left.get("alder/tx.csv")
    assert "birch/tx.csv" in taken


def test_a_file_that_grows_between_two_looks_is_left(tmp_path: Path) -> None:
    put(tmp_path, "alder/tx.csv")
    first = look(tmp_path)
    (tmp_path / "alder" / "tx.csv").write_text("longer than it was")
    taken, left = ready(first, look(tmp_path), now_s=NOW_S, quiet_s=QUIET_S)
    assert ([], ["tx.csv"]) == (taken, [each.file.name for each in left])


def test_a_file_that_is_another_one_at_the_second_look_is_left(tmp_path: Path) -> None:
    put(tmp_path, "alder/tx.csv", "alder/.next")
    first = look(tmp_path)
    (tmp_path / "alder" / ".next").rename(tmp_path / "alder" / "tx.csv")
    os.utime(tmp_path / "alder" / "tx.csv", (NOW_S - 600, NOW_S - 600))
    taken, left = ready(first, look(tmp_path), now_s=NOW_S, quiet_s=QUIET_S)
    assert ([], ["tx.csv"]) == (taken, [each.file.name for each in left])


def test_a_file_that_is_open_for_writing_is_held(tmp_path: Path) -> None:
    put(tmp_path, "alder/open.csv", "alder/read.csv", "alder/closed.csv")
    files = look(tmp_path).files
    with (tmp_path / "alder/open.csv").open("a"), (tmp_path / "alder/read.csv").open():
        assert ["open.csv"] == [file.name for file in held_open(tmp_path, files)]
    assert set() == held_open(tmp_path, files)


def test_who_writes_is_found_among_the_processes_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the kernel's word, which it does not give to everybody and on every disk."""
    monkeypatch.setattr("cardoffers_cli.drop.drop.is_held_open", lambda _opened: None)
    test_a_file_that_is_open_for_writing_is_held(tmp_path)


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
    assert ([], {}, {"stray.csv": "stray_file"}) == seen(tmp_path)


def test_only_plain_files_of_one_name_are_input(tmp_path: Path) -> None:
    put(tmp_path, "alder/good.csv", "alder/linked.csv", "alder/folder.csv/inside.csv", "secret")
    alder = tmp_path / "alder"
    (alder / "link.csv").symlink_to(tmp_path / "secret")
    (alder / "dangling.csv").symlink_to("nowhere")
    (alder / "good.csv.done").symlink_to(tmp_path / "secret")
    (alder / "done").symlink_to(tmp_path)
    (alder / "other.csv").hardlink_to(alder / "linked.csv")
    os.mkfifo(alder / "fifo.csv")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(alder / "socket.csv"))
    (tmp_path / "birch").symlink_to(alder)
    (alder / os.fsdecode(b"latin-\xe9.csv")).touch()
    taken, left, strays = seen(tmp_path)
    assert (["alder/good.csv"], {}) == (taken, left)
    others = "dangling.csv done fifo.csv folder.csv good.csv.done link.csv socket.csv".split()
    assert {
        "birch": "stray_file",
        "secret": "stray_file",
        "alder/latin-\\udce9.csv": "stray_file",
        "alder/linked.csv": "file_linked",
        "alder/other.csv": "file_linked",
        **{f"alder/{name}": "stray_file" for name in others},
    } == strays


def test_a_marker_that_is_a_link_marks_nothing(tmp_path: Path) -> None:
    put(tmp_path, "alder/tx.csv", "alder/.real", age_s=1)
    (tmp_path / "alder" / "tx.csv.done").symlink_to(".real")
    taken, left, _ = seen(tmp_path)
    assert ([], {"alder/tx.csv": "young"}) == (taken, left)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_the_user_of_another_institution_is_left_alone(tmp_path: Path) -> None:
    put(tmp_path, "alder/own.csv", "alder/theirs.csv", "alder/roots.csv", "birch/tx.csv")
    for name, owner in (
        ("alder", 5001),
        ("alder/own.csv", 5001),
        ("birch", 5002),
        ("birch/tx.csv", 5002),
        ("alder/theirs.csv", 5002),
    ):
        os.chown(tmp_path / name, owner, owner)
    taken, _, strays = seen(tmp_path)
    assert ["alder/own.csv", "alder/roots.csv", "birch/tx.csv"] == taken
    assert {"alder/theirs.csv": "file_of_another"} == strays


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_second_name_that_somebody_else_made_takes_nothing_away(tmp_path: Path) -> None:
    put(tmp_path, "alder/.keep", "birch/tx.csv")
    (tmp_path / "alder" / "theirs.csv").hardlink_to(tmp_path / "birch" / "tx.csv")
    for name, owner in (("alder", 5001), ("birch", 5002), ("birch/tx.csv", 5002)):
        os.chown(tmp_path / name, owner, owner)
    taken, _, strays = seen(tmp_path)
    assert (["birch/tx.csv"], {"alder/theirs.csv": "file_linked"}) == (taken, strays)


def test_the_order_is_by_institution_and_name(tmp_path: Path) -> None:
    names = ["alder/a.csv", "alder/b.csv", "birch/a.csv"]
    put(tmp_path, *reversed(names))
    assert names == seen(tmp_path)[0]


@pytest.mark.parametrize(
    ("name", "markers"),
    [
        ("tx.csv", "tx.csv.done tx.csv.manifest.json tx.done tx.manifest.json"),
        ("tx", "tx.done tx.manifest.json"),
    ],
)
def test_a_marker_has_the_name_with_or_without_its_suffix(name: str, markers: str) -> None:
    assert markers.split() == list(marker_names(name))


def test_only_drafts_are_cleared(tmp_path: Path) -> None:
    put(tmp_path, ".tx.csv.1.part", "tx.csv", ".kept")
    clear_drafts(tmp_path)
    clear_drafts(tmp_path / "missing")
    assert {"tx.csv", ".kept"} == {path.name for path in tmp_path.iterdir()}
