# SPDX-License-Identifier: MIT
"""Changes of an sdist below `tarfile`: headers by their bytes, pax times, long names, and pyproject.toml."""

import tarfile

from sdist import BACKEND, PROJECT, TOP, each

MODULE = f"{TOP}/src/demo/__init__.py"


def checked(header):
    """Return a header with its checksum."""
    header = bytearray(header)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


def padded(data):
    """Return data filled up to a block."""
    return data + bytes(-len(data) % 512)


def block(name, kind, data, magic=b"ustar\x0000"):
    """Return a header with its content."""
    header = name.ljust(100, b"\0") + b"0000644\0" + b"0000000\0" * 2 + b"%011o\0" % len(data) + b"00000000000\0" + b" " * 8 + kind
    header = (header + bytes(100) + magic).ljust(512, b"\0")
    return checked(header) + padded(data)


def record(key, value):
    """Return a pax record, which begins with its length."""
    rest = b" " + key + b"=" + value + b"\n"
    length = len(rest) + 1
    while len(str(length)) + len(rest) != length:
        length = len(str(length)) + len(rest)
    return str(length).encode() + rest


def place_of(content, name):
    """Return the place of a member's own header; the end, if another change hides it."""
    at = content.find(name.encode().ljust(100, b"\0"))
    return len(content) if at < 0 or at % 512 else at


def patch(sdist, edits, name=MODULE):
    """Write bytes into the header of a member."""
    def change(content):
        at = place_of(content, name)
        if at == len(content):
            return content
        header = bytearray(content[at:at + 512])
        for start, data in edits.items():
            header[start:start + len(data)] = data
        return content[:at] + checked(header) + content[at + 512:]
    sdist.tar_changes.append(change)


def insert(sdist, data, name=MODULE):
    """Insert headers before a member."""
    def change(content):
        at = place_of(content, name)
        return content[:at] + data + content[at:]
    sdist.tar_changes.append(change)


NUMBERS = {
    "mode negative": {100: b"\xff" * 8}, "uid negative": {108: b"\xff" * 8}, "gid negative": {116: b"\xff" * 8}, "size negative": {124: b"\xff" * 12}, "time negative": {136: b"\xff" * 12}, "uid binary": {108: b"\x80" + bytes(6) + b"\1"}, "time binary": {136: b"\x80" + bytes(7) + b"\1\0\0\0"}, "time far": {136: b"\x80" + b"\x7f" * 11}, "uid far": {108: b"\x80" + b"\xff" * 7}, "mode far": {100: b"\x80" + b"\xff" * 7}, "size binary": {124: b"\x80" + bytes(10) + b"\6"},
    "time empty": {136: bytes(12)}, "mode empty": {100: bytes(8)}, "uid empty": {108: bytes(8)}, "size empty": {124: bytes(12)}, "time blank": {136: b" " * 12}, "time text": {136: b"x" * 12}, "uid text": {108: b"abc\0"}, "time seven": {136: b"77777777777\0"}, "time full": {136: b"777777777777"}, "device text": {329: b"x" * 8}, "device negative": {329: b"\xff" * 8}, "device blank": {329: b" " * 8}, "mode full": {100: b"77777777"}, "mode odd bits": {100: b"0177644\0"}, "uid full": {108: b"77777777"}, "time after blank": {136: b" 1234567 \0  "}, "size plus": {124: b"+0000000006\0"},
}
HEADERS = {
    "magic empty": {257: bytes(8)}, "magic wrong": {257: b"xstar\x0000"}, "magic of GNU": {257: b"ustar  \0"}, "magic mixed": {257: b"ustar\0 \0"}, "magic version": {257: b"ustar\x0099"}, "magic blanks": {257: b"ustar   "}, "magic capitals": {257: b"USTAR\x0000"}, "magic without version": {257: b"ustar\0\0\0"}, "magic cut": {257: b"usta\0\0\0\0"}, "magic of star": {508: b"tar\0"},
    "target": {157: b"../evil"}, "target inside": {157: b"PKG-INFO"}, "target absolute": {157: b"/etc/passwd"}, "target not UTF-8": {157: b"\xff"}, "prefix": {345: b"sub"}, "prefix up": {345: b".."}, "prefix slash": {345: b"/"}, "prefix not UTF-8": {345: b"\xff"}, "owner not UTF-8": {265: b"\xff\xfe"}, "owner long": {265: b"o" * 32}, "group": {297: b"g" * 32}, "behind": {500: b"x" * 12}, "behind the name": {40: b"x"}, "device of file": {329: b"0000001\0"},
}


