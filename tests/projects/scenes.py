# SPDX-License-Identifier: MIT
"""Scenes of project builds, with their expected results."""

import hashlib
import os
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path

import whole_wheel
from fetch import machine
from process import run
from report import Report

REPOSITORY = Path(__file__).resolve().parents[2]
FIXTURES = REPOSITORY / "tests/fixtures/projects"
# A module that the build backends of tests import.
WHOLE_WHEEL = Path(whole_wheel.__file__)
STACK = ["example_wave-1.2.0-cp", "example_wave_cython-2.0.1-cp", "example_wave_tools-0.3-py3-none-any"]


@dataclass
class Scene:
    """Shared inputs of all scenes."""

    report: Report
    rockpack: Path
    artifacts: Path
    work: Path
    python: Path

    def build(self, dest, nodes, *options, sources=FIXTURES, env=None, python=None, within=(), artifacts=None, **started):
        """Run `rockpack build`, `within` other words, with these nodes appended to the repository's packages.kdl."""
        manifest = self.work / "manifests" / dest.name
        manifest.mkdir(parents=True, exist_ok=True)
        text = (REPOSITORY / "packages.kdl").read_text(encoding="utf-8") + nodes
        (manifest / "packages.kdl").write_text(text, encoding="utf-8")
        shutil.copy(REPOSITORY / "families.kdl", manifest)
        shutil.copytree(REPOSITORY / "manifest", manifest / "manifest", dirs_exist_ok=True)
        command = [*within, self.rockpack, "build", "--manifest", manifest, *(artifacts or ("--artifact-dir", self.artifacts)), "-o", dest]
        command += ["--sources", sources, *options]
        home = self.work / "home"
        home.mkdir(exist_ok=True)
        return run(command, self.work, {**machine(), "HOME": str(home), "ROCKPACK_PYTHON": str(python or self.python), **(env or {})}, **started)

    def check(self, name, problem=None):
        """Report one check."""
        return self.report.check(name, problem)


def nodes(*names):
    """Return the KDL of these fixtures."""
    return "".join((FIXTURES / f"{name}.kdl").read_text(encoding="utf-8") for name in names)


def wheels(dest):
    """Return the names of the projects' wheels in a destination."""
    return sorted(path.name for path in (dest / "dist").glob("example_*.whl"))


def stack_is_there(dest):
    """Say which wheels of the stack are not there."""
    missing = [stem for stem in STACK if not any(name.startswith(stem) for name in wheels(dest))]
    return f"{missing} are not among {wheels(dest)}" if missing else None


