"""What becomes of a purchase with an offer, and every check that tells (rules.md#reasons).

An evaluation is a row of what was known when it was decided: the purchase's amount and moment, the
offer's terms of then, when the cardholder added it, and for an offer that fitted what purchases
with an earlier turn held of its budget and of its uses. A check is `ok`, or not, or None where it
was never reached.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

from cardoffers_cli.kernel.words.moments import format_length, format_minute
from cardoffers_cli.kernel.words.money import commission_amount, money_text, quantize, smallest
from cardoffers_cli.kernel.words.records import Record, if_any, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from decimal import Decimal
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


if TYPE_CHECKING:
    Row = Mapping[str, Any]

_TABLES = tomllib.loads(files(__package__).joinpath("outcomes.toml").read_text("utf-8"))
NEAREST = tuple(_TABLES["nearest"])
"""The outcomes of a purchase with an offer, from won over just missed to far off."""

IN_BRIEF: Mapping[str, str] = _TABLES["brief"]
"""What people read in a list in the place of a reason; others are read as they are."""

FITTED = frozenset(NEAREST[:4])


def nearest(outcomes: Iterable[str]) -> str:
    """Return the outcome that came nearest to a redemption; `no_offer` where there is none."""
    return min(outcomes, key=NEAREST.index, default="no_offer")


def compared(row: Row) -> tuple[Any, Any]:
    """Return what the check that decided expected, and what was there; both None if it won."""
    compare = _COMPARED.get(row["outcome"])
    return compare(row) if compare else (None, None)


def _money(row: Row, name: str) -> Decimal | None:
    return None if row.get(name) is None else quantize(row[name], row["currency"])


def _reward(row: Row) -> Decimal | None:
    """Return what the offer gives of this purchase (rules.md#percent-offers)."""
    if row.get("cashback_percent") is None:
        return _money(row, "cashback_amount")
    return quantize(min(row["cashback_amount"], _share(row)), row["currency"])


def _share(row: Row) -> Decimal:
    """Return the percent of this purchase, before the most that a percent offer gives."""
    share: Decimal = (row["amount"] * row["cashback_percent"]).scaleb(-2)
    return quantize(share, row["currency"])


def reward_text(row: Row, write: Callable[[Decimal, str], str] = money_text) -> str | None:
    """Say how what a percent offer gives of a purchase was computed; None of a fixed one."""
    if row.get("cashback_percent") is None:
        return None
    share, most, currency = _share(row), row["cashback_amount"], row["currency"]
    amount, share_text, most_text = (write(each, currency) for each in (row["amount"], share, most))
    text = f"{row['cashback_percent'].normalize():f} % of {amount} is {share_text}"
    return f"{text}; the offer gives at most {most_text}" if share > most else text


_COMPARED: dict[str, Callable[[Row], tuple[Any, Any]]] = {
    "enrolled_after_purchase": lambda row: (row["transacted_at"], row["added_at"]),
    "offer_not_started": lambda row: (row["starts_at"], row["transacted_at"]),
    "offer_expired": lambda row: (row["expires_at"], row["transacted_at"]),
    "below_min_spend": lambda row: (_money(row, "min_spend"), _money(row, "amount")),
    "refunded": lambda row: (_money(row, "min_spend"), _money(row, "amount")),
    "reward_below_minor_unit": lambda row: (smallest(row["currency"]), _reward(row)),
    "budget_exhausted": lambda row: (_money(row, "budget_amount"), _money(row, "held_amount")),
    "redemption_limit_reached": lambda row: (
        row["max_redemptions_per_cardholder"],
        row.get("uses"),
    ),
    "outranked": lambda row: (_money(row, "best_cashback"), _reward(row)),
}
"""What each check expected and what was there; the other outcomes compare nothing."""


class Check(Record):
    """A check of a purchase against an offer: what it expected, what was there, what came of it.

    `detail` is a clause.
    """

    check: str
    ok: bool | None
    expected: Any = shown(gives_way=1)
    actual: Any = shown(gives_way=1)
    detail: str


def checks(row: Row) -> list[Check]:
    """Return every check of a purchase against one offer, in the order in which they are made.

    `best_offer_id` and `best_cashback` in the row
    are of the offer that the purchase redeemed, if it redeemed one.
    """
    return [
        Check(check=name, ok=ok, expected=expected, actual=actual, detail=detail)
        for name, check in _CHECKS.items()
        if name != "reward" or row.get("cashback_percent") is not None
        for ok, expected, actual, detail in [check(row)]
    ]


def _enrolled(row: Row) -> tuple[bool, Any, Any, str]:
    added_at, bought_at = row["added_at"], row["transacted_at"]
    if added_at is None:
        return False, bought_at, None, "the cardholder had not added the offer"
    length = format_length(abs(bought_at - added_at))
    if added_at > bought_at:
        return False, bought_at, added_at, f"it came {length} before the enrolment"
    return True, bought_at, added_at, f"the offer was added {length} before"


def _started(row: Row) -> tuple[bool, Any, Any, str]:
    starts_at, bought_at = row["starts_at"], row["transacted_at"]
    if bought_at < starts_at:
        return False, starts_at, bought_at, _apart("the offer began", starts_at, bought_at, "later")
    return True, starts_at, bought_at, f"the offer began at {format_minute(starts_at)}"


def _not_expired(row: Row) -> tuple[bool, Any, Any, str]:
    expires_at, bought_at = row["expires_at"], row["transacted_at"]
    if bought_at >= expires_at:
        detail = _apart("the offer had ended", bought_at, expires_at, "before")
        return False, expires_at, bought_at, detail
    return True, expires_at, bought_at, f"the offer ends at {format_minute(expires_at)}"


def _apart(what: str, later: Any, earlier: Any, word: str) -> str:
    if later == earlier:
        return f"{what} at the same time"
    return f"{what} {format_length(later - earlier)} {word}"


def _spent_enough(row: Row) -> tuple[bool, Any, Any, str]:
    expected, actual = _money(row, "min_spend"), _money(row, "amount")
    if row["outcome"] == "refunded":
        return False, expected, actual, "all of it came back before it was matched"
    missing = row["min_spend"] - row["amount"]
    if missing > 0:
        detail = f"it is short by {money_text(missing, row['currency'])}"
        return False, expected, actual, detail
    return True, expected, actual, f"it reached {money_text(row['min_spend'], row['currency'])}"


def _rewarded(row: Row) -> tuple[bool, Any, Any, str]:
    reward, text = _reward(row), reward_text(row)
    if row["outcome"] == "reward_below_minor_unit":
        return False, smallest(row["currency"]), reward, f"{text}, which is nothing to pay"
    return True, _money(row, "cashback_amount"), reward, f"{text}"


def _budget(row: Row) -> tuple[bool | None, Any, Any, str]:
    budget, reserved = _money(row, "budget_amount"), _money(row, "held_amount")
    if budget is None:
        return (True if row["outcome"] in FITTED else None), None, reserved, "no budget limits it"
    if reserved is None:
        return None, budget, None, "not reached"
    if row["outcome"] != "budget_exhausted":
        return True, budget, reserved, f"earlier purchases held {_held(row)}"
    if not row["last_held_at"]:
        amount = money_text(row["budget_amount"], row["currency"])
        return False, budget, reserved, f"the budget of {amount} never covered one redemption"
    when = format_minute(row["last_held_at"])
    detail = f"the budget was spent at {when} by earlier purchases, which held {_held(row)}"
    return False, budget, reserved, detail


def _held(row: Row) -> str:
    """Say what is held of a budget, and what one redemption more takes of it, at most."""
    cashback, currency = row["cashback_amount"], row["currency"]
    cost = row.get("most_amount")
    if cost is None:
        cost = cashback + commission_amount(cashback, row["commission_rate"], currency)
    reserved, budget, one = (
        money_text(amount, currency) for amount in (row["held_amount"], row["budget_amount"], cost)
    )
    takes = "takes" if row.get("cashback_percent") is None else "takes at most"
    return f"{reserved} of {budget}, and one redemption {takes} {one}"


def _uses(row: Row) -> tuple[bool | None, Any, Any, str]:
    most, uses = row["max_redemptions_per_cardholder"], row["uses"]
    if most is None:
        return (True if row["outcome"] in FITTED else None), None, uses, "nothing limits its uses"
    if uses is None:
        return None, most, None, "not reached"
    last = row["last_used_at"]
    when = f", the last at {format_minute(last)}" if last else ""
    return uses < most, most, uses, f"{uses} of {most} uses were spent{when}"


def _best(row: Row) -> tuple[bool | None, Any, Any, str]:
    own, best = _reward(row), _money(row, "best_cashback")
    if row["outcome"] == "redeemed":
        return True, own, own, "it was the best offer open to the purchase"
    if row["outcome"] == "outranked":
        return False, best, own, f"{row['best_offer_id']} was the better offer"
    return None, best, own, "not reached"


_CHECKS: dict[str, Callable[[Row], tuple[bool | None, Any, Any, str]]] = {
    "enrolled": _enrolled,
    "started": _started,
    "not_expired": _not_expired,
    "min_spend": _spent_enough,
    "reward": _rewarded,
    "budget": _budget,
    "uses": _uses,
    "best_offer": _best,
}
"""The checks by name, in their order (rules.md#eligibility)."""

CHECK_OF: Mapping[str, str] = _TABLES["check"]
"""Which check decided an outcome."""


class OfferEvaluation(Record):
    """What was decided of one offer: what its check asked for, if anything, and what was there."""

    offer_id: str = shown("offer")
    outcome: str
    expected: Annotated[Any, "What the check asked for, if anything."]
    actual: Annotated[Any, "What was there."]
    reward: Annotated[str | None, "How what a percent offer gives was computed."] = if_any()


class SimulatedPurchase(
    Record,
    sheet="line transaction_ref reason offer_id currency institution_payout_amount",
):
    """One purchase as `simulate` answers it: `match` or `no_match`, and the amounts of a match.

    There is one evaluation for each offer of the merchant that is in the program or linked, or
    for each of the cardholder's links while the merchant is unknown (rules.md#reasons). An event
    that is asked for alone has no line.
    """

    line: int | None = if_any()
    transaction_ref: str
    outcome: str
    reason: Annotated[str, "What decided: `redeemed`, or why not."]
    merchant_id: UUID | None
    offer_id: str | None
    merchant_funded_amount: Amount | None
    commission_amount: Amount | None
    institution_payout_amount: Amount | None = shown("payout")
    currency: str
    evaluations: Sequence[OfferEvaluation]


def decisions_of_import(
    store: Store, institution_id: UUID, import_no: int
) -> list[SimulatedPurchase]:
    """Return every purchase of an import in the order of the file."""
    of = {"institution_id": institution_id, "import_no": import_no}
    all_rows = store.rows("river/outcomes:evaluations_of_import", **of)
    evaluations = {
        purchase_no: [_evaluation(row) for row in rows]
        for purchase_no, rows in groupby(all_rows, key=lambda row: row["purchase_no"])
    }
    purchases = []
    for row in store.rows("river/outcomes:of_import", **of):
        offers = evaluations.get(row["purchase_no"], [])
        purchases.append(
            SimulatedPurchase.part(
                row,
                outcome="no_match" if row["offer_id"] is None else "match",
                reason=_reason(row["outcome"], offers),
                evaluations=offers,
            )
        )
    return purchases


def _reason(decided: str | None, evaluations: Sequence[OfferEvaluation]) -> str:
    """Say what was decided or, where no offer was won, how near the nearest of them came."""
    if decided != "not_redeemed":
        return decided or "not_matched_yet"
    return nearest(evaluation.outcome for evaluation in evaluations)


def _evaluation(row: Mapping[str, Any]) -> OfferEvaluation:
    expected, actual = compared(row)
    reward = reward_text(row) if row["outcome"] in FITTED else None
    return OfferEvaluation.part(row, expected=expected, actual=actual, reward=reward)
