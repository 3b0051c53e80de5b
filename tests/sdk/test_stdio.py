"""The adapter for programs that read and print lines, against a real door."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import trio
from google.protobuf import json_format
from trio.testing import trio_test

from knavery import stdio
from knavery.v1 import game_pb2 as game
from knavery.v1 import referee_pb2 as pb
from referee.environments import ROOT
from referee.server import BadMessage, HungUp, Post, open_door

WELCOME = pb.Welcome(protocol=1, max_batch=256, max_message_bytes=4 * 2**20)
PRELUDE = """
import itertools, json, os, sys, time

def say(number, **answer):
    print(json.dumps({"decision": number, **answer}), flush=True)

def decisions():
    for line in sys.stdin:
        if "decision" in (event := json.loads(line)):
            yield event["decision"]["id"]
"""


@asynccontextmanager
async def adapter(program: str, tmp_path: Path, **options: object) -> AsyncIterator[Adapter]:
    """An adapter that has been let in, with a program in Python behind it."""
    script = tmp_path / "program.py"
    script.write_text(PRELUDE + program)
    async with open_door() as door:
        post = await door.listen()
        argv = stdio.command((sys.executable, str(script)), **options)  # type: ignore[arg-type]
        with trio.fail_after(120):
            running = Adapter(post, argv, tmp_path / "log")
            try:
                running.hello = await post.hello()
                await post.welcome(WELCOME)
                yield running
            finally:
                running.process.kill()
                await running.ended()


class Adapter:
    """A post, and the process that talks to it."""

    hello: pb.Hello

    def __init__(self, post: Post, argv: tuple[str, ...], log: Path) -> None:
        self.post = post
        self._log = log
        env = {"KNAVERY_ADDRESS": post.address, "KNAVERY_TOKEN": post.token}
        with log.open("wb") as file:
            self.process = subprocess.Popen(
                argv,
                env=os.environ | env | {"PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )

    async def ended(self) -> int:
        return await trio.to_thread.run_sync(self.process.wait)

    @property
    def log(self) -> str:
        return self._log.read_text()

    async def ask(self, *numbers: int) -> None:
        await self.tell(*(pb.Event(decision=game.Decision(id=number)) for number in numbers))

    async def tell(self, *events: pb.Event) -> None:
        await self.post.send(pb.FromReferee(envelope=pb.Envelope(events=events)))

    async def moves(self, count: int) -> list[pb.Move]:
        got: list[pb.Move] = []
        while len(got) < count:
            got += (await self.post.receive())[1].moves
        return got

    async def hung_up(self) -> None:
        """Waits for the end of the stream."""
        with suppress(HungUp):
            while True:
                await self.post.receive()


@trio_test
async def test_hello_says_what_the_bot_says(tmp_path: Path) -> None:
    options = {"language": "awk", "games": ("knave",), "max_tables": 3, "max_batch": 7}
    async with adapter("list(decisions())", tmp_path, **options) as bot:
        said = bot.hello
        assert (said.protocol, said.sdk, said.language) == (1, stdio.SDK, "awk")
        assert (list(said.games), said.max_tables, said.max_batch) == (["knave"], 3, 7)
    async with adapter("list(decisions())", tmp_path) as bot:
        assert bot.hello.language == os.path.basename(sys.executable)
        assert not bot.hello.HasField("max_tables")
        assert bot.hello.max_batch == stdio.MAX_BATCH


@trio_test
async def test_an_event_is_a_line_of_protobuf_json(tmp_path: Path) -> None:
    echo = "for line in sys.stdin: say(1, error=line)"
    decision = game.Decision(id=1, match="x", hand=[0, 51], trump=game.TRUMP_NONE)
    decision.play_request.legal.append(0)
    started = pb.MatchStarted(match="x", seed=2**64 - 1)
    events = [pb.Event(match_started=started), pb.Event(decision=decision)]
    async with adapter(echo, tmp_path) as bot:
        await bot.tell(*events)
        lines = [move.error for move in await bot.moves(2)]
    for line, event in zip(lines, events, strict=True):
        assert line.endswith("}\n")
        assert json_format.Parse(line, pb.Event()) == event
    first, second = map(json.loads, lines)
    assert first["matchStarted"]["seed"] == str(2**64 - 1), "64 bits as text"
    assert (first["matchStarted"]["seat"], first["matchStarted"]["faultLimit"]) == (0, 0)
    shown = second["decision"]
    assert (shown["seat"], shown["played"], shown["trump"]) == (0, [], "TRUMP_NONE")
    assert "lastDealt" not in shown, "what is absent is not zero"


@trio_test
async def test_moves_go_on_as_they_come(tmp_path: Path) -> None:
    program = """
for number in decisions():
    say(number, cards={"cards": [number]}, note="n")
    if number == 1:
        sys.stdin.readline()     # the second decision is not answered before it is withdrawn
        sys.stdin.readline()
