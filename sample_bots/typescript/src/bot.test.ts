import assert from "node:assert/strict";
import { test } from "node:test";

import { Bot } from "./bot";
import { parseCards, takes, text } from "./cards";
import { decide } from "./main";
import type { Decision } from "./proto/knavery/v1/Decision";
import type { Rules } from "./proto/knavery/v1/Rules";

const RULES: Rules = {
  variant: "classic",
  players: 3,
  ranks: [],
  maxDeals: 10,
  teams: false,
};

/** A decision to play a card in classic Knave, seat 0 of 3. */
function knave(hand: string, trick: string, legal: string): Decision {
  return {
    id: 1,
    match: "m",
    deal: 0,
    dealsLeft: 9,
    rules: {
      ...RULES,
      ranks: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
      knave: { trickValue: 1, jacks: [-1, -2, -3, -4], queens: [0, 0, 0, 0] },
      game: "knave",
    },
    seat: 0,
    dealer: 2,
    hand: parseCards(hand),
    played: parseCards(trick),
    leaders: [0],
    trick: parseCards(trick),
    tricksWon: [0, 0, 0],
    trump: "TRUMP_NONE",
    bids: [],
    scores: [0, 0, 0],
    limitMs: 2000,
    bankMs: 10000,
    incrementMs: 0,
    startupMs: 15000,
    playRequest: { legal: parseCards(legal) },
    request: "playRequest",
  };
}

/** A decision of Ninety-Nine with hearts as trump, seat 0 of 3. */
function ninetyNine(hand: string, trick: string): Decision {
  return {
    ...knave(hand, trick, hand),
    rules: {
      ...RULES,
      ranks: [3, 5, 6, 7, 8, 9, 10, 11, 12],
      ninetyNine: {
        bidValues: [3, 0, 2, 1],
        bidCards: 3,
        successBonus: 10,
        zeroBonus: 30,
        openBids: false,
      },
      game: "ninetyNine",
    },
    trump: "TRUMP_HEARTS",
  };
}

/** What the bot answers: cards, or an error. */
function answer(decision: Decision): string {
  const move = decide(new Bot(), decision);
  return move.cards ? move.cards.cards!.map(text).join(" ") : `error: ${move.error}`;
}

test("cards are numbers", () => {
  assert.deepEqual(parseCards("2C AC 2D JS AS"), [0, 12, 13, 48, 51]);
  assert.equal([0, 12, 13, 48, 51].map(text).join(" "), "2C AC 2D JS AS");
});

test("trump beats the suit led", () => {
  const decision = ninetyNine("5H AS KD", "KS 9S");
  const taking = ["5H", "AS", "KD", "QS"].filter((card) => takes(decision, parseCards(card)[0]!));
  assert.deepEqual(taking, ["5H", "AS"]);
});

test("throws the dearest jack where it is not won", () => {
  assert.equal(answer(knave("JC JS 3D", "AH 2H", "JC JS 3D")), "JS");
});

test("does not take a jack with the last card", () => {
  assert.equal(answer(knave("3S KS", "TS JS", "3S KS")), "3S");
});

test("takes tricks until the bid is made", () => {
  const decision = { ...ninetyNine("5S AS", "KS 9S"), bid: { cards: parseCards("5D 7D 7S") } };
  assert.equal(answer(decision), "AS");
  assert.equal(answer({ ...decision, tricksWon: [1, 0, 0] }), "5S");
});

test("bids what the hand can take", () => {
  const { playRequest: _, ...decision } = ninetyNine("5C 7C 5D 7D 8D 5S 7S 8S 5H 7H 8H 9C", "");
  const bidding: Decision = { ...decision, bidRequest: { choose: 3 }, request: "bidRequest" };
  assert.equal(answer(bidding), "5D 7D 8D");
});

test("answers with an error what it does not know", () => {
  const { playRequest: _, request: __, ...decision } = knave("2C", "", "2C");
  assert.match(answer(decision), /^error: the referee asks/);
  assert.equal(decide(new Bot(), { ...decision, id: 7 }).decision, 7);
});

test("a failure costs only its decision", () => {
  assert.equal(answer(knave("2C", "", "")), "error: RangeError: there is nothing to choose from");
});
