"""Styles, scripts and drawings, as a server gives them."""

from __future__ import annotations

from importlib import resources
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tournaments.web.errors import Refused
from tournaments.web.render import asset

_TYPES: Final = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def routes() -> list[Route]:
    """Where every file of assets/ is."""
    return [Route("/assets/{name}", _file)]


async def _file(request: Request) -> Response:
    name = request.path_params["name"]
    kind = _TYPES.get(name.rpartition(".")[2])
    known = {each.name for each in resources.files(__package__).joinpath("assets").iterdir()}
    if kind is None or name not in known:
        raise Refused(404, "There is no such file here.")
    return Response(asset(name), media_type=kind, headers={"Cache-Control": "no-cache"})
