"""Fetching files of institutions into the drop folder, and tidying up behind them at their places.

Lives here: `pickup.py` (what the command and the nightly run call; read it first), `session.py`
(one place: what is there, what is new, what is done with), `fetching.py` (one file, from its place
into the drop folder) and `result.py` (what is said of it). May import what `jobs` may, and of
`jobs` the context. To add a reason not to take a file, raise `FileUnusable` in `fetching.py` with a
code of `domain/findings.toml`.
"""
