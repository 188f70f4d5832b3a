"""API keys, and the security log.

`work.py` makes, rotates and revokes keys (read it first), `rules.py` says what a key is made of,
`questions.py` lists them, `notices.py` tells institutions of keys that end, `security.py` proves
that the security log is whole; it is written by `kernel/store/acts.py`. May import the
slices before it. To add a kind of entry to the security log, add it to `security.py`.
"""
