"""Refunds: what came back, linked to purchases, and what moves for it.

Lives here: `apply.py` (the step between match and settle; read it first), `linking.py` (what a
person links or lays aside) and `reading.py` (what is shown). May import what `jobs` may, and of
`jobs` the context. To add an outcome, add it where `refunds/refund.sql` says what becomes of a
claim, and to `refunds/texts.py`, which says it to people.
"""
