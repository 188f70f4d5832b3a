"""The night: what cron runs, one command over all other work, safe to be killed and run again.

`run.py` goes through the steps of `steps.py`, each a unit or a row of units that are committed with
their record; read it first. Beside them: what is looked at before (`checks.py`), the files (found
by `select.py`, taken by `intake.py` within `bounds.py`, failing as `faults.py` says, told of by
`findings.py`), the webhooks (`webhooks.py`), the watch (`watching.py`, and `expected.py` of files
that did not come), the reports (`reports.py`), the result (`result.py`), who is told of it all
(`watched.py`, `hooks.py`, `metrics.py`) and the rehearsal (`rehearsal.py`). `status.py` is the
state of everything on one screen. May import the slices before it. To add a step, add its function
and its line to `STEPS`; it must be able to run twice.
"""
