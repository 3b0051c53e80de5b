"""What `serve` does around the talk with the referee."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import knavery.client
from knavery import Bot, View, serve
from knavery.serving import TRACEBACKS, Log
from knavery.v1 import referee_pb2 as pb
from tests.sdk.events import started, to_play


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    """A bot's process is about to end when `serve` returns, this one is not."""
    yield
    gc.unfreeze()


class First(Bot):
    games = ("knave",)
    max_tables = 3
    max_batch = 7

    def play(self, view: View) -> Any:
        return view.legal[0]


class FakeStream:
    """Envelopes from a script; keeps what is sent, and when: after how many envelopes."""

    def __init__(self, envelopes: Sequence[pb.Envelope]) -> None:
        self._envelopes = envelopes
        self.taken = 0
        self.sent: list[tuple[int, pb.Moves]] = []

    def __iter__(self) -> Iterator[pb.Envelope]:
        for envelope in self._envelopes:
            self.taken += 1
            yield envelope

    def send(self, moves: pb.Moves) -> None:
        self.sent.append((self.taken, moves))


def connected(monkeypatch: pytest.MonkeyPatch, *envelopes: Sequence[pb.Event]) -> FakeStream:
    """Has `serve` talk to a stream with these envelopes; what it asked for is in `asked`."""
    stream = FakeStream([pb.Envelope(events=events) for events in envelopes])

    @contextmanager
    def connect(*args: Any, **limits: Any) -> Iterator[FakeStream]:
        stream.asked = (args, limits)  # type: ignore[attr-defined]
        yield stream

    monkeypatch.setattr(knavery.client, "connect", connect)
    monkeypatch.setenv("KNAVERY_ADDRESS", "unix:/nowhere")
    monkeypatch.setenv("KNAVERY_TOKEN", "secret")
    return stream


def test_each_envelope_is_answered_before_the_next_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = connected(monkeypatch, [started(), to_play(1), to_play(2)], [], [to_play(3)])
    serve(First)
    answered = [(taken, move.decision) for taken, lot in stream.sent for move in lot.moves]
    assert answered == [(1, 1), (1, 2), (3, 3)]


def test_hello_says_what_the_class_says(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = connected(monkeypatch)
    serve(First)
    assert stream.asked == (  # type: ignore[attr-defined]
        ("unix:/nowhere", "secret"),
        {"games": ("knave",), "max_tables": 3, "max_batch": 7},
    )


def test_an_exception_is_in_the_log_with_its_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Failing(First):
        def play(self, view: View) -> Any:
            raise ValueError(f"lost at {view.deal}")

    stream = connected(monkeypatch, [started(), to_play(1)])
    serve(Failing)
    assert stream.sent[0][1].moves[0].WhichOneof("answer") == "error"
    assert "ValueError: lost at 0" in capsys.readouterr().err


def test_the_log_holds_the_first_tracebacks_only(capsys: pytest.CaptureFixture[str]) -> None:
    log = Log()
    for number in range(TRACEBACKS + 5):
        log(f"trouble {number}\n")
    lines = capsys.readouterr().err.splitlines()
    assert lines[-2:] == [f"trouble {TRACEBACKS - 1}", "(no more are printed)"]


def test_without_a_referee_it_says_what_to_type(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("KNAVERY_ADDRESS", raising=False)
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "my bot.py")])
    with pytest.raises(SystemExit) as end:
        serve(First)
    assert end.value.code == 2
    line = "This is a bot, and a referee starts it. To see it play: knavery play "
    assert capsys.readouterr().err == f"{line}'{tmp_path}/my bot.py'\n"
    (tmp_path / "bot.toml").touch()
    with pytest.raises(SystemExit):
        serve(First)
    assert capsys.readouterr().err == f"{line}{tmp_path}\n"


@pytest.mark.parametrize("kind", [knavery.client.Rejected, knavery.client.Unreachable])
def test_turned_away_it_says_why_in_one_line(
    kind: type[Exception], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    connected(monkeypatch)

    def refuse(*_: Any, **__: Any) -> Any:
        raise kind("wrong token: start the bot with knavery")

    monkeypatch.setattr(knavery.client, "connect", refuse)
    with pytest.raises(SystemExit) as end:
        serve(First)
    assert end.value.code == 1
    assert capsys.readouterr().err == "First: wrong token: start the bot with knavery\n"


def test_serve_takes_a_class() -> None:
    with pytest.raises(TypeError, match=r"serve takes the class, as in serve\(MyBot\)"):
        serve(First())  # type: ignore[arg-type]


# From afar.


class Visits:
    """What comes of one connection after another: envelopes, or a refusal."""

    def __init__(self, *visits: list[pb.Envelope] | ConnectionError) -> None:
        self._visits = list(visits)
        self.count = 0

    @contextmanager
    def connect(self, *_: Any, **__: Any) -> Iterator[FakeStream]:
        self.count += 1
        visit = self._visits.pop(0)
        if isinstance(visit, ConnectionError):
            raise visit
        yield FakeStream(visit)


GOODBYE = [pb.Envelope(events=[pb.Event(goodbye=pb.Goodbye(reason="done"))])]
LOST = [pb.Envelope(events=[started(), to_play(1)])]
IN_USE = knavery.client.Rejected("This token is in use")
GONE = knavery.client.Unreachable("no referee")
WRONG = knavery.client.Rejected("The token is wrong")


@pytest.mark.parametrize(
    ("visits", "status"),
    [
        ([GOODBYE], None),
        ([LOST, GOODBYE], None),
        ([LOST, GONE, IN_USE, LOST, GONE, GOODBYE], None),
        ([LOST, WRONG], 1),
        ([GONE], 1),
    ],
)
def test_a_lost_connection_to_afar_is_made_again(
    monkeypatch: pytest.MonkeyPatch, visits: list[Any], status: int | None
) -> None:
    calls = Visits(*visits)
    monkeypatch.setattr(knavery.client, "connect", calls.connect)
    monkeypatch.setattr("knavery.serving.RETURN_PAUSE", 0)
    monkeypatch.setenv("KNAVERY_ADDRESS", "example.org:4000")
    monkeypatch.setenv("KNAVERY_TOKEN", "secret")
    if status is None:
        serve(First)
    else:
        with pytest.raises(SystemExit) as end:
            serve(First)
        assert end.value.code == status
    assert calls.count == len(visits)


def test_it_does_not_try_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Visits(LOST, GONE, GOODBYE)
    monkeypatch.setattr(knavery.client, "connect", calls.connect)
    monkeypatch.setattr("knavery.serving.RETURN_SECONDS", -1)
    monkeypatch.setenv("KNAVERY_ADDRESS", "127.0.0.1:4000")
    monkeypatch.setenv("KNAVERY_TOKEN", "secret")
    with pytest.raises(SystemExit) as end:
        serve(First)
    assert (end.value.code, calls.count) == (1, 2)


def test_a_local_bot_does_not_try_again(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Visits(LOST, GOODBYE)
    monkeypatch.setattr(knavery.client, "connect", calls.connect)
    monkeypatch.setenv("KNAVERY_ADDRESS", "unix:/nowhere")
    monkeypatch.setenv("KNAVERY_TOKEN", "secret")
    serve(First)
    assert calls.count == 1