@each("number", NUMBERS)
def number(sdist, dice, edits):
    patch(sdist, edits)


@each("header", HEADERS)
def header(sdist, dice, edits):
    patch(sdist, edits)


@each("header everywhere", {name: data for name, data in (("magic empty", bytes(8)), ("magic wrong", b"xstar\x0000"), ("magic of GNU", b"ustar  \0"), ("magic mixed", b"ustar\0 \0"), ("magic version", b"ustar\x0099"))})
def header_everywhere(sdist, dice, magic):
    def change(content):
        out = bytearray(content)
        for at in range(0, len(content) - 511, 512):
            if content[at + 257:at + 262] == b"ustar":
                out[at:at + 512] = checked(bytes(out[at:at + 257]) + magic + bytes(out[at + 265:at + 512]))
        return bytes(out)
    sdist.tar_changes.append(change)


TIMES = ("1e400", "nan", "inf", "-inf", "99999999999999999999", "1e3", "-0", "1.", ".5", "+1", " 1", "1 ", "1_0", "0x1", "253402300799", "253402300800", "9223372036854775807", "9223372036854775808", "18446744073709551615", "1.99999999999999999999", "1,5", "\u0661", "-1.5", "", "0", "67768036191676799", "1" * 400)


@each("pax mtime", {text or "empty": text for text in TIMES})
def pax_time(sdist, dice, text):
    insert(sdist, block(b"pax", b"x", record(b"mtime", text.encode())))


@each("pax owner", {f"{key} {value}": (key, value) for key in ("uid", "gid") for value in ("-1", "abc", "1.5", "1e3", "4294967295", "4294967296", "2097152", "18446744073709551616", "+1", " 1")})
def pax_owner(sdist, dice, words):
    insert(sdist, block(b"pax", b"x", record(*(word.encode() for word in words))))


@each("pax of one member", {
    "atime 1e400": (b"atime", b"1e400"), "ctime far": (b"ctime", b"99999999999999999999"), "mode": (b"mode", b"0777"), "uname bytes": (b"uname", b"\xff"), "gname": (b"gname", b"g"), "path bytes": (b"path", f"{TOP}/".encode() + b"\xff"), "path empty": (b"path", b""), "path nul": (b"path", f"{TOP}/a\0b".encode()), "path slash": (b"path", f"{TOP}/a/".encode()), "path newline": (b"path", f"{TOP}/a\nb".encode()), "linkpath": (b"linkpath", b"PKG-INFO"), "comment bytes": (b"comment", b"\xff"), "charset": (b"hdrcharset", b"ISO-IR 10646 2000 UTF-8"), "charset other": (b"hdrcharset", b"x"), "size same": (b"size", b"6"), "size zeros": (b"size", b"06"), "key unicode": ("k\u00e9y".encode(), b"x"), "SCHILY.nlink": (b"SCHILY.nlink", b"2"), "SCHILY.realsize": (b"SCHILY.realsize", b"100"), "GNU.sparse.realsize": (b"GNU.sparse.realsize", b"6"), "GNU.sparse.size": (b"GNU.sparse.size", b"6"), "SUN.devmajor": (b"SUN.devmajor", b"1"),
})
def pax_one(sdist, dice, words):
    insert(sdist, block(b"pax", b"x", record(*words)))


