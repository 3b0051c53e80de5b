"""Where the programs of remote entrants connect while a tournament is played (docs/remote-bots.md).

An entrant's token follows from the tournament's master key and the entrant's name, so it is the
same when the tournament goes on, and stands in no file.
"""

import base64
import re
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path

import trio

from knavery.addresses import bare, is_loopback
from referee import wire
from referee.games.shuffle import derive
from referee.process import printable
from referee.server import Door, Guest, Tls
from tournaments.config import ConfigError
from tournaments.duration import told
from tournaments.schedule import Entrant, Schedule, Seat

TOKEN_BYTES = 24
_ADDRESS = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):(\d{1,5})")
_EVERYWHERE = ("0.0.0.0", "[::]")


@dataclass(frozen=True, slots=True)
class Listening:
    """An address for remote programs; port 0 is any that is free. `wait` is how long they are
    awaited before the first deal, in seconds (None: the start-up limit)."""

    host: str
    port: int
    tls: Tls | None = None
    wait: float | None = None

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"


def listening(
    address: str, certificate: Path | None, key: Path | None, wait: float | None = None
) -> Listening:
    """What the options of a command say; ConfigError if it cannot be listened there."""
    found = _ADDRESS.fullmatch(address)
    if found is None or int(found[2]) > 65535:
        what = f"{address!r} is no address: write HOST:PORT, as in 127.0.0.1:4000"
        raise ConfigError(f"--listen: {what}")
    here = Listening(found[1], int(found[2]), _tls(certificate, key), wait)
    if here.tls is None and not is_loopback(here.host):
        raise ConfigError(
            f"--listen: {address}: without TLS only this machine may connect, at "
            f"127.0.0.1:{here.port}: give --tls-certificate and --tls-key as well"
        )
    return replace(here, port=_free_port(here))


def _tls(certificate: Path | None, key: Path | None) -> Tls | None:
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise ConfigError("--tls-certificate and --tls-key go together: give both, or none")
    try:
        pair = Tls(certificate.read_bytes(), key.read_bytes())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key, password=lambda: b"")
    except ssl.SSLError as exc:
        what = f"{certificate} and {key} are no certificate and its key without a password, in PEM"
        raise ConfigError(f"--tls-certificate: {what}: {exc.reason or exc}") from exc
    except OSError as exc:
        raise ConfigError(f"{exc.filename}: cannot be read: {exc.strerror}") from exc
    return pair


def _free_port(here: Listening) -> int:
    """The port, which can be had; ConfigError now rather than when the tournament has begun."""
    try:
        family, kind, *_, place = socket.getaddrinfo(
            bare(here.host), here.port, type=socket.SOCK_STREAM
        )[0]
        with closing(socket.socket(family, kind)) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
            return int(probe.getsockname()[1])
    except OSError as exc:
        raise ConfigError(f"--listen: {here.address}: cannot be had: {exc.strerror}") from exc


def required(entrants: Sequence[Entrant], here: Listening | None) -> None:
    """ConfigError unless remote entrants have where to connect, and only they."""
    names = [entrant.name for entrant in entrants if entrant.is_remote]
    if names and here is None:
        say = f"{', '.join(names)}: remote, so say where to connect: --listen 127.0.0.1:4000"
        raise ConfigError(say)
    if here is not None and not names:
        raise ConfigError("--listen: no entrant is remote: leave it out, or write remote = true")


def tokens(master_key: bytes, schedule: Schedule, entrants: Sequence[Entrant]) -> dict[Seat, str]:
    """The token of each program of a remote entrant: one, or in a team one for each member."""
    return {
        Seat(n, member): _token(master_key, entrants[n].name, member)
        for n in sorted(schedule.remote.intersection(schedule.entrants))
        for member in range(schedule.members)
    }


def _token(master_key: bytes, name: str, member: int) -> str:
    secret = derive(master_key, "remote", name, member)[:TOKEN_BYTES]
    return base64.urlsafe_b64encode(secret).decode()


class Reception:
    """Lets remote programs in during a run, and tells the operator who is there."""

    def __init__(
        self,
        here: Listening,
        tokens: Mapping[Seat, str],
        names: Mapping[int, str],
        startup: float,
        say: Callable[[str], None],
        farewell: bool = True,
    ) -> None:
        """`farewell`: at its end programs are sent home, and not needed again at once."""
        self._farewell = farewell
        self._here = here
        self._tokens = tokens
        self._names = names
        self._startup = startup
        self._say = say
        self._told = False

    def name(self, seat: Seat) -> str:
        """How a program is called: its entrant's name, and in a team which of the two it is."""
        team = sum(other.entrant == seat.entrant for other in self._tokens) > 1
        name = printable(self._names[seat.entrant])
        return f"{name} ({seat.member + 1} of 2)" if team else name

    @asynccontextmanager
    async def open(self, door: Door) -> AsyncIterator[Mapping[Seat, Guest]]:
        """Listens for as long as the context lasts; at its end everybody is sent home."""
        gate = await door.open_gate(self._here.address, list(self._tokens.values()), self._here.tls)
        try:
            guests = dict(zip(self._tokens, gate.guests, strict=True))
            again = self._told
            self._introduce()
            await self._gather(guests, again)
            yield guests
            for guest in gate.guests if self._farewell else ():
                await guest.dismiss(wire.goodbye("the referee has played what there was to play"))
        finally:
            await gate.close()

    def _introduce(self) -> None:
        """Says once how each program is started."""
        if self._told:
            return
        self._told = True
        for seat, token in self._tokens.items():
            self._say(f"{self.name(seat)} is remote; its author starts it with")
            tls = "KNAVERY_TLS_CA=ca.pem " if self._here.tls else ""
            address = self._here.address
            if self._here.host in _EVERYWHERE:
                address = f"THIS-MACHINE:{self._here.port}"
            variables = f"KNAVERY_ADDRESS={address} KNAVERY_TOKEN={token}"
            self._say(f"  {tls}{variables} python my_bot.py")

    async def _gather(self, guests: Mapping[Seat, Guest], again: bool) -> None:
        """Waits until everybody has connected, within a limit; `again`, when play had begun, within
        that for a lost connection."""
        wait = self._startup if again or self._here.wait is None else self._here.wait
        awaited = ", ".join(map(self.name, guests))
        self._say(f"awaiting {awaited} at {self._here.address}, for {told(wait)} at the most")
        with trio.move_on_after(wait):
            async with trio.open_nursery() as nursery:
                for seat, guest in guests.items():
                    nursery.start_soon(self._greet, self.name(seat), guest)
        for seat, guest in guests.items():
            if not guest.is_here:
                self._say(
                    f"{self.name(seat)} has not connected within {told(wait)}; without it play "
                    f"begins, and it has {told(self._startup)} more in each generation"
                )

    async def _greet(self, name: str, guest: Guest) -> None:
        await guest.visit()
        self._say(f"{name} is here")
