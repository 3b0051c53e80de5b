import os
from pathlib import Path

import pytest

from tournaments.ownership import OwnedError, Ownership


def test_one_at_a_time_and_the_other_is_told_who(tmp_path: Path) -> None:
    path = tmp_path / "x.knavery"
    owner = Ownership(path)
    with pytest.raises(OwnedError, match=f"^process {os.getpid()}$"):
        Ownership(path)
    owner.release()
    assert list(tmp_path.iterdir()) == []
    Ownership(path).release()


def test_what_a_dead_owner_left_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / "x.knavery-lock").write_text("123456789012")
    owner = Ownership(tmp_path / "x.knavery")
    assert (tmp_path / "x.knavery-lock").read_text() == str(os.getpid())
    owner.release()


def test_an_owner_that_has_not_yet_said_who_it_is(tmp_path: Path) -> None:
    owner = Ownership(tmp_path / "x.knavery")
    (tmp_path / "x.knavery-lock").write_text("")
    with pytest.raises(OwnedError, match=r"^another process$"):
        Ownership(tmp_path / "x.knavery")
    owner.release()


def test_a_lock_file_that_was_replaced_meanwhile_is_not_mistaken_for_it(tmp_path: Path) -> None:
    first = Ownership(tmp_path / "x.knavery")
    (tmp_path / "x.knavery-lock").unlink()
    second = Ownership(tmp_path / "x.knavery")
    with pytest.raises(OwnedError):
        Ownership(tmp_path / "x.knavery")
    first.release()
    with pytest.raises(OwnedError):
        Ownership(tmp_path / "x.knavery")
    second.release()
    assert list(tmp_path.iterdir()) == []
