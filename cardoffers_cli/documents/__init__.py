"""Statements and invoices: what is owed for a month, numbered, closed, proved.

`kinds.py` says what the two kinds of documents are (read it first), `closing.py` closes them,
`questions.py` lists and shows, `exporting.py` and `page.py` write them, `verifying.py` computes
them again. May import the slices before it. To add a line to a document, add it to its SQL, its
page and the check in `verifying.py`.
"""
