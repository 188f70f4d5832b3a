"""Read profiles, and the key that makes tokens, from files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cardoffers_cli.intake.layout_model import TokenSource, parse_profile
from cardoffers_cli.kernel.disk.inputs import open_input
from cardoffers_cli.kernel.disk.outputs import read_private_file
from cardoffers_cli.kernel.words.errors import NotFound, UsageError

if TYPE_CHECKING:
    from cardoffers_cli.intake.layout_model import Profile

_LEAST_KEY = 32


def read_profile(path: Path) -> Profile:
    """Read a profile; raise `NotFound`, or `UsageError` where it is none."""
    return parse_profile(profile_text(path), str(path))


def profile_text(path: Path) -> str:
    """Return the text of a profile; raise as `read_profile` does."""
    try:
        with open_input(path) as file:
            return file.read().decode()
    except OSError as error:
        raise NotFound(
            f"The profile {path} cannot be read: {error.strerror}.",
            code="profile_missing",
            hint="`cardoffers profile new SAMPLE -o P.toml` writes one.",
        ) from None
    except UnicodeDecodeError:
        raise UsageError(f"The profile {path} is not UTF-8.", code="profile_syntax") from None


def refuse_raw_keys(profile: Profile, path: Path) -> None:
    """Refuse a profile of files with raw customer keys: only `profile convert` makes tokens."""
    if profile.makes_tokens:
        raise UsageError(
            f"By {path} the file holds raw customer keys, of which tokens are made first.",
            code="profile_makes_tokens",
            hint=f"Run `cardoffers profile convert FILE --profile {path} -o canonical.csv`, "
            "then go on with canonical.csv.",
        )


def read_token_key(profile: Profile, path: Path) -> bytes | None:
    """Return the key that makes tokens, if the profile names one, beside it or by its whole path.

    Raises `NotFound`, and `Refused` for a key that others may read.
    """
    sources = profile.fields.given().values()
    keys = {item.hmac.key_file for item in sources if isinstance(item, TokenSource) and item.hmac}
    if not keys:
        return None
    if len(keys) > 1:
        raise UsageError(f"{path} names several key files.", code="profile_invalid")
    file = path.parent / Path(keys.pop())
    try:
        key = read_private_file(file).strip().encode()
    except NotFound as error:
        hint = f"Make one, and keep it: (umask 077; openssl rand -hex 32 > {file})"
        raise NotFound(error.message, code="token_key_missing", hint=hint) from None
    if len(key) < _LEAST_KEY:
        raise UsageError(
            f"The key in {file} has fewer than {_LEAST_KEY} characters.",
            code="token_key_short",
            hint=f"Make a new one: (umask 077; openssl rand -hex 32 > {file})",
        )
    return key
