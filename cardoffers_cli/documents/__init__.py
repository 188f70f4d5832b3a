"""Statements and invoices: what is owed for a month, closed, shown, exported and verified.

Lives here: `closing.py` (a period becomes a statement; read it first), `invoicing.py` (and the
invoices of all merchants), `reading.py` (what is shown of both), `exporting.py` (their files) and
`verifying.py` (each again of the ledger). May import what `jobs` may, and of `jobs` the context.
What they promise stands in rules.md#statements and rules.md#invoices. To add a form that they are
written in, add it to `OpenDocument.write`; their lines never change.
"""
