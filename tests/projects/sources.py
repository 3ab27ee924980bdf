# SPDX-License-Identifier: MIT
"""Checkouts of git: the built files, provenance and reports."""

import json
import os
import shutil
import time
import zipfile

from process import run
from report import NotRun
from scenes import digests, unwrapped

NAME = "example-own"
NODE = f'''
python-project "{NAME}" {{
    source "own"
    include-ignored "generated/*.txt"
    env "EXAMPLE_LEVEL" "3"
    pass "EXAMPLE_TOKEN" "EXAMPLE_ABSENT"
}}
'''
SECRET = "hunter2"
MODULE = "#include <Python.h>\nstatic struct PyModuleDef def = {PyModuleDef_HEAD_INIT, \"_own\", 0, -1, 0};\n" \
         "PyMODINIT_FUNC PyInit__own(void) { return PyModule_Create(&def); }\n"
FILES = {
    ".gitignore": "*.so\n/build\n/generated\n",
    "pyproject.toml": '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
                      f'[project]\nname = "{NAME}"\nversion = "1.0+local"\n'
                      '[tool.setuptools]\npackages = ["example_own"]\n[tool.setuptools.package-data]\nexample_own = ["*.so", "*.txt"]\n',
    "setup.py": "import shutil, pathlib\nfrom setuptools import Extension, setup\n"
                "for path in pathlib.Path('generated').glob('*.txt'):\n    shutil.copy(path, 'example_own')\n"
                "setup(ext_modules=[Extension('example_own._own', ['example_own/_own.c'])])\n",
    "example_own/__init__.py": "",
    "example_own/_own.c": MODULE,
}
LEFT_OVER = ("example_own/_own.cpython-39-x86_64-linux-gnu.so", "build/lib/example_own/old.py")


