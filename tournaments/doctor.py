"""What this machine can do, as a list of named checks (design, section 8).

A check is a function that finds something out; a later one joins CHECKS. What Python bots need is
`needed`; each other language is a check of its own, with the tools that its template takes.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import trio

from referee import leftovers
from referee.bot_files import cache_root
from referee.bots import BotError, load, prepare
from referee.games.registry import make_rules
from referee.house import cores
from referee.limits import SandboxRules
from referee.match import ClockRules, FaultKind
from referee.process import StartError, open_launcher
from referee.protection import tools
from referee.sandbox import open_sandbox
from tournaments import quick, rows
from tournaments.runner import Entered

VERSION_LIMIT: Final = 60.0
"""Seconds that a tool may take to say its version: the first start of a JVM is slow."""
LEAST_PYTHON: Final = (3, 11)
LEAST_SQLITE: Final = (3, 37)
LEAST_MEMORY: Final = 500_000_000
"""Bytes: a table of Python bots takes about a fifth of it."""
PATIENCE: Final = ClockRules(limit=20.0, bank=20.0, startup=60.0)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found: whether it is well, in words, and if it is not, what to do."""

    ok: bool
    found: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """A named question to the machine; `needed` when Python bots do not run without it."""

    name: str
    find: Callable[[], Finding]
    needed: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A command that building takes: how it says its version, the least one, Debian's package."""

    command: str
    asked: tuple[str, ...]
    least: tuple[int, ...]
    package: str


LANGUAGES: Final[dict[str, tuple[Tool, ...]]] = {
    "go": (Tool("go", ("version",), (1, 19), "golang"),),
    "java": (
        Tool("javac", ("-version",), (17,), "default-jdk-headless"),
        Tool("mvn", ("-version",), (3, 6), "maven"),
    ),
    "cpp": (
        Tool("g++", ("-dumpfullversion",), (10,), "g++"),
        Tool("cmake", ("--version",), (3, 18), "cmake"),
        Tool("protoc", ("--version",), (3, 12), "protobuf-compiler"),
        Tool("grpc_cpp_plugin", (), (), "protobuf-compiler-grpc"),
        Tool("pkg-config", ("--modversion", "grpc++"), (1, 30), "pkg-config libgrpc++-dev"),
    ),
    "typescript": (
        Tool("node", ("--version",), (18,), "nodejs"),
        Tool("npm", ("--version",), (8,), "npm"),
    ),
    "rust": (Tool("cargo", ("--version",), (1, 78), "cargo (Debian 12: cargo-web)"),),
    "awk": (Tool("awk", (), (), "mawk"),),
    "perl": (Tool("perl", ("-MJSON::PP", "-e", "printf '%vd', $^V"), (5, 14), "perl"),),
}
"""What the template of each language is built with, or run with where nothing is built."""


def python() -> Finding:
    words = f"Python {platform.python_version()}, {sys.executable}"
    least = ".".join(map(str, LEAST_PYTHON))
    return Finding(sys.version_info >= LEAST_PYTHON, words, f"Knavery needs Python {least}")


def packages() -> Finding:
    """The versions of what bots and referee talk with."""
    try:
        found = ", ".join(f"{name} {version(name)}" for name in ("grpcio", "protobuf", "trio"))
    except PackageNotFoundError as missing:
        return Finding(False, f"{missing.name} is not installed", "pip install knavery")
    return Finding(True, found)


def sqlite() -> Finding:
    found = rows.sqlite_version()
    least = ".".join(map(str, LEAST_SQLITE))
    return Finding(
        _numbers(found) >= LEAST_SQLITE, found, f"SQLite {least} comes with newer Pythons"
    )


def processors() -> Finding:
    count = cores()
    return Finding(True, f"{count} core{'' if count == 1 else 's'} for this process")


def memory() -> Finding:
    """What is free, as far as the kernel says."""
    text = Path("/proc/meminfo").read_text() if Path("/proc/meminfo").exists() else ""
    sizes = {name: 1024 * int(size) for name, size in re.findall(r"(\w+): +(\d+) kB", text)}
    if "MemAvailable" not in sizes:
        return Finding(True, "unknown: there is no /proc/meminfo")
    free, whole = sizes["MemAvailable"], sizes.get("MemTotal", 0)
    words = f"{free / 1e9:.1f} GB available of {whole / 1e9:.1f} GB"
    return Finding(free >= LEAST_MEMORY, words, "end other programs, or play fewer tables at once")


