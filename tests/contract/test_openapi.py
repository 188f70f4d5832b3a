"""The description: each endpoint and nothing else, valid, and made of the rules themselves."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

import pytest
import schemathesis

from cardoffers_cli.contract.openapi import OPERATIONS, REFUSALS
from cardoffers_cli.contract.routes import ROUTES
from cardoffers_cli.domain.keys import SCOPES
from cardoffers_cli.files.fields import COLUMNS, E_MAIL, IDENTIFIER_TYPES, REQUIRED
from described import description


def validate(document: Any) -> None:
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
