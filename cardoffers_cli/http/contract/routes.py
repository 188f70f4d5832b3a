"""Routes: which endpoints there are, and what each of them asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from cardoffers_cli.http.contract.messages import Answer, Problem


@dataclass(frozen=True)
class Route:
    """One endpoint. `scope` None is open to everybody; what `is_read` may be read from a snapshot.

    `name` is the module and the function of its handler in this package, `module:function`; an
    endpoint whose calls are taken together with those of others has none.
    """

    method: str
    template: str
    scope: str | None
    name: str | None
    is_read: bool = False
    is_limited: bool = False
    needs_store: bool = False
    """Whether one that is open to everybody is answered only where the store can be had."""

    @property
    def is_alone(self) -> bool:
        """Whether each of its calls is work of its own."""
        return self.name is not None

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The template as a pattern of paths; a parameter is one segment of the path."""
        return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(self.template)))


API = "/api/v1"

TRANSACTION = Route("POST", f"{API}/transactions", "transactions", None)
BATCH = Route("POST", f"{API}/transactions/batch", "transactions", None)
FEED = Route("GET", f"{API}/offers", "offers", None)

ROUTES = (
    TRANSACTION,
    BATCH,
    Route("POST", f"{API}/transactions/simulate", "transactions", "events:simulate"),
    FEED,
    Route("POST", f"{API}/offers/{{id}}/add", "offers", "offers:add"),
    *(
        Route(
            *("GET", f"{API}/reporting/{name}", "reporting", f"reports:{name}"),
            is_read=True,
            is_limited=True,
        )
        for name in ("redemptions", "settlements", "funnel")
    ),
    Route("GET", "/openapi.json", None, "openapi:describe"),
    Route("GET", "/docs", None, "docs:show"),
    Route("GET", "/healthz", None, "routes:tell"),
    Route("GET", "/readyz", None, "routes:ready", needs_store=True),
)
"""Every endpoint of the contract, its description, and signs of life (rules.md#versions)."""


def find_route(method: str, path: str) -> tuple[Route, dict[str, str]]:
    """Return the endpoint of a call and the parameters of its path, still percent-encoded.

    Raises `Problem`: 404 for a path that is none, 405 for a method the path does not have.
    """
    matches = [(route, match) for route in ROUTES if (match := route.pattern.fullmatch(path))]
    for route, match in matches:
        if route.method == method:
            return route, match.groupdict()
    if matches:
        allowed = ", ".join(sorted({route.method for route, _ in matches}))
        raise Problem(
            405,
            "method_not_allowed",
            f"This path answers {allowed} only.",
            headers={"allow": allowed},
        )
    raise Problem(
        404, "not_found", "There is no such path. GET /openapi.json describes those there are."
    )


# Health: the signs of life of a server, for whatever watches it.
#
# One says that this process answers, and nothing of the store: a night that holds the store is no
# reason to restart a server. The other says that the store can be had, and no word more if not.


def tell() -> Answer:
    """Answer that there is an answer."""
    return Answer.of(200, {"status": "ok"})


def ready() -> Answer:
    """Answer that the store was had; who asks while it is not is answered 503."""
    return Answer.of(200, {"status": "ready"})
