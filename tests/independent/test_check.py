"""Self-tests of the whole check: wheels that are right agree, each fault is found."""

import base64
import hashlib
import io
import json
import os
import posixpath
import sys
import tarfile
import tempfile
import unittest
import zipfile
from contextlib import redirect_stdout
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import rules
from check_closure import Closure, excused
from check_paths import CHOICE, check_all
from elf_image import shared_object
from facts import Facts
from packages import Plan
from tree import read_artifacts

FACTS = Facts(Path(__file__).parent.parent / "facts")
# Entries that mean, from lib/ and bin/, everything core and libraries have to have.
CORE_RPATH = "$ORIGIN/../lib:$ORIGIN/../lib/llvm/lib:$ORIGIN/../lib/rocm_sysdeps/lib"
LIBRARIES_RPATH = "$ORIGIN:" + ":".join(
    f"$ORIGIN/../../_rocm_sdk_core/{path}"
    for path in ("lib", "lib/rocm_sysdeps/lib", "lib/host-math/lib", "lib/llvm/lib"))
CONTENT = {
    "base_lib_generic": {
        "share/therock/therock_manifest.json": b'{"flags": {"KPACK_SPLIT_ARTIFACTS": true}}',
        "share/therock/dist_info.json": b'{"dist_amdgpu_targets": "gfx942"}'},
    "core-hip_lib_generic": {
        "lib/libhiprtc.so.7.2": shared_object(soname="libhiprtc.so.7", rpath=CORE_RPATH),
        "lib/libhiprtc.so.7": "libhiprtc.so.7.2", "lib/libhiprtc.so": "libhiprtc.so.7",
        "bin/tool": shared_object(interp=True, rpath=CORE_RPATH), "bin/t": "tool"},
    "core-hip_dev_generic": {"include/hip/hip.h": b"h", "include/cmake/x": b"not in core"},
    "blas_lib_generic": {"lib/libp.so": shared_object(soname="libp.so", rpath=LIBRARIES_RPATH)},
    "blas_lib_gfx942": {"lib/k.co": b"kernel"},
    "prim_dev_generic": {
        "include/rocprim/p.hpp": b"p", "include/r": "rocprim",
        "bin/bench": shared_object(interp=True, runpath="$ORIGIN")},
    "rocprofiler-systems_run_generic": {"bin/rocprof-sys-run": b"#!x", "bin/other": b"no"},
}


def write_artifacts(folder):
    for name, content in CONTENT.items():
        for path, value in content.items():
            place = folder / name / "stage" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(value, str):
                place.symlink_to(value)
            else:
                place.write_bytes(value)
        (folder / name / "artifact_manifest.txt").write_text("stage\n")


def item_bytes(package, item):
    if item.form == rules.STUB:
        return shared_object(etype=2, tail=b"tool\0")
    if item.form == rules.FORWARD:
        name = posixpath.basename(item.path)
        return shared_object(soname=name, needed=[item.entry.elf.soname], rpath="$ORIGIN")
    if item.form == rules.DEVEL_LINKS:
        links = [{"relpath": path, "target": rules.link_up(path, f"{package.platform_dir}/{path}")}
                 for path in [*(path for path in package.own if package.own[path].form == "file"), rules.marker(package)]]
        return json.dumps({"version": 1, "links": links}).encode()
    return item.entry.source.read_bytes() if item.entry else b""


def write_wheel(path, members):
    """Writes `members`: name -> (bytes, mode). RECORD is the last member."""
    record = "m-1.dist-info/RECORD"
    rows = []
    with zipfile.ZipFile(path, "w") as archive:
        for name, (data, mode) in members.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(data)}")
            write_member(archive, name, data, mode)
        write_member(archive, record, "\n".join([*rows, f"{record},,"]).encode(), 0o644)


def write_member(archive, name, data, mode):
    info = zipfile.ZipInfo(name)
    info.external_attr = (0o100000 | mode) << 16
    archive.writestr(info, data)


def runtime_members(package):
    members = {}
    for path, item in package.items.items():
        mode = 0o755 if item.form == rules.STUB else 0o644
        members[f"{package.platform_dir}/{path}"] = (item_bytes(package, item), mode)
    return members


