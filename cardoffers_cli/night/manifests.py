"""A file held against what its manifest says: before anything of it is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.findings import unusable
from cardoffers_cli.kernel.words.money import quantize
from cardoffers_cli.kernel.words.sentences import counted

if TYPE_CHECKING:
    from cardoffers_cli.drop.fetched_files import Copy
    from cardoffers_cli.drop.manifests import Manifest
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.errors import FileUnusable
    from cardoffers_cli.river.receiving import Judged


def check_digest(copy: Copy, manifest: Manifest | None) -> None:
    """Raise `FileUnusable` where a file, as it lies, is not what its manifest says."""
    if manifest and manifest.sha256 not in {None, copy.sha256}:
        raise _mismatch("its SHA-256 is another one")


def vouches(manifest: Manifest | None) -> bool:
    """Say whether a manifest would not agree with a file that was cut in its last line."""
    return manifest is not None and (manifest.sha256 is not None or manifest.amount_sum is not None)


def check_sums(store: Store, judged: Judged, owner: Institution, manifest: Manifest | None) -> None:
    """Raise `FileUnusable` where rows or amounts differ from the manifest.

    The refunds among the rows of a file count as rows, and their amounts as they stand in the file,
    below zero.

    The amount of an invalid row may be anything: where there are such rows, the sum of the valid
    ones can only be held to be no more than what the manifest says, and where a refund is invalid
    not even that. It does not tell whether the last line was cut.
    """
    if manifest is None:
        return
    report = judged.report
    if manifest.rows is not None and manifest.rows != report.received:
        raise _mismatch(f"it has {counted(report.received, 'row')}, not {manifest.rows:,}")
    if manifest.amount_sum is None:
        return
    amount, *refunded = (store.value("river/stage:amount", part.rows) for part in judged.staged)
    total = quantize(amount - sum(refunded), owner.currency)
    is_whole = manifest.sha256 or not report.is_unterminated
    lacks_refunds = report.refunds and report.refunds.invalid
    is_less = report.invalid and total <= manifest.amount_sum
    if total != manifest.amount_sum and not (is_whole and (lacks_refunds or is_less)):
        raise _mismatch(f"its amounts are {total:,} in all, not {manifest.amount_sum:,f}")


def _mismatch(what: str) -> FileUnusable:
    return unusable("manifest_mismatch", f"The file is not what its manifest says: {what}.")
