"""Statements and invoices: what is owed for a month, numbered, closed, proved.

`closing.py` closes statements (read it first), `invoicing.py` invoices; `questions.py`,
`invoices.py` and `reading.py` list and show, `exporting.py` and `page.py` write them,
`verifying.py` computes them again. May import the slices before it. To add a line to a document,
add it to its SQL, its page and the check in `verifying.py`.
"""
