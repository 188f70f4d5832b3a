"""The watch: what came in strangely, which a person decides about; it stops and blocks nothing.

Lives here: `scan.py`, which finds (read it first), and `findings.py`, what is shown of findings,
and what a person accepts. May import what `jobs` may, and of `jobs` the context. To add a code, say
what it means in `watch/observations.py`, and record it with `watch/questions.py`.
"""
