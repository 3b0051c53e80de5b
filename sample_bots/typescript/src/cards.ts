// A card is a number, 13 * suit + rank: clubs 0, diamonds 1, hearts 2, spades 3; the two is rank 0
// and the ace 12. In text it is rank then suit: "TH" is the ten of hearts.

import type { Decision } from "./proto/knavery/v1/Decision";

export const JACK = 9;
export const QUEEN = 10;

const RANKS = "23456789TJQKA";
const SUITS = "CDHS";
const TRUMPS = ["TRUMP_CLUBS", "TRUMP_DIAMONDS", "TRUMP_HEARTS", "TRUMP_SPADES"];

/** By card number, whether the card is one that this seat has not seen. */
export type Unseen = readonly boolean[];

/** The suit of a card, 0 to 3. */
export function suit(card: number): number {
  return Math.floor(card / 13);
}

/** The rank of a card, 0 to 12. */
export function rank(card: number): number {
  return card % 13;
}

/** A card as "AS". */
export function text(card: number): string {
  return RANKS.charAt(rank(card)) + SUITS.charAt(suit(card));
}

/** Cards as in "7H QS"; RangeError if one is none. */
export function parseCards(words: string): number[] {
  return words.split(/\s+/).filter(Boolean).map((word) => {
    const [rank, suit] = [RANKS.indexOf(word.charAt(0)), SUITS.indexOf(word.charAt(1))];
    if (word.length !== 2 || rank < 0 || suit < 0) {
      throw new RangeError(`no card: ${word}`);
    }
    return 13 * suit + rank;
  });
}

/** The trump suit of a decision, undefined if there is none or it is not known. */
export function trumpSuit(decision: Decision): number | undefined {
  const suit = TRUMPS.indexOf(decision.trump);
  return suit < 0 ? undefined : suit;
}

/** Whether a card, played now, would be the winning card of the trick as it stands. */
export function takes(decision: Decision, card: number): boolean {
  if (decision.trick.length === 0) {
    return true;
  }
  const led = suit(decision.trick[0]!);
  const trump = trumpSuit(decision);
  const beaten = decision.trick.some((other) => beats(other, card, led, trump));
  return !beaten && (suit(card) === led || suit(card) === trump);
}

/** Whether one card of a trick is higher than another. */
function beats(card: number, other: number, led: number, trump: number | undefined): boolean {
  if (suit(card) === suit(other)) {
    return rank(card) > rank(other);
  }
  return suit(card) === trump || (suit(card) === led && suit(other) !== trump);
}

/** The cards of the pack that this seat has not seen: in other hands, bid face down, or undealt. */
export function unseenCards(decision: Decision): Unseen {
  const unseen = new Array<boolean>(52).fill(false);
  for (const rank of decision.rules?.ranks ?? []) {
    for (let suit = 0; suit < 4; suit++) {
      unseen[13 * suit + rank] = true;
    }
  }
  const bids = [decision.bid?.cards ?? [], ...decision.bids.map((bid) => bid.cards)];
  for (const card of [...decision.hand, ...decision.played, ...bids.flat()]) {
    unseen[card] = false;
  }
  return unseen;
}

/** How many unseen cards of a card's suit are higher. */
export function higherUnseen(unseen: Unseen, card: number): number {
  return unseen.slice(card + 1, 13 * (suit(card) + 1)).filter(Boolean).length;
}

/** Every choice of so many of the cards, each in the order of the cards. */
export function combinations(cards: readonly number[], count: number): number[][] {
  if (count === 0) {
    return [[]];
  }
  return cards.flatMap((first, place) =>
    combinations(cards.slice(place + 1), count - 1).map((rest) => [first, ...rest]),
  );
}
