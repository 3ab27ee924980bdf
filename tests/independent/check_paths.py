"""Checks built packages against the artifact tree, by an independent implementation of the rules.

    python3 check_paths.py --artifacts DIR --dist DIR [--facts DIR]
        [--version-suffix N] [--family F ...] [--expect-only]

Prints every difference as `package: path: difference`, and a summary line for each package. The exit
status is 1 if there is a difference.
"""

import argparse
import sys
import zipfile
from collections import Counter
from pathlib import Path

from check_closure import Closure
from check_devel import DevelCheck
from check_runtime import RuntimeCheck
from facts import Facts
from packages import Plan
from tree import read_artifacts

CHOICE = "rocm-sdk-device"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--artifacts", type=Path, required=True)
    parser.add_argument("--dist", type=Path, help="directory of the wheels, with subdirectories")
    parser.add_argument("--facts", type=Path, default=Path(__file__).parent.parent / "facts")
    parser.add_argument("--version-suffix", default="", help="suffix of platform directories")
    parser.add_argument("--family", nargs="*", default=[], help="families or ISAs asked for")
    parser.add_argument("--expect-only", action="store_true", help="print the expected packages")
    options = parser.parse_args()
    if options.dist is None and not options.expect_only:
        parser.error("--dist is needed, or --expect-only")
    return options


def wheel_key(subfolder, distribution):
    """Return the key of a wheel: its name is compared without case and `-`/`_`."""
    return (subfolder, distribution.lower().replace("-", "_"))


def find_wheels(dist):
    """Return the wheels of the output by key; several can have one key."""
    wheels = {}
    for path in sorted(dist.rglob("*.whl")):
        folder = path.parent.relative_to(dist).as_posix()
        key = wheel_key("" if folder == "." else folder, path.name.partition("-")[0])
        wheels.setdefault(key, []).append(path)
    return wheels


def foreign_members(path):
    """Return members of the choice's wheel outside of its import package and metadata, as differences."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    module = CHOICE.replace("-", "_")
    def is_own(name):
        top = name.partition("/")[0]
        return top == module or top.endswith(".dist-info")
    return [(name, "belongs to another package") for name in names if not is_own(name)]


def expected_checks(plan, facts, closure):
    """Yield for each expected wheel its key, a check of its file, and a check that needs all wheels to be read."""
    for package in plan.runtime:
        yield (wheel_key("", package.distribution),
               lambda path, package=package: RuntimeCheck(
                   plan, facts, package, path, closure).run(),
               lambda package=package: closure.differences(plan, package))
    if any(package.distribution.startswith("rocm-sdk-device-") for package in plan.runtime):
        yield wheel_key("", CHOICE), foreign_members, lambda: ()
    top = plan.dir_of("rocm-sdk-devel")
    for folder, members in plan.devel.items():
        yield (wheel_key(folder, "rocm-sdk-devel"),
               lambda path, members=members: DevelCheck(members, top, path).run(),
               lambda: ())


def check_all(plan, facts, dist, closure=None):
    """Print differences and summaries; return the number of differences."""
    wheels = find_wheels(dist)
    total, checked = 0, []
    for key, check, check_together in expected_checks(plan, facts, closure or Closure()):
        paths = wheels.pop(key, [])
        if len(paths) == 1:
            differences = check(paths[0])
        else:
            differences = [("", f"{len(paths)} wheels, expected one")]
        checked.append((key, differences, check_together))
    for key, differences, check_together in checked:
        total += report("/".join(filter(None, key)), [*differences, *check_together()])
    for key, paths in wheels.items():
        total += report("/".join(filter(None, key)), [(p.name, "unexpected wheel") for p in paths])
    return total


def report(name, differences):
    for path, difference in differences:
        print(f"{name}: {path}: {difference}")
    count = len(differences)
    print(f"{name}: {count} difference{'' if count == 1 else 's'}" if count else f"{name}: agrees")
    return len(differences)


def print_expected(plan):
    for package in plan.runtime:
        forms = Counter(item.form for item in package.items.values())
        print(f"{package.distribution} {package.platform_dir} {dict(forms)}")
        for path, item in sorted(package.items.items()):
            print(f"  {path}: {item.form} {item.entry.path if item.entry else ''}")
        for path, reason in sorted(package.dropped.items()):
            print(f"  - {path}: {reason}")
    for folder, members in plan.devel.items():
        print(f"devel {folder} {dict(Counter(form for form, _ in members.values()))}")
        for path, (form, detail) in sorted(members.items()):
            print(f"  {path}: {form} {detail if form == 'link' else ''}")


def main():
    options = parse_arguments()
    facts = Facts(options.facts)
    artifacts = read_artifacts(options.artifacts)
    plan = Plan(artifacts, facts, options.version_suffix, options.family)
    if options.expect_only:
        print_expected(plan)
        return 0
    return 1 if check_all(plan, facts, options.dist) else 0


if __name__ == "__main__":
    sys.exit(main())
