"""Folders and buckets through fsspec: the same questions, the same answers, and a deadline."""

from __future__ import annotations

import os
import time
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.words.errors import NetworkFailure, UsageError
from cardoffers_cli.kernel.words.pickups import PickupPlace
from cardoffers_cli.pickup.objects import object_folder, within
from cardoffers_cli.pickup.remote import Deadline, RemoteRefusal, Slow
from sizes import at_the_gate

if TYPE_CHECKING:
    from pathlib import Path


def opened(url: str, seconds: float = 20) -> Any:
    return object_folder(PickupPlace.model_validate({"from": url}), Deadline(seconds))


def test_a_folder_is_listed_read_and_tidied(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"abc" * 1000)
    (tmp_path / "done").mkdir()
    (tmp_path / "done" / "a.csv").touch()
    with opened(tmp_path.as_uri()) as folder:
        (file,) = folder.list().files.values()
        assert ("a.csv", 3000) == (file.name, file.size_bytes)
        assert file == folder.look("a.csv")
        assert b"abc" * 1000 == b"".join(folder.read(file))
        folder.move("a.csv", "done", ["a.csv", "a-2.csv"])
        assert folder.look("a.csv") is None
    assert ["a-2.csv", "a.csv"] == sorted(each.name for each in (tmp_path / "done").iterdir())


def test_a_link_and_a_fifo_are_strays_and_a_growing_file_is_read_to_its_size(
    tmp_path: Path,
) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "a.csv").write_bytes(b"12345")
    with opened(tmp_path.as_uri()) as folder:
        listing = folder.list()
        assert {"link", "fifo"} == {each.name for each in listing.strays}
        (tmp_path / "a.csv").write_bytes(b"12345678")
        assert 6 == len(b"".join(folder.read(listing.files["a.csv"])))
        assert folder.look("a.csv") != listing.files["a.csv"]


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(RemoteRefusal), opened(f"{tmp_path.as_uri()}/nowhere") as folder:
        folder.list()


def test_a_call_that_does_not_return_is_left_behind() -> None:
    began = time.monotonic()
    with pytest.raises(Slow):
        within(Deadline(0.2), Event().wait)
    assert time.monotonic() - began < 5


def test_what_a_package_raises_is_not_passed_on() -> None:
    def fails() -> None:
        raise ValueError("token=secret")

    with pytest.raises(NetworkFailure) as raised:
        within(Deadline(5), fails)
    assert "secret" not in f"{raised.value.message} {raised.value.__cause__}"


def test_a_missing_package_is_named() -> None:
    with pytest.raises(UsageError) as refused, opened("gs://bucket/in"):
        pass
    assert "pip install gcsfs" == refused.value.hint


@at_the_gate
def test_a_bucket_is_listed_read_and_tidied(monkeypatch: pytest.MonkeyPatch) -> None:
    from buckets import object_store  # noqa: PLC0415  heavy

    with object_store() as store:
        for name, value in store.environment.items():
            monkeypatch.setenv(name, value)
        url = f"{store.new_bucket()}/in"
        store.put(f"{url}/a.csv", b"abc")
        with opened(url) as folder:
            (file,) = folder.list().files.values()
            assert file == folder.look("a.csv")
            assert b"abc" == b"".join(folder.read(file))
            folder.move("a.csv", "done", ["a.csv"])
            assert {} == folder.list().files
            store.put(f"{url}/b.csv", b"abcd")
            assert ["b.csv"] == [*folder.list().files]
            folder.remove("b.csv")
            assert {} == folder.list().files
