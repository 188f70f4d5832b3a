"""The screen of the support person: search, look, answer; it changes nothing.

Lives here: the one who asks for what was typed, with the store open for the moment of a question
only (`inquiry.py`); what is told of a finding, as lines without a look (`pages.py`). The screen
shows them (`app.py` with `panels.py` and `browse.tcss`), and so does the conversation in plain
lines (`plain.py`), which needs no extra. May import what `answers` may; textual is imported nowhere
else, and here by the screen only. To add something that is told, add it to `pages.py`, and both
show it. Read `pages.py` first.
"""
