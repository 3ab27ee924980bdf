"""Packages of a small ROCm, built from the templates like rockpack's."""

from __future__ import annotations

import ast
import base64
import copy
import csv
import gzip
import hashlib
import io
import json
import lzma
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import unittest
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
META = ROOT / "runtime" / "meta"
RUNTIME = ROOT / "runtime" / "runtime"
COMMON = ROOT / "runtime" / "common"
VERSION = "7.2.4"
NO_GPU = "/nonexistent"
# With this variable, tests of many moments or orders check all, otherwise a sample.
THOROUGH = bool(os.environ.get("ROCKPACK_THOROUGH"))

_PLATFORM = sysconfig.get_platform().replace("-", "_").replace(".", "_")

DIST: dict[str, Any] = {
    "version": VERSION,
    "mode": "kpack",
    "distribution": "rocm",
    "command": "rocm-sdk",
    "selector": {"package": "meta", "distribution": "rocm", "module": "rocm_sdk"},
    "requires": [f"rocm-sdk-core=={VERSION}"],
    "extras": {
        "libraries": [f"rocm-sdk-libraries=={VERSION}"],
        "devel": [f"rocm-sdk-devel=={VERSION}"],
        "profiler": [f"rocm-profiler=={VERSION}"],
        "device": [f"rocm-sdk-device=={VERSION}"],
        "device-gfx942": [f'rocm-sdk-device-gfx942=={VERSION}; sys_platform == "linux"'],
        "device-gfx1100": [f'rocm-sdk-device-gfx1100=={VERSION}; sys_platform == "linux"'],
    },
    "targets": {"linux": ["gfx942", "gfx1100"], "win32": []},
    "default_target": "gfx942",
    "families": {
        "gfx90a": ["dcgpu-all", "gfx90a-dcgpu"],
        "gfx942": ["dcgpu-all", "gfx94X-all", "gfx94X-dcgpu", "everything"],
        "gfx1100": ["dgpu-all", "gfx110X-all", "gfx110X-dgpu", "everything"],
        "gfx1101": ["dgpu-all", "gfx110X-all", "gfx110X-dgpu", "everything"],
    },
    "packages": {
        "core": {
            "distribution": "rocm-sdk-core",
            "module": "rocm_sdk_core",
            "platform_dir": "_rocm_sdk_core",
            "kind": "runtime",
            "extra": None,
        },
        "libraries": {
            "distribution": "rocm-sdk-libraries",
            "module": "rocm_sdk_libraries",
            "platform_dir": "_rocm_sdk_libraries",
            "kind": "runtime",
            "extra": "libraries",
        },
        "device": {
            "distribution": "rocm-sdk-device-{isa}",
            "module": "rocm_sdk_device_{isa}",
            "platform_dir": "_rocm_sdk_libraries",
            "kind": "runtime",
            "extra": "device-{isa}",
        },
        "profiler": {
            "distribution": "rocm-profiler",
            "module": "rocm_profiler",
            "platform_dir": "_rocm_profiler",
            "kind": "runtime",
            "extra": "profiler",
        },
        "devel": {
            "distribution": "rocm-sdk-devel",
            "module": "rocm_sdk_devel",
            "platform_dir": "_rocm_sdk_devel",
            "kind": "devel",
            "extra": "devel",
        },
    },
    "libraries": {
        "hiprtc": {
            "package": "core",
            "linux": "lib/libhiprtc.so*",
            "windows": "bin/hiprtc0*.dll",
            "optional": False,
        },
        "rocdxg": {
            "package": "core",
            "linux": "lib/librocdxg*.so*",
            "windows": None,
            "optional": True,
        },
        "windows-only": {
            "package": "core",
            "linux": None,
            "windows": "bin/x.dll",
            "optional": False,
        },
        "hipblas": {
            "package": "libraries",
            "linux": "lib/libhipblas.so*",
            "windows": "bin/*hipblas*.dll",
            "optional": False,
        },
    },
}


