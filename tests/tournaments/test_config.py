import dataclasses
import re
from pathlib import Path

import pytest

from referee.games.registry import GAMES, make_rules
from referee.match import ClockRules, FaultRules
from tournaments import config
from tournaments.config import (
    ConfigError,
    EntrantSpec,
    Tournament,
    from_plain,
    load,
    parse,
    to_plain,
)
from tournaments.schedule import Seatings
from tournaments.toml_table import key_lines

EXAMPLE = Path(__file__).parents[2] / "docs" / "tournament.toml"
KNAVE = '[tournament]\ngame = "knave"\n'
THREE = 'entrants = ["a=./a", "b=./b", "c=./c"]\n'


def line_of(text: str, folder: Path = Path("cups")) -> str:
    """The error that a file gives, which must be one line."""
    with pytest.raises(ConfigError) as caught:
        parse(text, folder / "friday.toml")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_example_loads_and_states_the_defaults() -> None:
    least = parse(
        'entrants = ["alice=random", "bob=greedy", "cautious"]\n' + KNAVE,
        EXAMPLE.parent / "tournament.toml",
    )
    example = load(EXAMPLE)
    assert example.clock == ClockRules(hang=ClockRules().hang_limit)
    assert dataclasses.replace(example, clock=least.clock) == least


def test_the_example_has_every_key() -> None:
    text = re.sub(r"(?m)^# (?=(key|blocks) = )", "", EXAMPLE.read_text())
    for table, keys in config.KEYS.items():
        place = (table, "0") if table == "entrants" else (table,)
        lines = key_lines(text)
        assert place in lines
        assert [key for key in keys if (*place, key) not in lines] == []
    balanced = text.replace('"round-robin"\n', '"balanced"\n').replace("\nrounds = 1\n", "\n")
    tournament = parse(balanced, EXAMPLE)
    assert tournament.key == bytes.fromhex("00112233445566778899aabbccddeeff" * 2)
    assert (tournament.format, tournament.blocks) == ("balanced", 400)


@pytest.mark.parametrize("game", GAMES)
def test_the_example_names_every_rule(game: str) -> None:
    comments = " ".join(line[1:] for line in EXAMPLE.read_text().splitlines() if line[:1] == "#")
    for field in dataclasses.fields(make_rules(game)):
        if field.name != "variant":
            assert re.search(rf"\b{field.name} = ", comments), field.name


def test_a_file_may_leave_out_all_but_game_and_entrants() -> None:
    tournament = parse(THREE + KNAVE, Path("/cups/friday.toml"))
    assert tournament == Tournament(
        name="friday",
        rules=make_rules("knave"),
        entrants=tuple(EntrantSpec(name, f"/cups/{name}") for name in "abc"),
        format="round-robin",
        rounds=1,
        seatings=Seatings.ALL,
        tables=None,
        max_processes=None,
        key=None,
        clock=ClockRules(),
        faults=FaultRules(),
    )


def test_every_key_is_read() -> None:
    text = """
        [tournament]
        name = "Friday night"
        game = "ninety-nine"
        variant = "short+revelation"
        rules = { ranks = "6789TJQKA", bid_values = [3, 0, 2, 1] }
        rounds = 4
        seatings = "cyclic"
        tables = 64
        key = "0123456789abcdef0123456789ABCDEF0123456789abcdef0123456789abcdef"
        [clock]
        decision = 1
        bank = 0
        increment = 0.25
        startup = 60
        hang = 3
        measure = "wall"
        strict = true
        [faults]
        policy = "stand-in"
        limit = 0
        restarts = 1
        backoff = 2.5
        [[entrants]]
        path = "../bots/a"
        [[entrants]]
        name = "Zoë"
        path = "bot.py"
        [[entrants]]
        path = "random"
        remote = false
        [[entrants]]
        name = "far away"
        remote = true
    """
    tournament = parse(text, Path("/cups/x.toml"))
    assert tournament.name == "Friday night"
    assert tournament.rules == make_rules(
        "ninety-nine", "revelation+short", ranks=(4, 5, 6, 7, 8, 9, 10, 11, 12)
    )
    assert (tournament.rounds, tournament.seatings, tournament.tables) == (4, Seatings.CYCLIC, 64)
    assert tournament.key == bytes.fromhex("0123456789abcdef" * 4)
    assert tournament.clock == ClockRules(1.0, 0.0, 0.25, 60.0, "wall", True, 3.0)
    assert tournament.faults == FaultRules(0, 1, "stand-in", 2.5)
    assert tournament.entrants == (
        EntrantSpec(None, "/bots/a"),
        EntrantSpec("Zoë", "/cups/bot.py"),
        EntrantSpec(None, "random"),
        EntrantSpec("far away", "", remote=True),
    )


