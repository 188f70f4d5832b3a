"""What is kept of a cardholder: show all of it, hold it, erase it (rules.md#erasure).

Lives here: `erase.py` (read it first) with `traces.py` (files that still hold a token), `hold.py`
(legal holds) and `export.py` (everything stored about one cardholder). May import what `jobs` may,
and of `jobs` the context. To add a table that names cardholders, say in `privacy/personal_data.py`
how it is exported, or why not.
"""
