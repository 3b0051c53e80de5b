"""The adapter for bots that read and print lines: `python -m knavery.stdio -- ./bot`.

It speaks gRPC to the referee and JSON to the program, the protobuf JSON mapping: one event a line
on the program's stdin, one move a line from its stdout (docs/protocol.md). It judges nothing: what
is wrong in a move, the referee finds; a line that is no move becomes a message that the referee
cannot read; when the program ends, the adapter ends the same way. What it holds is bounded on both
sides: it reads no further envelope before the program took the last, and no further line before
the referee took the moves.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from google.protobuf import json_format

from knavery.v1.referee_pb2 import Envelope, Event, Hello, Move, Moves

if TYPE_CHECKING:
    from knavery.client import AsyncStream

SDK: Final = "knavery-stdio 0.1.0"
MAX_BATCH: Final = 64
"""Decisions in one batch unless bot.toml says otherwise. To put one into JSON and its answer out of
it takes the adapter 0.2 ms: within the 100 ms of a message that no clock charges."""
MAX_LINE: Final = 1 << 16
"""Bytes of a line; a longer one ends the bot, as a huge message does."""
LOT_BYTES: Final = 1 << 20
"""Bytes of lines whose moves wait to be sent; at so many no more are read."""
FLUSH_SECONDS: Final = 0.005
"""How long a move waits for the rest of its batch."""
EXIT_GRACE: Final = 0.5
"""Seconds in which a program that closed its output is expected to end."""
GOODBYE_GRACE: Final = 2.0
"""Seconds that a program has to end after its last line."""
COMPLAINTS: Final = 20
"""Lines that are no moves and are told of in the bot's log."""


def command(
    program: Sequence[str],
    language: str = "",
    games: Sequence[str] = (),
    max_tables: int | None = None,
    max_batch: int | None = None,
) -> tuple[str, ...]:
    """The command line that starts a program behind the adapter, with what its Hello says."""
    options = [f"--language={language or os.path.basename(program[0])}"]
    options += [f"--game={game}" for game in games]
    options += [f"--max-tables={max_tables}"] if max_tables else []
    options.append(f"--max-batch={max_batch or MAX_BATCH}")
    return (sys.executable, "-P", "-m", "knavery.stdio", *options, "--", *program)


