"""The information-leak certificate: what is hidden may lie otherwise, and no seat could tell."""

import base64
import json
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from random import Random

import pytest

from referee import wire
from referee.games.deal import Deal, IllegalMove
from referee.games.ninety_nine import NinetyNineDeal
from referee.games.registry import GAMES, variants
from referee.match import Match
from tests.tournaments.playing import KEY, create, play_all, tournament
from tournaments import cli
from tournaments.audit import keys, moment_of, sampled
from tournaments.leaks import audit
from tournaments.redeal import Moment, Redealing
from tournaments.replays import replay_of
from tournaments.repro import record_of
from tournaments.store import Store

SOME = 40


def played(
    folder: Path, game: str, variant: str = "classic", faults: float = 0.0, **fields: object
) -> Path:
    path = folder / "friday.knavery"
    store, schedule = create(path, tournament(game, variant, **{"max_deals": 2, **fields}), 4)
    with store:
        list(zip(range(6), play_all(store, schedule, faults), strict=False))
    return path


def found_in(path: Path, size: int = SOME) -> str | None:
    with Store.open(path, write=False) as store:
        return audit(store, size, 0, worlds=4).leak


@pytest.mark.parametrize(
    ("game", "variant"), [(game, variant) for game in GAMES for variant in variants(game)]
)
def test_nothing_leaks_in_any_variant(tmp_path: Path, game: str, variant: str) -> None:
    path = played(tmp_path, game, variant, faults=0.02)
    with Store.open(path, write=False) as store:
        report = audit(store, SOME, 1)
    assert report.leak is None
    assert report.audited.decisions >= SOME // 2
    assert report.audited.worlds > 4 * report.audited.hidden > 0


def with_more(what: Callable[[Deal, int], bytes]) -> Callable[[Match, int], bytes]:
    """A wire that adds something to what a seat's decisions have in common: an unknown field."""
    plain = wire._lasting

    def leaky(match: Match, seat: int) -> bytes:
        return plain(match, seat) + b"\xfa\x3f\x01" + what(match.deal, seat)[:1]

    return leaky


LEAKS: dict[str, tuple[str, object, str, object]] = {
    "the next seat's lowest card": (
        "knave", wire, "_lasting",
        with_more(lambda deal, seat: bytes((min(deal.hand((seat + 1) % 3) or b"\0"),))),
    ),
    "the undealt card": ("knave", wire, "_lasting", with_more(lambda deal, _: bytes(deal.undealt))),
    "how many clubs lie elsewhere, by seat": (
        "knave", wire, "_lasting",
        with_more(lambda deal, seat: bytes((sum(c < 13 for c in deal.hand((seat + 2) % 3)),))),
    ),
    "trump before the bids": ("ninety-nine", NinetyNineDeal, "trump_known", lambda *_: True),
    "which card makes trump": (
        "ninety-nine", NinetyNineDeal, "last_dealt", lambda deal, _: deal.deck[-1],
    ),
    "the bids of the others": (
        "ninety-nine", NinetyNineDeal, "visible_bids", lambda deal, _: tuple(deal.bids),
    ),
    "who has bid": (
        "ninety-nine", wire, "_lasting",
        with_more(lambda deal, _: bytes((sum(deal.bids[n][0] for n in range(3) if deal.bids[n]),))),
    ),
}  # fmt: skip


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leak_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leak: str) -> None:
    game, place, name, leaky = LEAKS[leak]
    path = played(tmp_path, game)
    assert found_in(path) is None
    monkeypatch.setattr(place, name, leaky)
    line = found_in(path, 400)
    assert line is not None
    assert line.startswith("match e0/g")
    assert "where hidden cards lie otherwise" in line


def test_a_leak_is_named_by_its_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = played(tmp_path, "ninety-nine")
    monkeypatch.setattr(NinetyNineDeal, "last_dealt", lambda deal, _: deal.deck[-1])
    line = found_in(path, 400)
    assert line is not None
    assert "the field decision.last_dealt of what it was sent" in line


def hands(moment: Moment, deck: tuple[int, ...]) -> tuple[frozenset[int], ...]:
    """What each seat was dealt."""
    return tuple(map(frozenset, moment.rules.deal(moment.dealer, deck).dealt))


def by_brute_force(moment: Moment) -> set[tuple[frozenset[int], ...]]:
    """Every way to lay what a seat of Knave cannot see, judged by playing the deal with it."""
    true = hands(moment, moment.true.deck)
    shown = [true[seat] if seat == moment.seat else set[int]() for seat in range(3)]
    deal = moment.rules.deal(moment.dealer, moment.true.deck)
    plays = []
    for card in moment.played:
        (seat,) = deal.pending
        plays.append((seat, card))
        shown[seat] = {*shown[seat], card}
        deal.act(seat, (card,))
    hidden = [card for card in moment.true.deck if not any(card in each for each in shown)]
    found = set()
    for order in permutations(hidden):
        left, dealt = list(order), []
        for seat in range(3):
            lacking = len(true[seat]) - len(shown[seat])
            dealt.append([*shown[seat], *left[:lacking]])
            del left[:lacking]
        deck = [0] * 15
        for seat in range(3):
            deck[(seat - moment.dealer - 1) % 3 :: 3] = dealt[seat]
        if _can_be_played(moment, (*deck, *left), plays):
            found.add(hands(moment, (*deck, *left)))
    return found


def _can_be_played(moment: Moment, deck: tuple[int, ...], plays: list[tuple[int, int]]) -> bool:
    deal = moment.rules.deal(moment.dealer, deck)
    try:
        for seat, card in plays:
            deal.act(seat, (card,))
    except IllegalMove:
        return False
    return True


