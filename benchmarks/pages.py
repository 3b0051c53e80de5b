"""How soon the pages of a tournament of 20,000 deals open in a browser.

`python -m benchmarks.pages`. The file is made without processes: smallest legal cards in every
seat, saved as a run saves them. A page is timed in Chromium from asking for it to its end, the
script that makes it live included; bytes are those of its HTML.
"""

import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from referee.games.registry import make_rules
from referee.games.rules import Rules
from referee.match import Ask, Match, MatchResult
from tournaments.config import EntrantSpec, Tournament
from tournaments.schedule import Entrant, Schedule, Scheduled, commitment, usual_seatings
from tournaments.search import Query, Search
from tournaments.store import Store

DEALS = 20_000
BOTS = 8
SAVED = 60
"""Matches saved at once."""
PATHS = ("/", "/meetings", "/play", "/matches", "/matches?bot=3&fault=any", "/faults", "/bots/3")


def build(path: Path, deals: int = DEALS, rules: Rules | None = None) -> int:
    """A finished tournament, of Knave if no rules are given, with at least so many deals; how many
    it has."""
    rules = rules or make_rules("knave")
    blocks = -(-deals // (rules.max_deals * 6))
    rounds = -(-blocks // 56)  # groups of three among eight
    plan = Tournament(
        name="large",
        rules=rules,
        entrants=tuple(EntrantSpec(f"bot{n}", "random") for n in range(BOTS)),
        rounds=rounds,
        seatings=usual_seatings(rules),
    )
    key = secrets.token_bytes(32)
    schedule = plan.schedule(key, range(BOTS))
    field = tuple(Entrant(f"bot{n}", f"{n:064x}", f"/bots/{n}", ("x",)) for n in range(BOTS))
    count = 0
    with Store.create(path, plan, key, field, commitment(schedule, field)) as store:
        matches = _matches(schedule)
        while some := list(islice(matches, SAVED)):
            done = [(store.start_attempt(each, 0), each, played(each)) for each in some]
            store.save_many(done)
            count += sum(len(result.deals) for _, _, result in done)
    return count


def _matches(schedule: Schedule) -> Iterator[Scheduled]:
    for block in schedule.blocks():
        for seating in range(schedule.generations):
            yield schedule.match(block, seating)


def played(scheduled: Scheduled) -> MatchResult:
    """A match in which every seat plays its smallest legal card."""
    match = Match(scheduled.job)
    outputs = match.start()
    while outputs:
        output = outputs.pop()
        if isinstance(output, Ask):
            outputs += match.answer(output, match.deal.stand_in(output.seat))
    assert match.result is not None
    return match.result


def report() -> None:
    """Build the file, serve it, and time its pages."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("Pages are not timed: there is no chromium")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.knavery"
        deals = build(path)
        with Search.open(path, write=False) as store:
            match = store.page_of_matches(Query(), limit=1).items[0].id
        print(f"Pages of {deals:,} deals ({path.stat().st_size / 1e6:.0f} MB), milliseconds")
        process = subprocess.Popen(
            [sys.executable, "-m", "tournaments.cli", "serve", str(path), "--port", "0"],
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            text=True,
        )
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found is not None
            _time(chromium, found[0], (*PATHS, f"/matches/{match}"))
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()


def _time(chromium: str, url: str, paths: tuple[str, ...]) -> None:
    from playwright.sync_api import sync_playwright

    arguments = ["--headless", "--no-sandbox", "--disable-gpu"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_page()
        page.goto(url)
        for path in paths:
            times = []
            for _ in range(5):
                page.goto(url + path)
                entry = "JSON.stringify(performance.getEntriesByType('navigation')[0])"
                facts = json.loads(page.evaluate(entry))
                times.append(facts["loadEventEnd"])
            size = facts["decodedBodySize"]
            print(f"  {path:<32} {sorted(times)[2]:6.0f}  {size / 1000:6.0f} kB")
        browser.close()


if __name__ == "__main__":
    report()
