"""Words: the rules everything else speaks in, as plain functions and values.

Here live errors and findings, exact money, moments, masks, cursors, the text of JSON, the outcomes
of a purchase and the sentences that tell of them. Imports nothing of ours and touches no clock,
disk, network or SQL. Read `errors.py` and `findings.py` first. To add a rule that several rooms
need, add a small module named after what it is about.
"""