def test_every_admissible_way_is_drawn_and_no_other(tmp_path: Path) -> None:
    path = played(tmp_path, "knave", ranks=(9, 10, 11, 12), max_deals=4)
    with Store.open(path, write=False) as store:
        records = [record_of(replay_of(store, kept)) for kept in store.matches(open_blocks=True)]
    draw, constrained = Random(0), 0
    for record in records[:3]:
        for key in [each for each in keys(record) if each[2] == 3]:
            moment = moment_of(record, key)
            redealing = Redealing(moment)
            expected = by_brute_force(moment)
            drawn = {hands(moment, redealing.world(draw).deck) for _ in range(40 * len(expected))}
            assert drawn == expected
            constrained += any(redealing._voids.values())
    assert constrained > 5, "there were hands that could not follow suit"


def test_the_dealer_of_ninety_nine_keeps_the_card_that_makes_trump(tmp_path: Path) -> None:
    path = played(tmp_path, "ninety-nine")
    with Store.open(path, write=False) as store:
        (kept, *_) = store.matches(open_blocks=True)
        record = record_of(replay_of(store, kept))
    draw = Random(0)
    for key in keys(record):
        moment = moment_of(record, key)
        deals = [moment.rules.deal(moment.dealer, moment.true.deck)]
        deals += [
            moment.rules.deal(moment.dealer, Redealing(moment).world(draw).deck) for _ in range(30)
        ]
        trumps, last = {deal.trump for deal in deals}, {deal.deck[-1] for deal in deals}
        if key[1] == moment.dealer:
            assert len(last) == 1
        elif key[2] is None:
            assert len(trumps) > 1, "before the bids only the dealer knows it"
        else:
            assert len(trumps) == 1
            assert len(last) > 1 or key[2] > 6


def test_a_sample_takes_decisions_alike_and_none_twice() -> None:
    chosen = sampled([3, 0, 5], 8, Random(0))
    assert chosen == [(0, 0), (0, 1), (0, 2), *((2, n) for n in range(5))]
    assert len(sampled([10, 10], 5, Random(1))) == 5
    assert sampled([], 5, Random(0)) == []


@pytest.mark.parametrize("how", ["hex", "raw", "base64"])
def test_a_key_in_what_bots_wrote_or_can_read_is_found(tmp_path: Path, how: str) -> None:
    path = played(tmp_path, "knave")
    written = {"hex": KEY.hex().encode(), "raw": KEY, "base64": base64.b64encode(KEY)}[how]
    logs = tmp_path / "friday-logs" / "17"
    logs.mkdir(parents=True)
    (logs / "0001-bob.log").write_bytes(b"I know nothing\n")
    assert found_in(path, 1) is None
    (logs / "0002-eve.log").write_bytes(b"the key is " + written + b"!\n")
    assert found_in(path, 1) == f"{logs}/0002-eve.log, which bots wrote, holds the tournament's key"


def test_a_key_in_a_bots_own_folder_is_found(tmp_path: Path) -> None:
    path = played(tmp_path, "knave")
    place = tmp_path / "alice"
    place.mkdir()
    with Store.open(path, write=True) as store:
        key = store.tournament().schedule(KEY, (0, 1, 2, 3)).key
        store.relocate(0, str(place), ("./bot",))
    assert found_in(path, 1) is None
    (place / "data.bin").write_bytes(key)
    line = f"{place}/data.bin, which alice can read, holds the key of epoch 0"
    assert found_in(path, 1) == line
    with Store.open(path, write=True) as store:
        store.relocate(0, str(tmp_path / "gone"), ("./bot", "--key", KEY.hex()))
    assert found_in(path, 1) == "the command of alice holds the tournament's key"


def test_what_no_bot_can_read_is_not_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, schedule = create(tmp_path / "friday.knavery", tournament(max_deals=1), 3, remote={2})
    place = tmp_path / "alice"
    for name in ("target", ".git", "sub"):
        (place / name).mkdir(parents=True)
        (place / name / "key").write_bytes(KEY if name != "sub" else b"nothing")
    with store:
        next(play_all(store, schedule))
        store.relocate(0, str(place), ("./bot",))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").write_bytes(KEY)  # a remote entrant has no folder, not this one
    with Store.open(store.path, write=False) as store:
        report = audit(store, 1, 0)
    assert (report.leak, report.folders, report.files) == (None, 1, 1)


def test_a_match_is_made_ready_without_a_look_at_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = played(tmp_path, "knave")
    with Store.open(path, write=False) as store:
        (kept, *_) = store.matches(open_blocks=True)
        monkeypatch.setattr(Store, "complete_blocks", None)
        assert replay_of(store, kept).match is kept


def test_the_command_says_what_it_looked_at_and_fails_for_a_leak(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = played(tmp_path, "ninety-nine")
    assert cli.main(["audit", str(path), "--sample", "20", "--seed", "3"]) == 0
    first = capsys.readouterr().out
    assert first.startswith(f"{path}: no leak was found\n  decisions 20 of ")
    assert cli.main(["audit", str(path), "--sample", "20", "--seed", "3", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["format"], report["leak"], report["decisions"]) == ("knavery.audit/1", None, 20)
    monkeypatch.setattr(NinetyNineDeal, "trump_known", lambda *_: True)
    assert cli.main(["audit", str(path), "--sample", "400"]) == 1
    line = capsys.readouterr().out
    assert line.startswith(f"{path}: a leak: match e0/g")
    assert "decision.trump" in line


def test_what_the_command_cannot_use_is_said_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["audit", str(tmp_path / "none.knavery")]) == 2
    assert "there is no such file" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        cli.main(["audit", "x.knavery", "--sample", "0"])
    assert ended.value.code == 2
    assert "must be a number from 1 on, not 0" in capsys.readouterr().err
