# SPDX-License-Identifier: MIT
"""A build backend that attacks other builds and the user's files, in each of its hooks."""

import ctypes
import json
import os
import shutil
import socket
import struct

from scenes import FIXTURES, WHOLE_WHEEL, digests, unwrapped, wheels

ATTACK = FIXTURES.parent / "attack"

# Files of tools in a home directory, which the user and other builds execute or compile.
OF_USERS = [
    ".bashrc", ".cargo/bin/tool", ".cargo/config.toml", ".cargo/registry/cache/index/crate-1.0.0.crate",
    ".cargo/registry/src/index/crate-1.0.0/src/lib.rs", ".ccache/result", ".cache/ccache/result", ".cache/pip/http-v2/body",
    ".cache/pip/wheels/tool-1.0-py3-none-any.whl", ".cache/pre-commit/hook", ".cache/uv/archive-v0/tool.py", ".config/settings",
    ".local/bin/tool", ".local/lib/python3/site-packages/usercustomize.py"]

# A program that says whether it can connect to a port, as a project's run line.
CONNECTS = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5); open(sys.argv[2] + '/made', 'w')"


def landlock():
    """Return the version of the kernel's Landlock ABI; 0 without Landlock."""
    return max(ctypes.CDLL(None).syscall(444, None, 0, 1), 0)


def test_all(scene):
    """Attack, and build the same again."""
    version = landlock()
    if version < 6:
        scene.report.note(f"ATTACKS NOT TESTED WHOLE: Landlock of this kernel has ABI {version}; TCP needs 4, signals and abstract sockets 6")
    if version >= 2:
        attack(scene, version)
    if version >= 4:
        network(scene)
    shared_compiler_cache(scene, version)
    without_landlock(scene)


def attack(scene, version):
    """Let a backend attack the home directory, the cache, and the packages of another destination."""
    home = scene.work / "attacked home"
    for name in OF_USERS:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(name, encoding="utf-8")
    env = {"HOME": str(home), "ROCKPACK_NO_CACHE": ""}
    victim, dest = scene.work / "victim", scene.work / "attacking"
    scene.check("packages are built into a cache", scene.build(victim, "", env=env).problem)
    linked = [path.name for path in (victim / "dist").iterdir() if path.stat().st_nlink != 1]
    scene.check("no package has a second name", f"{linked}" if linked else None)
    before = {place: digests(place) for place in (home, victim)}
    files = [place / name for place, contents in before.items() for name in contents]
    scene.check("the cache has segments", None if any(path.suffix == ".seg" for path in files) else "the cache has none")
    result, log = attacked(scene, dest, files, env)
    scene.check("the build continues", result.problem)
    steps = {line.split(": ")[1] for line in log if line.startswith(("DONE: ", "refused: "))}
    scene.check("each hook attacked", None if steps == {"requires", "wheel"} else f"{steps}")
    late = {name for name, needed in (("TCP", 4), ("signal", 6), ("abstract", 6)) if version < needed}
    result = [line for line in log if line.startswith("DONE: ") and not any(name in line for name in late)]
    scene.check("every attack is refused", "\n".join(result) if result else None)
    failed = [line for line in log if line.startswith("failed: ")]
    scene.check("a wall refused every attack", "\n".join(failed) if failed else None)
    for place, contents in before.items():
        after = digests(place)
        differ = [name for name in {**contents, **after} if contents.get(name) != after.get(name)]
        scene.check(f"{place.name} is as it was", f"{differ}" if differ else None)
    again = scene.work / "victim again"
    scene.check("the attacked cache builds the packages again", scene.build(again, "", env=env).problem)
    same = digests(again / "dist", "rocm*") == digests(victim / "dist", "rocm*")
    scene.check("the attacked cache builds the same bytes", None if same else "they differ")


