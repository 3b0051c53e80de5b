// A page that changes while one looks at it: when the server says that there is something new, the
// page is asked for again, and its parts marked data-live take the place of the old ones.
"use strict";
(() => {
  const parts = () => document.querySelectorAll("[data-live]:not([data-live=''])");
  if (!parts().length || !window.EventSource) return;
  const source = new EventSource("/events");
  let asked = false, again = false;

  async function refresh() {
    if (asked) { again = true; return; }
    asked = true;
    try {
      do {
        again = false;
        const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
        if (answer.ok) show(new DOMParser().parseFromString(await answer.text(), "text/html"));
      } while (again);
    } catch {
      // The server is gone or busy: the next event, or a new connection, tries again.
    } finally {
      asked = false;
    }
  }

  function show(fresh) {
    for (const old of parts()) {
      const now = fresh.querySelector(`[data-live="${old.dataset.live}"]`);
      if (now && now.innerHTML !== old.innerHTML && !old.contains(document.activeElement)) {
        old.replaceChildren(...now.childNodes);
      }
    }
  }

  source.addEventListener("change", refresh);
  source.addEventListener("open", () => {
    document.documentElement.dataset.watching = "yes";
    refresh();
  });
  source.addEventListener("error", () => { document.documentElement.dataset.watching = "no"; });
  addEventListener("pagehide", () => source.close());
})();
