"""What the JSON endpoints take and give, as an OpenAPI 3.1 document."""

from __future__ import annotations

from typing import Any, Final

from referee.match import FaultKind
from tournaments.export import FORMAT
from tournaments.search import PAGE
from tournaments.web.asking import ANY, KINDS, MOST

Json = dict[str, Any]

_TEXT: Final[Json] = {"type": "string"}
_WHOLE: Final[Json] = {"type": "integer"}
_COUNT: Final[Json] = {"type": "integer", "minimum": 0}
_NUMBER: Final[Json] = {"type": "number"}
_FLAG: Final[Json] = {"type": "boolean"}
_CARD: Final[Json] = {"type": "string", "pattern": "^[2-9TJQKA][CDHS]$"}


def _list(items: Json) -> Json:
    return {"type": "array", "items": items}


def _or_null(schema: Json) -> Json:
    return {"anyOf": [schema, {"type": "null"}]}


def _object(properties: Json, *, optional: tuple[str, ...] = ()) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _page(name: str) -> Json:
    return _object({"items": _list(_ref(name)), "after": _or_null(_TEXT)})


_SEAT: Final = _object({"entrant": _COUNT, "name": _TEXT})
_PHASE: Final[Json] = {"enum": ["bid", "play"]}
_KIND: Final[Json] = {"enum": [kind.name.lower() for kind in FaultKind]}
_WHERE: Final[Json] = {
    "seat": _COUNT,
    "phase": _PHASE,
    "trick": _or_null(_COUNT),
}

SCHEMAS: Final[Json] = {
    "Error": _object({"error": _TEXT, "status": _WHOLE}),
    "Standing": _object(
        {
            "place": _or_null(_COUNT),
            "entrant": _COUNT,
            "name": _TEXT,
            "version": _TEXT,
            **{
                name: _or_null(_NUMBER)
                for name in (
                    *("rating", "low", "high", "points_per_deal", "points_low", "points_high"),
                    *("win_share", "mean_place", "memory_p"),
                )
            },
            **dict.fromkeys(("matches", "firsts", "faults", "forfeits"), _COUNT),
            "provisional": _FLAG,
            "remembers": _FLAG,
        }
    ),
    "Meeting": {
        "type": "object",
        "description": "How an entrant fared against an opponent.",
        "required": ["entrant", "opponent", "wins", "ties", "losses"],
    },
    "Standings": _object(
        {
            "format": {"const": "knavery.standings/1"},
            "blocks": _object({"complete": _COUNT, "open": _WHOLE}),
            "provisional": _FLAG,
            "level": _NUMBER,
            "centre": _NUMBER,
            "anchor": _or_null(_TEXT),
            "standings": _list(_ref("Standing")),
            "head_to_head": _list(_ref("Meeting")),
        }
    ),
    "Progress": _object(
        {
            "title": _TEXT,
            "game": _TEXT,
            "variant": _TEXT,
            "state": {"enum": ["running", "finished", "stopped", "empty"]},
            "matches": _object({"finished": _COUNT, "all": _COUNT}),
            "blocks": _object({"complete": _COUNT, "open": _COUNT, "all": _COUNT}),
            "running": _COUNT,
            "faults": _COUNT,
            "crashes": _COUNT,
            "void": _COUNT,
            "number": _COUNT,
        }
    ),
    "Bot": _object(
        {
            "entrant": _COUNT,
            "name": _TEXT,
            "version": _TEXT,
            "remote": _FLAG,
            "plays": _FLAG,
            "suspended": _FLAG,
            "place": _or_null(_COUNT),
            "rating": _or_null(_NUMBER),
            "matches": _COUNT,
            "faults": {"type": "object", "additionalProperties": _COUNT},
        }
    ),
    "Match": _object(
        {
            "match": _TEXT,
            "seats": _list(_SEAT),
            "totals": _list(_WHOLE),
            "places": _list(_COUNT),
            "forfeits": _list(_COUNT),
            "deals": _COUNT,
            "faults": _COUNT,
            "complete": _FLAG,
            "ended": _NUMBER,
        }
    ),
    "Running": _object({"match": _TEXT, "seats": _list(_SEAT), "started": _NUMBER}),
    "Fault": _object(
        {
            "match": _TEXT,
            "entrant": _COUNT,
            "name": _TEXT,
            "deal": _COUNT,
            **_WHERE,
            "kind": _KIND,
            "played": _or_null(_TEXT),
            "detail": _or_null(_TEXT),
            "complete": _FLAG,
        }
    ),
    "Deal": _object(
        {
            "format": {"const": FORMAT},
            "match": _TEXT,
            "block": _TEXT,
            **dict.fromkeys(("seating", "generation", "attempt", "deal"), _COUNT),
            "game": _TEXT,
            "variant": _TEXT,
            "rules": {"type": "object"},
            "entrants": _list(_TEXT),
            "dealer": _COUNT,
            "hands": _list(_list(_CARD)),
            "undealt": _list(_CARD),
            "bids": _or_null(_list(_list(_CARD))),
            "trump": _or_null({"enum": ["C", "D", "H", "S"]}),
            "tricks": _list(
                _object(
                    {
                        "leader": _COUNT,
                        "cards": _list(_CARD),
                        "winner": _COUNT,
                        "ms": _list(_NUMBER),
                    }
                )
            ),
            "bid_ms": _or_null(_list(_NUMBER)),
            "notes": _list(_object({**_WHERE, "text": _TEXT})),
            "won": _list(_COUNT),
            "scores": _list(_WHOLE),
            "totals": _list(_WHOLE),
            "clock": _TEXT,
            "faults": _list(
                _object({**_WHERE, "kind": _KIND, "played": _or_null(_TEXT), "detail": _TEXT})
            ),
            "end": _object({"places": _list(_COUNT), "forfeits": _list(_COUNT)}),
        },
        optional=("end",),
    ),
}


