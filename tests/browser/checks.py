# SPDX-License-Identifier: MIT
"""Actions of a reader on the page, and their expected results. Each check returns its failure, or nothing."""

import fnmatch

import pages

# Contrast of two colours as WCAG 2 defines it, from the colours that the browser computes.
CONTRAST = """
const paint = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const rgb = (colour) => {
  paint.clearRect(0, 0, 1, 1); paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1);
  return [...paint.getImageData(0, 0, 1, 1).data];
};
const light = (channels) => {
  const [r, g, b] = channels.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
// Translucent text is mixed with the colour behind it.
const ink = (element, back) => {
  const { color, opacity } = getComputedStyle(element);
  return rgb(color).map((c, at) => c * opacity + back[at] * (1 - opacity));
};
const behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (rgb(colour)[3] === 255) return rgb(colour);
  }
  return canvas;
};
// Colour behind a page without a background: the colour of the root's scheme.
const probe = document.documentElement.appendChild(document.createElement("i"));
probe.style.backgroundColor = "Canvas";
const canvas = rgb(getComputedStyle(probe).backgroundColor);
probe.remove();
const bad = [];
const seen = [...document.querySelectorAll("h1, h2, h3, p, a, th, td, dt, dd, li, button, input, .tile > .name, .tile > .size, .soft")]
  .filter((e) => e.checkVisibility() && (e.textContent || e.value));
for (const element of seen) {
  const back = behind(element), [a, b] = [light(ink(element, back)), light(back)];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) bad.push(`${element.tagName}.${element.className} "${(element.textContent || element.value).slice(0, 30)}" ${ratio.toFixed(2)}`);
}
return { bad, seen: seen.length, page: light(behind(document.body)) };
"""


def opens(browser, uri):
    """The browser requests only the page, and logs nothing."""
    browser.requests()
    browser.console()
    browser.goto(uri)
    if not browser.wait("document.readyState === 'complete' && document.querySelectorAll('.tile').length > 0"):
        return f"the map is empty: {browser.console()}"
    return quiet(browser, uri)


def quiet(browser, uri):
    urls = [url for url in browser.requests() if url.split("#")[0] != uri and not url.startswith("data:")]
    messages = browser.console()
    return f"requested {urls}, logged {messages}" if urls or messages else None


def totals(browser, plan):
    """The totals of the page equal the plan's."""
    count, size, unowned, absent, packages, artifacts = pages.totals(plan)
    script = """const sums = (by) => Object.fromEntries([...treeBy(by).root.below].map(([name, node]) => [name, node.size]));
        const { root } = treeBy("package");
        return [root.count, root.size, rowCount - unownedStart, unownedStart - absentStart, sums("package"), sums("artifact")];"""
    actual, expected = browser.run(script), [count, size, unowned, absent, dict(packages), dict(artifacts)]
    texts = browser.run("return [...document.querySelectorAll('#figures dd')].map((d) => d.textContent)")
    text = [browser.run("return humanSize(arguments[0])", size), f"{count:,}", f"{len(plan['distributions']):,}", f"{unowned:,}", f"{absent:,}"]
    if actual != expected:
        return f"{actual} is not {expected}"
    return None if texts == text else f"the head shows {texts}, not {text}"


def areas(browser):
    """The outermost tiles have the same share of the map as of the bytes."""
    script = """const area = map.clientWidth * map.clientHeight, all = drawn.tiles.filter((t) => t.depth === 0);
        const whole = throughChain(drawn.node).size;
        return all.filter((t) => t.node).map((t) => [t.node.name, t.w * t.h / area, t.node.size / whole]);"""
    shares = browser.run(script)
    differences = [s for s in shares if abs(s[1] - s[2]) > 0.002]
    return f"area and size differ: {differences}" if differences or not shares else None


