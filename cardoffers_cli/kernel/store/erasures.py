"""The list of erasures, `erasures` in the folder of a store, and the key by which it names people.

Its first line has the key, drawn once. Each other line says of which institution a cardholder was
erased, by the keyed hash of the token (HMAC-SHA256), never by the token. It is its owner's only.
The list is written before the store is: a restore of an older backup, or a crash, is so made good
(rules.md#erasure). The same file is in each point of the store.
"""

from __future__ import annotations

import hmac
import json
import os
import stat
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from cardoffers_cli.kernel.store import layout
from cardoffers_cli.kernel.words.errors import Refused, StoreDamaged
from cardoffers_cli.kernel.words.moments import format_moment, parse_moment
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

FORM = "cardoffers erasures 1"
"""By which such a file is known to be one of ours."""
KEY_BYTES = 32
"""How long the key is."""
_BLOCK_BYTES = 64
_OTHERS = 0o077
_SEPARATOR = "\x1f"


class ListedErasure(Record):
    """One cardholder who was erased; grain: one per erasure. `erased_at` is naive UTC."""

    erasure_id: UUID
    institution_id: UUID
    token_hash: str
    reason: str
    erased_at: datetime
    actor: str


@dataclass(frozen=True, kw_only=True)
class ErasureList:
    """A list of erasures and its key, None while nobody was erased.

    Of a store that was restored without its newest list, erasures after `unknown_since` may be
    missing, until somebody answers.
    """

    key: bytes | None = field(default=None, repr=False)
    unknown_since: datetime | None = None
    erasures: tuple[ListedErasure, ...] = ()

    def joined(self, other: ErasureList) -> ErasureList:
        """Return this list with the erasures of another; raise `Refused` where the keys differ."""
        if self.key and other.key and self.key != other.key:
            raise Refused.from_table("kernel/store", "erasures_of_other_store")
        more = (erasure for erasure in other.erasures if erasure not in self.erasures)
        return replace(self, key=self.key or other.key, erasures=(*self.erasures, *more))


def erasure_id(institution_id: UUID, token_hash: str, number: int) -> UUID:
    """Return the id of an erasure: `number` counts those of one token, which may come again."""
    return uuid5(institution_id, f"erasure {token_hash} {number}")


def token_hash(key: bytes, institution_id: UUID, token: str) -> str:
    """Return the keyed hash of a token, as `privacy/erasures:erasing` computes it."""
    message = f"{institution_id}{_SEPARATOR}{token}".encode()
    return hmac.new(key, message, sha256).hexdigest()


def pads_of(key: bytes) -> dict[str, bytes]:
    """Return the two blocks that a key goes into an HMAC by, for who computes it in SQL."""
    block = key.ljust(_BLOCK_BYTES, b"\0")
    return {"inner": bytes(b ^ 0x36 for b in block), "outer": bytes(b ^ 0x5C for b in block)}


def read_list(path: Path) -> ErasureList:
    """Return the list in a file, of a store or of a point; an empty one where there is none.

    Raises `Refused` where others may read it, and `StoreDamaged` where it is not what was written.
    """
    try:
        # It does not wait for who might write into a pipe.
        with open(path, "rb", opener=lambda at, flags: os.open(at, flags | os.O_NONBLOCK)) as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & _OTHERS:
                raise Refused.from_table("kernel/store", "erasures_open", path=path)
            content = file.read()
    except FileNotFoundError:
        return ErasureList()
    except OSError:
        content = b""
    return list_in(content, path)


def list_in(content: bytes, path: object = "The list of erasures") -> ErasureList:
    """Return the list in the bytes of a file; raise `StoreDamaged` where it is none of ours."""
    try:
        head, *lines = content.decode("utf-8").splitlines()
        document = json.loads(head)
        key, since = bytes.fromhex(document["key"]), document["unknown_since"]
        if document["form"] == FORM and len(key) in {0, KEY_BYTES}:
            return ErasureList(
                key=key or None,
                unknown_since=parse_moment(since) if since else None,
                erasures=tuple(map(_parsed, lines)),
            )
    except (ValueError, TypeError, KeyError):
        pass
    raise StoreDamaged.from_table("kernel/store", "erasures_damaged", path=path)


def own_list(store: Path) -> ErasureList:
    """Return the list of a store."""
    return read_list(layout.erasures_path(store))


def keep(store: Path, erasures: ErasureList) -> None:
    """Make this the list of a store, on the disk before this returns."""
    if erasures != own_list(store):
        layout.make_folder(store)
        _write(layout.erasures_path(store), _text(erasures), layout.draft_path(store, "erased"))


def add(store: Path, erasure: ListedErasure) -> None:
    """Put an erasure on the list of a store, on the disk before this returns; once."""
    current = own_list(store)
    if erasure.erasure_id not in {entry.erasure_id for entry in current.erasures}:
        keep(store, replace(current, erasures=(*current.erasures, erasure)))


def mark(store: Path) -> None:
    """Mark, on the disk, that freed blocks of the store's file may hold tokens that were erased."""
    layout.make_folder(store)
    _write(layout.unwritten_path(store), "", layout.draft_path(store, "erased"))


def unmark(store: Path) -> None:
    """Take the mark away: the file was written anew."""
    path = layout.unwritten_path(store)
    path.unlink(missing_ok=True)
    layout.sync_folder(path.parent)  # or a loss of power would bring it back


def is_marked(store: Path) -> bool:
    """Say whether somebody was erased since the store's file was written anew."""
    return layout.unwritten_path(store).exists()


def _write(path: Path, text: str, draft: Path) -> None:
    try:
        with layout.needing_room(path, "Free some space and run it again: nothing was changed."):
            layout.replace_whole(path, text.encode(), draft)
    finally:
        draft.unlink(missing_ok=True)


def _text(listed: ErasureList) -> str:
    since = listed.unknown_since
    head = {
        "form": FORM,
        "key": (listed.key or b"").hex(),
        "unknown_since": format_moment(since) if since else None,
    }
    lines = ({**row, "erased_at": format_moment(row.erased_at)} for row in listed.erasures)
    return "".join(f"{json.dumps(row, default=str)}\n" for row in (head, *lines))


def _parsed(line: str) -> ListedErasure:
    document = json.loads(line)
    return ListedErasure(
        erasure_id=UUID(document["erasure_id"]),
        institution_id=UUID(document["institution_id"]),
        token_hash=str(document["token_hash"]),
        reason=str(document["reason"]),
        erased_at=parse_moment(document["erased_at"]),
        actor=str(document["actor"]),
    )
