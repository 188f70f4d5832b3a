"""Payouts: pay what statements say, and take in what the bank says of it.

Here live the export of payment files (`exporting.py`, read it first), the import of files of banks
(`bank.py`) and what is shown of both (`reading.py`), with the verdicts of the bank's side. May
import what jobs may. To add a form of payment, add it to `payouts/files/forms.py`; a verdict, to
the statement `states` of `payouts/questions.sql` and to rules.md#bank-verdicts.
"""
