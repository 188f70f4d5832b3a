"""What a night looks at before it begins: its disks, with real ones where one may be mounted."""

from __future__ import annotations

import re
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.domain.errors import NoSpace, NotFound, Refused
from cardoffers_cli.jobs.night.order import Order
from cardoffers_cli.jobs.night.run import run_night
from work import new_store, tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.jobs.job import Job

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


def test_a_night_that_would_not_fit_names_the_bytes_and_does_not_begin(tmp_path: Path) -> None:
    made = a_store(tmp_path)
    with disk(tmp_path / "drop", f"size={MIB}") as drop:
        (drop / "alder").mkdir()
        (drop / "alder" / "tx.csv").write_bytes(b"x" * (3 * MIB // 4))
        (drop / "alder" / "tx.csv.done").touch()
        with pytest.raises(NoSpace) as caught:
            run_night(made, Order(drop=drop))
    needed, free = (caught.value.details[name] for name in ("needed_bytes", "free_bytes"))
    assert 3 * MIB // 4 == needed > free
    assert [needed, free] == [
        int(found.replace(",", "")) for found in re.findall(r"[0-9,]{4,}", caught.value.message)[:2]
    ]
    assert 0 == runs(made)


def test_a_disk_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    made = a_store(tmp_path)
    with disk(tmp_path / "drop", "ro") as drop, pytest.raises(Refused) as caught:
        run_night(made, Order(drop=drop))
    assert "read_only" == caught.value.code
    assert 0 == runs(made)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"There is no folder .*/nowhere"):
        run_night(a_store(tmp_path), Order(drop=tmp_path / "nowhere"))
