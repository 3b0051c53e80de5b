"use strict";
/* A match step by step: what #play holds, drawn in #scene. All of it is in the page. */
(() => {
  const WIDTH = 600;
  const BLOCK = 140;
  const TRICK = 196;
  const match = JSON.parse(document.getElementById("play").textContent);
  const viewer = document.getElementById("viewer");
  const scene = document.getElementById("scene");
  const said = document.getElementById("said");
  const told = document.getElementById("told");
  const deals = document.getElementById("deal");
  const slider = document.getElementById("step");
  const seats = match.names.length;
  const above = [1, 2];
  const below = seats === 4 ? [3, 0] : [0];
  const bids = match.bid_cards ? seats : 0;
  const height = BLOCK * seats + TRICK;
  let deal = 0;
  let step = 0;

  const trickOf = (at) => (at < bids ? -1 : Math.floor((at - bids) / seats));
  const unfolded = match.deals.map(unfold);
  const steps = (number = deal) => unfolded[number];
  const digits = (value) => (value >= 100 ? Math.round(value) : Number(value.toPrecision(3)));
  const time = (ms) => (ms === null ? "" : ms < 1 ? `${digits(ms * 1000)} µs` : `${digits(ms)} ms`);
  const counted = (count, thing) => `${String(count).replace("-", "−")} ${thing}${count === 1 || count === -1 ? "" : "s"}`;
  const cards = (list) => list.map(Cards.text).join(" ");

  /* The decisions of a deal in order: who chose what, in which time, what was legal (0: the whole
     hand, 1 to 4: its cards of a suit), and where a trick ends who took it. */
  function unfold({ chosen, ms, legal, leader, winners, sofar }) {
    let led = leader;
    return chosen.map((what, at) => {
      const place = (at - bids) % seats;
      const seat = at < bids ? at : (led + place) % seats;
      const made = { seat, chosen: [what].flat(), ms: ms && ms[at], legal: Number(legal[at]), winner: null, points: null };
      if (at >= bids && place === seats - 1) {
        made.winner = winners[trickOf(at)];
        made.points = sofar && sofar[trickOf(at)];
        led = made.winner;
      }
      return made;
    });
  }

  const legalOf = ({ legal }, hand) => (legal ? hand.filter((card) => Cards.suit(card) === legal - 1) : hand);

  /* What each seat held at first: all that it chose. */
  const dealt = unfolded.map((made) => match.names.map((_, seat) => (
    made.filter((each) => each.seat === seat).flatMap(({ chosen }) => chosen).sort((a, b) => a - b))));

  /* What stands on the table after `step` decisions. */
  function moment() {
    const played = match.deals[deal];
    const state = {
      hands: [...dealt[deal]], bids: Array(seats).fill(null), won: Array(seats).fill(0),
      points: played.points, table: [], winner: null, last: null,
    };
    steps().slice(0, step).forEach((each, at) => {
      const { seat, chosen, ms, winner, points } = each;
      state.hands[seat] = state.hands[seat].filter((card) => !chosen.includes(card));
      if (at < bids) {
        state.bids[seat] = chosen;
      } else {
        if ((at - bids) % seats === 0) state.table = [];
        state.table.push({ seat, card: chosen[0], ms });
        state.winner = winner;
        if (winner !== null) state.won[winner] += 1;
        if (points) state.points = points;
      }
      state.last = each;
    });
    state.next = step < steps().length ? steps()[step] : null;
    return state;
  }

  function label(seat, state) {
    const played = match.deals[deal];
    const parts = [];
    if (bids && state.bids[seat]) parts.push(`bid ${played.bids[seat]}`);
    parts.push(counted(state.won[seat], "trick"));
    if (!state.next) parts.push(counted(played.scores[seat], "point"));
    else if (state.points) parts.push(counted(state.points[seat], "point"));
    return parts.join(" · ");
  }

  function drawHand(group, seat, top, state) {
    const turn = state.next && state.next.seat === seat;
    const hand = state.hands[seat];
    const legal = turn ? legalOf(state.next, hand) : hand;
    const bid = state.bids[seat] || [];
    const room = bid.length ? 420 : WIDTH - 40;
    const gap = hand.length > 1 ? Math.min(Cards.WIDTH + 6, (room - Cards.WIDTH) / (hand.length - 1)) : 0;
    const name = match.names[seat];
    group.append(
      Cards.element("text", { class: turn ? "who turn" : "who", x: 20, y: top + 21 },
        `${turn ? "▸ " : ""}${seat} ${name.length > 22 ? `${name.slice(0, 21)}…` : name}${seat === match.deals[deal].dealer ? " · dealer" : ""}`),
      Cards.element("text", { class: "held", x: WIDTH - 20, y: top + 21 }, label(seat, state)),
    );
    hand.forEach((card, at) => {
      const out = turn && !legal.includes(card);
      const chosen = turn && state.next.chosen.includes(card);
      group.append(Cards.draw(card, 20 + at * gap, top + (chosen ? 30 : 40), out ? "out" : ""));
    });
    bid.forEach((card, at) => {
      const mark = Cards.element("g", { transform: `translate(${WIDTH - 20 - 46 - (2 - at) * 36} ${top + 58}) scale(.72)` });
      mark.append(Cards.draw(card, 0, 0, "bid"));
      group.append(mark);
    });
  }

  function drawTrick(group, top, state) {
    const places = seats === 4
      ? [[300, 96], [134, 50], [300, 6], [466, 50]]
      : [[300, 88], [196, 14], [404, 14]];
    const trump = match.deals[deal].trump;
    if (bids) {
      const made = trump === null ? "no trump" : `trump ${Cards.SUITS[trump]}`;
      group.append(Cards.element("text", { class: "mark", x: 20, y: top + 36 }, made));
    }
    match.deals[deal].undealt.forEach((card) => {
      group.append(
        Cards.element("text", { class: "mark", x: 20, y: top + 36 }, "undealt"),
        Cards.draw(card, 20, top + 48, "out"),
      );
    });
    state.table.forEach(({ seat, card, ms }) => {
      const [x, y] = places[seat];
      const won = state.winner === seat ? "won" : "";
      group.append(Cards.draw(card, x - Cards.WIDTH / 2, top + y, won));
      const left = seat === 1;
      group.append(Cards.element("text", { class: left ? "mark end" : "mark", x: x + (left ? -42 : 42), y: top + y + 52 }, time(ms)));
    });
  }

  function words(state) {
    const played = match.deals[deal];
    const lines = [];
    if (state.last) {
      const { seat, chosen, ms } = state.last;
      const what = step <= bids ? `bids ${cards(chosen)} = ${played.bids[seat]}` : `plays ${cards(chosen)}`;
      lines.push(`Seat ${seat} (${match.names[seat]}) ${what}${ms === null ? "" : `, ${time(ms)}`}.`);
    }
    if (state.winner !== null) lines.push(`Seat ${state.winner} wins the trick.`);
    if (state.next) {
      const { seat, legal } = state.next;
      const asked = step < bids ? "bids next" : `${state.winner !== null || !state.table.length ? "leads" : "plays"} next`;
      lines.push(`Seat ${seat} ${asked}${legal ? `, legal: ${cards(legalOf(state.next, state.hands[seat]))}` : ""}.`);
    } else {
      lines.push(`The deal is over: ${played.scores.join(", ")} points, totals ${played.after.join(", ")}.`);
      if (played.places) lines.push(`The match is over: places ${played.places.join(", ")}.`);
    }
    return lines.join(" ");
  }

  function show() {
    const state = moment();
    const group = Cards.element("g");
    group.append(Cards.element("rect", { class: "felt", x: 0, y: 0, width: WIDTH, height, rx: 18 }));
    above.forEach((seat, row) => drawHand(group, seat, row * BLOCK + 6, state));
    drawTrick(group, above.length * BLOCK + 8, state);
    below.forEach((seat, row) => drawHand(group, seat, (above.length + row) * BLOCK + TRICK, state));
    scene.setAttribute("viewBox", `0 0 ${WIDTH} ${height}`);
    scene.replaceChildren(group);
    const text = words(state);
    said.textContent = text;
    scene.setAttribute("aria-label", text);
    const here = match.deals[deal].told[step] || [];
    told.replaceChildren(...here.map((lines) => {
      const item = document.createElement("li");
      item.textContent = lines;
      return item;
    }));
    deals.value = String(deal);
    slider.max = String(steps().length);
    slider.value = String(step);
    const trick = trickOf(Math.max(step - 1, 0));
    slider.setAttribute("aria-valuetext", trick < 0 ? `bids, step ${step}` : `trick ${trick}, step ${step}`);
    document.getElementById("where").textContent =
      `deal ${deal} of 0 to ${match.deals.length - 1}, ${trick < 0 ? (bids ? "bids" : "before the first card") : `trick ${trick}`}, step ${step} of ${steps().length}`;
  }

  function place() {
    if (step < bids) return `${deal}`;
    const trick = Math.min(trickOf(step), match.tricks - 1);
    const count = step - bids - trick * seats;
    return `${deal}:${trick}${count ? `:${count}` : ""}`;
  }

  function go(toDeal, toStep) {
    deal = Math.min(Math.max(toDeal, 0), match.deals.length - 1);
    step = Math.min(Math.max(toStep, 0), steps().length);
    show();
    history.replaceState(null, "", `#${place()}`);
  }

  /* "deal", "deal:trick" or "deal:trick:cards", with or without the match's name before it. */
  function follow() {
    const found = /^#(\d+)(?::(\d+))?(?::(\d+))?$/.exec(location.hash.replace(`#${match.match}:`, "#"));
    if (!found) return false;
    const [number, trick, count] = found.slice(1).map((part) => Number(part || 0));
    deal = Math.min(number, match.deals.length - 1);
    step = found[2] === undefined ? 0 : Math.min(bids + trick * seats + count, steps().length);
    show();
    return true;
  }

  const nextFault = () => {
    for (let number = deal; number < match.deals.length; number += 1) {
      const found = match.deals[number].faults.find((at) => number > deal || at > step);
      if (found !== undefined) return go(number, found);
    }
    said.textContent = "There is no fault after this.";
  };
  const trickEnd = (ahead) => {
    const trick = Math.floor((step - bids) / seats);
    if (ahead) return go(deal, step < bids ? bids : bids + (trick + 1) * seats);
    return go(deal, step <= bids ? 0 : bids + (Math.ceil((step - bids) / seats) - 1) * seats);
  };
  const forward = () => (step < steps().length ? go(deal, step + 1)
    : deal + 1 < match.deals.length && go(deal + 1, 0));
  const back = () => (step > 0 ? go(deal, step - 1) : deal > 0 && go(deal - 1, steps(deal - 1).length));
  const ACTIONS = {
    forward, back, trick: () => trickEnd(true), before: () => trickEnd(false), fault: nextFault,
    next: () => go(deal + 1, 0), last: () => go(deal - 1, 0),
    start: () => go(deal, 0), end: () => go(deal, steps().length),
  };
  const KEYS = {
    ArrowRight: "forward", l: "forward", ArrowLeft: "back", h: "back", ArrowDown: "trick", j: "trick",
    ArrowUp: "before", k: "before", n: "next", PageDown: "next", p: "last", PageUp: "last", f: "fault",
    Home: "start", End: "end",
  };
  const SCROLLS = ["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End"];

  document.addEventListener("keydown", (event) => {
    const action = KEYS[event.key];
    const inside = viewer.contains(event.target);
    if (!action || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.matches("input, select, textarea") || (SCROLLS.includes(event.key) && !inside)) return;
    event.preventDefault();
    ACTIONS[action]();
  });
  viewer.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) ACTIONS[button.dataset.action]();
  });
  deals.addEventListener("change", () => go(Number(deals.value), 0));
  slider.addEventListener("input", () => go(deal, Number(slider.value)));

  /* A swipe to the left goes forward, to the right back; a tap goes forward. */
  let from = null;
  scene.addEventListener("pointerdown", (event) => { from = event.clientX; });
  scene.addEventListener("pointerup", (event) => {
    if (from === null) return;
    const moved = event.clientX - from;
    from = null;
    if (moved > 30) back();
    else forward();
  });
  scene.addEventListener("pointercancel", () => { from = null; });

  window.addEventListener("hashchange", () => { if (follow()) viewer.scrollIntoView(); });
  viewer.hidden = false;
  if (follow()) viewer.scrollIntoView();
  else show();
})();
