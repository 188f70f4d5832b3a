"""The kernel: what every slice stands on, and what knows none of them.

`words/` is the language: errors, findings, money, moments, card numbers, ids, records, sentences.
`disk/` reads and writes folders and files. `store/` is the DuckDB store, its SQL, the clock and the
runs. `sheets/` shows rows, as tables, files and pages. `net/` sends requests. `cli/` is what
commands are made with.

Each part may import `words/`, and those that `KERNEL` in `tests/house.py` lists. To add something
that two slices need, put it into the part that it is about. Read `words/errors.py` first.
"""
