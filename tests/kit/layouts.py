"""Exports as banks write them, made by hand: each with its profile and what its rows mean.

`expected` is a text table: the line, amount, time and reference of each row that is kept, as our
own layout would write them; `-` is empty, and `?` is what is not written as the profile says.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MadeLayout:
    """A file in its encoding, the profile that reads it, and its rows."""

    name: str
    profile: str
    text: str
    expected: str
    encoding: str = "utf-8"

    @property
    def content(self) -> bytes:
        """The bytes of the file."""
        return self.text.lstrip("\n").encode(self.encoding)


LAYOUTS = [
    MadeLayout(
        "german: latin-1, semicolon, decimal comma, local times",
        """
encoding = "latin-1"
form = {delimiter = ";"}
[fields]
amount = {column = "Betrag", decimal = ",", thousands = "."}
transacted_at = {column = "Kaufdatum", format = "%d.%m.%Y %H:%M", zone = "Europe/Berlin"}
transaction_ref = {column = "Belegnummer"}
merchant_descriptor = {column = "Händler"}
""",
        """
Belegnummer;Händler;Kaufdatum;Betrag
B-1;Bäckerei Groß;05.03.2026 18:30;12,50
B-2;Café;05.07.2026 08:05;1.234,56
B-3;Café;06.07.2026 08:05;1234,56
B-4;Café;06.07.2026 08:05;12.50
""",
        """
line amount   transacted_at         transaction_ref
2    12.50    2026-03-05T17:30:00Z  B-1
3    1234.56  2026-07-05T06:05:00Z  B-2
4    1234.56  2026-07-06T06:05:00Z  B-3
5    ?        2026-07-06T06:05:00Z  B-4
""",
        "latin-1",
    ),
    MadeLayout(
        "british: quoted, thousands, a sign and parentheses",
        """
form = {delimiter = ","}
[fields]
amount = {column = "Amount", thousands = ",", currency = "£", parentheses = true}
transacted_at = {column = "Date", format = "%d/%m/%Y", zone = "Europe/London"}
transaction_ref = {column = "Ref"}
""",
        """
"Ref","Date","Amount"
"1","01/06/2026","£1,106.89"
"2","01/12/2026","(£99.00)"
"3","01/12/2026","£(99.00)"
"4","01/12/2026","-£5"
"5","31/12/2026","£.97"
6,31/12/2026,"£ 7.00"
""",
        """
line amount   transacted_at         transaction_ref
2    1106.89  2026-05-31T23:00:00Z  1
3    -99.00   2026-12-01T00:00:00Z  2
4    -99.00   2026-12-01T00:00:00Z  3
5    -5       2026-12-01T00:00:00Z  4
6    0.97     2026-12-31T00:00:00Z  5
7    7.00     2026-12-31T00:00:00Z  6
""",
    ),
    MadeLayout(
        "brazilian: a sign before the number, a padded id, drops",
        """
encoding = "cp1252"
form = {delimiter = ";"}
drop_where = [{column = "TIPO", is = ["SAQUE", ""]}]
[fields]
amount = {column = "VALOR", decimal = ",", thousands = ".", currency = "R$"}
transacted_at = {column = "DATA", format = "%d/%m/%Y", zone = "America/Sao_Paulo"}
transaction_ref = {columns = ["DOC", "SEQ"], join = "-"}
card_acceptor_id = {column = "CNPJ", pad = 14, empty = ["-1"]}
""",
        """
"DOC";"SEQ";"DATA";"VALOR";"TIPO";"CNPJ"
"7";"1";"19/12/2023";"R$ 1.500,00";"COMPRA";"1234567000189"
"7";"2";"19/12/2023";"R$ 500,00";"SAQUE";"-1"
"8";"1";"15/10/2017";"R$ 1,05";"COMPRA À VISTA";"-1"
"8";"";"15/10/2017";"R$ 1,05";"COMPRA";"-1"
""",
        """
line amount   transacted_at         transaction_ref card_acceptor_id
2    1500.00  2023-12-19T03:00:00Z  7-1             01234567000189
4    1.05     2017-10-15T03:00:00Z  8-1             -
5    1.05     2017-10-15T03:00:00Z  -               -
""",
        "cp1252",
    ),
    MadeLayout(
        "fixed width: minor units with a sign, header and trailer",
        """
skip_lines = 1
form = {widths = [1, 6, 8, 10, 9]}
trailer = {starts_with = "T", count = [2, 7], sum = [8, 16]}
[fields]
amount = {column = 5, minor_units = true}
transacted_at = {column = 3, format = "%Y%m%d", zone = "UTC"}
transaction_ref = {column = 2}
merchant_descriptor = {column = 4}
""",
        """
