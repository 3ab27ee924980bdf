// The tables below the map: what was found, the packages, what is in none, what is absent, notes.

/** How many rows of a long table are shown at a time. */
const PAGE = 40;

function table(container, heads, caption) {
  const body = element("tbody");
  const cells = heads.map(([text, kind]) => element("th", { scope: "col", class: kind }, text));
  container.append(caption ? element("caption", { class: "unseen" }, caption) : "", element("thead", {}, element("tr", {}, cells)), body);
  return body;
}

/** What stands between backticks is code. */
function sentence(text) {
  const parts = text.split("`");
  if (parts.length % 2 === 0) return [text];
  return parts.map((part, at) => (at % 2 ? element("code", {}, part) : part));
}

function fileButton(row) {
  const show = () => {
    goToRow(row);
    document.querySelector(".stage").scrollIntoView({ block: "nearest" });
  };
  return element("button", { type: "button", class: "link", click: show }, breakable(pathOf(row)));
}

const results = document.getElementById("results");

function drawResults(query, rows) {
  results.hidden = !query.trim();
  results.replaceChildren();
  if (results.hidden) return;
  results.append(element("h2", { "aria-live": "polite" }, resultsText(rows)));
  if (rows.length === 0) {
    const help = "A word is a part of a path, or a glob: * and ? within a name, ** across directories, {a,b}. Several words all have to match. step:, package:, artifact:, rule: and rpath: look there.";
    results.append(element("p", { class: "soft" }, help));
    return;
  }
  const shown = element("table", { class: "found" });
  const body = table(shown, [["File"], ["Package"], ["Step"], ["Size", "number"], ["Rule"], ["rpath, reason"]], "Files that match");
  const more = paged(rows, PAGE, (row) => body.append(resultRow(row)));
  results.append(shown, more);
}

function resultsText(rows) {
  const absent = rows.filter((row) => row >= absentStart && row < unownedStart).length;
  const unowned = rows.filter((row) => row >= unownedStart).length;
  const files = rows.length - absent - unowned;
  const bytes = rows.slice(0, files).reduce((sum, row) => sum + columns.size[row], 0);
  const parts = [files ? `${counted(files, "file")}, ${humanSize(bytes)}` : "No file of a package"];
  if (absent) parts.push(`${thousands(absent)} absent`);
  if (unowned) parts.push(`${thousands(unowned)} in no package`);
  return parts.join(" · ");
}

function resultRow(row) {
  const step = plan.steps[columns.step[row]];
  const more = plan.strings[columns.rpath[row]] || plan.strings[columns.detail[row]];
  const cell = (name, kind, ...children) => element("td", { "data-name": name, class: kind }, ...children);
  return element(
    "tr", {},
    cell("File", "", fileButton(row)),
    cell("Package", "", packageOf(row) || "none"),
    cell("Step", "", step),
    cell("Size", "number", step === "absent" ? "–" : humanSize(columns.size[row])),
    cell("Rule", "", plan.strings[columns.rule[row]] || "–"),
    cell("rpath, reason", "more", more ? breakable(more.replaceAll("`", "")) : "–"),
  );
}

/** How many rows a package has of each step; the step of absent rows is among them. */
function packageSteps() {
  const counts = plan.distributions.map(() => plan.steps.map(() => 0));
  for (let row = 0; row < unownedStart; row += 1) counts[columns.distribution[row] - 1][columns.step[row]] += 1;
  return counts;
}

function drawPackages() {
  const { root } = treeBy("package");
  const steps = [...STEPS, ...(ABSENT >= 0 ? [ABSENT] : [])];
  const counts = packageSteps();
  const estimated = plan.distributions.some(({ estimate }) => estimate !== null);
  const heads = [["Distribution"], ["Files", "number"], ["Installed", "number"], ...(estimated ? [["Compressed", "number"]] : []), ["", "bar"], ...steps.map((step) => [plan.steps[step], "number"])];
  const shown = document.getElementById("packages");
  const body = table(shown, heads);
  const largest = root.items.length ? sizeOf(root.items[0]) : 0;
  const order = new Map(plan.distributions.map((distribution, at) => [distribution.title, at]));
  for (const [title, at] of order) body.append(packageRow(plan.distributions[at], counts[at], steps, root.below.get(title), largest, estimated));
  const sums = steps.map((step) => counts.reduce((sum, of) => sum + of[step], 0));
  const compressed = plan.distributions.reduce((sum, { estimate }) => sum + (estimate ?? 0), 0);
  const cells = [thousands(root.count), humanSize(root.size), ...(estimated ? [`~${humanSize(compressed)}`] : []), "", ...sums.map(thousands)];
  shown.append(element("tfoot", {}, element("tr", {}, element("th", { scope: "row" }, "all"), cells.map((text) => element("td", { class: "number" }, text)))));
}

