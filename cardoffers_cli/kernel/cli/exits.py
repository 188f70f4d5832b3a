"""How a command ends: the map from errors to exit codes, and everything written to stderr.

An error is two lines, what is wrong and what to do; with `--format json` it is one JSON object. An
error nobody foresaw is named by its type alone, because its message could hold a token.
"""

import errno
import os
import select
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from types import FrameType
from typing import Any, NoReturn

import typer

from cardoffers_cli.kernel.cli.colour import folded, painted
from cardoffers_cli.kernel.words import errors
from cardoffers_cli.kernel.words.nearest import did_you_mean
from cardoffers_cli.kernel.words.visible import visible


@dataclass(frozen=True)
class ExitCode:
    """One way to end: its number, what it says, what to do, and the errors that end so."""

    code: int
    meaning: str
    advice: str
    kinds: tuple[type[errors.CardoffersError], ...] = ()


def _exit_code(line: str) -> ExitCode:
    code, meaning, advice, *kinds = line.split(" | ")
    ended = tuple(getattr(errors, name) for part in kinds for name in part.split())
    return ExitCode(int(code), meaning, advice, ended)


EXIT_CODES = tuple(
    map(_exit_code, Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines())
)
"""Every way to end: `exits.txt` has a line for each, its parts in the order of `ExitCode`."""

_PYDANTIC = "Value error, "
"""What Typer's checks say before the words that matter."""


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP came: unwind like Ctrl-C, so that transactions roll back."""


@dataclass(frozen=True)
class Ending:
    """What is said when a command fails."""

    exit_code: int
    code: str
    message: str
    hint: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> Mapping[str, Any]:
        """Return the ending as the JSON object of the contract."""
        members = {"code": self.code, "message": self.message, "hint": self.hint}
        return {"error": {**self.details, **members, "exit_code": self.exit_code}}


def run(work: Callable[[], Any], args: Sequence[str]) -> int:
    """Do a command line's work and return its exit code; every error ends here."""
    try:
        work()
    except typer.Exit as end:
        return end.exit_code
    except BrokenPipeError:
        from cardoffers_cli.kernel.cli.show import hang_up

        hang_up()
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001  nothing may pass the last door
        ending = ending_by(error)
        if "--debug" in args:
            tell(_stack(error), as_it_is=True)
        # A usage error comes before the words are parsed, so the format is looked for in them.
        if "--format json" in " ".join(args).replace("--format=", "--format "):
            from cardoffers_cli.kernel.words import json_text

            tell(json_text.dumps(ending.document()), as_it_is=True)
        else:
            hint = f"\nHint: {ending.hint}" if ending.hint else ""
            tell(f"Error: {ending.message}{hint}", coloured="--no-color" not in args)
        return ending.exit_code
    return 0


def ending_by(error: BaseException) -> Ending:
    """Translate the error that ends a command, which may be in place of an interruption."""
    return ending_of(_INTERRUPTION.kind() if _INTERRUPTION.kind else error)


def ending_of(error: BaseException) -> Ending:
    """Translate an error to what is said and the exit code."""
    match error:
        case errors.CardoffersError():
            return Ending(exit_code_of(error), error.code, error.message, error.hint, error.details)
        case typer.TyperException():
            context = getattr(error, "ctx", None)
            hint = f"See `{context.command_path} --help`." if context else None
            if "--institution" in getattr(getattr(error, "param", None), "opts", ()):
                hint = "Add -i INST; `cardoffers institution list` shows the institutions."
            # Of a mistyped option it is said as of a command.
            near = getattr(error, "possibilities", None)
            text = f"{error.message}. {did_you_mean(near)}" if near else error.format_message()
            message = text.replace(_PYDANTIC, "")
            return Ending(
                2, "usage", message if message.endswith((".", "?")) else f"{message}.", hint
            )
        case Terminated():
            return Ending(143, "terminated", "Terminated.", "Run it again to finish.")
        case KeyboardInterrupt() | typer.Abort():
            return Ending(130, "interrupted", "Interrupted.", "Run it again to finish.")
        case _:
            return _unforeseen(error)


def exit_code_of(error: errors.CardoffersError) -> int:
    """Return an error's exit code: that of the nearest of its classes in the table."""
    codes = {kind: row.code for row in EXIT_CODES for kind in row.kinds}
    return next(codes[kind] for kind in type(error).__mro__ if kind in codes)


