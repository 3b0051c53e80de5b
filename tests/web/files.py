"""Files that the tests of the pages share: what hostile bots left in them."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

from tests.tournaments.playing import KEY, bots, play_all, tournament
from tournaments.schedule import commitment
from tournaments.store import Store

SCRIPT = "<script>document.title='owned'</script>"
NAMES = (
    SCRIPT,
    '"><img src=x onerror=alert(1)>',
    "{{ 7*7 }}{% raw %}",
    "\x1b[31mred\u202e\n=1+1",
    "eve" * 60,
)


def hostile(path: Path, matches: int, faults: float = 0.02) -> Path:
    """A tournament of bots with such names, so many of its 60 matches played."""
    plan = tournament(max_deals=2)
    schedule = plan.schedule(KEY, range(5))
    field = tuple(replace(bot, name=name) for bot, name in zip(bots(5), NAMES, strict=True))
    with Store.create(path, plan, KEY, field, commitment(schedule, field)) as store:
        for _ in islice(play_all(store, schedule, faults=faults), matches):
            pass
    return path
