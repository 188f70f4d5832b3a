"""What a cardholder is told about a purchase, in every language of the service.

The texts are for pasting into a letter or a chat: no ids, no tokens, no words of ours. This
catalogue is their only place; each reason of `services.explanations` has one text in each language.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.money import quantize
from cardoffers_cli.domain.refunds import refund_answer
from cardoffers_cli.domain.visible import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from decimal import Decimal

    Row = Mapping[str, Any]

LOCALES = ("en", "es", "pt-BR")
"""The languages there are answers in (rules.md#languages)."""

_MONTHS = {
    "en": "January February March April May June July August September October November December",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
    "diciembre",
    "pt-BR": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro "
    "dezembro",
}
_DAY = {"en": "{day} {month} {year}"}
_ANOTHER_DAY = "{day} de {month} de {year}"
_POINTS = str.maketrans(",.", ".,")
_AT = {"en": " at {name}", "es": " en {name}", "pt-BR": " em {name}"}
_PURCHASE = {
    "en": "Your purchase of {amount}{at} on {day}",
    "es": "Su compra de {amount}{at} del {day}",
    "pt-BR": "Sua compra de {amount}{at} no dia {day}",
}
_OFFER = {
    "en": "the offer “{title}”",
    "es": "la oferta «{title}»",
    "pt-BR": "a oferta “{title}”",
}

TEXTS: dict[str, dict[str, str]] = {
    "pending": {
        "en": "{purchase} earned {payout} of cashback with {offer}. It is on its way to you.",
        "es": "{purchase} generó {payout} de reembolso con {offer}. El importe está en camino.",
        "pt-BR": "{purchase} rendeu {payout} de cashback com {offer}. O valor está a caminho.",
    },
    "settled": {
        "en": "{purchase} earned {payout} of cashback with {offer}. It was passed on for you on "
        "{passed_on}.",
        "es": "{purchase} generó {payout} de reembolso con {offer}. El importe se tramitó para "
        "usted el {passed_on}.",
        "pt-BR": "{purchase} rendeu {payout} de cashback com {offer}. O valor foi repassado para "
        "você em {passed_on}.",
    },
    "credited": {
        "en": "{purchase} earned {payout} of cashback with {offer}. It was credited on {credited}.",
        "es": "{purchase} generó {payout} de reembolso con {offer}. El importe se abonó el "
        "{credited}.",
        "pt-BR": "{purchase} rendeu {payout} de cashback com {offer}. O valor foi creditado em "
        "{credited}.",
    },
    "credit_differs": {
        "en": "{purchase} earned {payout} of cashback with {offer}. What was credited for it does "
        "not fit yet. We are looking into it.",
        "es": "{purchase} generó {payout} de reembolso con {offer}. Lo que se abonó aún no "
        "concuerda. Lo estamos revisando.",
        "pt-BR": "{purchase} rendeu {payout} de cashback com {offer}. O que foi creditado ainda "
        "não confere. Estamos verificando.",
    },
    "to_pass_on": {
        "en": "{purchase} earned {payout} of cashback with {offer}. It is not passed on for you "
        "yet; this is being tried again.",
        "es": "{purchase} generó {payout} de reembolso con {offer}. El importe aún no se ha "
        "tramitado para usted; se vuelve a intentar.",
        "pt-BR": "{purchase} rendeu {payout} de cashback com {offer}. O valor ainda não foi "
        "repassado para você; uma nova tentativa será feita.",
    },
    "not_passed_on": {
        "en": "{purchase} earned {payout} of cashback with {offer}. It could not be passed on for "
        "you yet. We are looking into it.",
        "es": "{purchase} generó {payout} de reembolso con {offer}. El importe aún no se ha podido "
        "tramitar para usted. Lo estamos revisando.",
        "pt-BR": "{purchase} rendeu {payout} de cashback com {offer}. O valor ainda não pôde ser "
        "repassado para você. Estamos verificando.",
    },
    "to_settle": {
        "en": "{purchase} earned {payout} of cashback with {offer}. It is to be settled on "
        "{settles}.",
        "es": "{purchase} generó {payout} de reembolso con {offer}. El importe se liquidará el "
        "{settles}.",
        "pt-BR": "{purchase} rendeu {payout} de cashback com {offer}. O valor será liquidado em "
        "{settles}.",
    },
    "only_settled": {
        "en": "{purchase} earned {payout} of cashback with {offer}. It was settled on {settled}.",
        "es": "{purchase} generó {payout} de reembolso con {offer}. El importe se liquidó el "
        "{settled}.",
        "pt-BR": "{purchase} rendeu {payout} de cashback com {offer}. O valor foi liquidado em "
        "{settled}.",
    },
    "reversed": {
        "en": "{purchase} had earned {payout} of cashback, which was taken back on {reversed}.",
        "es": "{purchase} había generado {payout} de reembolso, que se anuló el {reversed}.",
        "pt-BR": "{purchase} havia rendido {payout} de cashback, que foi estornado em {reversed}.",
    },
    "below_min_spend": {
        "en": "{purchase} earned no cashback: {offer} asks for at least {min_spend} in one "
        "purchase, so {missing} were missing.",
        "es": "{purchase} no generó reembolso: {offer} exige al menos {min_spend} en una sola "
        "compra; faltaron {missing}.",
        "pt-BR": "{purchase} não rendeu cashback: {offer} pede pelo menos {min_spend} em uma "
        "única compra; faltaram {missing}.",
    },
    "refunded": {
        "en": "{purchase} earned no cashback, because all of it was refunded.",
        "es": "{purchase} no generó reembolso, porque se devolvió por completo.",
        "pt-BR": "{purchase} não rendeu cashback, porque foi devolvida por completo.",
    },
    "offer_expired": {
        "en": "{purchase} earned no cashback: {offer} had already ended, on {expires}.",
        "es": "{purchase} no generó reembolso: {offer} ya había terminado el {expires}.",
        "pt-BR": "{purchase} não rendeu cashback: {offer} já havia terminado em {expires}.",
    },
    "offer_not_started": {
        "en": "{purchase} earned no cashback: {offer} had not begun yet; it began on {starts}.",
        "es": "{purchase} no generó reembolso: {offer} aún no había comenzado; comenzó el "
        "{starts}.",
        "pt-BR": "{purchase} não rendeu cashback: {offer} ainda não havia começado; começou em "
        "{starts}.",
    },
    "enrolled_after_purchase": {
        "en": "{purchase} earned no cashback: {offer} was added only after it, on {added}. "
        "Purchases count from then on.",
        "es": "{purchase} no generó reembolso: {offer} se activó después, el {added}. Las compras "
        "cuentan a partir de entonces.",
        "pt-BR": "{purchase} não rendeu cashback: {offer} só foi ativada depois, em {added}. As "
        "compras contam a partir de então.",
    },
    "not_enrolled": {
        "en": "{purchase} earned no cashback: {offer} had not been added. An offer counts for "
        "purchases made after it is added.",
        "es": "{purchase} no generó reembolso: {offer} no estaba activada. Una oferta cuenta para "
        "las compras posteriores a su activación.",
        "pt-BR": "{purchase} não rendeu cashback: {offer} não estava ativada. Uma oferta vale "
        "para compras feitas depois da ativação.",
    },
    "budget_exhausted": {
        "en": "{purchase} earned no cashback: {offer} had given all of its cashback to earlier "
        "purchases.",
        "es": "{purchase} no generó reembolso: {offer} ya había concedido todo su reembolso a "
        "compras anteriores.",
        "pt-BR": "{purchase} não rendeu cashback: {offer} já havia concedido todo o seu cashback "
        "a compras anteriores.",
    },
    "redemption_limit_reached": {
        "en": "{purchase} earned no cashback: {offer} had already been used as often as it can be "
        "({uses}).",
        "es": "{purchase} no generó reembolso: {offer} ya se había usado el máximo de veces "
        "({uses}).",
        "pt-BR": "{purchase} não rendeu cashback: {offer} já havia sido usada o máximo de vezes "
        "({uses}).",
    },
    "no_offer": {
        "en": "{purchase} earned no cashback: there was no offer for it.",
        "es": "{purchase} no generó reembolso: no había ninguna oferta para ella.",
        "pt-BR": "{purchase} não rendeu cashback: não havia oferta para ela.",
    },
    "merchant_unresolved": {
        "en": "We have your purchase of {amount} on {day}, but could not tell yet which shop it "
        "was made at. As soon as we can, it is looked at again.",
        "es": "Tenemos su compra de {amount} del {day}, pero aún no sabemos en qué comercio se "
        "hizo. En cuanto lo sepamos, se revisará de nuevo.",
        "pt-BR": "Temos sua compra de {amount} no dia {day}, mas ainda não sabemos em qual loja "
        "ela foi feita. Assim que soubermos, ela será analisada de novo.",
    },
    "not_matched_yet": {
        "en": "We have your purchase of {amount} on {day}; it has not been looked at yet. Please "
        "ask again tomorrow.",
        "es": "Tenemos su compra de {amount} del {day}; aún no se ha revisado. Vuelva a consultar "
        "mañana, por favor.",
        "pt-BR": "Temos sua compra de {amount} no dia {day}; ela ainda não foi analisada. "
        "Consulte de novo amanhã, por favor.",
    },
    "rejected": {
        "en": "Your purchase reached us with a mistake in its data, so it could not be taken. We "
        "are having it corrected.",
        "es": "Su compra nos llegó con un error en los datos y no se pudo registrar. Estamos "
        "pidiendo que se corrija.",
        "pt-BR": "Sua compra chegou até nós com um erro nos dados e não pôde ser registrada. "
        "Estamos pedindo a correção.",
    },
    "not_received": {
        "en": "We have not received your purchase yet. Card purchases can take a few days to "
        "reach us.",
        "es": "Aún no hemos recibido su compra. Las compras con tarjeta pueden tardar unos días "
        "en llegarnos.",
        "pt-BR": "Ainda não recebemos sua compra. Compras com cartão podem levar alguns dias para "
        "chegar até nós.",
    },
}
"""What is told for each reason, and for a redemption by its state and its webhook's, by language.

Nothing is passed on for the cardholder before the institution was told of it.
"""

_EARNED = {
    ("pending", "no_webhook"): "to_settle",
    ("pending", "to_send"): "to_settle",
    ("pending", "delivered"): "pending",
    ("settled", "no_webhook"): "only_settled",
    ("settled", "to_send"): "only_settled",
    ("settled", "delivered"): "settled",
}
_CREDITED = {
    **dict.fromkeys(("credited", "file_only"), "credited"),
    **dict.fromkeys(
        ("amount_differs", "credited_twice", "reference_differs", "credited_too_early"),
        "credit_differs",
    ),
    **dict.fromkeys(("credit_failed", "not_credited", "webhook_only"), "not_passed_on"),
}
"""What is told by the verdict of the reconciliation, which says more than the webhook's state."""
_UNDELIVERED = {"to_retry": "to_pass_on", "failed": "not_passed_on", "stopped": "not_passed_on"}


def answer(found: Row, titles: dict[str, str], locale: str) -> str:
    """Return what the cardholder is told of what `services.explanations.explain` found.

    `titles` holds those of the nearest offer by language; one in English stands in for a missing.
    """
    redemption = found["redemption"]
    refunds = [
        refund_answer(each, locale, money=_money, day=_day) for each in found.get("refunds") or ()
    ]
    if found.get("status", "").startswith("refund_"):
        return refunds[0]
    reason = _earned(redemption, found.get("credit")) if redemption else found["reason"]
    text = TEXTS["not_received" if reason == "duplicate" else reason][locale]
    told = text.format(**_purchase(found, locale), **_nearest(found, titles, locale))
    return " ".join([told, *refunds])


def _earned(redemption: Row, credit: Row | None) -> str:
    """Return what is told of a redemption: never that it was passed on where it was not."""
    status, delivery = redemption["status"], redemption["delivery"]
    if status == "reversed":
        return "reversed"
    if credit and credit["verdict"] in _CREDITED:
        return _CREDITED[credit["verdict"]]
    told = _UNDELIVERED.get(delivery) or _EARNED[status, delivery]
    return "pending" if credit and told == "settled" else told


def _purchase(found: Row, locale: str) -> dict[str, str]:
    purchase, redemption = found["purchase"], found["redemption"]
    if purchase is None:
        return {}
    name = purchase["merchant_name"]
    told = {
        "amount": _money(purchase["amount"], purchase["currency"], locale),
        "at": _AT[locale].format(name=shortened(name)) if name else "",
        "day": _day(purchase["transacted_at"], locale),
    }
    told["purchase"] = _PURCHASE[locale].format(**told)
    if redemption:
        currency = redemption["currency"]
        told["payout"] = _money(redemption["institution_payout_amount"], currency, locale)
        for event in ("settles", "settled", "reversed"):
            told[event] = _day(redemption[f"{event}_at"], locale)
        credit = found.get("credit")
        told["credited"] = _day(credit["credited_at"] if credit else None, locale)
        both = (redemption["settled_at"], redemption["delivered_at"])
        told["passed_on"] = _day(max(both) if all(both) else None, locale)
    return told


def _nearest(found: Row, titles: dict[str, str], locale: str) -> dict[str, str]:
    nearest = found["nearest"]
    if nearest is None:
        return {}
    title = titles.get(locale) or titles.get("en") or next(iter(titles.values()), "…")
    currency, missing = nearest["currency"], nearest["min_spend"] - nearest["amount"]
    return {
        "offer": _OFFER[locale].format(title=shortened(title)),
        "min_spend": _money(nearest["min_spend"], currency, locale),
        "missing": _money(missing, currency, locale),
        "expires": _day(nearest["expires_at"], locale),
        "starts": _day(nearest["starts_at"], locale),
        "added": _day(nearest["added_at"], locale),
        "uses": str(nearest["max_redemptions_per_cardholder"]),
    }


def _money(amount: Decimal, currency: str, locale: str) -> str:
    number = f"{quantize(amount, currency):,}"
    return f"{currency} {number if locale == 'en' else number.translate(_POINTS)}"


def _day(moment: datetime | None, locale: str) -> str:
    if moment is None:
        return ""
    month = _MONTHS[locale].split()[moment.month - 1]
    form = _DAY.get(locale, _ANOTHER_DAY)
    return form.format(day=moment.day, month=month, year=moment.year)
