"""The night: what cron runs, one command over all other work, safe to be killed and run again.

`run.py` goes through the steps of `steps.py`, each a unit or a row of units that are committed with
their record; read it first. Beside them: what is looked at before, and which files are taken
(`checks.py`), taking them (`intake.py`), what is told of them (`findings.py`), the watch, of files
that did not come too (`watching.py`), the reports and pages (`reports.py`, `page.py`,
`run_pages.py`), order and result (`options.py`), who is told of it all (`hooks.py`, `metrics.py`).
`status.py` is the state of everything on one screen. May import the slices before it. To add a
step, add its function and its line to `STEPS`; it must be able to run twice.
"""
