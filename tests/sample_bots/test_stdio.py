"""Bots that read and print lines, at real tables: the samples, and one that misbehaves."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import trio

from referee.bots import Prepared, load, prepare
from referee.games.registry import GAMES, make_rules, variants
from referee.match import ClockRules, Fault, FaultKind, FaultRules
from tournaments import quick
from tournaments.runner import Entered

FOLDER = Path(__file__).resolve().parents[2] / "sample_bots"
SAMPLES = ("awk", "perl")
PATIENT = ClockRules(limit=60, bank=60, startup=120)
BROKEN = """
import json, sys, time
for line in sys.stdin:
    decision = json.loads(line).get("decision")
    if decision:
        number, legal = decision["id"], decision["playRequest"]["legal"]
        {fault}
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def samples(cache: Path) -> tuple[Prepared, ...]:
    missing = [name for name in SAMPLES if shutil.which(name) is None]
    assert not missing, f"Debian has {missing} in its base: install it"
    return tuple(prepare(load(str(FOLDER / name)), cache) for name in SAMPLES)


@pytest.mark.parametrize(("game", "variant"), [(g, v) for g in GAMES for v in variants(g)])
def test_they_play_every_variant_without_a_fault(
    samples: tuple[Prepared, ...], game: str, variant: str
) -> None:
    rules = make_rules(game, variant, max_deals=3)
    count = 2 if rules.teams else rules.players
    field = {seat: Entered(f"bot{seat}", samples[seat % 2], None) for seat in range(count)}
    (match,) = trio.run(lambda: quick.play(field, rules, clock=PATIENT))
    assert match.result.faults == ()


@pytest.mark.parametrize("name", SAMPLES)
def test_each_is_a_folder_to_copy(name: str) -> None:
    bot = load(str(FOLDER / name))
    assert (bot.name, bot.transport, bot.language) == (f"starter-{name}", "stdio", name)
    readme = (FOLDER / name / "README.md").read_text()
    assert "```\nknavery build .\nknavery check .\nknavery play .\n```" in readme
    assert all(f"`{path.name}`" in readme for path in (FOLDER / name).glob("[!R]*"))


@pytest.mark.parametrize("name", SAMPLES)
def test_what_its_readme_shows_is_so(name: str) -> None:
    readme = (FOLDER / name / "README.md").read_text()
    shown = next(line for line in readme.splitlines() if line.startswith("Ask it one question"))
    command = next(line for line in readme.splitlines() if line.startswith("echo "))
    done = subprocess.run(
        ["sh", "-c", command], cwd=FOLDER / name, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == json.loads(shown.split("`")[1])


@pytest.mark.parametrize("name", SAMPLES)
def test_what_a_newer_referee_asks_is_answered_with_an_error(name: str) -> None:
    done = subprocess.run(
        load(str(FOLDER / name)).run,
        input='{"decision": {"id": 7, "hand": [1, 2]}}\n{"whatElse": {}}\n',
        cwd=FOLDER / name,
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(done.stdout)
    assert answer["decision"] == 7
    assert "does not know" in answer["error"]


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        ("print(json.dumps({'decision': number}), flush=True)", FaultKind.MALFORMED, ""),
        ("print(json.dumps({'decision': number, 'error': 'no idea'}), flush=True)",
         FaultKind.EXCEPTION, "no idea"),
        ("print(json.dumps({'decision': number, 'cards': {'cards': [legal[0]] * 2}}), flush=True)",
         FaultKind.ILLEGAL, ""),
        ("sys.exit('cannot do this')", FaultKind.CRASHED, "exited with status 1"),
        ("print('x' * 100_000, flush=True)", FaultKind.CRASHED, "a line of over 65,536 bytes"),
        ("print('garbage\\n' * 1000, flush=True)", FaultKind.CRASHED, "flooded the referee"),
        ("[print(json.dumps({'decision': n}), flush=True) for n in range(10**6, 2 * 10**6)]",
         FaultKind.CRASHED, "flooded the referee"),
        ("time.sleep(600)", FaultKind.LATE, ""),
    ],
)  # fmt: skip
def test_its_faults_are_those_of_any_bot(
    tmp_path: Path, samples: tuple[Prepared, ...], fault: str, kind: FaultKind, said: str
) -> None:
    faults = [each for each in played(tmp_path, samples, fault, kind) if each.kind is kind]
    assert faults
    assert any(said in each.detail for each in faults), faults


def played(
    tmp_path: Path, samples: tuple[Prepared, ...], fault: str, kind: FaultKind
) -> list[Fault]:
    """The faults of a bot that does this when it is asked, in a match with two good ones."""
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "bot.toml").write_text('run = ["python", "bot.py"]\ntransport = "stdio"')
    (folder / "bot.py").write_text(BROKEN.format(fault=fault))
    bad = Entered("bad", prepare(load(str(folder)), tmp_path / "cache"), None)
    field = {0: bad, 1: Entered("good", samples[0], None), 2: Entered("fair", samples[1], None)}
    clock = ClockRules(limit=0.5, bank=0, startup=120) if kind is FaultKind.LATE else PATIENT
    rules = make_rules("knave", max_deals=1)
    (match,) = trio.run(
        lambda: quick.play(field, rules, clock=clock, faults=FaultRules(limit=1, restarts=0))
    )
    seat = match.entrants.index(0)
    return [each for each in match.result.faults if each.seat == seat]
