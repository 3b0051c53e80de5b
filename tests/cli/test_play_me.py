"""`knavery play --me` at a terminal, and how it is left."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Knavery
from tests.cli.terminal import Terminal, in_terminal
from tests.cli.test_stopping import descendants, gone

WORDS = ("play", "--me", "lowest", "highest")
LEFT = "you have left the table: the match is not finished"


def cards_asked(terminal: Terminal) -> list[str]:
    """The cards of the prompt that is on the screen."""
    terminal.until("play one of ", ":\r\n")
    (prompt,) = re.findall(r"play one of ([^:]*):", terminal.seen)
    return str(prompt).split()


def test_a_person_plays_and_leaves(tmp_path: Path, environment: dict[str, str]) -> None:
    with in_terminal(tmp_path, environment, *WORDS) as terminal:
        terminal.until("you sit in seat", "deal 0: seat 0 deals", "your hand: ")
        legal = cards_asked(terminal)
        terminal.type("XY\n")
        terminal.until("'XY' is no card")
        terminal.type(f"{legal[-1]} {legal[-1]}\n")
        terminal.until("choose 1, not 2")
        terminal.type(f"{legal[-1].lower()}\n")
        terminal.until("trick 0: ", "wins", "trick 1: ")
        assert legal[-1] not in cards_asked(terminal)
        below = descendants(terminal.process.pid)
        assert len(below) >= 3
        terminal.type("\x04")
        assert terminal.ended(f"{LEFT}\r\n") == 1
        assert gone(below)


def test_ctrl_c_leaves_no_process(tmp_path: Path, environment: dict[str, str]) -> None:
    with in_terminal(tmp_path, environment, *WORDS, "--game", "ninety-nine") as terminal:
        terminal.until("bid 3 cards:", "trump: ")
        below = descendants(terminal.process.pid)
        terminal.type("\x03")
        assert terminal.ended("knavery: stopped\r\n") == 1
        assert gone(below)


def test_a_whole_match_through_pipes(tmp_path: Path, environment: dict[str, str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tournaments.cli", *WORDS],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if found := re.match("play one of (..)", line):
                process.stdin.write(f"{found[1]}\n")
                process.stdin.flush()
    assert process.returncode == 0
    shown = "".join(said)
    assert shown.count("play one of") == 170
    assert "the match is over: totals" in shown
    assert re.search(r"^ *0 +\d +you +-?\d+ +[123] +0", shown, re.MULTILINE)


def test_nobody_there_is_leaving(tmp_path: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tournaments.cli", *WORDS],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, f"{LEFT}\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("play",), "name a bot, or take a seat yourself with --me"),
        (("play", "--me", "lowest", "lowest", "lowest"), "3 bots for 2 places"),
        (("play", "--me", "--block"), "leave out --matches, --block and --json"),
        (("play", "--me", "nobody"), "nobody"),
    ],
)
def test_what_is_wrong_is_one_line(knavery: Knavery, words: tuple[str, ...], said: str) -> None:
    done = knavery(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
