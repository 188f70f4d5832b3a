"""A nightly run that others watch: its hooks are told when it begins and what it came to."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from cardoffers_cli.domain.errors import CardoffersError
from cardoffers_cli.jobs.night.hooks import (
    EVENTS,
    HookOutcome,
    Notice,
    hooks_of,
    of_event,
    tell,
    would_tell,
)
from cardoffers_cli.jobs.night.result import NOTHING_NEW, RESULT, exit_code_of, write_result
from cardoffers_cli.store.layout import runs_folder

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from cardoffers_cli.jobs.context.job import Job
    from cardoffers_cli.jobs.night.order import Onlooker
    from cardoffers_cli.jobs.night.result import NightResult
    from cardoffers_cli.services.nights import Night

ON_START, ON_SUCCESS, ON_FAILURE, ON_FINDINGS = EVENTS


class WatchedRun:
    """Tells of the nights of one command, from `begins` to `ends`; what raises in between failed.

    Raises `ConfigurationError` where a hook cannot be told.
    """

    def __init__(self, job: Job, onlooker: Onlooker) -> None:
        self._job = job
        self._onlooker = onlooker
        self._hooks = hooks_of(job.settings)
        self._night: Night | None = None
        self._told: list[HookOutcome] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._fails(error)

    def begins(self, night: Night) -> None:
        """Tell that a night begins, or goes on."""
        self._night, self._told = night, []
        self._tell(self._notice(ON_START, "running"))

    def ends(self, result: NightResult) -> NightResult:
        """Tell what a night came to; return the result with what came of the hooks, kept so too."""
        path = runs_folder(self._job.path) / str(result.run_id) / RESULT
        self._night = None
        document = path.read_bytes() if self._hooks and path.exists() else None
        if exit_code_of(result):
            self._tell(_of_result(ON_FINDINGS, result), document)
        self._tell(_of_result(ON_SUCCESS, result), document)
        if not self._told:
            return result
        result = replace(result, hooks=self._told)
        if result.status != NOTHING_NEW:
            with suppress(OSError, CardoffersError):  # it is kept already, without the hooks
                write_result(self._job.path, result, mode=self._job.settings.mode)
        return result

    def would_tell(self) -> list[HookOutcome] | None:
        """Return what a rehearsal says of hooks; None where there are none."""
        return would_tell(self._hooks) or None

    def _fails(self, error: BaseException) -> None:
        exit_code, code = self._onlooker.ending(error)
        self._tell(replace(self._notice(ON_FAILURE, "failed"), exit_code=exit_code, error=code))

    def _tell(self, notice: Notice, document: bytes | None = None) -> None:
        for hook in of_event(self._hooks, notice.event):
            outcome = tell(hook, notice, document, self._job.settings)
            self._told.append(outcome)
            self._onlooker.told(outcome)

    def _notice(self, event: str, status: str) -> Notice:
        night = self._night
        return Notice(
            event=event,
            run_id=str(night.run_id) if night else None,
            night=night.name if night else None,
            as_of=night.as_of if night else self._job.now,
            status=status,
            exit_code=None,
            error=None,
            files=0,
            failed_files=0,
            findings={},
        )


def _of_result(event: str, result: NightResult) -> Notice:
    return Notice(
        event=event,
        run_id=str(result.run_id),
        night=result.night,
        as_of=result.as_of,
        status=result.status,
        exit_code=exit_code_of(result),
        error=None,
        files=len(result.imports),
        failed_files=sum(file.status == "failed" for file in result.imports),
        findings=Counter(found.code for found in result.findings),
    )
