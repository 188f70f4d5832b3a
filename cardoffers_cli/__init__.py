"""Run a card-linked-offers service as batch jobs on a DuckDB store.

Each capability is a folder, a slice, with its commands, its work, its questions and its SQL. The
slices stand in an order, and each may import those before it:

    kernel                      words, disk, store, sheets, net, and what commands are made with
    intake archive river        files of rows; the history; the steps from a file to the ledger
    catalogue institutions keys approvals offers merchants events
    refunds payouts accounting credits documents arrivals watch reports
    drop pickup privacy storage sample
    answers night demo http     what stands on all of them

`kernel/store/settings.py` reads the configuration. Each package's docstring says what lives there,
what it may import, where to add and which file to read first. To find your way, read
`river/imports.py` and `river/decide.py` and follow them down.
"""

__version__ = "0.1.0"