def zooming(browser, uri):
    """A click zooms in, the path above the map and the back button zoom out, and so does the keyboard."""
    browser.goto(uri)
    # The head of the second tile: its content covers the rest.
    name, x, y = browser.run("""const tile = drawn.tiles.filter((t) => t.depth === 0 && t.headed)[1] ?? drawn.tiles.find((t) => t.depth === 0 && t.node);
        const { left, top } = tile.element.getBoundingClientRect(); return [tile.node.name, left + 8, top + 8];""")
    browser.point(x, y, click=True)
    if not browser.wait("drawn.node.name === args[0] && readView().place.at(-1) === args[0]", name):
        return f"a click on {name} leads to {browser.run('return drawn.node.name')}"
    if browser.run("return document.querySelector('#trail [aria-current]').textContent") != name:
        return "the path above the map does not name the current node"
    browser.back()
    if not browser.wait("drawn.node.parent === null"):
        return "the back button does not zoom out"
    if not browser.run("document.querySelector('#map [tabindex=\"0\"]').focus(); return document.activeElement.matches('.tile')"):
        return "no tile can be reached by keyboard"
    browser.press("ArrowRight", "Enter")
    if not browser.wait("drawn.node.parent !== null && map.contains(document.activeElement)"):
        return "Enter does not zoom in, or loses the focus"
    inner = browser.run("return drawn.node.name")
    browser.press("Escape")
    if not browser.wait("drawn.node.parent === null && document.activeElement.getAttribute('aria-label')?.startsWith(args[0])", inner):
        return "Escape does not zoom out to where Enter was"
    browser.press("Enter")
    browser.wait("drawn.node.parent !== null")
    browser.click("#trail a")
    return None if browser.wait("drawn.node.parent === null") else "the path above the map does not lead out"


def file_click(browser, uri):
    """A click on a file shows its details."""
    browser.goto(uri)
    row, x, y = browser.run("""const tile = drawn.tiles.filter((t) => t.row !== undefined).sort((a, b) => b.w * b.h - a.w * a.h)[0];
        const { left, top, width, height } = tile.element.getBoundingClientRect(); return [tile.row, left + width / 2, top + height / 2];""")
    browser.point(x, y)
    if not browser.wait("!tip.hidden && tip.textContent.replaceAll('\u200b', '').includes(pathOf(args[0]))", row):
        return "the tooltip does not name the file"
    browser.point(x, y, click=True)
    if not browser.wait("readView().file === args[0] && panel.textContent.includes(pathOf(args[0]))", row):
        return "a click does not show the file's details"
    missing = browser.run("return factsOf(arguments[0]).filter(([, text]) => !panel.textContent.includes(text))", row)
    return f"{missing} is not shown" if missing else None


def search(browser, uri, plan):
    """Typing a path finds the file with all its facts, and highlights it in the map."""
    title, member = max(((t, m) for t, m in files_of(plan, "relink")), key=lambda pair: pair[1]["size"])
    browser.goto(uri)
    browser.press("/")
    browser.type("#find", member["path"])
    if not browser.wait("document.querySelectorAll('.found tbody tr').length >= 1 && readView().find === args[0]", member["path"]):
        return f"{member['path']} is not found"
    rows = browser.run("return [...document.querySelectorAll('.found tbody tr')].map((tr) => [...tr.cells].map((td) => td.textContent))")
    size = browser.run("return humanSize(arguments[0])", member["size"])
    row = [member["path"], title, "relink", size, member["rule"], member["rpath"]]
    if row not in rows:
        return f"{row} is not among {rows}"
    if not browser.run("return drawn.tiles.some((t) => t.element.classList.contains('hit'))"):
        return "the map highlights nothing"
    browser.click(".found tbody .link")
    if not browser.wait("panel.textContent.includes(args[0]) && drawn.tiles.some((t) => t.element.classList.contains('current'))", member["path"]):
        return "the map does not show the result of the search"
    return None


def globs(browser, uri, plan):
    """Globs, parts of names and `step:` select the same files as the plan. Licence texts are excluded, because their
    path in the plan differs.
    """
    licenses = {id(m) for d in plan["distributions"] for m in d["licenses"]}
    members = [m for _, m in pages.files(plan) if id(m) not in licenses]
    split = [(m["path"].lower().split("/"), m["step"]) for m in members]
    cases = {
        "*.h": lambda parts, _: parts[-1].endswith(".h"),
        "LIB": lambda parts, _: "lib" in "/".join(parts),
        "step:relink": lambda _, step: step == "relink",
        "step:stub bin/*": lambda parts, step: step == "stub" and parts[-2] == "bin",
        "{*.h,*.cmake}": lambda parts, _: parts[-1].endswith((".h", ".cmake")),
        "_*/lib/*": lambda parts, _: len(parts) > 2 and parts[-3].startswith("_") and parts[-2] == "lib",
        "_*/**/lib*.so.?": lambda parts, _: any(p.startswith("_") for p in parts[:-1]) and fnmatch.fnmatch(parts[-1], "lib*.so.?"),
        "lib?[!a-m]*.so*": lambda parts, _: fnmatch.fnmatch(parts[-1], "lib?[!a-m]*.so*"),
    }
    browser.goto(uri)
    for query, matches in cases.items():
        actual = browser.run("return search(arguments[0]).filter((row) => row < absentStart && columns.part[row] !== 1).length", query)
        expected = sum(map(lambda row: bool(matches(*row)), split))
        if actual != expected:
            return f"{query} finds {actual}, not {expected}"
    return None


