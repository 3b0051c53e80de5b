"""`knavery audit`: a tournament's file gone through for what its bots could have learnt.

Two things are looked at: decisions, drawn by a seed, in other worlds (audit.py); and whatever of it
bots could read or wrote, for the keys that their cards follow from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from referee.bot_files import LEFT_OUT
from referee.retrial import Record
from tournaments.audit import WORLDS, Audited, audit_decisions, keys, sampled
from tournaments.epochs import schedules
from tournaments.needles import Needles
from tournaments.replays import placed, replay_of
from tournaments.repro import record_of
from tournaments.store import Store

MOST_BYTES: Final = 64 * 2**20
"""Files that are larger than this are not looked through."""


@dataclass(slots=True)
class Report:
    """What was looked at, and `leak`, the first thing that a bot could have learnt, in words."""

    audited: Audited = field(default_factory=Audited)
    matches: int = 0
    secrets: int = 0
    logs: int = 0
    folders: int = 0
    files: int = 0
    leak: str | None = None


Tell = Callable[[int, int], None]
"""Hears how many decisions of how many have been looked at."""


def audit(
    store: Store, size: int, seed: int, worlds: int = WORLDS, tell: Tell = lambda *_: None
) -> Report:
    """Looks at so many decisions of all finished matches, in so many other worlds each, and at
    everything else; StoreError if the file is damaged."""
    going = _Audit(store, Random(seed), worlds)
    with store.snapshot():
        going.decisions(size, tell)
    if going.report.leak is None:
        going.readable()
    return going.report


class _Audit:
    """One audit of a file; `readable` comes after `decisions`, which find more keys."""

    def __init__(self, store: Store, draw: Random, worlds: int) -> None:
        self.report = Report()
        self._store = store
        self._draw = draw
        self._worlds = worlds
        self._secrets = dict(_keys(store))

    def decisions(self, size: int, tell: Tell) -> None:
        """So many of them, until one leaks."""
        wanted = self._wanted(size)
        for match, count in wanted.items():
            record = self._record(match)
            asked = keys(record)
            chosen = sorted(self._draw.sample(range(len(asked)), min(count, len(asked))))
            audited = self.report.audited
            for _ in audit_decisions(
                record, [asked[n] for n in chosen], self._draw, audited, self._worlds
            ):
                tell(audited.decisions, wanted.total())
            if audited.leak is not None:
                self.report.leak = str(audited.leak)
                return

    def _wanted(self, size: int) -> Counter[str]:
        """How many decisions of which matches."""
        rules = self._store.tournament().rules
        a_deal = rules.players * (rules.tricks + (rules.bid_cards > 0))
        played = {f"{each.block}/s{each.seating}": each.deals for each in self._store.played()}
        chosen = sampled([deals * a_deal for deals in played.values()], size, self._draw)
        names = list(played)
        return Counter(names[match] for match, _ in chosen)

    def _record(self, match: str) -> Record:
        kept = self._store.match(*placed(match), open_blocks=True)
        assert kept is not None, "it was there in this snapshot"
        record = record_of(replay_of(self._store, kept))
        self.report.matches += 1
        self._secrets[f"the key of the deals of {match}"] = record.job.deals_key
        return record

    def readable(self) -> None:
        """The commands and the folders of the bots, and what they printed."""
        store, report = self._store, self.report
        needles, report.secrets = Needles(self._secrets), len(self._secrets)
        entrants = store.entrants()
        for entrant in entrants:
            words = "\0".join((entrant.source, *entrant.run)).encode()
            self._look(words, f"the command of {entrant.name}", needles)
        for entrant in entrants:
            source = Path(entrant.source)
            report.folders += not entrant.is_remote and source.exists()
            for path in () if entrant.is_remote else _files(source):
                report.files += 1
                self._look(_read(path), f"{path}, which {entrant.name} can read,", needles)
        for path in _files(store.path.with_name(f"{store.path.stem}-logs")):
            report.logs += 1
            self._look(_read(path), f"{path}, which bots wrote,", needles)

    def _look(self, data: bytes, where: str, needles: Needles) -> None:
        name = next(needles.within(data), None)
        if name is not None:
            self.report.leak = self.report.leak or f"{where} holds {name}"


def _keys(store: Store) -> Iterator[tuple[str, bytes]]:
    yield "the tournament's key", store.master_key()
    for schedule in schedules(store):
        yield f"the key of epoch {schedule.epoch}", schedule.key


def _files(place: Path) -> Iterator[Path]:
    """A file, or those in a folder that may belong to a bot."""
    with suppress(OSError):  # another user's, or gone
        if place.is_file():
            yield place
        elif place.is_dir() and not place.is_symlink():
            for each in sorted(place.iterdir()):
                if each.name not in LEFT_OUT:
                    yield from _files(each)


def _read(path: Path) -> bytes:
    with suppress(OSError):  # another user's, or gone
        if path.stat().st_size <= MOST_BYTES:
            return path.read_bytes()
    return b""
