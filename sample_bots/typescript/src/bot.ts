// The bot itself: this file is yours.

import {
  JACK,
  QUEEN,
  combinations,
  higherUnseen,
  rank,
  suit,
  takes,
  trumpSuit,
  unseenCards,
  type Unseen,
} from "./cards";
import type { Decision } from "./proto/knavery/v1/Decision";
import type { Event } from "./proto/knavery/v1/Event";
import type { KnaveRules } from "./proto/knavery/v1/KnaveRules";
import type { NinetyNineRules } from "./proto/knavery/v1/NinetyNineRules";

/**
 * Change it as you like. There is one for the whole process, which sits at many tables at once, so
 * what it remembers it must keep by match (`decision.match`).
 *
 * A decision holds all that your seat may know; every field is explained in
 * protos/knavery/v1/game.proto.
 */
export class Bot {
  /** What needs no answer: matches that start and end, finished deals, faults. */
  hear(_event: Event): void {}

  /**
   * The cards of a bid in Ninety-Nine: those whose number of tricks comes nearest to what the cards
   * that are left can be expected to take.
   */
  chooseBid(decision: Decision): number[] {
    const choose = decision.bidRequest!.choose;
    const rules = decision.rules?.ninetyNine;
    if (!rules) {
      return decision.hand.slice(0, choose);
    }
    const unseen = unseenCards(decision);
    const strengths = new Map(
      decision.hand.map((card) => [card, chanceToTake(decision, unseen, card)]),
    );
    const expected = (cards: number[]) => sum(cards.map((card) => strengths.get(card)!));
    const total = expected(decision.hand);
    return best(combinations(decision.hand, choose), (bid) => {
      return -Math.abs(tricksBid(rules, bid) + expected(bid) - total);
    });
  }

  /** One of the legal cards. */
  chooseCard(decision: Decision): number {
    const unseen = unseenCards(decision);
    const { knave, ninetyNine } = decision.rules!;
    const wants = ninetyNine ? wantsTricks(decision, ninetyNine) : false;
    return best(decision.playRequest!.legal, (card) => {
      if (knave) {
        return knaveMerit(decision, knave, unseen, card);
      }
      return ninetyNine ? ninetyNineMerit(decision, unseen, card, wants) : 0;
    });
  }
}

/** The first of the choices with the highest merit. */
function best<T>(choices: readonly T[], merit: (choice: T) => number): T {
  if (choices.length === 0) {
    throw new RangeError("there is nothing to choose from");
  }
  const merits = choices.map(merit);
  return choices[merits.indexOf(Math.max(...merits))]!;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

// How likely a card takes a trick, by how many unseen cards of its suit are higher.
const AS_TRUMP = [1, 0.81, 0.6, 0.46, 0.3, 0.15];
const AS_PLAIN = [0.69, 0.35, 0.18, 0.11, 0.06];
const AS_EITHER = [0.8, 0.47, 0.28, 0.2, 0.1]; // while trump is unknown, or without trump

/** What a point is worth that another seat gets. */
const OTHERS = -0.35;

function chanceToTake(decision: Decision, unseen: Unseen, card: number): number {
  const trump = trumpSuit(decision);
  const asPlain = trump === undefined ? AS_EITHER : AS_PLAIN;
  const chances = trump === suit(card) ? AS_TRUMP : asPlain;
  return chances[higherUnseen(unseen, card)] ?? 0;
}

/**
 * What a card is worth in Knave, in points: of the trick, if it takes it, and the other way round
 * if another does. Jacks are thrown where they are not won.
 */
function knaveMerit(decision: Decision, rules: KnaveRules, unseen: Unseen, card: number): number {
  const { trick } = decision;
  const led = suit(trick[0] ?? card);
  const later = decision.rules!.players - 1 - trick.length;
  let points = rules.trickValue + sum([...trick, card].map((each) => worth(rules, each)));
  for (const jack of [13 * led + JACK, 13 * led + QUEEN]) {
    if (unseen[jack]) {
      points += 0.2 * later * worth(rules, jack);
    }
  }
  const chance = takes(decision, card) ? 0.8 ** (later * higherUnseen(unseen, card)) : 0;
  return points * (chance + OTHERS * (1 - chance)) + 0.02 * rank(card) * (1 - chance);
}

/** The points for taking a card in Knave. */
function worth(rules: KnaveRules, card: number): number {
  const worths = { [JACK]: rules.jacks, [QUEEN]: rules.queens }[rank(card)];
  return worths?.[suit(card)] ?? 0;
}

/**
 * Whether a seat of Ninety-Nine still lacks tricks; partners count together as far as the partner's
 * bid is turned up.
 */
function wantsTricks(decision: Decision, rules: NinetyNineRules): boolean {
  const { seat, tricksWon, bids } = decision;
  const partner = (seat + 2) % 4;
  let lacks = tricksBid(rules, decision.bid?.cards ?? []) - tricksWon[seat]!;
  for (const bid of bids) {
    if (decision.rules!.teams && bid.seat === partner) {
      lacks += tricksBid(rules, bid.cards) - tricksWon[partner]!;
    }
  }
  return lacks > 0;
}

function tricksBid(rules: NinetyNineRules, bid: readonly number[]): number {
  return sum(bid.map((card) => rules.bidValues[suit(card)]!));
}

/**
 * Prefers the card that most likely takes the trick, and the lowest if none can; or, with the bid
 * made, the highest card that does not take it.
 */
function ninetyNineMerit(
  decision: Decision,
  unseen: Unseen,
  card: number,
  wants: boolean,
): number {
  const last = decision.trick.length === decision.rules!.players - 1;
  let chance = 0;
  if (takes(decision, card)) {
    chance = last ? 1 : 0.2 + 0.8 * chanceToTake(decision, unseen, card);
  }
  const height = 0.01 * rank(card);
  return wants ? chance - height : height - chance;
}
