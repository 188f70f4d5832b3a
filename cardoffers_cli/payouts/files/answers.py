"""Open a file of a bank in whichever form it is, which its content says and not its name."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cardoffers_cli.kernel.disk.inputs import open_input
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.payouts.files.entries import read_listed, refused
from cardoffers_cli.payouts.files.messages import read_messages
from cardoffers_cli.payouts.files.nacha import read_returns
from cardoffers_cli.payouts.files.statements import read_bai2, read_mt940

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.payouts.files.entries import Said

Form = Literal["xml", "nacha", "csv", "mt940", "bai2"]

_READERS = {
    "xml": read_messages,
    "nacha": read_returns,
    "csv": read_listed,
    "mt940": read_mt940,
    "bai2": read_bai2,
}
_HEAD = 512
_XML = (b"<", b"\xff\xfe<", b"\xfe\xff\x00<")


@dataclass(frozen=True)
class BankFile:
    """A file of a bank: its form, the digest of its bytes, and what it says, read once."""

    name: str
    form: Form
    sha256: str
    said: Iterator[Said]


@contextmanager
def open_bank_file(path: Path) -> Iterator[BankFile]:
    """Open a file; raise `FileUnusable`, here or while it is read, with its name in front."""
    try:
        with open_input(path) as file:
            head = file.read(_HEAD)
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            form = _form(head)
            yield BankFile(path.name, form, digest, _READERS[form](file))
    except FileUnusable as error:
        raise error.of(path.name) from None
    except (FileNotFoundError, IsADirectoryError):
        raise FileUnusable.from_table("payouts", "file_missing", path=path) from None


def _form(head: bytes) -> Form:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        raise refused("file_empty", "The file is empty.", "Fetch it again from the bank.")
    if text.startswith(_XML):
        return "xml"
    if text.startswith(b"01,"):
        return "bai2"
    if text.startswith((b":20:", b"{1:")) or b"\n:20:" in text:
        return "mt940"
    return "nacha" if text.startswith((b"101", b"1 01")) else "csv"
