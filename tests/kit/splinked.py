"""The same pairs of names judged by splink (the model of Fellegi and Sunter)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def linked(
    pairs: Sequence[tuple[int, int, str, str]], share: float
) -> Mapping[int, tuple[float, int]]:
    """Return the likeliest merchant of each query, (probability, merchant), of the pairs alone.

    A pair is a query, a merchant, and a name of each. It is told the share that are matches, and
    looks at these pairs for how names agree by chance; how matches agree is as it has it, since
    training by expectation maximisation on pairs that are all alike came out worse. Raises
    `ImportError` where it is not installed.
    """
    import splink.comparison_library as compared  # noqa: PLC0415  not everybody has it
    from splink import (  # noqa: PLC0415
        DuckDBAPI,
        Linker,
        SettingsCreator,
        block_on,
    )

    api = DuckDBAPI()
    sides = [
        pl.DataFrame(
            {
                "unique_id": range(len(pairs)),
                "pair": range(len(pairs)),
                "query": [pair[0] for pair in pairs],
                "merchant": [pair[1] for pair in pairs],
                "compact": [pair[side].replace(" ", "") for pair in pairs],
                "words": [pair[side].split() for pair in pairs],
                "first": [pair[side].split()[0] for pair in pairs],
            }
        ).to_arrow()
        for side in (2, 3)
    ]
    settings = SettingsCreator(
        link_type="link_only",
        blocking_rules_to_generate_predictions=[block_on("pair")],
        comparisons=[
            compared.JaroWinklerAtThresholds("compact", [0.97, 0.92, 0.8]),
            compared.ArrayIntersectAtSizes("words", [3, 2, 1]),
            compared.ExactMatch("first"),
        ],
        additional_columns_to_retain=["query", "merchant"],
        probability_two_random_records_match=share,
    )
    linker = Linker([api.register(each) for each in sides], settings)
    linker.training.estimate_u_using_random_sampling(max_pairs=1_000_000, seed=1)
    found: dict[int, tuple[float, int]] = {}
    for row in linker.inference.predict().as_record_list():
        answer = (row["match_probability"], row["merchant_l"])
        found[row["query_l"]] = max(found.get(row["query_l"], (0.0, 0)), answer)
    return found
