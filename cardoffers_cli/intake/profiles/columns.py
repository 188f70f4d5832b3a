"""Guess which column of a sample is which field, by its name and by what stands in it."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake.profiles.sample_values import (
    CLOCK,
    AmountForm,
    DateForm,
    amount_form,
    date_form,
    serial_form,
)
from cardoffers_cli.kernel.words.money import MINOR_UNITS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

KEY_FILE = "token.key"
"""What the file of the key is called that makes tokens, where a guess proposes one."""

_TOKEN = re.compile(r"[!-~]*[A-Za-z][!-~]*")
_STRONG = 32
_MCC = re.compile(r"\d{4}(\.0)?")
_DISTINCT = 0.3
_ZONES = {
    "de": "Europe/Berlin",
    "pt": "America/Sao_Paulo",
    "es": "Europe/Madrid",
    "fr": "Europe/Paris",
}
_ZONES_OF_MONEY = {
    "R$": "America/Sao_Paulo",
    "BRL": "America/Sao_Paulo",
    "£": "Europe/London",
    "GBP": "Europe/London",
    "MXN": "America/Mexico_City",
    "CHF": "Europe/Zurich",
}
_TONGUES = {
    "de": "betrag datum kunde karte handler wahrung umsatz beleg kaufdatum belegnummer",
    "pt": "valor data cartao estabelecimento transacao moeda favorecido portador",
    "es": "importe fecha tarjeta comercio moneda monto establecimiento operacion",
    "fr": "montant carte libelle commercant devise porteur",
}


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A column of a sample: its place from 1, its name if any, and its filled values.

    One whose name is not `unique` in the header is called by its place.
    """

    place: int
    name: str
    values: Sequence[str]
    unique: bool = True

    @property
    def column(self) -> str | int:
        """What a profile calls it."""
        return self.name if self.name and self.unique else self.place


@dataclass(frozen=True, kw_only=True)
class GuessedField:
    """Where a field seems to be: `settings` as a profile has them, how sure that is, and why.

    Of amounts some may be negative (`has_negatives`), and most are not.
    """

    settings: Mapping[str, Any]
    sureness: str
    why: str
    has_negatives: bool = False

    @property
    def column(self) -> str | int | None:
        """The column, where it is one alone."""
        return self.settings.get("column")

    @property
    def has_offset(self) -> bool:
        """Whether it is a time that says how far it is from UTC."""
        return "%z" in self.settings.get("format", "")

    @property
    def label(self) -> str:
        """The columns as one name."""
        return "+".join(map(str, self.settings.get("columns", (self.column,))))


@dataclass
class _Search:
    """The columns of a sample, and which of them are taken."""

    samples: Sequence[Sample]
    dates: Mapping[int, DateForm]
    amounts: Mapping[int, AmountForm]
    taken: set[int] = field(default_factory=set)
    found: dict[str, GuessedField] = field(default_factory=dict)

    def best(self, name: str, fits: Callable[[Sample], float]) -> tuple[Sample, float, int] | None:
        """Return the free column that fits a field best: with its score, and that of its name."""
        rated = []
        for sample in self.samples:
            content = fits(sample)
            named = name_score(name, sample.name)
            if sample.place in self.taken or not sample.values or content <= 0:
                continue
            if named + content > 3:  # noqa: PLR2004  neither alone, unless it is strong
                rated.append((named + content, -sample.place, sample, named))
        if not rated:
            return None
        score, _, sample, named = max(rated, key=lambda rating: rating[:2])
        return sample, score, named

    def take(self, name: str, sample: Sample, named: int, **settings: Any) -> None:
        """Give a column to a field."""
        self.taken.add(sample.place)
        why = "by its name and what stands in it" if named > 0 else "by what stands in it"
        sureness = "sure" if named > 0 else "likely"
        self._add(name, {"column": sample.column, **settings}, sureness, why)

    def _add(self, name: str, settings: Mapping[str, Any], sureness: str, why: str) -> None:
        self.found[name] = GuessedField(settings=settings, sureness=sureness, why=why)

    def doubt(self, name: str, why: str) -> None:
        """Make a guess unsure, and say why."""
        guessed = self.found[name]
        self._add(name, guessed.settings, "unsure", why)

    def join(self, name: str, samples: Sequence[Sample], why: str, **settings: Any) -> None:
        """Give several columns to a field."""
        self.taken.update(sample.place for sample in samples)
        columns = [sample.column for sample in samples]
        self._add(name, {"columns": columns, **settings}, "likely", why)


