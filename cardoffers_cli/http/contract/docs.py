"""The description as a page: what `openapi.py` says, for people who want to read it first.

It is made of the same document, loads nothing from elsewhere, and runs no script.
"""

from __future__ import annotations

from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

from cardoffers_cli.http.contract.messages import HTML_TYPE, JSON_TYPE, PROBLEM_TYPE, Answer
from cardoffers_cli.http.contract.openapi import REFUSALS, document
from cardoffers_cli.http.contract.schemas import ref
from cardoffers_cli.kernel.sheets.pages import Page, Section, write_page
from cardoffers_cli.kernel.sheets.sheets import Column, Sheet
from cardoffers_cli.kernel.words.json_text import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Described = Mapping[str, Any]

_FIELDS = (Column("name"), Column("needed"), Column("meaning"))
_ANSWERS = (Column("status"), Column("code"), Column("meaning"))
_ABSENT = ref("Absent")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@cache
def show() -> Answer:
    """Answer with the page; it is the same for everybody."""
    out = BytesIO()
    described = document()
    sections = [
        Section(title="How to call", lines=_HOW),
        *(
            section
            for path, methods in described["paths"].items()
            for method, operation in methods.items()
            for section in _sections(f"{method.upper()} {path}", operation, described)
        ),
        *(
            section
            for name, methods in described["webhooks"].items()
            for section in _sections(f"Webhook {name}", methods["post"], described)
        ),
    ]
    about = [described["info"]["description"], "The same for programs: GET /openapi.json"]
    write_page(
        Page(title=described["info"]["title"], as_of=None, about=about, sections=sections), out
    )
    headers = {"content-type": HTML_TYPE, "content-security-policy": _POLICY}
    return Answer(status=200, body=out.getvalue(), headers=headers)


_HOW = """\
Every call carries the institution's API key: Authorization: Bearer, and the key. The institution \
is that of the key.
In the examples BASE_URL is where the service is, and API_KEY the key; both come from the \
environment, so that no key is typed.
A refusal is told as problem details (RFC 9457) with a stable code. In a query a + is sent as %2B.\
""".splitlines()


def _sections(title: str, operation: Described, described: Described) -> Iterator[Section]:
    paragraphs = [operation["summary"], *filter(None, [operation.get("description")])]
    yield Section(
        title=title,
        lines=[_plain(line) for line in paragraphs],
        text=_example(operation),
        sheet=Sheet("answers", _ANSWERS, [*_answers(operation)], title="Answers"),
    )
    if fields := [*_fields(operation, described)]:
        yield Section(title=None, sheet=Sheet("fields", _FIELDS, fields, title="What is sent"))


def _example(operation: Described) -> str:
    """Return the call as it is typed or, of what is sent to others, the body."""
    if samples := operation.get("x-codeSamples"):
        return str(samples[0]["source"])
    return dumps(operation["requestBody"]["content"][JSON_TYPE]["example"], indent=2)


def _answers(operation: Described) -> Iterator[dict[str, str]]:
    for status, answer in operation["responses"].items():
        problem = answer.get("content", {}).get(PROBLEM_TYPE)
        codes = problem["schema"]["allOf"][1]["properties"]["code"]["enum"] if problem else []
        for code in codes:
            yield {"status": status, "code": code, "meaning": _plain(REFUSALS[code][1])}
        if not codes:
            yield {"status": status, "code": "", "meaning": _plain(answer["description"])}


def _plain(text: str) -> str:
    """Leave out what marks code in the document."""
    return text.replace("`", "")


def _fields(operation: Described, described: Described) -> Iterator[dict[str, str]]:
    for item in operation.get("parameters", ()):
        needed = "yes" if item["required"] else "no"
        yield {"name": item["name"], "needed": needed, "meaning": _plain(item["description"])}
    body = operation.get("requestBody", {}).get("content", {}).get(JSON_TYPE)
    if body:
        schema = _followed(body["schema"], described)
        for name, field in schema["properties"].items():
            needed = "yes" if name in schema["required"] else "no"
            # its words if it is one of some, else what is said of it
            choices = [field, *(item for item in field.get("anyOf", ()) if item != _ABSENT)]
            parts = [_followed(item, described) for item in choices]
            texts = [item["description"] for item in [*choices, *parts] if "description" in item]
            enums = [item["enum"] for item in parts if any(item.get("enum", ()))]
            listed = ", ".join(map(str, enums[0])) if enums else ""
            meaning = texts[0] if texts and not enums else listed
            yield {"name": name, "needed": needed, "meaning": meaning}


def _followed(schema: Described, described: Described) -> Described:
    name = schema.get("$ref", "").rpartition("/")[2]
    target: Described = described["components"]["schemas"][name] if name else schema
    return target