H20260601 SOME CARDS
D00000120260531BOOK SHOP +00008278
D00000220260601CAFE      +00000050
D00000320260601CAFE      -00000050
T000003+00008278
""",
        """
line amount  transacted_at         transaction_ref
2    82.78   2026-05-31T00:00:00Z  000001
3    0.50    2026-06-01T00:00:00Z  000002
4    -0.50   2026-06-01T00:00:00Z  000003
""",
    ),
    MadeLayout(
        "header behind rows, which are rows all the same",
        """
header_line = 3
form = {delimiter = ","}
[fields]
amount = {column = "AMT"}
transacted_at = {column = "WHEN", format = "%Y-%m-%d", zone = "UTC"}
transaction_ref = {column = 3}
""",
        """
1225,2026-11-15,a
946.5,2026-11-16,b
AMT,WHEN,KEY
5,2026-11-17,c
""",
        """
line amount  transacted_at         transaction_ref
1    1225    2026-11-15T00:00:00Z  a
2    946.5   2026-11-16T00:00:00Z  b
4    5       2026-11-17T00:00:00Z  c
""",
    ),
    MadeLayout(
        "preamble, a trailer among delimited lines, blank lines",
        """
skip_lines = 2
form = {delimiter = "|"}
trailer = {starts_with = "TOTAL", count = 2, sum = 3}
[fields]
amount = {column = "value"}
transacted_at = {column = "time", format = "%Y-%m-%dT%H:%M:%S%z"}
transaction_ref = {column = "key"}
""",
        """
Extract of cards, "all of them
made | by | night
key|time|value
k1|2026-06-01T10:00:00+02:00|10.00

k2|2026-06-01T10:00:00Z|2.50
TOTAL|2|12.50
""",
        """
line amount  transacted_at         transaction_ref
4    10.00   2026-06-01T08:00:00Z  k1
6    2.50    2026-06-01T10:00:00Z  k2
""",
    ),
    MadeLayout(
        "date and time in several columns, of a 12 hour clock",
        """
form = {delimiter = ","}
[fields]
amount = {column = "Amount", currency = "$"}
transacted_at = {columns = ["Y", "M", "D", "T"], format = "%Y %m %d %I:%M %p", zone = "America/New_York"}
transaction_ref = {columns = ["Y", "#line"], join = "/"}
""",  # noqa: E501  a profile is as wide as it is
        """
Y,M,D,T,Amount
2026,7,21,10:43 PM,$192.00
2026,7,4,12:01 AM,$-99.00
""",
        """
line amount  transacted_at         transaction_ref
2    192.00  2026-07-22T02:43:00Z  2026/2
3    -99.00  2026-07-04T04:01:00Z  2026/3
""",
    ),
    MadeLayout(
        "no header: columns by number, short years",
        """
header_line = 0
form = {delimiter = ";"}
[fields]
amount = {column = 3}
transacted_at = {column = 2, format = "%y%m%d", zone = "Europe/Prague"}
transaction_ref = {column = 1}
""",
        """
49408;940128;400.00
502490;930702;1250.00
""",
        """
line amount   transacted_at         transaction_ref
1    400.00   1994-01-27T23:00:00Z  49408
2    1250.00  1993-07-01T22:00:00Z  502490
""",
    ),
    MadeLayout(
        "no header: columns that the profile names",
        """
columns = ["ref", "day", "sum"]
form = {delimiter = ";"}
[fields]
amount = {column = "sum"}
transacted_at = {column = "day", format = "%d-%b-%y", zone = "UTC"}
transaction_ref = {column = "ref"}
""",
        """
a;09-Mar-11;4.00
b;10-mar-11;5.00
""",
        """
line amount transacted_at         transaction_ref
1    4.00   2011-03-09T00:00:00Z  a
2    5.00   2011-03-10T00:00:00Z  b
""",
    ),
    MadeLayout(
        "days as spreadsheets count them, with a mark of either kind",
        """
form = {delimiter = ";"}
[fields]
amount = {column = "Betrag", decimal = ","}
transacted_at = {column = "Datum", format = "serial", zone = "Europe/Berlin"}
transaction_ref = {column = "Beleg"}
""",
        """
Beleg;Datum;Betrag
B-1;46099;12,50
B-2;46099,5;9,99
B-3;46205.770833333336;1,00
B-4;18.03.2026;1,00
""",
        """
