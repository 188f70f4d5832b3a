"""Run a card-linked-offers service as batch jobs on a DuckDB store.

Each capability is a folder, a slice, with its commands, its work, its questions and its SQL. The
slices stand in an order (`SLICES` of `tests/house.py`), and each may import those before it: the
kernel, files of rows, the history, the steps from a file to the ledger, what is done with it all,
and what stands on all of them: `answers`, `night`, `demo`, `http`. Each package's docstring says
what lives there, what it may import, where to add and which file to read first. To find your way,
read `river/imports.py` and `river/decide.py` and follow them down.
"""

__version__ = "0.1.0"
