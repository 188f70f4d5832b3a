"""The signing secrets of the store: `secrets` in its folder, which only its owner can read.

The store has the SHA-256 of each secret, and its text is in this file alone. So no copy of the
store holds any: not the snapshot, not what engines are handed, no export. A backup has them in a
file of its own (rules.md#signing-secrets).

The file is JSON, texts by their SHA-256, and is replaced in one step, under the lock of the store.
A text is on the disk before the transaction that names it is committed, and is removed after one
that names it no more. So a crash between the two leaves a text that nobody names, which the next
change removes, and never a name without its text.
"""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store import layout
from cardoffers_cli.kernel.words.errors import Refused, StoreDamaged
from cardoffers_cli.kernel.words.signing import secret_sha256

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from cardoffers_cli.kernel.store.store import Store

FORM = "cardoffers secrets 1"
"""By which such a file is known to be one of ours."""

UNUSABLE = frozenset({"secrets_open", "secrets_damaged"})
"""The codes of a file of secrets that is not to be used as it is."""

_OTHERS = 0o077


def read_secrets(store: Path) -> dict[str, str]:
    """Return the texts of a store by their SHA-256; none where there is no file.

    Raises `Refused` where others may read it too, and `StoreDamaged` where it is not what was
    written.
    """
    path = layout.secrets_path(store)
    try:
        with path.open("rb") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & _OTHERS:
                raise Refused.from_table("kernel/store", "secrets_open", path=path)
            return texts_of(file.read(), path)
    except FileNotFoundError:
        return {}


def texts_of(content: bytes, path: object = "The file of secrets") -> dict[str, str]:
    """Return the texts in the bytes of a file, each held against its SHA-256."""
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        document = json.loads(content)
        texts: dict[str, str] = document["secrets"]
        if document["form"] == FORM and all(
            secret_sha256(text) == key for key, text in texts.items()
        ):
            return texts
    raise StoreDamaged.from_table("kernel/store", "secrets_damaged", path=path)


def add_secrets(store: Path, texts: Iterable[str]) -> None:
    """Add texts to the file, on the disk before this returns."""
    stored = read_secrets(store)
    more = stored | {secret_sha256(text): text for text in texts}
    if more != stored:
        write_secrets(store, more)


def forget_others(store: Path, named: Collection[str]) -> None:
    """Remove every text but those whose SHA-256 is named."""
    stored = read_secrets(store)
    remaining = {key: text for key, text in stored.items() if key in named}
    if remaining != stored:
        write_secrets(store, remaining)


def write_secrets(store: Path, at_hand: Mapping[str, str]) -> None:
    """Write the file of a store, or of a copy of it, in one step and onto the disk."""
    path, draft = layout.secrets_path(store), layout.draft_path(store, "secrets")
    layout.make_folder(store)
    try:
        with layout.needing_room(path, "Free some space and run it again: nothing was changed."):
            layout.replace_whole(path, text_of(at_hand).encode(), draft)
    finally:
        draft.unlink(missing_ok=True)


def text_of(at_hand: Mapping[str, str]) -> str:
    """Return what the file of these secrets holds."""
    document = {"form": FORM, "secrets": dict(sorted(at_hand.items()))}
    return f"{json.dumps(document, indent=1)}\n"


def named_in(store: Store) -> set[str]:
    """Return the SHA-256 of every secret that an open store names."""
    return {row["secret_sha256"] for row in store.rows("kernel/store/signing_secrets:named")}


def missing(store: Store, at_hand: Mapping[str, str]) -> list[str]:
    """Return the slugs of the institutions of which a secret is named and not among these."""
    rows = store.rows("kernel/store/signing_secrets:owners", at_hand=list(at_hand))
    return [row["institution"] for row in rows]
