"""Pickup: files of institutions fetched from servers, folders and buckets.

`work.py` is what the command and the nightly run call, and one place: what is there, what is new,
what is done with (read it first); `fetching.py` one file, from its place into the drop folder;
`questions.py` what is said of it. `remote.py` is a place as `ssh.py` (SFTP) or `objects.py` reach
it, `openpgp.py` opens and proves messages. May import the slices before it. To add a reason not to
take a file, raise `FileUnusable` in `fetching.py` with a code of `kernel/words/findings.toml`.
"""
