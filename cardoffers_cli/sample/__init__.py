"""Realistic sample data of any size, the same for the same seed.

`plan.py` says what a sample is to have, `sample.py` puts it together and writes it (read it first):
`merchants.py`, `offers.py` with the visits that show them, `purchases.py` with refunds and what is
wrong in files. Words, weights and columns stand in `words.toml`; `chance.py` is the only source of
chance. `work.py` writes it in an institution's own layout too, which `profile_commands.py` guesses,
checks and reads files by. May import the slices before it. To add something to a sample, add it
where it belongs and draw it from its own stream of `chance.py`, so that the rest stays the same.
"""
