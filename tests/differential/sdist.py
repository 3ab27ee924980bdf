# SPDX-License-Identifier: MIT
"""An sdist that every tool accepts, and changes of it. Its backend copies a finished wheel, so that no build tool is
needed."""

import gzip
import io
import random
import tarfile
import zlib
from dataclasses import dataclass, field

from registry import changed, register_each
from wheel import Wheel

TOP = "demo-1.0"
INFO = "Metadata-Version: 2.2\nName: demo\nVersion: 1.0\nRequires-Python: >=3.8\n"
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n[project]\nname = "demo"\nversion = "1.0"\n'
BACKEND = """import pathlib, shutil
NAME = "demo-1.0-py3-none-any.whl"
def build_wheel(directory, settings=None, metadata=None):
    shutil.copy(pathlib.Path(__file__).parent / "built.bin", pathlib.Path(directory, NAME))
    return NAME
def build_sdist(directory, settings=None):
    raise NotImplementedError
"""
# 1980-01-01, the earliest time of a zip member, because a backend can copy times into a wheel.
TIME = 315532800
CHANGES = {}


@dataclass
class Member:
    """A member of the tar, as `tarfile` describes it."""

    name: str
    data: bytes = b""
    kind: bytes = tarfile.REGTYPE
    target: str = ""
    mode: int = 0o644
    records: dict = field(default_factory=dict)
    time: int = TIME


