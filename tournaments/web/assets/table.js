"use strict";
/* A person's table. The server says what stands on it (/state); what is new is laid down card by
   card, and what the person chooses is sent back. Nothing is here that the seat may not see. */
(() => {
  const $ = (id) => document.getElementById(id);
  const token = $("table").dataset.token;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const CARD = calm ? 0 : 420;
  const TRICK = calm ? 0 : 1100;
  let state = null;
  let deal = null;
  let shown = 0;
  let chosen = new Set();
  let listening = false;
  let drawing = Promise.resolve();

  const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });
  const counted = (count, thing) => `${String(count).replace("-", "−")} ${thing}${Math.abs(count) === 1 ? "" : "s"}`;
  const plain = (count) => String(count).replace("-", "−");

  function made(kind, attributes = {}, ...inside) {
    const element = document.createElement(kind);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...inside);
    return element;
  }

  function picture(card) {
    const svg = Cards.element("svg", { viewBox: `0 0 ${Cards.WIDTH} ${Cards.HEIGHT}`, "aria-hidden": "true" });
    svg.append(Cards.draw(card, 0, 0));
    return svg;
  }

  /* Talking with the server. */

  async function send(path, what) {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Knavery-Token": token },
      body: JSON.stringify(what),
    });
    const told = await answer.json();
    if (answer.ok) take(told);
    else trouble(told.error);
    return answer.ok;
  }

  async function act(path, what) {
    try {
      return await send(path, what);
    } catch {
      trouble("The server does not answer. Is it still running in its terminal?");
      return false;
    }
  }

  async function listen() {
    if (listening) return;
    listening = true;
    let wait = 0;
    do {
      try {
        await pause(wait);
        const answer = await fetch(`/state?after=${state ? state.version : ""}`, {
          headers: { Accept: "application/json" },
        });
        const told = await answer.json();
        wait = answer.ok ? 0 : 2000;
        if (answer.ok) take(told);
        else trouble(told.error);
      } catch {
        wait = 2000;
        trouble("The server does not answer. Is it still running in its terminal?");
      }
    } while (!state || !["empty", "over", "failed"].includes(state.stage));
    listening = false;
  }

  function trouble(text) {
    $("trouble").textContent = text;
    $("trouble").hidden = !text;
  }

  /* "match-news": answers may overtake each other. */
  function isNews(next) {
    const [match, news] = next.version.split("-").map(Number);
    const [known, heard] = state.version.split("-").map(Number);
    return match === known ? news > heard : match > known;
  }

  function take(next) {
    if (state && !isNews(next)) return;
    const first = !state;
    state = next;
    trouble("");
    drawing = drawing.then(() => show(next, first)).catch((error) => console.error(error));
  }

  /* What lies on the table. */

  /* Every card of the deal in the order played; the last of a trick says who took it. */
  function line(now) {
    const tricks = over(now) ? now.finished.tricks : [...now.view.tricks];
    if (!over(now)) {
      const mine = now.view.phase === "play" ? now.view.mine : [];
      tricks.push({ leader: now.view.trick.leader, cards: [...now.view.trick.cards, ...mine] });
    }
    const seats = now.names.length;
    return tricks.flatMap(({ leader, cards, winner }) => cards.map((card, at) => (
      { seat: (leader + at) % seats, card, at, winner: at === seats - 1 ? winner : undefined }
    )));
  }

  const over = (now) => now.finished !== null && now.finished.deal >= now.view.deal;
  const dealOf = (now) => (over(now) ? now.finished.deal : now.view.deal);

  async function show(now, first) {
    $("lobby").hidden = now.stage !== "empty";
    $("game").hidden = now.stage === "empty";
    if (now.stage === "empty") { deal = null; return; }
    told(now);
    rules(now);
    if (!now.view) {
      $("said").textContent = now.stage === "failed" ? `The game cannot go on: ${now.why}` : "The bots sit down …";
      if (now.stage === "failed") finish(now);
      return;
    }
    const played = line(now);
    const fresh = deal !== `${now.version.split("-")[0]}-${dealOf(now)}`;
    if (fresh) {
      deal = `${now.version.split("-")[0]}-${dealOf(now)}`;
      shown = first ? played.length : 0;
      chosen = new Set();
    }
    $("result").hidden = true;
    while (shown < played.length) {
      shown += 1;
      table(now, played, false);
      const { winner, seat } = played[shown - 1];
      if (winner !== undefined) await pause(TRICK);
      else if (seat !== now.view.seat) await pause(CARD);
    }
    table(now, played, true);
    if (now.stage === "review" || now.stage === "over" || now.stage === "failed") finish(now);
  }

  function table(now, played, still) {
    const won = Array(now.names.length).fill(0);
    played.slice(0, shown).forEach(({ winner }) => { if (winner !== undefined) won[winner] += 1; });
    const turn = still ? turnOf(now) : null;
    plates(now, won, turn, played);
    trick(now, played, still);
    hand(now, still);
    if (still) say(now, turn);
  }

  function turnOf(now) {
    if (over(now) || now.stage === "failed") return null;
    const { seat, phase, trick: { leader, cards }, mine } = now.view;
    if (now.stage === "asked") return seat;
    return phase === "bid" ? null : (leader + cards.length + mine.length) % now.names.length;
  }

  function plates(now, won, turn, played) {
    const { seat: me, dealer } = now.view;
    const seats = now.names.length;
    const bids = over(now) && now.finished.bids ? now.finished.bids : now.view.bids;
    const laid = now.bid_values ? 3 : 0;
    const all = now.view.phase === "play" || over(now);
    const plate = (seat) => {
      const name = made("p", { class: "who" }, made("span", { class: "called" }, now.names[seat]));
      if (seat === now.view.partner) name.append(made("span", { class: "chip" }, "partner"));
      if (seat === dealer) name.append(made("span", { class: "chip" }, "dealer"));
      const facts = made("p", { class: "facts" }, made("span", {}, counted(won[seat], "trick")));
      if (bids[seat]) {
        const bid = made("span", { class: "bid" }, `bid ${bids[seat].tricks}`);
        bids[seat].cards.forEach((card) => bid.append(picture(card)));
        facts.append(bid);
      }
      const total = over(now) ? now.finished.totals[seat] : now.view.scores[seat];
      facts.append(made("span", {}, `total ${plain(total)}`));
      return [name, facts];
    };
    const others = [];
    for (let step = 1; step < seats; step += 1) {
      const seat = (me + step) % seats;
      const left = now.hand_size - (all ? laid : 0) - played.slice(0, shown).filter((each) => each.seat === seat).length;
      const backs = made("div", { class: "backs", "aria-hidden": "true" });
      for (let card = 0; card < left; card += 1) backs.append(made("i"));
      others.push(made("div", { class: seat === turn ? "plate turn" : "plate" }, ...plate(seat), backs));
    }
    $("others").replaceChildren(...others);
    $("me").className = me === turn ? "plate turn" : "plate";
    $("me").replaceChildren(...plate(me));
  }

  function trick(now, played, still) {
    const seats = now.names.length;
    const places = seats === 4
      ? [[180, 140], [92, 78], [180, 12], [268, 78]]
      : [[180, 132], [92, 30], [268, 30]];
    const where = (seat) => places[(seat - now.view.seat + seats) % seats];
    const begin = shown - (shown ? played[shown - 1].at + 1 : 0);
    const lies = played.slice(begin, shown);
    const end = lies.length ? lies[lies.length - 1].winner : undefined;
    const drawn = [];
    for (let seat = 0; seat < seats; seat += 1) {
      const [x, y] = where(seat);
      drawn.push(Cards.element("rect", { class: "drop", x: x - 32, y, width: 64, height: 90, rx: 6 }));
    }
    const old = still && end !== undefined && !over(now);
    lies.forEach(({ seat, card }) => {
      const [x, y] = where(seat);
      drawn.push(Cards.draw(card, x - 32, y, `${end === seat ? "won" : ""} ${old ? "old" : ""}`));
    });
    const trump = over(now) ? now.finished.trump : now.view.trump;
    if (now.bid_values && (now.view.trump_known || over(now))) {
      const text = trump === null ? "no trump" : `trump ${Cards.SUITS[trump]}`;
      drawn.push(Cards.element("text", { class: "mark", x: 180, y: seats === 4 ? 124 : 84 }, text));
    }
    $("trick").replaceChildren(...drawn);
    $("trick").setAttribute("aria-label", lies.length
      ? `On the table: ${lies.map(({ seat, card }) => `${now.names[seat]} ${Cards.name(card)}`).join(", ")}`
      : "Nothing lies on the table");
    if (end !== undefined) {
      $("last").textContent = `The last trick: ${lies.map(({ seat, card }) => `${now.names[seat]} ${Cards.text(card)}`).join(", ")}; ${now.names[end] === "you" ? "you took" : `${now.names[end]} took`} it.`;
    } else if (shown < seats) {
      $("last").textContent = "";
    }
  }

  function hand(now, still) {
    const { view } = now;
    const asked = still && now.stage === "asked";
    const bidding = asked && view.phase === "bid";
    const within = $("hand").contains(document.activeElement) || document.activeElement === document.body;
    const cards = over(now) ? [] : view.hand;
    const buttons = cards.map((card) => {
      const legal = asked && view.legal.includes(card);
      const value = bidding ? `, bids ${now.bid_values[Cards.suit(card)]}` : "";
      const button = made("button", {
        type: "button", "data-card": card, "aria-label": `${Cards.name(card)}${value}`,
        class: legal ? (bidding ? "can bids" : "can") : (asked ? "cannot" : ""),
      }, picture(card));
      if (bidding) button.setAttribute("aria-pressed", String(chosen.has(card)));
      button.disabled = !legal;
      return button;
    });
    $("hand").style.setProperty("--held", String(Math.max(10, cards.length)));
    $("hand").style.setProperty("--row", String(cards.length > 14 ? 9 : Math.max(6, Math.ceil(cards.length / 2))));
    $("hand").replaceChildren(...buttons);
    $("bidding").hidden = !bidding;
    if (bidding) sum(now);
    if (asked && within) buttons.find((button) => !button.disabled).focus({ preventScroll: true });
  }

  function sum(now) {
    const cards = [...chosen];
    const tricks = cards.reduce((total, card) => total + now.bid_values[Cards.suit(card)], 0);
    const missing = now.view.choose - cards.length;
    $("sum").textContent = missing
      ? `${cards.length ? `${cards.map(Cards.text).join(" ")} so far ${tricks}; choose` : "Choose"} ${counted(missing, "card")}${cards.length ? " more" : ""}`
      : `${cards.map(Cards.text).join(" ")} = ${counted(tricks, "trick")}`;
    $("bid").disabled = missing !== 0;
    $("bid").textContent = missing ? "Bid" : `Bid ${counted(tricks, "trick")}`;
  }

  function say(now, turn) {
    const { view } = now;
    let text = "";
    if (now.stage === "asked" && view.phase === "bid") {
      text = `Deal ${view.deal}: lay down ${view.choose} cards as your bid.`;
      if (view.last_dealt !== null) text += ` You dealt: your ${Cards.text(view.last_dealt)} ${view.trump === null ? "means no trump" : "makes trump"}, and only you know.`;
    } else if (now.stage === "asked") {
      const led = view.trick.cards[0];
      const suit = led === undefined ? null : Cards.suit(led);
      const follows = suit !== null && view.legal.every((card) => Cards.suit(card) === suit);
      text = suit === null ? "Your turn: you lead." : `Your turn: ${follows ? `follow ${Cards.SUIT_NAMES[suit]}` : `you have no ${Cards.SUIT_NAMES[suit]}, play any card`}.`;
    } else if (over(now)) {
      text = "The next cards are dealt …";
    } else if (now.stage === "waiting") {
      text = turn === null || turn === view.seat ? "The others are thinking …" : `${now.names[turn]} is thinking …`;
    }
    $("said").textContent = text;
  }

  /* What stands beside the table. */

  function told(now) {
    const lines = now.told.map(({ seat, deal: number, trick: at, text, cause }) => {
      const where = at === null ? `deal ${number}` : `deal ${number}, trick ${at}`;
      return `${now.names[seat]} ${text} (${where}).${cause ? `\n${cause}` : ""}`;
    });
    const before = [...$("told").children].map((line) => line.textContent);
    if (lines.join() === before.join()) return;
    $("told").replaceChildren(...lines.map((line) => made("li", {}, line)));
  }

  function rules(now) {
    if ($("words").dataset.of === `${now.game} ${now.variant}`) return;
    $("words").dataset.of = `${now.game} ${now.variant}`;
    $("words").replaceChildren(...now.rules.map((text) => made("p", {}, text)));
  }

  function finish(now) {
    const ended = now.stage !== "review";
    $("result").hidden = false;
    $("next").disabled = false;
    $("next").textContent = ended ? "Play again" : "Next deal";
    if (now.finished) {
      const { bids, won, scores, totals, deal: number } = now.finished;
      const seat = now.view.seat;
      $("review").href = `/review#${number}`;
      $("review").hidden = false;
      document.querySelector("#result .bids").hidden = !bids;
      $("rows").replaceChildren(...now.names.map((name, at) => {
        const cells = [made("th", { scope: "row" }, name)];
        if (now.end && now.end.forfeits.includes(at)) cells[0].append(made("span", { class: "bad" }, " put out"));
        if (bids) cells.push(made("td", { class: "number" }, String(bids[at].tricks)));
        cells.push(made("td", { class: "number" }, String(won[at])),
          made("td", { class: "number strong" }, plain(scores[at])),
          made("td", { class: "number" }, plain(totals[at])));
        return made("tr", {}, ...cells);
      }));
      if (now.end) {
        const place = now.end.places[seat];
        const shared = now.end.places.filter((each) => each === place).length > 1;
        $("outcome").textContent = place === 1 ? (shared ? "You share the first place" : "You have won!") : `You are in place ${place}`;
        $("said").textContent = "The match is over.";
      } else {
        $("outcome").textContent = `Deal ${number}: ${counted(scores[seat], "point")} for you`;
        $("said").textContent = "The deal is over.";
      }
    } else {
      $("review").hidden = true;
      $("outcome").textContent = "The game has ended";
    }
    $("next").focus({ preventScroll: true });
  }

  /* What the person does. */

  async function begin(game, variant) {
    await act("/start", { game, variant });
    listen();
  }

  function choose(cards) {
    for (const each of $("hand").children) each.disabled = true;
    act("/move", { decision: state.view.decision, cards });
  }

  $("lobby").addEventListener("click", (event) => {
    const offer = event.target.closest(".offer");
    if (offer) begin(offer.dataset.game, offer.dataset.variant);
  });
  $("any").addEventListener("submit", (event) => {
    event.preventDefault();
    begin(...new FormData(event.target).get("which").split(" "));
  });
  $("hand").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button || button.disabled || state.stage !== "asked") return;
    const card = Number(button.dataset.card);
    if (state.view.phase !== "bid") {
      choose([card]);
      return;
    }
    if (!chosen.delete(card) && chosen.size < state.view.choose) chosen.add(card);
    for (const each of $("hand").children) {
      each.setAttribute("aria-pressed", String(chosen.has(Number(each.dataset.card))));
    }
    sum(state);
  });
  $("bid").addEventListener("click", () => {
    $("bid").disabled = true;
    choose([...chosen]);
  });
  $("hand").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const buttons = [...$("hand").querySelectorAll("button:not(:disabled)")];
    const at = buttons.indexOf(document.activeElement);
    if (buttons.length) buttons[(at + step + buttons.length) % buttons.length].focus();
  });
  $("next").addEventListener("click", () => {
    $("next").disabled = true;
    if (state.stage === "review") act("/next", { match: state.match, deal: state.finished.deal });
    else begin(state.game, state.variant);
  });
  $("leave").addEventListener("click", () => act("/leave", {}));

  listen();
})();
