"""Remote entrants, over TCP and TLS, with real processes on both sides."""

import json
import re
import socket
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
import trustme

from knavery.addresses import is_local
from tests.tournaments.operator import BOT, Operator, ended, start
from tests.tournaments.playing import tournament
from tournaments import reception
from tournaments.cli import main
from tournaments.config import ConfigError
from tournaments.reception import Listening, listening
from tournaments.schedule import Entrant, Seat
from tournaments.store import Store
from tournaments.verify import verify

ROOT = Path(__file__).parents[2]

CUP = """
[tournament]
game = "knave"
rules = {{ max_deals = {deals} }}
seatings = "cyclic"
[clock]
decision = {decision}
bank = {bank}
hang = 60
startup = {startup}
[faults]
restarts = 2
[[entrants]]
path = "lowest"
[[entrants]]
path = "highest"
[[entrants]]
name = "far away"
remote = true
"""


def cup(
    folder: Path, deals: int = 1, startup: float = 60, decision: float = 30, bank: float = 10
) -> Path:
    path = folder / "cup.toml"
    path.write_text(CUP.format(deals=deals, startup=startup, decision=decision, bank=bank))
    return path


def faults(path: Path) -> Counter[str]:
    with closing(sqlite3.connect(path)) as db:
        return Counter(kind for (kind,) in db.execute("SELECT kind FROM faults"))


def proves(path: Path) -> None:
    """All is played, verified, and no deal came twice to anybody."""
    with Store.open(path, write=False) as store:
        report = verify(store)
        assert (report.problem, report.missing) == (None, 0)
        met = Counter(
            (process.entrant, process.member, deals)
            for process in store.processes()
            for deals in process.deals
        )
        assert {deals.count("/a") for *_, deals in met} == {1}
    with closing(sqlite3.connect(path)) as db:
        restarts = db.execute("SELECT count(*) FROM processes WHERE restart > 0").fetchone()[0]
    assert sum(times - 1 for times in met.values()) <= restarts


