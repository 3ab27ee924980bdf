# SPDX-License-Identifier: MIT
"""Projects with forbidden actions: each gives a clear error, and leaves nothing."""

import os
import resource
import shutil
import signal
import time
from pathlib import Path

import attacks
from process import run
from scenes import WHOLE_WHEEL, digests, unwrapped, wheels

# A build backend of the project's own, which needs nothing from an index.
BACKEND = '''# SPDX-License-Identifier: MIT
import os, signal, subprocess, sys
from pathlib import Path
from whole_wheel import write as wheel

def build_wheel(directory, config_settings=None, metadata_directory=None):
    %s
'''

# Action of each project, and its expected message; None if the build may continue.
PROJECTS = {
    "example-two": ("wheel(directory, 'example_two'); os.rename(f'{directory}/example_two-1-py3-none-any.whl', f'{directory}/example_two-1-py2-none-any.whl'); return wheel(directory, 'example_two')", "its build left 2 wheels"),
    "example-none": ("return 'example_none-1-py3-none-any.whl'", "its build left no wheel"),
    "example-named": ("return wheel(directory, 'example_another')", "is of the distribution `example-another`, not `example-named`"),
    "example-input": ("input('your name? '); return wheel(directory, 'example_input')", "building its wheel ended with exit status: 1"),
    "example-loud": ("print('x' * 20_000_000); sys.stdout.flush(); raise SystemExit('too much')", "building its wheel ended with exit status"),
    "example-killed": ("os.kill(os.getpid(), signal.SIGKILL)", "building its wheel ended with"),
    "example-stays": (
        "subprocess.Popen([sys.executable, '-c', 'import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)', 'hostile-example'],"
        " start_new_session=True); return wheel(directory, 'example_stays')", None),
}


def running(word):
    """Return the ids of programs with this word on their command line."""
    processes = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in place.read_bytes().split(b"\0"):
                processes.append(place.parent.name)
        except OSError:
            continue
    return processes


def test_all(scene):
    """Build all of them at once."""
    sources = scene.work / "hostile"
    write(sources, {name: body for name, (body, _) in PROJECTS.items()})
    nodes = "".join(f'python-project "{name}" {{ source "{name}"; }}\n' for name in PROJECTS)
    dest = scene.work / "hostile out"
    only = [word for name in PROJECTS for word in ("--only", name)]
    start_time = time.monotonic()
    result = scene.build(dest, nodes, *only, sources=sources)
    text = unwrapped(result.err)
    scene.check("hostile projects fail the build", None if result.status == 1 else result.ending)
    for name, (_, message) in PROJECTS.items():
        fine = f"building `{name}` failed" in text and message in text if message else f"building `{name}` failed" not in text
        scene.check(f"{name}: {message or 'it is built'}", None if fine else result.err)
    scene.check("hostile projects leave no wheel", None if wheels(dest) == ["example_stays-1-py3-none-any.whl"] else f"{wheels(dest)}")
    scene.check("no program of a hostile project continues, even one that ignores SIGTERM", None if not running("hostile-example") else f"{running('hostile-example')}")
    scene.check("a program that waits for input does not stop the build", None if time.monotonic() - start_time < 300 else "it took minutes")
    remaining = [path.name for path in dest.iterdir() if path.name not in ("dist", "logs", "kept")]
    scene.check("hostile projects leave no working directory", f"{remaining}" if remaining else None)
    attacks.test_all(scene)
    refused(scene)
    outside(scene)
    full_disk(scene)
    full_file_system(scene)


