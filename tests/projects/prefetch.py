# SPDX-License-Identifier: MIT
"""Wheels of others: from files, an index on loopback and a repository; before all indexes, and all reported if missing."""

import contextlib
import http.server
import shutil
import threading

from fetch import ensure_uv, machine
from process import PATH, run
from scenes import decoy

PROJECT = '''[build-system]
requires = ["setuptools>=61", "example-one", "example-two", "example-three[fast]@git+https://example.invalid/three.git"]
build-backend = "setuptools.build_meta"
[project]
name = "example-user"
dynamic = ["version"]
dependencies = ["example-one"]
'''
SETUP = '''import example_one, example_two, example_three, setuptools
setuptools.setup(version="1", py_modules=["example_user"])
open("example_user.py", "w").write(f"saw = {[m.version for m in (example_one, example_two, example_three)]}")
'''
THREE = '''[project]
name = "example-three"
version = "3.0"
[project.optional-dependencies]
fast = []
[tool.setuptools]
py-modules = ["example_three"]
'''
NODES = '''
prefetch "example-one" path="house/example_one-*.whl"
prefetch "example-two" index="{index}" requirement="example-two<5"
prefetch "example-three" git="file://{three}" branch="stable"
python-project "example-user" {{
    source "user"
    after "example-one" "example-two" "example-three"
}}
'''


class Index:
    """An index of the wheels in a directory, on loopback; it records requests."""

    def __init__(self, directory):
        self.directory, self.asked = directory, []

    def __enter__(self):
        index = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """Lists the wheels of a project, and sends them."""

            def do_GET(self):
                index.asked.append(self.path)
                body = index.answer(self.path.strip("/").split("/"))
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Type", "text/html" if self.path.endswith("/") else "application/octet-stream")
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(body or b"")

            do_HEAD = do_GET

            def log_message(self, *_):
                """Say nothing."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}/simple"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, words):
        """Return the body for a path, or None."""
        if words[0] == "files":
            file = self.directory / words[-1]
            return file.read_bytes() if file.is_file() else None
        files = sorted(self.directory.glob(words[-1].replace("-", "_") + "-*.whl"))
        return "".join(f'<a href="/files/{file.name}">{file.name}</a>\n' for file in files).encode() if files else None


def versions(name, directory, *numbers):
    """Write wheels of these versions, each with its version in a variable."""
    for number in numbers:
        decoy(directory, name, number, f'version = "{number}"\n')


def repository(place):
    """Make a git repository with example-three, on a separate branch."""
    place.mkdir(parents=True)
    (place / "pyproject.toml").write_text(THREE, encoding="utf-8")
    (place / "example_three.py").write_text('version = "3.0"\n', encoding="utf-8")
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["init", "--quiet", "--initial-branch", "stable"], ["add", "."], ["commit", "--quiet", "-m", "three"]):
        result = run([*git, *words], place)
        if result.status:
            raise RuntimeError(result.problem)


def test_all(scene):
    """Prefetch, build with the fetched files, and build without them."""
    if not shutil.which("git", path=PATH):
        scene.report.note("wheels of others are not tested: there is no git")
        return
    root = scene.work / "prefetch sources"
    project = root / "user"
    project.mkdir(parents=True)
    (project / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (project / "setup.py").write_text(SETUP, encoding="utf-8")
    (project / "example_user.py").write_text("", encoding="utf-8")
    versions("example_one", root / "house", "1.0")
    three = scene.work / "three"
    repository(three)
    served, higher = scene.work / "served", scene.work / "higher"
    versions("example_two", served, "2.0", "2.1", "5.0")
    for name in ("example_one", "example_two", "example_three"):
        versions(name, higher, "99.0")
    with Index(served) as lower, Index(higher) as other:
        text = NODES.format(index=lower.address, three=three)
        # All calls of pip get the other index.
        env = {"PIP_EXTRA_INDEX_URL": other.address}
        dest = scene.work / "prefetched"
        fetched(scene, dest, text, root, env, other)
        again(scene, dest, text, root, env, lower)
        installers(scene, dest, other)
        missing(scene, root, lower, three, env)


def build(scene, dest, text, sources, env, *options):
    """Build the project that uses them."""
    return scene.build(dest, text, "--only", "example-user", *options, sources=sources, env=env)


def fetched(scene, dest, text, sources, env, other):
    """The files are fetched before anything is built, and the build uses them."""
    result = build(scene, dest, text, sources, env)
    scene.check("a project is built with wheels of others", result.problem)
    names = sorted(path.name for path in (dest / "wheelhouse").glob("*.whl"))
    expected = [f"example_{name}-py3-none-any.whl" for name in ("one-1.0", "three-3.0", "two-2.1")]
    scene.check("wheels of others come from files, an index and a repository", None if names == expected else f"{names}")
    lines = result.err.splitlines()
    order = [lines.index(line) for line in lines if line.startswith("example-") and line.endswith(": started")]
    first = [lines[number] for number in order][-1:]
    scene.check("wheels of others are fetched before anything is built", None if first == ["example-user: started"] and len(order) == 4 else f"{result.err}")
    requests = [path for path in other.asked if "example-two" in path and path.startswith("/files")]
    scene.check("wheels of others come only from the named index", f"{requests}" if requests else None)
    log = (dest / "logs/example-user.log").read_text(encoding="utf-8")
    installed_lines = [line for line in log.splitlines() if line.startswith("Successfully installed") and "example" in line]
    fine = any("example-one-1.0 example-three-3.0 example-two-2.1" in line for line in installed_lines)
    scene.check("the project sees wheels of others, and no higher versions of an index", None if fine else f"{installed_lines}: {log[-800:]}")
    published = sorted(path.name for path in (dest / "dist").glob("*.whl"))
    scene.check("wheels of others are not published", None if published == ["example_user-1-py3-none-any.whl"] else f"{published}")


def again(scene, dest, text, sources, env, index):
    """Present files are not fetched again; a changed one is."""
    index.asked.clear()
    result = build(scene, dest, text, sources, env)
    unchanged = [name for name in ("one", "two", "three") if f"example-{name}: unchanged" in result.err]
    scene.check("a second build fetches nothing", None if len(unchanged) == 3 and not index.asked else f"{index.asked} {result.err}")
    scene.check("a second build builds nothing", None if "example-user: unchanged" in result.err else result.err)
    wheel = dest / "wheelhouse/example_two-2.1-py3-none-any.whl"
    wheel.write_bytes(b"damaged")
    result = build(scene, dest, text, sources, env)
    fine = result.status == 0 and "example-two: started" in result.err and "example-one: unchanged" in result.err
    scene.check("a changed wheel is fetched again", None if fine and wheel.stat().st_size > 100 else result.err)
    versions("example_one", sources / "house", "1.1")
    (sources / "house/example_one-1.0-py3-none-any.whl").unlink()
    result = build(scene, dest, text, sources, env)
    fine = result.status == 0 and "example-one: started" in result.err and "example-user: started" in result.err
    names = [path.name for path in (dest / "wheelhouse").glob("example_one*")]
    scene.check("another file replaces the changed wheel, and the project is built again", None if fine and names == ["example_one-1.1-py3-none-any.whl"] else f"{names} {result.err}")


def installers(scene, dest, other):
    """With the wheelhouse's constraints, pip and uv take its wheels, in any order of indexes."""
    house, uv = dest / "wheelhouse", ensure_uv(scene.work)
    links = ["--find-links", str(house)]
    requirements = ["example-user", "example-two", "example-three[fast]"]
    orders = {"first": ["--index-url", other.address, "--find-links", str(dest / "dist"), *links],
              "last": ["--find-links", str(dest / "dist"), *links, "--index-url", other.address]}
    for installer in ("pip", "uv"):
        for order, words in orders.items():
            venv = scene.work / f"{installer} {order}"
            run([scene.python, "-m", "venv", venv], scene.work)
            program = [venv / "bin/pip", "install", "--no-cache-dir"]
            if installer == "uv":
                program = [uv, "pip", "install", "--no-cache", "--python", venv / "bin/python"]
            result = run([*program, *words, "--constraint", house / "constraints.txt", *requirements], scene.work, {"HOME": str(scene.work)})
            code = "import example_one, example_two, example_three; print(example_one.version, example_two.version, example_three.version)"
            answer = run([venv / "bin/python", "-c", code], scene.work)
            fine = result.status == 0 and answer.out.strip() == "1.1 2.1 3.0"
            scene.check(f"{installer} takes the wheelhouse's wheels, with an index that has higher ones {order}", None if fine else f"{answer.out} {result.ending}: {result.err}")


