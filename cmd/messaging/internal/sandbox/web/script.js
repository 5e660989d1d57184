"use strict";

// The script of all pages. When the sandbox changes, it changes the parts of the page that differ, so that a page is never loaded anew. The function
// morph is in morph.js, and stream in events.js.
(() => {
  const query = (selector, within = document) => within.querySelector(selector);
  const queryAll = (selector, within = document) => [...within.querySelectorAll(selector)];
  const meta = (name, within = document) => query(`meta[name="sandbox-${name}"]`, within)?.content;
  const parse = (html) => new DOMParser().parseFromString(html, "text/html");

  const root = meta("root"); // the path of this sandbox or space, with a slash at the end
  let token = meta("token"); // proves to the API that a request comes from this page

  // Pages.

  let loading = null; // the AbortController of the page that was requested last
  let isVisiting = false; // that page was opened by the user, and is not here yet

  // visit shows a page that the user opened.
  async function visit(url) {
    await loadPage(url, true);
  }

  // reload shows the current state of this page, or of the page that the address was set to.
  async function reload() {
    if (isVisiting) {
      refresh(); // later: the page that the user opened comes first
      return;
    }
    await loadPage(location.href, false);
  }

  async function loadPage(url, isVisit) {
    loading?.abort();
    const request = new AbortController();
    loading = request;
    isVisiting = isVisit;
    try {
      const page = await fetchPage(url, request.signal);
      if (page && !request.signal.aborted) showPage(page, url, isVisit);
    } finally {
      if (loading === request) isVisiting = false;
    }
  }

  // fetchPage returns a page of the sandbox, or null if there is none.
  async function fetchPage(url, signal) {
    try {
      const response = await fetch(url, { signal, headers: { Accept: "text/html" } });
      const page = parse(await response.text());
      setConnected(true);
      return query("main", page) ? page : null;
    } catch (err) {
      if (err.name !== "AbortError") setConnected(false);
      return null;
    }
  }

  function showPage(page, url, isVisit) {
    token = meta("token", page); // another one after a restart of the sandbox
    saveDraft();
    const before = readingPosition();
    showHead(page);
    if (isVisit) {
      history.pushState(null, "", url);
      closeMenus();
    }
    morph(query("main"), query("main", page));
    restoreDraft();
    scrollLog(before, isVisit);
    if (isVisit) goToTarget(url);
  }

  // showHead shows everything of a page that is above its main part.
  function showHead(page) {
    document.title = page.title;
    document.body.className = page.body.className;
    for (const part of ["header.bar .tabs", "#clock", "#more"]) morph(query(part), query(part, page));
    for (const note of queryAll("body > .note")) note.remove();
    for (const note of queryAll("body > .note", page)) query("main").before(note);
  }

  // goToTarget shows the element that a link leads to. Details and exchanges get the focus.
  function goToTarget(url) {
    const id = decodeURIComponent(new URL(url, location.href).hash.slice(1));
    const target = id && document.getElementById(id);
    if (!target) return;
    target.scrollIntoView({ block: "nearest" });
    if (id === "exchange" || id === "details") target.focus({ preventScroll: true });
  }

  function closeMenus(except = null) {
    for (const menu of queryAll("details.menu[open]")) {
      if (menu !== except) menu.open = false;
    }
  }

  // The log of a conversation. data-newest is the address of its end, if that is on another page.

  let seen = 0; // how many messages there were when the end was last in view
  let wasAtEnd = true;

  // An observer keeps the end in view when a notice or the keyboard makes the log smaller.
  const resizes = new ResizeObserver(([{ target }]) => {
    if (wasAtEnd) scrollToEnd(target);
  });

  function scrollToEnd(log) {
    log.scrollTop = log.scrollHeight;
  }

  function isAtEnd(log) {
    const below = log.scrollHeight - log.scrollTop - log.clientHeight;
    return below < 80 && !log.dataset.newest;
  }

  // readingPosition returns which part of a conversation is in view, or null if the page shows none.
  function readingPosition() {
    const log = query("#log");
    if (!log) return null;
    const top = log.getBoundingClientRect().top;
    const firstInView = queryAll(".entry", log).find((entry) => entry.getBoundingClientRect().bottom > top);
    return {
      conversation: log.dataset.conversation,
      message: log.dataset.at, // that the page was opened for
      isAtEnd: isAtEnd(log),
      entry: firstInView?.id,
      entryTop: firstInView?.getBoundingClientRect().top,
    };
  }

  // scrollLog scrolls a conversation to the requested message or to its end. A user who reads further up stays there.
  function scrollLog(before, isVisit) {
    const log = query("#log");
    if (!log) return;
    const isSameConversation = before?.conversation === log.dataset.conversation;
    const isSameMessage = before?.message === log.dataset.at;
    if (!isSameConversation) {
      seen = Number(log.dataset.total);
      scrollToMessage(log);
    } else if (isVisit && !isSameMessage) {
      scrollToMessage(log);
    } else if (before.isAtEnd && !log.dataset.newest) {
      scrollToEnd(log);
    } else {
      scrollBack(log, before);
    }
    updatePill();
    resizes.disconnect();
    resizes.observe(log);
  }

  // scrollToMessage shows the message that the page was opened for, or the end.
  function scrollToMessage(log) {
    const message = log.dataset.at && document.getElementById("m-" + log.dataset.at);
    if (!message) {
      scrollToEnd(log);
      return;
    }
    const isRequested = new URL(location.href).searchParams.has("message");
    message.scrollIntoView({ block: isRequested ? "center" : "nearest" });
  }

  // scrollBack moves the entry that was in view to where it was. The entry may be gone.
  function scrollBack(log, before) {
    const entry = before.entry && document.getElementById(before.entry);
    if (entry) log.scrollTop += entry.getBoundingClientRect().top - before.entryTop;
  }

  // updatePill shows how many messages have arrived while the user reads further up.
  function updatePill() {
    const log = query("#log");
    const pill = query("#pill");
    const total = Number(log.dataset.total);
    wasAtEnd = isAtEnd(log);
    if (wasAtEnd) seen = total;
    pill.hidden = total <= seen;
    pill.textContent = `${total - seen} new`;
  }

  function goToEnd() {
    const log = query("#log");
    if (log.dataset.newest) visit(log.dataset.newest);
    scrollToEnd(log);
  }

  document.addEventListener("scroll", (event) => {
    if (event.target.id === "log") updatePill();
  }, true);

  // Drafts of answers. They belong to their conversations, and survive a reload.

  const draftKey = (form) => "sandbox-draft:" + root + form.dataset.draft;

  function readDraft(form) {
    try {
      return sessionStorage.getItem(draftKey(form)) ?? "";
    } catch {
      return ""; // private mode
    }
  }

  function storeDraft(form, text) {
    try {
      sessionStorage.setItem(draftKey(form), text);
    } catch {
      // private mode: the draft is lost when the page closes
    }
  }

  function saveDraft() {
    const form = query("form[data-draft]");
    if (form) storeDraft(form, query("textarea", form).value);
  }

  function restoreDraft() {
    const form = query("form[data-draft]");
    if (!form) return;
    const field = query("textarea", form);
    if (field.draftOf !== form.dataset.draft) { // a property, because morph would remove an attribute
      field.draftOf = form.dataset.draft;
      setDraft(form, readDraft(form));
    }
    enableComposer();
  }

  // setDraft writes a text into a form, and stores it.
  function setDraft(form, text) {
    const field = query("textarea", form);
    field.value = text;
    fitHeight(field);
    storeDraft(form, text);
  }

  function fitHeight(field) {
    const maxHeight = 140;
    field.style.height = "auto";
    field.style.height = Math.min(field.scrollHeight, maxHeight) + "px";
  }

  // Requests to the API.

  // call makes a request and returns its result. If it fails, it shows the error and returns null.
  async function call(method, path, body, isRetry = false) {
    try {
      const response = await fetch(path, {
        method,
        headers: { "Content-Type": "application/json", "X-Sandbox-Token": token },
        body: JSON.stringify(body),
      });
      const result = await response.json();
      if (response.status === 403 && !isRetry) { // the sandbox was restarted, and has another token
        await reload();
        return call(method, path, body, true);
      }
      if (!response.ok) throw new Error(result.error || response.statusText);
      return result;
    } catch (err) {
      const isOffline = err instanceof TypeError;
      toast(isOffline ? "The sandbox is not running." : err.message, true);
      return null;
    }
  }

  // act makes the request of a button or a form, and shows what came of it.
  async function act(element, body) {
    const question = element.dataset.confirm;
    if (question && !confirm(question)) return;
    const button = element.nodeName === "FORM" ? query("button", element) : element;
    if (button.getAttribute("aria-busy")) return; // its last request is in progress
    const isDraft = element.dataset.draft !== undefined;
    if (isDraft) setDraft(element, ""); // before the request, so that another Enter sends nothing
    else button.setAttribute("aria-busy", "true");
    const [method, path] = element.dataset.api.split(" ");
    const result = await call(method, path, body);
    button.removeAttribute("aria-busy");
    if (result) showResult(element, result);
    else if (isDraft) setDraft(element, query("textarea", element).value || body.text); // it was not sent
  }

  function showResult(element, result) {
    if (result.note) toast(result.note);
    const lastCall = result.calls?.at(-1);
    if (lastCall) toastCall(lastCall);
    element.closest("details.menu")?.removeAttribute("open");
    const opensResult = element.dataset.open !== undefined && result.url;
    if (opensResult) visit(result.url);
    else refresh();
  }

  // toastCall says how a webhook responded.
  function toastCall({ status, milliseconds, error }) {
    if (status) toast(`The webhook responded ${status} in ${milliseconds} ms`, status >= 400);
    else toast(`The webhook gave no response: ${error}`, true);
  }

  function toast(text, isBad) {
    const note = document.createElement("p");
    note.className = isBad ? "toast bad" : "toast";
    note.textContent = text;
    query("#toasts").replaceChildren(note);
    setTimeout(() => note.remove(), isBad ? 8000 : 3500);
  }

  // bodyOf returns the body of a form's request.
  function bodyOf(form) {
    const body = jsonOf(form);
    if (form.dataset.scoped !== undefined) Object.assign(body, faultScope());
    for (const input of form.elements) {
      const isUnchecked = input.type === "checkbox" && !input.checked;
      if (!input.name || isUnchecked) continue;
      body[input.name] = input.type === "number" ? Number(input.value) : input.value;
    }
    const channel = form.dataset.webhook;
    return channel ? { webhooks: { [channel]: body.url } } : body;
  }

  // jsonOf returns the object in data-json, which is empty if there is none.
  function jsonOf(element) {
    return element.dataset.json ? JSON.parse(element.dataset.json) : {};
  }

  // faultScope returns which requests the next fault is for.
  function faultScope() {
    const { to, operation, amount, n, duration, share, skip } = query("#scope").elements;
    const scope = {};
    if (to.value) scope.to = to.value;
    if (operation.value) scope.operation = operation.value;
    if (Number(skip.value) > 0) scope.skip = Number(skip.value);
    if (amount.value === "duration") scope.duration = duration.value;
    else if (amount.value === "share") scope.share = Number(share.value) / 100;
    else scope.n = Number(n.value);
    return scope;
  }

  // Changes of the sandbox.

  let isConnected = true;

  function setConnected(isUp) {
    isConnected = isUp;
    const live = query("#live");
    live.classList.toggle("down", !isConnected);
    live.title = isConnected ? "Live" : "Not connected";
    query(".sr", live).textContent = live.title;
    query("#offline").hidden = isConnected;
    enableComposer();
  }

  // enableComposer lets the user write while the sandbox runs.
  function enableComposer() {
    for (const field of queryAll(".composer textarea, .composer button, .composer input")) field.disabled = !isConnected;
  }

  // A page is refreshed at most every 250 ms, less often if that takes long, and once more after the last change.
  const minPause = 250;
  let isStale = false; // a change came since the last refresh began
  let timer = 0; // of the next refresh, or 0
  let refreshedAt = 0;
  let refreshTook = 0; // milliseconds

  function refresh() {
    isStale = true;
    if (timer) return;
    const pause = Math.max(minPause, 3 * refreshTook);
    const elapsed = Date.now() - refreshedAt;
    timer = setTimeout(refreshNow, Math.max(0, pause - elapsed));
  }

  async function refreshNow() {
    timer = 0;
    if (document.hidden) return; // when it is shown
    isStale = false;
    const began = Date.now();
    await reload();
    refreshedAt = Date.now();
    refreshTook = refreshedAt - began;
  }

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && isStale) refresh();
  });

  // listen subscribes to changes. A browser opens at most six connections, so tabs share one stream in a worker.
  function listen() {
    if (window.SharedWorker) listenToWorker();
    else listenWhileVisible();
  }

  function listenToWorker() {
    const { port } = new SharedWorker(root + "static/events.js");
    port.onmessage = ({ data }) => onChange(data);
    addEventListener("pagehide", () => port.postMessage("gone"));
    addEventListener("pageshow", (event) => {
      if (event.persisted) location.reload();
    });
  }

  // listenWhileVisible has a stream for this tab, which is closed while the tab is hidden.
  function listenWhileVisible() {
    let close = null;
    const follow = () => {
      close?.();
      close = document.hidden ? null : stream(root + "events", onChange);
    };
    document.addEventListener("visibilitychange", follow);
    follow();
  }

  function onChange({ up = true, say }) {
    setConnected(up);
    if (say) query("#say").textContent = say; // for screen readers
    if (up) refresh();
  }

  // The mouse.

  document.addEventListener("click", (event) => {
    closeMenus(event.target.closest("details.menu"));
    const link = event.target.closest("a[data-nav]");
    if (link && isPlainClick(event)) {
      event.preventDefault();
      visit(link.href);
      return;
    }
    const bubble = event.target.closest(".bubble[data-href]");
    const isOnControl = event.target.closest("a, button, summary, details, video, audio, img, pre");
    const isSelecting = String(getSelection()) !== "";
    if (bubble && !isOnControl && !isSelecting) {
      visit(bubble.dataset.href);
      return;
    }
    const button = event.target.closest("button");
    if (button) press(button);
  });

  // isPlainClick reports whether a click opens a link in this tab.
  function isPlainClick(event) {
    return event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
  }

  // press does what a button is for.
  function press(button) {
    if (button.dataset.api) act(button, jsonOf(button));
    else if (button.dataset.copy !== undefined) copy(button);
    else if (button.dataset.load !== undefined) loadMedium(button);
    else if (button.getAttribute("role") === "tab") chooseTab(button);
    else if (button.id === "pill") goToEnd();
    else if (button.id === "keys") query("#shortcuts").showModal();
  }

  // chooseTab shows the panel of a tab.
  function chooseTab(chosen) {
    for (const tab of tabsAround(chosen)) {
      const isChosen = tab === chosen;
      tab.setAttribute("aria-selected", isChosen);
      tab.tabIndex = isChosen ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !isChosen;
    }
  }

  const tabsAround = (tab) => queryAll("[role=tab]", tab.closest("[role=tablist]"));

  async function copy(button) {
    try {
      const hasSecrets = button.dataset.secret !== undefined;
      const text = hasSecrets ? await withSecrets(button.dataset.copy) : button.dataset.copy;
      await navigator.clipboard.writeText(text);
      toast("Copied");
    } catch {
      toast("The browser does not allow copying here", true);
    }
  }

  // withSecrets replaces the variables in a command by the credentials on the page Connect.
  async function withSecrets(command) {
    const response = await fetch(root + "page/connect");
    const page = parse(await response.text());
    const secrets = JSON.parse(query("[data-secrets]", page).dataset.secrets);
    for (const [name, value] of Object.entries(secrets)) command = command.replaceAll("$" + name, value);
    return command;
  }

  // loadMedium replaces a button by its medium, which is fetched only now: a message can name any address.
  function loadMedium(button) {
    const holder = button.closest(".media");
    const placeholder = query(".load", holder);
    const failure = query(".failed", holder);
    const medium = query("template", holder).content.firstElementChild.cloneNode(true);
    medium.onerror = () => {
      medium.remove();
      failure.hidden = false;
    };
    const isLink = Boolean(medium.href);
    if (!isLink) medium.src = placeholder.dataset.media;
    holder.dataset.kept = "";
    placeholder.hidden = true;
    failure.hidden = true;
    holder.prepend(medium);
  }

  // Forms.

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.api) {
      event.preventDefault();
      if (isComplete(form)) act(form, bodyOf(form));
      return;
    }
    const hasNoRequest = form.dataset.search !== undefined || form.dataset.scope !== undefined;
    if (hasNoRequest) event.preventDefault();
  });

  // isComplete reports whether a form has something to send, and the user wants it.
  function isComplete(form) {
    if (form.dataset.draft !== undefined) return query("textarea", form).value.trim() !== "";
    if (form.dataset.webhook) return confirmWebhook(form.elements.url);
    return true;
  }

  // confirmWebhook asks before an empty field removes a webhook. If the user declines, it restores the URL.
  function confirmWebhook(field) {
    const isRemoved = !field.value && field.dataset.was;
    if (!isRemoved || confirm("Remove the webhook? The field is empty.")) return true;
    field.value = field.dataset.was;
    return false;
  }

  let searchTimer = 0;

  document.addEventListener("input", ({ target }) => {
    if (target.id === "reply") {
      fitHeight(target);
      saveDraft();
    }
    if (target.id === "q") {
      clearTimeout(searchTimer);
      searchTimer = setTimeout(() => search(target.value), 150);
    }
  });

  // search shows what matches a text, on the first page of the list.
  function search(text) {
    showList((params) => {
      if (text) params.set("q", text);
      else params.delete("q");
    });
  }

  // resetSearch removes the text and the filter.
  function resetSearch() {
    showList((params) => {
      params.delete("q");
      params.delete("only");
    });
  }

  // showList changes the parameters of the address, and shows its first page.
  function showList(change) {
    clearTimeout(searchTimer);
    const url = new URL(location.href);
    url.hash = "";
    url.searchParams.delete("page");
    change(url.searchParams);
    history.replaceState(null, "", url);
    reload();
  }

  // The keyboard.

  let isAfterG = false; // the last key was g, which begins a shortcut to a page

  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    const field = target.closest("input, textarea, select");
    if (key === "Escape") {
      closeNearest(event, field);
      return;
    }
    if (target.id === "reply" && key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      target.form.requestSubmit();
      return;
    }
    if (target.getAttribute("role") === "tab" && (key === "ArrowLeft" || key === "ArrowRight")) {
      moveToTab(target, key === "ArrowRight" ? 1 : -1);
      return;
    }
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
    if (field || hasModifier || query("dialog[open]")) return;
    if (performShortcut(key)) event.preventDefault();
    isAfterG = key === "g";
  });

  // performShortcut performs the shortcut of a key, and reports whether there is one.
  function performShortcut(key) {
    const pages = { c: root, f: root + "page/faults", t: root + "page/traffic", o: root + "page/connect" };
    if (isAfterG && pages[key]) {
      visit(pages[key]);
      return true;
    }
    switch (key) {
      case "/":
        query("#q")?.focus();
        return true;
      case "r":
        query("#reply")?.focus();
        return true;
      case "?":
        query("#shortcuts").showModal();
        return true;
      case "j":
        moveToThread(1);
        return true;
      case "k":
        moveToThread(-1);
        return true;
      default:
        return false;
    }
  }

  // closeNearest closes what Escape closes: a menu, a field or the details. In the search it empties the field and removes the filter.
  function closeNearest(event, field) {
    const menu = event.target.closest("details.menu[open]") || query("details.menu[open]");
    if (menu) {
      menu.open = false;
      query("summary", menu).focus();
    } else if (field?.id === "q") {
      event.preventDefault();
      field.value = "";
      field.blur();
      resetSearch();
    } else if (field) {
      field.blur();
    } else if (query(".board.picked .close")) {
      visit(query(".close").href);
    }
  }

  // moveToTab chooses the next or the previous tab. After the last one comes the first.
  function moveToTab(tab, by) {
    const tabs = tabsAround(tab);
    const index = (tabs.indexOf(tab) + by + tabs.length) % tabs.length;
    chooseTab(tabs[index]);
    tabs[index].focus();
  }

  // moveToThread opens the next or the previous conversation of the list.
  function moveToThread(by) {
    const threads = queryAll("[data-thread]");
    if (threads.length === 0) return;
    const current = threads.findIndex((thread) => thread.getAttribute("aria-current"));
    const index = Math.max(0, Math.min(current + by, threads.length - 1));
    threads[index].focus();
    visit(threads[index].href);
  }

  addEventListener("popstate", reload);

  restoreDraft();
  scrollLog(null, true);
  listen();
})();
