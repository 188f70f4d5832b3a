"""Bringing an older store to this version.

A migration is one transaction in the store's own file. Where signing secrets are still in that
file, that is not enough: what is dropped stays legible in its free blocks, and so in every copy of
them. So such a store is copied, the copy migrated and copied again, and the second copy, into which
only rows have gone, takes the store's place in one step. Killed before that, the store is as it
was; the secrets are in their own file by then, where nobody misses or minds them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cardoffers_cli.archive.archive import show
from cardoffers_cli.store import copying, journal, signing_secrets
from cardoffers_cli.store.aside import put_logs_aside
from cardoffers_cli.store.layout import draft_path, loose_files, snapshot_path
from cardoffers_cli.store.migrations import Migration, applied, migrate, migrations
from cardoffers_cli.store.moving import move_in, to_move
from cardoffers_cli.store.opening import check_ours, connected, lock_for, look_first, must_exist
from cardoffers_cli.store.snapshot import withdraw

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.store.copying import Contents
    from cardoffers_cli.store.moving import Moved
    from cardoffers_cli.store.opening import Opening
    from cardoffers_cli.store.store import Store

_ARCHIVE_CAME = 6
_SECRETS_CAME, _SECRETS_LEFT = 4, 12
"""The migrations between which signing secrets are in the store."""


def to_migrate(opening: Opening) -> tuple[list[Migration], Moved]:
    """Return what `migrate_store` would do."""
    path = opening.path
    must_exist(path)
    with lock_for(opening), connected(path, opening.settings, read_only=True) as store:
        have = _have(store, path)
    missing, moved = [each for each in migrations() if each.version not in have], to_move(path)
    withdrawn = loose_files(path).get(snapshot_path(path)) if missing else None
    return missing, replace(moved, files=[file for file in moved.files if file != withdrawn])


def migrate_store(opening: Opening) -> tuple[list[Migration], Moved]:
    """Bring an older store to this version; return what was applied and moved (nothing if current).

    Its snapshot goes if the schema changed: no program of this version reads it, and it may hold
    signing secrets.
    """
    must_exist(opening.path)
    with lock_for(opening):
        look_first(opening)
        done = _migrate_schema(opening)
        if done:
            withdraw(opening.path)
        return done, move_in(opening.path, opening.since or opening.now)


def _migrate_schema(opening: Opening) -> list[Migration]:
    with connected(opening.path, opening.settings) as store:
        have = _have(store, opening.path)
        texts = _secrets_inside(store, have)
        if not texts:
            _show_archive(store, have)
            with store.transaction():
                return migrate(store, opening.now, have)
        original = copying.contents(store)
        store.execute("store/copying:checkpoint")
    signing_secrets.add_secrets(opening.path, texts)
    put_logs_aside(opening.path, opening.since or opening.now)
    return _migrate_anew(opening, have, original)


def _show_archive(store: Store, have: set[int]) -> None:
    """Let migrations read what is archived too; raise `StoreDamaged` where it is not all there."""
    if _ARCHIVE_CAME in have:
        show(store)


def _have(store: Store, path: Path) -> set[int]:
    check_ours(store, path)
    journal.check(store, path)
    return {record["version"] for record in applied(store)}


def _secrets_inside(store: Store, have: set[int]) -> list[str]:
    """Return the signing secrets whose text is in the store itself."""
    if _SECRETS_CAME not in have or _SECRETS_LEFT in have:
        return []
    return [row["secret"] for row in store.rows("store/migrating:texts_before")]


def _migrate_anew(opening: Opening, have: set[int], original: Contents) -> list[Migration]:
    """Migrate a copy of the closed store of these contents, and put a copy of that in its place."""
    path, settings = opening.path, opening.settings
    draft, clean = draft_path(path, "migrated"), draft_path(path, "clean")
    try:
        copying.copy_store(path, draft, settings)
        with connected(draft, settings) as store:
            copying.check_copy(original, copying.contents(store))
            _show_archive(store, have)
            with store.transaction():
                done = migrate(store, opening.now, have)
            migrated = copying.contents(store)
        copying.copy_store(draft, clean, settings)
        with connected(clean, settings, read_only=True) as store:
            copying.check_copy(migrated, copying.contents(store))
        copying.put_in_place(clean, path)
    finally:
        copying.discard(draft)
        copying.discard(clean)
    return done
