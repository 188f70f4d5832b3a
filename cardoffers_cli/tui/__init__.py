"""The screen of the support person: search, look, answer; it changes nothing.

Lives here: what was typed, as something to look for (`queries.py`); the one place that asks, with
the store open for the moment of a question only (`inquiry.py`); what is told of a finding, as lines
without a look (`pages.py`); the screen that shows them (`app.py`, `browse.tcss`, its parts in
`widgets.py` and `dialogs.py`), and the same as a conversation in plain lines (`talk.py`), which
needs no extra. May import `jobs`, `services`, `files`, `domain` and `settings`; textual is imported
nowhere else, and here by the screen only. To add something that is told, add it to `pages.py`, and
both show it. Read `pages.py` first, then `app.py`.
"""
