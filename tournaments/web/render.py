"""Templates to HTML: autoescape on, and a content security policy that lets nothing foreign in.

A page of a report holds its style, its scripts and its data; the policy names them by their hash,
so that nothing that a bot wrote could run even if it got past the escaping.
"""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from referee.process import printable
from tournaments.web.site import Site

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

SUITS: Final = "♣♦♥♠"
CAUSE: Final = 1000
"""Letters of a fault's cause that a page shows."""


def render(template: str, site: Site, *, scripts: Sequence[str] = (), **values: Any) -> str:
    """The page that a template makes of these values; `scripts` are names of assets."""
    scripts = (*(("live.js",) if site.live else ()), *scripts)
    page = _environment().get_template(template)
    return page.render(site=site, scripts=scripts, policy=_policy(scripts), **values)


@lru_cache
def asset(name: str) -> str:
    """The text of a file in assets/."""
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _policy(scripts: Sequence[str]) -> str:
    """What a page that holds everything itself may load and run."""
    run = " ".join(map(_hash, scripts)) or "'none'"
    return (
        f"default-src 'none'; style-src {_hash('style.css')}; script-src {run}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@lru_cache
def _hash(name: str) -> str:
    digest = hashlib.sha256(asset(name).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@lru_cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("tournaments.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    environment.filters |= {
        "asset": _trusted,
        "fixed": figure,
        "percent": percent,
        "time": duration,
        "card": card,
        "printable": printable,
        "counted": counted,
        "harmless": harmless,
        "likelihood": likelihood,
        "moment": moment,
    }
    return environment


def _trusted(name: str) -> Markup:
    """An asset as it is: it comes with this package."""
    from markupsafe import Markup

    return Markup(asset(name))


def figure(value: float | None, digits: int = 2) -> str:
    """A number, with a true minus; a dash where nothing is known."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", "−")


def percent(share: float | None) -> str:
    """A share of one in hundredths; a dash where nothing is known."""
    return "–" if share is None else f"{100 * share:.0f}\u202f%"


def likelihood(chance: float | None) -> str:
    """A probability in hundredths, never said to be certain."""
    if chance is None:
        return "–"
    if not 0.005 <= chance < 0.995:
        return "<\u202f1\u202f%" if chance < 0.5 else ">\u202f99\u202f%"
    return percent(chance)


def moment(seconds: float) -> str:
    """A time in seconds since 1970, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


def harmless(text: str) -> str:
    """What a bot wrote, as a page may show it: printable, and not endless."""
    shown = printable(text[: 2 * CAUSE])
    return shown if len(shown) <= CAUSE else shown[: CAUSE - 1] + "…"


def duration(seconds: float | None) -> str:
    """A time in the unit that suits it, to three digits."""
    if seconds is None:
        return "–"
    for unit, factor in (("µs", 1e6), ("ms", 1e3)):
        if seconds * factor < 999.5:
            return f"{seconds * factor:.3g}\u202f{unit}"
    return f"{seconds:,.3g}\u202fs" if seconds < 999.5 else f"{seconds:,.0f}\u202fs"


def counted(count: int, thing: str, things: str = "") -> str:
    """A count with its noun: "1 deal", "1,200 deals"."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def card(number: int) -> str:
    """A card as people write it: "10♥"."""
    return ("10" if number % 13 == 8 else "23456789TJQKA"[number % 13]) + SUITS[number // 13]
