"""SFTP as it is spoken with servers that lie: each lie is found, and none costs memory or time."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.pickup import remote
from cardoffers_cli.pickup.piped import Piped
from cardoffers_cli.pickup.remote import Deadline, OddAnswer, Slow, wrong_name
from cardoffers_cli.pickup.ssh import Sftp, SftpFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

LIAR = Path(__file__).with_name("liar.py")


@contextmanager
def speaking(way: str, seconds: float = 20) -> Iterator[SftpFolder]:
    """Speak with a server that lies in a way."""
    with Piped([sys.executable, "-IS", str(LIAR), way], Deadline(seconds)) as pipe:
        yield SftpFolder(Sftp(pipe), "in")


def test_an_honest_server_is_understood() -> None:
    with speaking("honest") as folder:
        listing = folder.list()
        (file,) = listing.files.values()
        assert ("a.csv", 100_000, "100000:1", 1) == (
            file.name,
            file.size_bytes,
            file.stamp,
            file.modified_s,
        )
        assert [] == listing.strays
        assert file == folder.look("a.csv")
        assert b"x" * 100_000 == b"".join(folder.read(file))
        folder.remove("a.csv")


@pytest.mark.parametrize(
    "way", ["text", "huge", "empty", "cut", "other", "many", "nolist", "nothing", "gap", "old"]
)
def test_an_answer_that_is_none_is_found(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MOST_NAMES", 3000)
    with pytest.raises(OddAnswer) as odd, speaking(way) as folder:
        list(folder.read(folder.list().files["a.csv"]))
    assert odd.value.message.isprintable()


@pytest.mark.parametrize("way", ["silent", "trickle"])
def test_a_server_that_takes_its_time_is_left(way: str) -> None:
    began = time.monotonic()
    with pytest.raises(Slow), speaking(way, seconds=1.5) as folder:
        list(folder.read(folder.list().files["a.csv"]))
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(("way", "most"), [("endless", 11), ("less", 3), ("hole", 32 << 10)])
def test_no_more_is_read_than_was_listed_and_a_byte(way: str, most: int) -> None:
    with speaking(way) as folder:
        assert most == len(b"".join(folder.read(folder.list().files["a.csv"])))


def test_what_a_server_writes_elsewhere_is_bounded_and_never_told() -> None:
    with speaking("loud") as folder:
        assert ["a.csv"] == [*folder.list().files]


def test_names_that_lead_elsewhere_hide_or_come_twice_are_strays() -> None:
    with speaking("names") as folder:
        listing = folder.list()
    assert {"-rf.csv", "twice"} == listing.files.keys()
    said = {each.name: each.what for each in listing.strays}
    assert "a name that leads elsewhere" == said["/etc/passwd"]
    assert "a name with characters that act or hide" == said["a\\nb.csv"]
    assert "listed twice" == said["twice"]
    assert all(f"{name}{what}".isprintable() and len(name) <= 255 for name, what in said.items())


def test_what_a_server_says_nothing_of_is_a_stray() -> None:
    with speaking("unsaid") as folder:
        assert {} == folder.list().files


@pytest.mark.parametrize(
    ("is_wrong", "name"),
    [
        (False, "a.csv"),
        (False, "tägliche Käufe.csv"),
        (False, "x" * 255),
        (True, "x" * 256),
        (True, "é" * 128),
        (True, b"\xff"),
        (True, ""),
        (True, "a/b"),
        (True, "a\x00"),
        (True, "a\u200b"),
    ],
)
def test_a_name_is_one_name_that_can_be_read(is_wrong: bool, name: str | bytes) -> None:
    assert is_wrong == (wrong_name(name) is not None)