def refused(scene):
    """Build a sound wheel, then one that verify refuses, then the same with its code allowed."""
    sources, dest = scene.work / "refused", scene.work / "refused out"
    sound = "return wheel(directory, 'example_refused')"
    unsound = "return wheel(directory, 'example_refused', unlisted={'example_one.py': '', 'example_two.py': ''})"
    name, file = "example-refused", "example_refused-1-py3-none-any.whl"
    nodes = f'python-project "{name}" {{ source "{name}"; }}\n'

    def build(body, *options):
        write(sources, {name: body})
        return scene.build(dest, nodes, "--only", name, *options, sources=sources)

    scene.check("a sound wheel is placed", build(sound).problem or (None if wheels(dest) == [file] else f"{wheels(dest)}"))
    before = digests(dest / "dist", "*.whl")
    result = build(unsound)
    text, findings = unwrapped(result.err), [f"{file}: not listed in RECORD: `{member}.py`" for member in ("example_one", "example_two")]
    messages = ("building `example-refused` failed", findings[0], "(and 1 more finding)", "`--allow not-in-record` makes it a warning")
    absent = [words for words in messages if words not in text]
    scene.check("a wheel that verify refuses fails its project", f"{absent} not in {result.err}" if absent or result.status != 1 else None)
    log = (dest / "logs/example-refused.log").read_text(encoding="utf-8").splitlines()
    scene.check("the log of the refused project has every finding", None if all(finding in log for finding in findings) else f"{log[-8:]}")
    scene.check("the last good wheel remains, with its bytes", None if before and digests(dest / "dist", "*.whl") == before else f"{wheels(dest)}")
    listed = file in (dest / "dist/SHA256SUMS").read_text(encoding="utf-8")
    messages = listed and f"kept dist/{file}, built" in result.out
    scene.check("the last good wheel remains listed, and a note reports it", None if messages else f"{result.out}{result.err}")
    remaining = [path.name for path in dest.iterdir() if path.name not in ("dist", "logs", "kept")]
    scene.check("the refused wheel is not in the destination", f"{remaining}" if remaining else None)
    result = build(unsound, "--allow", "member-mode")
    same = digests(dest / "dist", "*.whl") == before
    scene.check("--allow with another code refuses the wheel", None if result.status == 1 and same else f"{result.ending}: {result.err}")
    result = build(unsound, "--allow", "not-in-record")
    text = unwrapped(result.err)
    messages = ("not listed in RECORD: `example_one.py`, `example_two.py`", "allowed by --allow not-in-record")
    absent = [words for words in messages if words not in text]
    scene.check("--allow with the finding's code accepts the wheel with a warning", result.problem or (f"{absent} not in {result.err}" if absent else None))
    after = digests(dest / "dist", "*.whl")
    scene.check("the accepted wheel replaces the last good one", None if list(after) == [file] and after != before else f"{after}")
    result = build(unsound)
    refused_again = result.status == 1 and "not listed in RECORD" in unwrapped(result.err)
    scene.check("without --allow the unchanged wheel is refused again", None if refused_again else f"{result.ending}: {result.err}")


def outside(scene):
    """Build a project that writes where it has no business, and one of its tests that does."""
    sources, dest = scene.work / "outside", scene.work / "outside out"
    place = scene.work / "elsewhere"
    place.mkdir()
    write(sources, {"example-writes": f"Path({str(place)!r}, 'written').write_text(''); return wheel(directory, 'example_writes')",
                    "example-inside": "Path('/dev/null').write_text(''); Path('made').write_text(''); return wheel(directory, 'example_inside')"})
    tested = f'test "{{python}}" "-c" "open({str(place / "tested")!r}, \'w\')"'
    nodes = ('python-project "example-writes" { source "example-writes"; }\n'
             f'python-project "example-inside" {{ source "example-inside"; {tested}; }}\n')
    only = ["--only", "example-writes", "--only", "example-inside"]
    if attacks.landlock() < 2:
        scene.report.note("WRITING ELSEWHERE NOT TESTED: this kernel cannot hold programs to a directory (Landlock)")
        return
    result = scene.build(dest, nodes, *only, "--projects", "tests", sources=sources)
    text = unwrapped(result.err)
    reported = "building `example-writes` failed" in text and "it may write only below its own directory" in text
    scene.check("a build that writes elsewhere fails, with the reason", None if reported and result.status == 1 else result.err)
    reported = text.count("it may write only below its own directory") == 2
    scene.check("a test that writes elsewhere fails, with the reason", None if reported else result.err)
    scene.check("nothing is written elsewhere", None if not any(place.iterdir()) else f"{list(place.iterdir())}")
    scene.check("a project that stays in its directory is built", None if wheels(dest) == ["example_inside-1-py3-none-any.whl"] else f"{wheels(dest)}")
    result = scene.build(dest, nodes, *only, "--projects", "tests", "--unconfined", sources=sources)
    names = sorted(path.name for path in place.iterdir())
    scene.check("--unconfined permits a build and a test to write elsewhere", None if result.status == 0 and names == ["tested", "written"] else f"{names}: {result.err}")


