"""The river as runs: from a file or a call to decisions, here or on an engine, and to the archive.

Lives here: `intake.py` (a file through the steps that judge it; read it first), with `validate.py`,
`imports.py` and `events.py` over it; `decide.py` (what waits, in one transaction) with `match.py`
over it; `engines.py` (where an engine computes), `export.py`, `merge.py` and `compact.py` (what
moves to the archive, and stays small there); `card_numbers.py` (what was masked, and comes again),
`compare.py` (a file beside those before it). May import what `jobs` may, and of `jobs` the context.
To add a step, call it where the one before is called; to add a way in, give `intake.py` what it
reads.
"""
