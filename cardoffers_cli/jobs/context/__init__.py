"""What every job is given and writes: the store, the clock, the run record; no use case.

Lives here: `job.py` (where the store is, the settings, the clock, who runs it; read it first),
`clock.py` (the one place that reads the clock), `runs.py` (run records), `reading.py` (the store
or, while somebody holds it, its snapshot) and `masking.py` (no card number on a screen).
May import: what `jobs` may, but no other part of `jobs`. Add here only what all jobs share; what
some use cases share belongs to their package.
"""
