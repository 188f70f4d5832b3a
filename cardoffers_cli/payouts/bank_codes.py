"""What banks mean by the codes with which they return, reject and correct payments.

Of ISO 20022 (external code sets of payment status and return reasons) and of NACHA (returns R..,
notifications of change C..). A code that is not listed is shown as it came.
"""

from __future__ import annotations

from pathlib import Path

from cardoffers_cli.kernel.words.findings import Code

MEANINGS = dict(
    line.split(" ", 1)
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
)
"""Code -> what it means, for a person."""

_AGAIN = (
    "pay it again with `cardoffers payout export --statement NUMBER --form FORM --again"
    " --reason TEXT -o FILE`"
)
_SET_ACCOUNT = "`cardoffers institution set INST --account IBAN/BIC`"
_OTHER_ACCOUNT = (
    f"ask the institution for its right account, set it with {_SET_ACCOUNT}, then {_AGAIN}"
)
_PAYER = f"correct what the settings say of the payer, or its account, then {_AGAIN}"
_NOTICE = (
    "the payment was made: ask the institution whether it is so, and set its account for the next"
    f" one with {_SET_ACCOUNT}"
)
_ASK = f"ask the bank what stopped it; once that is gone, {_AGAIN}"
_OF_ACCOUNT = frozenset(
    "AC01 AC03 AC04 AC06 AC07 AC13 AC14 AG01 BE01 BE04 BE06 CNOR CURR MD07 RC01 RC04 RR03"
    " R02 R03 R04 R13 R15 R16 R20 R42 R43 R44 R45".split()
)
_OF_PAYER = frozenset("AC02 AM04 AM23 BE05 BE07 DNOR RC03 RR01 RR02 R01".split())


def fix_of(code: str) -> str:
    """Say what to do when a bank gives a code for a payment to an institution."""
    if code in _OF_ACCOUNT:
        return _OTHER_ACCOUNT
    if code in _OF_PAYER:
        return _PAYER
    return _NOTICE if code[0] == "C" and code[1:].isdigit() else _ASK


_FROM_BANKS = (
    "It is a bank's own code, of ISO 20022 or NACHA, for a payment that it returned, rejected or"
    " corrected: `cardoffers payout list` shows of which."
)

REASONS = {
    code: Code(code, "warning", meaning, fix_of(code), _FROM_BANKS)
    for code, meaning in MEANINGS.items()
}
"""Every code of a bank with what to do about it, as it is explained to people."""


def meaning_of(code: str | None) -> str | None:
    """Say what a bank means by a code; None of what is not listed."""
    return MEANINGS.get(code) if code else None
