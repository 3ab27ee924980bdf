# SPDX-License-Identifier: MIT
"""Pages for the browser tests, and their expected content, computed independently from the plan's JSON."""

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

DATA = re.compile(r'(<script type="application/json" id="plan">)(.*?)(</script>)', re.DOTALL)


def plan_and_page(rockpack, artifacts, more=()):
    """Return the plan as JSON and as a page of the tested program."""
    command = [str(rockpack), "plan", "--artifact-dir", str(artifacts), *more]
    text, page = (subprocess.run([*command, form], check=True, capture_output=True).stdout for form in ("--format=json", "--format=html"))
    return json.loads(text), page.decode()


def variations(rockpack, artifacts, directory):
    """Build packages of all families and of one. Yield title and address of index pages, a difference and a ledger."""
    def run(*words):
        result = subprocess.run([str(rockpack), *words], capture_output=True)
        # `diff` ends with 1 for a loss, and with --ledger for a difference that no line accepts.
        if result.returncode not in ((0, 1) if words[0] == "diff" else (0,)):
            raise RuntimeError(f"{words}: {result.stderr.decode()}")
        return result.stdout.decode()

    sides = {"all": [], "one": ["--linux-amdgpu-families", "gfx94X-dcgpu"]}
    for name, families in sides.items():
        run("build", "--artifact-dir", str(artifacts), "-o", str(directory / name), *families)
    dists = [str(directory / name / "dist") for name in sides]
    run("index", "write", dists[0])
    yield "an index's page of a package", (Path(dists[0]) / "simple/rocm-sdk-core/index.html").as_uri()
    yield "an index's first page", (Path(dists[0]) / "simple/index.html").as_uri()
    for title, more in {"the page of a difference": [], "the page of a ledger": ["--ledger", "built-in"]}.items():
        yield title, write(directory, f"{title}.html", run("diff", *dists, *more, "--format", "html"))


def files(plan):
    """Yield the title of the distribution and the member for each installed file."""
    for distribution in plan["distributions"]:
        family = distribution["directory"].removeprefix("dist").strip("/")
        form = " (sdist)" if distribution["form"] == "sdist" else ""
        title = f"{family}{'/' if family else ''}{distribution['name']}{form}"
        archived = distribution.get("archive", {}).get("members", [])
        for member in [*distribution["members"], *distribution["licenses"], *archived]:
            if member["step"] != "directory":
                yield title, member


def totals(plan):
    """Return the numbers of files, bytes, unowned and absent files, and the bytes of each package and artifact."""
    packages, artifacts, count = Counter(), Counter(), 0
    for title, member in files(plan):
        count += 1
        packages[title] += member["size"]
        source = member.get("source")
        artifacts[source["artifact"]["name"] if source else "made by rockpack"] += member["size"]
    absent = sum(len(d["absent"]) for d in plan["distributions"])
    return count, sum(packages.values()), len(plan["unowned"]), absent, packages, artifacts


def with_names(page, names):
    """Return the page with `names` in place of its first file names, the first of them also as its platform, and all of
    them as more notes; escaped as rockpack does."""

    def rename(match):
        data = json.loads(match[2])
        strings = data["strings"]
        for at, name in zip(dict.fromkeys(_numbers(data["columns"]["name"])), names, strict=False):
            strings[at] = name
        data["notes"] = [*data["notes"], *names]
        data["platform"] = names[0]
        return match[1] + json.dumps(data).replace("<", "\\u003c") + match[3]

    return DATA.sub(rename, page)


def multiplied(page, rows):
    """Return the page with copies of its files, each below a directory `copy-N`, up to `rows` rows."""

    def multiply(match):
        data = json.loads(match[2])
        columns = {name: _numbers(column) for name, column in data["columns"].items()}
        parents, names = _numbers(data["directories"]["parent"]), _numbers(data["directories"]["name"])
        # Rows without an installed file (absent, unowned) are last; the grown page lacks them.
        unshipped = [data["steps"].index(s) for s in ("absent", "unowned") if s in data["steps"]]
        row_count = next((at for at, step in enumerate(columns["step"]) if step in unshipped), len(columns["step"]))
        directory_count = len(parents)
        grown = {name: column[:row_count] for name, column in columns.items()}
        for copy in range(1, rows // row_count):
            # Number of the copy's directory: numbers begin at 1, and 0 is the top.
            above = len(parents) + 1
            data["strings"].append(f"copy-{copy}")
            parents.append(0)
            names.append(len(data["strings"]) - 1)
            parents += [above + parent if parent else above for parent in parents[:directory_count]]
            names += names[:directory_count]
            for name, column in columns.items():
                # Entries of the top level move into the copy's directory, others into the copies of their directories.
                moved = column[:row_count]
                if name == "directory":
                    moved = [above + value if value else above for value in moved]
                # `strip` is the number of first parts that the source's path lacks: the copy's directory is one more.
                grown[name] += [value + 1 for value in moved] if name == "strip" else moved
        data["columns"], data["directories"] = grown, {"parent": parents, "name": names}
        return match[1] + json.dumps(data, separators=(",", ":")).replace("<", "\\u003c") + match[3]

    return DATA.sub(multiply, page)


def _numbers(column):
    if isinstance(column, list):
        return column
    runs = column["runs"]
    return [value for at in range(0, len(runs), 2) for value in [runs[at]] * runs[at + 1]]


def write(directory: Path, name, page):
    file = directory / name
    file.write_text(page, encoding="utf-8")
    return file.as_uri()
