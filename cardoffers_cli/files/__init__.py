"""Disk: reading what institutions and operators bring, writing what they take away.

Here live transaction files (read `transactions.py` first: bytes, lines, columns, rules), catalogue
files, the drop folder (`drop.py`, then `claims.py`), samples, and the sheets and reports that
leave; `plain/` checks files without polars, which lives here. May import `domain`. To add a rule
for rows that institutions send, add it to `rules.py`; one of a catalogue file, to `catalogue.txt`;
a format to write, to `exports.py`; `workbooks.py` writes workbooks and `spreadsheets.py` reads
them; pages to look at have `html/`.
"""
