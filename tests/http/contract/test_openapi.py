"""The description: each endpoint and nothing else, valid, and made of the rules themselves."""

from __future__ import annotations

import html
import re
import shlex
from copy import deepcopy
from json import loads
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from cardoffers_cli.events.subscriptions import set_webhook
from cardoffers_cli.http.contract.docs import show
from cardoffers_cli.http.contract.openapi import OPERATIONS, REFUSALS
from cardoffers_cli.http.contract.routes import ROUTES
from cardoffers_cli.intake.fields import COLUMNS, E_MAIL, IDENTIFIER_TYPES, REQUIRED
from cardoffers_cli.kernel.words.signing import signature_headers
from cardoffers_cli.keys.rules import SCOPES
from cardoffers_cli.river.redemptions import reverse
from described import description
from outbox import events, redemption
from sizes import slow
from work import found

if TYPE_CHECKING:
    from pathlib import Path


def validate(document: Any) -> None:
    import schemathesis  # noqa: PLC0415 - takes a second of everybody who collects tests

    schemathesis.openapi.from_dict(document).validate()


def operations() -> dict[str, Any]:
    return {
        f"{method.upper()} {path}": operation
        for path, methods in description()["paths"].items()
        for method, operation in methods.items()
    }


def test_every_route_is_described_and_nothing_else() -> None:
    routes = {f"{route.method} {route.template}" for route in ROUTES}
    assert routes == operations().keys() == OPERATIONS.keys()


def test_an_operation_is_named_by_its_method_and_path() -> None:
    """Generators of clients name their functions so."""
    named = {
        "POST /api/v1/offers/{id}/add": "post_api_v1_offers_id_add",
        "GET /openapi.json": "get_openapi_json",
    }
    found = operations()
    assert named == {each: found[each]["operationId"] for each in named}


def test_the_document_is_valid() -> None:
    validate(description())


def test_an_invalid_document_is_found() -> None:
    broken = deepcopy(description())
    broken["paths"]["/openapi.json"]["get"]["responses"] = 200
    with pytest.raises(ValueError, match="is not of type"):
        validate(broken)


def test_every_reference_leads_somewhere() -> None:
    names = set(re.findall(r"#/components/(\w+/[\w-]+)", str(description())))
    known = {
        f"{kind}/{name}" for kind, parts in description()["components"].items() for name in parts
    }
    assert set() == names - known
    assert {"securitySchemes/apiKey"} == known - names


def test_no_schema_narrows_another_by_a_constant() -> None:
    """Generators of clients, such as openapi-python-client, leave such an answer out."""
    answers = [
        answer["content"]["application/problem+json"]["schema"]["allOf"][1]["properties"]
        for operation in operations().values()
        for status, answer in operation["responses"].items()
        if "application/problem+json" in answer["content"]
    ]
    assert len(answers) > 100
    assert [] == [told for told in answers if any("const" in field for field in told.values())]


def test_keys_are_asked_for_with_their_scope() -> None:
    for route in ROUTES:
        operation = operations()[f"{route.method} {route.template}"]
        assert ([{"apiKey": []}] if route.scope else []) == operation["security"]
        assert (f"`{route.scope}`" in operation.get("description", "")) == bool(route.scope)
    assert {None, *SCOPES} == {route.scope for route in ROUTES}


def test_every_refusal_is_described_somewhere_with_its_headers() -> None:
    described = {
        (int(status), code)
        for operation in operations().values()
        for status, answer in operation["responses"].items()
        if "application/problem+json" in answer["content"]
        for code in answer["content"]["application/problem+json"]["schema"]["allOf"][1][
            "properties"
        ]["code"]["enum"]
    }
    assert {(status, code) for code, (status, _) in REFUSALS.items()} == described


HEADERS = [
    ("401", "WWW-Authenticate"),
    ("405", "Allow"),
    ("429", "Retry-After"),
    ("503", "Retry-After"),
]


@pytest.mark.parametrize(("status", "header"), HEADERS)
def test_a_status_names_its_header(status: str, header: str) -> None:
    answers = [
        operation["responses"][status]
        for operation in operations().values()
        if status in operation["responses"]
    ]
    assert answers
    assert all({"X-Request-Id", header} == answer["headers"].keys() for answer in answers)