"""
    async with adapter(program, tmp_path) as bot:
        await bot.ask(1, 2)
        (move,) = await bot.moves(1)
        assert (move.decision, list(move.cards.cards), move.note) == (1, [1], "n")
        await bot.tell(pb.Event(withdrawn=pb.Withdrawn(decision=2)))
        await bot.ask(*range(3, 40))
        assert [move.decision for move in await bot.moves(37)] == list(range(3, 40))


@pytest.mark.parametrize(
    "line", ["nonsense", "[1]", "7", "null", "{}", '{"decision": 0}', '"\\xff"', "[" * 9000, "{"]
)
@trio_test
async def test_a_line_that_is_no_move_is_a_message_that_cannot_be_read(
    tmp_path: Path, line: str
) -> None:
    program = f"for number in decisions(): print({line!r}, flush=True); say(number, error='e')"
    async with adapter(program, tmp_path) as bot:
        await bot.ask(1)
        with pytest.raises(BadMessage):
            await bot.post.receive()
        (move,) = await bot.moves(1)
        assert move.error == "e"
        assert "knavery.stdio: this line is" in bot.log


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"cards": 3},
        {"cards": {"cards": ["AS"]}},
        {"cards": {"cards": [-1]}},
        {"cards": {"cards": [2**40]}},
        {"card": 3},
        {"error": 5},
    ],
)
@trio_test
async def test_an_answer_of_the_wrong_form_is_a_move_without_one(
    tmp_path: Path, answer: dict[str, object]
) -> None:
    async with adapter(f"for number in decisions(): say(number, **{answer!r})", tmp_path) as bot:
        await bot.ask(5)
        assert await bot.moves(1) == [pb.Move(decision=5)]


@pytest.mark.parametrize(
    ("end", "code"),
    [("sys.exit(0)", 0), ("sys.exit(3)", 3), ("os.kill(os.getpid(), 9)", -signal.SIGKILL)],
)
@trio_test
async def test_it_ends_as_its_program_does_and_its_last_move_counts(
    tmp_path: Path, end: str, code: int
) -> None:
    program = f"""
for number in decisions():
    say(number, error="last")
    print("about to die", file=sys.stderr, flush=True)
    {end}
"""
    async with adapter(program, tmp_path) as bot:
        await bot.ask(1, 2)
        (move,) = await bot.moves(1)
        assert move.error == "last"
        await bot.hung_up()
        assert await bot.ended() == code
        assert "about to die" in bot.log


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("os.write(1, b'x' * 200_000); time.sleep(600)", "printed a line of over 65,536 bytes"),
        ("os.close(1); time.sleep(600)", "closed its output, but did not end"),
    ],
)
@trio_test
async def test_what_ends_a_program(tmp_path: Path, program: str, said: str) -> None:
    async with adapter(program, tmp_path) as bot:
        await bot.hung_up()
        assert await bot.ended() == 1
        assert bot.log == f"knavery.stdio: the program {said}\n"


@trio_test
async def test_a_flood_waits_for_the_referee(tmp_path: Path) -> None:
    program = "for number in itertools.count(1): say(number % 4096, error='x' * 2000)"
    async with adapter(program, tmp_path) as bot:
        for _ in range(5):
            assert (await bot.post.receive())[1].ByteSize() < 2 * stdio.LOT_BYTES
        await trio.sleep(0.5)  # nobody reads: it would grow by megabytes
        status = Path(f"/proc/{bot.process.pid}/status").read_text()
        (kilobytes,) = (line.split()[1] for line in status.splitlines() if "VmRSS" in line)
        assert int(kilobytes) < 150_000


@trio_test
async def test_many_lines_that_are_no_moves_are_told_of_a_few_times(tmp_path: Path) -> None:
    program = "for number in decisions():\n  for _ in range(90): print('no')\n  say(1, error='e')"
    async with adapter(program, tmp_path) as bot:
        await bot.ask(1)
        for _ in range(90):
            with pytest.raises(BadMessage):
                await bot.post.receive()
        await bot.moves(1)
        assert len(bot.log.splitlines()) == stdio.COMPLAINTS


@pytest.mark.parametrize("program", ["list(sys.stdin)", "time.sleep(600)"])
@trio_test
async def test_after_goodbye_the_program_is_seen_out(tmp_path: Path, program: str) -> None:
    async with adapter(program, tmp_path) as bot:
        await bot.tell(pb.Event(goodbye=pb.Goodbye(reason="done")))
        assert await bot.ended() == 0


@trio_test
async def test_the_program_sees_no_secret(tmp_path: Path) -> None:
    program = "for number in decisions(): say(number, error=' '.join(os.environ))"
    async with adapter(program, tmp_path) as bot:
        await bot.ask(1)
        (move,) = await bot.moves(1)
        assert "PATH" in move.error.split()
        assert not {"KNAVERY_ADDRESS", "KNAVERY_TOKEN", "PYTHONPATH"} & {*move.error.split()}


@pytest.mark.parametrize(
    ("words", "address", "code", "said"),
    [
        (("./missing",), "unix:/nowhere", 1, "No such file or directory: './missing'"),
        (("sleep", "600"), "unix:/nowhere", 1, "no referee at unix:/nowhere"),
        (("true",), "", 2, "the referee starts this; to see a bot play: knavery play FOLDER"),
    ],
)
def test_what_keeps_it_from_playing(
    words: tuple[str, ...], address: str, code: int, said: str
) -> None:
    env = {"PYTHONPATH": str(ROOT), "KNAVERY_ADDRESS": address, "KNAVERY_TOKEN": "x"}
    done = subprocess.run(
        stdio.command(words), env=os.environ | env, capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
