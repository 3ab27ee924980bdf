"""Devel tree: expanded completely or not, and known to uninstallers at all times."""

from __future__ import annotations

import ast
import copy
import json
import lzma
import os
import re
import shlex
import shutil
import signal
import subprocess
import unittest

import support

TREE = "_rocm_sdk_devel"
EXPECTED = {
    f"{TREE}/{name}"
    for name in (
        ".packages",
        ".rocm-sdk.json",
        "__init__.py",
        "bin/hipcc",
        "bin/amdclang",
        "include/hip/hip_runtime.h",
        'include/with, comma "and" quote é.h',
        "lib/libhiprtc.so.7",
        "lib/libhiprtc.so",
        "lib/libhipblas.so.3",
        "lib/libhipblas.so",
        "lib/cmake/hip/hip-config.cmake",
        "lib64",
        "lib64-file",
        "share/empty/.keep",
        ".kpack/.hidden",
        "tools/run.sh",
    )
}


class Devel(unittest.TestCase):
    def setUp(self) -> None:
        self.layout = support.Layout(self, support.core(), support.libraries(), support.devel())
        self.site = self.layout.site
        self.root = self.site / TREE

    def init(self, *arguments: str) -> str:
        result = self.layout.sdk("init", *arguments)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        return result.stderr

    def init_error(self) -> str:
        result = self.layout.sdk("init", "--quiet")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        return result.stderr

    def recorded(self, distribution: str = "rocm-sdk-devel") -> list[str]:
        return self.layout.record(distribution)

    def tree_rows(self) -> list[str]:
        return [path for path in self.recorded() if path.startswith(TREE)]

    def is_same(self, name: str, other: str) -> bool:
        return os.path.samefile(self.root / name, self.site / other)

    # ------------------------------------------------------------------------- the tree

    def test_the_tree_and_its_record(self) -> None:
        before = self.recorded()
        self.init()
        self.assertEqual(self.layout.files(TREE), EXPECTED)
        self.assertEqual(sorted(self.tree_rows()), sorted(EXPECTED))
        self.assertEqual(self.recorded()[: len(before)], before)
        self.layout.check_hashes("rocm-sdk-devel")
        self.assertFalse((self.site / "_rocm_sdk_devel.partial").exists())
        self.assertFalse(list(self.site.glob("*.dist-info/RECORD.new")))

    def test_links_become_hard_links_but_for_directories_and_kept_ones(self) -> None:
        self.init()
        self.assertTrue(self.is_same("bin/hipcc", "_rocm_sdk_core/bin/hipcc"))
        self.assertFalse((self.root / "bin/hipcc").is_symlink())
        for name in ("libhiprtc.so", "libhiprtc.so.7"):
            self.assertTrue(self.is_same(f"lib/{name}", "_rocm_sdk_core/lib/libhiprtc.so.7"))
            self.assertFalse((self.root / "lib" / name).is_symlink())
        self.assertTrue(self.is_same("lib64-file", f"{TREE}/lib/cmake/hip/hip-config.cmake"))
        self.assertEqual(
            os.readlink(self.root / "bin/amdclang"), "../../_rocm_sdk_core/bin/amdclang"
        )
        self.assertEqual(os.readlink(self.root / "lib64"), "lib")

    def test_modes_and_times_are_kept(self) -> None:
        self.init()
        self.assertTrue(os.access(self.root / "tools/run.sh", os.X_OK))
        header = (self.root / "include/hip/hip_runtime.h").stat()
        self.assertEqual((header.st_mode & 0o111, header.st_mtime), (0, 1_700_000_000))

    def test_progress_is_quiet_on_request(self) -> None:
        self.assertEqual(self.init("--quiet"), "")
        shutil.rmtree(self.root)
        self.assertIn("expanding rocm-sdk-devel", self.init())

    def test_repeating_changes_nothing(self) -> None:
        self.init()
        record = next(self.site.glob("rocm_sdk_devel-*/RECORD"))
        before = (record.stat().st_mtime_ns, self.root.stat().st_mtime_ns)
        self.init()
        self.assertEqual((record.stat().st_mtime_ns, self.root.stat().st_mtime_ns), before)

    def test_an_archive_that_is_not_compressed(self) -> None:
        layout = support.Layout(
            self, support.core(), support.libraries(), support.devel(packed=False)
        )
        self.assertEqual(layout.sdk("init").returncode, 0)
        self.assertEqual(layout.files(TREE), EXPECTED)

    def test_a_removed_tree_is_restored(self) -> None:
        self.init()
        rows = self.recorded()
        shutil.rmtree(self.root)
        self.init()
        self.assertEqual(self.layout.files(TREE), EXPECTED)
        self.assertEqual(sorted(self.recorded()), sorted(rows))

    def test_the_record_is_replaced_never_written_to(self) -> None:
        """RECORD can be a hard link to an installer's cache."""
        record = next(self.site.glob("rocm_sdk_devel-*/RECORD"))
        shared = self.layout.top / "cached"
        os.link(record, shared)
        content = shared.read_bytes()
        self.init()
        self.assertEqual(shared.read_bytes(), content)

    def test_carriage_returns_in_record_are_kept(self) -> None:
        record = next(self.site.glob("rocm_sdk_devel-*/RECORD"))
        record.write_bytes(record.read_bytes().replace(b"\n", b"\r\n"))
        self.init()
        data = record.read_bytes()
        self.assertEqual(data.count(b"\n"), data.count(b"\r\n"))

    def test_without_symbolic_links_files_stand_in_their_place(self) -> None:
        """Symbolic links need a privilege on Windows, and some file systems lack them."""
        result = self.layout.run("-c", WITHOUT_LINKS)
        self.assertEqual(result.returncode, 0, result.stderr)
        files = self.layout.files(TREE)
        lib = {name for name in EXPECTED if name.startswith(f"{TREE}/lib/")}
        spelled = {name.replace("/lib/", "/lib64/", 1) for name in lib}
        self.assertEqual(files, EXPECTED - {f"{TREE}/lib64"} | spelled)
        self.assertEqual([name for name in files if (self.site / name).is_symlink()], [])
        self.assertTrue(self.is_same("lib64/libhiprtc.so", "_rocm_sdk_core/lib/libhiprtc.so.7"))
        self.assertTrue(self.is_same("bin/amdclang", "_rocm_sdk_core/bin/amdclang"))
        self.assertEqual(sorted(self.tree_rows()), sorted(files))
        self.layout.check_hashes("rocm-sdk-devel")

    def test_links_that_are_reported_but_not_made_become_files(self) -> None:
        """Wine reports success without a link."""
        result = self.layout.run("-c", WITHOUT_LINKS.replace("raise OSError", "return OSError"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.root / "lib64/libhiprtc.so").is_file())
        self.layout.check_hashes("rocm-sdk-devel")

    def test_without_symbolic_links_a_later_package_fills_linked_directories_too(self) -> None:
        layout = support.Layout(self, support.core(), support.devel())
        self.assertEqual(layout.run("-c", WITHOUT_LINKS).returncode, 0)
        self.assertFalse((layout.site / TREE / "lib64/libhipblas.so").exists())
        layout.install(support.libraries())
        self.assertEqual(layout.run("-c", WITHOUT_LINKS).returncode, 0)
        self.assertTrue((layout.site / TREE / "lib64/libhipblas.so").is_file())

    def test_a_directory_in_itself_needs_symbolic_links(self) -> None:
        members = {**support.DEVEL_MEMBERS, "lib/self": "../lib"}
        layout = support.Layout(self, support.core(), support.libraries(), support.devel(members))
        result = layout.run("-c", WITHOUT_LINKS)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("has a directory that contains itself", result.stderr)
        self.assertFalse((layout.site / TREE).exists())

    # ---------------------------------------------------------------- absent packages

    def test_files_of_a_package_installed_later_are_linked(self) -> None:
        layout = support.Layout(self, support.core(), support.devel())
        result = layout.sdk("init")
        self.assertIn("2 links are pending until installation of _rocm_sdk_libraries", result.stderr)
        blas = {f"{TREE}/lib/libhipblas.so", f"{TREE}/lib/libhipblas.so.3"}
        self.assertEqual(layout.files(TREE), EXPECTED - blas)
        layout.install(support.libraries())
        self.assertEqual(layout.sdk("init").returncode, 0)
        self.assertEqual(layout.files(TREE), EXPECTED)
        self.assertEqual(
            {p for p in layout.record("rocm-sdk-devel") if p.startswith(TREE)}, EXPECTED
        )

    def test_kept_links_are_in_the_record_of_both_packages_and_come_back(self) -> None:
        self.init()
        name = f"{TREE}/bin/amdclang"
        self.assertIn(name, self.recorded("rocm-sdk-core"))
        (self.site / name).unlink()  # as reinstalling core does
        self.layout.install(support.core())
        self.assertNotIn(name, self.recorded("rocm-sdk-core"))
        self.init()
        self.assertTrue((self.site / name).is_symlink())
        self.assertIn(name, self.recorded("rocm-sdk-core"))
        self.assertEqual(self.recorded().count(name), 1)

    def test_a_set_of_two_nights_is_one_set(self) -> None:
        """The selector names the versions; a package that is installed later renews the tree."""
        info = {**support.DIST, "versions": {"rocm-sdk-core": "7.1.0", "rocm-sdk-devel": "7.1.0"}}
        old, libraries = "7.1.0", support.libraries()
        wheels = (support.core(version=old), libraries, support.devel(version=old))
        self.layout = support.Layout(self, *wheels, info=info)
        self.site, self.root = self.layout.site, self.layout.site / TREE
        self.init()
        self.assertEqual(self.layout.files(TREE), EXPECTED)
        marker = self.root / ".rocm-sdk.json"
        before = marker.stat().st_mtime_ns
        self.init()
        self.assertEqual(marker.stat().st_mtime_ns, before)
        shutil.rmtree(self.site / f"rocm_sdk_libraries-{support.VERSION}.dist-info")
        newer = support.libraries(version="7.3.0")
        newer.files = {**newer.files, "_rocm_sdk_libraries/lib/libhipblas.so.3": b"newer"}
        for name in newer.files:
            (self.site / name).unlink()
        self.layout.install(newer)
        self.init()
        self.assertEqual((self.root / "lib/libhipblas.so.3").read_bytes(), b"newer")

    def test_other_versions_are_refused(self) -> None:
        for wheel in (support.devel(version="7.1.0"), support.core(version="7.1.0")):
            layout = support.Layout(self, support.core(), support.devel(), support.libraries())
            layout.install(wheel)
            result = layout.sdk("init")
            self.assertEqual(result.returncode, 1)
            self.assertIn("7.1.0 is installed, but rocm is 7.2.4", result.stderr)
            self.assertIn('pip install "rocm[devel]==7.2.4"', result.stderr)
            self.assertFalse((layout.site / TREE).exists())

    def test_a_directory_without_write_permission(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("needs another user to be")
        # The other user can read, independent of the umask, but not write.
        for path in (self.site, *self.site.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        # Imports precede setuid, because the other user may be unable to read Python.
        code = (
            "import fcntl, os; from rocm_sdk import _devel, _errors\n"
            "os.setuid(65534)\n"
            f"if not os.access({str(self.site)!r}, os.R_OK): raise SystemExit('out of reach')\n"
            "try: _devel.ensure()\n"
            "except _errors.DevelError as error: print(error)\n"
        )
        result = self.layout.run("-c", code)
        if "out of reach" in result.stderr:
            self.skipTest(f"another user cannot reach {self.site}")
        output = result.stdout
        self.assertIn(f"cannot expand rocm-sdk-devel in {self.site}: [Errno 13]", output, result.stderr)
        self.assertIn("as a user with write access", output)
        self.assertEqual(self.tree_rows(), [])

    # ----------------------------------------------------------------- damaged archives

    def broken(self, data: bytes, *, packed: bool = True) -> str:
        layout = support.Layout(self, support.core(), support.devel(archive=data, packed=packed))
        rows = layout.record("rocm-sdk-devel")
        files = layout.files()
        result = layout.sdk("init", "--quiet")
        self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
        self.assertNotIn("Traceback", result.stderr)
        self.assertEqual(layout.record("rocm-sdk-devel"), rows)
        self.assertEqual(layout.files(), files)
        return result.stderr

    def test_an_archive_that_was_cut_off(self) -> None:
        tar = support.tarball(support.DEVEL_MEMBERS)
        packed = lzma.compress(tar)
        for data, is_packed in (
            (packed[: len(packed) // 2], True),
            (packed[:-4], True),
            (b"", True),
            (b"nonsense", True),
            (tar[: tar.index(b"// hip")], False),
            (tar[:1536], False),
            (b"", False),
        ):
            with self.subTest(len=len(data), packed=is_packed):
                self.assertIn("is damaged", self.broken(data, packed=is_packed))

    def test_foreign_members(self) -> None:
        cases: tuple[tuple[support.Members, str], ...] = (
            ({"../evil": b""}, "member outside"),
            ({"a/../../evil": b""}, "member outside"),
            ({"link": "/etc/passwd"}, "absolute link"),
            ({"link": "../../../../etc/passwd"}, "link out of site-packages"),
            ({"a": "b", "b": "a"}, "circle of links"),
            ({"line\nbreak": b""}, "line break"),
        )
        for members, complaint in cases:
            with self.subTest(complaint):
                archive = lzma.compress(support.tarball(members))
                self.assertIn(complaint, self.broken(archive))
        other = lzma.compress(support.tarball({"file": b""}, top="_other"))
        self.assertIn("member outside", self.broken(other))

    # ------------------------------------------------ concurrent and killed processes

    def test_many_at_once(self) -> None:
        command = self.layout.command("-m", "rocm_sdk", "path", "--root")
        running = [
            subprocess.Popen(
                command,
                env=self.layout.environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            for _ in range(16)
        ]
        for process in running:
            answer, _ = process.communicate()
            self.assertEqual((process.returncode, answer), (0, f"{self.root}\n"))
        self.assertEqual(self.layout.files(TREE), EXPECTED)
        self.assertEqual(sorted(self.tree_rows()), sorted(EXPECTED))

    def test_killed_anywhere(self) -> None:
        """Killed with -9 at a change of the disk: all files are recorded, and init repeats.

        The changes are the first ten and every third later one, or all if thorough.
        """
        layout = support.Layout(self, support.core(), support.libraries(), support.devel())
        layout.install(support.device("gfx942"))
        clean = self.layout.top / "clean"
        shutil.copytree(layout.site, clean, symlinks=True)
        reference: tuple[set[str], list[str]] | None = None
        step = 0
        while True:
            shutil.rmtree(layout.site)
            shutil.copytree(clean, layout.site, symlinks=True)
            result = layout.run("-c", KILLED_AT, str(step), str(layout.site))
            if result.returncode == 0:
                break
            self.assertEqual(result.returncode, -signal.SIGKILL, result.stderr)
            self.check_recorded(layout, step)
            self.assertEqual(layout.sdk("init").returncode, 0)
            state = (layout.files(TREE), sorted(layout.record("rocm-sdk-devel")))
            reference = reference or state
            self.assertEqual(state, reference, f"killed at step {step}")
            step += 1 if support.THOROUGH or step < 10 else 3
        self.assertGreater(step, 30)
        self.assertEqual((layout.files(TREE), sorted(layout.record("rocm-sdk-devel"))), reference)

    def check_recorded(self, layout: support.Layout, step: int) -> None:
        recorded: set[str] = set()
        for path in layout.site.glob("*.dist-info"):
            recorded |= set(layout.record(*path.name.removesuffix(".dist-info").split("-")))
        sdk = layout.files("rocm_sdk")
        # Installers remove a listed directory with its content.
        workspace = "_rocm_sdk_devel.partial"
        listed = (f"{workspace}/",) if workspace in recorded else ()
        unknown = {p for p in layout.files() - recorded - sdk if not p.startswith(listed)}
        self.assertEqual(unknown, set(), f"killed at step {step}")
        if (layout.site / TREE).exists():
            # pip removes empty directories only below a directory with a removed file.
            direct = {p for p in layout.files(TREE) if p.count("/") == 1}
            self.assertTrue(direct & recorded, f"killed at step {step}")

    def test_a_partly_expanded_tree_is_not_used(self) -> None:
        self.init()
        (self.root / ".rocm-sdk.json").write_bytes(b"")
        (self.root / "include/hip/hip_runtime.h").unlink()
        self.init()
        self.assertEqual(self.layout.files(TREE), EXPECTED)

    # ------------------------------------------------------------------- images

    def copied(self, *options: str, of: support.Layout | None = None) -> support.Layout:
        """Return a copy of a layout by `cp`."""
        other = support.Layout(self)
        shutil.rmtree(other.site)
        site = (of or self.layout).site
        subprocess.run(["cp", *options, str(site), str(other.site)], check=True)
        return other

    def doctor(self, layout: support.Layout) -> list[str]:
        layout.install(support.device("gfx942"))
        report = json.loads(layout.sdk("doctor", "--json", ROCM_SDK_TARGET_FAMILY="gfx942").stdout)
        return [one["code"] for one in report["findings"] if one["code"] != "devel-incomplete"]

    def test_copies_of_hard_links_are_found_and_mended(self) -> None:
        self.init()
        self.assertEqual(self.doctor(self.copied("-a")), [])
        other = self.copied("-r")
        self.assertEqual(self.doctor(other), ["devel-separated"])
        self.assertEqual(other.sdk("init").returncode, 0)
        self.assertEqual(self.doctor(other), [])
        for name in ("libhiprtc.so", "libhiprtc.so.7"):
            library = other.site / TREE / "lib" / name
            self.assertTrue(library.samefile(other.site / "_rocm_sdk_core/lib/libhiprtc.so.7"))
        other.check_hashes("rocm-sdk-devel")

    def test_the_dockerfile_of_the_documentation(self) -> None:
        """Each layer copies the last one: storage drivers keep hard links or not."""
        page = (support.ROOT / "docs/installed.md").read_text()
        run = re.findall(r"```dockerfile\nRUN pip install (.+?) && rocm-sdk (.+)\n```", page)
        [(packages, command)] = run
        self.assertEqual(shlex.split(packages), ["rocm[libraries,devel]"])
        self.init(*shlex.split(command)[1:])
        self.assertEqual(shlex.split(command)[0], "init")
        image = self.copied("-r", of=self.copied("-a"))
        self.assertEqual(self.doctor(image), [])
        self.assertNotIn("expanding", image.sdk("init").stderr)
        used = image.code(
            "import rocm_sdk as r; print(r.find_header_directory('hip/hip_runtime.h'))\n"
            "print(r.find_library('hiprtc').path.resolve())"
        )
        library = (image.site / "_rocm_sdk_core/lib/libhiprtc.so.7").resolve()
        self.assertEqual(used.split(), [str(image.site / TREE / "include"), str(library)])

    def test_symbolic_links_survive_every_copy(self) -> None:
        self.init("--symlinks")
        for options in (["-a"], ["-r"]):
            other = self.copied(*options)
            self.assertEqual(self.doctor(other), [])
            self.assertEqual(
                os.readlink(other.site / TREE / "lib/libhipblas.so"),
                "../../_rocm_sdk_libraries/lib/libhipblas.so.3",
            )
            self.assertFalse((other.site / TREE / "bin/hipcc").is_symlink())
            other.check_hashes("rocm-sdk-devel")
        self.init()
        self.assertTrue((self.root / "lib/libhiprtc.so").is_symlink(), "the tree keeps its links")
        rows = self.recorded("rocm-sdk-libraries")
        self.assertIn(f"{TREE}/lib/libhipblas.so", rows)
        self.init("--no-symlinks")
        self.assertFalse((self.root / "lib/libhiprtc.so").is_symlink())
        self.assertTrue(self.is_same("lib/libhiprtc.so", "_rocm_sdk_core/lib/libhiprtc.so.7"))
        self.layout.check_hashes("rocm-sdk-devel")
        self.assertNotIn(f"{TREE}/lib/libhipblas.so", self.recorded("rocm-sdk-libraries"))

    def test_the_kind_of_links_survives_a_change_of_packages(self) -> None:
        self.layout.install(support.profiler())
        self.init("--symlinks")
        shutil.rmtree(self.site / "rocm_profiler-7.2.4.dist-info")
        self.assertIn("expanding", self.init())
        self.assertTrue((self.root / "lib/libhiprtc.so").is_symlink())

    def test_a_tree_remains_usable_without_its_archive(self) -> None:
        self.init()
        archive = next((self.site / "rocm_sdk_devel").glob("_devel.tar*"))
        archive.unlink()
        self.assertEqual(self.layout.sdk("path", "--include").returncode, 0)
        findings = json.loads(self.layout.sdk("doctor", "--json").stdout)["findings"]
        self.assertIn("files-missing", [one["code"] for one in findings])
        shutil.rmtree(self.root)
        self.assertIn("pip install --force-reinstall", self.init_error())

    def test_a_library_of_another_size_is_linked_and_recorded(self) -> None:
        self.init()
        library = self.site / "_rocm_sdk_core/lib/libhiprtc.so.7"
        content = library.read_bytes()
        library.unlink()
        library.write_bytes(content + b"more")
        for _ in range(2):
            self.init()
            self.assertTrue(self.is_same("lib/libhiprtc.so.7", str(library)))
            codes = [one["code"] for one in json.loads(self.layout.sdk("doctor", "--json").stdout)["findings"]]
            self.assertEqual([code for code in codes if code.startswith("devel")], [])
        shutil.rmtree(self.root)
        self.init()
        self.assertNotIn("expanding", self.init())

    def test_file_systems_without_locks(self) -> None:
        code = (
            "import errno, fcntl, os\n"
            "def flock(*_): raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))\n"
            "fcntl.flock = flock\n"
            "from rocm_sdk import _devel; print(_devel.ensure())"
        )
        result = self.layout.run("-c", code)
        self.assertEqual((result.returncode, result.stdout.strip()), (0, str(self.root)), result.stderr)
        self.assertIn("cannot be locked", result.stderr)

    def test_a_caller_without_a_choice_keeps_that_of_a_concurrent_one(self) -> None:
        code = (
            "from rocm_sdk import _devel, _packages\n"
            "waiting = _devel.Devel(_packages.require('devel'))\n"
            "_devel.ensure(symlinks=True)\n"
            "waiting.update(); print(waiting.state()['symlinks'])"
        )
        self.assertEqual(self.layout.code(code), "True")
        self.assertTrue((self.root / "lib/libhiprtc.so").is_symlink())

    def test_libraries_that_come_later_get_links_of_the_same_kind(self) -> None:
        for option in ("--symlinks", "--no-symlinks"):
            with self.subTest(option):
                layout = support.Layout(self, support.core(), support.devel())
                self.assertEqual(layout.sdk("init", "--quiet", option).returncode, 0)
                layout.install(support.libraries())
                self.assertEqual(layout.sdk("init", "--quiet").returncode, 0)
                library = layout.site / TREE / "lib/libhipblas.so.3"
                self.assertEqual(library.is_symlink(), option == "--symlinks")
                self.assertTrue(
                    library.samefile(layout.site / "_rocm_sdk_libraries/lib/libhipblas.so.3")
                )
                layout.check_hashes("rocm-sdk-devel")

    # ------------------------------------------------------------------- device packages

    def test_device_packages_are_linked_when_they_come(self) -> None:
        self.init()
        for isa in ("gfx942", "gfx1100"):
            self.layout.install(support.device(isa))
            self.init()
            self.assertTrue(self.is_same(f"lib/db/{isa}.dat", f"_rocm_sdk_libraries/lib/db/{isa}.dat"))
            rows = [p for p in self.recorded(f"rocm-sdk-device-{isa}") if p.startswith(TREE)]
            self.assertEqual(rows, [f"{TREE}/.device-{isa}", f"{TREE}/lib/db/{isa}.dat"])
            self.layout.check_hashes(f"rocm-sdk-device-{isa}")
        self.assertEqual(sorted(self.tree_rows()), sorted(EXPECTED))

    def test_an_isa_can_have_several_device_packages(self) -> None:
        info = copy.deepcopy(support.DIST)
        finer = {"distribution": "rocm-sdk-device-{isa}-blas", "module": "rocm_sdk_device_{isa}_blas", "extra": None}
        info["packages"]["device-blas"] = {**info["packages"]["device"], **finer}
        layout = support.Layout(
            self,
            support.core(),
            support.libraries(),
            support.devel(),
            support.device("gfx942"),
            support.device("gfx942", part="blas"),
            info=info,
        )
        self.assertEqual(layout.sdk("init").returncode, 0)
        for distribution, name in (
            ("rocm-sdk-device-gfx942", "gfx942"),
            ("rocm-sdk-device-gfx942-blas", "gfx942-device-blas"),
        ):
            rows = [row for row in layout.record(distribution) if row.startswith(TREE)]
            self.assertEqual(rows, [f"{TREE}/.device-{name}", f"{TREE}/lib/db/{name}.dat"])
            layout.check_hashes(distribution)

    def test_device_packages_are_linked_at_once(self) -> None:
        self.layout.install(support.device("gfx942"))
        self.init()
        self.assertTrue((self.root / "lib/db/gfx942.dat").is_file())

    def test_a_device_package_of_another_version_is_skipped_with_a_warning(self) -> None:
        self.layout.install(support.device("gfx1100"))
        self.layout.install(support.device("gfx942", version="7.1.0"))
        warning = (
            "rocm-sdk: rocm-sdk-device-gfx942 7.1.0 is not linked into the devel tree: "
            "rocm is 7.2.4: install the same version of both\n"
        )
        for arguments in (("init", "--quiet"), ("path", "--root"), ("init", "--quiet")):
            result = self.layout.sdk(*arguments)
            self.assertEqual(result.returncode, 0)
            self.assertIn(warning, result.stderr)
        self.assertTrue((self.root / "lib/db/gfx1100.dat").is_file())
        self.assertFalse((self.root / "lib/db/gfx942.dat").exists())

    def test_versions_are_those_of_the_metadata(self) -> None:
        """Promoters rename metadata, and may not know the data of this build."""
        built = {"version": "7.2.4rc1"}
        wheels = support.core(), support.libraries(), support.devel(), support.device("gfx942")
        for wheel in wheels:
            wheel.more.update(built)
        self.layout = support.Layout(self, *wheels, info={**support.DIST, **built})
        self.site, self.root = self.layout.site, self.layout.site / TREE
        self.layout.add_metadata("rocm", support.VERSION)
        self.init()
        self.assertTrue((self.root / "lib/db/gfx942.dat").is_file())
        self.assertIn(f"{TREE}/lib/db/gfx942.dat", self.recorded("rocm-sdk-device-gfx942"))
        code = (
            "import rocm_sdk, rocm_sdk_core, rocm_sdk_core._dist_info as di\n"
            "print(rocm_sdk.__version__, rocm_sdk_core.__version__, di.__version__)\n"
        )
        self.assertEqual(self.layout.code(code), " ".join([support.VERSION] * 3))
        self.assertEqual(self.layout.sdk("version").stdout, f"{support.VERSION}\n")

    def test_links_of_an_installed_package_are_made_or_an_error(self) -> None:
        self.layout.install(support.device("gfx942"))
        record = self.site / "rocm_sdk_device_gfx942-7.2.4.dist-info/RECORD"
        content = record.read_bytes()
        record.unlink()  # as some Linux distributions do
        self.init()
        self.assertTrue((self.root / "lib/db/gfx942.dat").is_file())
        record.write_bytes(content)
        links = self.site / "_rocm_sdk_libraries/.devel_links/gfx942.json"
        links.unlink()
        error = self.init_error()
        self.assertEqual(
            error, f"rocm-sdk: {links} is missing: reinstall rocm-sdk-device-gfx942 7.2.4\n"
        )

    def test_a_post_release_of_the_selector_has_the_wheels_of_the_release(self) -> None:
        for version, pins, device, is_linked in (
            ("7.2.4.post1", "7.2.4", "7.2.4", True),
            ("7.2.4.post1", "7.2.4.post1", "7.2.4", True),
            ("7.2.4", "7.2.4", "7.2.4.post1", True),
            ("7.2.4.post1", "7.2.4.post1", "7.2.4.post2", False),
            ("7.2.5.post1", "7.2.4", "7.2.4", True),
        ):
            with self.subTest(version, pins=pins, device=device):
                text = repr(support.DIST).replace("==7.2.4", f"=={pins}")
                info = {**ast.literal_eval(text), "version": version}
                wheels = support.core(), support.libraries(), support.devel()
                layout = support.Layout(
                    self, *wheels, support.device("gfx942", version=device), info=info
                )
                for arguments in (("init",), ("path", "--root")):
                    result = layout.sdk(*arguments)
                    self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual((layout.site / TREE / "lib/db/gfx942.dat").exists(), is_linked)
                code = "from rocm_sdk_core._cli import hipcc; hipcc()"
                self.assertIn(TREE, layout.code(code))
        layout = support.Layout(
            self, *wheels, info={**ast.literal_eval(repr(support.DIST).replace("7.2.4", "7.2.3"))}
        )
        self.assertEqual(layout.sdk("init").returncode, 1)

    def test_a_device_package_cannot_link_elsewhere(self) -> None:
        for relpath, target in (
            ("../evil", "../x"),
            ("x", "../../../etc/passwd"),
            ("x", "/etc/passwd"),
        ):
            layout = support.Layout(self, support.core(), support.libraries(), support.devel())
            wheel = support.device("gfx942")
            wheel.files["_rocm_sdk_libraries/.devel_links/gfx942.json"] = (
                f'{{"version": "7.2.4", "links": [{{"relpath": "{relpath}", "target": "{target}"}}]}}'
            ).encode()
            layout.install(wheel)
            result = layout.sdk("init")
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, "member outside|links out of site-packages")


WITHOUT_LINKS = """
import os
def refused(*arguments, **more):
    raise OSError(22, "A required privilege is not held by the client")
os.symlink = refused
import rocm_sdk._devel
rocm_sdk._devel.ensure()
"""

KILLED_AT = """
import os, signal, sys
step, site = int(sys.argv[1]), sys.argv[2]
import rocm_sdk._devel, tarfile, lzma, json, csv, io, fcntl
seen = 0
CHANGES = ("os.rename", "os.link", "os.symlink", "os.mkdir", "os.remove", "os.rmdir", "os.utime", "os.chmod")
def hook(event, arguments):
    global seen
    change = event in CHANGES
    if event == "open":
        path, mode, flags = arguments
        change = str(path).startswith(site) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
    if change:
        if seen == step:
            os.kill(os.getpid(), signal.SIGKILL)
        seen += 1
sys.addaudithook(hook)
rocm_sdk._devel.ensure()
"""

if __name__ == "__main__":
    unittest.main()
