"""What a tournament amounts to, said before its bots are even loaded (design, section 8)."""

from referee.house import cores
from tournaments import estimate
from tournaments.config import BALANCED, MANY, ConfigError, Tournament
from tournaments.duration import told
from tournaments.machine import usual_processes
from tournaments.plain import counted
from tournaments.schedule import Schedule

ANY_KEY = bytes(32)
"""No count depends on the key."""


def schedule_of(tournament: Tournament) -> Schedule:
    """A schedule to be counted, not played."""
    return tournament.schedule(ANY_KEY, range(len(tournament.entrants)))


def processes(tournament: Tournament) -> int:
    """How many bot processes may live at once on this machine."""
    if tournament.max_processes is not None:
        return tournament.max_processes
    return max(usual_processes(), tournament.rules.players)


def announcement(
    tournament: Tournament, budget: float | None = None, schedule: Schedule | None = None
) -> str:
    """Groups, matches, process starts, and how long they take, of what is to be played now (if
    `schedule` is None: all of the tournament)."""
    schedule = schedule or schedule_of(tournament)
    counts, rules = schedule.counts(), tournament.rules
    about = f"{tournament.name}: {rules.game} {rules.variant}, {len(tournament.entrants)} bots, "
    if not counts.matches:
        return about + "and nothing is left to be played"
    most = processes(tournament)
    ahead = estimate.before(schedule, cores(), most)
    here = sum(not entrant.remote for entrant in tournament.entrants)
    started = estimate.starts(schedule, cores(), most) * here // len(tournament.entrants)
    return about + (
        f"{counted(counts.groups, 'group')}, {counted(counts.blocks, 'block')}, "
        f"{counts.matches:,} matches, about {started:,} process starts; {ahead}"
        + ("" if budget is None else f", of which {told(budget)} are to be played")
    )


def guard(
    tournament: Tournament, budget: float | None = None, schedule: Schedule | None = None
) -> None:
    """ConfigError if what is to be played now takes more than a day even if its bots are quick."""
    schedule = schedule or schedule_of(tournament)
    most = processes(tournament)
    ahead = estimate.within(estimate.before(schedule, cores(), most), budget)
    if ahead.low <= estimate.LONGEST:
        return
    fits = estimate.blocks_that_fit(schedule, cores(), MANY, most)
    raise ConfigError(
        f"{tournament.name}: {schedule.counts().matches:,} matches take {ahead}: "
        f'write format = "{BALANCED}" and blocks = {fits} (or fewer) in its file, which fits a '
        f"day at best, or confirm with --yes"
    )
