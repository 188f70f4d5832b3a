"""The vectors are literals that openssl made, in the order of the table:

printf '%b' "$body" | openssl dgst -sha256 -hmac "$secret"
printf '%b' "1767225600.$body" | openssl dgst -sha256 -hmac "$secret"
"""

from __future__ import annotations

import pytest

from cardoffers_cli.kernel.words.signing import RULES, check_signature, signature_headers

SECRET = "whsec_3mVfZ0aXyQ7"  # noqa: S105 - only tests know it
OTHER = "whsec_another"
NOW_S = 1767225600
EVENT = b'{"event":"redemption.completed","redemption_id":"r-1"}'
V1 = "sha256=d88fd7b526abd050e0cf91e4c369ece877c8d33133f427da989780099ce830ae"
V2 = "sha256=150914f123f2e258d1934ce49161b9749f1c29d3618d9dc36df604d78f473a8d"


def headers(v1: str | None, at: str | None, v2: str | None) -> dict[str, str]:
    named = {"x-service-signature": v1, "X-Service-Timestamp": at, "X-SERVICE-SIGNATURE-V2": v2}
    return {name: value for name, value in named.items() if value is not None}


@pytest.mark.parametrize(
    ("body", "secret", "v1", "v2"),
    [
        (EVENT, SECRET, V1, V2),
        (
            '{"cardholder_token_masked":"ch_8…4fa7","institution_payout_amount":12.50}'.encode(),
            SECRET,
            "sha256=aa96284fbbf097b2bcf38cacd777ce670c23e4a104de5e5614d70699b3b4016e",
            "sha256=97a1e73871f13d561b2427ddc2d118f37b264535090a50680fb8cc7b9fa15c72",
        ),
        (
            b"",
            SECRET,
            "sha256=8080f5cfabbfa10d7726b18fb8cd393d6d9b46f29424968aa8f4032e94b5fab7",
            "sha256=7c61ecace259570e5a01c553c048bc60fa43f94935a45953f3410fdf9bf17322",
        ),
        (
            EVENT,
            "clé €",
            "sha256=ae6576fac2c7887b1e167001e8b3aae7bcbd3b713252d1e61dc20846f1facd24",
            "sha256=3ff095b8d37a9b955e96103984b3deb801421c17209f3f54051fd3c69ac94b57",
        ),
        (
            b"\xff\x00\x0a",
            SECRET,
            "sha256=18dde54c4bf17e16e017a8977830920a780411759d855c95e45a772804ddd8b3",
            "sha256=56185af7a5172736a4ec0e2eed7f8f5979c6636fb747dde51459e68594e5752a",
        ),
    ],
    ids=["event", "not ASCII", "empty", "secret not ASCII", "not UTF-8"],
)
def test_a_body_is_signed_as_openssl_signs_it(body: bytes, secret: str, v1: str, v2: str) -> None:
    made = signature_headers(body, secret, NOW_S)
    assert {
        "X-Service-Signature": v1,
        "X-Service-Timestamp": "1767225600",
        "X-Service-Signature-V2": v2,
    } == made
    assert [] == check_signature(body, made, [secret], NOW_S)


@pytest.mark.parametrize(
    ("failed", "v1", "at", "v2"),
    [
        ("v1_missing timestamp_missing v2_missing", None, None, None),
        ("timestamp_missing v2_missing", V1, None, None),
        ("v2_missing", V1, "1767225600", None),
        ("", V1, "1767225600", V2),
        ("v1_wrong", V2, "1767225600", V2),
        ("v2_wrong", V1, "1767225600", V1),
        ("v2_wrong", V1, "1767225601", V2),
        ("v2_wrong", V1, "1767225600", V2.upper()),
        ("v2_wrong", V1, "1767225600", V2.removeprefix("sha256=")),
        ("v2_wrong", V1, "1767225600", "é\udcff"),
        ("timestamp_invalid v2_wrong", V1, "soon", V2),
        ("timestamp_invalid v2_wrong", V1, "-1", V2),
        ("timestamp_invalid v2_wrong", V1, "1767225600.0", V2),
        ("timestamp_invalid v2_wrong", V1, "١٧٦٧", V2),
        ("timestamp_invalid v2_wrong", V1, "9" * 5000, V2),
        ("timestamp_invalid v2_wrong", V1, "\udcff", V2),
    ],
)
def test_each_rule_that_fails_is_named(
    failed: str, v1: str | None, at: str | None, v2: str | None
) -> None:
    assert failed.split() == check_signature(EVENT, headers(v1, at, v2), [SECRET], NOW_S)
    assert set(failed.split()) <= RULES.keys()


@pytest.mark.parametrize(
    ("failed", "now_s"),
    [
        ([], NOW_S + 300),
        (["timestamp_too_old"], NOW_S + 301),
        ([], NOW_S - 300),
        (["timestamp_in_future"], NOW_S - 301),
    ],
)
def test_a_timestamp_holds_for_five_minutes(failed: list[str], now_s: int) -> None:
    assert failed == check_signature(EVENT, headers(V1, str(NOW_S), V2), [SECRET], now_s)


@pytest.mark.parametrize(
    ("failed", "secrets"),
    [
        ([], [OTHER, SECRET]),
        ([], [SECRET, OTHER]),
        (["v1_wrong", "v2_wrong"], [OTHER]),
        (["v1_wrong", "v2_wrong"], []),
    ],
)
def test_each_of_the_given_secrets_may_have_signed(failed: list[str], secrets: list[str]) -> None:
    assert failed == check_signature(EVENT, headers(V1, str(NOW_S), V2), secrets, NOW_S)
