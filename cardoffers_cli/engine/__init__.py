"""Where a plan runs: the portable SELECTs of `sql/plan/`, over the tables that they are handed.

Here lives what turns a plan into tables: the protocol (`plan.py`, read it first), DuckDB on the
store's own connection (`duck.py`), and Spark (`spark.py`), which is given the tables that it has to
know (`tables.py`) and keeps those of a history. An engine computes and hands tables back; it never
writes the ledger. May import `domain` and `sql`. To add an engine, give it the methods of `Engine`.
"""
