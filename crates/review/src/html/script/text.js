"use strict";
// Figures as people read them, and elements out of text. Text never becomes markup here.

const UNITS = ["kB", "MB", "GB", "TB"];

/** Bytes with three digits and a decimal unit: the same text as in rockpack's own tables. */
function humanSize(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  let whole = bytes, unit = 0;
  while (whole >= 1e6 && unit + 1 < UNITS.length) {
    whole = Math.floor(whole / 1000);
    unit += 1;
  }
  const units = Math.floor(whole / 1000), rest = whole % 1000;
  if (units < 10) return `${units}.${String(Math.floor(rest / 10)).padStart(2, "0")} ${UNITS[unit]}`;
  if (units < 100) return `${units}.${Math.floor(rest / 100)} ${UNITS[unit]}`;
  return `${units} ${UNITS[unit]}`;
}

/** A count with its thousands apart: `9,400`. */
function thousands(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

function counted(count, what) {
  return `${thousands(count)} ${what}${count === 1 ? "" : "s"}`;
}

/** A part of a whole in percent; little is not nothing. */
function share(part, whole) {
  if (!whole || !part) return "0 %";
  const percent = 100 * part / whole;
  if (percent < 0.1) return "< 0.1 %";
  return `${percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/**
 * An element with attributes and children. `class` and `aria-…` are attributes like all others;
 * a function is a listener (`click`), false and undefined leave an attribute out.
 */
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== false && value !== undefined) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== undefined && child !== false && child !== ""));
  return made;
}

/** A path that may break where a segment or a word of a name ends. */
function breakable(path) {
  return element("span", { class: "path" }, path.split(/(?<=[/_])/).flatMap((part) => [part, document.createElement("wbr")]));
}

/** Rows of a long list a page at a time: the first ones now, the others by a button. */
function paged(rows, page, show) {
  let shown = 0;
  const more = element("button", { type: "button", class: "more", click: next });
  function next() {
    for (const end = Math.min(shown + page, rows.length); shown < end; shown += 1) show(rows[shown]);
    const left = rows.length - shown;
    more.hidden = left === 0;
    more.textContent = left > page ? `Show ${thousands(page)} more of ${thousands(left)}` : `Show the other ${thousands(left)}`;
  }
  next();
  return more;
}
