"""`rocm-sdk init` under bad conditions: killed, a full disk, a read-only tree, no hard links."""

from __future__ import annotations

import os
import pty
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import support
from compiled import skip_loudly

TREE = "_rocm_sdk_devel"
WORKSPACE = "_rocm_sdk_devel.partial"
KILLS = 200 if support.THOROUGH else 40
# Hard links of a whole layout: 400 of `Init.layout`, 6 of `support.DEVEL_MEMBERS`.
LINKS = 400 + 6
# Links to files of rocm-sdk-core, which is on another file system in some tests.
CORE_LINKS = 3


@contextmanager
def mounted(test: unittest.TestCase, *arguments: str, at: Path) -> Iterator[None]:
    at.mkdir(parents=True, exist_ok=True)
    if os.geteuid() != 0 or subprocess.run(["mount", *arguments, str(at)], check=False).returncode:
        raise skip_loudly(f"nothing can be mounted here: {' '.join(arguments)}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(at)], check=True)


class Init(unittest.TestCase):
    def layout(self) -> support.Layout:
        """Return a layout with an archive that is large enough to be interrupted."""
        members = dict(support.DEVEL_MEMBERS)
        for number in range(400):
            members[f"include/many/{number % 7}/header{number}.h"] = os.urandom(3000)
            members[f"lib/link{number}"] = f"../include/many/{number % 7}/header{number}.h"
        return support.Layout(
            self,
            support.core(),
            support.libraries(),
            support.device("gfx942"),
            support.devel(members, packed=False),
        )

    def state(self, layout: support.Layout) -> dict[str, object]:
        names = ["rocm-sdk-devel", "rocm-sdk-core", "rocm-sdk-device-gfx942"]
        for name in names:
            if name != "rocm-sdk-core":
                layout.check_hashes(name)
        return {"files": layout.files(), **{name: sorted(layout.record(name)) for name in names}}

    def unrecorded(self, layout: support.Layout) -> set[str]:
        recorded: set[str] = set()
        for path in layout.site.glob("*.dist-info"):
            recorded |= set(layout.record(*path.name.removesuffix(".dist-info").split("-")))
        files = layout.files() - layout.files("rocm_sdk") - recorded
        if WORKSPACE in recorded:
            files = {path for path in files if not path.startswith(f"{WORKSPACE}/")}
        return files

    # ---------------------------------------------------------------------------- killed

    def test_kills_at_random_moments(self) -> None:
        layout = self.layout()
        before = layout.files()
        started = time.monotonic()
        self.assertEqual(layout.sdk("init", "--quiet").returncode, 0)
        took = time.monotonic() - started
        expected = self.state(layout)
        killer = subprocess.Popen(
            layout.command("-c", KILLER),
            env=layout.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(killer.wait)
        assert killer.stdin is not None and killer.stdout is not None
        chance = random.Random(7)
        killed = finished = interrupted = 0
        while killed < KILLS:
            # A child that is always quicker than the kill would make this endless.
            self.assertLess(finished, 20 * KILLS, f"only {killed} children were killed")
            shutil.rmtree(layout.site / TREE, ignore_errors=True)
            print(chance.uniform(0, took / 2), file=killer.stdin, flush=True)
            status = int(killer.stdout.readline())
            if status == 0:
                finished += 1
            else:
                self.assertEqual(status, signal.SIGKILL)
                killed += 1
                interrupted += (layout.site / WORKSPACE).exists()
                self.assertEqual(self.unrecorded(layout), set(), f"kill {killed}")
            if status == 0 or killed % 20 == 0:
                result = layout.sdk("init", "--quiet")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertEqual(self.state(layout), expected, f"kill {killed}")
        killer.stdin.close()
        killer.stdout.close()
        self.assertGreater(interrupted, 0, "each kill was before the first file")
        result = layout.sdk("init", "--quiet")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(self.state(layout), expected)
        self.uninstall(layout)
        devel = {path for path in before if "devel" in path.partition("/")[0]}
        self.assertEqual(layout.files(), before - devel)

    def uninstall(self, layout: support.Layout) -> None:
        """Remove the tree's files in the RECORDs of devel and the device package."""
        for name in ("rocm-sdk-devel", "rocm-sdk-device-gfx942"):
            for path in layout.record(name):
                if name == "rocm-sdk-devel" or path.startswith(f"{TREE}/"):
                    (layout.site / path).unlink()

    def test_an_interrupt_leaves_nothing(self) -> None:
        layout = self.layout()
        before = layout.files()
        code = (
            "import os, signal, sys\n"
            "from rocm_sdk import _archive, __main__\n"
            # Tests in the background of a shell inherit ignored interrupts.
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "def stop(*_): os.kill(os.getpid(), signal.SIGINT)\n"
            "_archive._write_all = stop\n"
            "sys.exit(__main__.main(['init', '--quiet']))\n"
        )
        result = layout.run("-c", code)
        self.assertEqual((result.returncode, result.stderr), (130, "rocm-sdk: interrupted\n"))
        self.assertEqual(layout.files(), before)
        self.assertEqual(self.unrecorded(layout), set())
        self.assertNotIn(WORKSPACE, layout.record("rocm-sdk-devel"))

    # ------------------------------------------------------------------- disk and rights

    def check_nothing_happened(self, layout: support.Layout, before: dict[str, bytes]) -> None:
        self.assertEqual(self.contents(layout), before)
        self.assertFalse((layout.site / WORKSPACE).exists())

    @staticmethod
    def contents(layout: support.Layout) -> dict[str, bytes]:
        return {path: (layout.site / path).read_bytes() for path in layout.files()}

    def test_a_file_size_limit_as_on_a_full_disk(self) -> None:
        layout = self.layout()
        before = self.contents(layout)
        for limit in (0, 1000, 2500):
            with self.subTest(limit):
                result = subprocess.run(
                    layout.command("-m", "rocm_sdk", "init", "--quiet"),
                    env=layout.environment(),
                    capture_output=True,
                    text=True,
                    check=False,
                    preexec_fn=lambda limit=limit: resource.setrlimit(
                        resource.RLIMIT_FSIZE, (limit, limit)
                    ),
                )
                self.assertEqual((result.returncode, result.stdout), (1, ""))
                self.assertIn("File too large", result.stderr)
                self.assertIn("free space and repeat `rocm-sdk init`", result.stderr)
                self.check_nothing_happened(layout, before)

    def test_a_full_disk(self) -> None:
        layout = self.layout()
        original = layout.site
        size = sum(path.stat().st_size for path in original.rglob("*")) + (3 << 20)
        small = layout.top / "small"
        with mounted(self, "-t", "tmpfs", "-o", f"size={size}", "tmpfs", at=small):
            shutil.copytree(original, small / "site", symlinks=True)
            layout.site = small / "site"
            before = self.contents(layout)
            (small / "ballast").write_bytes(bytes(shutil.disk_usage(small).free - (1 << 20)))
            result = layout.sdk("init", "--quiet")
            self.assertEqual(result.returncode, 1)
            self.assertIn("No space left on device", result.stderr)
            self.assertIn("free space and repeat `rocm-sdk init`", result.stderr)
            self.check_nothing_happened(layout, before)
            (small / "ballast").unlink()
            self.assertEqual(layout.sdk("init", "--quiet").returncode, 0)
            self.state(layout)

    def test_a_read_only_file_system(self) -> None:
        layout = self.layout()
        before = self.contents(layout)
        site = str(layout.site)
        with mounted(self, "--bind", site, at=layout.site):
            subprocess.run(["mount", "-o", "remount,bind,ro", site], check=True)
            result = layout.sdk("init")
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn("Read-only file system", result.stderr)
            self.assertIn("run `rocm-sdk init` once as a user with write access", result.stderr)
        self.check_nothing_happened(layout, before)

    def test_a_whole_tree_that_is_read_only_is_used(self) -> None:
        layout = self.layout()
        self.assertEqual(layout.sdk("init", "--quiet").returncode, 0)
        site = str(layout.site)
        with mounted(self, "--bind", site, at=layout.site):
            subprocess.run(["mount", "-o", "remount,bind,ro", site], check=True)
            result = layout.sdk("path", "--root")
            self.assertEqual((result.stdout, result.stderr), (f"{layout.site / TREE}\n", ""))

    # ------------------------------------------------------------------------- links

    def test_hard_links_where_they_can_be(self) -> None:
        result = self.layout().sdk("init")
        self.assertRegex(result.stderr, rf"\d+ files and {LINKS} hard links in \d+\.\d s\n")

    def test_copies_where_nothing_else_can_be(self) -> None:
        layout = self.layout()
        core = layout.site / "_rocm_sdk_core"
        content = layout.top / "content"
        shutil.copytree(core, content)
        with mounted(self, "-t", "tmpfs", "tmpfs", at=core):
            shutil.copytree(content, core, dirs_exist_ok=True)
            result = layout.sdk("init")
            self.assertRegex(result.stderr, f"{LINKS - CORE_LINKS} hard links, {CORE_LINKS} copies in")
            self.state(layout)
            self.assertTrue(os.access(layout.site / TREE / "bin/hipcc", os.X_OK))

    def test_reflinks_where_hard_links_cannot_be(self) -> None:
        if shutil.which("mkfs.btrfs") is None:
            raise skip_loudly("mkfs.btrfs is not installed: nothing here has reflinks")
        layout = self.layout()
        original, image, disk = layout.site, layout.top / "image", layout.top / "disk"
        with open(image, "wb") as file:
            file.truncate(256 << 20)
        subprocess.run(["mkfs.btrfs", "-q", str(image)], stderr=subprocess.DEVNULL, check=True)
        with mounted(self, "-o", "loop", str(image), at=disk):
            layout.site = disk / "site"
            layout.site.mkdir()
            # No hard link can leave a subvolume, although the file system is the same.
            command = ["btrfs", "subvolume", "create", str(layout.site / "_rocm_sdk_core")]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            shutil.copytree(original, layout.site, symlinks=True, dirs_exist_ok=True)
            result = layout.sdk("init")
            self.assertRegex(result.stderr, f"{LINKS - CORE_LINKS} hard links, {CORE_LINKS} reflinks in", result.stderr)
            self.state(layout)
            self.assertTrue(os.access(layout.site / TREE / "bin/hipcc", os.X_OK))

    # ------------------------------------------------------------ repair and messages

    def test_init_repairs_removed_and_changed_files(self) -> None:
        layout = self.layout()
        result = layout.sdk("init", "--quiet")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        expected = self.state(layout)
        header = layout.site / TREE / "include/many/3/header3.h"
        for damage in (header.unlink, lambda: header.write_bytes(b"short")):
            damage()
            # `path` does not check every file.
            self.assertEqual(layout.sdk("path", "--root").stderr, "")
            self.assertIn("expanding", layout.sdk("init").stderr)
            self.assertEqual(self.state(layout), expected)

    def test_progress_is_for_terminals_only(self) -> None:
        messages = self.layout().sdk("init").stderr
        self.assertNotIn("%", messages)
        self.assertNotIn("\x1b", messages)
        layout = self.layout()
        slow = (
            "import sys, time\n"
            "from rocm_sdk import _archive, __main__\n"
            "write = _archive._write_all\n"
            "def slowly(*a): time.sleep(0.1); return write(*a)\n"
            "_archive._write_all = slowly\n"
            "_archive._WAITING_BYTES = 1\n"
            "_archive._BATCH_BYTES = 1 << 16\n"
            "sys.exit(__main__.main(['init']))\n"
        )
        terminal_output = self.on_terminal(layout, slow)
        self.assertRegex(terminal_output, r"\rrocm-sdk: expanding: +\d+ %")
        self.assertIn("\r\x1b[K", terminal_output)
        self.assertRegex(terminal_output, r"hard links in")

    @staticmethod
    def on_terminal(layout: support.Layout, code: str) -> str:
        terminal, program_end = pty.openpty()
        process = subprocess.Popen(
            layout.command("-c", code), env=layout.environment(), stderr=program_end
        )
        os.close(program_end)
        printed = b""
        try:
            while piece := os.read(terminal, 4096):
                printed += piece
        except OSError:
            pass  # read of a closed terminal
        os.close(terminal)
        assert process.wait() == 0, printed
        return printed.decode()

    def test_verbose_prints_progress(self) -> None:
        messages = self.layout().sdk("init", "--verbose").stderr
        self.assertIn("linked 1 files of rocm-sdk-device-gfx942", messages)

    def test_conflicting_names_are_refused(self) -> None:
        first = support.tarball({"a": b"1", "a/b": b"2"})
        second = support.tarball({"c": b"1", "*c": b"2"})
        for archive, complaint in ((first, "below a file or link"), (second, "a name twice")):
            layout = support.Layout(
                self, support.core(), support.devel(archive=archive, packed=False)
            )
            before = layout.files()
            result = layout.sdk("init", "--quiet")
            self.assertEqual(result.returncode, 1)
            self.assertIn(complaint, result.stderr)
            self.assertEqual(layout.files(), before)


class Xz(unittest.TestCase):
    """Archive of rockpack: xz in blocks, decoded by several threads."""

    def test_blocks_one_stream_and_damage(self) -> None:
        if shutil.which("xz") is None:
            raise skip_loudly("xz is not installed")
        members: support.Members = {f"f{n}": os.urandom(5000) for n in range(100)}
        plain = support.tarball({"__init__.py": b"", **members})
        for block in ("64KiB", "100MiB"):
            packed = subprocess.run(
                ["xz", "-0", "-T2", f"--block-size={block}"],
                input=plain,
                capture_output=True,
                check=True,
            ).stdout
            with self.subTest(block):
                layout = self.expanded(packed)
                for name, data in members.items():
                    self.assertEqual((layout.site / TREE / name).read_bytes(), data)
                damaged = bytearray(packed)
                damaged[len(packed) // 2] ^= 1
                for bad in (bytes(damaged), packed[:-1], packed[:-12], packed + b"more"):
                    self.expanded(bad, fails=True)

    def expanded(self, archive: bytes, *, fails: bool = False) -> support.Layout:
        layout = support.Layout(self, support.core(), support.devel(archive=archive))
        result = layout.sdk("init", "--quiet")
        self.assertEqual(result.returncode, int(fails), result.stderr)
        if fails:
            self.assertIn("is damaged", result.stderr)
        return layout

    def test_tar_is_read_as_tarfile_reads_it(self) -> None:
        import tarfile

        long = "/".join(["directory" * 5] * 6)
        members: support.Members = {
            f"{long}/é, ü": b"x" * 1025,
            "link": f"{long}/é, ü",
            "empty": b"",
            "*tool": b"#!",
            long: None,
        }
        for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
            with tempfile.TemporaryDirectory() as scratch:
                path = Path(scratch, "a.tar")
                path.write_bytes(support.tarball(members, form=form))
                layout = support.Layout(self)
                members_read = layout.code(READ_TAR.format(path=str(path)))
                with tarfile.open(path) as tar:
                    expected = [
                        (m.name, m.type.decode(), m.linkname, m.mode, m.mtime, m.size) for m in tar
                    ]
                self.assertEqual(members_read, str(expected))


READ_TAR = """
from rocm_sdk._tar import Chunks, members
data = memoryview(open({path!r}, 'rb').read())
found = members(Chunks(iter([data[:700], data[700:]])))
print([(m.name.rstrip('/'), m.kind, m.link, m.mode, int(m.mtime), sum(map(len, m.data))) for m in found])
"""

KILLER = """
import os, signal, sys, time
from rocm_sdk import _devel
import concurrent.futures.thread, lzma, tarfile
for line in sys.stdin:
    child = os.fork()
    if not child:
        _devel.ensure(thorough=True)
        os._exit(0)
    time.sleep(float(line))
    os.kill(child, signal.SIGKILL)
    print(os.waitpid(child, 0)[1], flush=True)
"""

if __name__ == "__main__":
    unittest.main()
