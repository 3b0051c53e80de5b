"""Results as people write them: "a>b=c" is a match that a won, b and c sharing second place."""

from __future__ import annotations

import itertools

import numpy as np

from tournaments.played import Played


def block(name: str, *matches: str, deals: int = 10) -> list[Played]:
    """One block's matches, a seating each; entrants are letters, a is 0.

    Each side's points are how many sides it finished ahead of.
    """
    return [_match(name, seating, text, deals) for seating, text in enumerate(matches)]


def blocks(*texts: str, deals: int = 10) -> list[Played]:
    """Several blocks, each a text of matches: "a>b b>a"."""
    return [
        match
        for number, text in enumerate(texts)
        for match in block(f"b{number:03}", *text.split(), deals=deals)
    ]


def gumbel_blocks(
    strengths: list[float], sides: int, rounds: int, seatings: int, alike: float, seed: int
) -> list[Played]:
    """Matches in which i is ahead of j with exactly the model's chance.

    With probability `alike` a match repeats its block's common result: so blocks vary more than
    as many independent matches would, as when the cards decide.
    """
    draws = np.random.default_rng(seed)
    matches = []
    for group in itertools.combinations(range(len(strengths)), sides):
        for number in range(rounds):
            common = draws.gumbel(size=sides)
            for seating in range(seatings):
                luck = common if draws.random() < alike else draws.gumbel(size=sides)
                order = sorted(range(sides), key=lambda i: -strengths[group[i]] - luck[i])
                text = ">".join(chr(ord("a") + group[i]) for i in order)
                matches.append(_match(f"g{group}/b{number}", seating, text, deals=10))
    return matches


def _match(name: str, seating: int, text: str, deals: int) -> Played:
    tiers = [tier.split("=") for tier in text.split(">")]
    placed: dict[str, int] = {}
    for tier in tiers:
        place = 1 + len(placed)
        placed.update(dict.fromkeys(tier, place))
    return Played(
        block=name,
        seating=seating,
        generation=seating,
        entrants=tuple(ord(letter) - ord("a") for letter in placed),
        places=tuple(placed.values()),
        points=tuple(sum(other > place for other in placed.values()) for place in placed.values()),
        deals=deals,
    )
