// The map: tiles in the page, the pointer and the keyboard on them.

const map = document.getElementById("map");
const tip = document.getElementById("tip");

/** Colours of the largest groups; further ones begin anew. */
const HUES = [252, 165, 75, 318, 205, 35, 130, 285, 105, 350];

/** What is drawn: the node, its tiles, and what was found (rows as a set of bits) or nothing. */
const drawn = { node: undefined, tiles: [], layer: undefined, found: undefined, file: undefined };

/** Draws `node` anew; coming from another node, it grows out of its tile or shrinks into it. */
function drawMap(node, found, file) {
  const box = { x: 0, y: 0, w: map.clientWidth, h: map.clientHeight };
  const before = { node: drawn.node, tiles: drawn.tiles, focused: map.contains(document.activeElement) };
  const tiles = layOut(node, box);
  const layer = element("div", { class: "layer" });
  tiles.forEach((tile, index) => {
    tile.element = tileElement(tile, index);
    layer.append(tile.element);
  });
  if (tiles.length === 0) layer.append(element("p", { class: "nothing soft" }, "Nothing here takes room."));
  map.replaceChildren(layer);
  Object.assign(drawn, { node, tiles, layer, found, file });
  hideTip();
  shade();
  focusAfter(before);
  if (before.node !== node) glide(layer, before, box);
}

function tileElement(tile, index) {
  const { x, y, w, h, node, rest } = tile;
  const kind = node ? (tile.open ? "tile box" : "tile closed") : rest ? "tile rest" : "tile file";
  const made = element("div", { class: `${kind} d${Math.min(tile.depth, 3)}`, "data-tile": index });
  const left = Math.round(x), top = Math.round(y);
  const gap = tile.depth === 0 ? 2 : 1;
  const [width, height] = [Math.round(x + w) - left - gap, Math.round(y + h) - top - gap];
  Object.assign(made.style, { left: `${left}px`, top: `${top}px`, width: `${Math.max(width, 1)}px`, height: `${Math.max(height, 1)}px` });
  made.style.setProperty("--hue", hueOf(node ?? tile.parent) + [0, 7, -7, 13, -13][(tile.branch ?? 0) % 5]);
  made.style.setProperty("--shade", [0, 0.022, -0.022][(tile.branch ?? 0) % 3]);
  made.append(...tileText(tile, width, height));
  if (tile.depth === 0 && !rest) {
    made.setAttribute("role", "button");
    made.setAttribute("aria-label", tileLabel(tile));
    made.tabIndex = index === 0 ? 0 : -1;
  }
  return made;
}

function tileText(tile, width, height) {
  if (tile.open ? !tile.headed : width < 40 || height < 16) return [];
  const name = tile.node ? chainName(tile) : tile.rest ? `${thousands(tile.rest)} smaller` : nameOf(tile.row);
  const label = element("span", { class: "name" }, name);
  const size = tile.rest ? "" : humanSize(sizeOf(tile.node ?? tile.row));
  const room = tile.open ? width > 150 : height > 34 && width > 54;
  return room && size ? [label, element("span", { class: "size" }, size)] : [label];
}

function tileLabel(tile) {
  const { node, row } = tile;
  if (node) return `${chainName(tile)}, ${humanSize(node.size)}, ${counted(node.count, "file")}`;
  return `${nameOf(row)}, ${humanSize(columns.size[row])}, ${plan.steps[columns.step[row]]}`;
}

/** Marks what was found and the file that is looked at, without laying out anew. */
function shade() {
  map.classList.toggle("finding", drawn.found !== undefined);
  for (const tile of drawn.tiles) {
    const { classList, style } = tile.element;
    classList.toggle("current", tile.row !== undefined && tile.row === drawn.file);
    const part = drawn.found === undefined || tile.open ? 0 : foundPart(tile);
    classList.toggle("hit", part > 0);
    // A little is seen too.
    style.setProperty("--part", `${part > 0 ? Math.max(100 * part, 4) : 0}%`);
  }
}

/** How much of what a tile stands for was found, from 0 to 1. */
function foundPart({ row, node, parent, from }) {
  if (row !== undefined) return drawn.found[row];
  if (node) return node.found / node.size;
  const small = parent.items.slice(from);
  const size = small.reduce((sum, item) => sum + sizeOf(item), 0);
  return size ? small.reduce((sum, item) => sum + foundIn(item), 0) / size : 0;
}

/** Bytes that were found in a node, or of a row. */
function foundIn(item) {
  return typeof item === "number" ? drawn.found[item] * columns.size[item] : item.found;
}

/** The colour of the group that a node is in. */
function hueOf(node) {
  return HUES[(node.top.rank ?? 0) % HUES.length];
}

const still = matchMedia("(prefers-reduced-motion: reduce)");

