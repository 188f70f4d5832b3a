"""A nightly run that others watch: hooks are told of it, and its metrics are written."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.disk.folders import make_folder
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.kernel.store.clock import real_now
from cardoffers_cli.kernel.store.layout import runs_folder
from cardoffers_cli.kernel.words.errors import CardoffersError
from cardoffers_cli.night.checks import processed_root
from cardoffers_cli.night.hooks import EVENTS, HookOutcome, Notice, hooks_of, tell, would_tell
from cardoffers_cli.night.metrics import (
    METRICS,
    check_metrics_file,
    exposition,
    measure,
    night_families,
)
from cardoffers_cli.night.result import NOTHING_NEW, RESULT, exit_code_of, write_result

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.night.options import NightObserver
    from cardoffers_cli.night.questions import Night
    from cardoffers_cli.night.result import NightResult

ON_START, ON_SUCCESS, ON_FAILURE, ON_FINDINGS = EVENTS


class WatchedRun:
    """Tells of the nights of one command, from `begins` to `ends`; what raises in between failed.

    `metrics_file` is in place of that of the settings. Raises `ConfigurationError` where a hook
    cannot be told, or metrics not be written.
    """

    def __init__(self, job: Job, onlooker: NightObserver, metrics_file: Path | None = None) -> None:
        self._job = job
        self._onlooker = onlooker
        self._hooks = hooks_of(job.settings)
        self._metrics_file = metrics_file or job.settings.metrics_file
        if self._metrics_file is not None:
            check_metrics_file(self._metrics_file)
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
        is_new = result.status != NOTHING_NEW
        self._night = None
        self._measure(exit_code_of(result), result, str(result.run_id) if is_new else None)
        path = runs_folder(self._job.path) / str(result.run_id) / RESULT
        document = path.read_bytes() if self._hooks and path.exists() else None
        if exit_code_of(result):
            self._tell(_of_result(ON_FINDINGS, result), document)
        self._tell(_of_result(ON_SUCCESS, result), document)
        if not self._told:
            return result
        result = replace(result, hooks=self._told)
        if is_new:
            with suppress(OSError, CardoffersError):  # it is kept already, without the hooks
                write_result(self._job.path, result, mode=self._job.settings.mode)
        return result

    def would_tell(self) -> list[HookOutcome] | None:
        """Return what a rehearsal says of hooks; None where there are none."""
        return would_tell(self._hooks) or None

    def _fails(self, error: BaseException) -> None:
        exit_code, code = self._onlooker.ending(error)
        self._measure(exit_code, None, str(self._night.run_id) if self._night else None)
        self._tell(replace(self._notice(ON_FAILURE, "failed"), exit_code=exit_code, error=code))

    def _measure(self, exit_code: int, result: NightResult | None, run_id: str | None) -> None:
        """Write the metrics of a run; that they cannot be written changes nothing of it."""
        job, settings = self._job, self._job.settings
        files = [] if self._metrics_file is None else [(self._metrics_file, settings.metrics_mode)]
        if run_id is not None:
            files += [(runs_folder(job.path) / run_id / METRICS, settings.file_mode)]
        if not files:
            return
        try:
            measured = measure(
                job,
                ended_at=real_now(),
                exit_code=exit_code,
                result=result,
                before=self._metrics_file,
                folders={"store": job.path.parent, "processed": processed_root(job)},
            )
            for path, mode in files:
                make_folder(path.parent)
                with replacing(path, mode=int(mode, 8)) as out:  # nobody reads half of them
                    out.write(exposition(night_families(measured)).encode())
        except Exception as fault:  # noqa: BLE001  whatever it is, the run is not to hear of it
            why = getattr(fault, "strerror", None) or type(fault).__name__
            self._onlooker.warn(f"The metrics of the nightly run were not written: {why}.")

    def _tell(self, notice: Notice, document: bytes | None = None) -> None:
        for hook in self._hooks:
            if hook.event == notice.event:
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
        findings=Counter(finding.code for finding in result.findings),
    )
