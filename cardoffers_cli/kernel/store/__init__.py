"""The DuckDB store: one file, one class that touches a connection, one folder.

Here live opening and closing (`opening.py`, read it first), a store that stays open until somebody
wants it (`shared.py`) and what is remembered of it (`memory.py`), what a store is (`identity.py`)
and the names of everything of it (`layout.py`), its folder (`folder.py`), the connection
(`store.py`), the engine behind it (`instances.py`), what its errors mean (`engine_errors.py`) and
how its statements are broken off (`interrupting.py`), the numbers for tokens (`interning.py`) and
those of new rows (`numbering.py`), a new store and later schemas (`migrations.py`), audits
(`audits.py`, `blocks.py`), copies of the whole file (`copying.py`), and what is in its folder: the
locks (`lock.py`), the journal of what was committed (`journal.py`, `journal_file.py`), the snapshot
(`snapshot.py`), the signing secrets (`signing_secrets.py`), the usage journal (`usage_journal.py`,
`usage_file.py`), where backups were put (`backup_places.py`), what is kept (`old_files.py`) and
what a crash left (`leftovers.py`).

May import `domain`, `settings`, `sql`, and `archive`, as an open store shows what it lists; DuckDB
is imported nowhere else but in `engine/`. To change the schema change `kernel/store/schema.sql`, of
which new stores are made, and, once a version is released, add a numbered file to
`kernel/store/migrations/` that does the same to its stores. A view or a macro changes in
`kernel/store/views/` alone.
"""
