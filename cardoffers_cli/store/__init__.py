"""The DuckDB store: one file, one class that touches a connection, one lock.

Here live opening and closing (`opening.py`, read it first), the connection (`store.py`), the locks
beside the file (`lock.py` of the store, `sender_lock.py` of who sends webhooks), the snapshot
(`snapshot.py`) and the book of calls (`call_book.py`) beside it, the numbers for tokens
(`interning.py`) and the numbered migrations (`migrations.py`). May import `domain`, `settings` and
`sql`; DuckDB is imported nowhere else but in `engine/`. To change the schema add a numbered file to
`sql/migrations/` and leave the older ones as they are.
"""
