"""Arrivals: which files an institution is expected to send, when, and which came.

`expectations.py` says which file meets which deadline, `work.py` holds what came against what is
expected: read it first. Which files are expected is a setting (`institutions/calendars.py`). May
import the slices before it. To add a kind of schedule, add it to `institutions/schedules.py` with
its rows in the test.
"""