def main() -> int:
    """Plays until the referee or the program ends; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m knavery.stdio", description=__doc__)
    parser.add_argument("--language", default="")
    parser.add_argument("--game", action="append", default=[])
    parser.add_argument("--max-tables", type=int)
    parser.add_argument("--max-batch", type=int, default=MAX_BATCH)
    parser.add_argument("program", nargs="+")
    said = parser.parse_args()
    address, token = os.environ.pop("KNAVERY_ADDRESS", ""), os.environ.pop("KNAVERY_TOKEN", "")
    os.environ.pop("PYTHONPATH", None)  # of the adapter; what is left is for the program
    if not address or not token:
        parser.error("the referee starts this; to see a bot play: knavery play FOLDER")
    hello = Hello(
        token=token,
        protocol=1,
        sdk=SDK,
        language=said.language,
        games=said.game,
        max_tables=said.max_tables,
        max_batch=said.max_batch,
    )
    try:
        return asyncio.run(_play(address, hello, said.program))
    except (OSError, _ProgramError) as error:  # a ConnectionError of the client's is an OSError
        print(f"knavery.stdio: {error}", file=sys.stderr)
        return 1


class _ProgramError(Exception):
    """What the program did that ends it, in words."""


async def _play(address: str, hello: Hello, program: Sequence[str]) -> int:
    """The program starts first: gRPC, once loaded, is in the way of new processes."""
    process = await asyncio.create_subprocess_exec(
        *program, stdin=PIPE, stdout=PIPE, limit=MAX_LINE
    )
    try:
        from knavery.client import AsyncStream

        stream = AsyncStream(address)
        try:
            await stream.greet(hello)
            return await _Adapter(stream, process).play()
        finally:
            await stream.close()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


class _Adapter:
    """A stream and a program, and what is between them."""

    def __init__(self, stream: AsyncStream, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stream = stream
        self._process = process
        self._stdin, self._stdout = process.stdin, process.stdout
        self._open: set[int] = set()
        self._lot: list[Move] = []
        self._lot_bytes = 0
        self._unsent = 0
        self._moves = asyncio.Event()
        self._whole = asyncio.Event()
        self._sent = asyncio.Event()
        self._complaints = 0

    async def play(self) -> int:
        """Until either side ends; the program's exit status, or as `Process.returncode`."""
        tell, listen, send = (
            asyncio.create_task(each) for each in (self._tell(), self._listen(), self._send())
        )
        end = asyncio.create_task(self._process.wait())
        tasks = (tell, listen, send, end)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in (listen, tell, send):
                if task.done():
                    task.result()
            if tell.done() or send.done():
                return await self._part()
            return await self._conclude(listen)
        finally:
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _part(self) -> int:
        """The referee is done: so should the program be, at the end of its input."""
        self._stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(GOODBYE_GRACE):
                await self._process.wait()
        return 0

    async def _conclude(self, listen: asyncio.Task[None]) -> int:
        """The program has ended, or closed its output: what it said before still counts."""
        with suppress(TimeoutError):
            async with asyncio.timeout(EXIT_GRACE):
                await asyncio.shield(listen)
                await self._until_sent(0)
        with suppress(TimeoutError):
            async with asyncio.timeout(EXIT_GRACE):
                return await self._process.wait()
        raise _ProgramError("the program closed its output, but did not end")

    # To the program.

    async def _tell(self) -> None:
        from knavery.client import is_last

        while (envelope := await self._stream.envelope()) is not None:
            self._note_open(envelope)
            with suppress(ConnectionError):  # it does not listen: its answers, or its end, tell
                for event in envelope.events:
                    if event.WhichOneof("event"):
                        self._stdin.write(line_of(event))
                        await self._stdin.drain()
            if is_last(envelope):
                return

    def _note_open(self, envelope: Envelope) -> None:
        for event in envelope.events:
            if event.HasField("decision"):
                self._open.add(event.decision.id)
            elif event.HasField("withdrawn"):
                self._open.discard(event.withdrawn.decision)
        if self._open:
            self._whole.clear()

    # From the program.

    async def _listen(self) -> None:
        while line := await self._line():
            if not line.strip():
                continue
            move, complaint = move_of(line)
            if complaint:
                self._complain(line, complaint)
            if move is None:
                await self._stream.send_nothing()
            else:
                await self._take(move, len(line))

    async def _line(self) -> bytes:
        try:
            return await self._stdout.readline()
        except ValueError:
            raise _ProgramError(f"the program printed a line of over {MAX_LINE:,} bytes") from None

    async def _take(self, move: Move, size: int) -> None:
        self._lot.append(move)
        self._lot_bytes += size
        self._unsent += size
        self._open.discard(move.decision)
        self._moves.set()
        if not self._open:
            self._whole.set()
        await self._until_sent(LOT_BYTES)

    async def _until_sent(self, left: int) -> None:
        """Waits until moves of no more than so many bytes are unsent."""
        while self._unsent > left:
            self._sent.clear()
            await self._sent.wait()

    async def _send(self) -> None:
        """Sends the moves as they come, each within FLUSH_SECONDS or with its batch's last."""
        from knavery.client import StreamEnded

        while True:
            await self._moves.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_SECONDS):
                    await self._whole.wait()
            lot, size = self._lot, self._lot_bytes
            self._lot, self._lot_bytes = [], 0
            self._moves.clear()
            try:
                await self._stream.send(Moves(moves=lot))
            except StreamEnded:
                return
            self._unsent -= size
            self._sent.set()

    def _complain(self, line: bytes, complaint: str) -> None:
        self._complaints += 1
        if self._complaints <= COMPLAINTS:
            print(f"knavery.stdio: {complaint}: {line[:200]!r}", file=sys.stderr, flush=True)


def line_of(event: Event) -> bytes:
    """An event as the program reads it."""
    text = json_format.MessageToJson(event, indent=None, always_print_fields_with_no_presence=True)
    return text.encode() + b"\n"


def move_of(line: bytes) -> tuple[Move | None, str]:
    """The move that a line says, and a complaint about it, if there is one.

    A line that names a decision, but no answer of the right form, is a move without an answer."""
    try:
        plain: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None, "this line is not JSON"
    number = plain.get("decision") if isinstance(plain, dict) else None
    try:
        move = json_format.ParseDict(plain, Move()) if number else None
    except (json_format.ParseError, ValueError, TypeError, RecursionError) as error:
        return _empty_move(number), f"this line is no move ({str(error)[:200]})"
    if move is None or not move.decision:
        return None, 'this line is no move: it is an object with a "decision"'
    return move, ""


def _empty_move(number: object) -> Move | None:
    named = type(number) is int and 0 < number < 2**32
    return Move(decision=number) if named else None  # type: ignore[arg-type]


def _end_as(code: int) -> int:
    """Ends by the signal that ended the program, so that the referee sees which; else returns the
    exit status."""
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    sys.exit(_end_as(main()))
