"""Approvals: actions that wait for a second person.

`kernel/store/approval_requests.py` asks for one where an action needs it; `work.py` decides, does
what was asked for and records who did (read it first); `questions.py` lists what waits. May import
the slices before it. To put an action under approval, add its kind to `kernel/words/approvals.py`
and its call to `work.py`.
"""
