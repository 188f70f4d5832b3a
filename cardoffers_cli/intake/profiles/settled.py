"""A profile as plain values, for a place that has no pydantic, as a page in a browser has not.

`settled` is done where the profile was read and proven; `profile_of` makes of it, elsewhere, what
has the same attributes. Both are held together by a test over every attribute that is read.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cardoffers_cli.intake.layout_model import Profile

_OF_TIMES = ("has_clock", "has_offset", "is_serial")


def settled(profile: Profile) -> Mapping[str, Any]:
    """Return a profile as JSON has it, with what follows from it: sources, header, clocks."""
    fields = {
        name: {
            **field.model_dump(mode="json"),
            "sources": list(field.sources),
            **{each: getattr(field, each) for each in _OF_TIMES if hasattr(field, each)},
        }
        for name, field in profile.fields.given().items()
    }
    return {**profile.model_dump(mode="json"), "header": profile.header, "fields": fields}


def profile_of(document: Mapping[str, Any]) -> Profile:
    """Return what was settled, to be read from as from the profile itself."""
    parts = json.loads(json.dumps(document), object_hook=lambda part: SimpleNamespace(**part))
    parts.fields = _Fields(**vars(parts.fields))
    return cast("Profile", parts)


class _Fields(SimpleNamespace):
    """The fields that are read; any other is None."""

    def given(self) -> Mapping[str, Any]:
        """Return the fields by name, in the order of our own layout."""
        return vars(self)

    def __getattr__(self, _name: str) -> None:
        return None
