"""Why: what support answers when somebody asks where the cashback is.

The question is for one institution, or for all: then it is answered for the one that has the
reference. Staff are told where another institution sent it, cardholders are not.

The answer is from what was decided then. `--now` decides the purchase again, alone, with the
catalogue, the links and the budgets of now, in one transaction that is not kept; what the purchase
itself holds of budgets and of uses is left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cardoffers_cli.answers import explanations
from cardoffers_cli.answers.explanations import Explanation
from cardoffers_cli.answers.headlines import answer, headline
from cardoffers_cli.answers.search import senders
from cardoffers_cli.kernel.store.institutions import asked_institutions
from cardoffers_cli.kernel.store.job import Reading
from cardoffers_cli.kernel.store.masking import without_cards
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record, if_any
from cardoffers_cli.kernel.words.sentences import listed
from cardoffers_cli.kernel.words.texts import LOCALES, language_of
from cardoffers_cli.river.decide import decide_again

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardoffers_cli.answers.explanations import Evaluation, FullExplanation
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.river.outcomes import Check

_UNKNOWN = "not_received"


class WhyHead(Record):
    """Which reference was asked of which institution, and the answer in one sentence, for staff."""

    transaction_ref: str
    status: str
    headline: str
    institution: str


class DecidedNow(Record):
    """What a purchase would come to if it were decided now, and which fields differ."""

    headline: str
    status: str
    reason: str
    offer_id: str | None
    evaluations: list[Evaluation]
    checks: list[Check]
    differs: list[str]


class Why(Explanation, WhyHead):
    """The answer to one reference, in the shape of `why --format json`, with its money trail.

    Of one that nothing is known of, `near` holds the refs that may have been meant, and
    `received_from` the institutions that did send it.
    """

    received_from: list[str]
    near: list[str]
    now: DecidedNow | None = if_any()


class ListedWhy(
    Explanation, sheet="transaction_ref status reason headline offer_id merchant_id redemption_id"
):
    """The answer to a reference of a list, with its money trail."""

    received_from: list[str]
    institution: str
    headline: str


class PlainAnswer(Record):
    """What the cardholder may be told of a reference; `locale` is the language it is told in."""

    transaction_ref: str
    status: str
    locale: str
    answer: str


def why(
    ref: str, institution: str | None, job: Job, *, now: bool = False, everywhere: bool = False
) -> Why:
    """Return why a purchase did, or did not, redeem.

    With `now` also what it would come to if it were decided now. Raises
    `UsageError` reference_ambiguous with `everywhere`, where several have it.
    """
    if now:
        explanation = _told_again(ref, institution, job, everywhere=everywhere)
    else:
        with reading(job) as source:
            owner = _owner(source.store, institution, ref, everywhere=everywhere)
            explained = explanations.explain(source.store, owner.id, [ref])[ref]
            explanation = _told(source.store, owner, explained)
    masked: Why = without_cards(explanation)
    return masked


def why_each(
    refs: Sequence[str], institution: str | None, job: Job, *, everywhere: bool = False
) -> list[ListedWhy]:
    """Return the answer to every ref of a list, each ref once, in the order given.

    With `everywhere` a ref that several institutions have is answered for each of them.
    """
    with reading(job) as source:
        explained = _explained(source.store, refs, institution, everywhere=everywhere)
        answers = [
            ListedWhy(
                **Explanation.cut(item),
                received_from=others,
                institution=owner.slug,
                headline=headline({**item, "received_from": others}),
            )
            for owner, item, others in explained
        ]
    return [without_cards(row) for row in answers]


def plain_answers(
    refs: Sequence[str],
    institution: str | None,
    job: Job,
    *,
    locale: str | None,
    everywhere: bool = False,
) -> list[PlainAnswer]:
    """Return what the cardholder may be told of each ref, by ref and status.

    Without a locale the first language of the institution counts; titles of offers are in it where
    the texts are not. Raises `UsageError` for one that no program may have.
    """
    with reading(job) as source:
        explained = _explained(source.store, refs, institution, everywhere=everywhere)
        offers = {item.offer_id for _, item, _ in explained if item.offer_id}
        titles = explanations.titles(source.store, offers)
    return [
        PlainAnswer(
            transaction_ref=item.transaction_ref,
            status=item.status,
            locale=language_of(language := _language(locale, owner)),
            answer=answer(item, titles.get(item.offer_id or "", {}), language),
        )
        for owner, item, _ in explained
    ]


def _explained(
    store: Store, refs: Sequence[str], institution: str | None, *, everywhere: bool
) -> list[tuple[Institution, FullExplanation, list[str]]]:
    """Return what is known of every ref with who has it and who sent it too, in the order given."""
    owners = asked_institutions(store, institution, everywhere=everywhere)
    having = senders(store, refs) if len(owners) > 1 else {}
    explained = []
    for owner in owners:
        own = [ref for ref in refs if owner.slug in having.get(ref, [owners[0].slug])]
        by_ref = explanations.explain(store, owner.id, own)
        unknown = [ref for ref, item in by_ref.items() if item.status == _UNKNOWN]
        others = senders(store, unknown, but=owner.id) if unknown else {}
        explained += [(owner, item, others.get(ref, [])) for ref, item in by_ref.items()]
    order = {ref: place for place, ref in reversed(list(enumerate(refs)))}
    return sorted(explained, key=lambda entry: order[entry[1].transaction_ref])


def _owner(store: Store, institution: str | None, ref: str, *, everywhere: bool) -> Institution:
    """Return the institution that a ref is asked of: of all that there are, the one that has it."""
    owners = asked_institutions(store, institution, everywhere=everywhere)
    slugs = senders(store, [ref]).get(ref, []) if len(owners) > 1 else []
    if len(slugs) > 1:
        raise UsageError(
            f"The reference {ref} is one of {listed(slugs)}.",
            code="reference_ambiguous",
            hint="Name the institution with -i.",
        )
    return next((owner for owner in owners if owner.slug in slugs), owners[0])


def _told(store: Store, owner: Institution, explanation: FullExplanation) -> Why:
    ref = explanation.transaction_ref
    is_known = explanation.status != _UNKNOWN
    near = [] if is_known else explanations.near_refs(store, owner.id, ref)
    others = [] if is_known else senders(store, [ref], but=owner.id).get(ref, [])
    return Why(
        **Explanation.cut(explanation),
        headline=headline({**explanation, "received_from": others}),
        institution=owner.slug,
        received_from=others,
        near=near,
    )


def _told_again(ref: str, institution: str | None, job: Job, *, everywhere: bool) -> Why:
    """Decide again by the store itself: a snapshot has the budgets and the links of then."""
    with job.store() as store:
        job.on_reading(Reading(store))
        owner = _owner(store, institution, ref, everywhere=everywhere)
        explanation = explanations.explain(store, owner.id, [ref])[ref]
        result = _told(store, owner, explanation)
        if explanation.purchase_no is None:
            return result
        # What the purchase would come to now, and what of it differs.
        ref = explanation.transaction_ref
        with store.transaction(keep=False):
            decide_again(store, job, explanation.purchase_no)
            again = explanations.explain(store, owner.id, [ref])[ref]
        names = ("status", "reason", "offer_id", "evaluations", "checks")
        return replace(
            result,
            now=DecidedNow.part(
                again,
                headline=headline(again),
                differs=[name for name in names if again[name] != explanation[name]],
            ),
        )


def _language(locale: str | None, owner: Institution) -> str:
    if locale is None:
        return owner.languages[0]
    named = {language.lower(): language for language in LOCALES}
    if locale.lower() not in named:
        raise UsageError(
            f"No program has the language {locale!r}.",
            code="locale_unknown",
            hint=f"Write one of {', '.join(LOCALES)}.",
        )
    return named[locale.lower()]
