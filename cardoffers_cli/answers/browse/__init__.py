"""The screen of the support person: search, look, answer; it changes nothing.

Lives here: what was typed, as something to look for (`queries.py`); the one who asks, with the
store open for the moment of a question only (`inquiry.py`); what is told of a finding (`pages.py`),
as lines without a look (`lines.py`). The screen shows them (`app.py` with its parts and
`browse.tcss`), and so does the conversation in plain lines (`plain.py`), which needs no extra. May
import what `answers` may; textual is imported nowhere else, and here by the screen only. To add
something that is told, add it to `pages.py`, and both show it. Read `pages.py` first.
"""