def git(directory, *words):
    """Run git in a directory."""
    result = run(["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *words], directory)
    if result.status:
        raise NotRun(f"git does not work: {result.problem}")
    return result.out.strip()


def write(directory, files):
    """Write texts below a directory."""
    for name, text in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text, encoding="utf-8")


def project(dest, wheel="example_own"):
    """Return the descriptors of the project in the statement that names its wheel, by name."""
    for path in sorted((dest / "dist").glob("provenance*.json")):
        statement = json.loads(path.read_text(encoding="utf-8"))
        if any(wheel in subject["name"] for subject in statement["subject"]):
            dependencies = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
            return {dependency["name"]: dependency for dependency in dependencies if dependency["name"].startswith("project/")}
    return {}


def wheels(dest):
    """Return the names of the project's wheels."""
    return sorted(path.name for path in (dest / "dist").glob("example_own-*.whl"))


def different(expected, actual):
    """Say how a value differs from the expected one."""
    return None if expected == actual else f"{actual} is not {expected}"


def test_all(scene):
    """Build a checkout clean, dirty, broken and without version control."""
    sources, dest = scene.work / "own sources", scene.work / "own"
    checkout = sources / "own"
    write(checkout, FILES)
    git(checkout, "init", "--quiet", "--initial-branch=main")
    git(checkout, "add", ".")
    git(checkout, "commit", "--quiet", "--message=one")
    git(checkout, "remote", "add", "origin", f"https://user:{SECRET}@example.org/own.git")
    write(checkout, {name: "of an earlier build" for name in LEFT_OVER})
    write(checkout, {"generated/there.txt": "made by a script"})
    commit = git(checkout, "rev-parse", "HEAD")

    def build(*options, **env):
        return scene.build(dest, NODE, "--only", NAME, *options, sources=sources, env=env)
    clean(scene, dest, build, commit)
    dirty(scene, dest, build, checkout, commit)
    broken(scene, dest, build, checkout)
    unversioned(scene, dest, build, checkout)


def clean(scene, dest, build, commit):
    """Ignored files are excluded, and provenance names the sources and the build tools."""
    variables = {"EXAMPLE_TOKEN": SECRET, "CFLAGS": "-O0 -DOWN"}
    result = build("--require-clean", **variables)
    scene.check("a clean checkout is built with the option that requires one", result.problem)
    names = wheels(dest)
    members = zipfile.ZipFile(dest / "dist" / names[0]).namelist() if names else []
    stale = [name for name in members if "cpython-39" in name or name.endswith("old.py")]
    scene.check("the wheel has the project's version, and nothing of an earlier build", f"{names}, {stale}" if stale or len(names) != 1 or "+local-" not in names[0] else None)
    scene.check("the wheel has the ignored file that a line names", None if "example_own/there.txt" in members else f"{members}")
    record = project(dest)
    source = record.get(f"project/{NAME}", {})
    scene.check("provenance names the checkout's commit", different({"gitCommit": commit}, source.get("digest")))
    scene.check("provenance names the checkout's address without the password", different(f"git+https://example.org/own.git@{commit}", source.get("uri")))
    notes = source.get("annotations", {})
    tools = notes.get("tools", {})
    checks = [tools.get("python", "").startswith("3."), " " in tools.get("CC", ""), tools.get("pip", "")]
    scene.check("provenance names the Python, the compiler and pip", None if all(checks) else f"{tools}")
    environment = notes.get("environment", {})
    actual = {name: environment.get(name) for name in ("CFLAGS", "EXAMPLE_LEVEL", "PATH", "EXAMPLE_TOKEN")}
    scene.check("provenance has the variables with an effect", different({"CFLAGS": "-O0 -DOWN", "EXAMPLE_LEVEL": "3", "PATH": None, "EXAMPLE_TOKEN": None}, actual))
    scene.check("provenance has only the names of passed variables", different(["EXAMPLE_TOKEN"], notes.get("passed")))
    scene.check("provenance has the file that a line names", different(["generated/there.txt"], list(notes.get("named", {}))))
    requires = [dependency for name, dependency in record.items() if "/requires/setuptools-" in name]
    hashed = requires and all(len(dependency["digest"].get("sha256", "")) == 64 for dependency in requires)
    scene.check("provenance has the requirements with their hashes", None if hashed else f"{list(record)}")
    leaks = [path for path in dest.rglob("*") if path.is_file() and path.suffix in (".json", ".log", ".whl") and SECRET.encode() in path.read_bytes()]
    scene.check("no output has a secret", f"{leaks}" if leaks else None)
    before = digests(dest / "dist")
    result = build(**variables)
    unchanged = f"{NAME}: unchanged" in result.err
    scene.check("an unchanged project has the same record", None if unchanged and digests(dest / "dist") == before else f"{result.err}")


def dirty(scene, dest, build, checkout, commit):
    """A dirty checkout is reported everywhere, and refused if a clean one is required."""
    write(checkout, {"example_own/__init__.py": "CHANGED = True\n", "example_own/new.py": ""})
    before = digests(dest / "dist")
    for title, options, env in (("with --require-clean", ["--require-clean"], {}), ("in CI", [], {"CI": "true"})):
        result = build(*options, **env)
        text = unwrapped(result.err)
        reported = all(words in text for words in ("the checkout `own` is dirty", "`example_own/__init__.py`, `example_own/new.py`", "--require-clean=false"))
        scene.check(f"a dirty checkout is refused {title}", None if result.status == 1 and reported else f"{result.ending}: {result.err}")
    scene.check("a refused checkout changes no package", None if digests(dest / "dist") == before else "something changed")
    result = build("--require-clean=false", CI="true")
    scene.check("a dirty checkout is built without the option", result.problem)
    scene.check("the closing table marks the dirty checkout", None if "checkout own: dirty, with example_own/__init__.py and 1 more file" in result.out else result.out)
    marked = [name for name in wheels(dest) if "+local.dirty-" in name]
    scene.check("the version marks the dirty checkout", None if len(marked) == 1 else f"{wheels(dest)}")
    clean = [name for name in wheels(dest) if name not in marked]
    scene.check("the wheel of the clean checkout stays", None if clean and before.items() >= {(clean[0], digests(dest / "dist")[clean[0]])} else f"{clean}")
    source = project(dest, marked[0]).get(f"project/{NAME}", {})
    notes = source.get("annotations", {})
    actual = (list(source.get("digest", {})), source.get("uri"), notes.get("dirty"), notes.get("commit"), notes.get("changed"))
    expected = (["sha256"], f"git+https://example.org/own.git@{commit}", 2, commit, ["example_own/__init__.py", "example_own/new.py"])
    scene.check("provenance marks the dirty checkout, with the hash of its files", different(expected, actual))
    result = run([scene.rockpack, "wheel", "verify", "--json", dest / "dist" / marked[0]], scene.work)
    codes = {finding["code"] for finding in json.loads(result.out)["findings"]}
    # Some Pythons add an rpath to every module.
    scene.check("the wheel with the marked version is intact", different(set(), codes - {"rpath-outside"}))


def broken(scene, dest, build, checkout):
    """The last good wheel stays when its project cannot be built any more."""
    write(checkout, {"example_own/_own.c": "#error no longer\n"})
    before = {name: digest for name, digest in digests(dest / "dist").items() if name.endswith(".whl")}
    path = dest / "dist" / wheels(dest)[0]
    days = time.time() - 2 * 86400 - 60
    os.utime(path, (days, days))
    result = build()
    after = {name: digest for name, digest in digests(dest / "dist").items() if name.endswith(".whl")}
    scene.check("a failed build keeps the last good wheel", different(before, after) or (None if result.status == 1 else result.ending))
    wheel_text = f"dist/{path.name}, built 2 days ago"
    reported = wheel_text in unwrapped(result.err) and f"kept {wheel_text}: this build made no wheel of {NAME}" in result.out
    scene.check("a failed build reports the kept wheel and its age", None if reported else f"{result.out}{result.err}")
    listed = path.name in (dest / "dist/SHA256SUMS").read_text(encoding="utf-8")
    scene.check("the kept wheel remains listed, with its record", None if listed and f"project/{NAME}" in project(dest) else "it is not")


def unversioned(scene, dest, build, checkout):
    """Without git, everything is built, with a note."""
    shutil.rmtree(checkout / ".git")
    write(checkout, {"example_own/_own.c": MODULE})
    (checkout / LEFT_OVER[0]).unlink()
    result = build("--require-clean")
    scene.check("a checkout without version control is built", result.problem)
    scene.check("a checkout without version control is reported as one", None if "checkout own: no version control, files " in result.out else result.out)
    source = project(dest).get(f"project/{NAME}", {})
    notes = source.get("annotations", {})
    scene.check("provenance marks the checkout without version control", different(("none", {"sha256": notes.get("tree")}), (notes.get("versionControl"), source.get("digest"))))
