from __future__ import annotations

import os
from pathlib import Path

import pytest

from banks import NUMBER, bai2, camt, entry, head, listed, mt940, nacha, pain002, returned, said
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.findings import BANK_CODES
from cardoffers_cli.payouts.files.answers import open_bank_file

AT = "11-03 00:00"
PAID = ("booked", "debit", NUMBER, "1234.50", AT, None, "B-1")
BACK = ("returned", "credit", NUMBER, "1234.50", AT, "AC04", "B-2")
TWO = (
    '<Ntry><Amt Ccy="GBP">3.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts>'
    "<BookgDt><DtTm>2026-11-03T23:30:00-01:00</DtTm></BookgDt><AcctSvcrRef>B-3</AcctSvcrRef>"
    "<NtryDtls>"
    '<TxDtls><Refs><EndToEndId>A</EndToEndId></Refs><Amt Ccy="GBP">1.00</Amt></TxDtls>'
    "<TxDtls><Refs><PmtInfId>B</PmtInfId></Refs>"
    '<AmtDtls><TxAmt><Amt Ccy="GBP">2.00</Amt></TxAmt></AmtDtls></TxDtls>'
    "</NtryDtls></Ntry>"
)
LATE = "11-04 00:30"
LEFT_OVER = TWO.replace(">3.00<", ">9.25<").replace("</NtryDtls>", "<TxDtls/></NtryDtls>")
FOREIGN = entry(ref="X-1", details='<Amt Ccy="GBP">9.00</Amt>')
"""What stands in another namespace, or was added to the message, and is no word of it."""

CAMT = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"
_OF_1234 = (
    "<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>"
    '<Refs><AcctSvcrRef>D-2</AcctSvcrRef></Refs><Amt Ccy="GBP">1234.50</Amt>'
)
_EXCHANGED = '<AmtDtls><InstdAmt><Amt Ccy="EUR">9.00</Amt><CcyXchg/></InstdAmt></AmtDtls>'

RECEIPT = ("booked", "credit", "INV-2026-000002", "300.00", AT, None, "B-3")
_SEPA = "166?00UEBERWEISUNG?20EREF+ALDER-2026-000001SVW?21Z+thanks 1?22Z?30COBADEFF?31DE89"
_THEIR_ID = "/EREF/42/REMI/Invoice INV-2026-000002 with thanks/"
_BACK = f"159?20EREF+{NUMBER}SVWZ+RETURN?21AC04 closed"
_ACCOUNT = "55555555"

