"""Statements: what institutions are owed for a month, closed, shown, exported and verified.

Lives here: `closing.py` (a period becomes a statement; read it first), `reading.py` (what is shown
of statements, and their files) and `verifying.py` (each again of the ledger). May import what
`jobs` may, and of `jobs` the context. What a statement promises stands in rules.md#statements. To
add a form that it is written in, add it to `OpenStatement.write`; its lines never change.
"""
