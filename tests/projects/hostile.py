# SPDX-License-Identifier: MIT
"""Projects that do what no build should: each gives a clear error, and leaves nothing."""

import resource
import signal
import time
from pathlib import Path

from scenes import unwrapped, wheels

# A build backend of the project's own, which needs nothing from an index.
BACKEND = '''# SPDX-License-Identifier: MIT
import os, signal, subprocess, sys, time, zipfile
from pathlib import Path

def wheel(directory, name):
    info = f"{name}-1.dist-info"
    files = {f"{info}/METADATA": f"Metadata-Version: 2.1\\nName: {name}\\nVersion: 1\\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n", f"{info}/RECORD": ""}
    with zipfile.ZipFile(Path(directory, f"{name}-1-py3-none-any.whl"), "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return f"{name}-1-py3-none-any.whl"

def build_wheel(directory, config_settings=None, metadata_directory=None):
    %s
'''

# What each does, and what has to be said of it; None where it may go on.
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
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in place.read_bytes().split(b"\0"):
                found.append(place.parent.name)
        except OSError:
            continue
    return found


def all_of_them(scene):
    """Build all of them at once."""
    sources = scene.work / "hostile"
    nodes = ""
    for name, (body, _) in PROJECTS.items():
        project = sources / name
        project.mkdir(parents=True, exist_ok=True)
        (project / "backend.py").write_text(BACKEND % body, encoding="utf-8")
        (project / "pyproject.toml").write_text('[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n', encoding="utf-8")
        nodes += f'python-project "{name}" {{ source "{name}"; }}\n'
    dest = scene.work / "hostile out"
    only = [word for name in PROJECTS for word in ("--only", name)]
    begun = time.monotonic()
    done = scene.build(dest, nodes, *only, sources=sources)
    said = unwrapped(done.err)
    scene.check("hostile projects fail the build", None if done.status == 1 else done.ending)
    for name, (_, told) in PROJECTS.items():
        fine = f"`{name}` could not be built" in said and told in said if told else f"`{name}` could not" not in said
        scene.check(f"{name}: {told or 'it is built'}", None if fine else done.err)
    scene.check("nothing of them is left", None if wheels(dest) == ["example_stays-1-py3-none-any.whl"] else f"{wheels(dest)}")
    scene.check("no program of theirs runs on, even one that ignores SIGTERM", None if not running("hostile-example") else f"{running('hostile-example')}")
    scene.check("nor does one that waits for input hold the build", None if time.monotonic() - begun < 300 else "it took minutes")
    left = [path.name for path in dest.iterdir() if path.name not in ("dist", "logs", "kept")]
    scene.check("no working directory is left of them", f"{left}" if left else None)
    full_disk(scene)


def little_room():
    """Let files have 4 MB, and what writes more an error: as a full disk gives one."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))


def full_disk(scene):
    """Build one project whose files do not fit, and one whose wheel does."""
    sources, dest = scene.work / "full", scene.work / "full out"
    bodies = {"example-fits": "return wheel(directory, 'example_fits')",
              "example-full": "Path('objects').write_bytes(bytes(20_000_000)); return wheel(directory, 'example_full')"}
    for name, body in bodies.items():
        (sources / name).mkdir(parents=True, exist_ok=True)
        (sources / name / "backend.py").write_text(BACKEND % body, encoding="utf-8")
        (sources / name / "pyproject.toml").write_text('[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n', encoding="utf-8")
    nodes = "".join(f'python-project "{name}" {{ source "{name}"; }}\n' for name in bodies)
    only = [word for name in bodies for word in ("--only", name)]
    done = scene.build(dest, nodes, *only, sources=sources, preexec_fn=little_room, restore_signals=False)
    told = done.status == 1 and "`example-full` could not be built" in done.err and "File too large" in done.err
    scene.check("a build that fills the disk fails with what the system says", None if told else f"{done.ending}: {done.err}")
    names = wheels(dest) if dest.is_dir() else []
    scene.check("and what fits is there", None if names == ["example_fits-1-py3-none-any.whl"] else f"{names}")
    left = [path.name for path in dest.iterdir() if path.name not in ("dist", "logs", "kept")]
    scene.check("of the other only its log", f"{left}" if left else None)
