"""A short run of what `make soak` does for an hour."""

from pathlib import Path

import pytest

from benchmarks import soak

SECONDS = 8.0


def test_misbehaving_bots_touch_nobody_else_and_the_file_agrees(
    tmp_path: Path, bot_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNAVERY_CACHE", str(bot_cache))
    monkeypatch.setattr(soak, "EVERY", 1.0)
    good, unruly = ("lowest", "greedy"), ("illegal", "lie", "crash")
    found = soak.soak(tmp_path, SECONDS, good, unruly, matches=10)
    grown = ("memory: ", "files: ")
    assert [line for line in found.problems if not line.startswith(grown)] == []
    assert found.matches >= 10
    assert len(found.samples) >= 4
    assert not {"lowest-0", "greedy-1"} & found.faults.keys()
    words = soak.table(found)
    assert f"{found.matches:,} matches" in words
    assert "| quarter | memory of the referee, MiB | open files | threads |" in words


def test_what_grows_without_end_is_found() -> None:
    flat = soak.Soaked(samples=[soak.Sample(n, 100, 10 + n % 3, 9) for n in range(40)])
    soak._flat(flat)
    assert flat.problems == []
    growing = soak.Soaked(samples=[soak.Sample(n, 100 + 5 * n, 10 + n, 9) for n in range(40)])
    soak._flat(growing)
    assert [line.split(":")[0] for line in growing.problems] == ["memory", "files"]
    short = soak.Soaked(samples=[soak.Sample(0, 1, 1, 1)])
    soak._flat(short)
    assert short.problems == ["the run was too short to say whether anything grows"]
