"""Checks built packages against the artifact tree, by rules written a second time.

    python3 check_paths.py --artifacts DIR --dist DIR [--facts DIR]
        [--version-suffix N] [--family F ...] [--expect-only]

Prints every difference as `package: path: difference`, and a line for each package without one. The
exit status is 1 when there is a difference.
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


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--artifacts", type=Path, required=True)
    parser.add_argument("--dist", type=Path, help="where the wheels are, also in subfolders")
    parser.add_argument("--facts", type=Path, default=Path(__file__).parent.parent / "facts")
    parser.add_argument("--version-suffix", default="", help="suffix of platform directories")
    parser.add_argument("--family", nargs="*", default=[], help="families or ISAs asked for")
    parser.add_argument("--expect-only", action="store_true", help="print the expected packages")
    options = parser.parse_args()
    if options.dist is None and not options.expect_only:
        parser.error("--dist is needed, or --expect-only")
    return options


def distribution_of(path):
    """The distribution name in a wheel's file name, compared without case and `-`/`_`."""
    return path.name.partition("-")[0].lower().replace("-", "_")


CHOICE = "rocm-sdk-device"


def wheel_key(subfolder, distribution):
    return (subfolder, distribution.lower().replace("-", "_"))


def wheels_below(dist):
    """The wheels of the output by (subfolder, distribution), several under one key too."""
    wheels = {}
    for path in sorted(dist.rglob("*.whl")):
        folder = path.parent.relative_to(dist).as_posix()
        key = ("" if folder == "." else folder, distribution_of(path))
        wheels.setdefault(key, []).append(path)
    return wheels


def only_metadata(path):
    """Entries of the wheel that only requires others: its import package and its metadata."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    module = CHOICE.replace("-", "_")
    def is_own(name):
        top = name.partition("/")[0]
        return top == module or top.endswith(".dist-info")
    return [(name, "belongs to another package") for name in names if not is_own(name)]


def checks(plan, facts, closure):
    """Each expected wheel: its key, the check to make of its path, and one after all wheels."""
    for package in plan.runtime:
        yield (wheel_key("", package.distribution),
               lambda path, package=package: RuntimeCheck(
                   plan, facts, package, path, closure).run(),
               lambda package=package: closure.differences(plan, package))
    if any(package.distribution.startswith("rocm-sdk-device-") for package in plan.runtime):
        yield wheel_key("", CHOICE), only_metadata, lambda: ()
    top = plan.dir_of("rocm-sdk-devel")
    for folder, members in plan.devel.items():
        yield (wheel_key(folder, "rocm-sdk-devel"),
               lambda path, members=members: DevelCheck(members, top, path).run(),
               lambda: ())


def check_all(plan, facts, dist, closure=None):
    """Prints differences and summaries; gives the number of differences."""
    wheels = wheels_below(dist)
    total, checked = 0, []
    for key, check, check_together in checks(plan, facts, closure or Closure()):
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
    print(f"{name}: {len(differences)} differences" if differences else f"{name}: agrees")
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
    options = arguments()
    facts = Facts(options.facts)
    artifacts = read_artifacts(options.artifacts)
    plan = Plan(artifacts, facts, options.version_suffix, options.family)
    if options.expect_only:
        print_expected(plan)
        return 0
    return 1 if check_all(plan, facts, options.dist) else 0


if __name__ == "__main__":
    sys.exit(main())