def isolation() -> Finding:
    """Whether bots can be kept from files, processes and networks that are not theirs."""
    with open_sandbox(SandboxRules()) as sandbox:
        if sandbox.isolates:
            return Finding(True, sandbox.in_force.partition(";")[0])
        return Finding(False, "bots can do what you can", tools().lacking)


def bounds() -> Finding:
    """What bounds a bot's memory, processes and cores."""
    with open_sandbox(SandboxRules()) as sandbox:
        words = sandbox.bounds_in_force
        return Finding(sandbox.bounds_cores, words, "docs/sandbox.md: how to have control groups")


def cache_folder() -> Finding:
    """Whether bots can be kept, and started from there."""
    root = cache_root()
    mend = "name another folder in KNAVERY_CACHE"
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root) as folder:
            script = Path(folder, "script")
            script.write_text("#!/bin/sh\n")
            script.chmod(0o755)
            _, problem = _say((str(script),))
    except OSError as error:
        return Finding(False, f"{root} cannot be written to: {error.strerror}", mend)
    if problem:
        return Finding(False, f"{root}: programs in it cannot be started: {problem}", mend)
    return Finding(True, f"{root}, {shutil.disk_usage(root).free / 1e9:.1f} GB free")


def bot_process() -> Finding:
    """Whether bots can be started, say hello, and play a deal."""
    try:
        made = Entered("lowest", prepare(load("lowest")), None)
        rules = make_rules("knave", max_deals=1)
        field = dict.fromkeys(range(rules.players), made)
        (match,) = trio.run(lambda: quick.play(field, rules, clock=PATIENCE))
    except (BotError, OSError) as error:
        return Finding(False, str(error), "mend that; `knavery play lowest` tries it again")
    faults = [each for each in match.result.faults if each.kind is not FaultKind.LATE]
    if faults:
        return Finding(False, faults[0].detail, "`knavery play lowest` tries it again")
    return Finding(True, "processes start, say hello and play")


def language(tools: Sequence[Tool]) -> Finding:
    """Whether all tools of a language are here."""
    found, lacking = [], []
    for tool in tools:
        words, good = _version(tool)
        found.append(words)
        if not good:
            lacking.append(tool.package)
    mend = f"apt-get install {' '.join(lacking)}" if lacking else ""
    return Finding(not lacking, ", ".join(found), mend)


def _version(tool: Tool) -> tuple[str, bool]:
    """A tool's version in words, and whether it will do."""
    least = ".".join(map(str, tool.least))
    needs = f" (needs {least})" if least else ""
    if shutil.which(tool.command) is None:
        return f"no {tool.command}{needs}", False
    if not tool.asked:
        return tool.command, True
    said, error = _say((tool.command, *tool.asked))
    number = re.search(r"\d+(\.\d+)*", said)
    if error or number is None:
        return f"{' '.join((tool.command, *tool.asked[-1:]))} fails{needs}", False
    good = _numbers(number[0]) >= tool.least
    return f"{tool.command} {number[0]}{'' if good else needs}", good


def _say(argv: Sequence[str]) -> tuple[str, str]:
    """What a program prints, and how it failed if it did."""

    async def run() -> tuple[str, str]:
        with tempfile.TemporaryDirectory(prefix=leftovers.prefix()) as folder:
            async with open_launcher(Path(folder)) as launcher:
                try:
                    process = await launcher.start("tool", argv, Path(folder), dict(os.environ))
                except StartError as error:
                    return "", str(error)
                with trio.move_on_after(VERSION_LIMIT):
                    end = await process.wait()
                    return process.log_tail(), "" if end.status == 0 else end.words
                return "", f"is not done after {VERSION_LIMIT:g} s"

    return trio.run(run)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


CHECKS: Final[tuple[Check, ...]] = (
    Check("python", python, needed=True),
    Check("packages", packages, needed=True),
    Check("sqlite", sqlite, needed=True),
    Check("cores", processors),
    Check("memory", memory),
    Check("cache", cache_folder, needed=True),
    Check("sandbox", isolation),
    Check("limits", bounds),
    Check("bot process", bot_process, needed=True),
    *(Check(name, partial(language, tools)) for name, tools in LANGUAGES.items()),
)
"""Every check, in the order in which they are made and shown."""
