"""What a night looks at before it begins: its disks, with real ones where one may be mounted."""

from __future__ import annotations

import re
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.words.errors import ConfigurationError, NoSpace, NotFound, Refused
from cardoffers_cli.night.options import NightOptions
from cardoffers_cli.night.run import run_night
from sizes import slow
from work import job, new_store, tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

MIB = 1 << 20


@contextmanager
def disk(folder: Path, options: str) -> Iterator[Path]:
    """Mount a small disk for the length of the block."""
    folder.mkdir()
    words = ["/bin/mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("no disk may be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["/bin/umount", "--lazy", str(folder)], check=True)


def a_store(folder: Path) -> Job:
    made = new_store(folder)
    tell(made, institutions="institution\nalder")
    return made


def runs(made: Job) -> int:
    with made.store(read_only=True) as store:
        return len(store.connection.execute("from runs").fetchall())


def bytes_in(message: str) -> list[int]:
    return [int(found.replace(",", "")) for found in re.findall(r"[0-9,]{4,}", message)[:2]]


def test_a_night_that_would_not_fit_names_the_bytes_and_does_not_begin(tmp_path: Path) -> None:
    with disk(tmp_path / "disk", f"size={24 * MIB}") as small:
        made = a_store(small)
        (tmp_path / "drop").mkdir()
        (small / "filler").write_bytes(bytes(12 * MIB))
        with pytest.raises(NoSpace) as caught:
            run_night(made, NightOptions(drop=tmp_path / "drop"))
        needed, free = (caught.value.details[name] for name in ("needed_bytes", "free_bytes"))
        assert 16 * MIB + made.path.stat().st_size == needed > free
        assert [needed, free] == bytes_in(caught.value.message)
        assert 0 == runs(made)


@slow
def test_a_file_that_does_not_fit_waits_and_stops_no_other(tmp_path: Path) -> None:
    """It takes the room of the file and, if all of its rows are rejected, as much again."""
    made = a_store(tmp_path)
    with disk(tmp_path / "processed", f"size={MIB},mode=700"):
        alder = tmp_path / "drop" / "alder"
        alder.mkdir(parents=True)
        for name, size in (("a-large.csv", 3 * MIB // 4), ("b-small.csv", 1000)):
            (alder / name).write_bytes(b"x" * size)
            (alder / f"{name}.done").touch()
        result = run_night(made, NightOptions(drop=tmp_path / "drop"))
    (told,) = [each for each in result["findings"] if each["code"] == "file_without_room"]
    assert ("error", "alder/a-large.csv") == (told["level"], told["file"])
    needed, free = bytes_in(told["message"])
    assert 2 * (3 * MIB // 4 + 1000) == needed > free
    assert ["alder/b-small.csv"] == [each["file"] for each in result["imports"]]
    assert ["a-large.csv", "a-large.csv.done"] == sorted(path.name for path in alder.iterdir())


@pytest.mark.parametrize(
    "where", ["drop/alder/processed", "drop/alder", "drop/alder/../birch", "drop/processed"]
)
def test_what_was_taken_is_not_kept_where_institutions_write(tmp_path: Path, where: str) -> None:
    made = a_store(tmp_path)
    (tmp_path / "drop" / "alder").mkdir(parents=True)
    inside = job(made.path, processed_dir=tmp_path / where)
    with pytest.raises(ConfigurationError) as caught:
        run_night(inside, NightOptions(drop=tmp_path / "drop"))
    assert "processed_in_drop" == caught.value.code
    assert 0 == runs(made)


def test_a_processed_folder_of_others_is_refused(tmp_path: Path) -> None:
    made = a_store(tmp_path)
    (tmp_path / "drop").mkdir()
    (tmp_path / "processed").mkdir()
    (tmp_path / "processed").chmod(0o777)
    with pytest.raises(ConfigurationError, match="may be written to by other users") as caught:
        run_night(made, NightOptions(drop=tmp_path / "drop"))
    assert f"chmod go-w {tmp_path / 'processed'}" in str(caught.value.hint)
    assert 0 == runs(made)


def test_a_disk_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    made = a_store(tmp_path)
    with disk(tmp_path / "drop", "ro") as drop, pytest.raises(Refused) as caught:
        run_night(made, NightOptions(drop=drop))
    assert "read_only" == caught.value.code
    assert 0 == runs(made)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"There is no folder .*/nowhere"):
        run_night(a_store(tmp_path), NightOptions(drop=tmp_path / "nowhere"))