@each("global pax record", {
    "mtime 1e400": (b"mtime", b"1e400"), "mtime nan": (b"mtime", b"nan"), "mtime far": (b"mtime", b"99999999999999999999"), "mtime negative": (b"mtime", b"-1"), "mtime text": (b"mtime", b"abc"), "mtime fraction": (b"mtime", b"1.5"), "uid -1": (b"uid", b"-1"), "uid abc": (b"uid", b"abc"), "uid": (b"uid", b"1"), "gid abc": (b"gid", b"abc"), "uname": (b"uname", b"x"), "uname bytes": (b"uname", b"\xff"), "linkpath": (b"linkpath", b"x"), "atime": (b"atime", b"x"), "vendor": (b"VENDOR.x", b"y"), "schily": (b"SCHILY.x", b"y"), "comment": (b"comment", b"x"), "comment bytes": (b"comment", b"\xff"), "sparse": (b"GNU.sparse.realsize", b"1"), "charset": (b"charset", b"x"),
})
def global_one(sdist, dice, words):
    sdist.tar_changes.append(lambda content: block(b"pax_global_header", b"g", record(*words)) + content)


@each("pax form", {
    "twice": record(b"comment", b"a") * 2, "no newline": record(b"comment", b"a")[:-1], "blank line": record(b"comment", b"a") + b"\n", "wrong length": b"99 comment=a\n", "zero length": b"0 comment=a\n", "no equals": b"13 comment a\n", "no key": b"5 =a\n", "nul behind": record(b"comment", b"a") + bytes(3), "two headers": None, "plus": b"+13 comment=a\n",
})
def pax_form(sdist, dice, data):
    text = record(b"comment", b"a")
    insert(sdist, block(b"pax", b"x", text) * 2 if data is None else block(b"pax", b"x", data))


@each("long name", {
    "in a pax archive": (b"L", MODULE.encode() + b"\0"), "without an end": (b"L", MODULE.encode()), "other name": (b"L", f"{TOP}/other".encode() + b"\0"), "empty": (b"L", b"\0"), "of a link": (b"K", b"PKG-INFO\0"), "up": (b"L", b"../evil\0"), "not UTF-8": (b"L", f"{TOP}/".encode() + b"\xff\0"), "behind nul": (b"L", MODULE.encode() + b"\0evil"),
})
def long_name(sdist, dice, words):
    insert(sdist, block(b"././@LongLink", *words, magic=b"ustar  \0"))


@each("long name twice", {"L and L": b"LL", "L and K": b"LK", "L and x": b"Lx", "x and L": b"xL"})
def long_name_twice(sdist, dice, kinds):
    data = b""
    for kind in kinds.decode():
        data += block(b"pax", b"x", record(b"comment", b"a")) if kind == "x" else block(b"././@LongLink", kind.encode(), MODULE.encode() + b"\0", b"ustar  \0")
    insert(sdist, data)


@each("hard link to", {"symlink": "l", "symlink outside": "o", "hard link": "h0", "directory": "d", "file": "PKG-INFO", "dotted": "./PKG-INFO", "with slash": "PKG-INFO/"})
def hard_link_to(sdist, dice, name):
    sdist.add(f"{TOP}/l", kind=tarfile.SYMTYPE, target="PKG-INFO", mode=0o777)
    sdist.add(f"{TOP}/h0", kind=tarfile.LNKTYPE, target=f"{TOP}/PKG-INFO")
    sdist.add(f"{TOP}/d", kind=tarfile.DIRTYPE, mode=0o755)
    sdist.add(f"{TOP}/h", kind=tarfile.LNKTYPE, target=f"{TOP}/{name}")


