"""What is at a URL is read as it is now, and what is out of reach is said to be."""

from __future__ import annotations

import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TYPE_CHECKING

import duckdb
import pytest
import s3fs
from fsspec.implementations.memory import MemoryFileSystem

from buckets import Files
from cardoffers_cli.archive.archive import archive_of
from cardoffers_cli.archive.buckets import Bucket
from cardoffers_cli.archive.export import export
from cardoffers_cli.kernel.words.errors import NetworkFailure, UsageError
from cardoffers_cli.storage.doctor import doctor, offending
from cardoffers_cli.storage.stores import info
from commands import cardoffers
from sizes import slow
from sparks import free_port
from work import file_of, found, kept, new_store, taken, tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from buckets import ObjectStore
    from cardoffers_cli.kernel.store.job import Job


@pytest.fixture
def made(tmp_path: Path) -> Job:
    """A store with one purchase."""
    made = new_store(tmp_path)
    tell(made, institutions="institution\nalder")
    taken(made, file_of(tmp_path / "tx.csv", "ref\nR1"))
    return made


@pytest.fixture
def exported(made: Job, bucket: str) -> Job:
    export(made, bucket)
    return made


@pytest.fixture
def forgetful(bucket: str) -> Iterator[str]:
    """A bucket, in a process that knows no server yet; it forgets the one that the test names."""
    s3fs.S3FileSystem.clear_instance_cache()
    yield bucket
    s3fs.S3FileSystem.clear_instance_cache()


def failure(made: Job, root: str) -> NetworkFailure:
    """Return why an export to a place fails; no purchase has moved."""
    before = kept(made, "runs")
    with pytest.raises(NetworkFailure) as caught:
        export(made, root)
    assert before == kept(made, "runs")
    assert "secret" not in str(vars(caught.value))
    return caught.value


# What is out of reach


@slow
def test_nobody_is_at_the_endpoint(exported: Job, bucket: str) -> None:
    words = ("status", "--store", exported.path, "--format", "json")
    nobody = f"http://127.0.0.1:{free_port()}"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("AWS_ENDPOINT_URL", nobody)
        patched.setenv("AWS_MAX_ATTEMPTS", "1")
        ended = cardoffers(*words, exit_code=15)
    assert "history_unreachable" == ended.error["code"]
    assert f"The history at {bucket}/purchases cannot be reached (" in ended.error["message"]
    assert 1 == len(ended.stderr.splitlines())


@slow
def test_an_endpoint_that_says_nothing_is_given_up(
    made: Job, forgetful: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=100) as silent:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        monkeypatch.setattr(s3fs.S3FileSystem, "read_timeout", 0.1)
        assert "history_unreachable" == failure(made, forgetful).code
        assert 2 == connections(silent)


def connections(server: socket.socket) -> int:
    """Return how often a server was connected to that never answered."""
    server.setblocking(False)
    for number in count():
        try:
            server.accept()[0].close()
        except BlockingIOError:
            return number
    raise AssertionError


@slow
@pytest.mark.usefixtures("bucket")
def test_there_is_no_such_bucket(made: Job) -> None:
    error = failure(made, "s3://nobody-made-this/history")
    assert "history_not_found" == error.code
    assert error.message.startswith("The history at s3://nobody-made-this/history")


@slow
def test_nobody_is_let_in(made: Job, forgetful: str, objects: ObjectStore) -> None:
    with objects.checking_rights():
        error = failure(made, forgetful)
    assert ("history_denied", True) == (error.code, forgetful in error.message)


