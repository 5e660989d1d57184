"use strict";

// morph makes a node like another one. It keeps what is equal, so that the focus, scroll positions and open details stay.
function morph(from, to) {
  if (from.isEqualNode(to)) return;
  if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName || from.id !== to.id) {
    from.replaceWith(to);
    return;
  }
  if (from.nodeType !== Node.ELEMENT_NODE) {
    from.nodeValue = to.nodeValue;
    return;
  }
  if (from.dataset.kept !== undefined) return; // a loaded medium, or the pill
  morphAttributes(from, to);
  const isField = ["INPUT", "TEXTAREA", "SELECT"].includes(from.nodeName);
  if (!isField) morphChildren(from, to); // the user's text stays
}

function morphAttributes(from, to) {
  const kept = attributesOfUser(from);
  const names = new Set([...from.getAttributeNames(), ...to.getAttributeNames()]);
  for (const name of names) {
    if (kept.includes(name)) continue;
    const value = to.getAttribute(name);
    if (value === null) from.removeAttribute(name);
    else if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
}

// attributesOfUser returns the names of the attributes that change when the user opens an element or chooses a tab.
function attributesOfUser(element) {
  if (element.closest("[data-tabbed]")) return ["hidden", "aria-selected", "tabindex"];
  if (element.nodeName === "DETAILS") return ["open"];
  return [];
}

// morphChildren matches children by their IDs, and children without an ID by their positions.
function morphChildren(from, to) {
  const byID = childrenByID(from);
  let next = from.firstChild; // the children before it are done
  for (const wanted of [...to.childNodes]) {
    const known = byID.get(wanted.id);
    const isAtPlace = next && !next.id && !wanted.id && next.nodeName === wanted.nodeName;
    if (known) {
      byID.delete(wanted.id);
      if (known === next) next = next.nextSibling;
      else from.insertBefore(known, next);
      morph(known, wanted);
    } else if (isAtPlace) {
      const current = next;
      next = next.nextSibling;
      morph(current, wanted);
    } else {
      from.insertBefore(wanted, next);
    }
  }
  removeFrom(next);
}

function childrenByID(element) {
  const byID = new Map();
  for (const child of element.children) {
    if (child.id) byID.set(child.id, child);
  }
  return byID;
}

// removeFrom removes a node and its later siblings. The node can be null.
function removeFrom(node) {
  while (node) {
    const next = node.nextSibling;
    node.remove();
    node = next;
  }
}