@dataclass
class Sdist:
    """Members, then the tar, then the gzip; `tar_changes` and `gzip_changes` are functions that change the bytes."""

    file: str = f"{TOP}.tar.gz"
    members: list = field(default_factory=list)
    format: int = tarfile.PAX_FORMAT
    records: dict = field(default_factory=dict)
    tar_changes: list = field(default_factory=list)
    gzip_changes: list = field(default_factory=list)

    @classmethod
    def plain(cls):
        """Return the sdist without a change."""
        files = {"PKG-INFO": INFO.encode(), "pyproject.toml": PROJECT.encode(), "backend.py": BACKEND.encode(), "built.bin": Wheel.plain().to_bytes()}
        members = [Member(f"{TOP}/{name}", data) for name, data in files.items()]
        return cls(members=[*members, Member(f"{TOP}/src/demo/__init__.py", b"x = 1\n")])

    def member(self, suffix):
        """Return the member with this suffix."""
        return next(member for member in self.members if member.name.endswith(suffix))

    def add(self, name, data=b"x\n", **more):
        """Add a member at the end."""
        self.members.append(Member(name, data, **more))

    def to_bytes(self):
        """Return the bytes of the sdist."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=self.format, pax_headers=self.records) as archive:
            for member in self.members:
                info = tarfile.TarInfo(member.name)
                info.type, info.mode, info.linkname, info.mtime = member.kind, member.mode, member.target, member.time
                info.pax_headers, data = dict(member.records), member.data if member.kind == tarfile.REGTYPE else b""
                info.size = len(data)
                try:
                    archive.addfile(info, io.BytesIO(data))
                except ValueError:
                    # ustar has no room for a long name: this member alone is written in the other format.
                    archive.format = tarfile.PAX_FORMAT
                    archive.addfile(info, io.BytesIO(data))
                    archive.format = self.format
        packed = gzip.compress(changed(out.getvalue(), self.tar_changes), mtime=0)
        return changed(packed, self.gzip_changes)


def each(title, values):
    """Return a decorator that registers a change of an sdist for each value."""
    return register_each(CHANGES, title, values)


@each("name", {
    "parent": f"{TOP}/../up", "far parent": "../up", "parent and back": f"{TOP}/../{TOP}/x", "absolute": "/tmp/demo-absolute", "dot": f"./{TOP}/x", "dot inside": f"{TOP}/./x", "two slashes": f"{TOP}//x", "other top": "other/x", "top file": "x",
    "backslash": f"{TOP}/a\\b", "colon": f"{TOP}/a:b", "long part": f"{TOP}/" + "n" * 256, "long": f"{TOP}/" + "n/" * 90 + "x", "newline": f"{TOP}/a\nb", "bell": f"{TOP}/\x07", "unicode": f"{TOP}/\u00fc", "case": f"{TOP}/SRC/x", "blank": f"{TOP}/ x ", "surrogate": f"{TOP}/\udcfc",
    "twice": f"{TOP}/pyproject.toml", "below file": f"{TOP}/PKG-INFO/x", "metadata below": f"{TOP}/src/PKG-INFO", "invisible": f"{TOP}/\u200b",
    "trailing blank": f"{TOP}/x ", "leading blank": f"{TOP}/ x", "trailing dot": f"{TOP}/x.", "device": f"{TOP}/con", "device with ending": f"{TOP}/nul.txt", "star": f"{TOP}/*", "question": f"{TOP}/?", "quote": f'{TOP}/"', "pipe": f"{TOP}/|", "angle": f"{TOP}/<", "tilde": f"{TOP}/~", "dash": f"{TOP}/-x",
})
def add_name(sdist, dice, name):
    sdist.add(name)


@each("symlink", {
    "inside": (f"{TOP}/l", "PKG-INFO"), "outside": (f"{TOP}/l", "../../etc/passwd"), "absolute": (f"{TOP}/l", "/etc/passwd"), "self": (f"{TOP}/l", "l"), "missing": (f"{TOP}/l", "gone"), "directory": (f"{TOP}/l", "src"), "parent": (f"{TOP}/src/l", ".."), "up": (f"{TOP}/l", ".."), "top": (f"{TOP}/l", "."),
    "through": (f"{TOP}/l", "src/../PKG-INFO"), "empty": (f"{TOP}/l", ""), "out and in": (f"{TOP}/l", f"../{TOP}/PKG-INFO"), "backslash": (f"{TOP}/l", "src\\demo"), "deep": (f"{TOP}/src/demo/l", "../../../x"),
})
def symlink(sdist, dice, words):
    sdist.add(words[0], kind=tarfile.SYMTYPE, target=words[1], mode=0o777)


@each("hard link", {"inside": f"{TOP}/PKG-INFO", "missing": f"{TOP}/gone", "outside": "../etc/passwd", "absolute": "/etc/passwd", "relative": "PKG-INFO", "self": f"{TOP}/h", "later": f"{TOP}/z", "directory": f"{TOP}/src"})
def hard_link(sdist, dice, target):
    sdist.add(f"{TOP}/h", kind=tarfile.LNKTYPE, target=target)
    sdist.add(f"{TOP}/z")


@each("chain", {
    "below link": (("a", "src", None), ("a/x", None, b"x")), "below outer link": (("a", "..", None), ("a/x", None, b"x")), "two links": (("d/e/a", "../..", None), ("d/e/a/b", "..", None)), "link over file": (("x", None, b"x"), ("x", "PKG-INFO", None)), "file over link": (("x", "PKG-INFO", None), ("x", None, b"x")),
    "link to link": (("a", "b", None), ("b", "..", None)), "into link": (("a", "src", None), ("b", "a/../..", None)),
})
def chain(sdist, dice, steps):
    for name, target, data in steps:
        if target is None:
            sdist.add(f"{TOP}/{name}", data)
        else:
            sdist.add(f"{TOP}/{name}", kind=tarfile.SYMTYPE, target=target, mode=0o777)


@each("kind", {"directory": tarfile.DIRTYPE, "fifo": tarfile.FIFOTYPE, "character device": tarfile.CHRTYPE, "block device": tarfile.BLKTYPE, "contiguous": tarfile.CONTTYPE, "unknown": b"9", "volume": b"V", "multi": b"M", "old file": tarfile.AREGTYPE})
def kind(sdist, dice, value):
    sdist.add(f"{TOP}/k", b"", kind=value, mode=0o755)


@each("mode", {"world": 0o666, "setuid": 0o4755, "sticky": 0o1755, "zero": 0, "executable": 0o755, "none for owner": 0o044})
def mode(sdist, dice, value):
    sdist.member("demo/__init__.py").mode = value


@each("pax", {
    "path": {"path": f"{TOP}/other"}, "outer path": {"path": "../evil"}, "size": {"size": "1"}, "negative size": {"size": "-1"}, "no size": {"size": "x"}, "comment": {"comment": "note"}, "time": {"mtime": "1.5"}, "no time": {"mtime": "x"}, "charset": {"hdrcharset": "BINARY"}, "unknown": {"VENDOR.x": "y"},
    "sparse name": {"GNU.sparse.name": f"{TOP}/../evil", "GNU.sparse.major": "1", "GNU.sparse.minor": "0"}, "link": {"linkpath": "../evil"}, "owner": {"uid": "12345678901234567890"}, "xattr": {"SCHILY.xattr.user.a": "b"}, "libarchive": {"LIBARCHIVE.creationtime": "1"}, "gnu": {"GNU.volume.label": "x"}, "star": {"SCHILY.dev": "1"}, "lower": {"vendor": "x"}, "rht": {"RHT.security.selinux": "x"}, "negative time": {"mtime": "-1"}, "access time": {"atime": "x"}, "owner name": {"uname": "x"}, "no owner": {"uid": "x"},
})
def pax(sdist, dice, records):
    sdist.member("demo/__init__.py").records = records


@each("global pax", {"comment": {"comment": "note"}, "path": {"path": f"{TOP}/all"}, "size": {"size": "3"}, "time": {"mtime": "1"}, "charset": {"hdrcharset": "BINARY"}})
def global_pax(sdist, dice, records):
    sdist.records = records


@each("format", {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT})
def set_format(sdist, dice, value):
    sdist.format = value


@each("PKG-INFO", {
    "other name": ("Name: demo", "Name: other"), "other version": ("Version: 1.0", "Version: 2.0"), "same version": ("Version: 1.0", "Version: 1"), "no name": ("Name: demo\n", ""), "junk": ("Name", "junk\nName"), "two names": ("Name", "Name: x\nName"), "old": ("2.2", "1.0"), "newer": ("2.2", "3.0"), "dynamic": ("Name", "Dynamic: Requires-Dist\nName"), "empty": (INFO, ""),
    "latin": ("Name", "Author: \udcfc\nName"), "no version": ("Version: 1.0\n", ""), "first line crlf": ("\n", "\r\n"), "licence": ("Name", "License-Expression: not a licence\nName"), "requirement": ("Name", "Requires-Dist: a=1\nName"),
})
def edit_pkg_info(sdist, dice, words):
    member, (old, new) = sdist.member("PKG-INFO"), (word.encode("utf-8", "surrogateescape") for word in words)
    assert old in member.data, old
    member.data = member.data.replace(old, new, 1)


@each("PKG-INFO lines", {"crlf": "\r\n", "cr": "\r"})
def line_ends(sdist, dice, line_end):
    member = sdist.member("PKG-INFO")
    member.data = member.data.replace(b"\n", line_end.encode())


@each("lost", {name: name for name in ("PKG-INFO", "pyproject.toml", "demo/__init__.py")})
def remove_member(sdist, dice, name):
    sdist.members = [member for member in sdist.members if not member.name.endswith(name)]


@each("file name", {name: name for name in ("demo-1.tar.gz", "demo-1.0.0.tar.gz", "Demo-1.0.tar.gz", "demo-2.0.tar.gz", "other-1.0.tar.gz", "demo-1.0.tgz", "demo-1.0.zip", "demo.tar.gz", "demo-1.0.tar.bz2")})
def file_name(sdist, dice, name):
    sdist.file = name


@each("top", {name: name for name in ("demo-1.0.0", "Demo-1.0", "other-1.0", ".", "demo-1.0/demo-1.0", "demo")})
def top(sdist, dice, name):
    for member in sdist.members:
        member.name = member.name.replace(TOP, name, 1)


@each("around tar", {
    "no end blocks": lambda content: content.rstrip(b"\0") + bytes(-len(content.rstrip(b"\0")) % 512), "one end block": lambda content: content.rstrip(b"\0") + bytes(-len(content.rstrip(b"\0")) % 512 + 512), "junk behind": lambda content: content + b"junk", "junk block": lambda content: content + b"j" * 512, "second tar": lambda content: content + content,
    "zeros before": lambda content: bytes(512) + content, "cut": lambda content: content[:1000], "empty": lambda content: b"", "only end blocks": lambda content: bytes(1024), "zeros behind": lambda content: content + bytes(10240),
})
def around_tar(sdist, dice, change):
    sdist.tar_changes.append(change)


def _unpacked(packed):
    """Return the tar; the bytes themselves if another change broke the gzip stream."""
    try:
        return gzip.decompress(packed)
    except (OSError, EOFError, zlib.error):
        return packed


@each("around gzip", {
    "junk behind": lambda packed: packed + b"junk", "zeros behind": lambda packed: packed + bytes(64), "second stream": lambda packed: packed + gzip.compress(b"", mtime=0), "before": lambda packed: b"x" + packed, "cut": lambda packed: packed[:-9], "no checksum": lambda packed: packed[:-8], "plain": _unpacked,
    "other checksum": lambda packed: packed[:-8] + bytes(4) + packed[-4:], "other length": lambda packed: packed[:-4] + bytes(4),
})
def around_gzip(sdist, dice, change):
    sdist.gzip_changes.append(change)


@each("random", {"bit of a header": 0, "bit of the tar": 1, "bit of the gzip": 2, "bit of a header with its checksum": 3})
def flip_bit(sdist, dice, where):
    # A new generator for each call, because a change of bytes has to be the same each time.
    seed = dice.random()

    def flip(content):
        if not content:
            return content
        dice, content = random.Random(seed), bytearray(content)
        starts = [at for at in range(0, len(content) - 511, 512) if content[at + 257:at + 262] == b"ustar"]
        in_header = where in (0, 3) and starts
        start = dice.choice(starts) if in_header else 0
        # The last 12 bytes of a header have no field.
        places = range(500) if in_header else range(len(content))
        if in_header and where == 3:
            # A change of the checksum would have no effect, because it is computed again.
            places = [*range(148), *range(156, 500)]
        content[start + dice.choice(places)] ^= 1 << dice.randrange(8)
        if in_header and where == 3:
            content[start + 148:start + 156] = b" " * 8
            content[start + 148:start + 156] = b"%06o\0 " % sum(content[start:start + 512])
        return bytes(content)
    (sdist.gzip_changes if where == 2 else sdist.tar_changes).append(flip)
