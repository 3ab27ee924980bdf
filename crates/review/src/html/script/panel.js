// Beside the map: the file that is looked at, and what the place in the map holds.

const panel = document.getElementById("panel");
const trail = document.getElementById("trail");

/** How many things of a place are listed before a button. */
const LISTED = 12;

function drawTrail(view, node) {
  const steps = [];
  for (let at = node; at; at = at.parent) steps.unshift(at);
  const { root } = treeBy(view.by);
  trail.replaceChildren(...steps.map((step) => {
    const here = step === node;
    const name = step === root ? root.name : step.name;
    const link = here
      ? element("span", { "aria-current": "location" }, name)
      : element("a", { href: address({ ...view, place: step.path, file: undefined }) }, name);
    return element("li", {}, link);
  }));
}

function drawPanel(view, node) {
  const parts = [];
  if (view.file !== undefined) parts.push(fileCard(view));
  parts.push(placeCard(view, node), contents(view, node));
  panel.replaceChildren(...parts);
  panel.scrollTop = 0;
}

function fileCard(view) {
  const close = element("button", { type: "button", class: "close", "aria-label": "Let this file go", click: () => go({ file: undefined }) }, "×");
  return element("section", { class: "card" }, close, element("h3", {}, breakable(pathOf(view.file))), factList(factsOf(view.file)));
}

function placeCard(view, node) {
  const { root } = treeBy(view.by);
  const figures = [humanSize(node.size), counted(node.count, "file")];
  if (node !== root) figures.push(`${share(node.size, root.size)} of all`);
  const distribution = view.by === "package" && view.place.length === 1 && plan.distributions.find((d) => d.title === node.name);
  return element(
    "section", { class: "place" },
    element("h3", {}, breakable(node.name)),
    element("p", { class: "soft" }, figures.join(" · ")),
    element("p", { class: "soft" }, stepsText(node)),
    distribution ? aboutDistribution(distribution) : "",
  );
}

/** How many files of a place come by which step. */
function stepsText(node) {
  const counts = plan.steps.map(() => 0);
  const open = [node];
  while (open.length) {
    const { rows, below } = open.pop();
    for (const row of rows) counts[columns.step[row]] += 1;
    open.push(...below.values());
  }
  return STEPS.filter((step) => counts[step] > 0).map((step) => `${thousands(counts[step])}\u00a0${plan.steps[step]}`).join(", ");
}

function aboutDistribution({ form, platform, directory, summary, license, requires, scripts, archive }) {
  const facts = [["what", summary], ["form", `${form} in ${directory}/`], ["licence", license]];
  if (platform) facts.push(["platform", platform]);
  if (archive) facts.push(["archive", archive]);
  const list = (title, texts) => texts.length > 0 && element(
    "details", {},
    element("summary", {}, `${title} (${texts.length})`),
    element("ul", { class: "plain" }, texts.map((text) => element("li", {}, breakable(text)))),
  );
  return element("div", { class: "about" }, factList(facts), list("Requires", requires), list("Console scripts", scripts));
}

function contents(view, node) {
  const list = element("ul", { class: "contents" });
  const { items } = node;
  const largest = items.length ? sizeOf(items[0]) : 0;
  const more = paged(items, LISTED, (item) => list.append(contentLine(view, node, item, largest)));
  return element("section", {}, list, more);
}

function contentLine(view, node, item, largest) {
  const file = typeof item === "number";
  const change = file ? { place: node.path, file: item } : { place: item.path, file: undefined };
  const name = !file && item.depth > GROUPINGS[view.by].groups ? `${item.name}/` : itemName(item);
  const link = element(
    "a", { href: address({ ...view, ...change }), "aria-current": file && item === view.file && "true" },
    element("span", { class: "name" }, breakable(name)),
    element("span", { class: "size" }, humanSize(sizeOf(item))),
    measure(sizeOf(item) / largest, hueOf(file ? node : item)),
  );
  if (drawn.found) {
    link.classList.toggle("dim", file ? !drawn.found[item] : !item.hit);
    link.append(measure(foundIn(item) / largest, hueOf(node), "measure found-part"));
  }
  return element("li", {}, link);
}

/** A bar of a length from 0 to 1. */
function measure(length, hue, kind = "measure") {
  const bar = element("span", { class: kind, "aria-hidden": "true" });
  bar.style.width = `${100 * (length || 0)}%`;
  bar.style.setProperty("--hue", hue);
  return bar;
}