def _query(name: str, schema: Json, words: str) -> Json:
    return {"name": name, "in": "query", "schema": schema, "description": words}


def _path(name: str, pattern: str) -> Json:
    return {
        "name": name,
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": pattern},
    }


_PAGING: Final = [
    _query("limit", {**_COUNT, "minimum": 1, "maximum": MOST, "default": PAGE}, "How many items."),
    _query("after", _TEXT, "Where to go on: what the page before said."),
]
_FILTERS: Final = [
    _query("bot", _TEXT, "A bot, by its number or its name, or a part that no other name has."),
    _query("match", _TEXT, "A match's name, or parts of it: e0/g0-1-3/b0/s4, g0-1-3, b0/s4."),
    _query("fault", {"enum": [*KINDS, ANY]}, "A kind of fault."),
]
_MATCH: Final = [
    _path("epoch", r"^e\d+$"),
    _path("group", r"^g\d+(-\d+)*$"),
    _path("block", r"^b\d+$"),
    _path("seating", r"^s\d+$"),
]
_MATCH_PATH: Final = "/api/matches/{epoch}/{group}/{block}/{seating}"
_NUMBER_TEXT: Final = r"^\d+$"


def _get(summary: str, schema: Json, parameters: list[Json], *refusals: int) -> Json:
    wrong = {"description": "Why not.", "content": _json(_ref("Error"))}
    return {
        "get": {
            "summary": summary,
            "parameters": parameters,
            "responses": {
                "200": {"description": "So it is.", "content": _json(schema)},
                **{str(status): wrong for status in (*refusals, 503)},
            },
        }
    }


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def description() -> Json:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Knavery",
            "version": "1",
            "description": "A tournament of bots that play Knave or Ninety-Nine, read-only. "
            "Everything counts from 0; times are seconds since 1970.",
        },
        "paths": {
            "/api/openapi.json": _get("This description.", {"type": "object"}, []),
            "/api/standings": _get("Ratings and who beat whom.", _ref("Standings"), []),
            "/api/progress": _get("How far it is.", _ref("Progress"), []),
            "/api/running": _get(
                "Matches under way, the first begun first.",
                _object({"count": _COUNT, "items": _list(_ref("Running"))}),
                _PAGING[:1],
                400,
            ),
            "/api/bots": _get(
                "Every bot there has been.",
                _page("Bot"),
                [_query("name", _TEXT, "A part of its name."), *_PAGING],
                400,
            ),
            "/api/bots/{bot}": _get(
                "One bot.", _ref("Bot"), [_path("bot", _NUMBER_TEXT)], 400, 404
            ),
            "/api/matches": _get(
                "Finished matches, the latest first.", _page("Match"), [*_FILTERS, *_PAGING], 400
            ),
            _MATCH_PATH: _get("One finished match.", _ref("Match"), _MATCH, 400, 404),
            f"{_MATCH_PATH}/deals/{{deal}}": _get(
                "A deal of it with all cards, once its block is complete.",
                _ref("Deal"),
                [*_MATCH, _path("deal", _NUMBER_TEXT)],
                *(400, 403, 404),
            ),
            "/api/faults": _get(
                "Faults in finished matches, the latest first. What a bot wrote is left out "
                "until the match's block is complete.",
                _page("Fault"),
                [*_FILTERS, *_PAGING],
                400,
            ),
        },
        "components": {"schemas": SCHEMAS},
    }
