"""A field of which no bot ever says hello: it is said below the results, and by the status."""

from pathlib import Path

from tests.cli.conftest import Knavery

CUP = """
entrants = ["ann", "ben", "cat"]
[tournament]
game = "knave"
rules = {max_deals = 1}
seatings = "cyclic"
[faults]
restarts = 0
[sandbox]
mode = "off"
"""


def test_it_is_said_and_the_status_is_that_of_what_could_not_run(
    knavery: Knavery, tmp_path: Path
) -> None:
    (tmp_path / "cup.toml").write_text(CUP)
    for name in ("ann", "ben", "cat"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.toml").write_text('run = ["false"]\n')
    for words in (("run", "cup.toml"), ("play", "ann", "ben", "cat")):
        done = knavery(*words)
        assert done.returncode == 2, done.stderr
        assert "cat" in done.stdout, "the table is shown all the same"
        last = done.stderr.splitlines()[-1]
        assert last.startswith("nobody came: no bot ever said hello")
        assert "`knavery doctor`" in last
        if words[0] == "run":
            logs = Path(last.rpartition(" is in ")[2])
            assert [*logs.glob("*-cat_*.log")]
            assert "sandbox: it is off, so bots can do all that you can do here" in done.stderr