@each("content of", {"symlink": (tarfile.SYMTYPE, "PKG-INFO"), "hard link": (tarfile.LNKTYPE, f"{TOP}/PKG-INFO"), "directory": (tarfile.DIRTYPE, "")})
def content_of(sdist, dice, words):
    sdist.add(f"{TOP}/k", kind=words[0], target=words[1], mode=0o755)
    sdist.add(f"{TOP}/z")
    patch(sdist, {124: b"00000000004\0"}, f"{TOP}/k")
    def change(content):
        at = place_of(content, f"{TOP}/k") + 512
        return content[:at] + padded(b"abcd") + content[at:]
    sdist.tar_changes.append(change)


TABLE = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
PROJECTS = {
    "no TOML": "this is no TOML", "no TOML behind": PROJECT + "x =\n", "not UTF-8": PROJECT.encode() + b"# \xff\n", "mark": "\ufeff" + PROJECT, "empty": "", "only a table": TABLE, "nul": PROJECT + "# \0\n", "key twice": PROJECT + 'name = "x"\n', "table twice": PROJECT + "[build-system]\n", "crlf": PROJECT.replace("\n", "\r\n"), "cr": PROJECT.replace("\n", "\r"), "utf-16": PROJECT.encode("utf-16"), "control character": PROJECT + "# \x01\n", "TOML 1.1": PROJECT + "x = { a = 1,\n b = 2 }\n", "TOML 1.1 escape": PROJECT + 'description = "\\e"\n', "bad escape": PROJECT + 'description = "\\q"\n', "big number": PROJECT + "[tool.x]\ny = 99999999999999999999999\n", "bad date": PROJECT + "[tool.x]\ny = 2020-13-01\n", "deep": PROJECT + "[tool.x]\ny = " + "[" * 60 + "]" * 60 + "\n",
    "requires a text": PROJECT.replace("requires = []", 'requires = "x"'), "requires numbers": PROJECT.replace("requires = []", "requires = [1]"), "requires absent": PROJECT.replace("requires = []\n", ""), "requires malformed": PROJECT.replace("requires = []", 'requires = ["a=1"]'), "requires a table": PROJECT.replace("requires = []", "requires = {}"), "requires empty text": PROJECT.replace("requires = []", 'requires = [""]'), "requires marker": PROJECT.replace("requires = []", "requires = [\"a ; python_version < '2'\"]"), "requires bad marker": PROJECT.replace("requires = []", "requires = [\"a ; bogus < '2'\"]"), "requires url": PROJECT.replace("requires = []", "requires = [\"a @ https://example.invalid/a.whl ; python_version < '2'\"]"), "requires path": PROJECT.replace("requires = []", 'requires = ["./a"]'), "requires comma": PROJECT.replace("requires = []", "requires = [\"a>=1, ; python_version < '2'\"]"), "requires extras marker": PROJECT.replace("requires = []", "requires = [\"a ; 'x' in extras\"]"),
    "backend-path up": PROJECT.replace('["."]', '[".."]'), "backend-path up inside": PROJECT.replace('["."]', '["src/.."]'), "backend-path absolute": PROJECT.replace('["."]', '["/tmp"]'), "backend-path a text": PROJECT.replace('["."]', '"."'), "backend-path numbers": PROJECT.replace('["."]', "[1]"), "backend-path absent": PROJECT.replace('backend-path = ["."]\n', ""), "backend-path empty": PROJECT.replace('["."]', "[]"), "backend-path gone": PROJECT.replace('["."]', '["gone", "."]'), "backend-path of a file": PROJECT.replace('["."]', '["PKG-INFO", "."]'), "backend-path two": PROJECT.replace('["."]', '["src", "."]'), "backend-path empty text": PROJECT.replace('["."]', '[""]'), "backend-path backslash": PROJECT.replace('["."]', '[".\\\\"]'), "backend-path other": PROJECT.replace('["."]', '["src"]'),
    "build-backend a number": PROJECT.replace('"backend"', "1"), "build-backend absent": PROJECT.replace('build-backend = "backend"\n', ""), "build-backend object": PROJECT.replace('"backend"', '"backend:Backend"'), "build-backend empty": PROJECT.replace('"backend"', '""'), "build-backend words": PROJECT.replace('"backend"', '"a b"'), "build-backend gone": PROJECT.replace('"backend"', '"gone"'), "build-system a text": PROJECT.replace(TABLE, 'build-system = "x"\n'), "build-system an array": PROJECT.replace("[build-system]", "[[build-system]]"), "build-system absent": PROJECT.replace(TABLE, ""), "unknown key": PROJECT.replace("requires = []", "requires = []\nunknown = 1"), "key in capitals": PROJECT.replace("requires = []", "Requires = []"),
    "no name": PROJECT.replace('name = "demo"\n', ""), "no version": PROJECT.replace('version = "1.0"\n', ""), "other name": PROJECT.replace('"demo"', '"other"'), "other version": PROJECT.replace('"1.0"', '"2.0"'), "version a number": PROJECT.replace('"1.0"', "1.0"), "version malformed": PROJECT.replace('"1.0"', '"one"'), "name a number": PROJECT.replace('"demo"', "1"), "name malformed": PROJECT.replace('"demo"', '"-"'), "name in capitals": PROJECT.replace('"demo"', '"DEMO"'), "version dynamic": PROJECT.replace('version = "1.0"', 'dynamic = ["version"]'), "name dynamic": PROJECT + 'dynamic = ["name"]\n', "version twice": PROJECT + 'dynamic = ["version"]\n', "project a text": TABLE.replace("[build", 'project = "x"\n[build'), "dynamic a text": PROJECT + 'dynamic = "version"\n', "dynamic bogus": PROJECT + 'dynamic = ["bogus"]\n',
    "dependencies a text": PROJECT + 'dependencies = "x"\n', "dependencies malformed": PROJECT + 'dependencies = ["a=1"]\n', "dependencies bad marker": PROJECT + "dependencies = [\"a; bogus == '1'\"]\n", "dependencies numbers": PROJECT + "dependencies = [1]\n", "requires-python malformed": PROJECT + 'requires-python = "three"\n', "requires-python star": PROJECT + 'requires-python = ">=3.*"\n', "requires-python old": PROJECT + 'requires-python = "<3"\n', "requires-python a number": PROJECT + "requires-python = 3\n", "optional a list": PROJECT + 'optional-dependencies = ["x"]\n', "optional malformed": PROJECT + 'optional-dependencies.x = ["a=1"]\n', "optional name": PROJECT + "optional-dependencies.-x- = []\n", "scripts a text": PROJECT + 'scripts = "x"\n', "script malformed": PROJECT + '[project.scripts]\nx = "not an entry"\n', "script a number": PROJECT + "[project.scripts]\nx = 1\n", "script without function": PROJECT + '[project.scripts]\nx = "demo"\n', "script of python": PROJECT + '[project.scripts]\npython = "demo:x"\n', "licence a table": PROJECT + 'license = { file = "GONE" }\n', "licence a text": PROJECT + 'license = "no licence"\n', "readme gone": PROJECT + 'readme = "GONE"\n', "unknown field": PROJECT + "unknown = 1\n", "entry points of scripts": PROJECT + '[project.entry-points.console_scripts]\nx = "demo:x"\n', "authors a text": PROJECT + 'authors = "x"\n', "urls a list": PROJECT + "urls = []\n", "description of lines": PROJECT + 'description = "a\\nb"\n', "classifiers a text": PROJECT + 'classifiers = "x"\n',
    "tool.uv": PROJECT + "[tool.uv]\nx = 1\n", "tool.uv text": PROJECT + '[tool]\nuv = "x"\n', "tool.uv sources": PROJECT + "[tool.uv.sources]\nx = 1\n", "tool.uv workspace": PROJECT + '[tool.uv.workspace]\nmembers = ["x"]\n', "tool.uv required": PROJECT + '[tool.uv]\nrequired-version = ">=99"\n', "tool a text": 'tool = "x"\n' + PROJECT, "tool.uv index": PROJECT + "[[tool.uv.index]]\nurl = 1\n", "dependency groups": PROJECT + '[dependency-groups]\nx = ["a=1"]\n', "dependency groups a text": 'dependency-groups = "x"\n' + PROJECT, "tool.setuptools": PROJECT + "[tool.setuptools]\nx = 1\n",
}


