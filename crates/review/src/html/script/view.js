// What is looked at. It is in the address after `#`, so that the way back is the browser's, and a
// place can be sent as a link.

/** `by`: the grouping; `place`: names from the top; `file`: a row or none; `find`: the query. */
function readView() {
  const given = new URLSearchParams(location.hash.slice(1));
  const by = Object.hasOwn(GROUPINGS, given.get("by") ?? "") ? given.get("by") : "package";
  const place = (given.get("in") ?? "").split("/").filter(Boolean).map(unescaped);
  const file = /^\d+$/.test(given.get("file") ?? "") ? Number(given.get("file")) : undefined;
  return { by, place, file: file < rowCount ? file : undefined, find: given.get("find") ?? "" };
}

/** A name out of an address; one that somebody cut is taken as it is. */
function unescaped(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function address({ by, place, file, find }) {
  const parts = new URLSearchParams();
  if (by !== "package") parts.set("by", by);
  if (place.length) parts.set("in", place.map(encodeURIComponent).join("/"));
  if (file !== undefined) parts.set("file", file);
  if (find) parts.set("find", find);
  // A slash means nothing after `#`; the ones inside names are escaped twice.
  return `#${parts}`.replaceAll("%2F", "/");
}

/** Goes to another view: a step that the back button undoes. */
function go(change) {
  const next = address({ ...readView(), ...change });
  if (next !== (location.hash || "#")) location.hash = next;
}

/** Changes the view in place, as while typing. */
function refine(change) {
  location.replace(address({ ...readView(), ...change }));
}

/** Shows a file where it lies in the map. */
function goToRow(row) {
  const { by } = readView();
  go({ file: row, place: row < absentStart ? treeBy(by).nodeOf[row].path : [] });
}