def digests(directory, pattern="**/*"):
    """Return the SHA-256 of every file by its path."""
    files = sorted(path for path in directory.glob(pattern) if path.is_file())
    return {str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def decoy(directory, name, version, text=""):
    """Write a wheel that holds nothing but a module."""
    directory.mkdir(parents=True, exist_ok=True)
    whole_wheel.write(directory, name, version, {f"{name}.py": text})


def lines_with(text, *beginnings):
    """Return the numbers of the first lines that begin with these words; None for absent ones."""
    lines = text.splitlines()
    return [next((number for number, line in enumerate(lines) if line.startswith(words)), None) for words in beginnings]


def without_build(scene, bare):
    """Without the module `build` nothing is started, and the error has the remedy."""
    dest = scene.work / "bare out"
    result = scene.build(dest, nodes("projects"), python=bare)
    text = unwrapped(result.err)
    helpful = result.status == 2 and "has no module `build`" in text and "pip install" in text
    scene.check("a Python without build is refused with its remedy", None if helpful else f"{result.ending}: {result.err}")
    scene.check("a Python without build is refused before anything is written", f"{dest} is there" if dest.exists() else None)


def stack(scene):
    """Build the stack; a newer wheel of the same name elsewhere must not get in."""
    dest = scene.work / "one"
    decoy(scene.work / "decoys", "example_wave", "9.0", "raise ImportError('this is the wrong one')\n")
    links = f"{machine().get('PIP_FIND_LINKS', '')} {scene.work / 'decoys'}".strip()
    before = digests(FIXTURES)
    result = scene.build(dest, nodes("projects"), env={"PIP_FIND_LINKS": links})
    scene.check("a stack of C extensions is built", result.problem)
    scene.check("wheels of the stack are in the packages' directory", stack_is_there(dest))
    scene.check("a build does not change checkouts", None if digests(FIXTURES) == before else "something changed")
    order = ["devel-tree: started", "example-wave: started", "example-wave: example_wave", "example-wave-cython: started",
             "example-wave-cython: example_wave_cython", "example-wave-tools: started"]
    numbers = lines_with(result.err, *order)
    scene.check("projects are built after their dependencies", None if None not in numbers and numbers == sorted(numbers) else f"{numbers} of {result.err}")
    log = dest / "logs/example-wave-cython.log"
    text = log.read_text(encoding="utf-8") if log.is_file() else ""
    is_complete = all(words in text for words in ("render_version.py 7.1", "pep517.py wheel", "example_wave-1.2.0", "-O"))
    scene.check("the log of a project has commands and output", None if is_complete else text or "the log is missing")
    remaining = [path for path in dest.iterdir() if path.name not in ("dist", "logs", "kept")]
    scene.check("no working directory is left", f"{remaining}" if remaining else None)
    installed(scene, dest)


def installed(scene, dest):
    """Install the built packages in a fresh environment, and run them."""
    venv = scene.work / "venv"
    run([scene.python, "-m", "venv", venv], scene.work)
    command = [venv / "bin/pip", "install", "--no-index", "--no-cache-dir", "--find-links", dest / "dist", "example-wave-tools"]
    scene.check("the stack installs without an index", run(command, scene.work).problem)
    result = run([venv / "bin/example-wave"], scene.work)
    expected = "7.1 sine,saw 10 0 1 2 1 0 -1 -2 -1 0"
    problem = result.problem or (None if result.out.strip() == expected else f"{result.out!r} is not {expected!r}")
    scene.check("the stack runs, without `^square` and with its settings", problem)


def again(scene):
    """Repeat the build in another place, as another user would: equal bytes."""
    dest = scene.work / "another place" / "two"
    plain = scene.work / "another-place" / "two"
    env = {"LANG": "de_DE.UTF-8", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7", "EXAMPLE_LIBS": "none", "SOURCE_DATE_EPOCH": "1700000000"}
    before = os.umask(0o077)
    try:
        result = scene.build(plain, nodes("projects"), env=env)
    finally:
        os.umask(before)
    scene.check("the stack is built in another place", result.problem)
    one, two = digests(scene.work / "one/dist", "example_*.whl"), digests(plain / "dist", "example_*.whl")
    differ = [name for name in one if one[name] != two.get(name)]
    scene.check("another place, umask, locale and time zone give the same bytes", f"{differ}" if differ or not one else None)
    leaks = [name for name in one if str(scene.work).encode() in _content(scene.work / "one/dist" / name)]
    scene.check("wheels have no path of this machine", f"{leaks}" if leaks else None)
    dest.parent.mkdir(exist_ok=True)
    result = scene.build(dest, nodes("projects"), "--only", "devel", "--only", "meta", "--only", "core", "--only", "libraries",
                         "--only", "profiler", "--only", "example-wave")
    scene.check("a destination may have a space in its name", result.problem)


def unwrapped(text):
    """Return the texts of diagnostics, each sentence in one line."""
    return " ".join(word for word in text.split() if word.strip("│·╰─┤"))


def _content(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return b"".join(archive.read(member) for member in archive.namelist())


def one_anew(scene):
    """Build one project of the set again, with another selection, over the former output."""
    dest = scene.work / "one"
    before = digests(dest / "dist")
    text = nodes("projects").replace('bindings "^square"', 'bindings "sine" "square"')
    result = scene.build(dest, text, "--only", "example-wave")
    scene.check("--only builds one project over an earlier run's output", result.problem)
    changed = [name for name, digest in digests(dest / "dist").items() if before.get(name) != digest]
    changed = [name for name in changed if name.endswith((".whl", ".tar.gz"))]
    scene.check("--only changes no other wheel", None if [name[:15] for name in changed] == ["example_wave-1."] else f"{changed}")
    content = b"".join(_content(dest / "dist" / name) for name in changed)
    scene.check("--libs limits the wheel to the selected libraries", None if b"sine,square\0" in content else "others are in it")


def failing(scene):
    """A project that cannot be built stops its dependents, and no others."""
    dest = scene.work / "failing"
    decoy(dest / "dist", "example_foreign", "1")
    result = scene.build(dest, nodes("projects", "failing"))
    scene.check("a failing project fails the build", None if result.status == 1 else result.ending)
    scene.check("independent projects are built and installed", stack_is_there(dest))
    lost = [name for name in wheels(dest) if "broken" in name]
    scene.check("a failed project and its dependents leave no wheel", f"{lost}" if lost else None)
    foreign = (dest / "dist/example_foreign-1-py3-none-any.whl").is_file()
    scene.check("a failed build keeps other files", None if foreign else "a foreign wheel is gone")
    messages = ("building `example-broken` failed", "building its wheel ended with exit status: 1",
                "#error this project cannot be built", "example-broken.log", "it needs `example-broken`, which was not built")
    absent = [words for words in messages if words not in result.err]
    scene.check("a failed build prints the reason and the end of the log", f"{absent} not in {result.err}" if absent else None)
    log = dest / "logs/example-broken.log"
    text = log.read_text(encoding="utf-8") if log.is_file() else ""
    scene.check("a failed build keeps the whole log", None if "#error this project cannot be built" in text else "it is not")
    end = text.splitlines()[-2:]
    fine = len(end) == 2 and end[0].startswith("error: building its wheel") and end[1].endswith("--only example-broken")
    scene.check("the log of a failed project ends with the reason and the command to repeat it", None if fine else f"{end}")
    started = "example-needs-broken: started" in result.err
    scene.check("dependents of a failed project are not started", "it was" if started else None)


MEET = '''# SPDX-License-Identifier: MIT
"""Waits for another build to get here too."""
import sys, time
from pathlib import Path
place, own, other = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
(place / own).touch()
end = time.monotonic() + float(sys.argv[4])
while not (place / other).exists():
    if time.monotonic() > end:
        sys.exit(f"{own} met nobody")
    time.sleep(0.05)
'''


def at_once(scene):
    """Two that don't wait for each other run at the same time, and only then get through."""
    sources = scene.work / "meeting"
    for name in ("left", "right"):
        project = sources / name
        project.mkdir(parents=True, exist_ok=True)
        (project / "pyproject.toml").write_text(f'[project]\nname = "example-{name}"\nversion = "1"\n[tool.setuptools]\npy-modules = ["example_{name}"]\n', encoding="utf-8")
        (project / f"example_{name}.py").write_text("", encoding="utf-8")
        (project / "meet.py").write_text(MEET, encoding="utf-8")

    def text(seconds, place):
        place.mkdir(exist_ok=True)
        pair = (("left", "right"), ("right", "left"))
        return "".join(f'''
python-project "example-{name}" {{
    source "{name}"
    no-isolation
    run "{{python}}" "meet.py" "{place}" "{name}" "{other}" "{seconds}"
}}
''' for name, other in pair)

    result = scene.build(scene.work / "both", text(60, scene.work / "place"), "--jobs", "2", "--unconfined", "--only", "example-left",
                         "--only", "example-right", sources=sources)
    scene.check("--jobs 2 builds two projects without isolation at once", result.problem)
    result = scene.build(scene.work / "single", text(2, scene.work / "empty place"), "--jobs", "1", "--unconfined", "--only", "example-left",
                         "--only", "example-right", sources=sources)
    alone = result.status == 1 and "left met nobody" in result.err and "right met nobody" not in result.err
    scene.check("--jobs 1 builds one project at a time", None if alone else f"{result.ending}: {result.err}")


def finished_wheels(scene):
    """Wheels that others made are taken, from files and from the index."""
    sources = scene.work / "finished"
    decoy(sources / "wheels", "example_ready", "1.5")
    decoy(sources / "wheels", "example_other", "1")
    text = '''
wheel "example-ready" path="wheels/example_ready-*.whl"
wheel "packaging" index="packaging==24.2"
wheel "example-wrong" path="wheels/example_other-*.whl"
wheel "example-no-such" index="example-no-such==1"
'''
    dest = scene.work / "taken"
    only = [word for name in ("example-ready", "packaging", "example-wrong", "example-no-such") for word in ("--only", name)]
    result = scene.build(dest, text, *only, sources=sources)
    names = sorted(path.name for path in (dest / "dist").glob("*.whl"))
    expected = ["example_ready-1.5-py3-none-any.whl", "packaging-24.2-py3-none-any.whl"]
    scene.check("wheels are taken from files and an index", None if names == expected else f"{names}: {result.err}")
    messages = ("is of the distribution `example-other`, not `example-wrong`", "fetching it ended with exit status: 1")
    absent = [words for words in messages if words not in unwrapped(result.err)]
    scene.check("a wheel of another name, or that no index has, is an error", f"{absent} not in {result.err}" if absent or result.status != 1 else None)
