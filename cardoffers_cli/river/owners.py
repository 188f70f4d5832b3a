"""Owners: a file that is provably another institution's is refused before anything is taken."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING
from uuid import uuid4

from cardoffers_cli.kernel.store import security_log
from cardoffers_cli.kernel.words.errors import FileRefused
from cardoffers_cli.river.stored_imports import find_other_owner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardoffers_cli.intake.transactions import TransactionFile
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.river.handles import StagedImport

OTHER_OWNER = "file_of_other_institution"

_SAYS = {
    "digest": "The same file was taken for another institution.",
    "rows": "{alike:,} of {among:,} rows are another institution's: reference, amount and time.",
    "tokens": "{alike:,} of {among:,} cardholder tokens are another institution's.",
}


def check_owner(
    store: Store,
    file: TransactionFile,
    staged: Sequence[StagedImport],
    owner: Institution,
    job: Job,
    *,
    is_own: bool,
) -> None:
    """Raise `FileRefused` for a file that is another institution's (rules.md#whose-file).

    Where somebody vouches that it `is_own` it is taken, and the security log says so. The other one
    is named in the hint alone, for operators: messages are written beside the institution's files.
    """
    for part in staged:
        found = find_other_owner(
            *(store, part.kind.name, part.rows, part.tokens),
            institution_id=owner.id,
            file_sha256=file.sha256,
        )
        if found:
            break
    else:
        return
    evidence, other = found
    if is_own:
        security_log.append(
            store,
            "file_of_other_institution_taken",
            event_id=uuid4(),
            institution_id=owner.id,
            details={"file": file.name, "evidence": evidence, **other},
            now=job.now,
            actor=job.actor,
        )
        return
    name = "FILE" if file.name == "-" else quote(file.name)
    hint = f"`cardoffers {part.kind.command} {name} -i {other.institution}` takes it for"
    hint += f" {other.institution}; --yes-it-is takes it for {owner.slug} all the same."
    if evidence == "tokens":
        hint += " Where both have the same cardholders, `cardoffers institution set"
        hint += f" {owner.slug} --shares-tokens-with {other.institution}`."
    says = _SAYS[evidence].format(**other)
    raise FileRefused(says, code=OTHER_OWNER, hint=hint)
