"""What banks mean by the codes with which they return, reject and correct payments.

Of ISO 20022 (external code sets of payment status and return reasons) and of NACHA (returns R..,
notifications of change C..). A code that is not listed is shown as it came.
"""

from __future__ import annotations

from cardoffers_cli.kernel.words.findings import Code

_ISO = """
AB05 timed out at the creditor's bank
AB06 timed out between the banks
AB08 the creditor's bank is not on line
AC01 the account number is not valid
AC02 the debtor's account number is not valid
AC03 the creditor's account number is not valid
AC04 the account is closed
AC06 the account is blocked
AC07 the creditor's account is closed
AC13 the kind of account is not allowed
AC14 the kind of the creditor's account is not allowed
AG01 no such payment is allowed on the account
AG02 the bank does not know this kind of payment
AG03 the bank does not take this kind of payment
AM01 the amount is zero
AM02 the amount is larger than allowed
AM03 the currency is not one the bank takes
AM04 the account does not hold enough
AM05 the bank takes it as a payment sent twice
AM06 the amount is smaller than allowed
AM07 the amount is blocked
AM09 the amount is not the one agreed
AM10 the control sum does not fit
AM12 the amount is not valid
AM13 the amount is larger than the clearing allows
AM14 the amount is larger than agreed with the bank
AM23 the payments of the day come to more than is allowed
BE01 the name does not fit the account
BE04 the creditor's address is missing
BE05 the initiating party is not known
BE06 the customer is not known there
BE07 the debtor's address is missing
CH03 the day of execution is too far ahead
CH17 an element does not belong into the message
CH20 the amount has too many decimals
CNOR the creditor's bank is not registered
CUST the customer asked for it
CURR the currency is not right
DNOR the debtor's bank is not registered
DS02 the order was cancelled
DS04 the order was rejected
DT01 the date is not valid
DT06 the bank changed the day of execution
DU01 the message has an id that was used before
DU02 the payment information has an id that was used before
DU03 the transaction was sent before
DU04 the end-to-end id was used before
DUPL the payment is a duplicate
ED05 the settlement failed
ED06 the settlement system is not available
ERIN the bank does not take extended remittance information
FF01 the form of the file is not valid
FF05 the kind of payment is not valid
FOCR returned after a request to cancel it
FR01 the bank suspects fraud
FRAD the payment is fraudulent
MD07 the account holder died
MS02 the customer gave no reason
MS03 the bank gave no reason
NARR the reason stands in the bank's own words
NOAS the customer did not answer
NOOR the bank has no such payment
RC01 the BIC is not valid
RC03 the debtor's bank is not valid
RC04 the creditor's bank is not valid
RF01 the reference was used before
RR01 the debtor's account or id is missing, and the law asks for it
RR02 the debtor's name or address is missing, and the law asks for it
RR03 the creditor's name or address is missing, and the law asks for it
RR04 the law does not allow it
SL01 a service of the debtor's bank stopped it
SL11 the creditor's list does not have the debtor
TM01 it came after the closing time of the bank
TS01 the bank had no answer in time
UPAY the payment is not due
"""

_NACHA = """
R01 the account does not hold enough
R02 the account is closed
R03 there is no such account, or the name does not fit it
R04 the account number is not valid
R05 a consumer did not allow the debit
R06 returned because the sending bank asked for it
R07 the customer withdrew the authorization
R08 the customer stopped the payment
R09 the funds are not collected yet
R10 the customer says that it was not authorized
R11 the customer says that it is not as was authorized
R12 the account was sold to another bank
R13 the routing number is not valid
R14 the representative payee died, or cannot act any more
R15 the beneficiary or account holder died
R16 the account is frozen, or the law forbids the payment
R17 the bank doubts an entry that was made in a hurry
R18 the effective date is not right
R19 the amount has the wrong form
R20 the account takes no such payments
R21 the company identification is not valid
R22 the identification of the individual is not valid
R23 the receiver refused the credit
R24 the bank takes it as an entry sent twice
R25 the addenda are in the wrong form
R26 a field that is needed is missing or wrong
R27 the trace number is wrong
R28 the check digit of the routing number is wrong
R29 the corporate customer says that it was not authorized
R30 the bank takes no cheque truncation
R31 the bank returns it late, as the sending bank allowed
R32 the bank does not settle
R33 returned by a bank of cheque conversions
R34 the bank takes part only in some payments
R35 the debit is not allowed
R36 the credit is not allowed
R37 the cheque was presented too
R38 payment of the cheque was stopped
R39 the cheque is not allowed
R40 an agency returns the enrolment
R41 the transaction code is not valid
R42 the routing number or its check digit is wrong
R43 the account number is wrong
R44 the identification of the individual is wrong
R45 the name of the individual or company is wrong
R46 the indicator of the representative payee is wrong
R47 the enrolment was made twice
R50 the law of the state does not allow the entry
R51 the entry of a cheque is not allowed
R52 payment of the entry was stopped
R53 the cheque and the entry were both presented
R61 the return was sent to the wrong bank
R62 the return is of an entry that was reversed wrongly
R67 the return was sent twice
R68 the return came too late
R69 fields of the return are wrong
R70 the return was not agreed to
R71 the dishonored return was sent to the wrong bank
R72 the dishonored return came too late
R73 the original return was in time
R74 the return is corrected
R75 the original return was no duplicate
R76 the fields of the return were right
R77 the bank does not take the dishonored return
R80 the foreign payment was coded wrongly
R81 the bank takes no foreign payments
R82 the foreign bank is not valid
R83 the foreign bank could not settle
R84 the gateway did not process it
R85 the foreign payment has a code of an inland one
C01 the account number is wrong
C02 the routing number is wrong
C03 the routing number and the account number are wrong
C04 the name is wrong
C05 the transaction code is wrong
C06 the account number and the transaction code are wrong
C07 the routing number, the account number and the transaction code are wrong
C08 the identification of the foreign bank is wrong
C09 the identification number is wrong
C13 the addenda are in the wrong form
C14 the entry class of a foreign payment is wrong
"""

MEANINGS = dict(line.split(" ", 1) for line in (_ISO + _NACHA).strip().splitlines() if line)
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
