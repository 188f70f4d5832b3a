"""Where a plan runs: the portable SELECTs of `sql/plan/`, over the tables that they are handed.

Here lives what turns a plan into tables: the protocol (`plan.py`, read it first), and DuckDB on the
store's own connection (`duck.py`). Spark works in the archive, and is there. An engine computes and
hands tables back; it never writes the ledger. May import `sql`. To add an engine, give it the
methods of `Engine`.
"""