def guess_fields(samples: Sequence[Sample]) -> dict[str, GuessedField]:
    """Return the fields that are likely in some columns, by the names of our own layout."""
    dates = {sample.place: form for sample in samples if (form := _dated(sample))}
    amounts = {sample.place: how for sample in samples if (how := amount_form(sample.values))}
    search = _Search(samples, dates, amounts)
    _find_time(search)
    _find_amount(search)
    # Currencies, merchant categories and networks are known by a few values.
    codes = {*MINOR_UNITS}
    tests: Mapping[str, Callable[[Sample], float]] = {
        "currency": lambda sample: 4.0 if set(sample.values) <= codes else 0.0,
        "mcc": lambda sample: 2.0 if all(map(_MCC.fullmatch, sample.values)) else 0.0,
        "network": lambda sample: 1.0 if len(set(sample.values)) <= 12 else 0.0,  # noqa: PLR2004
    }
    for name, fits in tests.items():
        best = search.best(name, fits)
        if best and (name == "currency" or best[2] > 0):
            search.take(name, best[0], best[2])
    _find_tokens(search)
    _find_reference(search)
    _find_merchant(search)
    order = ("amount", "transacted_at", "transaction_ref", "cardholder_token", "card_token")
    return {
        **{name: search.found[name] for name in order if name in search.found},
        **{name: guessed for name, guessed in search.found.items() if name not in order},
    }


def _dated(sample: Sample) -> DateForm | None:
    """Return how the values are dates; days that are counted are told by the name too."""
    if form := date_form(sample.values):
        return form
    is_named = name_score("transacted_at", sample.name) > 0
    return serial_form(sample.values) if is_named else None


def _find_time(search: _Search) -> None:
    def fits(sample: Sample) -> float:
        form = search.dates.get(sample.place)
        if form is None:
            return 0
        is_number = "".join(sample.values[:1]).isdigit()
        if is_number and sample.name and name_score("transacted_at", sample.name) <= 0:
            return 0
        varied = 4 if len(set(sample.values)) > 1 else 0
        return 4 + varied + 3 * form.has_clock

    best = search.best("transacted_at", fits)
    if best is None:
        _find_parts_of_time(search)
        return
    sample, _, named = best
    form = search.dates[sample.place]
    text = form.format
    zone = None if "%z" in text else guessed_zone(search.samples, search.amounts)
    zoned = {"zone": zone} if zone else {}
    clock = None if form.has_clock or "%z" in text else _clock_of(search)
    if clock:
        text = f"{text} {_clock_form(clock)}"
        why = "a date and a time of day"
        search.join("transacted_at", [sample, clock], why, format=text, **zoned)
    else:
        search.take("transacted_at", sample, named, format=text, **zoned)
    if not form.is_sure:
        why = "no day is above 12, so day and month could be exchanged"
        search.doubt("transacted_at", why)


def _find_parts_of_time(search: _Search) -> None:
    """Find a year, a month and a day in columns of their own."""
    named = {normal(sample.name): sample for sample in search.samples}
    wanted = ("year ano jahr annee", "month mes monat mois", "day dia tag jour")
    dated = [
        part
        for words in wanted
        if (part := next((named[word] for word in words.split() if word in named), None))
    ]
    if len(dated) < len("ymd"):
        return
    clock = _clock_of(search)
    text = "%Y %m %d" + (f" {_clock_form(clock)}" if clock else "")
    zone = guessed_zone(search.samples, search.amounts)
    settings = {"format": text, **({"zone": zone} if zone else {})}
    search.join("transacted_at", [*dated, *([clock] if clock else [])], "its parts", **settings)