def test_a_tournament_over_tls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before its program comes, others try; then all is played, and the file tells no token."""
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_and_cert_chain_pem.write_to_path(tmp_path / "both.pem")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    trustme.CA().cert_pem.write_to_path(tmp_path / "other.pem")
    pair = ("--tls-certificate", tmp_path / "both.pem", "--tls-key", tmp_path / "both.pem")
    output = tmp_path / "cup.knavery"
    with Operator("run", cup(tmp_path), "--listen", "127.0.0.1:0", *pair) as operator:
        secret = operator.variables() | {"KNAVERY_TLS_CA": str(tmp_path / "ca.pem")}
        token = secret["KNAVERY_TOKEN"]
        assert "far away" in operator.until("awaiting")

        tries = [
            (secret | {"KNAVERY_TOKEN": token[:-1] + "."}, "The token is wrong"),
            (secret | {"KNAVERY_TLS_CA": ""}, "no referee at"),
            (secret | {"KNAVERY_TLS_CA": str(tmp_path / "other.pem")}, "no referee at"),
            (secret | {"KNAVERY_TLS_CA": "/nowhere/ca.pem"}, "KNAVERY_TLS_CA: /nowhere/ca.pem"),
        ]
        for status, err in [ended(each) for each in [start(variables) for variables, _ in tries]]:
            assert (status, err.count("\n")) == (1, 1)
            assert any(words in err for _, words in tries)

        bot = start(secret)
        operator.until("far away is here")
        status, err = ended(start(secret))
        assert (status, "This token is in use" in err) == (1, True)
        assert operator.end()[0] == 0
        assert ended(bot) == (0, "")
    proves(output)
    assert faults(output) == {}
    assert main(["export", str(output), "--replays"]) == 0
    shown = capsys.readouterr().out
    assert {json.loads(line)["deal"] for line in shown.splitlines()} == {0}
    assert token not in shown
    assert token.encode() not in output.read_bytes()


def test_a_program_that_comes_back_goes_on(tmp_path: Path) -> None:
    """It dies in the middle of two deals, and another process of it takes its place each time: no
    decision is lost, for it comes in time."""
    output = tmp_path / "cup.knavery"
    with Operator("run", cup(tmp_path, deals=2), "--listen", "127.0.0.1:0") as operator:
        secret = operator.variables()
        for number in ("7", "11"):
            assert ended(start(secret, number))[0] == 9
            operator.until("far away has lost its connection (the bot's stream ended); it has 60 s")
        bot = start(secret)
        assert operator.end()[0] == 0
        assert ended(bot) == (0, "")
        assert sum("is back" in line for line in operator.lines) == 2
    proves(output)
    assert faults(output) == {}


TEAMS = """
[tournament]
game = "ninety-nine"
variant = "partnership"
rules = { max_deals = 1 }
[clock]
decision = 30
startup = 60
[[entrants]]
name = "near"
remote = true
[[entrants]]
name = "far"
remote = true
"""


def test_two_remote_teams_meet_and_each_program_has_a_token_of_its_own(tmp_path: Path) -> None:
    """Four programs at one table, in both seatings; one of them dies, and it is said which."""
    path = tmp_path / "teams.toml"
    path.write_text(TEAMS)
    names = ["near (1 of 2)", "near (2 of 2)", "far (1 of 2)", "far (2 of 2)"]
    with Operator("run", path, "--listen", "127.0.0.1:0") as operator:
        secrets = [operator.variables() for _ in names]
        assert [line.split(" is remote")[0] for line in operator.lines[::2]] == names
        assert len({secret["KNAVERY_TOKEN"] for secret in secrets}) == 4
        dying = start(secrets[2], "3")
        bots = [start(secrets[n]) for n in (0, 1, 3)]
        assert ended(dying)[0] == 9
        operator.until("far (1 of 2) has lost its connection")
        bots.append(start(secrets[2]))
        operator.until("far (1 of 2) is back")
        assert operator.end()[0] == 0
        assert [ended(bot) for bot in bots] == [(0, "")] * 4
    output = tmp_path / "teams.knavery"
    proves(output)
    assert faults(output) == {}
    with Store.open(output, write=False) as store:
        assert store.tally().finished == 2
        lives = Counter((each.entrant, each.member) for each in store.processes())
        assert set(lives) == {(0, 0), (0, 1), (1, 0), (1, 1)}
        assert set(lives.values()) == {2}, "one in each generation, lost connections or not"


def test_its_time_runs_on_while_it_is_away(tmp_path: Path) -> None:
    """What is open is late and no crash; the third time that it leaves a generation it is out."""
    output = tmp_path / "cup.knavery"
    path = cup(tmp_path, decision=3, bank=0)
    with Operator("run", path, "--listen", "127.0.0.1:0") as operator:
        secret = operator.variables()
        assert ended(start(secret, "5"))[0] == 9
        operator.until("has lost its connection")
        time.sleep(4)
        for number in ("2", "3"):
            assert ended(start(secret, number))[0] == 9
        forfeit = "far away forfeits the rest of its matches in this wave: "
        assert "lost its connection 3 times in a generation" in operator.until(forfeit)
        bot = start(secret)
        assert operator.end()[0] == 0
        assert ended(bot) == (0, "")
    proves(output)
    found = faults(output)
    assert set(found) == {"late", "crashed", "absent"}
    assert (found["crashed"], found["absent"]) == (1, 1)


def test_one_that_never_comes_forfeits_and_is_suspended(tmp_path: Path) -> None:
    output = tmp_path / "cup.knavery"
    path = cup(tmp_path, startup=4)
    with Operator("run", path, "--listen", "127.0.0.1:0", "--wait", "1s") as operator:
        assert "1 s" in operator.until("has not connected within")
        assert operator.end()[0] == 0
    text = "\n".join(operator.lines)
    assert (
        "far away forfeits the rest of its matches in this wave: did not connect within 4 s" in text
    )
    assert "far away is suspended" in text
    proves(output)
    assert faults(output) == {"absent": 3}


def test_a_stopped_tournament_goes_on_with_the_same_token(tmp_path: Path) -> None:
    """What had begun is dealt anew; the program stays, and finds the referee again by itself."""
    output = tmp_path / "cup.knavery"
    slow = "import time; time.sleep(0.02)\n        return min(view.legal)"
    with Operator("run", cup(tmp_path, deals=3), "--listen", "127.0.0.1:0") as operator:
        secret = operator.variables()
        bot = start(secret, code=BOT.replace("return min(view.legal)", slow))
        operator.until("far away is here")
        while not output.exists() or not is_in_the_middle(output):
            time.sleep(0.01)
        operator.interrupt()
        assert operator.end()[0] == 1
    with Operator("resume", output, "--listen", secret["KNAVERY_ADDRESS"]) as operator:
        assert operator.variables() == secret
        assert operator.end()[0] == 0
        status, err = ended(bot)
        assert (status, "the connection is lost: trying again" in err) == (0, True)
    with Store.open(output, write=False) as store:
        assert {match.attempt for match in store.matches()} <= {0, 1}
        assert any(begun.attempts[0].outcome == "abandoned" for begun in store.begun())
    proves(output)


def is_in_the_middle(path: Path) -> bool:
    """Whether a match is finished, and another one begun."""
    with closing(sqlite3.connect(path)) as db:
        outcomes = {outcome for (outcome,) in db.execute("SELECT outcome FROM attempts")}
    return outcomes == {"done", None}


# What is said before anything is played.


def test_remote_entrants_and_listening_belong_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(cup(tmp_path))]) == 2
    assert "far away: remote, so say where to connect: --listen" in capsys.readouterr().err
    assert main(["run", str(cup(tmp_path)), "--dry-run"]) == 0
    local = tmp_path / "local.toml"
    local.write_text(
        'entrants = ["a=lowest", "b=lowest", "c=lowest"]\n[tournament]\ngame="knave"\n'
    )
    assert main(["run", str(local), "--listen", "127.0.0.1:0"]) == 2
    assert "no entrant is remote" in capsys.readouterr().err
    assert main(["run", str(local), "--wait", "5m"]) == 2
    assert "--wait: belongs to --listen" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.knavery"))


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("4000", "is no address: write HOST:PORT"),
        ("::1:4000", "is no address"),
        ("127.0.0.1:70000", "is no address"),
        ("0.0.0.0:4000", "without TLS only this machine may connect, at 127.0.0.1:4000"),
        ("example.org:4000", "without TLS only this machine"),
        ("[::]:4000", "without TLS only this machine"),
    ],
)
def test_where_one_may_listen(address: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        listening(address, None, None)


def test_a_port_that_is_taken_is_said_before_anything_begins() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        address = "{}:{}".format(*taken.getsockname())
        with pytest.raises(ConfigError, match=f"{address}: cannot be had: Address already in use"):
            listening(address, None, None)
    here = listening("localhost:0", None, None)
    assert here == Listening("localhost", here.port)
    assert here.port > 0


def test_certificate_and_key_have_to_fit(tmp_path: Path) -> None:
    one, other = (trustme.CA().issue_cert("example.org") for _ in range(2))
    certificate, key = tmp_path / "c.pem", tmp_path / "k.pem"
    certificate.write_bytes(b"".join(blob.bytes() for blob in one.cert_chain_pems))
    key.write_bytes(other.private_key_pem.bytes())
    address = "127.0.0.1:0"
    with pytest.raises(ConfigError, match="go together"):
        listening(address, certificate, None)
    with pytest.raises(ConfigError, match=r"c\.pem and .*k\.pem are no certificate and its key"):
        listening(address, certificate, key)
    with pytest.raises(ConfigError, match=r"gone\.pem: cannot be read: No such file"):
        listening(address, certificate, tmp_path / "gone.pem")
    key.write_bytes(one.private_key_pem.bytes())
    assert listening(address, certificate, key).tls is not None


def test_tokens_follow_from_the_key_and_the_name() -> None:
    field = [Entrant("a", "1"), Entrant("b", "remote"), Entrant("c", "remote")]
    plan = tournament().schedule(bytes(32), range(3), remote=frozenset({1, 2}))
    found = reception.tokens(bytes(32), plan, field)
    assert list(found) == [Seat(1), Seat(2)]
    assert len(set(found.values())) == 2
    assert all(len(token) == 32 for token in found.values())
    assert found == reception.tokens(bytes(32), plan, field)
    assert found != reception.tokens(b"\1" * 32, plan, field)
    team = tournament("ninety-nine", "partnership")
    pairs = team.schedule(bytes(32), range(2), remote=frozenset({1}))
    assert list(reception.tokens(bytes(32), pairs, field)) == [Seat(1, 0), Seat(1, 1)]


def test_the_page_for_people_is_right(tmp_path: Path) -> None:
    """Its configuration and its options can be used as they stand, and it names every variable."""
    page = (ROOT / "docs" / "remote-bots.md").read_text()
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    path = tmp_path / "cup.toml"
    path.write_text(text)
    for command in re.findall(r"(?m)^\$ knavery run cup.toml (.*)", page):
        options = re.sub(r":4000", ":0", command).split()
        assert main(["run", str(path), *options, "--dry-run"]) == 0
    listen = (ROOT / "tournaments" / "commands" / "listen.py").read_text()
    for option in re.findall(r'"(--[a-z-]+)"', listen):
        assert option in page
    for variable in ("KNAVERY_ADDRESS", "KNAVERY_TOKEN", "KNAVERY_TLS_CA"):
        assert f"| `{variable}` |" in page


@pytest.mark.parametrize(
    ("target", "local"),
    [
        ("unix:/tmp/x/1", True),
        ("127.0.0.1:4000", True),
        ("localhost:4000", True),
        ("[::1]:4000", True),
        ("[0:0:0:0:0:0:0:1]:4000", True),
        ("LOCALHOST:4000", True),
        ("ipv4:127.3.2.1:4000", True),
        ("dns:///localhost:4000", True),
        ("example.org:443", False),
        ("127.0.0.1.example.org:443", False),
        ("localhost.example.org:443", False),
        ("10.0.0.7:4000", False),
        ("[::]:4000", False),
    ],
)
def test_what_lies_on_this_machine(target: str, local: bool) -> None:
    assert is_local(target) == local
