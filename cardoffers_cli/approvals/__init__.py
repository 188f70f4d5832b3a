"""Approvals: actions that wait for a second person.

`kernel/store/approval_requests.py` asks for one where an action needs it; `work.py` lists what
waits, and gives or refuses it (read it first). May import the slices before it. To put an action
under approval, add its kind to `kernel/words/approvals.py`, and call `require_approval` where it is
done.
"""
