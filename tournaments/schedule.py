"""What is played: groups, blocks, waves, and the match of each seating (design, section 4).

Pure and lazy: everything follows from a `Schedule`, and a field of 120 entrants costs nothing
until its blocks are asked for. Nothing here is drawn: whatever looks random is keyed.
"""

import enum
import hashlib
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as default
from functools import lru_cache

from referee.games.rules import Rules
from referee.games.shuffle import Stream, derive, seed64
from referee.match import ClockRules, FaultRules, MatchJob
from tournaments import balance
from tournaments.plain import canonical, rules_to_plain, settings

Group = tuple[int, ...]
"""The indices of the entrants at one table, ascending."""

REMOTE = "remote"
"""What stands for the version of an entrant that its author runs, whose sources nobody sees."""


class Seatings(enum.StrEnum):
    """Which seatings a block has."""

    ALL = "all"
    """Every order of the group: n! seatings."""
    CYCLIC = "cyclic"
    """The n turns of one circular order; each block of a group has the next such order."""
    TEAMS = "teams"
    """Two entrants in partners' seats, and again with the seats exchanged."""


def group_size(rules: Rules) -> int:
    """Entrants at a table."""
    return 2 if rules.teams else rules.players


def generations(rules: Rules, seatings: Seatings) -> int:
    """Seatings of a block, and so generations of processes in a wave."""
    size = group_size(rules)
    return math.factorial(size) if seatings == Seatings.ALL else size


def usual_seatings(rules: Rules) -> Seatings:
    """The seatings of a tournament that does not say."""
    if rules.teams:
        return Seatings.TEAMS
    return Seatings.ALL if rules.players == 3 else Seatings.CYCLIC


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot entered in a tournament; `version` is the hash (hex) of its sources, or `REMOTE`.

    `source` is where they came from and `run` the command that starts it, for people and for
    starting it again."""

    name: str
    version: str
    source: str = ""
    run: tuple[str, ...] = ()

    @property
    def is_remote(self) -> bool:
        """Whether its author starts it, somewhere else."""
        return self.version == REMOTE


def remote_of(entrants: Sequence[Entrant]) -> frozenset[int]:
    """The indices of those of them that are remote."""
    return frozenset(n for n, entrant in enumerate(entrants) if entrant.is_remote)


@dataclass(frozen=True, slots=True)
class Block:
    """One sequence of deals for one group, to be played under each seating.

    `group` holds indices of entrants, ascending; `number` counts the group's blocks."""

    epoch: int
    group: Group
    number: int

    @property
    def id(self) -> str:
        """The block's name, as in "e0/g0-3-5/b2"."""
        return f"e{self.epoch}/g{self.group_name}/b{self.number}"

    @property
    def group_name(self) -> str:
        """The group as names hold it: "0-3-5"."""
        return "-".join(map(str, self.group))


