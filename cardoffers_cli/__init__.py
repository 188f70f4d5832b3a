"""Run a card-linked-offers service as batch jobs on a DuckDB store.

A river with a few rooms on its bank: transaction files flow through `pipeline/` into redemptions
and settlements, one step a module. Imports go down only:

    5  doors   cli, http, tui         commands; a server; a screen: ask, make one call, show
    4  jobs    jobs                   what an operator runs; owns clock, transaction, run record
    3  work    pipeline, services     the steps of the river; one-record operations and reads
    2  edges   files, store, engine   disk; DuckDB; where a plan runs;
               archive, wire          Parquet outside of the store, and Spark; HTTP to institutions;
               pickup                 files of institutions from their servers
    1  words   domain                 rules of money, time, tokens, errors; no disk, clock or SQL

`kernel/store/settings.py` reads the configuration; `kernel/disk/lasting.py` puts the names of files
on the disk; `sql/` holds every statement, named after the module that runs it. Each package's
docstring says what lives there, what it may import, where to add and which file to read first. To
find your way, read `river/imports.py` and `river/decide.py` and follow them down.
"""

__version__ = "0.1.0"
