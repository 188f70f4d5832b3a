"""A file appears whole, or what was there before stays."""

import errno
import os
import stat
from collections.abc import Iterator
from decimal import Decimal
from io import BytesIO
from pathlib import Path

import polars as pl
import pytest

from cardoffers_cli.kernel.sheets.exports import csv_lines, replacing, write_frame, write_parquet
from cardoffers_cli.kernel.sheets.sheets import Column, Sheet
from cardoffers_cli.kernel.sheets.workbooks import write_xlsx
from cardoffers_cli.kernel.words.errors import Refused, UsageError


def test_a_file_appears_when_it_is_done(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    with replacing(path) as out:
        out.write(b"new")
        assert not path.exists()
    assert ([path], b"new") == (list(tmp_path.iterdir()), path.read_bytes())


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    def fail_halfway() -> None:
        with replacing(path) as out:
            out.write(b"half")
            raise error

    path = tmp_path / "out.csv"
    path.write_bytes(b"old")
    with pytest.raises(error):
        fail_halfway()
    assert ([path], b"old") == (list(tmp_path.iterdir()), path.read_bytes())


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with (
            pytest.raises(OSError, match="File too large") as failed,
            replacing(tmp_path / "out.csv") as out,
        ):
            out.write(b"x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (errno.EFBIG, []) == (failed.value.errno, list(tmp_path.iterdir()))


@pytest.mark.parametrize(
    ("expected", "mode", "umask"),
    [
        (0o600, 0o600, 0o000),
        (0o640, 0o640, 0o077),
        (0o644, None, 0o022),
        (0o600, None, 0o077),
        (0o664, None, 0o002),
    ],
)
def test_the_mode_is_the_one_given_or_what_the_umask_leaves(
    tmp_path: Path, expected: int, mode: int | None, umask: int
) -> None:
    path = tmp_path / "out.csv"
    path.touch(0o666)
    before = os.umask(umask)
    try:
        with replacing(path, mode=mode):
            (draft,) = tmp_path.glob(".*.part")
            assert expected == stat.S_IMODE(draft.stat().st_mode)
    finally:
        os.umask(before)
    assert expected == stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_its_owners_only_if_nothing_is_said(tmp_path: Path) -> None:
    with replacing(tmp_path / "out.csv"):
        pass
    assert 0o600 == stat.S_IMODE((tmp_path / "out.csv").stat().st_mode)


def test_a_link_is_followed(tmp_path: Path) -> None:
    link, path = tmp_path / "latest.csv", tmp_path / "march.csv"
    link.symlink_to(path)
    with replacing(link) as out:
        out.write(b"rows")
    assert link.is_symlink()
    assert b"rows" == path.read_bytes()


def test_a_device_is_written_to_as_it_is() -> None:
    with replacing(Path(os.devnull)) as out:
        out.write(b"rows")
    assert Path(os.devnull).is_char_device()


def test_a_leftover_of_an_earlier_run_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / f".out.csv.{os.getpid()}.part").write_bytes(b"leftover")
    with replacing(tmp_path / "out.csv") as out:
        out.write(b"rows")
    assert b"rows" == (tmp_path / "out.csv").read_bytes()
    assert 1 == len(list(tmp_path.iterdir()))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"), replacing(tmp_path):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_closed_folder_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(Refused, match="not permitted"), replacing(tmp_path / "out.csv"):
        pass


FULL = Path("/dev/full")
A_SHEET = Sheet("one", (Column("n", kind="integer"),), [{"n": 1}])


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "write",
    [
        lambda out: write_parquet(A_SHEET, out),
        lambda out: write_xlsx([A_SHEET], out),
        lambda out: write_frame(pl.DataFrame({"n": [1]}), out),
        lambda out: out.writelines(line.encode() for line in csv_lines(A_SHEET)),
    ],
    ids=["parquet", "xlsx", "frame", "csv"],
)
def test_a_full_disk_is_an_error_of_the_system_whoever_writes(write: object) -> None:
    def written() -> None:
        with replacing(FULL) as out:
            write(out)  # type: ignore[operator]

    with pytest.raises(OSError, match="No space left") as caught:
        written()
    assert errno.ENOSPC == caught.value.errno


def test_a_frame_is_written_whole(tmp_path: Path) -> None:
    numbers = pl.DataFrame({"n": range(120_000)})
    for frame in (numbers, numbers.clear()):
        with replacing(tmp_path / "out.csv") as out:
            write_frame(frame, out)
        assert frame.write_csv() == (tmp_path / "out.csv").read_text()


def test_parquet_of_many_rows_and_of_none(tmp_path: Path) -> None:
    columns = (Column("n", kind="integer"), Column("amount", kind="money"))
    for count in (0, 1, 120_000):
        rows = ({"n": n, "amount": Decimal(n)} for n in range(count))
        with replacing(tmp_path / "out.parquet") as out:
            write_parquet(Sheet("many", columns, rows), out)
        frame = pl.read_parquet(tmp_path / "out.parquet")
        assert (count, pl.Decimal(18, 4)) == (len(frame), frame.schema["amount"])


def test_parquet_is_written_as_its_rows_come() -> None:
    """However many there are, some of them are in memory."""
    out, written = BytesIO(), list[int]()

    def rows() -> Iterator[dict[str, int]]:
        for n in range(120_000):
            if n % 50_000 == 0:
                written.append(out.tell())
            yield {"n": n}

    write_parquet(Sheet("many", (Column("n", kind="integer"),), rows()), out)
    assert sorted({*written, out.tell()}) == [*written, out.tell()]
    assert list(range(120_000)) == pl.read_parquet(out.getvalue())["n"].to_list()
