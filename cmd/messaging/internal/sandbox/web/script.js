"use strict";
(() => {
  const $ = (selector, within = document) => within.querySelector(selector);
  const token = $('meta[name="sandbox-token"]').content;

  // morph makes one element like another, and keeps what is the same: focus, scroll positions and open details stay.
  function morph(from, to) {
    if (from.isEqualNode(to)) return;
    if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName || (from.id || "") !== (to.id || "")) {
      from.replaceWith(to);
      return;
    }
    if (from.nodeType !== Node.ELEMENT_NODE) {
      if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
      return;
    }
    if (from.dataset.kept !== undefined) return; // a medium that was loaded
    for (const { name } of [...from.attributes]) {
      if (!to.hasAttribute(name) && !(name === "open" && from.nodeName === "DETAILS")) from.removeAttribute(name);
    }
    for (const { name, value } of [...to.attributes]) {
      if (from.getAttribute(name) !== value) from.setAttribute(name, value);
    }
    if (["INPUT", "TEXTAREA", "SELECT"].includes(from.nodeName)) return; // what was typed stays
    morphChildren(from, to);
  }

  function morphChildren(from, to) {
    const named = new Map();
    for (const child of from.children) if (child.id) named.set(child.id, child);
    let at = from.firstChild;
    for (const wanted of [...to.childNodes]) {
      const known = wanted.id ? named.get(wanted.id) : undefined;
      if (known) {
        if (known !== at) from.insertBefore(known, at);
        else at = at.nextSibling;
        named.delete(wanted.id);
        morph(known, wanted);
      } else if (at && !wanted.id && !at.id && at.nodeName === wanted.nodeName) {
        const next = at.nextSibling;
        morph(at, wanted);
        at = next;
      } else {
        from.insertBefore(wanted, at);
      }
    }
    while (at) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  }

  // show loads a page and puts it in the place of this one.
  let loading = null, leading = false; // leading: the user goes to another page
  async function show(url, { push = false } = {}) {
    if (leading && !push) {
      refresh(); // later: what the user asked for comes first
      return;
    }
    loading?.abort();
    const mine = (loading = new AbortController());
    leading = push;
    try {
      await replace(url, push, mine);
    } finally {
      if (loading === mine) leading = false;
    }
  }

  async function replace(url, push, mine) {
    let page;
    try {
      const response = await fetch(url, { signal: mine.signal, headers: { Accept: "text/html" } });
      page = new DOMParser().parseFromString(await response.text(), "text/html");
    } catch (err) {
      if (err.name !== "AbortError") connection(false);
      return;
    }
    if (mine.signal.aborted || !$("main", page)) return;
    const before = $("#log");
    const wasAtEnd = !before || before.scrollHeight - before.scrollTop - before.clientHeight < 80;
    const peer = before?.dataset.seen;
    const bar = $("header.bar"), main = $("main");
    document.title = page.title;
    document.body.className = page.body.className;
    morph($(".tabs", bar), $(".tabs", page));
    morph($("#clock", bar), $("#clock", page));
    morph($("#more", bar), $("#more", page));
    document.querySelectorAll("body > .note").forEach((note) => note.remove());
    page.querySelectorAll("body > .note").forEach((note) => main.before(note));
    if (push) {
      history.pushState(null, "", url);
      document.querySelectorAll("details.menu[open]").forEach((menu) => (menu.open = false));
    }
    morph(main, $("main", page));
    const log = $("#log");
    if (log && (wasAtEnd || log.dataset.seen !== peer)) log.scrollTop = log.scrollHeight;
    if (push) settle(url);
    seen();
  }

  // settle moves the focus to what a link led to.
  function settle(url) {
    const target = new URL(url, location.href).hash.slice(1);
    const element = target && document.getElementById(target);
    if (element) {
      element.scrollIntoView({ block: "nearest" });
      if (target === "exchange") element.focus({ preventScroll: true });
    }
  }

  function seen() {
    const log = $("#log");
    if (!log || document.hidden) return;
    const open = JSON.parse(log.dataset.seen);
    if (open.Unread) call("POST", "/_sandbox/seen", { channel: open.Channel, to: open.Peer });
  }

  // call makes a request to the API, and says what went wrong.
  async function call(method, path, body) {
    try {
      const response = await fetch(path, {
        method,
        headers: { "Content-Type": "application/json", "X-Sandbox-Token": token },
        body: JSON.stringify(body),
      });
      const result = await response.json();
      if (!response.ok) throw new Error(result.error || response.statusText);
      return result;
    } catch (err) {
      toast(err.message, true);
      return null;
    }
  }

  function toast(text, isBad) {
    const note = document.createElement("p");
    note.className = isBad ? "toast bad" : "toast";
    note.textContent = text;
    $("#toasts").append(note);
    setTimeout(() => note.remove(), isBad ? 8000 : 3500);
  }

  function connection(isUp) {
    const live = $("#live");
    live.classList.toggle("down", !isUp);
    live.title = isUp ? "Live" : "Not connected";
    $(".sr", live).textContent = live.title;
  }

  // Pages are refreshed at most every 250 ms, less often if that takes long, and once more after the last change.
  let due = false, last = 0, took = 0, timer = 0;
  function refresh() {
    due = true;
    if (timer) return;
    timer = setTimeout(async () => {
      timer = 0;
      if (document.hidden) return;
      due = false;
      const began = Date.now();
      await show(location.href);
      last = Date.now();
      took = last - began;
    }, Math.max(0, Math.max(250, 3 * took) - (Date.now() - last)));
  }
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && due) refresh();
  });

  function listen() {
    const events = new EventSource("/_sandbox/events");
    events.onopen = () => {
      connection(true);
      refresh(); // what happened meanwhile
    };
    events.onerror = () => {
      connection(false);
      if (events.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
    };
    events.onmessage = (message) => {
      const event = JSON.parse(message.data);
      if (event.say) $("#say").textContent = event.say;
      refresh();
    };
  }

  // act does what a button or a form asks of the API.
  async function act(element, body) {
    const [method, path] = element.dataset.api.split(" ");
    if (element.dataset.confirm && !confirm(element.dataset.confirm)) return;
    const button = element.nodeName === "FORM" ? $("button", element) : element;
    button.setAttribute("aria-busy", "true");
    const result = await call(method, path, body);
    button.removeAttribute("aria-busy");
    if (!result) return;
    if (result.note) toast(result.note);
    const last = result.calls?.at(-1);
    if (last) toast(last.status ? `The webhook responded ${last.status} in ${last.milliseconds} ms` : `The webhook gave no response: ${last.error}`, !last.status || last.status >= 400);
    element.closest("details.menu")?.removeAttribute("open");
    if (element.dataset.clear !== undefined) element.reset();
    refresh();
  }

  function fields(form) {
    const body = form.dataset.json ? JSON.parse(form.dataset.json) : {};
    for (const input of form.elements) {
      if (!input.name || (input.type === "checkbox" && !input.checked)) continue;
      if (input.dataset.list !== undefined) (body[input.name] ??= []).push(input.value);
      else if (input.dataset.percent !== undefined) body[input.name] = Number(input.value) / 100;
      else if (input.dataset.number !== undefined) body[input.name] = Number(input.value);
      else body[input.name] = input.value;
    }
    return form.dataset.webhook ? { webhooks: { [form.dataset.webhook]: body.url } } : body;
  }

  document.addEventListener("click", (event) => {
    const menu = event.target.closest("details.menu");
    document.querySelectorAll("details.menu[open]").forEach((open) => open !== menu && open.removeAttribute("open"));
    const link = event.target.closest("a[data-nav]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
      event.preventDefault();
      show(link.href, { push: true });
      return;
    }
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.api) act(button, button.dataset.json ? JSON.parse(button.dataset.json) : {});
    else if (button.dataset.copy !== undefined) copy(button.dataset.copy);
    else if (button.dataset.media) load(button);
    else if (button.id === "theme") nextTheme();
    else if (button.id === "keys") $("#shortcuts").showModal();
  });

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      toast("Copied");
    } catch {
      toast("The browser does not allow copying here", true);
    }
  }

  // load shows a medium in the place of its button: nothing is fetched before.
  function load(button) {
    const { media, kind } = button.dataset;
    const name = { video: "video", audio: "audio", image: "img", sticker: "img", gif: "img" }[kind];
    let element;
    if (name) {
      element = document.createElement(name);
      element.referrerPolicy = "no-referrer";
      if (name === "img") element.alt = kind + " of the message";
      else element.controls = true;
      element.onerror = () => toast("The " + kind + " cannot be shown", true);
      element.src = media;
    } else {
      element = document.createElement("a");
      element.href = media;
      element.textContent = media;
      element.target = "_blank";
      element.rel = "noopener noreferrer nofollow";
    }
    const holder = button.parentElement;
    holder.dataset.kept = "";
    holder.replaceChildren(element);
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.api) {
      event.preventDefault();
      act(form, fields(form));
    } else if (form.dataset.search !== undefined) {
      event.preventDefault();
    }
  });

  let typing = 0;
  document.addEventListener("input", (event) => {
    if (event.target.id === "reply") {
      event.target.style.height = "auto";
      event.target.style.height = Math.min(event.target.scrollHeight, 140) + "px";
    }
    if (event.target.id !== "q") return;
    clearTimeout(typing);
    typing = setTimeout(() => {
      const url = new URL(location.href);
      url.searchParams.set("q", event.target.value);
      history.replaceState(null, "", url);
      show(url.href);
    }, 150);
  });

  let chord = false;
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest("input, textarea, select");
    if (event.key === "Escape") {
      const menu = event.target.closest("details.menu[open]") || $("details.menu[open]");
      if (menu) {
        menu.open = false;
        $("summary", menu).focus();
      } else if (field) field.blur();
      return;
    }
    if (event.target.id === "reply" && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      event.target.form.requestSubmit();
      return;
    }
    if (field || event.ctrlKey || event.metaKey || event.altKey || $("dialog[open]")) return;
    const pages = { c: "/_sandbox/", f: "/_sandbox/page/faults", t: "/_sandbox/page/traffic", o: "/_sandbox/page/connect" };
    if (chord && pages[event.key]) show(pages[event.key], { push: true });
    else if (event.key === "/") $("#q")?.focus();
    else if (event.key === "r") $("#reply")?.focus();
    else if (event.key === "?") $("#shortcuts").showModal();
    else if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
    else {
      chord = event.key === "g";
      return;
    }
    chord = false;
    event.preventDefault();
  });

  function step(by) {
    const threads = [...document.querySelectorAll("[data-thread]")];
    if (!threads.length) return;
    const at = threads.findIndex((thread) => thread.getAttribute("aria-current"));
    const next = threads[Math.min(threads.length - 1, Math.max(0, at + by))];
    next.focus();
    show(next.href, { push: true });
  }

  addEventListener("popstate", () => show(location.href));

  function applyTheme(theme) {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  }
  function nextTheme() {
    const order = ["", "light", "dark"];
    const theme = order[(order.indexOf(document.documentElement.dataset.theme || "") + 1) % order.length];
    try { localStorage.setItem("sandbox-theme", theme); } catch { /* private mode */ }
    applyTheme(theme);
    toast("Color scheme: " + (theme || "as the system"));
  }
  try { applyTheme(localStorage.getItem("sandbox-theme")); } catch { /* private mode */ }

  const log = $("#log");
  if (log) log.scrollTop = log.scrollHeight;
  seen();
  listen();
})();
