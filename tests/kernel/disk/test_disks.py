from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.disk.folders import network_kind

if TYPE_CHECKING:
    from pathlib import Path

MOUNTS = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:40 / /srv rw,relatime shared:5 - nfs4 files:/srv rw
31 30 0:41 / /srv/local\\040disk rw,relatime - xfs /dev/vdb rw
32 22 0:42 / /srv2 rw,relatime - cifs //files/srv2 rw
33 22 0:43 / /share rw - fuse.sshfs me@files:/ rw
34 33 0:44 / /share rw - tmpfs none rw
"""


@pytest.mark.parametrize(
    ("kind", "folder"),
    [
        (None, "/var/night"),
        ("nfs4", "/srv"),
        ("nfs4", "/srv/cardoffers/drop"),
        (None, "/srv/local disk/drop"),
        ("cifs", "/srv2"),
        (None, "/srv3"),
        (None, "/share/drop"),
    ],
)
def test_the_innermost_and_newest_mount_says_whether_it_is_a_networks(
    tmp_path: Path, kind: str | None, folder: str
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    assert kind == network_kind(tmp_path.__class__(folder), mounts)


def test_where_nobody_lists_mounts_nothing_is_said(tmp_path: Path) -> None:
    assert None is network_kind(tmp_path, tmp_path / "nowhere")
