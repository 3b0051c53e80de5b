"""What a tournament's file gives back, as plain values, and how they lie in its rows."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from referee.games.cards import cards, text
from referee.match import Fault, FaultKind, Note
from tournaments.config import Tournament, from_plain
from tournaments.plain import canonical
from tournaments.playblob import KeptDeal, decode
from tournaments.played import Played
from tournaments.schedule import Block, Entrant


@dataclass(frozen=True, slots=True)
class Epoch:
    """A stretch of a tournament with one field: the indices of the entrants who play.

    Times are in seconds since 1970; `published` is when its key could be shown, if ever."""

    number: int
    tournament: Tournament
    field: tuple[int, ...]
    commitment: str
    started: float
    published: float | None


@dataclass(frozen=True, slots=True)
class KeptMatch:
    """A finished match; tuples over seats are in order of seats.

    `attempt` counts how often it was begun before; `play` is read by `playblob`, `sha256` is
    what `digest` gave when it was saved."""

    block: Block
    seating: int
    generation: int
    attempt: int
    entrants: tuple[int, ...]
    totals: tuple[int, ...]
    places: tuple[int, ...]
    forfeits: tuple[int, ...]
    play: bytes
    faults: tuple[Fault, ...]
    notes: tuple[Note, ...]
    sha256: bytes

    @property
    def id(self) -> str:
        """The match's name, as in "e0/g0-3-5/b2/s4"."""
        return f"{self.block.id}/s{self.seating}"

    @property
    def deals(self) -> tuple[KeptDeal, ...]:
        """The deals as played; PlayError when they cannot be read."""
        return decode(self.play)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One time that a match was begun, by processes of a wave; `outcome` is None while it is
    open, else "done", "void" or "abandoned"."""

    number: int
    wave: int
    outcome: str | None


@dataclass(frozen=True, slots=True)
class Begun:
    """A match that was begun at least once, finished or not; `entrants` is by seat."""

    block: Block
    seating: int
    generation: int
    public_id: str
    entrants: tuple[int, ...]
    attempts: tuple[Attempt, ...]

    @property
    def id(self) -> str:
        """The match's name, as in "e0/g0-3-5/b2/s4"."""
        return f"{self.block.id}/s{self.seating}"


@dataclass(frozen=True, slots=True)
class KeptProcess:
    """A process that was started: whose, for which generation of which wave, and the names of
    the deals that the ledger says it met."""

    number: int
    entrant: int
    member: int
    wave: int
    generation: int
    restart: int
    deals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """How far a tournament is. `started` and `finished` count matches; a block is complete when
    it is finished under every seating, else open from its first start on."""

    started: int
    finished: int
    blocks_complete: int
    blocks_open: int
    void_attempts: int
    abandoned_attempts: int
    processes: int
    crashes: int


def digest(
    match: str,
    totals: Sequence[int],
    places: Sequence[int],
    forfeits: Sequence[int],
    play: bytes,
    faults: Sequence[Fault],
    notes: Sequence[Note],
) -> bytes:
    """The SHA-256 of a whole result, so that a change in any part of it shows."""
    facts = {
        "match": match,
        "totals": totals,
        "places": places,
        "forfeits": forfeits,
        "play": play.hex(),
        "faults": list(map(fault_row, faults)),
        "notes": list(map(note_row, notes)),
    }
    return hashlib.sha256(canonical(facts).encode()).digest()


Row = Mapping[str, Any]
"""A row of the file by column; values that are no such value raise ValueError or a kin of it."""


def entrant_row(entrant: Entrant) -> tuple[Any, ...]:
    """An entrant as it lies in its row, after its index."""
    return (entrant.name, entrant.version, entrant.source, canonical(entrant.run))


def entrant_of(row: Row) -> Entrant:
    """The entrant in a row of `entrants`."""
    return Entrant(row["name"], row["version"], row["source"], tuple(json.loads(row["run"])))


def epoch_of(row: Row) -> Epoch:
    """The epoch in a row of `epochs`."""
    return Epoch(
        number=row["epoch"],
        tournament=from_plain(json.loads(row["config"])),
        field=_numbers(row["field"]),
        commitment=row["commitment"],
        started=row["started"],
        published=row["published"],
    )


def match_of(row: Row, faults: Sequence[Row], notes: Sequence[Row]) -> KeptMatch:
    """The match in a row of `results` with its job and attempt, and in its rows of the others."""
    for rows in (faults, notes):
        if [each["number"] for each in rows] != list(range(len(rows))):
            raise ValueError("its faults or notes are not numbered from 0")
    return KeptMatch(
        block=block_of(row),
        seating=row["seating"],
        generation=row["generation"],
        attempt=row["number"],
        entrants=_numbers(row["entrants"]),
        totals=_numbers(row["totals"]),
        places=_numbers(row["places"]),
        forfeits=_numbers(row["forfeits"]),
        play=row["play"],
        faults=tuple(map(_fault, faults)),
        notes=tuple(map(_note, notes)),
        sha256=row["sha256"],
    )


def begun_of(row: Row, attempts: Sequence[Row]) -> Begun:
    """The match in a row of `jobs`, with its rows of `attempts`."""
    return Begun(
        block=block_of(row),
        seating=row["seating"],
        generation=row["generation"],
        public_id=row["public_id"],
        entrants=_numbers(row["entrants"]),
        attempts=tuple(Attempt(each["number"], each["wave"], each["outcome"]) for each in attempts),
    )


def process_of(row: Row, deals: Sequence[str]) -> KeptProcess:
    """The process in a row of `processes`, with its deals in the ledger."""
    return KeptProcess(
        number=row["process"],
        entrant=row["entrant"],
        member=row["member"],
        wave=row["wave"],
        generation=row["generation"],
        restart=row["restart"],
        deals=tuple(deals),
    )


def played_of(row: Row, sides: int) -> Played:
    """The same match as ratings see it: the first seat of each side stands for it."""
    return Played(
        block=block_of(row).id,
        seating=row["seating"],
        generation=row["generation"],
        entrants=_numbers(row["entrants"])[:sides],
        places=_numbers(row["places"])[:sides],
        points=_numbers(row["totals"])[:sides],
        deals=row["deals"],
        forfeited=bool(_numbers(row["forfeits"])),
    )


def fault_row(fault: Fault) -> tuple[Any, ...]:
    """A fault as it lies in its row, after the match and its number there."""
    where = (fault.deal, fault.seat, fault.phase, fault.trick)
    return (*where, fault.kind.name.lower(), text(fault.played), fault.detail)


def note_row(note: Note) -> tuple[Any, ...]:
    """A note as it lies in its row, after the match and its number there."""
    return (note.deal, note.seat, note.phase, note.trick, note.text)


def kind_of(row: Row) -> FaultKind:
    """The kind of fault in a row of `faults`."""
    return FaultKind[row["kind"].upper()]


def _fault(row: Row) -> Fault:
    where = (row["deal"], row["seat"], row["phase"], row["trick"])
    return Fault(*where, kind_of(row), cards(row["played"]), row["detail"])


def _note(row: Row) -> Note:
    return Note(row["deal"], row["seat"], row["phase"], row["trick"], row["text"])


def block_of(row: Row) -> Block:
    """The block in a row that names epoch, group and block."""
    group = tuple(map(int, row["group"].split("-")))
    return Block(row["epoch"], group, row["block"])


def _numbers(array: str) -> tuple[int, ...]:
    return tuple(json.loads(array))
