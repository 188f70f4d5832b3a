"""The forms in which a payment can be written, by the name that `--form` has for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.payouts.files.nacha import write_nacha
from cardoffers_cli.payouts.files.pain001 import write_listed, write_pain001

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cardoffers_cli.payouts.files.pain001 import Payment

FORMS: Mapping[str, Callable[[Payment], bytes]] = {
    "pain.001": write_pain001,
    "nacha": write_nacha,
    "csv": write_listed,
}
