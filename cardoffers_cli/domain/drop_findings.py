"""What a night may have to say of a file in the drop folder, beside what is wrong with its content.

One file is apart from the others: whatever is said here of one, the night of the others is whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.domain.findings import Code

if TYPE_CHECKING:
    from collections.abc import Mapping

_ALL = (
    Code(
        "stray_file",
        "warning",
        "a link, FIFO, socket, device or folder, a name that is not UTF-8, or a file that lies in"
        " no institution's folder: it was left alone",
        "put a plain file into DROP_DIR/<institution>/, and remove what lies there in its place",
    ),
    Code(
        "file_linked",
        "warning",
        "the file has other names too (hard links): it was left alone",
        "upload it as a file of its own",
    ),
    Code(
        "file_of_another",
        "warning",
        "the file belongs to the user of another institution: it was left alone",
        "find out who put it there; chown it if it is meant",
    ),
    Code(
        "institution_unknown",
        "warning",
        "the folder is of no institution: its files were left alone",
        "name the folder as the institution's slug (cardoffers institution list)",
    ),
    Code(
        "file_not_ready",
        "note",
        "the file may still be being written: it was written to within quiet_s, or is open",
        "nothing to do: it is looked at again at the end of the nightly run, and by the next one;"
        " NAME.done beside it says that it is whole",
    ),
    Code(
        "marker_missing",
        "warning",
        "files of the institution need a marker or a manifest beside them, and this one has none",
        "upload NAME.done after NAME, or cardoffers institution set INST --no-require-marker",
    ),
    Code(
        "too_many_files",
        "warning",
        "more files than one institution may have taken in a nightly run: the others wait",
        "nothing to do: the next nightly run takes them; file_most_per_institution is the limit",
    ),
    Code(
        "file_without_room",
        "error",
        "the file does not fit on the disk: it waits where it is",
        "free some space; the next nightly run tries again",
    ),
    Code(
        "file_changed",
        "note",
        "the file was changed during the nightly run: nothing of it was taken",
        "nothing to do: the next look takes it",
    ),
    Code(
        "file_gone",
        "note",
        "the file was gone when it was to be taken",
        "nothing to do",
    ),
    Code(
        "file_unmovable",
        "error",
        "the file cannot be moved out of its folder: nothing of it was taken",
        "give the user of the nightly run the right to write in that folder",
    ),
    Code(
        "file_exchanged",
        "error",
        "the file was exchanged while it was taken: nothing of it was taken",
        "look at who writes to that folder",
    ),
    Code(
        "file_too_large",
        "error",
        "the file is larger than file_most_bytes",
        "cut it into several files, or raise file_most_bytes",
    ),
    Code(
        "file_unpacks_too_large",
        "error",
        "the file unpacks to more than file_most_unpacked_bytes, than file_most_ratio times its"
        " size, or than the disk has room for",
        "ask the sender for a plain file; raise the limit if it is meant",
    ),
    Code(
        "file_too_slow",
        "error",
        "the file took longer than file_most_seconds",
        "cut it into several files, or raise file_most_seconds",
    ),
    Code(
        "too_many_rejects",
        "error",
        "the file has more invalid rows than file_most_rejects: nothing of it was taken",
        "check it with cardoffers validate; cardoffers import FILE -i INST takes it as it is",
    ),
    Code(
        "manifest_invalid",
        "error",
        "the manifest beside the file is not one",
        'write {"sha256": "…", "rows": 1000, "amount_sum": "12345.67"}, each of them if you like',
    ),
    Code(
        "manifest_mismatch",
        "error",
        "the file is not what its manifest says",
        "ask the sender for the whole file, with its manifest",
    ),
    Code(
        "import_failed",
        "error",
        "the import of the file ended in an error that nobody foresaw: nothing of it was taken",
        "run cardoffers import FILE -i INST --debug, and report what it prints",
    ),
    Code(
        "taken_file_changed",
        "error",
        "a file grew or changed after it was taken: what was written later was not read",
        "import it where it lies now, or accept it as it is with cardoffers run accept",
    ),
)

DROP_CODES: Mapping[str, Code] = {code.code: code for code in _ALL}
"""Every code that is said of a file in the drop folder, and of no row."""
