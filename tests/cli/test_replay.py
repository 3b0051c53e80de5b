"""`knavery replay` with real keys in a pseudo-terminal, and where there is no terminal."""

import os
import signal
import sqlite3
import termios
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path

import pytest

from tests.cli.conftest import Knavery
from tests.cli.terminal import in_terminal
from tests.tournaments.playing import create, play_all, tournament
from tournaments.fullscreen import full_screen

RIGHT, LEFT, DOWN = "\x1b[C", "\x1b[D", "\x1b[B"
LEAVE = "\x1b[?25h\x1b[?1049l"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A finished tournament of Ninety-Nine, two deals a match."""
    store, schedule = create(tmp_path / "x.knavery", tournament("ninety-nine", max_deals=2))
    with store:
        list(play_all(store, schedule, faults=0.03))
    return store.path


def test_keys_step_through_a_deal(file: Path, environment: dict[str, str]) -> None:
    with in_terminal(file.parent, environment, "replay", file.name, "s4:1") as terminal:
        terminal.until("deal 1 (of 0 to 1)", "step 0 of 30", "q end")
        terminal.type(RIGHT)
        terminal.until("step 1 of 30", "q end")
        terminal.type(DOWN + DOWN)
        terminal.until("step 6 of 30", "wins it")
        terminal.type(LEFT)
        terminal.until("step 5 of 30", "q end")
        terminal.type("t8\r")
        terminal.until("step 27 of 30", "q end")
        assert terminal.settings[3] != terminal.before[3]
        terminal.type("q")
        assert terminal.ended(LEAVE) == 0
        assert terminal.settings == terminal.before


def test_a_small_terminal_shows_the_keys_all_the_same(
    file: Path, environment: dict[str, str]
) -> None:
    words = ("replay", file.name, "s4")
    with in_terminal(file.parent, environment, *words, rows=5, columns=30) as terminal:
        shown = terminal.until("n next deal").split("\x1b[2J")[-1].split("\r\n")
        assert len(shown) == 5
        assert all(len(line) < 30 for line in shown)


def test_ctrl_c_restores_the_terminal(file: Path, environment: dict[str, str]) -> None:
    with in_terminal(file.parent, environment, "replay", file.name, "s4") as terminal:
        terminal.until("q end")
        terminal.type("\x03")
        assert terminal.ended(f"{LEAVE}knavery: stopped\r\n") == 1
        assert terminal.settings == terminal.before


def test_sigterm_restores_the_terminal(file: Path, environment: dict[str, str]) -> None:
    with in_terminal(file.parent, environment, "replay", file.name, "s4") as terminal:
        terminal.until("q end")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.ended(LEAVE) == 128 + signal.SIGTERM
        assert terminal.settings == terminal.before


def test_an_error_restores_the_terminal() -> None:
    master, slave = os.openpty()
    try:
        before = termios.tcgetattr(slave)
        with suppress(ZeroDivisionError), full_screen(slave, slave):
            assert termios.tcgetattr(slave) != before
            raise ZeroDivisionError
        assert termios.tcgetattr(slave) == before
        shown = b""
        while not shown.endswith(LEAVE.encode()):
            shown += os.read(master, 1000)
    finally:
        os.close(master)
        os.close(slave)


KEYS = [
    ("\x1b[C", ["right"]),
    ("\x1b[5~q", ["pageup", "q"]),
    ("\x1bOB \x7f", ["down", "space", "backspace"]),
    ("\x1b", ["escape"]),
    ("ü", ["\ufffd", "\ufffd"]),
    ("\x04", ["eof"]),
]


@pytest.mark.parametrize(("typed", "names"), KEYS)
def test_keys_have_names(typed: str, names: list[str]) -> None:
    master, slave = os.openpty()
    try:
        with full_screen(slave, slave) as screen:
            os.write(master, typed.encode())
            assert [screen.key() for _ in names] == names
    finally:
        os.close(master)
        os.close(slave)


def test_without_a_terminal_it_is_printed(knavery: Knavery, file: Path) -> None:
    done = knavery("replay", file.name, "e0/g0-1-2/b0/s4")
    assert (done.returncode, done.stderr) == (0, "")
    assert "deal 0 (of 0 to 1)" in done.stdout
    assert "deal 1 (of 0 to 1)" in done.stdout
    assert "the match is over, places" in done.stdout
    one = knavery("replay", file.name, "s4:1")
    assert done.stdout.endswith(one.stdout)
    assert one.stdout.count("leads") == 9


def test_without_a_match_all_are_listed(knavery: Knavery, file: Path) -> None:
    done = knavery("replay", file.name)
    assert done.returncode == 0
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert names == [f"e0/g0-1-2/b0/s{n}" for n in range(6)]
    assert "alice" in done.stdout


def test_a_file_that_is_being_written_says_what_it_can(knavery: Knavery, tmp_path: Path) -> None:
    store, schedule = create(tmp_path / "x.knavery", tournament(max_deals=1))
    with store:
        assert knavery("replay", "x.knavery").stdout == "no match is finished yet\n"
        nothing = knavery("replay", "x.knavery", "s0")
        assert (nothing.returncode, nothing.stdout) == (2, "")
        assert "no match of it is finished yet" in nothing.stderr
        list(islice(play_all(store, schedule), 3))
        assert "of a complete block is finished yet" in knavery("replay", "x.knavery").stdout
        listed = knavery("replay", "x.knavery", "--open-blocks").stdout.splitlines()
        assert len(listed) == 3
        name = listed[0].split()[0]
        hidden = knavery("replay", "x.knavery", name)
        assert hidden.returncode == 2
        assert "--open-blocks" in hidden.stderr
        assert "leads" in knavery("replay", "x.knavery", name, "--open-blocks").stdout
        assert knavery("export", "x.knavery", "--replays").stdout == ""
        exported = knavery("export", "x.knavery", "--replays", "--open-blocks").stdout
        assert exported.count("\n") == 3


def test_a_file_of_another_format_is_one_line(knavery: Knavery, file: Path) -> None:
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("PRAGMA user_version = 0")
    done = knavery("replay", file.name, "s4")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "has schema 0, which no Knavery wrote" in line