FILES = {
    "MT940": (
        mt940(
            *(f"D 1234,50 B-1 {_SEPA}", f"C 300, B-3 {_THEIR_ID}", f"RD 1234,5 B-2 {_BACK}"),
            opening="1000,00",
            closing="1300,",
        ),
        [PAID, RECEIPT, BACK, (_ACCOUNT, "1000.00", "1300", True)],
    ),
    "MT940 in an envelope": (
        b"{1:F01BUKBGB22XXXX0000000000}{2:I940X}{4:\r\n"
        + mt940(f"D 1234,50 B-1 {NUMBER}", opening="1000,00", closing="-234,50").replace(
            b"\n", b"\r\n"
        )
        + b"-}",
        [PAID, (_ACCOUNT, "1000.00", "-234.50", True)],
    ),
    "MT940 of pages": (
        mt940("C 300, B-3 INV-2026-000002", opening="0,", closing="300,").replace(b"62F", b"62M")
        + mt940(f"D 1234,50 B-1 {_SEPA}", opening="300,", closing="-934,50").replace(
            b"60F", b"60M"
        ),
        [RECEIPT, (_ACCOUNT, "0", "300", True), PAID, (_ACCOUNT, "300", "-934.50", True)],
    ),
    "MT940 with a text behind it": (
        mt940(f"D 1234,50 B-1 {_SEPA}", opening="2000,", closing="765,50").replace(
            b"\n-\n", b"\n:64:C261103GBP765,50\n:86:INV-2026-000009\nRest\n-\n"
        ),
        [PAID, (_ACCOUNT, "2000", "765.50", True)],
    ),
    "BAI2": (
        bai2(
            f"475 123450 B-1 {NUMBER},PAYMENT/",
            "165 30000 B-3 42,INV-2026-000002\n88,THANKS/",
            "890 0 B-9 ,SEE THE LETTER/",
            f"257 123450 B-2 {NUMBER},RETURN AC04/",
            opening="100000",
            closing="130000",
        )
        .replace(b",10/", b",11/")
        .replace(b",8/", b",9/")
        .replace(b",6/", b",7/"),
        [PAID, RECEIPT, BACK, (_ACCOUNT, "1000.00", "1300.00", True)],
    ),
    "BAI2 without balances": (
        bai2(f"475 123450 B-1 {NUMBER},/", opening="0", closing="0").replace(
            b"010,0,,,015,0,,/", b"/"
        ),
        [PAID, (_ACCOUNT, "None", "None", False)],
    ),
    "a proved statement": (
        camt(head("1000.00", "-234.50"), entry()),
        [PAID, (_ACCOUNT, "1000.00", "-234.50", True)],
    ),
    "a statement that lacks an entry": (
        camt(head("1000.00", "-1469.00"), entry()),
        [PAID, ("statement 1", "balance_differs"), (_ACCOUNT, "1000.00", "-1469.00", False)],
    ),
    "a statement with what was not booked": (
        camt(head("9.00", "9.00"), entry(status="PDNG")),
        [("pending", *PAID[1:]), (_ACCOUNT, "9.00", "9.00", True)],
    ),
    "a statement with what cannot be read": (
        camt(head("9.00", "9.00"), entry("1,50")),
        [
            ("entry 1", "bank_amount_invalid"),
            ("statement 1", "balance_differs"),
            (_ACCOUNT, "9.00", "9.00", False),
        ],
    ),
    "a head within an entry": (
        camt(
            head("1000.00", "-234.50"),
            entry(details=head("1.00", "2.00", account="FR1420041010050500013M02606")),
        ),
        [PAID, (_ACCOUNT, "1000.00", "-234.50", True)],
    ),
    "two statements": (
        camt(
            *(head("9.00", "9.00"), f"</Stmt><Stmt><Id>2</Id>{head('1234.50', '0.00')}", entry()),
        ),
        [(_ACCOUNT, "9.00", "9.00", True), PAID, (_ACCOUNT, "1234.50", "0.00", True)],
    ),
    "camt.053": (camt(entry()), [PAID]),
    "camt.054": (camt(entry(), kind="camt.054"), [PAID]),
    "camt.052": (camt(entry()).replace(b"camt.053", b"camt.052"), [PAID]),
    "an older version": (camt(entry(status="BOOK"), version="001.02"), [PAID]),
    "a newer version": (camt(entry(), version="001.13"), [PAID]),
    "with a prefix": (
        camt(entry())
        .replace(b"<", b"<n:")
        .replace(b"<n:/", b"</n:")
        .replace(b"<n:?", b"<?")
        .replace(b"xmlns=", b"xmlns:n="),
        [PAID],
    ),
    "in UTF-16": (camt(entry()).decode().replace("UTF-8", "UTF-16").encode("utf-16"), [PAID]),
    "in Latin-1": (camt(entry()).replace(b"UTF-8", b"ISO-8859-1"), [PAID]),
    "with a mark": (b"\xef\xbb\xbf" + camt(entry()), [PAID]),
    "a return": (camt(returned()), [BACK]),
    "a reversal": (
        camt(entry(side="CRDT").replace("<Sts>", "<RvslInd>true</RvslInd><Sts>")),
        [("returned", "credit", NUMBER, "1234.50", AT, None, "B-1")],
    ),
    "what we sent back": (camt(returned(side="DBIT")), [("booked", "debit", *BACK[2:])]),
    "not booked yet": (camt(entry(status="PDNG")), [("pending", *PAID[1:])]),
    "two in one entry": (
        camt(TWO),
        [
            ("booked", "debit", "A", "1.00", LATE, None, "B-3"),
            ("booked", "debit", "B", "2.00", LATE, None, "B-3"),
        ],
    ),
    "more than its details": (
        camt(LEFT_OVER),
        [
            ("booked", "debit", "A", "1.00", LATE, None, "B-3"),
            ("booked", "debit", "B", "2.00", LATE, None, "B-3"),
            ("entry 1", "entry_not_explained"),
            ("unexplained", "debit", None, "6.25", LATE, None, "B-3"),
            ("entry 1", "bank_amount_invalid"),
        ],
    ),
    "less than its details": (
        camt(TWO.replace(">3.00<", ">2.50<")),
        [
            ("booked", "debit", "A", "1.00", LATE, None, "B-3"),
            ("booked", "debit", "B", "2.00", LATE, None, "B-3"),
            ("entry 1", "entry_not_explained"),
            ("unexplained", "credit", None, "0.50", LATE, None, "B-3"),
        ],
    ),
    "a return less its charges": (
        camt(returned(amount="1224.50", details=_OF_1234)),
        [
            ("returned", "credit", NUMBER, "1234.50", AT, "AC04", "D-2"),
            ("entry 1", "entry_not_explained"),
            ("unexplained", "debit", None, "10.00", AT, None, "B-2"),
        ],
    ),
    "in another currency": (
        camt(entry(details=_EXCHANGED)),
        [("booked", "debit", NUMBER, "9.00", *PAID[4:])],
    ),
    "of another namespace": (
        camt(
            FOREIGN.replace("<Ntry>", '<Ntry xmlns="urn:x">'),
            f"<SplmtryData><Envlp>{FOREIGN}</Envlp></SplmtryData>",
            f'<Other xmlns="urn:x"><More xmlns="{CAMT}">{FOREIGN}</More></Other>',
            entry(details='<Amt xmlns="urn:x" Ccy="GBP">9.00</Amt>'),
        ),
        [PAID],
    ),
    "named in its text": (
        camt(entry(named="NOTPROVIDED", details=f"<RmtInf><Ustrd>{NUMBER}</Ustrd></RmtInf>")),
        [PAID],
    ),
    "of no name": (camt(entry(named="NOTPROVIDED")), [("booked", "debit", None, *PAID[3:])]),
    "no entries": (camt(), []),
    "wrong entries": (
        camt(
            entry("12,50"),
            entry("1.005"),
            entry(currency="XXX"),
            entry(status="DONE"),
            entry(side="LEFT"),
            entry(on="<Dt>2026-02-30</Dt>"),
            entry(),
        ),
        [
            ("entry 1", "bank_amount_invalid"),
            ("entry 2", "bank_amount_invalid"),
            ("entry 3", "bank_currency_unknown"),
            ("entry 4", "bank_status_unknown"),
            ("entry 5", "bank_direction_unknown"),
            ("entry 6", "bank_date_invalid"),
            PAID,
        ],
    ),
    "pain.002": (
        pain002(
            (NUMBER, "RJCT", "AC01"), ("B", "ACSC", "G000"), ("C", "PDNG", "X"), ("D", "?", "")
        ),
        [
            ("rejected", "debit", NUMBER, "None", None, "AC01", None),
            ("accepted", "debit", "B", "None", None, "G000", None),
            ("pending", "debit", "C", "None", None, "X", None),
            ("entry 5", "bank_status_unknown"),
        ],
    ),
    "a batch rejected": (
        pain002().replace(b"</OrgnlPmtInfId>", b"</OrgnlPmtInfId><PmtInfSts>RJCT</PmtInfSts>"),
        [("rejected", "debit", "X", "None", None, None, None)],
    ),
    "an answer of no payment": (
        pain002(("NOTPROVIDED", "RJCT", "AC01")),
        [("entry 2", "bank_reference_missing")],
    ),
    "a payment of NACHA": (
        nacha().replace(b"\n799R02", b"\n705R02"),
        [("line 3", "bank_entry_forward")],
    ),
    "a return of NACHA": (
        nacha(),
        [("returned", "credit", NUMBER[-15:], "1234.50", "11-05 00:00", "R02", "011401530000009")],
    ),
    "a return of a debit": (
        nacha()
        .replace(b"\n621", b"\n626")
        .replace(b"000000000000000000123450", b"000000123450000000000000"),
        [("returned", "credit", NUMBER[-15:], "1234.50", "11-05 00:00", "R02", "011401530000009")],
    ),
    "a notice of change": (
        nacha("C01"),
        [("notice", "credit", NUMBER[-15:], "1234.50", "11-05 00:00", "C01", "011401530000009")],
    ),
    "without line ends": (
        nacha().replace(b"\n", b""),
        [("returned", "credit", NUMBER[-15:], "1234.50", "11-05 00:00", "R02", "011401530000009")],
    ),
    "other totals": (
        nacha()
        .replace(b"\n9000001000001", b"\n9000001000001", 1)
        .replace(b"000000123450   ", b"000000123451   "),
        [
            (
                "returned",
                "credit",
                NUMBER[-15:],
                "1234.50",
                "11-05 00:00",
                "R02",
                "011401530000009",
            ),
            ("line 6", "bank_total_differs"),
        ],
    ),
    "a list": (
        listed(
            f"{NUMBER},booked,1234.50,GBP,2026-11-03,,B-1",
            f"{NUMBER},returned,1234.5,GBP,2026-11-03T10:00:00+01:00,AC04,B-2",
            "",
            f"{NUMBER},gone,1,GBP,2026-11-03,,",
            f"{NUMBER},booked,-1,GBP,2026-11-03,,",
        ),
        [
            PAID,
            ("returned", "credit", NUMBER, "1234.50", "11-03 09:00", "AC04", "B-2"),
            ("line 5", "bank_status_unknown"),
            ("line 6", "bank_amount_invalid"),
        ],
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_what_a_bank_says_is_read(name: str, tmp_path: Path) -> None:
    """rules.md#bank-entries"""
    content, expected = FILES[name]
    assert expected == said(tmp_path, content)


def test_every_finding_of_a_bank_s_file_has_a_row() -> None:
    rows = (each for _, expected in FILES.values() for each in expected)
    assert {*BANK_CODES} == {code for _, code in (each for each in rows if len(each) == 2)}


@pytest.mark.parametrize("folder", ["camt", "ach", "mt940"])
def test_files_of_others_are_read_or_refused(folder: str) -> None:
    """`CARDOFFERS_BANK_FILES` has checkouts of genkgo/camt, moov-io/ach and WoLpH/mt940."""
    place = os.environ.get("CARDOFFERS_BANK_FILES")
    if not place:
        pytest.skip("CARDOFFERS_BANK_FILES names no folder")
    kinds = {".xml", ".ach", ".sta"}
    found = [each for each in (Path(place) / folder).rglob("*") if each.suffix in kinds]
    ends = {"read": 0, "refused": 0}
    for path in found:
        try:
            with open_bank_file(path) as file:
                list(file.said)
            ends["read"] += 1
        except FileUnusable:
            ends["refused"] += 1
    assert min(ends.values()) > 0
