"""The DuckDB store: one file, one class that touches a connection, one lock.

Here live opening and closing (`opening.py`, read it first), the connection (`store.py`), the lock
beside the file (`lock.py`) and the numbered migrations
(`migrations.py`). May import `domain` and `settings`; DuckDB is imported nowhere else but in
`engine/`. SQL stands in `sql/`, which also reads it, never here. To change the schema add a numbered file to
`sql/migrations/` and leave the older ones as they are.
"""
