"""The format of each kind of files, for other tools to check it and for people to read it.

What lives here: `formats.py`, which gathers from the rule table and the patterns of `fields.py`
what is asked of each column (read it first), and writes that as JSON Schema; `catalogue/formats.py`
does it for the files of the catalogue. The page for people is in `intake/page.py`. What it may
import: the kernel, and its neighbours in `intake`. Where to add: a kind of rows in
`kernel/words/row_kinds.py`, and what its columns hold in `transactions.txt`.

Nothing is said here that is said elsewhere: a pattern that changes changes every form.
"""
