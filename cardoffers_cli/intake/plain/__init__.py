"""A transaction file checked in plain Python: what `validate` says of it, by the same rule table.

It is for a place that has Python's standard library and nothing else, as a page in a browser has
(Pyodide), and it is what the reading by columns is held against: both give the same document, the
same report of rows and the same rejected rows, byte for byte. Start with `validation.py`, first of
all: `PlainValidation` is handed the bytes of a file and returns the verdict. `blocks.py` unpacks
bytes, `readers.py` makes slices of rows of them, `rulebook.py` applies the rules, `findings.py`
counts what all rows together say. `profiled.py` reads a file by a layout profile, with `clocks.py`,
and with all of `intake/profiles` that needs no polars. May import `kernel/words` and the modules of
`intake` that import the standard library only, which a test holds. To add a rule, add it to
`intake/rules.py`; what a profile can say, to both readings of it.
"""

from cardoffers_cli.intake.plain.validation import PlainValidation

__all__ = ["PlainValidation"]