function packageRow({ title, estimate }, counts, steps, node, largest, estimated) {
  const show = (change) => {
    go({ by: "package", file: undefined, ...change });
    document.querySelector(".explore").scrollIntoView({ block: "start" });
  };
  const number = (step) => {
    if (!counts[step]) return "–";
    const find = `${exactly("package", title)} ${exactly("step", plan.steps[step])}`;
    return element("button", { type: "button", class: "link", click: () => show({ place: [], find }) }, thousands(counts[step]));
  };
  return element(
    "tr", {},
    element("th", { scope: "row" }, element("button", { type: "button", class: "link", click: () => show({ place: [title], find: "" }) }, title)),
    element("td", { class: "number" }, thousands(node?.count ?? 0)),
    element("td", { class: "number" }, humanSize(node?.size ?? 0)),
    estimated ? element("td", { class: "number" }, estimate === null ? "–" : `~${humanSize(estimate)}`) : "",
    element("td", { class: "bar" }, node ? measure(node.size / largest, hueOf(node)) : ""),
    steps.map((step) => element("td", { class: "number" }, number(step))),
  );
}

function drawUnowned() {
  const rows = range(unownedStart, rowCount).sort((a, b) => columns.size[b] - columns.size[a] || a - b);
  const section = document.getElementById("unowned");
  if (rows.length === 0) {
    section.append(element("p", { class: "soft" }, "Every file of the artifacts is in a package, or dropped by a rule."));
    return;
  }
  const bytes = rows.reduce((sum, row) => sum + columns.size[row], 0);
  const shown = element("table");
  const body = table(shown, [["Artifact"], ["File"], ["Size", "number"]], "Files in no package");
  const more = paged(rows, PAGE, (row) => body.append(element(
    "tr", {},
    element("td", {}, breakable(artifactText(sourceOf(row).artifact))),
    element("td", {}, breakable(pathOf(row))),
    element("td", { class: "number" }, humanSize(columns.size[row])),
  )));
  section.append(element("p", { class: "soft" }, `${counted(rows.length, "file")}, ${humanSize(bytes)}: no package takes them and no rule drops them.`), shown, more);
}

function drawDropped() {
  const section = document.getElementById("dropped");
  section.hidden = plan.dropped.length === 0;
  const shown = element("table");
  const body = table(shown, [["Rule"], ["Why"], ["Files", "number"], ["Size", "number"]], "Rules that drop files");
  for (const { rule, reason, files, size } of plan.dropped) {
    const cells = [element("td", {}, rule), element("td", {}, breakable(reason))];
    body.append(element("tr", {}, cells, [thousands(files), humanSize(size)].map((text) => element("td", { class: "number" }, text))));
  }
  section.append(shown);
}

function drawAbsent() {
  const section = document.getElementById("absent");
  const rows = range(absentStart, unownedStart);
  if (rows.length === 0) section.append(element("p", { class: "soft" }, "Everything that was selected is shipped."));
  for (const [at, { title }] of plan.distributions.entries()) {
    const mine = rows.filter((row) => columns.distribution[row] === at + 1);
    if (mine.length) section.append(absentOf(title, mine));
  }
}

/** The table is made when it is looked at. */
function absentOf(title, rows) {
  const folded = element("details", {}, element("summary", {}, title, element("span", { class: "soft" }, ` ${thousands(rows.length)}`)));
  folded.addEventListener("toggle", () => {
    const shown = element("table");
    const body = table(shown, [["File"], ["Why it is absent"], ["Rule"]], `Absent from ${title}`);
    const more = paged(rows, PAGE, (row) => body.append(element(
      "tr", {},
      element("td", {}, breakable(pathOf(row))),
      element("td", {}, sentence(plan.strings[columns.detail[row]])),
      element("td", {}, plan.strings[columns.rule[row]]),
    )));
    folded.append(shown, more);
  }, { once: true });
  return folded;
}

function drawWarnings() {
  const section = document.getElementById("warnings");
  section.hidden = plan.warnings.length === 0;
  const shown = element("table");
  const body = table(shown, [["Kind"], ["What"], ["Where"], ["What to do"]], "Warnings");
  for (const { code, message, places, help, expected } of plan.warnings) {
    const where = (places ?? []).map(({ rule, text }) => element("div", {}, rule, ": ", sentence(text)));
    const remedy = expected ? `expected: ${expected.text} (${expected.rule})` : help ?? "";
    const cells = [element("td", {}, code), element("td", {}, sentence(message)), element("td", {}, where), element("td", {}, sentence(remedy))];
    body.append(element("tr", {}, cells));
  }
  section.append(shown);
}

function drawNotes() {
  const section = document.getElementById("notes");
  section.hidden = plan.notes.length === 0;
  section.append(element("ul", {}, plan.notes.map((note) => element("li", {}, sentence(note)))));
}