def missing(scene, sources, index, three, env):
    """All unavailable wheels are reported before anything is built."""
    text = NODES.format(index=index.address, three=three) + f'''
prefetch "example-four" index="{index.address}"
prefetch "example-five" git="file://{scene.work}/no-such-repository"
python-project "example-more" {{
    source "user"
    after "example-four" "example-five"
}}
'''
    dest = scene.work / "nothing"
    result = scene.build(dest, text, "--only", "core", "--only", "example-user", "--only", "example-more", sources=sources, env=env)
    messages = [f"the wheel `example-{name}` is unavailable" for name in ("four", "five")]
    absent = [words for words in [*messages, "`example-more` needs it"] if words not in result.err]
    scene.check("all missing wheels are reported at once", None if result.status == 1 and not absent else f"{absent}: {result.ending}: {result.err}")
    started = [path.name for path in (dest / "logs").iterdir() if not path.name.endswith(".prefetch.log")]
    wheels = [str(path) for path in dest.rglob("*.whl")] if dest.exists() else []
    scene.check("missing wheels are reported before anything is built or packed", f"{started} {wheels}" if started or wheels else None)
    nowhere = NODES.format(index=index.address, three=three).replace("house/", "no-house/")
    result = build(scene, scene.work / "pathless", nowhere, sources, env)
    fine = result.status == 1 and "wheel `example-one`, needed to build projects, is missing" in result.err and not (scene.work / "pathless/wheelhouse").exists()
    scene.check("a path without a file is an error before anything is fetched", None if fine else f"{result.ending}: {result.err}")
