"""`knavery repro`: what a bot did in a real tournament it does again, draws and faults included."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Knavery, command
from tests.cli.terminal import in_terminal
from tests.cli.test_stopping import gone

QUIRKY = """
import os
from knavery import Bot, serve

class Quirky(Bot):
    def match_started(self, info):
        self.count = info.seat
    def deal_finished(self, deal):
        self.count += sum(deal.scores) + deal.number
    def fault(self, notice):
        self.count += 7
    def bid(self, view):
        return self.rng.sample(view.hand, 3)
    def play(self, view):
        self.count += 1
        if (view.deal, view.seat, len(view.tricks)) == (1, 1, 2):
            print("this is too much", flush=True)
            os._exit(3)
        if self.rng.random() < 0.04:
            raise KeyError(f"lost at {self.count}")
        if self.rng.random() < 0.04:
            return view.unseen[0]
        self.note(f"so many: {self.count}")
        return view.legal[self.count % len(view.legal)]

if __name__ == "__main__":
    serve(Quirky)
"""
PLAN = """
[tournament]
game = "ninety-nine"
rules = {max_deals = 3}
key = "0707070707070707070707070707070707070707070707070707070707070707"
[faults]
limit = 20
[[entrants]]
path = "quirky.py"
[[entrants]]
path = "lowest"
[[entrants]]
path = "highest"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    """A folder with the bot and the tournament that it played. Nothing in it is changed."""
    place = tmp_path_factory.mktemp("repro")
    (place / "quirky.py").write_text(QUIRKY)
    (place / "plan.toml").write_text(PLAN)
    done = command(place, environment, "run", "plan.toml", "-o", "x.knavery")
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture(scope="module")
def lines(folder: Path, environment: dict[str, str]) -> list[dict[str, Any]]:
    """Its deals as exported."""
    done = command(folder, environment, "export", "x.knavery", "--replays")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_fault_comes_again_and_every_answer_before_it(
    folder: Path, environment: dict[str, str], lines: list[dict[str, Any]]
) -> None:
    faults = [fault for line in lines for fault in line["faults"]]
    kinds = {fault["kind"] for fault in faults}
    assert kinds == {"exception", "illegal", "crashed"}
    done = command(folder, environment, "repro", "x.knavery", "--all-faults", "--bot", "quirky.py")
    assert (done.returncode, done.stderr) == (1, "")
    then = re.findall(r"^  then: (\w+): the referee played", done.stdout, re.MULTILINE)
    now = re.findall(r"^  now:  (\w+):", done.stdout, re.MULTILINE)
    assert then == now == [fault["kind"] for fault in faults]
    before = re.findall(r"^(\d+) decisions? before: (\d+) answered as then", done.stdout, re.M)
    assert before
    assert all(all_of == alike for all_of, alike in before)
    assert f"{len(faults)} decisions asked again: {len(faults)} of them a fault now" in done.stdout
    assert "its last words: this is too much" in done.stdout
    assert re.search(r"KeyError: 'lost at \d+'", done.stdout)
    assert "quirky.py" in done.stdout


def test_one_decision_with_a_bot_that_is_mended(
    knavery: Knavery, folder: Path, tmp_path: Path, lines: list[dict[str, Any]]
) -> None:
    mended = QUIRKY.replace("0.04", "-1").replace("os._exit(3)", "pass")
    (tmp_path / "mended.py").write_text(mended)
    line = next(line for line in lines if line["deal"] == 0 and line["faults"])
    name, deal = line["match"], line["deal"]
    (fault, *_) = line["faults"]
    trick = line["tricks"][fault["trick"]]
    step = 3 + 3 * fault["trick"] + (fault["seat"] - trick["leader"]) % 3
    done = knavery("repro", folder / "x.knavery", f"{name}:{deal}:{step}", "--bot", "mended.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"seat {fault['seat']}, where quirky sat" in done.stdout
    assert f"deal 0, trick {fault['trick']} of seat {fault['seat']}\n  view: " in done.stdout
    assert f"then: {fault['kind']}: the referee played {fault['played']}" in done.stdout
    assert re.search(r"now:  [2-9TJQKA][CDHS], [\d.]+ ms\n +note: so many: \d+", done.stdout)
    assert re.search(r"process \d+, no clock is running", done.stdout)


def test_what_is_answered_otherwise_is_told(knavery: Knavery, folder: Path) -> None:
    for seat, bot in ((0, "highest"), (1, "lowest")):
        words = ("repro", folder / "x.knavery", f"s0:2:{27 + seat}", "--bot", bot)
        done = knavery(*words)
        assert done.returncode == 0, done.stderr
        assert re.search(r"\d+ decisions before: \d+ answered as then", done.stdout)
    assert re.search(r"deal \d, .* of seat \d: .* then, .* now", done.stdout)


def test_a_bot_that_does_not_start_says_why(knavery: Knavery, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import knavery\nimport no_such_module\n")
    done = knavery("repro", folder / "x.knavery", "s0:0:0", "--bot", "broken.py")
    assert (done.returncode, done.stderr) == (1, "")
    assert "now:  crashed: its process ended: exited with status 1" in done.stdout
    assert "No module named 'no_such_module'" in done.stdout


def test_it_waits_for_a_debugger(folder: Path, environment: dict[str, str]) -> None:
    words = ("repro", "x.knavery", "s0:0:4", "--bot", "lowest", "--pause")
    with in_terminal(folder, environment, *words) as terminal:
        shown = terminal.until("when you press enter")
        assert re.search(r"process (\d+), no clock is running", shown)
        terminal.type("\n")
        terminal.until("then:", "now:")
        assert terminal.ended("ms\r\n") == 0


def test_ctrl_c_ends_a_bot_that_waits_for_ever(
    folder: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    waits = QUIRKY.replace("return self.rng.sample", "__import__('time').sleep(3600)")
    (tmp_path / "waits.py").write_text(waits)
    words = ("repro", "x.knavery", "s0:0:0", "--bot", str(tmp_path / "waits.py"))
    with in_terminal(folder, environment, *words) as terminal:
        pid = int(re.findall(r"process (\d+)", terminal.until("  view: "))[0])
        terminal.type("\x03")
        assert terminal.ended("knavery: stopped\r\n") == 1
        assert gone({pid})


WRONG = [
    (("s0", "--bot", "lowest"), "names no decision: write MATCH:DEAL:DECISION"),
    (("--bot", "lowest"), "names no decision"),
    (("s0:0:30", "--bot", "lowest"), "its decisions are 0 to 29"),
    (("s0:3:1", "--bot", "lowest"), "its deals are 0 to 2"),
    (("s7:0:1", "--bot", "lowest"), "did you mean e0/g0-1-2/b0/s"),
    (("s0:0:1", "--bot", "nobody"), "nobody"),
    (("--all-faults", "--bot", "random"), "no entrant is called 'random': say which of quirky"),
    (("s0:0:1",), "--bot"),
]


@pytest.mark.parametrize(("words", "said"), WRONG)
def test_what_is_wrong_is_one_line(
    knavery: Knavery, folder: Path, words: tuple[str, ...], said: str
) -> None:
    done = knavery("repro", folder / "x.knavery", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_bot_without_faults_has_none_to_repeat(knavery: Knavery, folder: Path) -> None:
    done = knavery("repro", folder / "x.knavery", "--all-faults", "--bot", "lowest")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "lowest made no fault there that can be asked again\n"
