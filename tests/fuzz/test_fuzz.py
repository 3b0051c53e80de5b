"""A short run of the fuzzer, and what longer ones have found."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import __main__ as fuzz
from tests.fuzz.targets import TARGETS

SHORT = {"first": 200, "later": 200, "talk": 40}


@pytest.mark.parametrize("name", TARGETS)
def test_a_short_run(name: str) -> None:
    drawn, target = TARGETS[name]

    @settings(
        max_examples=SHORT[name],
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(drawn)
    def run(value: object) -> None:
        target(value)

    run()


def test_the_command_counts_its_inputs_and_ends(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "--seconds", "1", "--seed", "7", "--target", "later"],
        capture_output=True,
        text=True,
        timeout=120,
        env=None,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "seed 7" in done.stdout
    assert "later: " in done.stdout
    assert "no failure" in done.stdout
    assert not list(tmp_path.iterdir())


def test_a_failure_is_kept_with_the_command_that_shows_it_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(value: object) -> None:
        assert value != 0, "zero"

    monkeypatch.setitem(TARGETS, "later", (st.sampled_from([0]), fails))
    assert fuzz.main(["--seconds", "1", "--seed", "3", "--target", "later"], tmp_path) == 1
    out = capsys.readouterr().out
    (kept,) = tmp_path.iterdir()
    assert str(kept) in out
    assert "make fuzz FUZZ_SEED=3 FUZZ_TARGET=later" in out
    text = kept.read_text()
    assert "zero" in text
    assert "value=0" in text
    again = fuzz.main(["--seconds", "1", "--seed", "3", "--target", "later"], tmp_path)
    assert (again, kept.read_text()) == (1, text)