@dataclass(frozen=True, slots=True)
class Seat:
    """Who sits in a seat: an entrant's index, and in a team which of its members."""

    entrant: int
    member: int = 0


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A match with its place in the tournament, which no bot is told.

    `seating` says which of the block's seatings it is, `generation` which generation of
    processes plays it; `seats` is by seat; `deals_id` names the deals for the ledger. With a
    remote entrant, which may remember, they are the deals of one `attempt` at this match alone;
    else `attempt` is None."""

    job: MatchJob
    block: Block
    seating: int
    generation: int
    seats: tuple[Seat, ...]
    deals_id: str
    attempt: int | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """How large a schedule is. `groups` is the most that meet, `processes` what a generation needs
    if everybody plays in it, and `deals` is the most that can be played."""

    groups: int
    blocks: int
    matches: int
    processes: int
    deals: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """What is played in one epoch: whatever each group still lacks of `rounds` blocks, or where
    `total` is given what is lacking of so many blocks, spread evenly over the field.

    `entrants` are the indices of those who play, `key` is the epoch's (32 bytes). `done` counts
    the blocks that groups of these entrants completed in earlier epochs. `only` limits what is
    played to these blocks of the epoch. `remote` are those entrants that the referee does not
    start: no deal is dealt twice where one of them sits."""

    rules: Rules
    entrants: tuple[int, ...]
    key: bytes
    epoch: int = 0
    rounds: int = 1
    total: int | None = None
    seatings: Seatings
    clock: ClockRules
    faults: FaultRules
    done: Mapping[Group, int] = default(default_factory=dict)
    only: tuple[Block, ...] | None = None
    remote: frozenset[int] = frozenset()

    def limited(self, blocks: Iterable[Block]) -> "Schedule":
        """The part of this schedule that plays these of its blocks."""
        return replace(self, only=tuple(blocks))

    @property
    def group_size(self) -> int:
        """Entrants at a table."""
        return group_size(self.rules)

    @property
    def members(self) -> int:
        """Seats, and so processes, of an entrant at a table."""
        return self.rules.players // self.group_size

    @property
    def generations(self) -> int:
        """Seatings of a block, and so generations of processes in a wave."""
        return generations(self.rules, self.seatings)

    def counts(self) -> Counts:
        """The schedule's size, reckoned without going through it."""
        field = len(self.entrants)
        groups, blocks = self._groups_and_blocks()
        matches = blocks * self.generations
        playing = min(field, blocks * self.group_size)
        return Counts(
            groups=groups,
            blocks=blocks,
            matches=matches,
            processes=playing * self.members,
            deals=matches * self.rules.max_deals,
        )

    def _groups_and_blocks(self) -> tuple[int, int]:
        """How many groups meet, at most, and how many blocks there are."""
        if self.only is not None:
            return len({block.group for block in self.only}), len(self.only)
        every = math.comb(len(self.entrants), self.group_size)
        if self.total is not None:
            blocks = self._lacking(self.total) if every else 0
            return min(every, blocks), blocks
        ready = sum(times >= self.rounds for times in self.done.values())
        done = sum(min(times, self.rounds) for times in self.done.values())
        return every - ready, every * self.rounds - done

    def _lacking(self, total: int) -> int:
        """How many blocks to spread, so that all are played and everybody has played the share
        that falls to each of a field of this size."""
        share = total * self.group_size // len(self.entrants)
        behind = [max(0, share - times) for times in self.load().values()]
        seats = -(-sum(behind) // self.group_size)
        return max(0, total - sum(self.done.values()), seats, *behind)

    def load(self) -> Counter[int]:
        """How many blocks each entrant completed in earlier epochs."""
        load = Counter(dict.fromkeys(self.entrants, 0))
        for group, times in self.done.items():
            load.update(dict.fromkeys(group, times))
        return load

    def blocks(self) -> Iterator[Block]:
        """Every block: round by round, or so that after each everybody has played as often as
        anybody else, give or take one, as far as that can be after earlier epochs. A group's
        blocks are numbered on from those of earlier epochs."""
        if self.only is not None:
            yield from self.only
            return
        if self.total is not None:
            yield from self._spread(self._groups_and_blocks()[1])
            return
        for number in range(self.rounds):
            for group in self._groups(number):
                if number >= self.done.get(group, 0):
                    yield Block(self.epoch, group, number)

    def generation(
        self,
        wave: Sequence[Block],
        generation: int,
        begun: Callable[[Block, int], int] = lambda *_: 0,
    ) -> Iterator[Scheduled]:
        """The matches that one generation plays of these blocks, in an order that tells nothing.

        `begun` says how often a block's match under a seating was begun before."""
        ids = ",".join(block.id for block in wave)
        for block in self._stream("order", generation, ids).shuffled(wave):
            seating = self.allotment(block)[generation]
            yield self.match(block, seating, begun(block, seating))

    def matches(self, block: Block) -> tuple[Scheduled, ...]:
        """A block's matches, in order of seatings."""
        return tuple(self.match(block, seating) for seating in range(self.generations))

    def match(self, block: Block, seating: int, attempt: int = 0) -> Scheduled:
        """The match of one seating of a block; `attempt` counts how often it was begun before."""
        name = f"{block.id}/s{seating}"
        own = self.has_remote(block)
        job = MatchJob(
            id=name,
            public_id=derive(self.key, "match", name)[:8].hex(),
            rules=self.rules,
            deals_key=self.deals_key(block, seating, attempt),
            seeds=tuple(seed64(self.key, "seed", name, n) for n in range(self.rules.players)),
            clock=self.clock,
            faults=self.faults,
        )
        return Scheduled(
            job=job,
            block=block,
            seating=seating,
            generation=self.allotment(block).index(seating),
            seats=self.seats(block, seating),
            deals_id=f"{name}/a{attempt}" if own else block.id,
            attempt=attempt if own else None,
        )

    def has_remote(self, block: Block) -> bool:
        """Whether somebody sits at a block's table who may have seen what was dealt before."""
        return not self.remote.isdisjoint(block.group)

    def deals_key(self, block: Block, seating: int, attempt: int) -> bytes:
        """The key of a block's deals: the same under every seating, and for no other block. With
        a remote entrant it is for one attempt at one seating, and for no other."""
        place = (block.group_name, block.number)
        if self.has_remote(block):
            return derive(self.key, "own deals", *place, seating, attempt)
        return derive(self.key, "deals", *place)

    def allotment(self, block: Block) -> tuple[int, ...]:
        """Which seating each generation plays, drawn for each block."""
        return tuple(self._stream("generations", block.id).shuffled(range(self.generations)))

    def seats(self, block: Block, seating: int) -> tuple[Seat, ...]:
        """Who sits where under a seating."""
        group = block.group
        if self.seatings == Seatings.TEAMS:
            teams = group if seating == 0 else group[::-1]
            return tuple(Seat(teams[n % 2], n // 2) for n in range(self.rules.players))
        if self.seatings == Seatings.ALL:
            order = _orders(len(group))[seating]
        else:
            order = self._circle(block)
            order = order[seating:] + order[:seating]
        return tuple(Seat(group[place]) for place in order)

    def _circle(self, block: Block) -> tuple[int, ...]:
        """A block's circular order: the next one each block, from one drawn for the group."""
        circles = [order for order in _orders(len(block.group)) if order[0] == 0]
        first = self._stream("circle", block.group_name).below(len(circles))
        return circles[(first + block.number) % len(circles)]

    def _groups(self, number: int) -> Iterator[tuple[int, ...]]:
        """Every group once, so that everybody plays about equally often at any moment.

        The entrants stand around a circle, in an order drawn anew each round; turning a group
        all the way round the circle seats everybody equally often.
        """
        field = len(self.entrants)
        circle = self._stream("field", number).shuffled(self.entrants)
        for shape, turns in self._stream("shapes", number).shuffled(
            _shapes(field, self.group_size)
        ):
            for turn in range(turns):
                yield tuple(sorted(circle[(place + turn) % field] for place in shape))

    def _spread(self, total: int) -> Iterator[Block]:
        """So many blocks, spread evenly; the same group may come again."""
        field = len(self.entrants)
        place = {entrant: n for n, entrant in enumerate(self.entrants)}
        times = Counter(self.done)
        groups = balance.groups(
            field,
            self.group_size,
            lambda lap: self._stream("lap", lap).shuffled(range(field)),
            {tuple(place[n] for n in group): count for group, count in self.done.items()},
        )
        for places in itertools.islice(groups, total):
            group = tuple(sorted(self.entrants[place] for place in places))
            yield Block(self.epoch, group, times[group])
            times[group] += 1

    def _stream(self, *parts: str | int) -> Stream:
        return Stream(derive(self.key, *parts), b"schedule")


@lru_cache
def _orders(size: int) -> tuple[tuple[int, ...], ...]:
    return tuple(itertools.permutations(range(size)))


@lru_cache
def _shapes(field: int, size: int) -> tuple[tuple[tuple[int, ...], int], ...]:
    """The groups on a circle that are not turns of one another, each with how many turns it has."""
    shapes = []
    for cuts in itertools.combinations(range(1, field), size - 1):
        if cuts[0] * size > field:
            break  # in no turn of these is the first gap the smallest
        gaps = [after - before for before, after in itertools.pairwise((0, *cuts, field))]
        turned = [gaps[n:] + gaps[:n] for n in range(size)]
        if gaps == min(turned):
            shapes.append(((0, *cuts), field // turned.count(gaps)))
    return tuple(shapes)


def commitment(schedule: Schedule, entrants: Sequence[Entrant]) -> str:
    """The SHA-256 (hex) that binds an epoch before its first deal: its key, and all else that
    its schedule follows from. `entrants` is the tournament's whole list, which indices refer to.
    """
    inputs: dict[str, object] = {
        "format": "knavery.commitment/1",
        "key": schedule.key.hex(),
        "epoch": schedule.epoch,
        "rules": rules_to_plain(schedule.rules),
        "rounds": schedule.rounds,
        "seatings": schedule.seatings,
        "clock": settings(schedule.clock),
        "faults": settings(schedule.faults),
        "entrants": [(n, entrants[n].name, entrants[n].version) for n in schedule.entrants],
    }
    if schedule.total is not None:
        inputs["total"] = schedule.total
    if remote := schedule.remote.intersection(schedule.entrants):
        inputs["remote"] = sorted(remote)
    if schedule.done:
        inputs["done"] = sorted(schedule.done.items())
    return hashlib.sha256(canonical(inputs).encode()).hexdigest()
