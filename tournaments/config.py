"""A tournament as its TOML file describes it (design, section 10).

Every key is in `KEYS`, and with its unit and default in docs/tournament.toml. Whatever is wrong
with a file is a `ConfigError`: one line with file, line, key, and what to write instead.
"""

import dataclasses
import os.path
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from referee.games.registry import make_rules
from referee.games.rules import Rules, RulesError
from referee.games.shuffle import derive
from referee.limits import AUTO, MIB, MODES, Limits, SandboxRules
from referee.match import CPU, FORFEIT_AT_ONCE, LATER, STAND_IN, WALL, ClockRules, FaultRules
from referee.restarts import LONGEST
from tournaments.plain import command, rules_from_plain, rules_to_plain, settings
from tournaments.schedule import Group, Schedule, Seatings, group_size, usual_seatings
from tournaments.toml_table import ConfigError, Document, Entry, Table

__all__ = [
    "ConfigError",
    "EntrantSpec",
    "Tournament",
    "from_plain",
    "load",
    "parse",
    "parse_entrant",
    "to_plain",
]

KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "tournament": (
        "name",
        "game",
        "variant",
        "rules",
        "format",
        "rounds",
        "blocks",
        "seatings",
        "tables",
        "max_processes",
        "key",
    ),
    "clock": ("decision", "bank", "increment", "startup", "hang", "measure", "strict", "ponder"),
    "faults": ("policy", "limit", "restarts", "backoff"),
    "sandbox": ("mode", "memory", "processes", "cores", "scratch", "files"),
    "entrants": ("name", "path", "remote"),
}
"""The file's tables and the keys that each may have."""

ROUND_ROBIN: Final = "round-robin"
BALANCED: Final = "balanced"
FORMATS: Final = (ROUND_ROBIN, BALANCED)

WALL_LIMIT: Final = 0.5
"""The shortest decision, in seconds, that a clock on the wall can judge."""
CPU_LIMIT: Final = 0.05
"""The same of processor time."""
KEY_BYTES: Final = 32
MAX_NAME: Final = 60
_TAKEN_FOR_ONE: Final = {".knavery": ("a tournament's results", "resume"), ".py": ("a bot", "play")}
"""What people give in the place of a configuration, and the command that it is for."""

_DAY = 86_400.0
MANY: Final = 1_000_000
"""The largest count that a file may ask for."""

_MAX_TABLES = 4096
_MOST_PROCESSES = 4096
SHORTEST: Final[Mapping[str, tuple[float, float, str]]] = {
    WALL: (WALL_LIMIT, _DAY, " (a clock on the wall cannot judge less)"),
    CPU: (CPU_LIMIT, _DAY, " (a clock of processor time cannot judge less)"),
}
"""The measures, with the bounds of a decision's seconds, and why."""


@dataclasses.dataclass(frozen=True, slots=True)
class EntrantSpec:
    """An entrant as asked for: where its bot is, and its name if that is given.

    `path` is absolute, or the bare name of a shipped bot; a remote one has a name and no path."""

    name: str | None
    path: str
    remote: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tournament:
    """What is to be played and how. `blocks` is how many the format "balanced" plays (else None);
    `tables` is how many matches are in flight (None: as many as keep the bots busy);
    `max_processes` is how many bot processes may live at once (None: what suits the machine);
    `key` is the master key (32 bytes; None: to be drawn)."""

    name: str
    rules: Rules
    entrants: tuple[EntrantSpec, ...]
    format: str = ROUND_ROBIN
    rounds: int = 1
    blocks: int | None = None
    seatings: Seatings
    tables: int | None = None
    max_processes: int | None = None
    key: bytes | None = None
    clock: ClockRules = dataclasses.field(default_factory=ClockRules)
    faults: FaultRules = dataclasses.field(default_factory=FaultRules)
    sandbox: SandboxRules = dataclasses.field(default=SandboxRules(), metadata=LATER)

    def schedule(
        self,
        key: bytes,
        entrants: Sequence[int],
        epoch: int = 0,
        done: Mapping[Group, int] | None = None,
        remote: frozenset[int] = frozenset(),
    ) -> Schedule:
        """The schedule of an epoch, from the master key, the indices of those who play, how many
        blocks each of their groups completed in earlier epochs, and which of the tournament's
        entrants are remote (`epochs.schedules` does it for a file)."""
        return Schedule(
            rules=self.rules,
            entrants=tuple(entrants),
            key=derive(key, "epoch", epoch),
            epoch=epoch,
            rounds=self.rounds,
            total=self.blocks,
            seatings=self.seatings,
            clock=self.clock,
            faults=self.faults,
            done=done or {},
            remote=remote,
        )


