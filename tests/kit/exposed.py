"""Metrics as Prometheus has them: read by its own parser, and held against the rules of naming.

`RULES` is the table, after `promtool check metrics` and the guide on naming; a rule says of a
family, or of a label, what is wrong with it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from prometheus_client.parser import text_string_to_metric_families

if TYPE_CHECKING:
    from collections.abc import Mapping

Rule = Callable[[Any, str], bool]
"""Whether a family, under its own name in the text, breaks a rule."""

_NO_UNITS = re.compile(
    r"(?:^|_)(ms|milliseconds|minutes|hours|days|kb|mb|kilobytes|percent)(?:_|$)"
)
_UNIT = re.compile(r"(?:^|_)(seconds|bytes)(?:_|$)")
_PERSONAL = {"institution", "cardholder", "token", "run_id", "file", "path", "url"}

RULES: dict[str, Rule] = {
    "has no prefix of its own": lambda _, name: not name.startswith("cardoffers_"),
    "is not in snake case": lambda _, name: not re.fullmatch(r"[a-z]+(_[a-z]+)*", name),
    "has no help": lambda family, _: not family.documentation.endswith("."),
    "has no type": lambda family, _: family.type in {"", "unknown", "untyped"},
    "grows, and does not end in _total": (
        lambda family, name: family.type == "counter" and not name.endswith("_total")
    ),
    "does not only grow, and ends as if": (
        lambda family, name: (
            family.type != "counter" and name.endswith(("_total", "_count", "_sum", "_bucket"))
        )
    ),
    "has its type in its name": lambda _, name: bool(re.search("gauge|counter|histogram", name)),
    "is not in a base unit": lambda _, name: bool(_NO_UNITS.search(name)),
    "does not end in its unit": (
        lambda _, name: (
            bool(_UNIT.search(name)) and not re.search(r"_(seconds|bytes)(_total)?$", name)
        )
    ),
    "names somebody": (
        lambda family, _: any(_PERSONAL & sample.labels.keys() for sample in family.samples)
    ),
    "has a label that is not in snake case": (
        lambda family, _: any(
            not re.fullmatch(r"[a-z]+(_[a-z]+)*", label)
            for sample in family.samples
            for label in sample.labels
        )
    ),
    "has the same sample twice": (
        lambda family, _: any(
            count > 1
            for count in Counter(
                (sample.name, *sorted(sample.labels.items())) for sample in family.samples
            ).values()
        )
    ),
}


def families(text: str) -> list[Any]:
    """Return the families of a text, as Prometheus' own parser reads it."""
    return list(text_string_to_metric_families(text))


def values(text: str) -> dict[tuple[str, ...], float]:
    """Return the samples by name and values of labels, these in the order of their names."""
    return {
        (sample.name, *(text for _, text in sorted(sample.labels.items()))): sample.value
        for family in families(text)
        for sample in family.samples
    }


def complaints(text: str) -> list[str]:
    """Return what rules the families of a text break."""
    return [
        f"{name}: {problem}"
        for family in families(text)
        for name in [family.name + ("_total" if _is_total(family, text) else "")]
        for problem, is_broken in RULES.items()
        if is_broken(family, name)
    ]


def _is_total(family: Any, text: str) -> bool:
    """Whether a counter ends as it should in the text: the parser takes the ending off."""
    return family.type == "counter" and f"# TYPE {family.name}_total " in text


def one(found: Mapping[tuple[str, ...], float], *name: str) -> float:
    """Return the value of a sample of ours."""
    return found[f"cardoffers_{name[0]}", *name[1:]]
