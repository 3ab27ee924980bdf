// The page: what is drawn once, and what is drawn again when the view changes.

const findInput = document.getElementById("find");

/** The view that is drawn, and what its query found. */
let current = { by: undefined, find: undefined };
let foundRows = [];

function draw() {
  const view = readView();
  const tree = treeBy(view.by);
  if (view.find !== current.find) foundRows = search(view.find);
  if (view.find !== current.find || view.by !== current.by) tree.mark(foundRows);
  if (view.find !== current.find) drawResults(view.find, foundRows);
  const node = tree.find(view.place);
  drawMap(node, foundBits(view), view.file);
  drawTrail(view, node);
  drawPanel(view, node);
  for (const button of document.querySelectorAll("#groupings button")) button.setAttribute("aria-pressed", button.value === view.by);
  if (document.activeElement !== findInput || !findInput.value) findInput.value = view.find;
  current = view;
}

/** For each file whether it was found, or nothing without a query. */
function foundBits(view) {
  if (!view.find.trim()) return undefined;
  const bits = new Uint8Array(rowCount);
  for (const row of foundRows) bits[row] = 1;
  return bits;
}

function drawHead() {
  const { root } = treeBy("package");
  document.getElementById("version").textContent = plan.version;
  document.getElementById("facts").textContent = [
    ...(plan.mode ? [`${plan.mode} mode`] : []), `platform ${plan.platform}`,
  ].join(", ");
  const figures = [
    [humanSize(root.size), "installed"],
    [thousands(root.count), "files"],
    [thousands(plan.distributions.length), plan.distributions.length === 1 ? "distribution" : "distributions"],
    [thousands(rowCount - unownedStart), "in no package"],
    [thousands(unownedStart - absentStart), "absent"],
  ];
  document.getElementById("figures").append(...figures.map(([figure, what]) => element("div", {}, element("dt", {}, what), element("dd", {}, figure))));
}

function drawGroupings() {
  document.getElementById("groupings").append(...Object.entries(GROUPINGS).map(([by, { title }]) => element(
    "button", { type: "button", value: by, click: () => go({ by, place: [] }) }, title,
  )));
}

let typing;
findInput.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => refine({ find: findInput.value }), 120);
});

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
  if (event.target === findInput) {
    if (event.key === "Escape") {
      findInput.value = "";
      refine({ find: "" });
    }
  } else if (event.key === "/") {
    event.preventDefault();
    findInput.focus();
    findInput.select();
  } else if (event.key === "Escape") {
    leave();
  }
});

addEventListener("hashchange", draw);

drawHead();
drawGroupings();
drawPackages();
drawUnowned();
drawDropped();
drawAbsent();
drawWarnings();
drawNotes();
draw();

// The map follows the width of the window; nothing else has to.
let wide = map.clientWidth, high = map.clientHeight;
new ResizeObserver(() => {
  if (map.clientWidth === wide && map.clientHeight === high) return;
  [wide, high] = [map.clientWidth, map.clientHeight];
  drawMap(drawn.node, drawn.found, drawn.file);
}).observe(map);
