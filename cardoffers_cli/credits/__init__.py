"""Credits: what institutions say they credited, held against what was redeemed.

`work.py` takes files of credits and reconciles them (read it first), `reconcile.py` is the step,
`rules.py` the verdicts, `findings.py` lists, shows and accepts what does not agree, `questions.py`
lists credits. May import the slices before it. To add a verdict, add it to `rules.py`, to
`reconcile.sql` and to its page.
"""
