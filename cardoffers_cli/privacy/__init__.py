"""Privacy: what is kept of a cardholder: shown, held, erased; and how long anything is kept.

`erase.py` erases (read it first), `erasures.py` knows what was erased and does it again in a store
that was restored, `export.py` gives out all that is kept, `holds.py` keeps it for the law,
`retention.py` deletes what is old, `traces.py` looks for what is left, `card_numbers.py` masks card
numbers that came in. May import the slices before it. A new table or column with personal data is
found by its name in `schema.sql`; to add another place where data lies, add it to `traces.py`.
"""