def test_all_headers_of_an_answer_are_sent_but_that_of_a_snapshot() -> None:
    headers = description()["components"]["headers"]
    assert ["X-Snapshot-At"] == [name for name in headers if not headers[name].get("required")]
    assert 1 == headers["Retry-After"]["schema"]["minimum"]


def test_only_reports_may_come_from_a_snapshot_and_are_limited() -> None:
    reports = {place for place in operations() if "/reporting/" in place}
    for place, operation in operations().items():
        answers = operation["responses"]
        assert ("429" in answers) == (place in reports)
        assert ("X-Snapshot-At" in answers["200"]["headers"] if "200" in answers else False) == (
            place in reports
        )


def test_an_event_is_described_by_the_rules() -> None:
    schemas = description()["components"]["schemas"]
    event = schemas["TransactionEvent"]
    assert set(COLUMNS) == event["properties"].keys()
    assert set(REQUIRED) == set(event["required"])
    assert (
        list(IDENTIFIER_TYPES)
        == event["properties"]["merchant_identifier_type"]["anyOf"][0]["enum"]
    )
    assert {"pattern": E_MAIL} in schemas["Token"]["not"]["anyOf"]
    assert 1000 == schemas["TransactionBatch"]["properties"]["transactions"]["maxItems"]


def test_patterns_are_those_of_every_language() -> None:
    """Rust writes some characters as ECMA-262 and Python do not."""
    for pattern in re.findall(r"'pattern': '(.*?)'[,}]", str(description())):
        re.compile(pattern.replace(r"\\", "\\"))
        assert r"\x{" not in pattern


# The webhook, the examples, the page


@slow
@pytest.mark.parametrize(
    ("name", "body"),
    [("redemption.completed", "RedemptionEvent"), ("redemption.reversed", "ReversalEvent")],
)
def test_a_webhook_is_described_as_it_is_sent(tmp_path: Path, name: str, body: str) -> None:
    webhook = description()["webhooks"][name]["post"]
    content = webhook["requestBody"]["content"]["application/json"]
    schema = description()["components"]["schemas"][body]
    made = events(tmp_path)
    set_webhook(made, "alder", "https://example.com", events=("completed", "reversed"))
    reverse(redemption(made), "returned", made)
    ((text,),) = found(made, f"select body from outbox where kind = '{name}'")  # noqa: S608 - ours
    event = loads(text)
    assert list(event) == list(content["example"]) == list(schema["properties"])
    for each in (event, content["example"]):
        jsonschema.validate(each, schema, format_checker=jsonschema.FormatChecker())
    headers = signature_headers(text.encode(), "whsec_x", 1_780_000_000)
    described = {each["name"]: each["schema"]["pattern"] for each in webhook["parameters"]}
    assert headers.keys() == described.keys()
    assert all(re.search(pattern, headers[name]) for name, pattern in described.items())


def test_every_endpoint_has_an_example_that_calls_it() -> None:
    for route in ROUTES:
        sample = operations()[f"{route.method} {route.template}"]["x-codeSamples"][0]["source"]
        words = shlex.split(sample.replace("$BASE_URL", "").replace("$API_KEY", "key"))
        path = next(word for word in words if word.startswith("/"))
        assert route.pattern.fullmatch(path.partition("?")[0])
        assert (route.method == "POST") == ("-d" in words)
        assert (route.scope is not None) == ("Authorization: Bearer key" in words)


def test_the_page_says_what_the_document_says_and_loads_nothing() -> None:
    answer = show()
    page = html.unescape(answer.body.decode())
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    loaded = re.findall(r"""(?:\b(?:src|href)="|\burl\(|@import )([^")]+)""", page)
    assert [] == [each for each in loaded if not each.startswith(("#", "data:"))]
    assert "<script" not in page
    for place, operation in operations().items():
        assert place in page
        assert operation["summary"] in page
        assert operation["x-codeSamples"][0]["source"].splitlines()[0] in page
    assert "Webhook redemption.completed" in page
    assert "Webhook redemption.reversed" in page
    for body in ("RedemptionEvent", "ReversalEvent"):
        event = description()["components"]["schemas"][body]
        assert all(name in page for name in event["properties"])
    assert all(code in page and meaning.replace("`", "") in page for code, meaning in refusals())
    assert "As if the field were not sent" not in page


def refusals() -> list[tuple[str, str]]:
    return [(code, meaning) for code, (_, meaning) in REFUSALS.items()]
