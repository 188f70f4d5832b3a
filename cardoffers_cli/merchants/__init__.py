"""Merchants: whose identifiers they are, and who unknown ones may be, with evidence.

`work.py` makes and changes merchants; `suggestions.py` compares names and computes likelihoods,
`discovery.py` proposes, `answers.py` takes what a person answers (read it first), `review.py` asks
one by one on a terminal. May import the slices before it. To add evidence, add it to
`suggestions.sql` with its weight in `suggestions.py`, and measure it again.
"""
