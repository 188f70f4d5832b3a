"""Refunds: what came back, found by its purchase or linked by a person, and taken back.

`apply.py` is the step and its run: find, claim, take back, count; read it first. `linking.py` links
and dismisses, `questions.py` lists and shows, `texts.py` has the sentences. The refunds among the
rows of a layout are read in `intake/profiles/refunds.py`. May import the slices before it. To add a
way to find the purchase of a refund, add it to `apply.sql` with its name in `texts.py`.
"""