def test_processor_time_may_be_measured_and_pondering_allowed() -> None:
    text = THREE + KNAVE + '[clock]\nmeasure = "cpu"\ndecision = 0.05\nponder = true\n'
    tournament = parse(text, Path("x.toml"))
    assert tournament.clock == ClockRules(limit=0.05, measure="cpu", ponder=True)
    assert from_plain(to_plain(tournament)) == tournament
    assert "ponder" not in to_plain(parse(THREE + KNAVE, Path("x.toml")))["clock"]


@pytest.mark.parametrize(
    ("game", "variant", "seatings"),
    [
        ("knave", "classic", Seatings.ALL),
        ("knave", "four", Seatings.CYCLIC),
        ("ninety-nine", "partnership", Seatings.TEAMS),
    ],
)
def test_the_usual_seatings_follow_from_the_game(
    game: str, variant: str, seatings: Seatings
) -> None:
    text = f'entrants = ["a=./a", "b=./b", "c=./c", "d=./d"]\n[tournament]\ngame = "{game}"\n'
    assert parse(f'{text}variant = "{variant}"\n', Path("x.toml")).seatings == seatings


def test_a_bare_word_is_a_shipped_bot_unless_it_stands_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    text = 'entrants = ["mine", "lowest", "old=random"]\n' + KNAVE
    (tmp_path / "x.toml").write_text(text)
    assert load(tmp_path / "x.toml").entrants == (
        EntrantSpec(None, str(tmp_path / "mine")),
        EntrantSpec(None, "lowest"),
        EntrantSpec("old", "random"),
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            THREE + KNAVE + "[clock]\ndecison = 2\n",
            'cups/friday.toml:5: clock.decison: there is no such key: did you mean "decision"?',
        ),
        (
            "rounds = 2\n" + KNAVE,
            "cups/friday.toml:1: rounds: there is no such key: it belongs under [tournament]",
        ),
        (
            KNAVE + THREE,
            "cups/friday.toml:3: tournament.entrants: there is no such key: "
            "write it above the first [table], or as a table of its own",
        ),
        (
            KNAVE + "\n\nrounds = 0",
            "cups/friday.toml:5: tournament.rounds: must be a whole number from 1 to 1000000, "
            "not 0",
        ),
        (
            KNAVE + "rounds = true",
            "cups/friday.toml:3: tournament.rounds: must be a whole number from 1 to 1000000, "
            "not true",
        ),
        (
            KNAVE + "max_processes = 2",
            "cups/friday.toml:3: tournament.max_processes: must be a whole number from 3 to 4096 "
            'or "auto": a table needs 3 processes, not 2',
        ),
        (
            KNAVE + 'tables = "many"',
            "cups/friday.toml:3: tournament.tables: must be a whole number from 1 to 4096 or "
            "\"auto\", not 'many'",
        ),
        (
            KNAVE + 'seatings = "teams"',
            'cups/friday.toml:3: tournament.seatings: must be "all" or "cyclic", not \'teams\'',
        ),
        (
            KNAVE + 'format = "swiss"',
            "cups/friday.toml:3: tournament.format: must be \"round-robin\" or \"balanced\", not "
            "'swiss'",
        ),
        (
            KNAVE + 'format = "balanced"',
            'cups/friday.toml:1: tournament.blocks: is missing: format = "balanced" needs '
            "blocks = N",
        ),
        (
            KNAVE + 'format = "balanced"\nrounds = 2\nblocks = 9',
            'cups/friday.toml:4: tournament.rounds: belongs to format = "round-robin": with '
            '"balanced" write blocks = N',
        ),
        (
            KNAVE + "blocks = 9",
            'cups/friday.toml:3: tournament.blocks: belongs to format = "balanced": with '
            '"round-robin" write rounds = N',
        ),
        (
            'entrants = ["a=./a", "b=./b", "c=./c", "d=./d"]\n'
            + KNAVE
            + 'format = "balanced"\nblocks = 1',
            "cups/friday.toml:5: tournament.blocks: must be a whole number from 2 to 1000000, so "
            "that everybody plays, not 1",
        ),
        (
            KNAVE + 'key = "abc"',
            "cups/friday.toml:3: tournament.key: must be 64 hexadecimal digits: leave it out to "
            "have one drawn",
        ),
        (
            KNAVE + 'name = "a/b"',
            "cups/friday.toml:3: tournament.name: a name is 1 to 60 printable characters, none of "
            "them \"/\" or \"=\", not 'a/b'",
        ),
        (
            KNAVE + "[clock]\ndecision = 0.3",
            "cups/friday.toml:4: clock.decision: must be a number of seconds from 0.5 to 86400 "
            "(a clock on the wall cannot judge less), not 0.3",
        ),
        (
            KNAVE + "[clock]\nbank = nan",
            "cups/friday.toml:4: clock.bank: must be a number of seconds from 0 to 86400, not nan",
        ),
        (
            KNAVE + '[clock]\nmeasure = "sun"',
            'cups/friday.toml:4: clock.measure: must be "wall" or "cpu", not ' "'sun'",
        ),
        (
            KNAVE + '[clock]\nmeasure = "cpu"\ndecision = 0.04',
            "cups/friday.toml:5: clock.decision: must be a number of seconds from 0.05 to 86400 "
            "(a clock of processor time cannot judge less), not 0.04",
        ),
        (
            KNAVE + "[clock]\nstrict = 1",
            "cups/friday.toml:4: clock.strict: must be true or false, not 1",
        ),
        (
            KNAVE + '[faults]\npolicy = "forfeit-at-once"\nlimit = 3',
            'cups/friday.toml:5: faults.limit: belongs to policy = "stand-in": with '
            '"forfeit-at-once" leave it out',
        ),
        (
            KNAVE + "[faults]\nbackoff = 60",
            "cups/friday.toml:4: faults.backoff: must be a number of seconds from 0 to 10, not 60",
        ),
        (
            KNAVE + 'rules = "none"',
            "cups/friday.toml:3: tournament.rules: must be a table, as in rules = "
            "{ max_deals = 12 }",
        ),
        (
            KNAVE,
            "cups/friday.toml: entrants: a table needs at least 3 and here are 0: enter more",
        ),
        (
            "entrants = 3\n" + KNAVE,
            'cups/friday.toml:1: entrants: must be a list: entrants = ["...", ...], or '
            "[[entrants]] each",
        ),
        (
            'entrants = ["a=x", "b=y", "a=z"]\n' + KNAVE,
            'cups/friday.toml:1: entrants[2]: "a" is entered twice: give one of them a name of '
            "its own",
        ),
        (
            'entrants = ["a=x", "b=y", "c="]\n' + KNAVE,
            "cups/friday.toml:1: entrants[2]: 'c=' names no bot: write \"name=path\", a path, or "
            "a shipped bot",
        ),
        (
            KNAVE + '[[entrants]]\nname = "a"\npath = "./a"\n[[entrants]]\nname = "b"\n' * 2,
            "cups/friday.toml:6: entrants[1].path: is missing: write path = \"...\" under "
            "[[entrants]]",
        ),
        (
            KNAVE + '[[entrants]]\nname = "a"\npath = "./a"\nremote = true\n' * 3,
            "cups/friday.toml:5: entrants[0].path: a remote bot has none: its author starts it "
            "elsewhere",
        ),
        (
            'entrants = ["a", "b", {name = "c", remote = true}]\n'
            + KNAVE
            + '[clock]\nmeasure = "cpu"\n',
            'cups/friday.toml:5: clock.measure: must be "wall" with a remote entrant (c), whose '
            "processor nobody sees",
        ),
        (
            KNAVE + '[[entrants]]\nremote = true\n' * 3,
            "cups/friday.toml:3: entrants[0].name: is missing: write name = \"...\" under "
            "[[entrants]]",
        ),
        (
            "clock = 3\n" + KNAVE,
            "cups/friday.toml:1: clock: must be a table: write [clock] on a line before it",
        ),
        (
            "[tournament]\ngame = knave\n",
            "cups/friday.toml:2: is not TOML: invalid value",
        ),
        ("[tournament]\nrounds = 3\n", "cups/friday.toml:1: tournament.game: is missing: write "
            'game = "..." under [tournament]'),
    ],
)  # fmt: skip
def test_an_error_says_where_what_and_the_mend(text: str, line: str) -> None:
    assert line_of(text) == line


