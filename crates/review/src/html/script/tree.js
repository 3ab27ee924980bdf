// Trees of files: one for each way to group them. A node is a group or a directory; files are
// row numbers in it.

class Node {
  constructor(name, parent) {
    this.name = name;
    this.parent = parent;
    this.below = new Map();
    this.rows = [];
    this.size = 0;
    this.count = 0;
    // Of what is searched for: bytes, and whether there is anything.
    this.found = 0;
    this.hit = false;
  }

  get depth() {
    return this.parent ? this.parent.depth + 1 : 0;
  }

  /** The names from the top to this node; the root has none. */
  get path() {
    return this.parent ? [...this.parent.path, this.name] : [];
  }

  get top() {
    return this.parent?.parent ? this.parent.top : this;
  }

  /** What is right in it, largest first: nodes, and rows as numbers. */
  get items() {
    return this.sorted ??= [...this.below.values(), ...this.rows].sort((a, b) => sizeOf(b) - sizeOf(a) || compareNames(a, b));
  }
}

function sizeOf(item) {
  return typeof item === "number" ? columns.size[item] : item.size;
}

function itemName(item) {
  return typeof item === "number" ? nameOf(item) : item.name;
}

function compareNames(a, b) {
  const [first, second] = [itemName(a), itemName(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}

const WITHOUT_ARTIFACT = "made by rockpack";

/** Component, and the family where it is not the one for all. */
function componentText({ component, family }) {
  return family === "generic" ? component : `${component} ${family}`;
}

/**
 * How files are grouped: the names of the nodes above a file, from the top. So many of them are
 * `groups`; directories follow.
 */
const GROUPINGS = {
  package: {
    title: "Packages",
    whole: "all packages",
    groups: 1,
    above: (row) => [packageOf(row), ...segmentsOf(columns.directory[row])],
  },
  artifact: {
    title: "Artifacts",
    whole: "all artifacts",
    groups: 2,
    above(row) {
      const source = sourceOf(row);
      if (!source) return [WITHOUT_ARTIFACT, plan.steps[columns.step[row]], packageOf(row), ...segmentsOf(columns.directory[row])];
      return [source.artifact.name, componentText(source.artifact), ...source.path.slice(0, -1)];
    },
  },
};

class Tree {
  constructor(by) {
    this.root = new Node(GROUPINGS[by].whole, null);
    this.nodes = [this.root];
    this.nodeOf = [];
    for (let row = 0; row < absentStart; row += 1) this.nodeOf.push(this.place(by, row));
    // Parents were made before their children.
    for (let at = this.nodes.length - 1; at > 0; at -= 1) {
      const { parent, size, count } = this.nodes[at];
      parent.size += size;
      parent.count += count;
    }
    this.root.items.forEach((node, at) => { node.rank = at; });
  }

  place(by, row) {
    const node = this.same(row) ? this.nodeOf[row - 1] : this.node(GROUPINGS[by].above(row));
    node.rows.push(row);
    node.size += columns.size[row];
    node.count += 1;
    return node;
  }

  /** Whether a row lies where the row before it does, whatever the grouping. */
  same(row) {
    const alike = (name) => columns[name][row] === columns[name][row - 1];
    return row > 0 && ["distribution", "directory", "artifact", "strip", "step"].every(alike)
      && !columns.source[row] && !columns.source[row - 1];
  }

  node(names) {
    let node = this.root;
    for (const name of names) {
      let next = node.below.get(name);
      if (!next) {
        next = new Node(name, node);
        node.below.set(name, next);
        this.nodes.push(next);
      }
      node = next;
    }
    return node;
  }

  /** The node of a path, or the last one of it that there is. */
  find(names) {
    let node = this.root;
    for (const name of names) {
      const next = node.below.get(name);
      if (!next) break;
      node = next;
    }
    return node;
  }

  /** Sums up in every node the bytes of the rows that were found. */
  mark(rows) {
    for (const node of this.nodes) Object.assign(node, { found: 0, hit: false });
    for (const row of rows) {
      if (row >= absentStart) break;
      this.nodeOf[row].found += columns.size[row];
      this.nodeOf[row].hit = true;
    }
    for (let at = this.nodes.length - 1; at > 0; at -= 1) {
      const { parent, found, hit } = this.nodes[at];
      parent.found += found;
      parent.hit ||= hit;
    }
  }
}

const trees = new Map();

/** The tree of a grouping, made when it is first looked at. */
function treeBy(by) {
  if (!trees.has(by)) trees.set(by, new Tree(by));
  return trees.get(by);
}