def devel_tar(members):
    """Files and directories first, then links into other packages, then all others."""
    stream = io.BytesIO()
    ranks = {"dir": 0, "file": 1, "link": 2}
    with tarfile.open(fileobj=stream, mode="w") as tar:
        add_member(tar, "__init__.py", "file", b"")
        def rank(pair):
            form, detail = pair[1]
            return (ranks[form], form == "link" and "_rocm_" not in detail, pair[0])
        for path, (form, detail) in sorted(members.items(), key=rank):
            data = detail.source.read_bytes() if form == "file" else detail
            if path == "bin/bench":
                data = data.replace(b"\x1d\0\0\0\0\0\0\0", b"\x0f\0\0\0\0\0\0\0")
            add_member(tar, path, form, data)
    return stream.getvalue()


def add_member(tar, path, form, data):
    info = tarfile.TarInfo(f"_rocm_sdk_devel/{path}")
    info.type = {"dir": tarfile.DIRTYPE, "link": tarfile.SYMTYPE, "file": tarfile.REGTYPE}[form]
    if form == "link":
        info.linkname = data
    info.size = len(data) if form == "file" else 0
    tar.addfile(info, io.BytesIO(data) if form == "file" else None)


class WholeCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.artifacts = Path(folder.name, "artifacts")
        self.dist = Path(folder.name, "dist")
        self.dist.mkdir()
        write_artifacts(self.artifacts)
        self.plan = Plan(read_artifacts(self.artifacts), FACTS)
        self.wheels = {p.distribution: runtime_members(p) for p in self.plan.runtime}
        self.wheels[CHOICE] = {"rocm_sdk_device/__init__.py": (b"", 0o644)}
        self.members = dict(self.plan.devel[""])

    def check(self, archive=None):
        """Returns the lines that the check prints for the wheels in `self`."""
        devel = devel_tar(self.members) if archive is None else archive
        wheels = {**self.wheels,
                  "rocm-sdk-devel": {"rocm_sdk_devel/_devel.tar": (devel, 0o644)}}
        for name, members in wheels.items():
            write_wheel(self.dist / f"{name.replace('-', '_')}-1-py3-none-any.whl", members)
        output = io.StringIO()
        with redirect_stdout(output):
            self.total = check_all(self.plan, FACTS, self.dist)
        return output.getvalue()

    def finds(self, *texts):
        output = self.check()
        self.assertEqual(self.total, 1, output)
        for text in texts:
            self.assertIn(text, output)

    def test_right_wheels_agree(self):
        output = self.check()
        self.assertEqual(self.total, 0, output)
        self.assertEqual(output.count(": agrees"), 6)

    def test_the_packages_hold_what_the_rules_say(self):
        items = {p.distribution: sorted(p.items) for p in self.plan.runtime}
        self.assertEqual(items["rocm-sdk-core"], [
            "__init__.py", "bin/t", "bin/tool", "include/hip/hip.h", "lib/libhiprtc.so",
            "lib/libhiprtc.so.7", "share/therock/dist_info.json",
            "share/therock/therock_manifest.json"])
        self.assertEqual(items["rocm-sdk-device-gfx942"], [
            ".devel_links/gfx942.json", ".rocm_sdk_device_gfx942", "lib/k.co"])
        self.assertEqual(items["rocm-profiler"], ["__init__.py", "bin/rocprof-sys-run"])
        self.assertNotIn("lib/k.co", self.members)

    def test_missing_and_unexpected_paths(self):
        wheel = self.wheels["rocm-sdk-core"]
        data = wheel.pop("_rocm_sdk_core/include/hip/hip.h")
        self.finds("rocm_sdk_core: include/hip/hip.h: missing")
        wheel["_rocm_sdk_core/include/hip/hip.h"] = data
        wheel["_rocm_sdk_core/bin/other"] = data
        self.finds("_rocm_sdk_core/bin/other: unexpected")

    def test_a_file_in_the_wheel_that_only_requires(self):
        self.wheels[CHOICE]["_rocm_sdk_libraries/lib/k.co"] = (b"kernel", 0o644)
        self.finds("_rocm_sdk_libraries/lib/k.co: belongs to another package")

    def test_init_in_a_device_wheel(self):
        self.wheels["rocm-sdk-device-gfx942"]["_rocm_sdk_libraries/__init__.py"] = (b"", 0o644)
        self.finds("__init__.py: unexpected")

    def test_changed_data_modes_and_rpath(self):
        self.change("rocm-sdk-device-gfx942", "_rocm_sdk_libraries/lib/k.co", (b"kernfl", 0o644))
        self.finds("lib/k.co: is no copy")

    def test_execute_bit(self):
        self.change("rocm-sdk-device-gfx942", "_rocm_sdk_libraries/lib/k.co", (b"kernel", 0o755))
        self.finds("lib/k.co: mode 755, source 644")

    def test_rpath_in_another_order(self):
        parts = LIBRARIES_RPATH.split(":")
        image = shared_object(soname="libp.so", rpath=":".join(reversed(parts)))
        self.change("rocm-sdk-libraries", "_rocm_sdk_libraries/lib/libp.so", (image, 0o644))
        self.finds("lib/libp.so: DT_RPATH")

    def test_library_that_is_not_found(self):
        """Reports a dependency of libp.so only if neither core's search path nor the manifest's list has it."""
        for needed, resolves in (("libhiprtc.so.7", True), ("libc.so.6", True), ("libz9.so.9", False)):
            image = shared_object(soname="libp.so", needed=[needed], rpath=LIBRARIES_RPATH)
            closure = Closure('system-library "libc.so.*" reason="x"\nignore "unresolved-library" "libx.so.1"\n')
            libraries = next(p for p in self.plan.runtime if p.logical == "libraries")
            core = next(p for p in self.plan.runtime if p.logical == "core")
            closure.add(libraries, "_rocm_sdk_libraries/lib/libp.so", image)
            closure.add(core, "_rocm_sdk_core/lib/libhiprtc.so.7",
                        shared_object(soname="libhiprtc.so.7"))
            expected = [] if resolves else [("_rocm_sdk_libraries/lib/libp.so", f"does not find {needed}")]
            self.assertEqual(list(closure.differences(self.plan, libraries)), expected)

    def test_library_of_a_device_wheel_is_not_there_for_others(self):
        libraries, device = (next(p for p in self.plan.runtime if p.logical == name)
                             for name in ("libraries", "device"))
        closure = Closure("")
        needing = shared_object(soname="libp.so", needed=["libq.so"], rpath="$ORIGIN")
        closure.add(libraries, "_rocm_sdk_libraries/lib/libp.so", needing)
        closure.add(device, "_rocm_sdk_libraries/lib/libq.so", shared_object(soname="libq.so"))
        self.assertEqual(len(list(closure.differences(self.plan, libraries))), 1)
        closure.add(device, "_rocm_sdk_libraries/lib/libr.so", needing)
        self.assertEqual(list(closure.differences(self.plan, device)), [])

    def test_lists_of_the_manifest(self):
        text = ('system-library "a.so" "b.so.*" reason="c.so"\n// system-library "d.so"\n'
                'ignore "unresolved-library" "e.so" reason="x"\n')
        self.assertEqual(excused(text), ["a.so", "b.so.*", "e.so"])

    def test_stub_that_is_a_copy(self):
        data = b"x" * 9000
        self.change("rocm-sdk-core", "_rocm_sdk_core/bin/t", (data, 0o755))
        self.finds("bin/t: is no exec stub for bin/tool")

    def change(self, wheel, name, value):
        self.assertIn(name, self.wheels[wheel])
        self.wheels[wheel][name] = value

    def test_devel_link_with_another_target(self):
        self.members["include/r"] = ("link", "hip")
        self.finds("include/r: links to hip, expected rocprim")

    def test_devel_directory_that_is_gone(self):
        del self.members["include/rocprim"]
        self.finds("include/rocprim: missing (dir")

    def test_devel_link_before_its_file(self):
        stream = io.BytesIO()
        with tarfile.open(fileobj=io.BytesIO(devel_tar(self.members))) as old:
            members = sorted(old.getmembers(), key=lambda m: m.name != "_rocm_sdk_devel/lib/libhiprtc.so")
            with tarfile.open(fileobj=stream, mode="w") as new:
                for member in members:
                    new.addfile(member, old.extractfile(member) if member.isfile() else None)
        output = self.check(stream.getvalue())
        self.assertEqual(self.total, 1, output)
        self.assertIn("stands before lib/libhiprtc.so.7", output)

    def test_a_wheel_too_few_and_one_too_many(self):
        members = self.wheels.pop("rocm-profiler")
        self.wheels["rocm-sdk-device-gfx1100"] = members
        output = self.check()
        self.assertEqual(self.total, 2, output)
        self.assertIn("rocm_profiler: : 0 wheels", output)
        self.assertIn("unexpected wheel", output)


if __name__ == "__main__":
    unittest.main()
