"""Small files as banks send them, made of the entries that a test names."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.bank_accounts import parse_account
from cardoffers_cli.payouts.files.answers import open_bank_file
from cardoffers_cli.payouts.files.entries import BankFinding, BankStatement
from cardoffers_cli.payouts.files.pain001 import Party, Payment

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.payouts.files.entries import Said

NUMBER = "ALDER-2026-000001"
LONDON = "GB33BUKB20201555555555/BUKBGB22"
BERLIN = "DE89370400440532013000"
NEW_YORK = "021000021/111000111"
BOSTON = "011401533/12345678901234567"


def payment(**changes: Any) -> Payment:
    """Return a payment of GBP, or with accounts of two American banks where it is of USD."""
    is_usd = changes.get("currency") == "USD"
    return Payment(
        **{
            "payment_id": NUMBER,
            "statement": NUMBER,
            "amount": Decimal("1234.50"),
            "currency": "GBP",
            "payer": party("Offers & Co", NEW_YORK if is_usd else LONDON, "1234567890"),
            "payee": party("Café Alder <plc>", BOSTON if is_usd else BERLIN),
            "trace_no": 7,
            "made_at": datetime(2026, 11, 1, 2, 3, 4, 5),  # noqa: DTZ001 - moments are naive UTC
            "due_on": date(2026, 11, 2),
            **changes,
        }
    )


def party(name: str, account: str, account_id: str | None = None, **more: str) -> Party:
    return Party(name=name, account=parse_account(account), account_id=account_id, **more)


def camt(*entries: str, kind: str = "camt.053", version: str = "001.08") -> bytes:
    """Write a message with entries of an account."""
    outer, inner = (
        ("BkToCstmrStmt", "Stmt") if kind == "camt.053" else ("BkToCstmrDbtCdtNtfctn", "Ntfctn")
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<Document xmlns="urn:iso:std:iso:20022:tech:xsd:{kind}.{version}"><{outer}>'
        f"<GrpHdr><MsgId>M</MsgId></GrpHdr><{inner}><Id>1</Id>{''.join(entries)}</{inner}>"
        f"</{outer}></Document>\n"
    ).encode()


def entry(
    amount: str = "1234.50",
    currency: str = "GBP",
    *,
    side: str = "DBIT",
    status: str = "<Cd>BOOK</Cd>",
    on: str = "<Dt>2026-11-03</Dt>",
    ref: str = "B-1",
    named: str = NUMBER,
    details: str = "",
) -> str:
    """Write an entry with one payment."""
    return (
        f'<Ntry><Amt Ccy="{currency}">{amount}</Amt><CdtDbtInd>{side}</CdtDbtInd>'
        f"<Sts>{status}</Sts><BookgDt>{on}</BookgDt><AcctSvcrRef>{ref}</AcctSvcrRef>"
        f"<NtryDtls><TxDtls><Refs><EndToEndId>{named}</EndToEndId></Refs>{details}</TxDtls>"
        "</NtryDtls></Ntry>"
    )


def returned(code: str = "AC04", **changes: str) -> str:
    """Write an entry that came back."""
    reason = f"<RtrInf><Rsn><Cd>{code}</Cd></Rsn></RtrInf>"
    return entry(**{"side": "CRDT", "ref": "B-2", "details": reason, **changes})


def head(opening: str, closing: str, *, on: str = "2026-11-03", account: str = LONDON[:22]) -> str:
    """Write the account of a statement, and what it opened and closed with."""
    balances = "".join(
        f"<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp>"
        f'<Amt Ccy="GBP">{held.strip("-")}</Amt>'
        f"<CdtDbtInd>{'DBIT' if held[0] == '-' else 'CRDT'}</CdtDbtInd><Dt><Dt>{on}</Dt></Dt></Bal>"
        for code, held in (("OPBD", opening), ("CLBD", closing))
    )
    return f"<Acct><Id><IBAN>{account}</IBAN></Id></Acct>{balances}"


def mt940(
    *entries: str, opening: str, closing: str, on: str = "261103", account: str = LONDON[:22]
) -> bytes:
    """Write a statement of MT940 with lines as `mark amount ref text`."""
    lines = [
        f":61:{on}{on[2:]}{mark}{amount}NTRFNONREF//{ref}\n:86:{text}"
        for mark, amount, ref, text in (entry.split(" ", 3) for entry in entries)
    ]
    balances = [
        f":{tag}:{'D' if held[0] == '-' else 'C'}{on}GBP{held.strip('-')}"
        for tag, held in (("60F", opening), ("62F", closing))
    ]
    rows = [":20:S", f":25:{account}", ":28C:1/1", balances[0], *lines, balances[1], "-"]
    return "".join(f"{row}\n" for row in rows).encode()


def bai2(
    *entries: str, opening: str, closing: str, on: str = "261103", account: str = "0155555555"
) -> bytes:
    """Write a report of BAI2 with details as `type cents ref named,text`."""
    details = [
        f"16,{kind},{cents},Z,{ref},{text}"
        for kind, cents, ref, text in (entry.split(" ", 3) for entry in entries)
    ]
    total = sum(int(entry.split(" ")[1]) for entry in entries) + int(opening) + int(closing)
    many = len(entries)
    rows = [
        f"01,BANK,US,{on},0200,1,,,2/",
        f"02,US,BANK,1,{on},2359,GBP,2/",
        f"03,{account},,010,{opening},,,015,{closing},,/",
        *details,
        *(f"49,{total},{many + 2}/", f"98,{total},1,{many + 4}/", f"99,{total},1,{many + 6}/"),
    ]
    return "".join(f"{row}\n" for row in rows).encode()


def pain002(*answers: tuple[str, str, str]) -> bytes:
    """Write a message of (end-to-end id, status, code) of payments."""
    told = "".join(
        f"<TxInfAndSts><OrgnlEndToEndId>{named}</OrgnlEndToEndId><TxSts>{status}</TxSts>"
        f"<StsRsnInf><Rsn><Cd>{code}</Cd></Rsn></StsRsnInf></TxInfAndSts>"
        for named, status, code in answers
    )
    return (
        '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt>'
        "<GrpHdr><MsgId>M</MsgId></GrpHdr><OrgnlGrpInfAndSts><OrgnlMsgId>X</OrgnlMsgId>"
        f"</OrgnlGrpInfAndSts><OrgnlPmtInfAndSts><OrgnlPmtInfId>X</OrgnlPmtInfId>{told}"
        "</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>\n"
    ).encode()


def nacha(code: str = "R02", *, named: str = NUMBER, trace: str = "021000020000007") -> bytes:
    """Write a file with one entry that came back, or a notice of change."""
    kind = "98" if code.startswith("C") else "99"
    records = [
        "101 021000021 0210000212611050203A094101" + " " * 54,
        f"5220{'OFFERS':16}{'':20}1234567890CCDCASHBACK  261104261105   1{'01140153'}0000001",
        f"621011401533{'123456789':17}{123450:010}{named[-15:]:15}{'ALDER':22}  1011401530000001",
        f"7{kind}{code}{trace}      {'02100002'}{'':44}011401530000009",
        f"8220{2:06}{1140153:010}{0:012}{123450:012}1234567890{'':25}011401530000001",
        f"9{1:06}{1:06}{2:08}{1140153:010}{0:012}{123450:012}{'':39}",
    ]
    return "".join(f"{each}\n" for each in [*records, *["9" * 94] * 4]).encode()


def listed(*rows: str) -> bytes:
    """Write a list with the usual columns."""
    header = "payment_id,status,amount,currency,booked_at,code,bank_ref"
    return "".join(f"{each}\n" for each in (header, *rows)).encode()


def said(folder: Path, content: bytes) -> list[tuple[Any, ...]]:
    """Read a file; return each entry in the columns of `SAID`, each finding by place and code."""
    path = folder / "bank.file"
    path.write_bytes(content)
    with open_bank_file(path) as file:
        return [shown(each) for each in file.said if each != BankStatement(message="camt.053")]


def shown(each: Said) -> tuple[Any, ...]:
    """Return an entry in the usual columns, what else is said in fewer."""
    if isinstance(each, BankStatement):
        return (each.account, str(each.opening), str(each.closing), each.is_proved)
    if isinstance(each, BankFinding):
        return (each.place, each.code)
    day = each.booked_at and f"{each.booked_at:%m-%d %H:%M}"
    named = each.payment_id or each.trace
    return (each.status, each.direction, named, str(each.amount), day, each.code, each.bank_ref)
