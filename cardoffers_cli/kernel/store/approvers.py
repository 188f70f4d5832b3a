"""Approvers (rules.md#approvers): the people whose SSH keys sign requests for an approval.

`ssh-keygen` signs, with a key of a file, an agent or a hardware token, and verifies. The store has
public keys and signatures, no secret: `audit verify` verifies every signature again.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.errors import ConfigurationError, UsageError
from cardoffers_cli.kernel.words.json_text import dumps
from cardoffers_cli.kernel.words.records import Record, if_any, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

NAMESPACE = "cardoffers"
"""What signatures are for, as `ssh-keygen -n` names it: one for anything else is not valid."""
_ARMOR = "-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n"
_SIGNED = "approval_id institution_id institution action subject amount currency details digest"
_SIGNED += " maker requested_at expires_at"


class Approver(Record, sheet="* -approval -dry_run"):
    """Who may sign requests: of one institution or of all, up to an amount or any.

    Who has a limit signs nothing that has no amount.
    """

    name: str
    institution: str | None
    limit_amount: Amount | None = shown("limit")
    currency: str | None = shown(gives_way=1)
    public_key: str = shown(gives_way=3)
    added_at: datetime = shown(gives_way=1)
    added_by: str = shown(gives_way=2)
    removed_at: datetime | None = shown(gives_way=4)
    approval: str | None = if_any()
    dry_run: bool | None = if_any()

    def may_sign(self, request: Record) -> bool:
        """Return whether a request is of their institution alone, and within their limit."""
        concerned = {request["institution"], *request["details"].get("institutions", ())}
        is_theirs = self.institution is None or concerned == {self.institution}
        if self.limit_amount is None or request["amount"] is None:
            return is_theirs and self.limit_amount is None
        is_within = abs(request["amount"]) <= self.limit_amount
        return is_theirs and is_within and request["currency"] == self.currency


def find_approvers(store: Store, *, removed: bool = False) -> list[Approver]:
    """Return the approvers by name, with those who were removed where asked for."""
    return store.records(Approver, "kernel/store/approval_requests:approvers", removed=removed)


def has_two_approvers(store: Store, institution: str) -> bool:
    """Return whether two approvers may sign whatever is asked for of an institution."""
    able = [one for one in find_approvers(store) if one.institution in {None, institution}]
    return sum(one.limit_amount is None for one in able) > 1


def document_of(requests: Iterable[Record]) -> bytes:
    """Return what is signed for requests: one JSON document, of what is never changed of them."""
    rows = sorted(requests, key=lambda request: str(request["approval_id"]))
    listed = [{name: row[name] for name in _SIGNED.split()} for row in rows]
    return f"{dumps({'requests': listed})}\n".encode()


def public_key(path: Path) -> str:
    """Return the public key of a file, without its comment; raise `UsageError` for anything else.

    A private key is refused by its first words, and nothing of it is quoted.
    """
    try:
        lines = path.read_text("ascii", "replace").split("\n")
    except OSError as error:
        text = f"The key {path} cannot be read: {error.strerror}."
        raise UsageError(text, code="key_unusable") from None
    key = re.match(r"((?:ssh|ecdsa|sk)-\S+ [A-Za-z0-9+/=]+)(\s|$)", lines[0])
    if key and not any(lines[1:]):
        try:
            _ssh_keygen("-l", "-f", "-", given=lines[0].encode())
        except UsageError:
            key = None
    if not key:
        raise UsageError(
            f"{path} is not a public key of SSH.",
            code="key_unusable",
            hint="Name the .pub file that ssh-keygen made, such as ~/.ssh/id_ed25519.pub.",
        )
    return key[1]


def sign(document: bytes, key: Path) -> str:
    """Return a signature that `ssh-keygen -Y sign` makes; raise `UsageError` where it cannot."""
    armored = _ssh_keygen("-Y", "sign", "-n", NAMESPACE, "-f", key, given=document)
    return compact(armored)


def compact(signature: str) -> str:
    """Return a signature on one line, without its first and last line."""
    return re.sub(r"-----[A-Z ]+-----|\s", "", signature)


def signer_of(document: bytes, signature: str, approvers: Sequence[Approver]) -> Approver | None:
    """Return whose signature of a document it is; None if it is nobody's, or of anything else."""
    with TemporaryDirectory() as folder:
        allowed, signed = Path(folder, "allowed"), Path(folder, "signature")
        line = f'{{}} namespaces="{NAMESPACE}" {{}}\n'
        allowed.write_text("".join(line.format(one.name, one.public_key) for one in approvers))
        signed.write_text(_ARMOR.format(signature))
        files = ("-f", allowed, "-s", signed)
        try:
            name = _ssh_keygen("-Y", "find-principals", *files).strip()
            _ssh_keygen("-Y", "verify", "-n", NAMESPACE, "-I", name, *files, given=document)
        except UsageError:
            return None
    return next(one for one in approvers if one.name == name)


def _ssh_keygen(*words: str | Path, given: bytes = b"") -> str:
    try:
        ended = subprocess.run(  # noqa: S603  no shell; the words are ours but for paths
            ["ssh-keygen", *map(str, words)],  # noqa: S607  wherever it is installed
            input=given,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        raise ConfigurationError.from_table("kernel/store", "ssh_keygen_missing") from None
    if ended.returncode:
        said = ended.stderr.decode(errors="replace").strip().split("\n")[-1]
        raise UsageError(
            f"ssh-keygen cannot use the key: {said}",
            code="key_unusable",
            hint="Name a private key, or the .pub file of one that an agent has.",
        )
    return ended.stdout.decode()
