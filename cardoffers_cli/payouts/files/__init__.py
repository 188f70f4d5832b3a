"""Files to and from banks, read and written as messages with exact amounts.

`payments` go out as pain.001 (`pain001.py`) and NACHA (`nacha.py`); `messages.py` reads what comes
back, as XML (`xml_entries.py`), NACHA returns (`nacha_returns.py`) or listed rows, into
`entries.py`: read it first. May import the kernel and intake; defusedxml is imported nowhere else.
To add a format that a bank answers in, add its module and its line in `forms.py`.
"""
