"""Many secrets are looked for at once."""

import base64
from collections.abc import Iterator
from random import Random

import pytest

from tournaments import needles
from tournaments.needles import Needles

SECRETS = {f"key {n}": Random(n).randbytes(32) for n in range(300)}


def ways(secret: bytes) -> Iterator[bytes]:
    yield secret
    yield secret.hex().encode()
    yield secret.hex().upper().encode()
    yield base64.b64encode(secret)
    yield base64.urlsafe_b64encode(secret).rstrip(b"=")


@pytest.mark.parametrize("name", ["key 0", "key 7", "key 299"])
def test_each_way_of_writing_is_found_wherever_it_stands(name: str) -> None:
    for written in ways(SECRETS[name]):
        for before in (0, 1, 77):
            data = Random(1000).randbytes(before) + written + b"and more"
            assert list(Needles(SECRETS).within(data)) == [name]


def test_all_are_named_in_order_and_parts_of_one_are_none() -> None:
    data = SECRETS["key 9"] + SECRETS["key 2"].hex().encode() + SECRETS["key 9"][:31]
    assert list(Needles(SECRETS).within(data)) == ["key 9", "key 2"]
    for much in (b"", b"k", b"ke"):
        assert list(Needles(SECRETS).within(much)) == []


def test_one_that_lies_across_two_readings_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needles, "_AT_ONCE", 64)
    for before in range(130):
        data = b"x" * before + SECRETS["key 3"] + b"x" * 200
        assert list(Needles(SECRETS).within(data)) == ["key 3"]
