"""The drop folder: files that wait there are claimed, read from a safe copy, and put away.

`drop.py` looks at the folder (read it first), `claims.py` takes a file out of it, `manifests.py`
reads what a manifest promises, `fetched_files.py` holds what pickup fetched and the copies that are
read, `file_changes.py` keeps what was read and finds what was changed afterwards. May import the
slices before it. To add a reason not to take a file, add it to `drop.py` and its finding to
`kernel/words/findings.toml`.
"""
