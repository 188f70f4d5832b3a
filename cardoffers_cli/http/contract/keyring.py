"""The keys that worked when the store was last read, for what is decided before a body is read.

A keyring gives room to a body and never entry: the gate asks the store about the key again with
each call, so a key that was revoked since opens nothing. It refuses nothing either, unless it was
read after the request came: a key may be younger than the keyring.
"""

from __future__ import annotations

import hmac
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from cardoffers_cli.keys.questions import list_hashes
from cardoffers_cli.keys.rules import key_hash, prefix_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.keys.questions import KeyHash


@dataclass(frozen=True)
class Keyring:
    """Hashes of keys, by the beginning that may be shown of each.

    `is_whole` is False where a snapshot was read, which cannot say of a key that it does not exist.
    """

    hashes: Mapping[str, Sequence[KeyHash]] = field(default_factory=dict, repr=False)
    is_whole: bool = False

    @classmethod
    def of(cls, store: Store, *, is_whole: bool) -> Self:
        """Read the keys of a store that are not revoked."""
        hashes = defaultdict(list)
        for each in list_hashes(store):
            hashes[each.prefix].append(each)
        return cls(dict(hashes), is_whole)

    def owner(self, text: str, now: datetime) -> UUID | None:
        """Return whose key this is the text of, None where none is known that works."""
        digest, found = key_hash(text), None
        for each in self.hashes.get(prefix_of(text), ()):
            works = each.ends_at is None or now < each.ends_at
            if hmac.compare_digest(each.key_hash, digest) and works:
                found = each.institution_id
        return found
