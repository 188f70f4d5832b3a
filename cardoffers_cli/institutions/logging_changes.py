"""Settings that the security log is told of too, when they change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

from cardoffers_cli.catalogue.questions import FieldChange
from cardoffers_cli.kernel.store import security_log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store


class ChangedSetting(Protocol):
    """A setting with its value before and after, as both are shown."""

    @property
    def field(self) -> str:
        """Its name."""

    @property
    def old_value(self) -> str | None:
        """Its value before."""

    @property
    def new_value(self) -> str | None:
        """Its value from now on."""


def log_changes(
    store: Store,
    event: str,
    institution: Institution,
    changed: Sequence[ChangedSetting],
    run: Run,
) -> list[FieldChange]:
    """Write an event of what was changed of an institution, if anything; return each change."""
    if changed:
        security_log.append(
            store,
            event,
            event_id=uuid4(),
            institution_id=institution.id,
            details={each.field: [each.old_value, each.new_value] for each in changed},
            now=run.as_of,
            actor=run.actor,
        )
    return [
        FieldChange(
            subject_id=institution.slug,
            field=each.field,
            old_value=each.old_value,
            new_value=each.new_value,
        )
        for each in changed
    ]
