"""A chart as matplotlib writes it, made fit to stand inside a page.

A page's policy allows no style attributes, dark pages need other colours, and identifiers are
shared by all charts of a page: so styles become attributes, colours names of the page's own, and
identifiers are prefixed. matplotlib gets colours that stand for names (`COLOURS`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree

if TYPE_CHECKING:
    from markupsafe import Markup

COLOURS: Final = {
    "ink": "#010101",
    "quiet": "#020202",
    "line": "#030303",
    "paper": "#040404",
    **{f"c{number}": f"#0a0a{number:02x}" for number in range(8)},
}
"""Colours to draw with; the page's style says what they are in light and in dark."""

_NAMES: Final = {colour: f"var(--{name})" for name, colour in COLOURS.items()}
_COLOUR: Final = re.compile("|".join(_NAMES))
_REFERENCE: Final = re.compile(r"url\(#([^)]+)\)")
_LONG: Final = re.compile(r"-?\d+\.\d{2,}")
_FOREIGN: Final = re.compile(r"^\{[^}]*\}")
_PLACES: Final = frozenset({"d", "x", "y", "width", "height", "transform"})
_DROPPED: Final = ("font-family", "font", "font-variant", "font-stretch", "white-space")


def embedded(text: str, name: str, title: str, description: str) -> Markup:
    """An SVG document as an element of a page, called by a name that is the chart's own there;
    title and description are for who cannot see it."""
    from markupsafe import Markup

    root = ElementTree.fromstring(text)
    _strip(root)
    used = {match[1] for each in root.iter() for match in _references(each)}
    for each in root.iter():
        _clean(each, name, used)
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    root.attrib |= {
        "role": "img",
        "aria-labelledby": f"{name}-title {name}-about",
        "class": "chart",
    }
    for tag, words in (("desc", description), ("title", title)):
        label = ElementTree.Element(tag, id=f"{name}-{'title' if tag == 'title' else 'about'}")
        label.text = words
        root.insert(0, label)
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _strip(element: ElementTree.Element) -> None:
    """Leave out what is not drawn: metadata, and a style sheet that would hold for the page."""
    for child in list(element):
        child.tag = _FOREIGN.sub("", child.tag)
        if child.tag in ("metadata", "style"):
            element.remove(child)
        else:
            _strip(child)
    element.tag = _FOREIGN.sub("", element.tag)


def _references(element: ElementTree.Element) -> list[re.Match[str]]:
    values = [value for key, value in element.attrib.items() if key.endswith("href")]
    found = [re.match("#(.*)", value) for value in values]
    return [
        *(match for match in found if match),
        *(match for value in element.attrib.values() for match in _REFERENCE.finditer(value)),
    ]


def _clean(element: ElementTree.Element, name: str, used: set[str]) -> None:
    attributes = {_FOREIGN.sub("", key): value for key, value in element.attrib.items()}
    for rule in filter(None, attributes.pop("style", "").split(";")):
        key, value = (part.strip() for part in rule.split(":", 1))
        if key not in _DROPPED:
            attributes[key] = value
    if attributes.get("id") not in used:
        attributes.pop("id", None)
    for key, value in attributes.items():
        if key in _PLACES:
            value = _LONG.sub(lambda match: f"{float(match[0]):.1f}", value)
        value = _COLOUR.sub(lambda match: _NAMES[match[0]], value)
        attributes[key] = _REFERENCE.sub(lambda match: f"url(#{name}-{match[1]})", value)
    if "id" in attributes:
        attributes["id"] = f"{name}-{attributes['id']}"
    if attributes.get("href", "").startswith("#"):
        attributes["href"] = f"#{name}-{attributes['href'][1:]}"
    element.attrib.clear()
    element.attrib.update(attributes)
