"""Imports point one way, and what is foreign is imported in one file only (design, section 2)."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("knavery", "referee", "tournaments")

LAYERS = (
    ("knavery.v1", "referee", "referee.wire_limits"),
    ("referee.games",),
    ("referee.wire_rules",),
    ("referee.match", "referee.leftovers", "referee.failures", "referee.exits"),
    ("referee.clock", "referee.restarts"),
    ("referee.player",),
    ("referee.tables", "referee.decisions", "referee.wire", "referee.companions"),
    ("referee.limits", "referee.proc"),
    ("referee.cgroups", "referee.bounds", "referee.heartbeat"),
    ("referee.keeper", "referee.cpu"),
    (
        "knavery",
        "referee.launcher",
        "referee.process",
        "referee.bot_files",
        "referee.streams",
        "referee.desk",
        "referee.server",
    ),
    ("referee.mounts",),
    ("referee.protection",),
    ("referee.sandbox",),
    ("referee.builds",),
    ("referee.environments",),
    ("referee.bots",),
    ("referee.house",),
    ("referee.endings", "referee.timing"),
    ("referee.generation",),
    ("referee.rehearsal", "referee.retrial", "referee.remote"),
    ("referee.taps", "referee.findings"),
    ("referee.check_steps",),
    ("referee.check",),
    ("tournaments",),
)
"""From the bottom up; a module may import what is below it, and its own layer."""

OWNERS = {
    "grpc": {"referee/streams.py", "referee/desk.py", "knavery/client.py"},
    "sqlite3": {"tournaments/store.py", "tournaments/rows.py"},
    "subprocess": {"referee/process.py", "referee/keeper.py"},
}
ABOVE_ALL = {"tournaments.cli", "tournaments.commands"}
PLAIN = tuple(f"tournaments/{name}.py" for name in ("ratings", "standings", "played", "memory"))


def modules() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if path.name.endswith("_pb2.py"):
                continue
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            yield name.removesuffix(".__init__"), path


def imports(path: Path) -> set[str]:
    """The modules that a file imports, at its top or inside a function; not for typing only."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def layer(name: str) -> int | None:
    """The highest-named layer whose prefix is the longest that fits."""
    fits = [
        (len(prefix), number)
        for number, prefixes in enumerate(LAYERS)
        for prefix in prefixes
        if name == prefix or name.startswith(prefix + ".")
    ]
    return max(fits)[1] if fits else None


MODULES = dict(modules())


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_down(name: str) -> None:
    own = layer(name)
    if own is None:
        pytest.fail(f"{name} is in no layer: name it in LAYERS")
    for target in imports(MODULES[name]):
        other = layer(target)
        assert other is None or other <= own, f"{name} imports {target}, which is above it"


@pytest.mark.parametrize("foreign", OWNERS)
def test_what_is_foreign_is_imported_by_its_owner_only(foreign: str) -> None:
    users = {str(path.relative_to(ROOT)) for path in MODULES.values() if foreign in imports(path)}
    assert users <= OWNERS[foreign]
    assert users, f"{foreign} has no owner any more"


@pytest.mark.parametrize("name", sorted(set(MODULES) - {"tournaments.cli"}))
def test_nothing_imports_the_command_line(name: str) -> None:
    if name.startswith("tournaments.commands"):
        return
    targets = imports(MODULES[name])
    assert not any(target.startswith(tuple(ABOVE_ALL)) for target in targets)


@pytest.mark.parametrize("path", PLAIN)
def test_ratings_and_standings_see_plain_values_only(path: str) -> None:
    ours = {target for target in imports(ROOT / path) if target.split(".")[0] in PACKAGES}
    allowed = tuple(
        f"tournaments.{name}" for name in ("played", "ratings", "bradley_terry", "memory")
    )
    assert all(target.startswith(allowed) for target in ours)


@pytest.mark.parametrize("name", [n for n in MODULES if n.startswith("referee.games")])
def test_the_rules_are_pure(name: str) -> None:
    impure = {"os", "sys", "time", "random", "io", "pathlib", "socket", "trio", "threading"}
    assert not {target.split(".")[0] for target in imports(MODULES[name])} & impure
