// Returns what is wrong with the page for people who do not see it, or not well: names, labels, landmarks and contrast.
(() => {
  const problems = [];
  const describe = (e) => e.outerHTML.slice(0, 140);
  const visible = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && e.getClientRects().length > 0;
  const nameOf = (e) => {
    const by = e.getAttribute("aria-labelledby");
    if (by) return document.getElementById(by)?.textContent.trim();
    return e.getAttribute("aria-label")?.trim() || (e.labels?.length && e.labels[0].textContent.trim()) || e.getAttribute("alt") ||
      e.textContent.trim() || e.title;
  };
  for (const e of document.querySelectorAll("a, button, summary, input, textarea, select, [role=img], [role=region], [role=group], dialog, nav, aside")) {
    if (e.type !== "hidden" && !e.closest("[aria-hidden]") && !nameOf(e)) problems.push("no name: " + describe(e));
  }
  for (const e of document.querySelectorAll("img")) if (!e.hasAttribute("alt")) problems.push("no alt: " + describe(e));
  const ids = new Set();
  for (const e of document.querySelectorAll("[id]")) {
    if (ids.has(e.id)) problems.push("the ID comes twice: " + e.id);
    ids.add(e.id);
  }
  for (const e of document.querySelectorAll("[aria-labelledby], label[for]")) {
    const id = e.getAttribute("aria-labelledby") || e.htmlFor;
    if (!ids.has(id)) problems.push("no such ID: " + describe(e));
  }
  for (const e of document.querySelectorAll("a a, button button, a button, button a, summary button, summary a")) problems.push("nested: " + describe(e));
  for (const e of document.querySelectorAll("[tabindex]")) if (e.tabIndex > 0) problems.push("tabindex: " + describe(e));
  if (document.querySelectorAll("main").length !== 1) problems.push("not one main");
  if (!document.documentElement.lang) problems.push("no language");
  if (document.documentElement.scrollWidth > innerWidth) problems.push("scrolls sideways: " + document.documentElement.scrollWidth + " of " + innerWidth);
  for (const e of document.querySelectorAll("a, button, summary, input")) {
    const box = e.getBoundingClientRect();
    if (visible(e) && box.width > 0 && !e.closest(".sr, .skip, p, td, dd, .call, .check") && (box.height < 23.5 || box.width < 23.5)) {
      problems.push("a target of " + Math.round(box.width) + " by " + Math.round(box.height) + ": " + describe(e));
    }
  }

  // Words in labels stand whole. What a person wrote is in a bdi, and may break.
  for (const e of document.querySelectorAll("label, legend, button, summary, dt, th, h2, h3, .tabs a, .chip")) {
    const texts = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
    while (visible(e) && texts.nextNode()) {
      const node = texts.currentNode;
      if (node.parentElement.closest("bdi, code, pre, option, .sr")) continue;
      for (const word of node.nodeValue.matchAll(/[\p{L}\p{N}]+/gu)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].filter((r) => r.width > 0).map((r) => Math.round(r.top)));
        if (lines.size > 1) problems.push("a word breaks: " + word[0] + ": " + describe(e));
      }
    }
  }

  const parse = (color) => {
    const srgb = color.match(/^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)(?: \/ ([\d.e-]+))?\)/);
    if (srgb) return [...srgb.slice(1, 4).map((v) => v * 255), Number(srgb[4] ?? 1)];
    const rgb = color.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    return [rgb[0], rgb[1], rgb[2], rgb[3] ?? 1];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const background = (e) => {
    const layers = [];
    for (let at = e; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color[3] > 0) layers.push(color);
      if (color[3] === 1) break;
    }
    const canvas = matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
    return layers.reverse().reduce((below, top) => over(top, below), canvas);
  };
  const luminance = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.nodeValue.trim() || seen.has(e) || !visible(e) || e.closest(".sr, .skip, script")) continue;
    seen.add(e);
    const style = getComputedStyle(e);
    const below = background(e);
    const color = over(parse(style.color), below);
    const [a, b] = [luminance(color), luminance(below)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize);
    const wanted = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    if (ratio < wanted) problems.push("contrast " + ratio.toFixed(2) + ": " + describe(e));
  }
  return problems;
})()
