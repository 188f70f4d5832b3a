"""The DuckDB store: one file, one class that touches a connection, one folder; and its runs.

Read `opening.py` first, then `layout.py`, which knows the names of all files, `store.py`, the
connection, and `journal.py`, what was committed. What every command is given is here too: settings,
the clock, the job and its runs. May import `kernel/words` and `kernel/disk`, and `archive`, as an
open store shows what it lists; DuckDB is imported nowhere else but there. To change the schema
change `schema.sql`, of which new stores are made, and, once a version is released, add a numbered
file to `migrations/` that does the same to its stores. A view or a macro changes in `views.sql` of
its slice alone, an audit in `audits.sql`.
"""
