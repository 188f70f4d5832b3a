"""Two approvers with SSH keys of their own, and what they sign."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.approvals.work import add_approver, give, waiting
from cardoffers_cli.kernel.store.approvers import find_approvers
from work import templates

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.approval_requests import Approval
    from cardoffers_cli.kernel.store.job import Job

NAMES = ("ada", "ben", "cleo")


@cache
def keys() -> Path:
    """Return a folder with a key of each of NAMES, and its public key beside it."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("sshd or ssh is not installed")
    folder = templates() / "keys"
    folder.mkdir()
    for name in NAMES:
        made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", folder / name]
        subprocess.run(made, check=True)
    return folder


def with_approvers(made: Job, *names: str) -> None:
    """Add the approvers that a store does not have yet: ada and ben, or others of NAMES."""
    with made.store() as store:
        known = {each.name for each in find_approvers(store)}
    for name in names or NAMES[:2]:
        if name not in known:
            add_approver(made, name, keys() / f"{name}.pub")


def signed(made: Job, name: str, *ids: str, reason: str | None = None) -> list[Approval]:
    """Sign requests, or all that wait, as an approver."""
    requests = waiting(made, ids, every=not ids)
    return give(made, requests, key=keys() / name, leave_others=not ids, reason=reason)


def signed_elsewhere(content: bytes, name: str, purpose: str = "cardoffers") -> str:
    """Sign a document as somebody does on another machine."""
    words = ["ssh-keygen", "-q", "-Y", "sign", "-n", purpose, "-f", keys() / name]
    done = subprocess.run(words, input=content, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def approved(made: Job, *ids: str) -> None:
    """Let two approvers sign requests, or all that wait."""
    with_approvers(made)
    signed(made, "ada", *ids)
    signed(made, "ben", *ids)
