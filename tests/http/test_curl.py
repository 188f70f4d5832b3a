"""The examples of the description, typed as they stand there, against a server that runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.http.contract.openapi import OPERATIONS, curl
from cardoffers_cli.http.contract.routes import ROUTES
from cardoffers_cli.http.contract.schemas import OFFER_ID
from cardoffers_cli.keys.work import KeyRequest, create_key
from serving import serving_within
from sizes import slow
from work import new_store, tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.http.contract.routes import Route

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder: Path = tmp_path_factory.mktemp("curl")
    made = new_store(folder)
    tell(made, institutions="institution\nalder", merchants="merchant\nbakery")
    tell(made, offers=f"offer merchant\n{OFFER_ID} bakery", programs=f"offer\n{OFFER_ID}")
    scopes = ("offers", "reporting", "transactions")
    key = create_key(KeyRequest(institution="alder", name="app", scopes=scopes), made)["key"]
    with serving_within(made.path) as server:
        yield {**os.environ, "BASE_URL": f"http://127.0.0.1:{server.port}", "API_KEY": key}


@slow
@pytest.mark.parametrize("route", ROUTES, ids=[f"{each.method} {each.template}" for each in ROUTES])
def test_an_example_is_answered_as_the_description_says(
    environment: dict[str, str], route: Route
) -> None:
    asked = f"{curl(route)} -o /dev/null -w '%{{http_code}} %{{content_type}}'"
    code, _, kind = typed(asked, environment).partition(" ")
    operation = OPERATIONS[f"{route.method} {route.template}"]
    assert code in operation.answers
    assert operation.media_type == kind


@slow
def test_a_server_says_that_it_lives(environment: dict[str, str]) -> None:
    (health,) = [route for route in ROUTES if route.template == "/healthz"]
    assert {"status": "ok"} == json.loads(typed(curl(health), environment))


def typed(line: str, environment: dict[str, str]) -> str:
    """Run a line in a shell; return what it wrote."""
    words = ["/bin/sh", "-c", line]
    done = subprocess.run(words, env=environment, check=True, capture_output=True, text=True)
    return done.stdout
