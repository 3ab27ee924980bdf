// Finding rows: words that all have to match. A word is a part of a path, a glob, or `key:value`.

/** What `key:value` looks at. */
const KEYS = {
  package: packageOf,
  step: (row) => plan.steps[columns.step[row]],
  rule: (row) => plan.strings[columns.rule[row]],
  artifact: (row) => (columns.artifact[row] ? artifactText(plan.artifacts[columns.artifact[row] - 1]) : ""),
  rpath: (row) => plan.strings[columns.rpath[row]],
};

const lowerPaths = [];

function lowerPath(row) {
  return lowerPaths[row] ??= pathOf(row).toLowerCase();
}

/**
 * A glob as a regular expression. `*` and `?` stay in a segment, `**` does not, `{a,b}` and `[ab]` choose.
 * It matches whole segments at the end of a path, wherever the first of them begins.
 */
function globExpression(glob) {
  const braces = /\{[^{}]*\}/.test(glob);
  const parts = glob.match(/\*\*\/?|\[!?[^\]/]+\]|[^]/gu) ?? [];
  const translated = parts.map((part) => {
    if (part === "**/") return "(?:.*/)?";
    if (part === "**") return ".*";
    if (part === "*") return "[^/]*";
    if (part === "?") return "[^/]";
    if (part.length > 1 && part.startsWith("[")) return part.replace(/^\[!/, "[^").replaceAll("\\", "\\\\");
    if (braces && "{},".includes(part)) return { "{": "(?:", "}": ")", ",": "|" }[part];
    return part.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  });
  return `(?:^|/)${translated.join("")}$`;
}

/** Whether a row's path has what a word says. */
function pathTest(word) {
  const lower = word.toLowerCase();
  if (/[*?[\]{}]/.test(lower)) {
    try {
      const expression = new RegExp(globExpression(lower), "u");
      return (row) => expression.test(lowerPath(row));
    } catch {
      // No glob after all: a part of a name such as `[x`.
    }
  }
  return (row) => lowerPath(row).includes(lower);
}

function wordTest(word) {
  const [, key, quoted, value] = /^([a-z]+):(?:"([^"]*)"|(.+))$/u.exec(word) ?? [];
  if (!Object.hasOwn(KEYS, key ?? "")) return pathTest(word.replaceAll('"', ""));
  // In quotation marks the whole of it, else a part.
  if (quoted !== undefined) return (row) => KEYS[key](row) === quoted;
  const part = value.toLowerCase();
  return (row) => KEYS[key](row).toLowerCase().includes(part);
}

/** The rows that match a query, in order; without a word, none. */
function search(query) {
  const words = query.match(/[a-z]+:"[^"]*"|"[^"]*"|\S+/gu) ?? [];
  const tests = words.map(wordTest);
  if (tests.length === 0) return [];
  return range(0, rowCount).filter((row) => tests.every((test) => test(row)));
}

/** The word that finds exactly what has this value. */
function exactly(key, value) {
  return `${key}:"${value}"`;
}
