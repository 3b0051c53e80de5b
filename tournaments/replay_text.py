"""A deal as text: one moment of it for a terminal, or all of it in order.

Names, notes and faults hold what bots wrote: all of it is made printable here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tabulate import tabulate

from referee.games.cards import SUIT_NAMES, card_text, text
from referee.games.ninety_nine import NinetyNineRules
from referee.games.view import Phase
from referee.match import Fault
from referee.process import printable
from tournaments.frames import Decision, Frame
from tournaments.replays import DealReplay


def screen(replay: DealReplay, step: int) -> list[str]:
    """A moment as a terminal shows it: who holds what, the trick, and what came of it."""
    frame = replay.frames[step]
    place = f"step {step} of {len(replay.frames) - 1}"
    lines = [title(replay), f"{place}; {_now(replay, frame)}", *_secrets(replay, frame), ""]
    lines += _table(replay, frame).splitlines()
    lines += ["", *_trick(replay, step)]
    if frame.last is not None:
        lines += told(frame.last)
    if frame.turn is None:
        lines += ["", *_end(replay)]
    return lines


def dump(replay: DealReplay) -> list[str]:
    """A whole deal in order, for what is no terminal."""
    lines = [title(replay)]
    for seat, cards in enumerate(replay.dealt):
        dealer = " (dealer)" if seat == replay.dealer else ""
        lines.append(f"  seat {seat} {_name(replay, seat)}{dealer}: {text(sorted(cards))}")
    if replay.undealt:
        lines.append(f"  undealt: {text(replay.undealt)}")
    if replay.rules.bid_cards:
        lines.append(f"  {_trump(replay)}, known to the dealer alone until all have bid")
    for before, after in zip(replay.frames, replay.frames[1:], strict=False):
        lines += (f"  {line}" for line in _step(replay, before, after))
    return [*lines, *(f"  {line}" for line in _end(replay))]


def title(replay: DealReplay) -> str:
    """Which deal of which match it is."""
    return (
        f"{replay.match}, deal {replay.number} (of 0 to {replay.count - 1}), "
        f"{replay.rules.game} {replay.rules.variant}"
    )


def _step(replay: DealReplay, before: Frame, after: Frame) -> Iterator[str]:
    """A decision, after the line that begins its trick and before the one that ends it."""
    last = after.last
    assert last is not None
    if last.trick is None:
        yield f"seat {last.seat} bids {_bid(replay, last.cards)}, {milliseconds(last.ms)}"
    else:
        if before.trick != after.trick:
            yield f"trick {last.trick}, seat {last.seat} leads"
        chosen = f"  seat {last.seat}: {text(last.cards)}"
        yield f"{chosen}, legal {text(last.legal)}, {milliseconds(last.ms)}"
    yield from (f"    {line}" for line in told(last))
    if after.winner is not None:
        yield f"  seat {after.winner} wins; {_so_far(after)}"


def _so_far(frame: Frame) -> str:
    points = "" if frame.points is None else f", points {_numbers(frame.points)}"
    return f"tricks {_numbers(frame.won)}{points}"


def _now(replay: DealReplay, frame: Frame) -> str:
    """What is asked of whom."""
    if frame.turn is None:
        return "the deal is over"
    who = f"seat {frame.turn} ({_name(replay, frame.turn)})"
    if frame.phase is Phase.BID:
        return f"{who} bids {replay.rules.bid_cards} of its cards"
    leads = frame.winner is not None or frame.trick is None
    return f"{who} {'leads' if leads else 'plays'}, legal: {text(frame.legal)}"


def _secrets(replay: DealReplay, frame: Frame) -> Iterator[str]:
    """What not everybody at the table knows, and who does."""
    if replay.undealt:
        yield f"undealt: {text(replay.undealt)}, known to nobody before the end"
    if not isinstance(replay.rules, NinetyNineRules):
        return
    if frame.phase is Phase.BID:
        yield f"{_trump(replay)}: known to seat {replay.dealer}, the dealer, alone; bids face down"
    else:
        known = replay.rules.open_bids or frame.phase is Phase.DONE
        yield f"{_trump(replay)}; bids {'turned up' if known else 'face down to the others'}"


def _trump(replay: DealReplay) -> str:
    suit = "none" if replay.trump is None else SUIT_NAMES[replay.trump]
    return f"trump {suit}, made by {card_text(replay.dealt[replay.dealer][-1])}"


def _table(replay: DealReplay, frame: Frame) -> str:
    """A row a seat: what it holds, has bid and has won."""
    bids, points = bool(replay.rules.bid_cards), frame.points
    rows = []
    for seat, hand in enumerate(frame.hands):
        bid = frame.bids[seat]
        row = [
            ">" if seat == frame.turn else "",
            f"{seat} {_name(replay, seat)}{' (dealer)' if seat == replay.dealer else ''}",
            text(hand) or "-",
            *([_bid(replay, bid) if bid else "-"] if bids else []),
            str(frame.won[seat]),
            "-" if points is None else str(points[seat]),
            str(replay.before[seat] if frame.turn is not None else replay.after[seat]),
        ]
        rows.append(row)
    headers = ["", "seat", "hand", *(["bid"] if bids else []), "tricks", "points", "total"]
    right = ("right",) * 3
    left = ("left",) * (len(headers) - 3)
    return tabulate(
        rows, headers, tablefmt="simple", disable_numparse=True, colalign=(*left, *right)
    )


def _trick(replay: DealReplay, step: int) -> Iterator[str]:
    """The trick on the table card by card, with the time of each."""
    frame = replay.frames[step]
    if frame.trick is None:
        last = frame.last
        if last is not None:
            yield f"seat {last.seat} bid {_bid(replay, last.cards)} in {milliseconds(last.ms)}"
        return
    yield f"trick {frame.trick}, seat {frame.leader} led:"
    for back in range(len(frame.table) - 1, -1, -1):
        last = replay.frames[step - back].last
        assert last is not None
        yield f"  seat {last.seat}: {text(last.cards)}, {milliseconds(last.ms)}"
    if frame.winner is not None:
        yield f"  seat {frame.winner} wins it"


def told(last: Decision) -> Iterator[str]:
    """What went wrong with a decision, and what its bot wrote, line by line."""
    for fault in last.faults:
        yield from _fault(fault)
    for note in last.notes:
        first, *rest = printable(note.text).splitlines() or [""]
        yield f"note of seat {note.seat}: {first}"
        yield from (f"  {line}" for line in rest)


def _fault(fault: Fault) -> Iterator[str]:
    did = f"the referee played {text(fault.played)}" if fault.played else "it was put out"
    yield f"fault of seat {fault.seat}, {fault.kind.name.lower()}: {did}"
    yield from (f"  {line}" for line in printable(fault.detail).splitlines())


def _end(replay: DealReplay) -> Iterator[str]:
    yield f"points of the deal {_numbers(replay.scores)}, totals {_numbers(replay.after)}"
    if replay.places is not None:
        out = f", put out: seat {_numbers(replay.forfeits)}" if replay.forfeits else ""
        yield f"the match is over, places {_numbers(replay.places)}{out}"


def _bid(replay: DealReplay, cards: Sequence[int]) -> str:
    """Bid cards, and the tricks that they stand for."""
    assert isinstance(replay.rules, NinetyNineRules)
    return f"{text(cards)} = {replay.rules.bid_of(cards)}"


def _name(replay: DealReplay, seat: int) -> str:
    return printable(replay.names[seat])


def _numbers(values: Sequence[int]) -> str:
    return " ".join(map(str, values))


def milliseconds(ms: float) -> str:
    """A decision's time."""
    return f"{ms:,.0f} ms" if ms >= 100 else f"{ms:.3g} ms"