def _clock_of(search: _Search) -> Sample | None:
    filled = (sample for sample in search.samples if sample.values)
    return next((item for item in filled if all(map(CLOCK.fullmatch, item.values[:50]))), None)


def _clock_form(sample: Sample) -> str:
    seconds = ":%S" if sample.values[0].count(":") > 1 else ""
    return f"%I:%M{seconds} %p" if sample.values[0][-1] in "Mm" else f"%H:%M{seconds}"


def _find_amount(search: _Search) -> None:
    def fits(sample: Sample) -> float:
        form = search.amounts.get(sample.place)
        if form is None or sample.place in search.dates:
            return 0
        if form.is_whole and sample.name and name_score("amount", sample.name) <= 0:
            return 0
        varied = 1 if len(set(sample.values)) > 1 else -3
        if not sample.name and form.is_whole:
            varied -= 0 if any(mark in sample.values[0] for mark in "+-") else 3
        written = (not form.is_whole) + bool(form.currency) + (form.minor_units and not sample.name)
        return 2 + varied + 2 * written

    best = search.best("amount", fits)
    if best is None:
        return
    sample, _, named = best
    form = search.amounts[sample.place]
    other = {",": ".", ".": ","}[form.decimal]
    thousands = form.thousands or ("" if form.is_whole else other)
    minor = form.minor_units and not sample.name
    settings: Mapping[str, Any] = {
        "decimal": form.decimal if form.decimal == "," else None,
        "thousands": None if minor else thousands or None,
        "currency": form.currency or None,
        "parentheses": form.parentheses or None,
        "minor_units": minor or None,
        "negate": (form.negative > 0.8) or None,  # noqa: PLR2004  purchases, with some refunds
    }
    filled = {name: value for name, value in settings.items() if value is not None}
    search.take("amount", sample, named, **filled)
    if not form.is_sure:
        search.doubt("amount", "every mark may be a decimal mark or stand between thousands")
    if form.negative and not settings["negate"]:
        search.found["amount"] = replace(search.found["amount"], has_negatives=True)


def _find_tokens(search: _Search) -> None:
    def fits(sample: Sample) -> float:
        is_value = sample.place in search.dates or _has_decimals(search, sample)
        return 0 if is_value or not sample.name else 2

    for name in ("card_token", "cardholder_token"):
        best = search.best(name, fits)
        if best and best[2] > 0:
            sample = best[0]
            is_token = any(word in normal(sample.name) for word in ("token", "jeton")) or all(
                len(value) >= _STRONG and _TOKEN.fullmatch(value) for value in sample.values[:50]
            )
            extra = {} if is_token else {"hmac": {"key_file": KEY_FILE}}
            search.take(name, sample, best[2], **extra)
    names = [name for name in ("card_token", "cardholder_token") if name in search.found]
    if len(names) == 1:
        (one,) = names
        (other,) = {"card_token", "cardholder_token"} - {one}
        search.found[other] = search.found[one]
        search.doubt(other, "there is one column for customer and card")
    for name in names:
        if "hmac" in search.found[name].settings:
            search.doubt(name, "it holds raw keys, of which `profile convert` makes tokens")


def _has_decimals(search: _Search, sample: Sample) -> bool:
    form = search.amounts.get(sample.place)
    return form is not None and not form.is_whole


