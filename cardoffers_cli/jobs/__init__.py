"""Jobs: what an operator runs, one module per command that does work.

A job owns the clock (`Job.now`), the transaction and the run record; it opens the store, calls the
steps of `pipeline/` and the operations of `services/` in order, and returns what happened as plain
data. May import everything below: `pipeline`, `services`, `files`, `store`, `engine`, `archive`,
`domain`. Read `job.py` first, then `intake.py` and `imports.py`. To add a job, add its module here
and its command in `cli/`.
"""
