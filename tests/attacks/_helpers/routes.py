"""Every route of the extension, as the running server has it: a new one is attacked without being named here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tornado.web import RequestHandler

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

__all__ = ["METHODS", "Route", "routes_of"]

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD")

_GROUP = re.compile(r"\(\?P<(\w+)>[^()]*\)")


@dataclass(frozen=True)
class Route:
    """A route, and the handler behind it."""

    pattern: str
    handler: type[RequestHandler]

    def path(self, values: Mapping[str, str]) -> str:
        """The path with these values; a part for which there is none is named in the error."""
        return re.sub(r"\\(.)", r"\1", _GROUP.sub(lambda found: values[found[1]], self.pattern)).rstrip("$")

    def takes(self, method: str) -> bool:
        """Whether there is anything behind this method."""
        return getattr(self.handler, method.lower()) is not RequestHandler._unimplemented_method


def routes_of(app: ServerApp) -> list[Route]:
    """All routes whose handlers are ours."""
    found = list(_rules(app.web_app.default_router.rules)) + list(_rules(app.web_app.wildcard_router.rules))
    assert len(found) == len({route.pattern for route in found}), "two routes of one path"
    return found


def _rules(rules: object) -> Iterator[Route]:
    for rule in rules:  # type: ignore[attr-defined]  # Tornado's router is untyped here
        target = rule.target
        if isinstance(target, type) and target.__module__.startswith("hdsp_agent"):
            yield Route(rule.matcher.regex.pattern, target)
        elif hasattr(target, "rules"):
            yield from _rules(target.rules)