function glide(layer, before, box) {
  if (still.matches || !before.node) return;
  const outward = drawn.tiles.find((tile) => tile.node === before.node);
  const inward = before.tiles.find((tile) => tile.node === drawn.node);
  let from = "none";
  if (inward) {
    from = `translate(${inward.x}px, ${inward.y}px) scale(${inward.w / box.w}, ${inward.h / box.h})`;
  } else if (outward && outward.w * 8 > box.w && outward.h * 8 > box.h) {
    const [wide, high] = [box.w / outward.w, box.h / outward.h];
    from = `translate(${-outward.x * wide}px, ${-outward.y * high}px) scale(${wide}, ${high})`;
  }
  layer.animate([{ transform: from, opacity: 0.3 }, { transform: "none", opacity: 1 }], { duration: 200, easing: "cubic-bezier(.2,.7,.2,1)" });
}

/** Where the keyboard was in the map, it stays: at what was left, or at the first tile. */
function focusAfter(before) {
  if (!before.focused) return;
  const reachable = drawn.tiles.filter((tile) => tile.element.hasAttribute("tabindex"));
  const left = reachable.find((tile) => before.node && tile.node && (tile.node === before.node || isAbove(tile.node, before.node)));
  focusTile(left ?? reachable[0]);
}

function isAbove(node, other) {
  for (let above = other; above; above = above.parent) if (above === node) return true;
  return false;
}

function focusTile(tile) {
  if (!tile) return;
  for (const other of map.querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
  tile.element.tabIndex = 0;
  tile.element.focus({ preventScroll: true });
}

function tileAt(target) {
  const found = target.closest?.("[data-tile]");
  return found ? drawn.tiles[Number(found.dataset.tile)] : undefined;
}

/** Into a directory; of a file, into the one that it is in. */
function enter(tile) {
  if (tile) go({ place: (tile.node ?? tile.parent).path, file: tile.row });
}

/** One step out; a file that is looked at is let go first. */
function leave() {
  const { place, file } = readView();
  if (file !== undefined) go({ file: undefined });
  else if (place.length) go({ place: place.slice(0, -1) });
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** The tile that lies next in a direction; what is straight ahead comes before what is aside. */
function neighbour(tile, [dx, dy]) {
  const middle = ({ x, y, w, h }) => [x + w / 2, y + h / 2];
  const [x, y] = middle(tile);
  let nearest, least = Infinity;
  for (const other of drawn.tiles) {
    if (other === tile || !other.element.hasAttribute("tabindex")) continue;
    const [ox, oy] = middle(other);
    const ahead = (ox - x) * dx + (oy - y) * dy, aside = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
    if (ahead > 1 && ahead + 2 * aside < least) [nearest, least] = [other, ahead + 2 * aside];
  }
  return nearest;
}

map.addEventListener("click", (event) => enter(tileAt(event.target)));

map.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const tile = tileAt(event.target);
  if (event.key === "Enter" || event.key === " ") enter(tile);
  else if (event.key === "Backspace") leave();
  else if (tile && ARROWS[event.key]) focusTile(neighbour(tile, ARROWS[event.key]));
  else return;
  event.preventDefault();
});

map.addEventListener("pointermove", (event) => {
  if (event.pointerType === "mouse") showTip(tileAt(event.target), event.clientX, event.clientY);
});
map.addEventListener("pointerleave", hideTip);
map.addEventListener("focusin", (event) => {
  if (!event.target.matches(":focus-visible")) return;
  const { left, bottom } = event.target.getBoundingClientRect();
  showTip(tileAt(event.target), left, Math.min(bottom, innerHeight - 20));
});
map.addEventListener("focusout", hideTip);

function hideTip() {
  tip.hidden = true;
  tip.tile = undefined;
}

function showTip(tile, x, y) {
  if (!tile) return hideTip();
  if (tip.tile !== tile) {
    tip.replaceChildren(...tipText(tile));
    tip.tile = tile;
    tip.hidden = false;
  }
  const { offsetWidth, offsetHeight } = tip;
  const left = Math.min(x + 14, innerWidth - offsetWidth - 8);
  const top = y + 18 + offsetHeight > innerHeight ? y - offsetHeight - 12 : y + 18;
  Object.assign(tip.style, { left: `${Math.max(left, 8)}px`, top: `${Math.max(top, 8)}px` });
}

function tipText({ row, node, last, rest, parent }) {
  if (row !== undefined) return [element("strong", {}, breakable(pathOf(row))), factList(factsOf(row))];
  const place = (last ?? parent).path.join("/");
  const { root } = treeBy(readView().by);
  if (rest) return [element("strong", {}, `${thousands(rest)} smaller in`), breakable(place || root.name)];
  const facts = [["size", `${humanSize(node.size)}, ${share(node.size, root.size)} of all`], ["files", thousands(node.count)]];
  if (drawn.found) facts.push(["found", `${humanSize(node.found)}, ${share(node.found, node.size)} of it`]);
  return [element("strong", {}, breakable(place)), factList(facts)];
}

function factList(facts) {
  return element("dl", { class: "facts" }, facts.flatMap(([word, text]) => [element("dt", {}, word), element("dd", {}, breakable(text))]));
}
