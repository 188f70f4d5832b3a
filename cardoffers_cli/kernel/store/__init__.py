"""The DuckDB store: one file, one class that touches a connection, one folder; and its runs.

Here live opening and closing (`opening.py`, read it first), also of a store that stays open until
somebody wants it, and what is remembered of it (`memory.py`), what a store is (`identity.py`) and
the names of everything of it (`layout.py`), the connection (`store.py`), the engine behind it
(`instances.py`), what its errors mean (`engine_errors.py`), the numbers for tokens
(`interning.py`), a new store and later schemas (`migrations.py`), copies of the whole file
(`copying.py`), and what is in its folder: the locks (`lock.py`), the journal of what was committed
(`journal.py`, `journal_file.py`), the snapshot (`snapshot.py`), the signing secrets
(`signing_secrets.py`) and the usage journal (`usage_journal.py`).

What every command is given is here too: settings, the clock, the job and its runs (`job.py`,
`runs.py`), what is read for it (`reading.py`) with its institution, and masks.

May import `kernel/words` and `kernel/disk`, and `archive`, as an open store shows what it lists;
DuckDB is imported nowhere else but there. `statements.py` says how SQL is written and addressed,
`binding.py` what a statement reads and makes. To change the schema change `schema.sql`, of which
new stores are made, and, once a version is released, add a numbered file to `migrations/` that does
the same to its stores. A view or a macro changes in `views.sql` of its slice alone, an audit in
`audits.sql`.
"""
