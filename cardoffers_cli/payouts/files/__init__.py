"""Files to and from banks, read and written as messages with exact amounts.

Payments go out as pain.001 (`pain001.py`) and NACHA (`nacha.py`). What comes back, as XML
(`messages.py`), NACHA returns (`nacha.py`) or listed rows, becomes `entries.py`: read it first.
May import the kernel and intake; defusedxml is imported nowhere else. To add a format that a bank
answers in, add its module and its line in `answers.py`.
"""
