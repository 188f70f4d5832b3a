"""Hooks: what is told of a nightly run, and to whom, as the configuration says.

`on_start` is told when a run begins or goes on, `on_success` when it has come to its end, with or
without findings, `on_findings` before that when some of them need attention, `on_failure` when it
did not come to its end. A hook is a command, which has a document on its input, or a URL that a
small notice is posted to: codes and counts, and no name. What a hook comes to changes nothing of
the run.
"""

from __future__ import annotations

import shlex
import shutil
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.clock import real_now
from cardoffers_cli.kernel.words.addresses import check_url, parse_url
from cardoffers_cli.kernel.words.errors import ConfigurationError, UsageError
from cardoffers_cli.kernel.words.json_text import dumps
from cardoffers_cli.kernel.words.records import Record, if_any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from cardoffers_cli.kernel.net.sender import Outcome
    from cardoffers_cli.kernel.store.settings import Settings

EVENTS = ("on_start", "on_success", "on_failure", "on_findings")
TOLD, FAILED, WOULD_BE_TOLD = "told", "failed", "would_be_told"
_PINGS = {"on_start": "/start", "on_success": "", "on_failure": "/fail"}
"""Event -> what a ping service wants behind the URL of a check."""


@dataclass(frozen=True, kw_only=True)
class Hook:
    """Who is told of an event: a command by its words, or a URL; a ping has the run's id in it."""

    event: str
    words: tuple[str, ...] = field(default=(), repr=False)
    url: str = field(default="", repr=False)
    is_ping: bool = False

    @property
    def to(self) -> str:
        """Say who is told: the rest of a URL, and of a command, may be a secret."""
        if not self.url:
            return self.words[0]
        place = parse_url(self.url)
        return f"{place.scheme}://{place.host}/…"


class Notice(Record):
    """What is said of a run: codes and counts. `findings` are counted by their codes."""

    event: str
    run_id: str | None
    night: str | None
    as_of: datetime
    status: str
    exit_code: int | None
    error: str | None
    files: int
    failed_files: int
    findings: Mapping[str, int]


class HookOutcome(Record):
    """What came of a hook; `error` is why it failed, `output` what a command said then."""

    event: str
    to: str
    status: str
    seconds: float
    error: str | None = if_any()
    output: str | None = if_any()


def hooks_of(settings: Settings) -> list[Hook]:
    """Return the hooks that are configured; raise `ConfigurationError` for one that cannot be."""
    set_as = {event: getattr(settings, f"hooks_{event}") for event in EVENTS}
    hooks = [_hook(event, wanted) for event, wanted in set_as.items() if wanted is not None]
    if settings.hooks_ping is not None:
        hooks += [Hook(event=event, url=settings.hooks_ping, is_ping=True) for event in _PINGS]
    for hook in hooks:
        event = "ping" if hook.is_ping else hook.event
        if not hook.url and (not hook.words or shutil.which(hook.words[0]) is None):
            named = hook.words[0] if hook.words else ""
            problem = f"there is no command {named!r} that can be run."
            raise _unusable(event, problem, "Name the program by its whole path.")
        if hook.url or hook.is_ping:
            try:
                check_url(hook.url, allow_insecure=settings.allow_insecure_webhooks)
            except UsageError as error:
                problem = error.message.replace("The webhook", "its", 1).replace(
                    "'s host", " host", 1
                )
                raise _unusable(event, problem, error.hint) from None
    return hooks


def tell(hook: Hook, notice: Notice, document: bytes | None, settings: Settings) -> HookOutcome:
    """Tell a hook of an event; `document` is what a command has on its input, else the notice."""
    began = time.monotonic()
    error, output = None, ""
    try:
        if hook.url:
            error = _post(hook, notice, settings)
        else:
            error, output = _run(hook, notice, document, settings)
    except Exception as fault:  # noqa: BLE001  whatever it is, the run is not to hear of it
        error = f"unexpected error ({type(fault).__name__})"
    return HookOutcome(
        event=hook.event,
        to=hook.to,
        status=FAILED if error else TOLD,
        seconds=round(time.monotonic() - began, 3),
        error=error,
        output=output or None,
    )


def would_tell(hooks: Sequence[Hook]) -> list[HookOutcome]:
    """Return what a rehearsal says of hooks."""
    return [
        HookOutcome(event=hook.event, to=hook.to, status=WOULD_BE_TOLD, seconds=0.0)
        for hook in hooks
    ]


def _hook(event: str, wanted: str | tuple[str, ...]) -> Hook:
    if isinstance(wanted, str) and wanted.lower().startswith(("https://", "http://")):
        return Hook(event=event, url=wanted)
    try:
        words = tuple(shlex.split(wanted)) if isinstance(wanted, str) else wanted
    except ValueError:
        raise _unusable(event, "its quotes do not match.", "Write it as a list of words.") from None
    return Hook(event=event, words=words)


def _unusable(event: str, problem: str, hint: str | None) -> ConfigurationError:
    return ConfigurationError(
        f"The hook {event} cannot be told: {problem}",
        code="hook_unusable",
        hint=f"{hint} `cardoffers help watch` tells of hooks.",
        setting=f"hooks_{event}",
    )


def _post(hook: Hook, notice: Notice, settings: Settings) -> str | None:
    """Post a notice through the sender of webhooks; return what failed."""
    from cardoffers_cli.kernel.net.sender import AttemptLimits, Delivery, send_all  # noqa: PLC0415
    from cardoffers_cli.kernel.net.transport import ERRORS  # noqa: PLC0415  heavy

    url = hook.url
    if hook.is_ping:  # the event stands behind the path, and the run's id in the query
        base, _, query = hook.url.partition("?")
        run = f"rid={notice.run_id}" if notice.run_id else ""
        parameters = "&".join(filter(None, [query, run]))
        url = f"{base.rstrip('/')}{_PINGS[hook.event]}" + (f"?{parameters}" if parameters else "")
    outcomes: list[Outcome] = []
    delivery = Delivery(
        number=1, url=url, body=dumps(notice).encode(), sign=lambda _now_s: {}, lane="hooks"
    )
    limits = AttemptLimits(
        deadline_s=settings.webhook_deadline_s,
        allow_insecure=settings.allow_insecure_webhooks,
        ca_file=settings.webhook_ca_file,
    )
    send_all([[delivery]], limits, clock=real_now, on_outcome=outcomes.append)
    (outcome,) = outcomes
    if outcome.error is None:
        return None
    status = f" {outcome.http_status}" if outcome.http_status else ""
    return f"{outcome.error}{status} ({ERRORS[outcome.error]})"


def _run(
    hook: Hook, notice: Notice, document: bytes | None, settings: Settings
) -> tuple[str | None, str]:
    """Run a command; return what failed, and what it said then."""
    from cardoffers_cli.events.receiver import run_command  # noqa: PLC0415  only where it is needed

    variables = {"CARDOFFERS_EVENT": hook.event, "CARDOFFERS_RUN_ID": notice.run_id or ""}
    body = dumps(notice).encode() if document is None else document
    ended = run_command(hook.words, body, deadline_s=settings.hooks_deadline_s, variables=variables)
    return ended.error, ended.output if ended.error else ""
