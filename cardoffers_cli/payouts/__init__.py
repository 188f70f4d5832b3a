"""Payouts: what statements say is paid, and what the bank says of it.

`exporting.py` writes payment files (read it first), `importing.py` takes the bank's files,
`questions.py` and `reading.py` list and show, `bank_codes.py` says what a bank's reason means,
`files/` are the formats. May import the slices before it. To add a format, add its module to
`files/`.
"""
