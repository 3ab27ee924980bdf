// The plan: columns of numbers, and the texts that they stand for.

/** A column as it is written: numbers, or runs of a value and its length. */
function numbers(column) {
  if (Array.isArray(column)) return column;
  const values = [];
  for (let at = 0; at < column.runs.length; at += 2) {
    for (let left = column.runs[at + 1]; left > 0; left -= 1) values.push(column.runs[at]);
  }
  return values;
}

function readPlan(text) {
  const plan = JSON.parse(text);
  for (const [name, column] of Object.entries(plan.columns)) plan.columns[name] = numbers(column);
  plan.directories = { parent: numbers(plan.directories.parent), name: numbers(plan.directories.name) };
  return plan;
}

const plan = readPlan(document.getElementById("plan").textContent);
const { columns } = plan;

// Rows are sorted: files, then what is absent, then what no package takes.
const ABSENT = plan.steps.indexOf("absent"), UNOWNED = plan.steps.indexOf("unowned");
const rowCount = columns.step.length;
const unownedStart = firstOf(UNOWNED, rowCount);
const absentStart = firstOf(ABSENT, unownedStart);

/** The first row of a step, or what comes where there is none. */
function firstOf(step, next) {
  const first = columns.step.indexOf(step);
  return first < 0 ? next : first;
}

/** Steps of files by number, in the order of rockpack's own tables; only those that there are. */
const STEPS = ["copy", "relink", "stub", "alias", "link", "render"].map((name) => plan.steps.indexOf(name)).filter((step) => step >= 0);

/** The whole numbers from `start` up to and without `end`. */
function range(start, end) {
  return Array.from({ length: end - start }, (_, at) => start + at);
}

/** The segments of each directory's path that was asked for. */
const segmentsKnown = [[]];

function segmentsOf(directory) {
  return segmentsKnown[directory] ??= [
    ...segmentsOf(plan.directories.parent[directory - 1]),
    plan.strings[plan.directories.name[directory - 1]],
  ];
}

function nameOf(row) {
  return plan.strings[columns.name[row]];
}

function pathOf(row) {
  return [...segmentsOf(columns.directory[row]), nameOf(row)].join("/");
}

function artifactText({ name, component, family }) {
  return `${name}_${component}_${family}`;
}

/** Where the bytes of a row come from: artifact, base directory, and the segments below it. */
function sourceOf(row) {
  if (!columns.artifact[row]) return undefined;
  const whole = plan.strings[columns.source[row]];
  const path = whole ? whole.split("/") : [...segmentsOf(columns.directory[row]), nameOf(row)].slice(columns.strip[row]);
  return { artifact: plan.artifacts[columns.artifact[row] - 1], base: plan.strings[columns.base[row]], path };
}

function sourceText(row) {
  const source = sourceOf(row);
  return source && `${artifactText(source.artifact)}/${source.base}/${source.path.join("/")}`;
}

function distributionOf(row) {
  return plan.distributions[columns.distribution[row] - 1];
}

function packageOf(row) {
  return distributionOf(row)?.title ?? "";
}

const PARTS = ["", "licence text", "in the archive"];

/** What there is to know of a row, as pairs of a word and a text; what it has not is left out. */
function factsOf(row) {
  const step = plan.steps[columns.step[row]];
  const extra = [columns.executable[row] && "executable", PARTS[columns.part[row]]].filter(Boolean);
  return [
    ["size", `${humanSize(columns.size[row])}${columns.size[row] < 1000 ? "" : ` (${thousands(columns.size[row])} bytes)`}`],
    ["package", packageOf(row) || "none"],
    ["step", [step, ...extra].join(", ")],
    [row < unownedStart && row >= absentStart ? "reason" : "what", plan.strings[columns.detail[row]]],
    ["rpath", plan.strings[columns.rpath[row]]],
    ["rule", plan.strings[columns.rule[row]]],
    ["source", sourceText(row) ?? ""],
  ].filter(([, text]) => text);
}
