"""What institutions credited, held against what was redeemed.

Lives here: `reconcile.py` (the run; read it first) and `findings.py` (what is shown of findings,
and what a person accepts). May import what `jobs` may, and of `jobs` the context. To add a verdict,
add it where `credits/reconcile.sql` judges, to the table of rules.md#verdicts, and to
`credits/rules.py`, which says it to people.
"""