def files_of(plan, step):
    return ((title, member) for title, member in pages.files(plan) if member["step"] == step)


def grouping(browser, uri, plan):
    """The button groups the map by artifact."""
    browser.goto(uri)
    browser.click("#groupings button[value=artifact]")
    if not browser.wait("readView().by === 'artifact' && document.querySelector('#groupings [aria-pressed=true]').value === 'artifact'"):
        return "the button changes nothing"
    largest = pages.totals(plan)[5].most_common(1)[0][0]
    first = browser.run("return drawn.tiles[0].node.name")
    if first != largest:
        return f"the largest artifact is {largest}, the map has {first}"
    component = browser.run("return drawn.tiles[0].node.items[0].name.split(' ')[0]")
    if largest != "made by rockpack" and component not in ("lib", "run", "dev", "dbg", "doc", "test"):
        return f"{component}, in {first}, is not a component"
    browser.back()
    return None if browser.wait("readView().by === 'package'") else "the back button does not lead back"


def lists(browser, uri, plan):
    """The tables have a line for each package, unowned file, absent file and note."""
    browser.goto(uri)
    _, _, unowned, absent, packages, _ = pages.totals(plan)
    browser.run("""for (const folded of document.querySelectorAll("#absent details")) folded.open = true;""")
    browser.wait("[...document.querySelectorAll('#absent details')].every((d) => d.querySelector('table'))")
    browser.run("for (const more of document.querySelectorAll('#absent .more, #unowned .more')) while (!more.hidden) more.click();")
    counted = browser.run("return ['#packages tbody tr', '#unowned tbody tr', '#absent tbody tr', '#notes li'].map((s) => document.querySelectorAll(s).length)")
    expected = [len(packages), unowned, absent, len(plan["notes"])]
    return None if counted == expected else f"{counted} lines, not {expected}"


def theme(browser, uri, name):
    """Text can be read in a theme, in the map, the tables and the results."""
    browser.theme(name)
    faults = []
    try:
        for place in ("", "#find=so", "#by=artifact"):
            browser.goto("about:blank")
            browser.goto(uri + place)
            browser.wait("document.querySelectorAll('.tile').length > 0")
            contrasts = browser.run(CONTRAST)
            faults += contrasts["bad"]
            if (contrasts["page"] > 0.5) != (name == "light"):
                return f"the page is not {name}"
            if contrasts["seen"] < 50:
                return f"only {contrasts['seen']} texts were looked at"
    finally:
        browser.theme("light")
    return f"contrast below 4.5: {faults[:6]}" if faults else None


def readable(browser, uri, texts):
    """Text has contrast in both themes, and nothing is wider than a laptop's or a phone's window."""
    problems = []
    for name in ("light", "dark"):
        browser.theme(name)
        for width, mobile in ((1280, False), (390, True)):
            browser.window(width, 844, mobile=mobile)
            browser.goto("about:blank")
            browser.goto(uri)
            browser.wait("document.readyState === 'complete'")
            contrasts = browser.run(CONTRAST)
            wide = browser.run("return document.documentElement.scrollWidth")
            if contrasts["bad"]:
                problems.append(f"{name}: contrast below 4.5: {contrasts['bad'][:3]}")
            if (contrasts["page"] > 0.5) != (name == "light"):
                problems.append(f"the page is not {name}")
            if contrasts["seen"] < texts:
                problems.append(f"only {contrasts['seen']} texts")
            if wide > width:
                problems.append(f"{wide} of {width} wide")
    browser.theme("light")
    browser.window(1440, 900)
    return "; ".join(dict.fromkeys(problems)) or None


def narrow(browser, uri):
    """On a phone, nothing is wider than the screen."""
    browser.window(390, 844, mobile=True)
    problems = []
    deep = browser.run("let node = treeBy('package').root; while (node.items[0] instanceof Node) node = node.items[0]; return address({ by: 'package', place: node.path, file: node.rows[0], find: '' })")
    for place in ("", deep, "#find=lib", "#by=artifact"):
        browser.goto("about:blank")
        browser.goto(uri + place)
        browser.wait("document.readyState === 'complete' && drawn.layer")
        wide = browser.run("return [document.documentElement.scrollWidth, innerWidth]")
        if wide[0] > 390 or wide[1] > 390:
            problems.append(f"{place or 'the start'} is {wide[0]} of {wide[1]} wide")
    browser.window(1440, 900)
    return "; ".join(problems) or None