def write(sources, bodies):
    """Write projects with these builds below `sources`."""
    for name, body in bodies.items():
        project = sources / name
        project.mkdir(parents=True, exist_ok=True)
        (project / "backend.py").write_text(BACKEND % body, encoding="utf-8")
        shutil.copy(WHOLE_WHEEL, project)
        (project / "pyproject.toml").write_text('[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n', encoding="utf-8")


def little_room():
    """Limit files to 4 MB; a larger one gives an error, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))


def full_disk(scene):
    """Build a project with too large files, and a project with a too large wheel."""
    sources, dest = scene.work / "full", scene.work / "full out"
    bodies = {"example-fits": "return wheel(directory, 'example_fits')",
              "example-full": "Path('objects').write_bytes(bytes(20_000_000)); return wheel(directory, 'example_full')"}
    write(sources, bodies)
    nodes = "".join(f'python-project "{name}" {{ source "{name}"; }}\n' for name in bodies)
    only = [word for name in bodies for word in ("--only", name)]
    result = scene.build(dest, nodes, *only, sources=sources, preexec_fn=little_room, restore_signals=False)
    reported = result.status == 1 and "building `example-full` failed" in result.err and "File too large" in result.err
    scene.check("a build that fills the disk fails with the system's error", None if reported else f"{result.ending}: {result.err}")
    names = wheels(dest) if dest.is_dir() else []
    scene.check("projects that fit on the disk are built", None if names == ["example_fits-1-py3-none-any.whl"] else f"{names}")
    remaining = [path.name for path in dest.iterdir() if path.name not in ("dist", "logs", "kept")]
    scene.check("only the log of the project that filled the disk remains", f"{remaining}" if remaining else None)


# Runs a program with small file systems in the places of a directory and of builds, and lists the files left in the first.
SMALL = """mkdir -p /var/tmp/rockpack && mount -t tmpfs -o size="$1" none /var/tmp/rockpack && mount -t tmpfs -o size="$1" none "$2" && place=$2 && shift 2 || exit 99
"$@"; status=$?
find "$place" -mindepth 1 -maxdepth 2 -not -path "*/logs/*" -printf "left: %P\\n"; exit $status"""


def small(place, size):
    """Return the words before a command that runs so, or None where the kernel does not let us mount."""
    place.mkdir()
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    words = ["unshare", *user, "--mount", "sh", "-c", SMALL, "sh", size, place]
    if not shutil.which("unshare") or run([*words, "true"], place.parent).status:
        return None
    return words


def full_file_system(scene):
    """Fill the file system of the destination: by a project, and by the packages themselves."""
    sources, dest = scene.work / "filling", scene.work / "filling out"
    within = small(dest, "24m")
    if within is None:
        scene.report.note("FULL FILE SYSTEMS NOT TESTED: none can be mounted here (unshare --mount)")
        return
    write(sources, {"example-fits": "return wheel(directory, 'example_fits')",
                    "example-fills": "Path('objects').write_bytes(bytes(90_000_000)); return wheel(directory, 'example_fills')"})
    nodes = 'python-project "example-fits" { source "example-fits"; }\npython-project "example-fills" { source "example-fills"; after "example-fits"; }\n'
    result = scene.build(dest, nodes, "--only", "example-fits", "--only", "example-fills", sources=sources, within=within)
    text = unwrapped(result.err)
    reported = result.status == 1 and "building `example-fills` failed" in text and "the disk of" in text and "is full" in text
    scene.check("a build that fills the file system fails with this reason", None if reported else f"{result.ending}: {result.err}")
    remaining = sorted(line.removeprefix("left: ") for line in result.out.splitlines() if line.startswith("left: "))
    names = [name for name in remaining if name.startswith("dist/example")]
    scene.check("earlier builds remain", None if names == ["dist/example_fits-1-py3-none-any.whl"] else f"{remaining}")
    other_paths = [name for name in remaining if name.split("/")[0] not in ("dist", "logs", "kept")]
    scene.check("only the log of the project that filled it remains", f"{other_paths}" if other_paths else None)
    little = scene.work / "too little"
    result = scene.build(little, "", "--only", "core", sources=sources, within=small(little, "48k"))
    reported = result.status == 2 and "is full: dist/rocm_sdk_core" in unwrapped(result.err)
    scene.check("packages that do not fit on the disk are an error", None if reported else f"{result.ending}: {result.err}")
    remaining = [line for line in result.out.splitlines() if line.startswith("left: ")]
    scene.check("packages that do not fit leave no file", f"{remaining}" if remaining else None)