@each("pyproject", PROJECTS)
def pyproject(sdist, dice, text):
    sdist.member("pyproject.toml").data = text if isinstance(text, bytes) else text.encode()


@each("pyproject member", {"directory": tarfile.DIRTYPE, "symlink": tarfile.SYMTYPE, "hard link": tarfile.LNKTYPE})
def pyproject_member(sdist, dice, kind):
    sdist.add(f"{TOP}/real.toml", PROJECT.encode())
    sdist.members = [member for member in sdist.members if not member.name.endswith("pyproject.toml")]
    target = {tarfile.SYMTYPE: "real.toml", tarfile.LNKTYPE: f"{TOP}/real.toml"}.get(kind, "")
    sdist.add(f"{TOP}/pyproject.toml", kind=kind, target=target, mode=0o755)


@each("backend member", {"symlink": tarfile.SYMTYPE, "hard link": tarfile.LNKTYPE})
def backend_member(sdist, dice, kind):
    sdist.members = [member for member in sdist.members if not member.name.endswith("backend.py")]
    sdist.add(f"{TOP}/real.py", BACKEND.encode())
    sdist.add(f"{TOP}/backend.py", kind=kind, target="real.py" if kind == tarfile.SYMTYPE else f"{TOP}/real.py", mode=0o777)


