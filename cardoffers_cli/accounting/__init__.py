"""The double-entry journal: what merchants, institutions and the bank owe, by account.

`views.sql` says what each event debits and credits (read it first), and what is not in the journal
yet; a run that moved money posts that when it finishes (`kernel/store/runs.py`). `questions.py`
reads the trial balance, and the lines as accounting systems take them. May import the slices before
it. To add an event, add its rules and its statement to `views.sql`.
"""
