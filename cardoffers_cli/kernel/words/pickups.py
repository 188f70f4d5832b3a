"""Where files of an institution are fetched from: one table `[pickup.INST]` of the configuration.

Nothing in it is a secret: keys are named by their files. A URL that holds a password is refused,
and not repeated.
"""

from __future__ import annotations

import re
from typing import Self
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ByteSize, ConfigDict, Field, field_validator, model_validator

from cardoffers_cli.kernel.words.visible import visible

SFTP = "sftp"
SCHEMES = (SFTP, "file", "s3", "s3a", "gs", "abfs")
REMOVE, KEEP, MOVE = "remove", "keep", "move:"

PATHS = ("key_file", "gpg_home")
"""The settings of a place that are paths, relative ones from the folder of the configuration."""

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,253}[A-Za-z0-9])?|[0-9A-Fa-f:.]+")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,63}")
_FINGERPRINT = r"^[0-9A-F]{40}$|^[0-9A-F]{64}$"
_AT_HOME = "/~/"
"""How the path of a folder begins that is in the home of the user."""


class PickupPlace(BaseModel):
    """The place of one institution; each description says what to write."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str = Field(
        alias="from",
        description="a URL such as sftp://user@host:22/folder, s3://bucket/folder or"
        " file:/srv/folder, without a password",
    )
    host_key: str | None = Field(
        None,
        pattern=r"^(ssh-|ecdsa-|sk-)[a-z0-9@.-]+ +[A-Za-z0-9+/]{20,}={0,3}( .*)?$",
        description='the key of the SFTP server, such as "ssh-ed25519 AAAA…", as its operator'
        " tells it",
    )
    key_file: str | None = Field(
        None,
        min_length=1,
        description="the file of the private key to log in with, which has no passphrase",
    )
    pattern: str = Field("*", min_length=1, description='which names, such as "tx-*.csv"')
    after: str = Field(
        KEEP,
        pattern=r"^(remove|keep|move:.+)$",
        description='what becomes of an imported file there: "remove", "move:FOLDER" or "keep"',
    )
    most_bytes: ByteSize | None = Field(
        None, ge=1, description="the most that a file may have there, a size such as 1GiB"
    )
    most_seconds: float = Field(
        900, gt=0, allow_inf_nan=False, description="seconds that all of it may take, more than 0"
    )
    gpg_home: str | None = Field(
        None, min_length=1, description="the home folder of gpg that holds these keys and no others"
    )
    decrypt_with: str | None = Field(
        None,
        pattern=_FINGERPRINT,
        description="the fingerprint of the key that files are encrypted to, in 40 capitals",
    )
    signed_by: str | None = Field(
        None,
        pattern=_FINGERPRINT,
        description="the fingerprint of the key that files must be signed with, in 40 capitals",
    )

    @field_validator("decrypt_with", "signed_by", mode="before")
    @classmethod
    def _without_spaces(cls, text: object) -> object:
        return text.replace(" ", "").upper() if isinstance(text, str) else text

    @field_validator("url")
    @classmethod
    def _check_url(cls, text: str) -> str:
        url = urlsplit(text)
        is_reached = url.scheme == "file" or url.hostname
        if url.scheme not in SCHEMES or not is_reached or url.password is not None:
            raise ValueError
        if url.query or url.fragment or "::" in url.path or visible(unquote(text)) != unquote(text):
            raise ValueError
        if url.scheme == SFTP:
            _ = url.port  # raises ValueError where it is none
            if not _HOST.fullmatch(url.hostname or "") or not _USER.fullmatch(url.username or ""):
                raise ValueError
        elif url.username is not None and url.scheme != "abfs":
            raise ValueError
        return text.rstrip("/")

    @field_validator("after")
    @classmethod
    def _check_after(cls, text: str) -> str:
        parts = text.removeprefix(MOVE).split("/")
        if text.startswith(MOVE) and (".." in parts or visible(text) != text):
            raise ValueError
        return text

    @model_validator(mode="after")
    def _check_whole(self) -> Self:
        if self.is_sftp and not (self.host_key and self.key_file):
            raise ValueError
        if self.is_signed_or_encrypted and not self.gpg_home:
            raise ValueError
        return self

    @property
    def is_sftp(self) -> bool:
        """Whether it is at an SFTP server."""
        return urlsplit(self.url).scheme == SFTP

    @property
    def is_signed_or_encrypted(self) -> bool:
        """Whether files are messages of OpenPGP."""
        return bool(self.decrypt_with or self.signed_by)

    @property
    def folder_to_move_to(self) -> str | None:
        """Return the folder for imported files, relative to the place unless it begins with /."""
        return self.after.removeprefix(MOVE) if self.after.startswith(MOVE) else None

    @property
    def sftp_folder(self) -> str:
        """Return the folder at the server: absolute, or in the home of the user behind `/~/`."""
        path = unquote(urlsplit(self.url).path) or "."
        if f"{path}/" == _AT_HOME:
            return "."
        return path.removeprefix(_AT_HOME)

    @property
    def shown(self) -> str:
        """Return the place for people, and as the store keeps it: without the user."""
        url = urlsplit(self.url)
        return f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}"
