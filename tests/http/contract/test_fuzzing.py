"""A server held to its own description by a stranger, who tries what it allows and what not.

Bounded and the same every time; `CARDOFFERS_TESTS=full` lets chance in, for longer.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from cardoffers_cli.http.contract.routes import ROUTES
from doors import open_server
from sizes import FULL, at_the_gate
from tables import key_text, select

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job

pytestmark = at_the_gate  # it asks some thousand times

CONFIG = f"""
[auth.openapi.apiKey]
bearer = "{key_text("alderall")}"

[parameters]
"path.id" = "bread"

# JSON Schema cannot say everything that makes a value good: which cursor is one, how many decimals
# a currency has, which days a month has, how long a whole address is once it is encoded.
[checks]
positive_data_acceptance.expected-statuses = ["2xx", "403", "404", "409", "422"]
negative_data_rejection.expected-statuses = ["4xx"]

[[operations]]
include-path = "/api/v1/offers"
checks.positive_data_acceptance.expected-statuses = ["2xx", "414"]

[[operations]]
include-path = "/api/v1/offers/{{id}}/add"
checks.positive_data_acceptance.expected-statuses = ["2xx", "403", "409"]

[[operations]]
include-path = "/api/v1/transactions/batch"
checks.positive_data_acceptance.expected-statuses = ["2xx"]
"""
BOUNDED = ("--generation-deterministic", "--max-examples", "6")
LONGER = ("--max-time", "600")


def test_no_check_fails(fresh: Job, tmp_path: Path) -> None:
    config = tmp_path / "schemathesis.toml"
    config.write_text(CONFIG)
    extent = LONGER if FULL else BOUNDED
    with open_server(fresh, reporting_calls_per_minute="1000000") as door:
        url = f"http://127.0.0.1:{door.port}/openapi.json"
        program = Path(sys.executable).with_name("st")
        ended = subprocess.run(
            [program, "--config-file", config, "run", url, "--no-color", *extent],
            check=False,
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
    assert 0 == ended.returncode, ended.stdout
    log = fresh.path.with_name("serve.log").read_text()
    requests = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    good = Counter(line["route"] for line in requests if 200 <= line["status"] < 300)
    assert {route.template for route in ROUTES} == good.keys()
    assert not any(line["status"] >= 500 for line in requests)
    with fresh.store(read_only=True) as store:
        assert [(0,)] == select(
            store,
            "select count(*) from purchases join institutions using (institution_id)"
            " where slug = 'brook' and transaction_ref not in ('b1', 'b2')",
        )