def attacked(scene, dest, files, env):
    """Run the attack on these files; return how rockpack ended, and the lines of the project's log."""
    sources, targets = scene.work / "attack sources", scene.work / "attacked.json"
    shutil.copytree(ATTACK, sources / "attack")
    shutil.copy(WHOLE_WHEEL, sources / "attack")
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as abstract:
        name = f"rockpack-attacks-{os.getpid()}"
        abstract.bind("\0" + name)
        abstract.listen()
        directories = sorted({str(path.parent) for path in files})
        attack = {"files": [str(path) for path in files], "directories": directories, "tcp": tcp.getsockname()[1], "abstract": name,
                  "network": os.stat("/proc/self/ns/net").st_ino}
        targets.write_text(json.dumps(attack), encoding="utf-8")
        nodes = f'python-project "example-attack" {{ source "attack"; env "ATTACKED" "{targets}"; }}\n'
        result = scene.build(dest, nodes, "--only", "example-attack", sources=sources, env=env)
    log = dest / "logs/example-attack.log"
    return result, log.read_text(encoding="utf-8").splitlines() if log.is_file() else []


def network(scene):
    """A project connects if its node says so."""
    sources = scene.work / "networks"
    (sources / "empty").mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as server:
        words = " ".join(json.dumps(word) for word in ["{python}", "-c", CONNECTS, str(server.getsockname()[1]), "{prefix}"])
        for line in ("", "network; "):
            nodes = f'native-project "example-connects" {{ source "empty"; {line}run {words}; }}\n'
            result = scene.build(scene.work / f"network {bool(line)}", nodes, "--only", "example-connects", sources=sources)
            if line:
                scene.check("with a `network` line, a project connects", result.problem)
            else:
                reported = result.status == 1 and "no network without a `network` line" in unwrapped(result.err)
                scene.check("without a `network` line, a connection fails with the reason", None if reported else result.err)


def shared_compiler_cache(scene, version):
    """A compiler cache is written where a variable names it, and is refused where it has more than that in it."""
    sources, ccache = scene.work / "caching", scene.work / "named ccache"
    (sources / "empty").mkdir(parents=True)
    code = "import os, sys; place = os.environ['CCACHE_DIR']; os.makedirs(place, exist_ok=True); open(place + '/made', 'w'); open(sys.argv[1] + '/made', 'w')"
    words = " ".join(json.dumps(word) for word in ["{python}", "-c", code, "{prefix}"])
    nodes = f'native-project "example-caches" {{ source "empty"; run {words}; }}\n'
    only = ("--only", "example-caches", "--projects", "rebuild")

    def build(name, **env):
        return scene.build(scene.work / f"cached {name}", nodes, *only, sources=sources, env=env)

    result = build("privately")
    scene.check("without CCACHE_DIR, a project has a private compiler cache", result.problem or (None if not ccache.exists() else "it is shared"))
    result = build("shared", CCACHE_DIR=str(ccache).replace(" ", "-"))
    shared = scene.work / "named-ccache"
    scene.check("with CCACHE_DIR, a project uses that compiler cache", result.problem or (None if (shared / "made").is_file() else "nothing is there"))
    result = build("wrongly", CCACHE_DIR=str(scene.work))
    reported = result.status == 1 and "name a separate directory for the cache" in unwrapped(result.err)
    scene.check("a compiler cache with other files is refused", None if reported or version < 2 else result.err)


# BPF that makes the kernel deny Landlock's presence: it compares the number of the system call.
FILTER = [(0x20, 0, 0, 0), (0x15, 0, 1, 444), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7FFF0000)]


def no_landlock():
    """Have the kernel answer ENOSYS to landlock_create_ruleset, in this program and its children."""
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in FILTER))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(FILTER), ctypes.addressof(program)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, header, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def without_landlock(scene):
    """A kernel without Landlock: the build continues, and reports the missing restrictions."""
    sources = scene.work / "unheld"
    (sources / "empty").mkdir(parents=True)
    nodes = 'native-project "example-unheld" { source "empty"; run "touch" "{prefix}/made"; }\n'
    dest = scene.work / "unheld out"
    result = scene.build(dest, nodes, "--only", "example-unheld", sources=sources, preexec_fn=no_landlock)
    reported = "note: this kernel does not confine" in unwrapped(result.err)
    scene.check("a kernel without Landlock builds, with a note", result.problem or (None if reported else result.err))
    scene.check("a kernel with Landlock builds without a note", None if landlock() < 6 or "this kernel" not in scene.build(
        scene.work / "held out", nodes, "--only", "example-unheld", sources=sources).err else "it is")
    assert wheels(dest) == []