def _find_reference(search: _Search) -> None:
    def fits(sample: Sample) -> float:
        is_date = sample.place in search.dates and not sample.values[0].isdigit()
        if is_date or _has_decimals(search, sample):
            return 0
        distinct = len(set(sample.values)) / len(sample.values) if sample.values else 0
        if not sample.name:
            return 5 * (distinct == 1) * (len(sample.values[0]) > 3) if sample.values else 0  # noqa: PLR2004
        return 1 + 3 * distinct if distinct > _DISTINCT else 0.5

    best = search.best("transaction_ref", fits)
    if best and (best[2] > 0 or not best[0].name):
        sample = best[0]
        search.take("transaction_ref", sample, best[2])
        if len(set(sample.values)) < len(sample.values):
            search.doubt("transaction_ref", "some of its values repeat: join another column")


def _find_merchant(search: _Search) -> None:
    best = search.best(
        "card_acceptor_id",
        lambda sample: (
            2.0 * (sample.place not in search.dates and not _has_decimals(search, sample))
        ),
    )
    if best and best[2] > 0:
        search.take("card_acceptor_id", best[0], best[2])
    else:
        coded = search.best("merchant_descriptor", lambda sample: 2.0 * (not _is_text(sample)))
        if coded and coded[2] > 0 and coded[0].place not in search.dates:
            search.take("card_acceptor_id", coded[0], coded[2])
    best = search.best(
        "merchant_descriptor",
        lambda sample: 2.0 * (sample.place not in search.dates and _is_text(sample)),
    )
    if best and (best[2] > 0 or not best[0].name):
        search.take("merchant_descriptor", best[0], best[2])


def _is_text(sample: Sample) -> bool:
    letters = sum(bool(re.search(r"[^\W\d_]", value)) for value in sample.values)
    return letters > len(sample.values) / 2


def guessed_zone(samples: Sequence[Sample], amounts: Mapping[int, AmountForm]) -> str | None:
    """Return the time zone that currency or language suggest, if any."""
    money = {form.currency for form in amounts.values()} | {
        sample.values[0] for sample in samples if sample.values and len(set(sample.values)) == 1
    }
    for sign, zone in _ZONES_OF_MONEY.items():
        if sign in money:
            return zone
    named = {word for sample in samples for word in words_of(sample.name)}
    votes = {tongue: len(named & {*words.split()}) for tongue, words in _TONGUES.items()}
    best = max(votes, key=lambda tongue: votes[tongue])
    return _ZONES[best] if votes[best] > 1 else None


def normal(text: str) -> str:
    """Return a name in small letters without accents."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
    return "".join(letter for letter in plain if not unicodedata.combining(letter)).lower().strip()


def words_of(name: str) -> list[str]:
    """Return the words of a name, those in `transNo` apart."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.findall(r"[a-z0-9]+", normal(spaced))


def name_score(field_name: str, name: str) -> int:
    """Say how much a name speaks for a field: above 0 for it, below against it."""
    words = words_of(name)
    if not words:
        return 0
    hints = _vocabulary()[field_name]
    own = field_name.split("_")
    score = 8 if words == own else max((_met(hint, words) for hint in hints["yes"]), default=0)
    against = sum(3 for hint in hints["no"] if _met(hint, words))
    return score - against


def is_known(name: str) -> bool:
    """Say whether a name speaks for any field."""
    return any(name_score(field_name, name) > 0 for field_name in _vocabulary())


def _met(phrase: str, words: Sequence[str]) -> int:
    """Say how well a phrase is met: by how many words, and whether it is the whole name."""
    wanted = phrase.split()
    if wanted[0].endswith("*"):
        return 2 if any(word.startswith(wanted[0][:-1]) for word in words) else 0
    if not set(wanted) <= set(words) and "".join(wanted) != "".join(words):
        return 0
    return 2 * len(wanted) + (2 if len(wanted) == len(words) else 0)


@cache
def _vocabulary() -> Mapping[str, Mapping[str, Sequence[str]]]:
    text = files("cardoffers_cli.intake.profiles").joinpath("words.toml").read_text("utf-8")
    return tomllib.loads(text)