def tell(text: str, *, as_it_is: bool = False, coloured: bool = False) -> None:
    """Write one note for the person at the screen; that nobody reads it is no failure.

    On a terminal lines are broken between words, unless the text must stay as it is, and what is an
    error is red where it may be `coloured` and the terminal knows colours (no-color.org).
    """
    printable = visible(text, keep="\n")
    with suppress(OSError, ValueError, AttributeError):
        is_terminal = sys.stderr.isatty()
        printable = folded(printable) if is_terminal and not as_it_is else printable
        knows = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        printable = painted(printable) if coloured and is_terminal and knows else printable
        sys.stderr.write(f"{printable}\n")
        sys.stderr.flush()


def write_line(text: str) -> None:
    """Write a line of a log to stderr; wait for its reader, or raise `OSError` if there is none.

    It goes past Python's own buffer, which a thread that waits here would hold at the program's
    end.
    """
    if sys.stderr is None:  # the descriptor may be a file's by now
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    number, data = sys.stderr.fileno(), f"{visible(text)}\n".encode()
    while data:
        try:
            data = data[os.write(number, data) :]
        except BlockingIOError:
            select.select([], [number], [])


@dataclass
class Interruption:
    """The interruption that came: DuckDB raises an error of its own in place of ours."""

    kind: type[KeyboardInterrupt] | None = None

    def unwind(self, number: int, _frame: FrameType | None) -> NoReturn:
        """Leave what is running, so that transactions roll back."""
        self.kind = KeyboardInterrupt if number == signal.SIGINT else Terminated
        raise self.kind


_INTERRUPTION = Interruption()


def is_interrupted() -> bool:
    """Whether Ctrl-C, SIGTERM or SIGHUP came."""
    return _INTERRUPTION.kind is not None


def unwind_on_signals() -> None:
    """Let SIGTERM, and a terminal that goes away, unwind the program as Ctrl-C does."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN or number != signal.SIGHUP:  # as under nohup
            signal.signal(number, _INTERRUPTION.unwind)


@contextmanager
def stop_on_signals() -> Iterator[Event]:
    """Set the event on the first Ctrl-C or SIGTERM, and unwind on the second.

    For work that ends well by itself when it is told to. At the end of the block the interruption
    ends the command as ever.
    """
    stop = Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            _INTERRUPTION.unwind(number, frame)
        _INTERRUPTION.kind = Terminated if number == signal.SIGTERM else KeyboardInterrupt
        stop.set()
        tell("Finishing what is in flight. Once more breaks it off.")

    for number in before:
        signal.signal(number, note)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if stop.is_set() and _INTERRUPTION.kind:
            raise _INTERRUPTION.kind


@contextmanager
def on_ctrl_c(act: Callable[[], None]) -> Iterator[None]:
    """Call `act` on the first Ctrl-C in the block, and go on; the second unwinds as ever."""
    before = signal.getsignal(signal.SIGINT)

    def once(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        act()

    signal.signal(signal.SIGINT, once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _unforeseen(error: BaseException) -> Ending:
    match error:
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            return ending_of(errors.NoSpace(hint="Free some space and run again."))
        case OSError(errno=errno.EROFS):
            message = f"{error.filename} is on a disk that is mounted for reading only."
            return ending_of(
                errors.Refused(
                    message, code="read_only", hint="Mount it for writing, or name another."
                )
            )
        case UnicodeEncodeError():
            return ending_of(errors.UsageError(errors.NO_TEXT))
        case PermissionError():
            return ending_of(errors.Refused(f"Not permitted: {error.filename}", code="permission"))
        case _:
            hint = "Run again with --debug to see where it happened."
            return Ending(1, "unexpected", f"Unexpected error ({type(error).__name__}).", hint)


def _stack(error: BaseException) -> str:
    """Return where an error came from, without its message, which could hold a token."""
    before = error.__cause__ or error.__context__
    lines = "".join(traceback.format_tb(error.__traceback__))
    earlier = f"{_stack(before)}\n" if before else ""
    return f"{earlier}Traceback (most recent call last):\n{lines}{type(error).__qualname__}"