@slow
def test_who_may_look_may_not_write(
    made: Job, forgetful: str, objects: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with objects.checking_rights() as keys:
        for name, value in keys.items():
            monkeypatch.setenv(name, value)
        assert "history_denied" == failure(made, forgetful).code
    assert [] == Files(forgetful).below()


@slow
def test_without_credentials_nothing_is_read(
    exported: Job, forgetful: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for look in (info, doctor):
        s3fs.S3FileSystem.clear_instance_cache()
        with pytest.raises(NetworkFailure) as caught:
            look(exported)
        assert ("history_denied", True) == (caught.value.code, forgetful in caught.value.message)


def test_what_goes_while_the_store_is_open(
    exported: Job, bucket: str, objects: ObjectStore
) -> None:
    [file] = Files(bucket).below("purchases")
    with exported.store(read_only=True) as store:
        objects.remove(f"{bucket}/{file}")
        with pytest.raises(NetworkFailure) as caught:
            offending(store, "transaction_refs_unique")
    assert "history_not_found" == caught.value.code


@pytest.mark.parametrize("missing", ["fsspec.core", "s3fs"])
def test_a_package_that_is_not_installed(
    made: Job, bucket: str, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = sys.modules["fsspec.registry"]._registry  # type: ignore[attr-defined]
    monkeypatch.delitem(known, "s3", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(UsageError) as caught:
        export(made, bucket)
    assert "extra_missing" == caught.value.code
    assert "pip install 'cardoffers-cli[s3]'" == caught.value.hint


# What is read


def parquet(folder: Path, number: int) -> bytes:
    """Return a file of one row."""
    file = folder / f"{number}.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"copy (select {number} as number) to '{file}'")
    return file.read_bytes()


@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_an_opening_reads_what_is_there_now(
    objects: ObjectStore, bucket: str, tmp_path: Path, scheme: str
) -> None:
    place = Bucket(bucket.replace("s3:", f"{scheme}:")) / "part"
    seen = []
    for number in (1, 1_000_000):
        objects.put(f"{bucket}/part/{number}.parquet", parquet(tmp_path, number))
        objects.put(f"{bucket}/part/same.parquet", parquet(tmp_path, number))
        with duckdb.connect() as connection:
            place.ready(connection)
            place.ready(connection)
            files = place.files()[str(place)]
            read = connection.execute("select number from read_parquet($1) order by all", [files])
            seen.append([row for (row,) in read.fetchall()])
    assert [[1, 1], [1, 1_000_000, 1_000_000]] == seen


def test_a_table_is_listed_once_however_many_parts_it_has(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        Files(bucket).write(f"purchases/run={number}/part.parquet", parquet(tmp_path, number))
    asked = []
    call = s3fs.S3FileSystem._call_s3

    async def noted(
        self: s3fs.S3FileSystem, method: str, *words: object, **named: object
    ) -> object:
        asked.append(method)
        return await call(self, method, *words, **named)

    monkeypatch.setattr(s3fs.S3FileSystem, "_call_s3", noted)
    place = Bucket(bucket) / "purchases"
    with duckdb.connect() as connection:
        place.ready(connection)
        files = [file for each in place.files().values() for file in each]
        connection.execute("select count(*) from read_parquet($1)", [files]).fetchall()
    assert [*(["get_object"] * 5), "list_objects_v2"] == sorted(asked)


class Objects(MemoryFileSystem):
    """Objects in the memory of this process, below URLs of whatever scheme they are made for."""

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        stripped: str = super()._strip_protocol(path.rpartition("://")[2])
        return stripped


@slow
@pytest.mark.parametrize("scheme", ["gs", "abfs"])
def test_another_kind_of_bucket_is_reached_by_what_implements_its_scheme(
    made: Job, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"protocol": (scheme, "other"), "store": {}, "pseudo_dirs": [""]}
    kind = type(scheme, (Objects,), own)
    known = sys.modules["fsspec.registry"]._registry  # type: ignore[attr-defined]
    monkeypatch.setitem(known, scheme, kind)
    before = kept(made, "runs", "history", "history_parts")
    root = f"{scheme}://bucket/history"
    assert root == export(made, f"{root}/")["root"]
    assert [("R1",)] == found(made, "select transaction_ref from purchases")
    assert before == kept(made, "runs", "history", "history_parts")
    assert ["purchases"] == [name.split("/")[3] for name in kind.store]
    with made.store() as store:
        archive = archive_of(store)
        assert archive
        assert [] == archive.faults()
        (archive.root / "purchases").remove()
        assert ([], {}) == (archive.root.names(), kind.store)


@slow
def test_who_has_no_history_at_a_url_loads_nothing_for_it(made: Job, tmp_path: Path) -> None:
    export(made, str(tmp_path / "history"))
    code = (
        "import sys; from work import job; from cardoffers_cli.night.status import status;"
        f" status(job({str(made.path)!r}))"
        "; print({'aiobotocore', 'fsspec', 's3fs'} & {*sys.modules})"
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd="tests/kit",
    )
    assert "set()" == told.stdout.strip()


@slow
def test_whichever_thread_reads(exported: Job) -> None:
    expected = info(exported)["history"]
    with ThreadPoolExecutor(1) as asking:
        assert [expected] * 2 == [asking.submit(info, exported).result()["history"] for _ in "ab"]


@slow
def test_nothing_is_told_but_what_was_asked(exported: Job, bucket: str) -> None:
    ended = cardoffers("store", "info", "--store", exported.path, "--format", "json")
    assert (bucket, "") == (ended.document["history"]["root"], ended.stderr)
    assert [("R1",)] == found(exported, "select transaction_ref from purchases")
