"""Pickup: files of institutions fetched from servers, folders and buckets.

`work.py` is what the command and the nightly run call (read it first), `session.py` one place: what
is there, what is new, what is done with; `fetching.py` one file, from its place into the drop
folder; `result.py` what is said of it. `remote.py` is a place as `sftp.py` (over `ssh.py`) or
`objects.py` reach it, `openpgp.py` opens and proves messages. May import the slices before it. To
add a reason not to take a file, raise `FileUnusable` in `fetching.py` with a code of
`kernel/words/findings.toml`.
"""
