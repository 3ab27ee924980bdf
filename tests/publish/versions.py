# SPDX-License-Identifier: MIT
"""The order of versions, by `packaging`: installers choose by it, not by rockpack's order."""

import datetime
import json
import random

from process import run

ROUNDS = 40
# In the order of installers, the oldest first. A development build for a release branch has the version
# of any other of its commit.
TYPES = ("dev", "nightly-bkc", "nightly", "prerelease", "release")
JUDGE = """
import json, sys
from packaging.version import Version
for versions in json.load(open(sys.argv[1])):
    parsed = [Version(text) for text in versions]
    print(all(str(one) == text for one, text in zip(parsed, versions)) and all(a < b for a, b in zip(parsed, parsed[1:])))
"""


def check(report, tools, arguments, work):
    """Compare the versions of builds that are made by chance."""
    chance = random.Random(20)
    rows = [row(chance, arguments.rockpack.resolve(), work) for _ in range(ROUNDS)]
    failure = next((problem for _, problem in rows if problem), None)
    if not report.check(f"rockpack help versions prints {ROUNDS * len(TYPES)} versions", failure):
        return
    texts = [versions for versions, _ in rows]
    (work / "versions.json").write_text(json.dumps(texts), encoding="utf-8")
    result = run([tools.bin / "python", "-c", JUDGE, work / "versions.json"], work)
    if report.check("packaging reads them", result.problem):
        verdicts = result.out.split()
        bad = [versions for versions, fine in zip(texts, verdicts, strict=True) if fine != "True"]
        report.check("packaging has them in the order dev < nightly-bkc < nightly < prerelease < release", bad and str(bad[:2]))


def row(chance, rockpack, work):
    """Return the versions of one base in the order of TYPES, and the error."""
    day = datetime.date(2024, 1, 1) + datetime.timedelta(chance.randrange(2000))
    start = day - datetime.timedelta(chance.randrange(1, 60))
    base = f"{chance.randrange(1, 20)}.{chance.randrange(30)}.{chance.randrange(5)}"
    dates = ["--date", f"{day:%Y%m%d}", "--base-date", f"{start:%Y%m%d}", "--override-base-version", base]
    sha = f"{chance.getrandbits(160):040x}"
    versions = []
    for kind in TYPES:
        number = ["--prerelease-version", str(chance.randrange(1, 30))] if kind == "prerelease" else []
        result = run([rockpack, "help", "versions", "--release-type", kind, "--sha", sha, "--json", *dates, *number], work)
        if result.status:
            return versions, result.problem
        versions.append(json.loads(result.out)["rocm_package_version"])
    return versions, None
