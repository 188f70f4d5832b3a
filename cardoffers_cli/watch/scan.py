"""Looking: what came in of watched institutions is compared, and what is strange is recorded.

It is never part of the transaction that took a file or matched it, so that nothing that goes wrong
here can stop those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.watch.abuse import find_abuse, keep_look
from cardoffers_cli.watch.drift import MissingShape, compare, keep_shape, look_behind_match
from cardoffers_cli.watch.questions import record_findings

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


def look_at(job: Job, institution_id: UUID, failed: Callable[[Exception, str], None]) -> int:
    """Look at what came in of an institution, also at files whose import could not keep them.

    Each of these is kept by itself; `failed` is told of one that cannot be, by the name of its
    file, and the others are looked at. Raises what it raises.
    """
    with job.store() as store:
        for file in store.records(
            MissingShape, "watch/drift:missing", institution_id=institution_id
        ):
            try:
                with store.transaction():
                    keep_shape(store, institution_id, file)
            except Exception as error:  # noqa: BLE001  whatever it is, `failed` decides
                failed(error, file.file_name)
        with store.transaction():
            return look(store, job, institution_id)


def look(store: Store, job: Job, institution_id: UUID) -> int:
    """Look at what was kept of an institution since the look before; return how many are found.

    In the caller's transaction. Call it behind a match, which decides what redeems.
    """
    with run_record(store, kind="watch", now=job.now, actor=job.actor) as run:
        files = look_behind_match(store, institution_id)
        found = [
            *compare(store, institution_id, files),
            *find_abuse(store, institution_id, job.now),
        ]
        keep_look(store, institution_id, run.run_no)
        new = record_findings(store, institution_id, found, run_no=run.run_no, now=job.now)
        run.counts.update(files=len(files), found=new)
    return new
