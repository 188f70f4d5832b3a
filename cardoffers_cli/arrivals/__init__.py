"""Arrivals: which files an institution is expected to send, when, and which came.

`expectations.py` says what a file's name and time promise, `schedules.py` reads calendars and
holidays, `calendars.py` keeps them, `work.py` holds them against what came: read it first. May
import the slices before it. To add a kind of schedule, add it to `schedules.py` with its rows in
the test.
"""
