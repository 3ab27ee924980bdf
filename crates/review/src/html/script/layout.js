// Where everything lies in the map: squarified treemaps (Bruls, Huizing and van Wijk, 2000), nested.
// Only what is large enough to be seen is laid out, so that a map costs what its area costs.

const HEAD_HEIGHT = 20;

/** At most so many tiles are in a map, however many files. */
const TILES = 2500;

/** The least that a tile can be seen at, in square pixels, and in pixels across. */
const LEAST_AREA = 36;
const THINNEST = 2.5;

/** Boxes for areas, the largest area first, that fill `box` and are as square as can be. */
function squarify(areas, box) {
  const boxes = [];
  let { x, y, w, h } = box, at = 0;
  while (at < areas.length) {
    const side = Math.min(w, h);
    let sum = areas[at], end = at + 1, worst = worstRatio(areas[at], areas[at], sum, side);
    while (end < areas.length) {
      const next = worstRatio(areas[at], areas[end], sum + areas[end], side);
      if (next > worst) break;
      worst = next;
      sum += areas[end];
      end += 1;
    }
    const thick = side > 0 ? Math.min(sum / side, Math.max(w, h)) : 0;
    let along = 0;
    for (; at < end; at += 1) {
      const length = thick > 0 ? areas[at] / thick : 0;
      boxes.push(w >= h ? { x, y: y + along, w: thick, h: length } : { x: x + along, y, w: length, h: thick });
      along += length;
    }
    if (w >= h) { x += thick; w -= thick; } else { y += thick; h -= thick; }
  }
  return boxes;
}

function worstRatio(largest, smallest, sum, side) {
  const square = sum * sum, length = side * side;
  return Math.max(length * largest / square, square / (length * smallest));
}

/** Through directories that hold next to nothing but one other: the last of them. */
function throughChain(node) {
  let last = node;
  for (;;) {
    const first = last.items[0];
    if (first === undefined || typeof first === "number" || first.size < 0.998 * node.size) return last;
    last = first;
  }
}

/**
 * The tiles of a node in a box, parents before children. A tile has its box, a depth from 0, the
 * branch that shades it, and one of: `node` (with `last`, the end of its chain, and whether it is
 * `open`), `row`, `rest` (how many are too small to be seen).
 */
function layOut(node, box) {
  let least = LEAST_AREA, tiles = tilesFrom(node, box, least);
  while (tiles.length > TILES) {
    least *= 2;
    tiles = tilesFrom(node, box, least);
  }
  return tiles;
}

function tilesFrom(node, box, least) {
  const tiles = [];
  if (node.size > 0 && box.w > 0 && box.h > 0) fill(throughChain(node), box, 0);
  return tiles;

  function fill(parent, inside, depth, inherited) {
    const scale = inside.w * inside.h / parent.size;
    const { items } = parent;
    // Groups at the top have colours of their own; below them, where they part, branches are shades.
    const parts = inherited === undefined && parent.parent && sizeOf(items[0]) < 0.85 * parent.size;
    const areas = [];
    let seen = 0;
    while (seen < items.length && sizeOf(items[seen]) * scale >= least) {
      areas.push(sizeOf(items[seen]) * scale);
      seen += 1;
    }
    const rest = inside.w * inside.h - areas.reduce((sum, area) => sum + area, 0);
    const boxes = squarify(rest > least / 4 ? [...areas, rest] : areas, inside);
    boxes.forEach((at, index) => {
      const branch = parts && items[index] instanceof Node ? index : inherited;
      if (at.w < THINNEST || at.h < THINNEST) return;
      if (index === seen) tiles.push({ ...at, depth, branch, rest: items.length - seen, from: seen, parent });
      else if (typeof items[index] === "number") tiles.push({ ...at, depth, branch, row: items[index], parent });
      else place(items[index], at, depth, branch);
    });
  }

  function place(child, at, depth, branch) {
    const gap = depth === 0 ? 3 : depth === 1 ? 2 : 1;
    const headed = at.w > 64 && at.h > 48 && depth < 4;
    const last = throughChain(child);
    const inside = { x: at.x + gap, y: at.y + (headed ? HEAD_HEIGHT : gap), w: at.w - 2 * gap, h: at.h - gap - (headed ? HEAD_HEIGHT : gap) };
    const open = inside.w > 14 && inside.h > 14 && inside.w * inside.h > 4 * least;
    tiles.push({ ...at, depth, branch, node: child, last, open, headed: open && headed });
    if (open) fill(last, inside, depth + 1, branch);
  }
}

/** The name of a tile's node, with those that it leads through. */
function chainName(tile) {
  const names = [];
  for (let node = tile.last; node !== tile.node; node = node.parent) names.unshift(node.name);
  return [tile.node.name, ...names].join(" / ");
}
