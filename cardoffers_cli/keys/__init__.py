"""Keys of institutions, notices before they end, and the security log that tells of them.

Lives here: `keys.py` (make, rotate, revoke, check; read it first), `notices.py` (who is told that
a key ends) and `security.py` (the log as a whole, and the proof that it is intact).
May import what `jobs` may, and of `jobs` the context. To add an event of the log, add it where it
happens.
"""
