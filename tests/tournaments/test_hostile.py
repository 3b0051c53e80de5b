"""Hostile bots in real tournaments: what they try fails, and what others play is untouched."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trio

from referee.bots import BotError, load
from referee.games.registry import make_rules
from referee.keeper import LOG_PART
from referee.limits import MIB, Limits, SandboxRules
from referee.match import ClockRules, FaultRules
from tests.sandboxes import needs_bubblewrap
from tests.tournaments.test_runner import KEY, Quiet, entrant, facts
from tournaments import cli, launch
from tournaments.config import EntrantSpec, Tournament
from tournaments.runner import Run
from tournaments.schedule import Seatings
from tournaments.store import Store
from tournaments.verify import verify

LIMITS = Limits(memory=256 * MIB, processes=64, cores=1.0, scratch=32 * MIB, files=256)
MARK = "knavery-hostile-daemon"
SECRET = "KNAVERY_TEST_SECRET"
GREEDY = EntrantSpec(None, "greedy")


@dataclass(frozen=True)
class Played:
    """A tournament that is over, and what the spy found in its first process."""

    path: Path
    report: dict[str, Any]
    spy_log: Path


@pytest.fixture(scope="module")
def environ() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def enter(folder: Path, name: str, targets: dict[str, Any], how: str = "") -> EntrantSpec:
    spec = entrant(folder, name, "hostile.py", how or name)
    Path(spec.path, "targets.json").write_text(json.dumps(targets))
    return spec


def play(path: Path, *entrants: EntrantSpec, restarts: int = 3) -> list[str]:
    """Plays into a new file; the lines that were said meanwhile."""
    progress = Quiet()
    rules = make_rules("knave", max_deals=2)
    made = launch.plan(
        Tournament(
            name="cup",
            rules=rules,
            entrants=entrants,
            seatings=Seatings.CYCLIC,
            key=KEY,
            clock=ClockRules(limit=60.0, bank=600.0, startup=120.0),
            faults=FaultRules(limit=100, restarts=restarts),
            sandbox=SandboxRules(limits=LIMITS),
        )
    )
    with Store.create(path, made.tournament, made.key, made.entrants, made.commitment) as store:
        run = Run(store, made.schedule, made.field, progress, sandbox=made.tournament.sandbox)
        assert trio.run(run.play, path.with_suffix(".logs"))
    return progress.lines


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, environ: pytest.MonkeyPatch) -> Played:
    """The attackers' tournament. They know every path and number that they might want."""
    needs_bubblewrap()
    folder = tmp_path_factory.mktemp("hostile")
    cup = tmp_path_factory.mktemp("cup")
    environ.setenv("KNAVERY_CACHE", str(folder / "cache"))
    environ.setenv(SECRET, "the key")
    private = cup / "private"
    private.write_text("a letter")
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        _unix("\0knavery-test") as abstract,
        _unix(str(cup / "socket")) as other,
    ):
        targets = {
            "referee": os.getpid(),
            "tournament": str(cup / "t.knavery"),
            "cache": str(folder / "cache" / "bots"),
            "entrants": str(folder / "entrants"),
            "private": str(private),
            "port": tcp.getsockname()[1],
            "abstract": "\0knavery-test",
            "socket": str(cup / "socket"),
            "secrets": [SECRET],
            "mark": MARK,
            "lines": 500,
        }
        spies = [enter(folder, name, targets) for name in ("spy", "vandal")]
        play(cup / "t.knavery", *spies, GREEDY)
        for listener in (tcp, abstract, other):
            listener.setblocking(False)
            with pytest.raises(BlockingIOError):  # nobody has connected
                listener.accept()
    log = min((cup / "t.logs").glob("*-spy_*"))
    (line,) = (each for each in log.read_text().splitlines() if each.startswith("REPORT "))
    return Played(cup / "t.knavery", json.loads(line.removeprefix("REPORT ")), log)