def load(path: Path) -> Tournament:
    """The tournament that a file describes, or ConfigError."""
    if path.is_file() and path.suffix in _TAKEN_FOR_ONE:
        what, name = _TAKEN_FOR_ONE[path.suffix]
        raise ConfigError(f"{path}: is {what}, no configuration: {command('knavery', name, path)}")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as exc:
        raise ConfigError(f"{path}: cannot be read: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise ConfigError(f"{path}: is not text in UTF-8: save it as UTF-8") from exc
    return parse(text, path)


def parse(text: str, path: Path) -> Tournament:
    """The tournament in the text of a file at `path`, whose folder relative paths start from."""
    document = Document(path, text, KEYS)
    main = document.table("tournament")
    rules = _rules(main)
    tournament = Tournament(
        name=_name(main, path.stem),
        rules=rules,
        format=main.choice("format", FORMATS, ROUND_ROBIN),
        rounds=_rounds(main),
        blocks=_blocks(main, -(-len(document.entries("entrants")) // group_size(rules))),
        seatings=_seatings(main, rules),
        tables=_tables(main),
        max_processes=_max_processes(main, rules),
        key=_key(main),
        clock=_clock(document.table("clock")),
        faults=_faults(document.table("faults")),
        sandbox=_sandbox(document.table("sandbox")),
        entrants=_entrants(document, rules),
    )
    _require_wall_clock(document, tournament)
    return tournament


def _require_wall_clock(document: Document, tournament: Tournament) -> None:
    """Of a bot that runs somewhere else no processor time is known."""
    names = [spec.name for spec in tournament.entrants if spec.remote]
    if names and tournament.clock.measure != "wall":
        what = f'must be "wall" with a remote entrant ({names[0]}), whose processor nobody sees'
        raise document.error(("clock", "measure"), what)


def parse_entrant(text: str, folder: Path) -> EntrantSpec:
    """An entrant written "name=path", a path, or a shipped bot's name; ValueError for none of
    them. A path counts from `folder`; a bare word that is nothing there is a shipped bot."""
    name, equals, path = text.rpartition("=")
    if equals and (problem := _name_problem(name)):
        raise ValueError(problem)
    if not path:
        raise ValueError(f'{text!r} names no bot: write "name=path", a path, or a shipped bot')
    return EntrantSpec(name if equals else None, _place(path, folder))


def to_plain(tournament: Tournament) -> dict[str, Any]:
    """The tournament as JSON values, without its key, which is a secret."""
    plain = settings(dataclasses.replace(tournament, key=None))
    if "sandbox" in plain:
        plain["sandbox"] = dataclasses.asdict(tournament.sandbox)
    return plain | {
        "rules": rules_to_plain(tournament.rules),
        "entrants": [dataclasses.asdict(spec) for spec in tournament.entrants],
        "clock": settings(tournament.clock),
        "faults": settings(tournament.faults),
    }


def from_plain(plain: Mapping[str, Any]) -> Tournament:
    """The tournament that `to_plain` wrote."""
    return Tournament(
        **{
            **plain,
            "rules": rules_from_plain(plain["rules"]),
            "entrants": tuple(EntrantSpec(**spec) for spec in plain["entrants"]),
            "seatings": Seatings(plain["seatings"]),
            "clock": ClockRules(**plain["clock"]),
            "faults": FaultRules(**plain["faults"]),
            "sandbox": _sandbox_from_plain(plain.get("sandbox", {})),
        }
    )


def _rules(main: Table) -> Rules:
    game = main.text("game", None)
    variant = main.text("variant", "classic")
    fields = main.inner("rules")
    try:
        make_rules(game)
    except RulesError as exc:
        raise main.error("game", str(exc)) from exc
    try:
        make_rules(game, variant)
    except RulesError as exc:
        raise main.error("variant", str(exc)) from exc
    try:
        return make_rules(game, variant, **fields)
    except RulesError as exc:
        culprit = [name for name in fields if re.search(rf"\b{re.escape(name)}\b", str(exc))]
        raise main.error("rules", str(exc), *culprit[:1]) from exc


def _rounds(main: Table) -> int:
    if "rounds" in main.values and main.values.get("format") == BALANCED:
        what = f'belongs to format = "{ROUND_ROBIN}": with "{BALANCED}" write blocks = N'
        raise main.error("rounds", what)
    return main.whole("rounds", 1, 1, MANY)


def _blocks(main: Table, least: int) -> int | None:
    """How many blocks are spread over the field; `least` seats everybody once."""
    if main.values.get("format") == BALANCED:
        if "blocks" not in main.values:
            raise main.error("blocks", f'is missing: format = "{BALANCED}" needs blocks = N')
        return main.whole("blocks", least, least, MANY, ", so that everybody plays")
    if "blocks" in main.values:
        what = f'belongs to format = "{BALANCED}": with "{ROUND_ROBIN}" write rounds = N'
        raise main.error("blocks", what)
    return None


def _seatings(main: Table, rules: Rules) -> Seatings:
    usual = usual_seatings(rules)
    choices = [Seatings.TEAMS] if rules.teams else [Seatings.ALL, Seatings.CYCLIC]
    return Seatings(main.choice("seatings", choices, usual))


def _tables(main: Table) -> int | None:
    if main.values.get("tables", "auto") == "auto":
        return None
    return main.whole("tables", 1, 1, _MAX_TABLES, ' or "auto"')


def _max_processes(main: Table, rules: Rules) -> int | None:
    if main.values.get("max_processes", "auto") == "auto":
        return None
    also = f' or "auto": a table needs {rules.players} processes'
    return main.whole("max_processes", rules.players, rules.players, _MOST_PROCESSES, also)


def _key(main: Table) -> bytes | None:
    text = main.text("key", "")
    if text and not re.fullmatch(f"[0-9a-fA-F]{{{2 * KEY_BYTES}}}", text):
        raise main.error(
            "key", f"must be {2 * KEY_BYTES} hexadecimal digits: leave it out to have one drawn"
        )
    return bytes.fromhex(text) or None


def _clock(clock: Table) -> ClockRules:
    usual = ClockRules()
    measure = clock.choice("measure", tuple(SHORTEST), usual.measure)
    return ClockRules(
        limit=clock.seconds("decision", usual.limit, *SHORTEST[measure]),
        bank=clock.seconds("bank", usual.bank, 0, _DAY),
        increment=clock.seconds("increment", usual.increment, 0, _DAY),
        startup=clock.seconds("startup", usual.startup, WALL_LIMIT, _DAY),
        measure=measure,
        strict=clock.flag("strict", usual.strict),
        ponder=clock.flag("ponder", usual.ponder),
        hang=clock.seconds("hang", 0, WALL_LIMIT, _DAY) if "hang" in clock.values else None,
    )


def _faults(faults: Table) -> FaultRules:
    usual = FaultRules()
    policy = faults.choice("policy", (STAND_IN, FORFEIT_AT_ONCE), usual.policy)
    if policy == FORFEIT_AT_ONCE and "limit" in faults.values:
        what = f'belongs to policy = "{STAND_IN}": with "{FORFEIT_AT_ONCE}" leave it out'
        raise faults.error("limit", what)
    return FaultRules(
        limit=faults.whole("limit", usual.limit, 0, MANY),
        restarts=faults.whole("restarts", usual.restarts, 0, MANY),
        policy=policy,
        backoff=faults.seconds("backoff", usual.backoff, 0, LONGEST),
    )


def _sandbox(sandbox: Table) -> SandboxRules:
    usual = Limits()
    limits = Limits(
        memory=sandbox.whole("memory", usual.memory // MIB, 64, MANY, " (MiB)") * MIB,
        processes=sandbox.whole("processes", usual.processes, 32, MANY),
        cores=sandbox.number("cores", usual.cores, 0.1, 1024),
        scratch=sandbox.whole("scratch", usual.scratch // MIB, 1, MANY, " (MiB)") * MIB,
        files=sandbox.whole("files", usual.files, 64, MANY),
    )
    return SandboxRules(sandbox.choice("mode", MODES, AUTO), limits)


def _sandbox_from_plain(plain: Mapping[str, Any]) -> SandboxRules:
    if not plain:
        return SandboxRules()
    return SandboxRules(plain["mode"], Limits(**plain["limits"]))


def _entrants(document: Document, rules: Rules) -> tuple[EntrantSpec, ...]:
    entries = document.entries("entrants")
    least = group_size(rules)
    if len(entries) < least:
        what = f"a table needs at least {least} and here are {len(entries)}: enter more"
        raise document.error(("entrants",), what)
    specs: dict[str, EntrantSpec] = {}
    for entry in entries:
        spec = _entrant(entry)
        name = spec.name or spec.path
        if name in specs:
            raise entry.error(f'"{name}" is entered twice: give one of them a name of its own')
        specs[name] = spec
    return tuple(specs.values())


def _entrant(entry: Entry) -> EntrantSpec:
    folder = entry.document.path.parent
    if isinstance(entry.value, str):
        try:
            return parse_entrant(entry.value, folder)
        except ValueError as exc:
            raise entry.error(str(exc)) from exc
    table = entry.table()
    if table.flag("remote", False):
        if "path" in table.values:
            raise table.error("path", "a remote bot has none: its author starts it elsewhere")
        return EntrantSpec(_name(table, None), "", remote=True)
    path = table.text("path", None)
    if not path:
        raise table.error("path", "must not be empty: write where the bot is")
    name = _name(table, None) if "name" in table.values else None
    return EntrantSpec(name, _place(path, folder))


def _name(table: Table, default: str | None) -> str:
    name = table.text("name", default)
    if problem := _name_problem(name):
        raise table.error("name", problem)
    return name


def _name_problem(name: str) -> str | None:
    if name.strip() and name.isprintable() and len(name) <= MAX_NAME and not set("/=") & set(name):
        return None
    return f'a name is 1 to {MAX_NAME} printable characters, none of them "/" or "=", not {name!r}'


def _place(path: str, folder: Path) -> str:
    bare = not set("/~") & set(path) and not path.endswith(".py")
    if bare and not (folder / path).exists():
        return path
    return os.path.normpath(folder.absolute() / Path(path).expanduser())
