# SPDX-License-Identifier: MIT
"""Tests and documentation of projects, against their installed wheels."""

from scenes import digests, unwrapped, wheels

PROJECT = {
    "pyproject.toml": '[build-system]\nrequires = ["setuptools"]\n[project]\nname = "example-tried"\nversion = "1"\n'
                      '[tool.setuptools]\npackages = ["example_tried"]\n',
    "example_tried/__init__.py": "ANSWER = 42\n",
    "example_tried/left_out.py": "raise ImportError('a test took the sources')\n",
    "tests/check.py": "import os, sys\nimport example_tried\n"
                      "assert 'site-packages' in example_tried.__file__, example_tried.__file__\n"
                      "assert os.listdir() == [], os.listdir()\n"
                      "assert 'LD_LIBRARY_PATH' not in os.environ\n"
                      "sys.exit(f'the answer is {example_tried.ANSWER}' if len(sys.argv) > 1 else 0)\n",
}

LINES = r'''
python-project "example-tried" {
    source "tried"
    %s
    test "{python}" "{source}/tests/other.py" if="tests/other.py"
    test "{python}" "-c" "raise SystemExit('there is no such device')" needs="/dev/no-such-device"
    docs "{python}" "-c" "import example_tried, pathlib, sys; pathlib.Path(sys.argv[1], 'index.html').write_text(str(example_tried.ANSWER))" "{docs}"
    docs-requires "packaging"
}
'''


def test_all(scene):
    """Run tests and make documentation, then let a test fail."""
    sources, dest = scene.work / "tried sources", scene.work / "tried"
    for name, text in PROJECT.items():
        (sources / "tried" / name).parent.mkdir(parents=True, exist_ok=True)
        (sources / "tried" / name).write_text(text, encoding="utf-8")
    lines = LINES % 'test "{python}" "{source}/tests/check.py"'

    def build(text, *options):
        env = {"LD_LIBRARY_PATH": "/nowhere"}
        return scene.build(dest, text, "--only", "example-tried", *options, sources=sources, env=env)

    plain = build(lines)
    untried = not plain.status and "tests of" not in plain.out and not (dest / "docs").exists()
    scene.check("without the options, nothing is tested and no documentation made", None if untried else plain.problem or plain.out)
    wheels_before = digests(dest / "dist", "example_*.whl")
    result = build(lines, "--projects", "tests,docs")
    scene.check("tests see the installed wheel, and an empty directory", result.problem)
    messages = ("tests of example-tried: 1 passed, 2 skipped, ", "skipped, for this machine has no /dev/no-such-device: {python} -c",
                "skipped, for the checkout has no tests/other.py: ", "docs of example-tried: docs/example-tried, ")
    absent = [words for words in messages if words not in result.out]
    scene.check("the closing table has passed tests, and the reason of skipped ones", f"{absent} not in {result.out}" if absent else None)
    page = dest / "docs/example-tried/index.html"
    fine = page.is_file() and page.read_text(encoding="utf-8") == "42"
    scene.check("the documentation is in DEST/docs", None if fine else "it is not")
    failing(scene, dest, build, wheels_before)
    remaining = [path.name for path in dest.iterdir() if path.name not in ("dist", "logs", "kept", "docs")]
    scene.check("no working directory is left of tests", f"{remaining}" if remaining else None)


def failing(scene, dest, build, wheels_before):
    """Let a test fail: the wheel is made all the same."""
    result = build(LINES % 'test "{python}" "{source}/tests/check.py" "wrong"', "--projects", "tests")
    text = unwrapped(result.err)
    messages = ("a test of `example-tried` failed", "ended with exit status: 1", "the answer is 42", "example-tried.tests.log")
    absent = [words for words in messages if words not in text]
    scene.check("a test that fails, fails the build", f"{absent} not in {result.err}" if absent or result.status != 1 else None)
    scene.check("changed test lines do not build the project again", None if "example-tried: unchanged" in result.err else result.err)
    log = dest / "logs/example-tried.tests.log"
    end = (log.read_text(encoding="utf-8") if log.is_file() else "").splitlines()[-1:]
    fine = end and end[0].endswith("--only example-tried") and "--projects tests" in end[0]
    scene.check("the log of a failed test ends with the command to repeat it", None if fine else f"{end}")
    same = digests(dest / "dist", "example_*.whl") == wheels_before and wheels(dest)
    scene.check("the wheel of a failed test remains", None if same else f"{wheels(dest)}")
    rebuilt = build(LINES % "", "--projects", "docs,rebuild")
    scene.check("new documentation replaces the old", rebuilt.problem)
