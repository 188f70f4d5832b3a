"""Institutions: who takes part, on which terms, with which settings, and what changed.

`work.py` adds and changes one (read it first), `accounts.py` its bank account, `changes.py` keeps
what was changed and writes what others must know to the security log, `history.py` lists it,
`calendars.py` which files are expected of one, by `schedules.py`, `holds.py` what must be kept, and
`inbox.py` what its team is told.
`kernel/store/institutions.py` finds one by its name. May import the kernel, intake, archive and
river, and the slices before it. To add a setting follow the recipe in CONTRIBUTING.
"""