def _unix(address: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    return listener


def test_every_attempt_of_the_spy_fails(hostile: Played) -> None:
    assert hostile.report["secrets"] == []
    got = {name: each for name, each in hostile.report.items() if "got" in each}
    assert got == {}
    assert len(hostile.report) >= 25


def test_what_it_takes_is_bounded(hostile: Played) -> None:
    failed = {name: each["failed"] for name, each in hostile.report.items() if each}
    assert 0 < int(failed["fork"].split()[0]) < LIMITS.processes
    assert failed["use memory"] == "ended by -9"
    for place in ("fill its scratch folder", "fill shared memory"):
        megabytes, _, why = failed[place].partition(" MiB, then ")
        assert 16 <= int(megabytes) <= LIMITS.scratch // MIB
        assert why == "No space left on device"
    assert hostile.spy_log.stat().st_size < 5 * LOG_PART


def test_nothing_of_it_is_left(hostile: Played) -> None:
    assert not [*hostile.path.parent.parent.rglob("left-behind")]
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            assert MARK.encode() not in Path("/proc", process, "cmdline").read_bytes()
        except OSError:
            continue


def test_the_others_play_as_if_it_were_not_there(
    hostile: Played, tmp_path: Path, environ: pytest.MonkeyPatch
) -> None:
    environ.setenv("KNAVERY_CACHE", str(tmp_path / "cache"))
    quiet = enter(tmp_path, "spy", {}, how="quiet")
    play(tmp_path / "t.knavery", quiet, enter(tmp_path, "vandal", {}), GREEDY)
    assert facts(hostile.path) == facts(tmp_path / "t.knavery")
    with Store.open(hostile.path, write=False) as store:
        assert verify(store).problem is None
        faulty = {
            match.entrants[fault.seat]
            for match in store.matches(open_blocks=True)
            for fault in match.faults
        }
        assert faulty == {1}, "of the vandal alone"
        assert store.tally().crashes == 0


def test_a_bot_that_brings_itself_down_is_alone_in_that(
    tmp_path: Path, environ: pytest.MonkeyPatch
) -> None:
    environ.setenv("KNAVERY_CACHE", str(tmp_path / "cache"))
    needs_bubblewrap()
    path = tmp_path / "t.knavery"
    bomber, lowest = enter(tmp_path, "bomber", {}), EntrantSpec(None, "lowest")
    said = play(path, bomber, lowest, GREEDY, restarts=0)
    with Store.open(path, write=False) as store:
        assert verify(store).problem is None
        for match in store.matches(open_blocks=True):
            assert {match.entrants[fault.seat] for fault in match.faults} == {0}
            assert match.entrants[match.places.index(max(match.places))] == 0
        assert store.tally().crashes == 2, "then it is suspended"
    assert any("killed by SIGKILL (Killed); it used " in line for line in said)


@pytest.mark.parametrize(
    "words",
    [
        ["standings", "--head-to-head"],
        ["standings", "--json"],
        ["export", "--replays"],
        ["replay", "s0"],
        ["verify"],
    ],
    ids=lambda words: " ".join(words),
)
def test_what_a_vandal_writes_reaches_no_terminal(
    hostile: Played, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    command, *options = words
    assert cli.main([command, str(hostile.path), *options]) == 0
    printed = capsys.readouterr().out
    assert printed
    assert harmful(printed) == []


def test_nor_does_it_in_a_match_of_ones_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], environ: pytest.MonkeyPatch
) -> None:
    environ.setenv("KNAVERY_CACHE", str(tmp_path / "cache"))
    vandal = enter(tmp_path, "vandal", {})
    assert cli.main(["play", vandal.path]) == 0
    printed = capsys.readouterr().out
    assert "forged: line" in printed, "its error is shown"
    assert harmful(printed) == []
    assert cli.main(["check", vandal.path]) == 1
    printed = capsys.readouterr().out
    assert "<script>" in printed, "what it says it is made with is shown"
    assert harmful(printed) == []


def harmful(text: str) -> list[str]:
    """Lines with a character that may not go to a terminal, or that a bot began."""
    lines = text.splitlines()
    return [line for line in lines if not line.isprintable() or line.startswith("forged")]


@pytest.mark.parametrize(
    "name",
    ["\x1b[2J", "a\nb", "\u202egnp.exe", "\u2066x", "a\x00b", "x" * 10_000_000, "a\u200bb"],
    ids=["escape", "newline", "bidi", "isolate", "nul", "10 MB", "zero width"],
)
@pytest.mark.parametrize("key", ["name", "author", "language"])
def test_what_a_bot_says_of_itself_is_refused_in_one_harmless_line(
    tmp_path: Path, key: str, name: str
) -> None:
    start = 'run = ["./bot"]\ntransport = "stdio"\n'
    (tmp_path / "bot.toml").write_text(f"{start}{key} = {_toml(name)}")
    with pytest.raises(BotError) as caught:
        load(str(tmp_path))
    said = str(caught.value)
    assert said.isprintable()
    assert len(said) < 400


def _toml(text: str) -> str:
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text) + '"'
