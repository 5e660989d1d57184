"use strict";
(() => {
  const $ = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const meta = (name, within = document) => $(`meta[name="sandbox-${name}"]`, within)?.content;
  const root = meta("root");
  let token = meta("token");

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
    if (from.dataset.kept !== undefined) return; // a loaded medium, and the pill
    const chosen = from.closest("[data-tabbed]") ? ["hidden", "aria-selected", "tabindex"] : from.nodeName === "DETAILS" ? ["open"] : [];
    for (const name of new Set([...from.getAttributeNames(), ...to.getAttributeNames()])) {
      if (chosen.includes(name)) continue; // set by the user
      if (!to.hasAttribute(name)) from.removeAttribute(name);
      else if (from.getAttribute(name) !== to.getAttribute(name)) from.setAttribute(name, to.getAttribute(name));
    }
    if (["INPUT", "TEXTAREA", "SELECT"].includes(from.nodeName)) return; // typed text stays
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

  // show loads a page and replaces this one.
  let loading = null, leading = false; // leading: the user opens another page
  async function show(url, { push = false } = {}) {
    if (leading && !push) return refresh(); // later: the page that the user opened comes first
    loading?.abort();
    const request = (loading = new AbortController());
    leading = push;
    try {
      await replace(url, push, request);
    } finally {
      if (loading === request) leading = false;
    }
  }

  async function replace(url, push, request) {
    let page;
    try {
      const response = await fetch(url, { signal: request.signal, headers: { Accept: "text/html" } });
      page = new DOMParser().parseFromString(await response.text(), "text/html");
      connection(true);
    } catch (err) {
      if (err.name !== "AbortError") connection(false);
      return;
    }
    if (request.signal.aborted || !$("main", page)) return;
    token = meta("token", page); // a new one after a restart
    saveDraft();
    const before = readingPosition();
    const bar = $("header.bar"), main = $("main");
    document.title = page.title;
    document.body.className = page.body.className;
    for (const part of [".tabs", "#clock", "#more"]) morph($(part, bar), $(part, page));
    all("body > .note").forEach((note) => note.remove());
    all("body > .note", page).forEach((note) => main.before(note));
    if (push) {
      history.pushState(null, "", url);
      all("details.menu[open]").forEach((menu) => (menu.open = false));
    }
    morph(main, $("main", page));
    restoreDraft();
    arrange(before, push);
    if (push) settle(url);
  }

  // readingPosition returns the part of a conversation that is in view.
  function readingPosition() {
    const log = $("#log");
    if (!log) return null;
    const rest = log.scrollHeight - log.scrollTop - log.clientHeight;
    const edge = log.getBoundingClientRect().top, entries = all(".entry", log);
    const read = entries.find((entry) => entry.getBoundingClientRect().bottom > edge);
    return {
      conversation: log.dataset.conversation, at: log.dataset.at, isAtEnd: rest < 80 && !log.dataset.newest, 
      read: read?.id, top: read?.getBoundingClientRect().top,
    };
  }

  // arrange scrolls a conversation to its end or to the requested message. It keeps the position of a user who reads further up.
  function arrange(before, isAsked) {
    const log = $("#log");
    if (!log) return;
    const isSame = before && before.conversation === log.dataset.conversation;
    const at = log.dataset.at && document.getElementById("m-" + log.dataset.at);
    if (!isSame || (isAsked && before.at !== log.dataset.at)) {
      if (at) at.scrollIntoView({ block: new URL(location.href).searchParams.has("message") ? "center" : "nearest" });
      else log.scrollTop = log.scrollHeight;
      if (!isSame) known = Number(log.dataset.total);
    } else if (before.isAtEnd && !log.dataset.newest) {
      log.scrollTop = log.scrollHeight;
    } else {
      const read = before.read && document.getElementById(before.read);
      if (read) log.scrollTop += read.getBoundingClientRect().top - before.top; // an entry above may be gone
    }
    pill();
    ends.disconnect();
    ends.observe(log);
  }

  // The end of a log stays in view if a notice or the keyboard makes the log smaller.
  let wasAtEnd = true;
  const ends = new ResizeObserver(([{ target }]) => { if (wasAtEnd) target.scrollTop = target.scrollHeight; });

  // pill shows how many messages arrived while the user read further up.
  let known = 0, waiting = 0; // known: how many messages there were when the end was last in view
  function pill() {
    const log = $("#log"), button = $("#pill");
    wasAtEnd = readingPosition().isAtEnd;
    if (wasAtEnd) known = Number(log.dataset.total);
    waiting = Number(log.dataset.total) - known;
    button.hidden = waiting <= 0;
    button.textContent = waiting + " new";
  }

  function toEnd() {
    const log = $("#log");
    if (log.dataset.newest) show(log.dataset.newest, { push: true });
    log.scrollTop = log.scrollHeight;
  }

  document.addEventListener("scroll", (event) => {
    if (event.target.id !== "log") return;
    pill();
  }, true);

  // Drafts belong to their conversations, and survive a reload.
  function draft(form, text) {
    const key = "sandbox-draft:" + root + form.dataset.draft;
    try {
      if (text !== undefined) sessionStorage.setItem(key, text);
      return sessionStorage.getItem(key) ?? "";
    } catch { return ""; } // private mode
  }
  function saveDraft() {
    const form = $("form[data-draft]");
    if (form) draft(form, $("textarea", form).value);
  }
  function restoreDraft() {
    const form = $("form[data-draft]");
    if (!form) return;
    const field = $("textarea", form);
    if (form.dataset.draft !== field.draftOf) {
      field.draftOf = form.dataset.draft;
      write(form, draft(form));
    }
    enable();
  }
  function write(form, text) {
    const field = $("textarea", form);
    field.value = text;
    grow(field);
    draft(form, text);
  }
  function grow(field) {
    field.style.height = "auto";
    field.style.height = Math.min(field.scrollHeight, 140) + "px";
  }

  // settle moves the focus to the target of a link.
  function settle(url) {
    const target = decodeURIComponent(new URL(url, location.href).hash.slice(1));
    const element = target && document.getElementById(target);
    if (element) {
      element.scrollIntoView({ block: "nearest" });
      if (target === "exchange" || target === "details") element.focus({ preventScroll: true });
    }
  }

  // call makes a request to the API, and shows its error.
  async function call(method, path, body, isAgain = false) {
    try {
      const response = await fetch(path, {
        method,
        headers: { "Content-Type": "application/json", "X-Sandbox-Token": token },
        body: JSON.stringify(body),
      });
      const result = await response.json();
      if (response.status === 403 && !isAgain) { // the sandbox was restarted
        await show(location.href);
        return call(method, path, body, true);
      }
      if (!response.ok) throw new Error(result.error || response.statusText);
      return result;
    } catch (err) {
      toast(err instanceof TypeError ? "The sandbox is not running." : err.message, true);
      return null;
    }
  }

  function toast(text, isBad) {
    const note = document.createElement("p");
    note.className = isBad ? "toast bad" : "toast";
    note.textContent = text;
    $("#toasts").replaceChildren(note);
    setTimeout(() => note.remove(), isBad ? 8000 : 3500);
  }

  let isUp = true;
  function connection(now) {
    isUp = now;
    const live = $("#live");
    live.classList.toggle("down", !isUp);
    live.title = isUp ? "Live" : "Not connected";
    $(".sr", live).textContent = live.title;
    $("#offline").hidden = isUp;
    enable();
  }

  // enable enables the composer while the sandbox runs.
  function enable() {
    all(".composer textarea, .composer button, .composer input").forEach((field) => (field.disabled = !isUp));
  }

  // Pages are refreshed at most every 250 ms, less often if that takes long, and once more after the last change.
  let due = false, last = 0, duration = 0, timer = 0;
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
      duration = last - began;
    }, Math.max(0, Math.max(250, 3 * duration) - (Date.now() - last)));
  }
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && due) refresh();
  });

  // listen subscribes to changes. A browser opens at most six connections, so tabs share one stream. Where they cannot, hidden tabs close theirs.
  function listen() {
    if (window.SharedWorker) {
      const { port } = new SharedWorker(root + "static/events.js");
      port.onmessage = ({ data }) => onChange(data);
      addEventListener("pagehide", () => port.postMessage("gone"));
      addEventListener("pageshow", (event) => event.persisted && location.reload());
      return;
    }
    let close;
    const follow = () => {
      close?.();
      close = document.hidden ? null : stream(root + "events", onChange);
    };
    document.addEventListener("visibilitychange", follow);
    follow();
  }

  function onChange({ up = true, say }) {
    connection(up);
    if (say) $("#say").textContent = say;
    if (up) refresh();
  }

  // act makes the API request of a button or a form.
  async function act(element, body) {
    const [method, path] = element.dataset.api.split(" ");
    if (element.dataset.confirm && !confirm(element.dataset.confirm)) return;
    const button = element.nodeName === "FORM" ? $("button", element) : element;
    if (button.getAttribute("aria-busy")) return; // in progress
    const isDraft = element.dataset.draft !== undefined;
    if (isDraft) write(element, ""); // now, so that another Enter sends nothing
    else button.setAttribute("aria-busy", "true");
    const result = await call(method, path, body);
    button.removeAttribute("aria-busy");
    if (!result) {
      if (isDraft) write(element, $("textarea", element).value || body.text); // not sent
      return;
    }
    if (result.note) toast(result.note);
    const last = result.calls?.at(-1);
    if (last) toast(last.status ? `The webhook responded ${last.status} in ${last.milliseconds} ms` : `The webhook gave no response: ${last.error}`, !last.status || last.status >= 400);
    element.closest("details.menu")?.removeAttribute("open");
    if (element.dataset.open !== undefined && result.url) show(result.url, { push: true });
    else refresh();
  }

  function fields(form) {
    const body = form.dataset.json ? JSON.parse(form.dataset.json) : {};
    if (form.dataset.scoped !== undefined) Object.assign(body, scope());
    for (const input of form.elements) {
      if (!input.name || (input.type === "checkbox" && !input.checked)) continue;
      body[input.name] = input.type === "number" ? Number(input.value) : input.value;
    }
    return form.dataset.webhook ? { webhooks: { [form.dataset.webhook]: body.url } } : body;
  }

  // scope returns the requests that the next fault is for.
  function scope() {
    const form = $("#scope"), body = {};
    for (const name of ["to", "operation"]) if (form.elements[name].value) body[name] = form.elements[name].value;
    const amount = form.elements.amount.value, value = form.elements[amount].value;
    if (Number(form.elements.skip.value) > 0) body.skip = Number(form.elements.skip.value);
    body[amount] = amount === "duration" ? value : amount === "share" ? Number(value) / 100 : Number(value);
    return body;
  }

  document.addEventListener("click", (event) => {
    const menu = event.target.closest("details.menu");
    all("details.menu[open]").forEach((open) => open !== menu && open.removeAttribute("open"));
    const link = event.target.closest("a[data-nav]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
      event.preventDefault();
      show(link.href, { push: true });
      return;
    }
    const bubble = event.target.closest(".bubble[data-href]");
    if (bubble && !event.target.closest("a, button, summary, details, video, audio, img, pre") && !String(getSelection())) {
      show(bubble.dataset.href, { push: true });
      return;
    }
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.api) act(button, button.dataset.json ? JSON.parse(button.dataset.json) : {});
    else if (button.dataset.copy !== undefined) copy(button);
    else if (button.dataset.load !== undefined) load(button);
    else if (button.getAttribute("role") === "tab") choose(button);
    else if (button.id === "pill") toEnd();
    else if (button.id === "keys") $("#shortcuts").showModal();
  });

  // choose shows the panel of a tab.
  function choose(tab, isFocused = false) {
    for (const other of all("[role=tab]", tab.closest("[role=tablist]"))) {
      const isChosen = other === tab;
      other.setAttribute("aria-selected", isChosen);
      other.tabIndex = isChosen ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = !isChosen;
    }
    if (isFocused) tab.focus();
  }

  async function copy(button) {
    let text = button.dataset.copy;
    try {
      if (button.dataset.secret !== undefined) text = await withSecrets(text);
      await navigator.clipboard.writeText(text);
      toast("Copied");
    } catch {
      toast("The browser does not allow copying here", true);
    }
  }

  // withSecrets replaces the variables in a command by the credentials on the page Connect.
  async function withSecrets(text) {
    const page = new DOMParser().parseFromString(await (await fetch(root + "page/connect")).text(), "text/html");
    const secrets = JSON.parse($("[data-secrets]", page).dataset.secrets);
    for (const [name, value] of Object.entries(secrets)) text = text.replaceAll("$" + name, value);
    return text;
  }

  // load replaces a button by its medium, which is fetched only then.
  function load(button) {
    const holder = button.closest(".media"), failed = $(".failed", holder);
    const medium = $("template", holder).content.firstElementChild.cloneNode(true);
    medium.onerror = () => {
      medium.remove();
      failed.hidden = false;
    };
    if (!medium.href) medium.src = $(".load", holder).dataset.media;
    holder.dataset.kept = "";
    $(".load", holder).hidden = failed.hidden = true;
    holder.prepend(medium);
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.api) {
      event.preventDefault();
      if (form.dataset.draft !== undefined && !$("textarea", form).value.trim()) return; // nothing to send
      const url = form.elements.url;
      if (form.dataset.webhook && !url.value && url.dataset.was && !confirm("Remove the webhook? The field is empty.")) {
        url.value = url.dataset.was;
        return;
      }
      act(form, fields(form));
    } else if (form.dataset.search !== undefined || form.dataset.scope !== undefined) {
      event.preventDefault();
    }
  });

  let typing = 0;
  document.addEventListener("input", (event) => {
    if (event.target.id === "reply") {
      grow(event.target);
      saveDraft();
    }
    if (event.target.id !== "q") return;
    clearTimeout(typing);
    typing = setTimeout(() => search(event.target.value), 150);
  });

  // search shows the conversations that match a text. With isReset it also removes the filter.
  function search(text, isReset) {
    clearTimeout(typing);
    const url = new URL(location.href);
    url.hash = "";
    url.searchParams.delete("page");
    if (text) url.searchParams.set("q", text);
    else url.searchParams.delete("q");
    if (isReset) url.searchParams.delete("only");
    history.replaceState(null, "", url);
    show(url.href);
  }

  let chord = false;
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest("input, textarea, select");
    if (event.key === "Escape") return escape(event, field);
    if (event.target.id === "reply" && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      event.target.form.requestSubmit();
      return;
    }
    if (event.target.getAttribute("role") === "tab" && ["ArrowLeft", "ArrowRight"].includes(event.key)) {
      const tabs = all("[role=tab]", event.target.closest("[role=tablist]"));
      const by = event.key === "ArrowRight" ? 1 : -1;
      choose(tabs[(tabs.indexOf(event.target) + by + tabs.length) % tabs.length], true);
      return;
    }
    if (field || event.ctrlKey || event.metaKey || event.altKey || $("dialog[open]")) return;
    const pages = { c: root, f: root + "page/faults", t: root + "page/traffic", o: root + "page/connect" };
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

  // escape closes the nearest open element. In the search it empties the field and removes the filter.
  function escape(event, field) {
    const menu = event.target.closest("details.menu[open]") || $("details.menu[open]");
    if (menu) {
      menu.open = false;
      $("summary", menu).focus();
    } else if (field?.id === "q") {
      event.preventDefault();
      field.value = "";
      field.blur();
      search("", true);
    } else if (field) field.blur();
    else if ($(".board.picked .close")) show($(".close").href, { push: true });
  }

  function step(by) {
    const threads = all("[data-thread]");
    if (!threads.length) return;
    const at = threads.findIndex((thread) => thread.getAttribute("aria-current"));
    const next = threads[Math.min(threads.length - 1, Math.max(0, at + by))];
    next.focus();
    show(next.href, { push: true });
  }

  addEventListener("popstate", () => show(location.href));

  restoreDraft();
  arrange(null, true);
  listen();
})();
