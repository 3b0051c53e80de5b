"""`knavery audit`: a tournament's file gone through for what its bots could have learnt.

Two things are looked at: decisions, drawn by a seed, in other worlds (audit.py); and whatever of it
bots could read or wrote, for the keys that their cards follow from.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from tournaments.audit import WORLDS, Audited, audit_decision, keys, sampled
from tournaments.epochs import schedules
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


def audit(store: Store, size: int, seed: int, worlds: int = WORLDS) -> Report:
    """Looks at so many decisions of all finished matches, in so many other worlds each, and at
    everything else; StoreError if the file is damaged."""
    report = Report()
    draw = Random(seed)
    secrets = dict(_keys(store))
    with store.snapshot():
        _decisions(store, size, draw, worlds, report, secrets)
    report.secrets = len(secrets)
    if report.leak is None:
        _readable(store, _needles(secrets), report)
    return report


def _decisions(
    store: Store, size: int, draw: Random, worlds: int, report: Report, secrets: dict[str, bytes]
) -> None:
    rules = store.tournament().rules
    a_deal = rules.players * (rules.tricks + (rules.bid_cards > 0))
    played = [(f"{each.block}/s{each.seating}", each.deals * a_deal) for each in store.played()]
    chosen = sampled([count for _, count in played], size, draw)
    wanted = Counter(match for match, _ in chosen)
    for number, count in wanted.items():
        kept = store.match(*placed(played[number][0]), open_blocks=True)
        assert kept is not None, "it was there in this snapshot"
        record = record_of(replay_of(store, kept))
        secrets[f"the key of the deals of {kept.id}"] = record.job.deals_key
        asked = keys(record)
        report.matches += 1
        for key in draw.sample(asked, min(count, len(asked))):
            audit_decision(record, key, draw, report.audited, worlds)
            if report.audited.leak is not None:
                report.leak = str(report.audited.leak)
                return


def _keys(store: Store) -> Iterator[tuple[str, bytes]]:
    yield "the tournament's key", store.master_key()
    for schedule in schedules(store):
        yield f"the key of epoch {schedule.epoch}", schedule.key


def _needles(secrets: Mapping[str, bytes]) -> dict[bytes, str]:
    """The ways in which each secret might be written."""
    found: dict[bytes, str] = {}
    for name, secret in secrets.items():
        digits = secret.hex()
        bare = (base64.b64encode(secret), base64.urlsafe_b64encode(secret))
        for written in (secret, digits.encode(), digits.upper().encode(), *bare):
            found[written.rstrip(b"=")] = name
    return found


def _readable(store: Store, needles: Mapping[bytes, str], report: Report) -> None:
    """The commands and the folders of the bots, and what they printed."""
    entrants = store.entrants()
    for entrant in entrants:
        words = "\0".join((entrant.source, *entrant.run)).encode()
        _look(words, f"the command of {entrant.name}", needles, report)
    for entrant in entrants:
        source = Path(entrant.source)
        report.folders += source.exists()
        for path in _files(source):
            report.files += 1
            _look(_read(path), f"{path}, which {entrant.name} can read,", needles, report)
    for path in _files(store.path.with_name(f"{store.path.stem}-logs")):
        report.logs += 1
        _look(_read(path), f"{path}, which bots wrote,", needles, report)


def _look(data: bytes, where: str, needles: Mapping[bytes, str], report: Report) -> None:
    for needle, name in needles.items():
        if needle in data:
            report.leak = report.leak or f"{where} holds {name}"


def _files(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
    elif place.is_dir():
        yield from (path for path in sorted(place.rglob("*")) if path.is_file())


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.stat().st_size <= MOST_BYTES else b""
    except OSError:  # another user's, or gone
        return b""
