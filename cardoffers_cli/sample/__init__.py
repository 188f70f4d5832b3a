"""Realistic sample data of any size, the same for the same seed.

`plan.py` says what a sample is to have, `sample.py` puts it together and writes it (read it first):
`merchants.py`, `offers.py`, `engagement.py`, `purchases.py`, `refunds.py`, with `dirty.py` for what
is wrong in files; `chance.py` is the only source of chance. `layouts.py` writes it in an
institution's own layout. May import the slices before it. To add something to a sample, add it
where it belongs and draw it from its own stream of `chance.py`, so that the rest stays the same.
"""