def real_library() -> Path:
    """Return a shared library of this machine that can be loaded alone."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = Path(line.rpartition(" ")[2])
        if path.name.startswith("libm.so") or path.name.startswith("libm-"):
            return path
    raise unittest.SkipTest("this Python uses no libm that could be copied")


def script(text: str) -> bytes:
    return f"#!/bin/sh\n{text}\n".encode()


SAYS_WHERE = script('echo "$0 $*"')


@dataclass
class Wheel:
    """Wheel with files by name; a leading `*` marks executables."""

    package: str
    distribution: str
    module: str
    platform_dir: str
    version: str = VERSION
    files: dict[str, bytes] = field(default_factory=dict)
    requires: list[str] = field(default_factory=list)
    scripts: dict[str, dict[str, Any]] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)

    def write(self, directory: Path) -> Path:
        stem = f"{self.distribution.replace('-', '_')}-{self.version}"
        sources = sorted([*RUNTIME.glob("*.*"), *COMMON.glob("*.*")])
        files = {f"{self.module}/{p.name}": p.read_bytes() for p in sources}
        info = {
            "version": self.version,
            "distribution": self.distribution,
            "package": self.package,
            "platform_dir": self.platform_dir,
            "module": self.module,
            "devel": {"module": "rocm_sdk_devel"},
            "scripts": self.scripts,
            **{key: DIST[key] for key in ("selector", "packages", "libraries")},
            **self.more,
        }
        files[f"{self.module}/_dist_info.py"] = literal(info)
        prefix = f"{stem}.dist-info"
        metadata = [f"Metadata-Version: 2.4\nName: {self.distribution}\nVersion: {self.version}"]
        metadata += [f"Requires-Dist: {requirement}" for requirement in self.requires]
        files |= self.files
        if self.scripts:
            names = {name: name.replace("-", "_2d_").replace("+", "_2b_") for name in self.scripts}
            functions = [f"def {f}() -> None:\n    start({n!r})\n" for n, f in names.items()]
            files[f"{self.module}/_cli.py"] = (
                "from ._launch import __getattr__ as __getattr__\n"
                "from ._launch import start\n\n\n" + "\n\n".join(functions)
            ).encode()
            entries = [f"{n} = {self.module}._cli:{f}" for n, f in names.items()]
            files[f"{prefix}/entry_points.txt"] = (
                "[console_scripts]\n" + "\n".join(entries) + "\n"
            ).encode()
        files[f"{prefix}/METADATA"] = ("\n".join(metadata) + "\n").encode()
        files[f"{prefix}/WHEEL"] = (
            f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\n"
            f"Tag: py3-none-{_PLATFORM}\n"
        ).encode()
        path = directory / f"{stem}-py3-none-{_PLATFORM}.whl"
        _zip(path, files, f"{prefix}/RECORD")
        return path


def _zip(path: Path, files: dict[str, bytes], record: str) -> None:
    rows = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            mode = 0o100755 if name.startswith("*") else 0o100644
            name = name.removeprefix("*")
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.create_system, member.external_attr = 3, mode << 16
            archive.writestr(member, data)
            quoted = '"' + name.replace('"', '""') + '"' if set(name) & set(',"') else name
            rows.append(f"{quoted},sha256={sha256(data)},{len(data)}\n")
        archive.writestr(record, "".join([*rows, f"{record},,\n"]))


def sha256(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def literal(value: dict[str, Any]) -> bytes:
    before = (COMMON / "_dist_info.py").read_text()
    return f"{before}\n\nDIST = {value!r}\n".encode()


def core(**changes: Any) -> Wheel:
    library = real_library().read_bytes()
    wheel = Wheel(
        package="core",
        distribution="rocm-sdk-core",
        module="rocm_sdk_core",
        platform_dir="_rocm_sdk_core",
        files={
            "_rocm_sdk_core/__init__.py": b"",
            "*_rocm_sdk_core/bin/hipcc": SAYS_WHERE,
            "*_rocm_sdk_core/bin/amdclang": SAYS_WHERE,
            "*_rocm_sdk_core/bin/rocminfo": script("echo no GPU; exit 3"),
            "*_rocm_sdk_core/lib/llvm/bin/offload-arch": script("echo gfx1100; echo gfx1100"),
            "_rocm_sdk_core/lib/libhiprtc.so": library,
            "_rocm_sdk_core/lib/libhiprtc.so.7": library,
            '_rocm_sdk_core/share/a, "b" é.txt': b"text",
        },
        scripts={
            "hipcc": {"program": "bin/hipcc", "expand_devel": True},
            "rocminfo": {"program": "bin/rocminfo", "expand_devel": False},
            "offload-arch": {"program": "lib/llvm/bin/offload-arch", "expand_devel": True},
        },
        more={"aliases": ["lib/libhiprtc.so"]},
    )
    return change(wheel, changes)


def libraries(**changes: Any) -> Wheel:
    wheel = Wheel(
        package="libraries",
        distribution="rocm-sdk-libraries",
        module="rocm_sdk_libraries",
        platform_dir="_rocm_sdk_libraries",
        files={
            "_rocm_sdk_libraries/__init__.py": b"",
            "_rocm_sdk_libraries/lib/libhipblas.so.3": real_library().read_bytes(),
        },
    )
    return change(wheel, changes)


def device(isa: str, part: str | None = None, **changes: Any) -> Wheel:
    """Return the device package of an ISA, or its part `part`."""
    name, suffix = (isa, "") if part is None else (f"{isa}-device-{part}", f"-{part}")
    link = {
        "relpath": f"lib/db/{name}.dat",
        "target": f"../../../_rocm_sdk_libraries/lib/db/{name}.dat",
    }
    links = {"version": "of the build", "links": [link]}
    wheel = Wheel(
        package=f"device{suffix}",
        distribution=f"rocm-sdk-device-{isa}{suffix}",
        module=f"rocm_sdk_device_{isa}{suffix.replace('-', '_')}",
        platform_dir="_rocm_sdk_libraries",
        requires=[f"rocm-sdk-libraries=={VERSION}"],
        files={
            f"_rocm_sdk_libraries/.device-{name}": b"",
            f"_rocm_sdk_libraries/lib/db/{name}.dat": isa.encode(),
            f"_rocm_sdk_libraries/.devel_links/{name}.json": json.dumps(links).encode(),
        },
    )
    return change(wheel, changes)


def choice() -> Wheel:
    """Return the package of the extra `device`, without requirements."""
    return Wheel("gpu", "rocm-sdk-device", "rocm_sdk_device", "_rocm_sdk_device")


def profiler(**changes: Any) -> Wheel:
    wheel = Wheel(
        package="profiler",
        distribution="rocm-profiler",
        module="rocm_profiler",
        platform_dir="_rocm_profiler",
        files={
            "_rocm_profiler/__init__.py": b"",
            "_rocm_profiler/lib/data.txt": b"",
            "_rocm_profiler/lib/python/site-packages/data.txt": b"",
            "*_rocm_profiler/bin/rocprof-sys-run": script('echo "$LD_LIBRARY_PATH|$PYTHONPATH"'),
        },
        scripts={"rocprof-sys-run": {"program": "bin/rocprof-sys-run", "expand_devel": False}},
        more={
            "environment": {
                "LD_LIBRARY_PATH": [
                    ["_rocm_profiler", "lib"],
                    ["_rocm_sdk_core", "lib"],
                    ["_rocm_sdk_core", "absent"],
                ],
                "PYTHONPATH": [["_rocm_profiler", "lib/python/site-packages"]],
            }
        },
    )
    return change(wheel, changes)


# Members of the devel archive: bytes for a file, str for a link's target, None for a directory.
Members = dict[str, "bytes | str | None"]
DEVEL_MEMBERS: Members = {
    "": None,
    "__init__.py": b"",
    "bin": None,
    "*bin/hipcc": "../../_rocm_sdk_core/bin/hipcc",
    "bin/amdclang": "../../_rocm_sdk_core/bin/amdclang",
    "include/hip/hip_runtime.h": b"// hip\n",
    'include/with, comma "and" quote é.h': b"",
    "lib/libhiprtc.so.7": "../../_rocm_sdk_core/lib/libhiprtc.so.7",
    "lib/libhiprtc.so": "libhiprtc.so.7",
    "lib/libhipblas.so.3": "../../_rocm_sdk_libraries/lib/libhipblas.so.3",
    "lib/libhipblas.so": "libhipblas.so.3",
    "lib/cmake/hip/hip-config.cmake": b"# cmake\n",
    "lib64": "lib",
    "lib64-file": "lib64/cmake/hip/hip-config.cmake",
    "share/empty": None,
    ".kpack/.hidden": b"",
    "*tools/run.sh": SAYS_WHERE,
}


def tarball(
    members: Members, top: str = "_rocm_sdk_devel", form: int = tarfile.PAX_FORMAT
) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for name, content in members.items():
            executable = name.startswith("*")
            info = tarfile.TarInfo(f"{top}/{name.removeprefix('*')}".rstrip("/"))
            info.mtime = 1_700_000_000
            info.mode = 0o755 if executable else 0o644
            if content is None:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
            elif isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
            else:
                info.size = len(content)
            tar.addfile(info, io.BytesIO(content) if isinstance(content, bytes) else None)
    return out.getvalue()


def devel(members: Members | None = None, *, archive: bytes | None = None, **changes: Any) -> Wheel:
    packed = changes.pop("packed", True)
    data = tarball(DEVEL_MEMBERS if members is None else members) if archive is None else archive
    name = "_devel.tar.xz" if packed else "_devel.tar"
    if packed and archive is None:
        data = lzma.compress(data)
    wheel = Wheel(
        package="devel",
        distribution="rocm-sdk-devel",
        module="rocm_sdk_devel",
        platform_dir="_rocm_sdk_devel",
        files={f"rocm_sdk_devel/{name}": data},
        more={"archive": name, "keep_links": ["bin/amdclang"]},
    )
    return change(wheel, changes)


def devel_of_files(members: Members | None = None) -> Wheel:
    """Return a devel wheel with `layout "files"`: its archive has links and directories."""
    members = DEVEL_MEMBERS if members is None else members
    rest = {name: content for name, content in members.items() if not isinstance(content, bytes)}
    wheel = devel(rest, packed=False)
    for name, content in members.items():
        if isinstance(content, bytes):
            mark = "*" if name.startswith("*") else ""
            wheel.files[f"{mark}_rocm_sdk_devel/{name.removeprefix('*')}"] = content
    wheel.more["layout"] = "files"
    return wheel


def change(wheel: Wheel, changes: dict[str, Any]) -> Wheel:
    for key, value in changes.items():
        assert hasattr(wheel, key)
        setattr(wheel, key, value)
    return wheel


def dist(**changes: Any) -> dict[str, Any]:
    return {**copy.deepcopy(DIST), **changes}


def pkg_info(info: dict[str, Any]) -> str:
    return (
        "Metadata-Version: 2.4\n"
        f"Name: {info['distribution']}\n"
        f"Version: {info['version']}\n"
        "Summary: Selects ROCm packages\n"
        "License-Expression: MIT\n"
        "License-File: LICENSE\n"
        "Author: Somebody\n with a second line\n"
        "Requires-Python: >=3.10\n"
        f"{requirements(info)}"
        "\n"
        "Long text: with a colon.\n"
    )


def requirements(info: dict[str, Any]) -> str:
    """Return the metadata fields of requirements and extras."""
    lines = [f"Requires-Dist: {one}" for one in info["requires"]]
    for extra, each in sorted(info["extras"].items()):
        lines.append(f"Provides-Extra: {extra}")
        for one in each:
            requirement, _, marker = one.partition(";")
            also = f"({marker.strip()}) and " if marker else ""
            lines.append(f'Requires-Dist: {requirement}; {also}extra == "{extra}"')
    return "".join(f"{line}\n" for line in lines)


def sdist_tree(directory: Path, info: dict[str, Any] | None = None) -> Path:
    """Write the unpacked sdist into `directory` and return its top directory."""
    info = info or DIST
    top = directory / f"{info['distribution']}-{info['version']}"
    shutil.copytree(META, top, ignore=shutil.ignore_patterns("__pycache__"))
    (top / "PKG-INFO").write_text(pkg_info(info))
    (top / "entry_points.txt").write_text("[console_scripts]\nrocm-sdk = rocm_sdk.__main__:main\n")
    (top / "LICENSE").write_text("MIT\n")
    complete(top / "src" / "rocm_sdk", info)
    return top


def complete(module: Path, info: dict[str, Any]) -> None:
    """Add the generated files and the common modules."""
    for source in COMMON.glob("*.*"):
        shutil.copy(source, module)
    (module / "_dist_info.py").write_bytes(literal(info))


def sdist(directory: Path, info: dict[str, Any] | None = None) -> Path:
    """Write the sdist and return its path."""
    with tempfile.TemporaryDirectory() as scratch:
        top = sdist_tree(Path(scratch), info)
        path = directory / f"{top.name}.tar.gz"
        with (
            gzip.GzipFile(path, "wb", mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w") as tar,
        ):
            tar.add(top, top.name)
        return path


def newer_wheels(directory: Path, version: str) -> list[str]:
    """Write core, libraries, devel, one device package and `rocm` in another version."""
    text = repr(DIST).replace(VERSION, version)
    sdist(directory, ast.literal_eval(text))
    wheels = [core(), libraries(), devel(), device("gfx942")]
    for wheel in wheels:
        wheel.version = version
        wheel.requires = [one.replace(VERSION, version) for one in wheel.requires]
        wheel.write(directory)
    return ["rocm", *(wheel.distribution for wheel in wheels)]


def environment(**variables: str) -> dict[str, str]:
    """Return this process's environment without a GPU and without the runtime's variables."""
    hidden = ("ROCM_", "PYTHON", "PIP_", "UV_", "VIRTUAL_ENV", "LD_")
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(hidden)}
    return {**inherited, "ROCM_SDK_KFD_NODES": NO_GPU, **variables}


class Layout:
    """Site-packages directory with wheels that are unpacked without an installer."""

    def __init__(
        self,
        test: unittest.TestCase,
        *wheels: Wheel,
        info: dict[str, Any] | None = None,
        name: str = "site",
    ) -> None:
        scratch = tempfile.TemporaryDirectory()
        test.addCleanup(scratch.cleanup)
        self.top = Path(scratch.name)
        self.top.chmod(0o755)
        self.site = self.top / name
        self.site.mkdir()
        self._install_meta(info or DIST)
        for wheel in wheels:
            self.install(wheel)

    def _install_meta(self, info: dict[str, Any]) -> None:
        source = META / "src" / "rocm_sdk"
        shutil.copytree(
            source, self.site / "rocm_sdk", ignore=shutil.ignore_patterns("__pycache__")
        )
        complete(self.site / "rocm_sdk", info)

    def install(self, wheel: Wheel) -> None:
        with zipfile.ZipFile(wheel.write(self.top)) as archive:
            for member in archive.infolist():
                path = Path(archive.extract(member, self.site))
                path.chmod(member.external_attr >> 16 & 0o777 or 0o644)

    def add_metadata(self, distribution: str, version: str) -> None:
        """Add a metadata directory, because `Layout` has none of the selector."""
        directory = self.site / f"{distribution.replace('-', '_')}-{version}.dist-info"
        directory.mkdir()
        text = f"Metadata-Version: 2.4\nName: {distribution}\nVersion: {version}\n"
        (directory / "METADATA").write_text(text)

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run Python with these arguments and warnings as errors."""
        return subprocess.run(
            self.command(*arguments),
            env=self.environment(**variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-W", "error", *arguments]

    def environment(self, **variables: str) -> dict[str, str]:
        base = {"PYTHONPATH": str(self.site), "PYTHONDONTWRITEBYTECODE": "1"}
        return environment(**{**base, **variables})

    def code(self, code: str, **variables: str) -> str:
        """Run code that must succeed, and return its output."""
        result = self.run("-c", code, **variables)
        if result.returncode:
            raise AssertionError(result.stderr)
        return result.stdout.strip()

    def error(self, code: str, **variables: str) -> str:
        """Run code that must fail, and return the last line of the traceback."""
        result = self.run("-c", code, **variables)
        if not result.returncode:
            raise AssertionError(f"no error: {result.stdout}")
        return result.stderr.strip().splitlines()[-1]

    def sdk(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run `rocm-sdk`."""
        return self.run("-m", "rocm_sdk", *arguments, **variables)

    def record(self, distribution: str, version: str = VERSION) -> list[str]:
        name = f"{distribution.replace('-', '_')}-{version}.dist-info"
        with open(self.site / name / "RECORD", encoding="utf-8", newline="") as file:
            return [row[0] for row in csv.reader(file)]

    def check_hashes(self, distribution: str) -> None:
        """Compare the hash and size in each row of a RECORD with the file."""
        stem = f"{distribution.replace('-', '_')}-{VERSION}.dist-info"
        with open(self.site / stem / "RECORD", encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        for path, digest, size in rows:
            full = self.site / path
            if full.is_symlink() or path == f"{stem}/RECORD":
                assert (digest, size) == ("", ""), path
            else:
                data = full.read_bytes()
                assert (digest, size) == (f"sha256={sha256(data)}", str(len(data))), path

    def files(self, directory: str = "") -> set[str]:
        """Return files and links of a directory in site-packages, relative to site-packages."""
        paths = set()
        for parent, directories, names in os.walk(self.site / directory):
            links = [name for name in directories if Path(parent, name).is_symlink()]
            paths |= {Path(parent, n).relative_to(self.site).as_posix() for n in [*names, *links]}
        return paths


def kfd_nodes(directory: Path, *versions: int) -> str:
    """Write a directory like the kernel's with these `gfx_target_version`s."""
    for number, version in enumerate(versions):
        node = directory / "nodes" / str(number)
        node.mkdir(parents=True)
        (node / "properties").write_text(
            f"cpu_cores_count 0\nsimd_count 304\ngfx_target_version {version}\nvendor_id 4098\n"
        )
    return str(directory / "nodes")