@each("PKG-INFO line", {
    "requirement folded": "Requires-Dist: other\n >=1; python_version < '2'", "requirement no-break": "Requires-Dist: other\u00a0>=1; python_version < '2'", "extras marker": "Requires-Dist: other; 'x' in extras", "content type": "Description-Content-Type: text/evil", "dynamic name": "Dynamic: Name", "import name": "Import-Name: class", "own licence": "License-Expression: LicenseRef-", "unknown": "Unknown-Field: x", "Python": "Requires-Python: >=3.*", "licence file": "License-File: PKG-INFO", "licence file gone": "License-File: GONE", "licence file up": "License-File: ../PKG-INFO", "extra": "Provides-Extra: -x-", "requirement": "Requires-Dist: a=1",
})
def info_line(sdist, dice, line):
    member = sdist.member("PKG-INFO")
    member.data = member.data.replace(b"Version: 1.0\n", f"Version: 1.0\n{line}\n".encode(), 1).replace(b"2.2", b"2.5", 1)


@each("gzip header", {"name": b"x.tar\0", "comment": None, "extra": "extra", "checksum": "checksum", "text": "text", "reserved": "reserved", "method": "method", "time": "time"})
def gzip_header(sdist, dice, kind):
    def change(packed):
        fixed, rest = bytearray(packed[:10]), packed[10:]
        if isinstance(kind, bytes):
            fixed[3] |= 8
            return bytes(fixed) + kind + rest
        if kind is None:
            fixed[3] |= 16
            return bytes(fixed) + b"note\0" + rest
        if kind == "extra":
            fixed[3] |= 4
            return bytes(fixed) + b"\2\0ab" + rest
        if kind == "checksum":
            fixed[3] |= 2
            return bytes(fixed) + b"\0\0" + rest
        place, value = {"text": (3, 1), "reserved": (3, 0x80), "method": (2, 9), "time": (4, 255)}[kind]
        fixed[place] = value
        return bytes(fixed) + rest
    sdist.gzip_changes.append(change)