@pytest.mark.parametrize(
    ("text", "start", "mend"),
    [
        ('game = "nave"', "cups/friday.toml:2: tournament.game: ", "'knave'"),
        (
            'game = "knave"\nvariant = "duoble"',
            "cups/friday.toml:3: tournament.variant: ",
            "'double'",
        ),
        (
            'game = "knave"\nrules = { max_deal = 3 }',
            "cups/friday.toml:3: tournament.rules.max_deal: ",
            "'max_deals'",
        ),
        (
            'game = "knave"\n[tournament.rules]\n# a comment\njacks = [1]',
            "cups/friday.toml:5: tournament.rules.jacks: ",
            "four whole numbers",
        ),
    ],
)
def test_an_error_in_the_rules_names_its_key(text: str, start: str, mend: str) -> None:
    line = line_of("[tournament]\n" + text)
    assert line.startswith(start)
    assert mend in line


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml: cannot be read: No such file"):
        load(tmp_path / "gone.toml")
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(ConfigError, match=r"latin\.toml: is not text in UTF-8"):
        load(tmp_path / "latin.toml")


def test_lines_are_found_in_every_way_of_writing_a_key() -> None:
    text = "a.b = 1\n[c]\n'd' = 2\n\"e f\".g = 3\n[[h]]\ni = 4\n[[h]]\ni = 5 # [j]\n[k.l]\nm=6"
    assert key_lines(text) == {
        ("a", "b"): 1,
        ("c",): 2,
        ("c", "d"): 3,
        ("c", "e f", "g"): 4,
        ("h", "0"): 5,
        ("h", "0", "i"): 6,
        ("h", "1"): 7,
        ("h", "1", "i"): 8,
        ("k", "l"): 9,
        ("k", "l", "m"): 10,
    }


def test_plain_values_give_the_tournament_again_without_its_key() -> None:
    tournament = load(EXAMPLE)
    keyed = dataclasses.replace(tournament, key=bytes(32), tables=9)
    balanced = dataclasses.replace(tournament, format="balanced", blocks=7)
    assert config.from_plain(config.to_plain(balanced)) == balanced
    assert config.from_plain(config.to_plain(keyed)) == dataclasses.replace(keyed, key=None)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cup.knavery", "is a tournament's results, no configuration: `knavery resume "),
        ("ann.py", "is a bot, no configuration: `knavery play "),
    ],
)
def test_a_file_of_another_kind_is_sent_to_its_command(
    tmp_path: Path, name: str, words: str
) -> None:
    (tmp_path / name).write_bytes(b"\xff")
    with pytest.raises(ConfigError) as error:
        load(tmp_path / name)
    assert str(error.value) == f"{tmp_path / name}: {words}{tmp_path / name}`"
