"""Events on their way: send what is due, look at it, send it again, receive on this machine.

Lives here: `deliver.py` (the only sender; read it first) with `sending.py` (one run of it) and
`alerts.py` (what its institution is told), `events.py` (shows one, and makes them due again),
`listen.py` (a receiver to try things with). May import what `jobs` may, and of `jobs` the context.
To add a reason to tell an institution, add it to `alerts.py`.
"""
