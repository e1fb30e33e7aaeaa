// Comfort on top of forms that work without it: pile first and then card, marks on what is legal,
// shortcuts. The server judges every play; nothing here knows a rule.
"use strict";

(() => {
  const board = () => document.getElementById("board");
  const cards = () => [...document.querySelectorAll("#lay input[name=card]")];
  const piles = () => [...document.querySelectorAll("#lay button[name=pile]")];
  const chosenCard = () => cards().find((card) => card.checked);
  const chosenPile = () => piles().find((pile) => pile.classList.contains("chosen"));

  const gapsOf = (card) =>
    new Map(card.dataset.gaps.split(" ").filter(Boolean).map((part) => part.split(":")));

  const mark = () => {
    const card = chosenCard();
    const gaps = card ? gapsOf(card) : null;
    for (const pile of piles()) {
      const gap = gaps && gaps.get(pile.value);
      pile.classList.toggle("target", gap !== null && gap !== undefined);
      pile.classList.toggle("off", Boolean(gaps) && gap === undefined);
      pile.querySelector(".gap").textContent = !gaps ? "" : gap === undefined ? "✕" : signed(gap);
    }
    const pile = chosenPile();
    for (const each of cards()) {
      const fits = Boolean(pile) && gapsOf(each).has(pile.value);
      each.nextElementSibling.classList.toggle("target", fits);
    }
  };

  const signed = (gap) => (Number(gap) > 0 ? "✓ +" + gap : "✓ ↩ " + gap.replace("-", "−"));

  const choosePile = (pile) => {
    const before = chosenPile();
    for (const each of piles()) {
      const now = each === pile && each !== before;
      each.classList.toggle("chosen", now);
      each.setAttribute("aria-pressed", String(now));
    }
    mark();
  };

  const chooseCard = (card) => {
    const pile = chosenPile();
    card.checked = true;
    if (pile) pile.click();
    else mark();
  };

  document.addEventListener("click", (event) => {
    const pile = event.target.closest("#lay button[name=pile]");
    if (pile && !chosenCard()) {
      event.preventDefault();
      choosePile(pile);
      return;
    }
    const label = event.target.closest("#lay label.card");
    const card = label && document.getElementById(label.htmlFor);
    if (card && !card.matches(":disabled") && chosenPile()) {
      event.preventDefault();
      chooseCard(card);
    }
  });

  document.addEventListener("change", (event) => {
    if (event.target.matches("#lay input[name=card]")) mark();
    if (event.target.id === "players") showSeats();
  });

  const press = (id) => {
    const button = document.getElementById(id);
    if (button && !button.disabled) button.click();
  };

  const KEYS = { u: "undo", h: "ask", t: "end", n: "step", s: "skip" };

  document.addEventListener("keydown", (event) => {
    const off = !board() || board().dataset.keys !== "on";
    const typing = event.target.matches("input:not([type=radio]), select, textarea");
    if (off || typing || event.ctrlKey || event.altKey || event.metaKey) return;
    const key = event.key.toLowerCase();
    const card = /^[1-9]$/.test(key) && cards()[Number(key) - 1];
    const pile = "qwer".includes(key) && key.length === 1 && piles()["qwer".indexOf(key)];
    if (card && !card.matches(":disabled")) {
      chooseCard(card);
      card.focus();
    } else if (pile && !pile.disabled) pile.click();
    else if (KEYS[key]) press(KEYS[key]);
    else return;
    event.preventDefault();
  });

  // A button that is gone takes the focus with it: the page itself gets it, not the window.
  document.addEventListener("htmx:afterSettle", () => {
    if (document.activeElement === document.body)
      document.getElementById("main").focus({ preventScroll: true });
  });

  const showSeats = () => {
    const players = document.getElementById("players");
    if (!players) return;
    for (const label of document.querySelectorAll("label[data-seat]"))
      label.hidden = Number(label.dataset.seat) > Number(players.value);
  };
  showSeats();

  // What was chosen before the scripts had come (or was restored by the browser) counts as well.
  document.addEventListener("htmx:load", () => {
    const slider = document.querySelector("#replay #step");
    if (slider && slider.value !== slider.defaultValue)
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    if (chosenCard()) mark();
  });
})();