line amount transacted_at         transaction_ref
2    12.50  2026-03-17T23:00:00Z  B-1
3    9.99   2026-03-18T11:00:00Z  B-2
4    1.00   2026-07-02T16:30:00Z  B-3
5    1.00   ?                     B-4
""",
    ),
    MadeLayout(
        "UTF-16 and tabs, as spreadsheets call text",
        r"""
encoding = "utf-16"
form = {delimiter = "\t"}
[fields]
amount = {column = "Importe", decimal = ",", currency = "€"}
transacted_at = {column = "Fecha", format = "%d/%m/%Y %H:%M:%S", zone = "Europe/Madrid"}
transaction_ref = {column = "Operación"}
""",
        """
Operación\tFecha\tImporte
1\t01/02/2026 09:00:00\t12,5 €
2\t01/08/2026 09:00:00\t3 €
""",
        """
line amount transacted_at         transaction_ref
2    12.5   2026-02-01T08:00:00Z  1
3    3      2026-08-01T07:00:00Z  2
""",
        "utf-16",
    ),
    MadeLayout(
        "French: blanks between thousands, purchases are negative",
        """
form = {delimiter = ";"}
[fields]
amount = {column = "Montant", decimal = ",", thousands = " ", negate = true}
transacted_at = {column = "Date", format = "%d/%m/%y", zone = "Europe/Paris"}
transaction_ref = {column = "Réf"}
""",
        """
Réf;Date;Montant
1;02/01/26;-1 234,00
2;02/01/26;-1\u00a0234,00
3;02/01/26;+12,00
4;02/01/26;12,00-
5;02/01/26;-12,00-
""",
        """
line amount   transacted_at         transaction_ref
2    1234.00  2026-01-01T23:00:00Z  1
3    1234.00  2026-01-01T23:00:00Z  2
4    -12.00   2026-01-01T23:00:00Z  3
5    12.00    2026-01-01T23:00:00Z  4
6    ?        2026-01-01T23:00:00Z  5
""",
    ),
    MadeLayout(
        "Swiss: apostrophes, quotes of the other kind",
        """
form = {delimiter = ",", quote = "'"}
[fields]
amount = {column = "CHF", thousands = "'"}
transacted_at = {column = "Datum", format = "%d.%m.%Y", zone = "Europe/Zurich"}
transaction_ref = {column = "Nr"}
merchant_descriptor = {column = "Ort"}
""",
        """
Nr,Datum,CHF,Ort
1,02.01.2026,12.00,'a, b'
2,02.01.2026,'1''200.50',5" pipes
""",
        """
line amount   transacted_at         transaction_ref
2    12.00    2026-01-01T23:00:00Z  1
3    1200.50  2026-01-01T23:00:00Z  2
""",
    ),
    MadeLayout(
        "no quotes at all: a quote is a letter",
        """
form = {delimiter = ";", quote = ""}
[fields]
amount = {column = "amount"}
transacted_at = {column = "at", format = "%Y/%m/%d %H:%M", zone = "UTC"}
transaction_ref = {column = "ref"}
""",
        """
ref;at;amount;what
a"1;2026/01/02 03:04;1.00;5" pipe
""",
        """
line amount transacted_at         transaction_ref
2    1.00   2026-01-02T03:04:00Z  a"1
""",
    ),
    MadeLayout(
        "the hours that come twice or not at all",
        """
form = {delimiter = ","}
[fields]
amount = {column = "amount"}
transacted_at = {column = "at", format = "%Y-%m-%d %H:%M", zone = "Europe/Berlin"}
transaction_ref = {column = "ref"}
""",
        """
ref,at,amount
1,2026-10-25 01:59,1.00
2,2026-10-25 02:30,1.00
3,2026-10-25 03:00,1.00
4,2026-03-29 02:30,1.00
""",
        """
line amount transacted_at         transaction_ref
2    1.00   2026-10-24T23:59:00Z  1
3    1.00   ?                     2
4    1.00   2026-10-25T02:00:00Z  3
5    1.00   ?                     4
""",
    ),
    MadeLayout(
        "refunds are left out; a sign in a column of its own",
        """
negatives = "refund"
form = {delimiter = ";"}
[fields]
amount = {columns = ["S", "Betrag"], minor_units = true}
transacted_at = {column = "Tag", format = "%Y%m%d", zone = "UTC"}
transaction_ref = {column = "Nr"}
""",
        """
Nr;Tag;S;Betrag
1;20260102;+;1250
2;20260102;-;1250
3;20260102;+;5
""",
        """
line amount transacted_at         transaction_ref
2    12.50  2026-01-02T00:00:00Z  1
4    0.05   2026-01-02T00:00:00Z  3
""",
    ),
]
