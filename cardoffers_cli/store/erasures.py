"""The list of erasures, `erasures` in the folder of a store, and the key by which it names people.

Each line says of which institution a cardholder was erased, by the keyed hash of the token
(HMAC-SHA256), never by the token. The key, `erasure-key` beside it, is drawn once; both are their
owner's only. The list is written before the store is: a restore of an older backup, or a crash, is
so made good (rules.md#erasure). Lose the key, and nobody can tell any more who was erased.
"""

from __future__ import annotations

import hmac
import json
import os
import stat
from hashlib import sha256
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from cardoffers_cli.domain.errors import Refused, StoreDamaged
from cardoffers_cli.domain.moments import format_moment, parse_moment
from cardoffers_cli.domain.records import Record
from cardoffers_cli.store.folder import make_folder, needing_room, replace_whole, sync_folder
from cardoffers_cli.store.layout import (
    draft_path,
    erasure_key_path,
    erasures_path,
    unwritten_path,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from pathlib import Path

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


def erasure_id(institution_id: UUID, token_hash: str, number: int) -> UUID:
    """Return the id of an erasure: `number` counts those of one token, which may come again."""
    return uuid5(institution_id, f"erasure {token_hash} {number}")


def token_hash(key: bytes, institution_id: UUID, token: str) -> str:
    """Return the keyed hash of a token, as `services/erasures:erasing` computes it."""
    message = f"{institution_id}{_SEPARATOR}{token}".encode()
    return hmac.new(key, message, sha256).hexdigest()


def pads_of(key: bytes) -> dict[str, bytes]:
    """Return the two blocks that a key goes into an HMAC by, for who computes it in SQL."""
    block = key.ljust(_BLOCK_BYTES, b"\0")
    return {"inner": bytes(b ^ 0x36 for b in block), "outer": bytes(b ^ 0x5C for b in block)}


def read_key(store: Path) -> bytes | None:
    """Return the key of a store, or None where nobody was erased yet.

    Raises `Refused` where others may read it, or where it is gone and the list is not, and
    `StoreDamaged` where it is no key.
    """
    path = erasure_key_path(store)
    try:
        with path.open("rb") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & _OTHERS:
                raise Refused(
                    f"Others may read {path}, the key of erasures.",
                    code="erasure_key_open",
                    hint=f"Run `chmod 600 {path}`.",
                )
            key = bytes.fromhex(file.read().decode("ascii", "replace").strip())
    except FileNotFoundError:
        if erasures_path(store).exists():
            raise Refused(
                f"{path} is gone, and {erasures_path(store).name} beside it names people by it.",
                code="erasure_key_missing",
                hint="Put it back from where the folder of the store is kept.",
            ) from None
        return None
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise StoreDamaged(
            f"{path} is no key of erasures.",
            code="erasure_key_damaged",
            hint="Put it back from where the folder of the store is kept.",
        )
    return key


def keep_key(store: Path, drawn: bytes) -> bytes:
    """Return the key of a store: one that was drawn, on the disk now, if it had none."""
    key = read_key(store)
    if key is None:
        key = drawn
        _write(store, erasure_key_path(store), f"{key.hex()}\n")
    return key


def listed(store: Path) -> list[ListedErasure]:
    """Return the list of a store, the oldest first; raise `StoreDamaged` for what is none."""
    path = erasures_path(store)
    try:
        return [_parsed(line) for line in path.read_text("utf-8").splitlines()]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, KeyError):
        raise StoreDamaged(
            f"{path} holds a line that is none of ours.",
            code="erasures_damaged",
            hint="Put it back from where the folder of the store is kept.",
        ) from None


def add(store: Path, erasure: ListedErasure) -> None:
    """Put an erasure on the list, on the disk before this returns; once, however often."""
    known = listed(store)
    if erasure.erasure_id not in {each.erasure_id for each in known}:
        _write(store, erasures_path(store), _text([*known, erasure]))


def mark(store: Path) -> None:
    """Mark, on the disk, that freed blocks of the store's file may hold tokens that were erased."""
    _write(store, unwritten_path(store), "")


def unmark(store: Path) -> None:
    """Take the mark away: the file was written anew."""
    path = unwritten_path(store)
    path.unlink(missing_ok=True)
    sync_folder(path.parent)  # or a loss of power would bring it back


def is_marked(store: Path) -> bool:
    """Say whether somebody was erased since the store's file was written anew."""
    return unwritten_path(store).exists()


def _write(store: Path, path: Path, text: str) -> None:
    make_folder(store)
    draft = draft_path(store, "erased")
    try:
        with needing_room(path, "Free some space and run it again: nothing was changed."):
            replace_whole(path, text.encode(), draft)
    finally:
        draft.unlink(missing_ok=True)


def _text(erasures: Iterable[ListedErasure]) -> str:
    documents = ({**each, "erased_at": format_moment(each.erased_at)} for each in erasures)
    return "".join(f"{json.dumps(each, default=str)}\n" for each in documents)


def _parsed(line: str) -> ListedErasure:
    told = json.loads(line)
    return ListedErasure(
        erasure_id=UUID(told["erasure_id"]),
        institution_id=UUID(told["institution_id"]),
        token_hash=str(told["token_hash"]),
        reason=str(told["reason"]),
        erased_at=parse_moment(told["erased_at"]),
        actor=str(told["actor"]),
    )
