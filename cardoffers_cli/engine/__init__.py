"""Where a plan runs: the portable SELECTs of `sql/plan/`, over tables known by name.

Here lives what turns a plan into tables: DuckDB on the store's own connection (`duck.py`, read it
first). An engine computes and hands tables back; it never writes the ledger. May import `domain`
and `sql`. To add an engine, give it the methods of `DuckEngine`.
"""
