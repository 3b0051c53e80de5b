"use strict";
/* Cards drawn as SVG, 64 units wide and 90 high. A card is 13 * suit + rank, as everywhere. */
const Cards = (() => {
  const SPACE = "http://www.w3.org/2000/svg";
  const RANKS = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"];
  const RANK_NAMES = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack",
    "queen", "king", "ace"];
  const SUITS = ["♣", "♦", "♥", "♠"];
  const SUIT_NAMES = ["clubs", "diamonds", "hearts", "spades"];
  const WIDTH = 64;
  const HEIGHT = 90;

  const suit = (card) => Math.floor(card / 13);
  const text = (card) => RANKS[card % 13] + SUITS[suit(card)];
  const name = (card) => `${RANK_NAMES[card % 13]} of ${SUIT_NAMES[suit(card)]}`;

  function element(kind, attributes = {}, ...inside) {
    const made = document.createElementNS(SPACE, kind);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...inside);
    return made;
  }

  function pip(card, x, y, size) {
    return element("use", { href: `#suit-${suit(card)}`, x, y, width: size, height: size });
  }

  function draw(card, x, y, classes = "") {
    const rank = RANKS[card % 13];
    const red = suit(card) === 1 || suit(card) === 2 ? " red" : "";
    const drawn = element("g", { class: `card${red} ${classes}`, transform: `translate(${x} ${y})` });
    drawn.append(
      element("rect", { class: "face", x: 0.5, y: 0.5, width: WIDTH - 1, height: HEIGHT - 1, rx: 6 }),
      element("text", { class: rank === "10" ? "rank ten" : "rank", x: 6, y: 25 }, rank),
      pip(card, 6, 31, 17),
    );
    if ("JQK".includes(rank)) {
      drawn.append(
        element("rect", { class: "frame", x: 28, y: 9.5, width: 28, height: 71, rx: 3 }),
        element("text", { class: "court", x: 42, y: 55 }, rank),
        pip(card, 34.5, 61, 15), pip(card, 34.5, 14, 15),
      );
    } else {
      drawn.append(pip(card, rank === "A" ? 22 : 26, rank === "A" ? 42 : 48, rank === "A" ? 38 : 33));
    }
    return drawn;
  }

  return { WIDTH, HEIGHT, SUIT_NAMES, SUITS, draw, element, name, suit, text };
})();
