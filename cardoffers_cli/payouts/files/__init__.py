"""What goes to banks and comes from them: payment files out, answers in.

Here are written pain.001 (`pain001.py`), NACHA CCD (`nacha.py`) and CSV (`payments.py`, read it
first: what a payment is, in each form), and read camt.053, camt.054 and pain.002 (`messages.py`),
NACHA returns (`nacha_returns.py`) and CSV (`listed.py`); `answers.py` finds out which of them a
file is. May import `domain` only; the XML of banks is parsed with defusedxml, which lives here. To
add a form to write, add it to `FORMS`; one to read, to `answers.py`. What codes mean stands in
`payouts/bank_codes.py`.
"""
