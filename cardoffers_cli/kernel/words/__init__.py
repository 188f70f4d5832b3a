"""The words that everything else speaks in, as plain functions and values.

Here live errors and findings, exact money, moments, masks, cursors, the text of JSON, records and
the sentences that tell of them. Imports nothing of ours and touches no clock, disk, network or SQL.
Read `errors.py` and `findings.py` first. To add a rule that several slices need, add a small module
named after what it is about.
"""
