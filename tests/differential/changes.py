# SPDX-License-Identifier: MIT
"""Changes of a wheel, by title, as tools or attackers make them."""

import base64
import hashlib
import struct

import archive
from archive import Member, extra
from registry import register, register_each
from wheel import INFO

CHANGES = {}


def change(title):
    """Return a decorator that registers a change: a function of a wheel and of `dice`, its random numbers."""
    return register(CHANGES, title)


def each(title, values):
    """Return a decorator that registers a change of a wheel for each value."""
    return register_each(CHANGES, title, values)


# Text of the metadata directory.

@each("METADATA line", {
    "without colon": "no colon here", "empty name": ": value", "two names": "Name: demo", "another name": "Name: other",
    "two versions": "Version: 1.0", "another version": "Version: 2.0", "lower case": "name: demo",
    "licence expression": "License-Expression: MIT", "malformed licence": "License-Expression: not a licence",
    "licence in lower case": "License-Expression: mit or apache-2.0", "licence with": "License-Expression: GPL-2.0-only WITH Classpath-exception-2.0",
    "unknown licence": "License-Expression: Foo-1.0", "own licence": "License-Expression: LicenseRef-Mine AND MIT",
    "licence and classifier": "License-Expression: MIT\nClassifier: License :: OSI Approved :: MIT License",
    "classifier": "Classifier: Private :: Do Not Upload", "unknown classifier": "Classifier: No :: Such",
    "requirement": "Requires-Dist: other>=1; extra == 'x'\nProvides-Extra: x", "malformed requirement": "Requires-Dist: other=1",
    "old requirement": "Requires-Dist: other (>=1); python_version < '2'", "url requirement": "Requires-Dist: other @ https://example.invalid/o.whl ; python_version < '2'",
    "requirement without offer": "Requires-Dist: other; extra == 'y'", "trailing comma": "Requires-Dist: other>=1,; python_version < '2'",
    "star": "Requires-Dist: other>=1.*; python_version < '2'", "legacy version": "Requires-Dist: other==1.0-final-x; python_version < '2'",
    "malformed Python": "Requires-Python: three", "old Python": "Requires-Python: >=2.7,!=3.0.*,!=3.1.*", "caret Python": "Requires-Python: ^3.8",
    "malformed extra": "Provides-Extra: -x", "extra in capitals": "Provides-Extra: X.Y", "two extras": "Provides-Extra: x\nProvides-Extra: X",
    "url": "Project-URL: Home, https://example.invalid", "url without label": "Project-URL: https://example.invalid",
    "long summary": "Summary: " + "s" * 600, "folded": "Keywords: a,\n        b", "tab": "Author:\tA", "unicode": "Author: J\u00fcrgen",
    "dynamic": "Dynamic: Version", "unknown field": "X-Field: value", "space in name": "X Field: value", "no value": "Home-page:",
    "form feed": "Author: A\x0cVersion: 9", "next line": "Author: A\u0085Version: 9", "line separator": "Author: A\u2028Version: 9",
    "vertical tab": "Author: A\x0bVersion: 9", "carriage return": "Author: A\rVersion: 9", "unit separator": "Author: A\x1cVersion: 9",
    "import name": "Import-Name: demo", "content type": "Description-Content-Type: text/markdown; charset=UTF-8; variant=GFM",
})
def metadata_line(wheel, dice, line):
    wheel.edit("METADATA", "Summary: a demo\n", f"Summary: a demo\n{line}\n")


@each("METADATA", {
    "no name": ("Name: demo\n", ""), "no version": ("Version: 1.0\n", ""), "other version": ("Version: 1.0", "Version: 1.1"),
    "same version": ("Version: 1.0", "Version: 1.0.0"), "other name": ("Name: demo", "Name: domo"), "same name": ("Name: demo", "Name: DEMO"),
    "no metadata version": ("Metadata-Version: 2.1\n", ""), "metadata version 2.9": ("2.1", "2.9"), "metadata version 3.0": ("2.1", "3.0"),
    "metadata version 1.0": ("2.1", "1.0"), "metadata version x": ("2.1", "x"), "first line empty": ("Metadata", "\nMetadata"),
    "leading space": ("Metadata", " Metadata"), "byte order mark": ("Metadata", "\ufeffMetadata"), "first line crlf": ("\n", "\r\n"),
    "space before colon": ("Name: demo", "Name : demo"), "spaces after name": ("Name: demo", "Name: demo   "),
    "malformed version": ("Version: 1.0", "Version: one"), "local version": ("Version: 1.0", "Version: 1.0+local"),
    "first line is no field": ("Metadata-Version", "junk\nMetadata-Version"), "From line": ("Metadata", "From here\nMetadata"),
    "name in quotes": ("Name: demo", 'Name: "demo"'), "folded name": ("Name: demo", "Name:\n demo"),
})
def metadata_text(wheel, dice, words):
    wheel.edit("METADATA", *words)


@each("crlf", {name: name for name in ("METADATA", "/WHEEL", "entry_points.txt")})
def crlf(wheel, dice, name):
    wheel.edit(name, "\n", "\r\n", count=-1)


@each("METADATA bytes", {"nul": b"\0", "latin 1": b"Author: J\xfcrgen\n", "empty": None, "bell": b"\x07", "surrogate": b"\xed\xa0\x80"})
def metadata_bytes(wheel, dice, data):
    member = wheel.member("METADATA")
    head, _, tail = member.data.partition(b"\n\n")
    member.data = b"" if data is None else head + b"\n" + (data if data.startswith(b"A") else b"Author: " + data + b"\n") + b"\n" + tail


@each("WHEEL", {
    "no version": ("Wheel-Version: 1.0\n", ""), "version 1.9": ("Wheel-Version: 1.0", "Wheel-Version: 1.9"), "version 2.0": ("1.0", "2.0"),
    "version 1": ("1.0", "1"), "version x": ("1.0", "x"), "version 1.0.0": ("1.0", "1.0.0"),
    "two versions": ("Wheel-Version: 1.0\n", "Wheel-Version: 1.0\nWheel-Version: 1.0\n"),
    "two other versions": ("Wheel-Version: 1.0\n", "Wheel-Version: 1.0\nWheel-Version: 9.0\n"),
    "two purelibs": ("Root-Is-Purelib: true\n", "Root-Is-Purelib: true\nRoot-Is-Purelib: false\n"),
    "no purelib": ("Root-Is-Purelib: true\n", ""), "purelib capitalized": ("true", "True"), "purelib yes": ("true", "yes"), "platlib": ("true", "false"),
    "no tag": ("Tag: py3-none-any\n", ""), "other tag": ("py3-none-any", "py2-none-any"), "more tags": ("Tag:", "Tag: py2-none-any\nTag:"),
    "tag twice": ("Tag:", "Tag: py3-none-any\nTag:"), "no generator": ("Generator: demo\n", ""), "two generators": ("Generator", "Generator: x\nGenerator"),
    "build": ("Tag:", "Build: 1\nTag:"), "line without colon": ("Generator", "junk\nGenerator"), "first line crlf": ("\n", "\r\n"), "empty line": ("Generator", "\nGenerator"),
    "unicode": ("demo", "d\u00e9mo"), "compressed tag": ("py3-none-any", "py2.py3-none-any"), "leading space": ("Wheel", " Wheel"), "byte order mark": ("Wheel", "\ufeffWheel"),
})
def wheel_text(wheel, dice, words):
    wheel.edit("/WHEEL", *words)


@each("entry points", {
    "other module": ("demo:main", "absent:main"), "no object": ("demo:main", "demo"), "extra": ("demo:main", "demo:main [x]"), "no value": (" = demo:main", ""),
    "space in name": ("demo-run", "demo run"), "slash in name": ("demo-run", "sub/run"), "parent in name": ("demo-run", "../run"), "absolute name": ("demo-run", "/tmp/demo-absolute"),
    "code": ("demo:main", "demo:main);print(1"), "no section": ("[console_scripts]\n", ""), "two sections": ("[console", "[console_scripts]\n[console"),
    "name twice": ("demo-run", "demo-run = demo:main\ndemo-run"), "gui": ("console", "gui"), "comment": ("[console", "# x\n[console"), "inline comment": (":main", ":main # x"),
    "colon": (" = ", " : "), "broken section": ("scripts]", "scripts"), "continued": ("demo:main", "demo:\n main"), "first line crlf": ("\n", "\r\n"), "other group": ("console_scripts", "other.group"),
    "percent": ("demo:main", "demo:main%(x)s"), "quotes": ("demo:main", '"demo:main"'), "dots": ("demo:main", "demo:main.__call__"), "name in capitals": ("demo-run", "Demo-Run"),
    "unicode name": ("demo-run", "d\u00e9mo"), "wininst": ("demo-run", "demo_postinstall"), "empty name": ("demo-run", ""), "byte order mark": ("[console", "\ufeff[console"),
})
def entry_points(wheel, dice, words):
    wheel.edit("entry_points.txt", *words)


@each("RECORD", {
    "empty row": lambda text: text.replace("\n", "\n\n", 1), "row of spaces": lambda text: text.replace("\n", "\n   \n", 1), "two commas": lambda text: text + ",,\n",
    "crlf": lambda text: text.replace("\n", "\r\n"), "cr": lambda text: text.replace("\n", "\r"), "no last newline": lambda text: text[:-1], "empty": lambda text: "", "absent": lambda text: None,
    "two fields": lambda text: text + "x,y\n", "four fields": lambda text: text.replace(",,\n", ",,,\n"), "byte order mark": lambda text: "\ufeff" + text, "latin 1": lambda text: text.encode() + b"\xfc,,\n",
    "row twice": lambda text: text.split("\n")[0] + "\n" + text, "row without member": lambda text: text + "demo/gone.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n",
    "row outside": lambda text: text + "../../gone.py,,\n", "absolute row": lambda text: text + "/tmp/gone.py,,\n", "first row lost": lambda text: text.partition("\n")[2], "all rows lost": lambda text: f"{INFO}/RECORD,,\n",
    "own row lost": lambda text: text.replace(f"{INFO}/RECORD,,\n", ""), "own hash": lambda text: text.replace("RECORD,,", "RECORD,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0"),
    "other size": lambda text: text.replace(",200\n", ",201\n"), "no size": lambda text: text.replace(",200\n", ",\n"), "size x": lambda text: text.replace(",200\n", ",x\n"), "size +200": lambda text: text.replace(",200\n", ",+200\n"),
    "size 0200": lambda text: text.replace(",200\n", ",0200\n"), "negative size": lambda text: text.replace(",200\n", ",-1\n"), "other hash": lambda text: text.replace("sha256=", "sha256=A", 1), "no hash": lambda text: text.replace("sha256=", "", 1),
    "padded hash": lambda text: text.replace(",200\n", "=,200\n"), "quoted": lambda text: "".join('"{}"{}{}\n'.format(*line.partition(",")) for line in text.splitlines()), "open quote": lambda text: '"' + text,
    "backslash": lambda text: text.replace("demo/data.txt", "demo\\data.txt"), "dot": lambda text: text.replace("demo/data.txt", "./demo/data.txt"), "spaces": lambda text: text.replace(",sha256", ", sha256"), "comment": lambda text: "# x\n" + text,
    "directory": lambda text: text + "demo/,,\n", "pyc": lambda text: text + "demo/__pycache__/__init__.cpython-311.pyc,,\n", "signature": lambda text: text + f"{INFO}/RECORD.jws,,\n", "case": lambda text: text.replace("demo/data.txt", "demo/DATA.txt"),
    "semicolon": lambda text: text.replace(",", ";"), "tabs": lambda text: text.replace(",", "\t"), "quote inside": lambda text: text.replace("demo/data", 'demo/"data'), "nul": lambda text: text.replace(",200", ",200\0"),
})
def record(wheel, dice, edit):
    wheel.record_changes.append(edit)


@each("hash", {name: name for name in (
    "md5", "sha1", "sha224", "sha384", "sha512", "sha3_256", "sha3_512", "sha3_224", "blake2b", "blake2s", "SHA256", "shake_128", "sha512_256", "none")})
def hashes(wheel, dice, name):
    data = wheel.member("data.txt").data
    # Names that Python lacks get a digest of SHA-256.
    is_available = name.lower() in hashlib.algorithms_available
    digest = hashlib.new(name.lower(), data) if is_available else hashlib.sha256(data)
    digest = digest.digest(16) if name.startswith("shake") else digest.digest()
    text = f"{name}={base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"
    row = next(row for row in wheel.rows() if "data.txt" in row)
    wheel.record_changes.append(lambda record: record.replace(row, f"demo/data.txt,{text},200"))


@change("RECORD: hex hash")
def hex_hash(wheel, dice):
    row = next(row for row in wheel.rows() if "data.txt" in row)
    digest = hashlib.sha256(wheel.member("data.txt").data).hexdigest()
    wheel.record_changes.append(lambda record: record.replace(row, f"demo/data.txt,sha256={digest},200"))


# Members and their names.

@each("name", {
    "parent": "../up.txt", "parent inside": "demo/../up.txt", "far parent": "demo/../../up.txt", "absolute": "/tmp/demo-absolute/x", "two slashes": "demo//x", "dot": "./demo/x", "dot inside": "demo/./x",
    "backslash": "demo\\x", "backslash parent": "..\\up", "drive": "C:/x", "colon": "demo/a:b", "nul": b"demo/x\0y", "newline": "demo/x\ny", "bell": "demo/\x07", "trailing space": "demo/x ", "trailing dot": "demo/x.",
    "long part": "demo/" + "n" * 256, "long path": "demo/" + "n/" * 300 + "x", "device": "demo/nul", "latin 1": b"demo/\xfc", "UTF-8 without flag": "demo/\u00fc".encode(), "unicode": "demo/\u00fc", "case": "demo/DATA.txt", "case of directory": "Demo/x",
    "sharp s": "demo/stra\u00dfe", "quote": 'demo/"', "comma": "demo/a,b", "star": "demo/*", "question": "demo/?", "pipe": "demo/|", "cache": "demo/__pycache__/x.cpython-311.pyc", "below file": "demo/data.txt/x", "empty": "", "dots": "...", "two dots": "..",
    "tilde": "~/x", "dash": "-x", "dot file": ".x", "egg": "demo.egg-info/PKG-INFO", "other metadata": "other-1.0.dist-info/METADATA", "metadata in capitals": "Demo-1.0.dist-info/x", "metadata of another version": "demo-1.0.0.dist-info/x",
    "nested metadata": "sub/demo-1.0.dist-info/METADATA", "RECORD in capitals": f"{INFO}/record", "installer": f"{INFO}/INSTALLER", "requested": f"{INFO}/REQUESTED", "direct url": f"{INFO}/direct_url.json", "path file": "demo.pth", "signature": f"{INFO}/RECORD.jws", "signature in sub": f"{INFO}/sub/RECORD.jws",
    "sitecustomize": "sitecustomize.py", "byte order mark": "demo/\ufeffx", "right to left": "demo/\u202ex", "zero width": "demo/\u200bx", "private use character": "demo/\ue000", "noncharacter": "demo/\uffff", "emoji": "demo/\U0001f600",
})
def add_name(wheel, dice, name):
    wheel.add(name)


@each("pair of names", {
    "case": ("demo/Ab.txt", "demo/aB.txt"), "normalisation": ("demo/caf\u00e9", "demo/cafe\u0301"), "sharp s": ("demo/stra\u00dfe", "demo/strasse"), "kelvin": ("demo/\u212a", "demo/k"), "dotless": ("demo/\u0130", "demo/i\u0307"), "same": ("demo/x", "demo/x"),
    "ligature": ("demo/\ufb01", "demo/fi"), "sigma": ("demo/\u03c3", "demo/\u03c2"), "directory case": ("demo/A/x", "demo/a/x"), "trailing dot": ("demo/t", "demo/t."), "slashes": ("demo/s/x", "demo/s//x"), "slash": ("demo/s", "demo/s/"), "full width": ("demo/\uff21", "demo/\uff41"),
})
def pairs(wheel, dice, names):
    for index, name in enumerate(names):
        wheel.add(name, b"%d\n" % index)


@each("scheme", {
    "scripts": "scripts/tool", "scripts below": "scripts/sub/tool", "data": "data/share/x", "data parent": "data/../x", "headers": "headers/x.h", "headers below": "headers/sub/x.h", "purelib": "purelib/more/x.py", "platlib": "platlib/more/x.py",
    "purelib and root": "purelib/demo/data.txt", "platlib and root": "platlib/demo/data.txt", "unknown": "other/x", "no scheme": "x", "capitals": "Scripts/x", "empty": "/x", "include": "include/x.h", "stdlib": "stdlib/x", "metadata": f"purelib/{INFO}/x",
    "scripts like entry": "scripts/demo-run", "scripts and data": "data/bin/demo-run", "scripts parent": "scripts/../x", "dot": "./x", "parent": "../x", "purelib file": "purelib",
})
def scheme(wheel, dice, path):
    wheel.add(f"demo-1.0.data/{path}", b"#!python\nprint(1)\n")


@each("data directory", {name: name for name in ("other-1.0.data", "demo-2.0.data", "Demo-1.0.data", "demo-1.0.0.data", "demo.data", "sub/demo-1.0.data", ".data", "demo-1.0.DATA")})
def data_directory(wheel, dice, name):
    wheel.add(f"{name}/purelib/more/x.py")


@each("two schemes", {"purelib and platlib": ("purelib", "platlib"), "data and scripts": ("data/bin", "scripts"), "platlib and data": ("platlib", "data/share")})
def two_schemes(wheel, dice, schemes):
    for index, one in enumerate(schemes):
        wheel.add(f"demo-1.0.data/{one}/same", b"%d\n" % index)


@each("script", {"python": b"#!python\nx\n", "pythonw": b"#!pythonw\nx\n", "python3": b"#!python3\n", "sh": b"#!/bin/sh\n", "none": b"echo\n", "empty": b"", "binary": b"\0\1\2", "long": b"#!python " + b"x" * 500 + b"\n", "crlf": b"#!python\r\nx\r\n", "arguments": b"#!python -I\nx\n"})
def script(wheel, dice, data):
    wheel.add("demo-1.0.data/scripts/tool", data)


@each("mode", {
    "zero": 0, "no type": 0o644, "executable": 0o100755, "world": 0o100666, "all": 0o100777, "setuid": 0o104755, "setgid": 0o102755, "sticky": 0o101755, "none": 0o100000, "unreadable": 0o100200, "link": 0o120777, "fifo": 0o010644, "device": 0o020644, "socket": 0o140755, "directory": 0o040755, "block": 0o060644,
})
def mode(wheel, dice, value):
    member = wheel.member("data.txt")
    member.mode = value
    if value == 0o120777:
        member.data = b"__init__.py"


@each("system", {name: value for name, value in (("fat", 0), ("ntfs", 11), ("vfat", 14), ("osx", 19), ("unknown", 255))})
def system(wheel, dice, value):
    for member in wheel.members:
        member.system = value


@change("made on Windows")
def made_on_windows(wheel, dice):
    for member in wheel.members:
        member.system, member.mode = 0, 0o100666


@each("link", {"inside": b"data.txt", "outside": b"../../../etc/passwd", "absolute": b"/etc/passwd", "circle": b"link", "empty": b"", "directory": b"sub"})
def link(wheel, dice, target):
    wheel.add("demo/link", target, mode=0o120777, method=0)


@each("directory entry", {"plain": {}, "with mode": {"mode": 0o040755}, "with data": {"data": b"x"}, "file mode": {"mode": 0o100644}, "attributes": {"attributes": 0x10, "mode": 0o040755}, "deflated": {"method": 8}, "described": {"descriptor": "signed"}})
def directory(wheel, dice, more):
    wheel.add("demo/", more.get("data", b""), **{"method": 0, **{key: value for key, value in more.items() if key != "data"}})


@each("lost", {name: name for name in ("METADATA", "/WHEEL", "entry_points.txt", "demo/__init__.py")})
def remove_member(wheel, dice, name):
    wheel.members = [member for member in wheel.members if not member.text.endswith(name)]


@each("twice", {name: name for name in ("METADATA", "/WHEEL", "data.txt", "entry_points.txt")})
def duplicate_member(wheel, dice, name):
    member = wheel.member(name)
    data = member.data.replace(b"demo", b"domo", 1) if dice.random() < 0.5 else member.data
    wheel.members.append(Member(member.name, data, recorded=False))


@change("RECORD twice")
def record_twice(wheel, dice):
    wheel.after_record.append(Member(f"{INFO}/RECORD".encode(), b"", recorded=False))


@change("order of members")
def order(wheel, dice):
    dice.shuffle(wheel.members)


@change("order of the directory")
def directory_order(wheel, dice):
    wheel.order = list(range(len(wheel.members) + 1))
    dice.shuffle(wheel.order)


@change("no members besides metadata")
def only_metadata(wheel, dice):
    wheel.members = [member for member in wheel.members if member.text.startswith(INFO)]


@each("metadata directory", {name: name for name in (
    "demo-1.0.0.dist-info", "Demo-1.0.dist-info", "demo-2.0.dist-info", "other-1.0.dist-info", "demo-1.0-x.dist-info", "demo-1.0.DIST-INFO", "demo.dist-info", "sub/demo-1.0.dist-info", "demo-01.0.dist-info", "demo--1.0.dist-info", "demo-v1.0.dist-info", "demo_-1.0.dist-info")})
def metadata_directory(wheel, dice, name):
    for member in wheel.members:
        member.name = member.name.replace(INFO.encode(), name.encode())
    wheel.record_changes.append(lambda text: text.replace(INFO, name))


@each("file name", {name: name for name in (
    "demo-1.0.0-py3-none-any.whl", "Demo-1.0-py3-none-any.whl", "demo-2.0-py3-none-any.whl", "other-1.0-py3-none-any.whl", "demo-1.0-1-py3-none-any.whl", "demo-1.0-py2.py3-none-any.whl", "demo-1.0-py3-none-any.WHL", "demo-1.0-py3-none-any.zip",
    "demo-1.0-py3-none.whl", "demo-1.0-x1-py3-none-any.whl", "demo-1.0+local-py3-none-any.whl", "demo-v1.0-py3-none-any.whl", "demo-1.0-PY3-none-any.whl", "demo-1.0-py3-none-Any.whl", "demo-1.0-py3-none-any.any.whl", "demo-1-py3-none-any.whl")})
def file_name(wheel, dice, name):
    wheel.file = name


# Headers of the archive.

def random_member(wheel, dice):
    """Return a member of the wheel."""
    return dice.choice(wheel.members)


@each("local", {
    "other name": {"name": b"demo/DATA.txt"}, "outside": {"name": b"../demo.txt"}, "empty name": {"name": b""}, "flags": {"flags": 2}, "described": {"flags": 8}, "utf8": {"flags": 0x800}, "method": {"method": 0}, "time": {"time": (1, 34)}, "crc": {"crc": 1}, "no crc": {"crc": 0}, "size": {"size": 3}, "no size": {"size": 0},
    "packed": {"packed": 3}, "full packed": {"packed": archive.FULL}, "full size": {"size": archive.FULL}, "needed 10": {"needed": 10}, "needed 45": {"needed": 45}, "needed 63": {"needed": 63}, "needed 99": {"needed": 99}, "needed 0": {"needed": 0},
})
def change_local_header(wheel, dice, values):
    wheel.member("data.txt").local = dict(values)


@each("header", {
    "size more": {"size": 300}, "size less": {"size": 100}, "size zero": {"size": 0}, "crc": {"crc": 1}, "encrypted": {"flags": 1}, "patched": {"flags": 32}, "strong": {"flags": 64}, "masked": {"flags": 0x2000}, "reserved": {"flags": 0x4000}, "maximum": {"flags": 2}, "enhanced": {"flags": 16}, "utf8": {"flags": 0x800}, "described": {"flags": 8},
    "stored": {"method": 0}, "shrunk": {"method": 1}, "deflate64": {"method": 9}, "bzip2": {"method": 12}, "lzma": {"method": 14}, "zstd": {"method": 93}, "needed 63": {"needed": 63}, "needed 99": {"needed": 99}, "needed 0": {"needed": 0}, "time zero": {"time": (0, 0)}, "time full": {"time": (0xFFFF, 0xFFFF)}, "comment": {"comment": b"note"}, "comment with an end": {"comment": archive.END + bytes(18)}, "comment with an end signature": {"comment": b"a" + archive.END}, "comment with a locator": {"comment": archive.LOCATOR64 + bytes(16)}, "comment with a header": {"comment": archive.CENTRAL + bytes(42)}, "comment not UTF-8": {"comment": b"\xff"}, "zip64": {"zip64": True}, "full": {"size": archive.FULL},
    "text": {"attributes": 1}, "hidden": {"attributes": 2}, "directory attribute": {"attributes": 16},
})
def header(wheel, dice, values):
    for key, value in values.items():
        assert hasattr(wheel.member("data.txt"), key), key
        setattr(wheel.member("data.txt"), key, value)


@each("descriptor", {name: name for name in ("signed", "unsigned", "signed zip64", "unsigned zip64")})
def descriptor(wheel, dice, kind):
    wheel.member("data.txt").descriptor = kind


@change("descriptors everywhere")
def descriptors(wheel, dice):
    for member in wheel.members:
        member.descriptor = "signed"


@each("descriptor of stored", {name: name for name in ("signed", "unsigned")})
def descriptor_stored(wheel, dice, kind):
    wheel.member("data.txt").descriptor, wheel.member("data.txt").method = kind, 0


@each("extra", {
    "longer than its data": extra(0x7777, b"ab", 90), "one byte": b"x", "three bytes": b"xyz", "zeros": bytes(8), "four zeros": bytes(4), "time": extra(0x5455, b"\1" + bytes(4)), "unix": extra(0x7875, b"\1\4" + bytes(4) + b"\4" + bytes(4)), "ntfs": extra(10, bytes(32)), "same twice": extra(0x7777, b"a") * 2, "unknown": extra(0xCAFE, b""),
    "unicode path": extra(0x7075, b"\1" + bytes(4) + b"demo/other"), "unicode comment": extra(0x6375, b"\1" + bytes(4) + b"x"), "zip64 empty": extra(1, b""), "zip64 needless": extra(1, struct.pack("<QQ", 200, 24)), "zip64 of size": extra(1, struct.pack("<Q", 200)), "zip64 long": extra(1, bytes(40)), "zip64 odd": extra(1, bytes(5)),
    "zip64 twice": extra(1, struct.pack("<QQ", 200, 24)) * 2, "aes": extra(0x9901, b"\2\0AE\3\0\0"), "padding": extra(0xD935, bytes(6)), "android": bytes(3), "much": extra(0x7777, bytes(60000)), "jar": extra(0xCAFE, b""), "tail": extra(0x7777, b"a") + b"\0",
})
def extras(wheel, dice, data):
    wheel.member("data.txt").extra = data


@each("extra of one header", {
    "local longer than its data": ("local", extra(0x7777, b"ab", 90)), "local zeros": ("local", bytes(6)), "local zip64": ("local", extra(1, struct.pack("<QQ", 200, 24))), "local unicode path": ("local", extra(0x7075, b"\1" + bytes(4) + b"demo/other")), "local time": ("local", extra(0x5455, b"\1" + bytes(4))),
    "central time": ("central", extra(0x5455, b"\1" + bytes(4))), "central longer": ("central", extra(0x7777, b"ab", 90)), "central zip64": ("central", extra(1, bytes(8))), "central odd": ("central", b"abc"),
})
def extra_one(wheel, dice, words):
    where, data = words
    member = wheel.member("data.txt")
    member.extra, member.local["extra"] = (b"", data) if where == "local" else (data, b"")


@each("stream", {
    "tail": b"\0\0\0", "second": archive.deflated(b"more"), "nothing": None, "damage": "damage", "cut": "cut", "stored block": "stored", "empty blocks": "empty",
})
def stream(wheel, dice, part):
    member = wheel.member("data.txt")
    whole = archive.deflated(member.data)
    pieces = {
        "damage": bytes(byte ^ 0x5A for byte in whole), "cut": whole[:-3], "empty": b"\0\0\0\xff\xff" * 3 + whole,
        "stored": b"\1" + struct.pack("<HH", len(member.data), len(member.data) ^ 0xFFFF) + member.data,
    }
    member.packed = b"" if part is None else pieces[part] if isinstance(part, str) else whole + part


@change("unlisted member")
def unlisted(wheel, dice):
    wheel.add("demo/hidden.py", listed=False, recorded=False)


@change("unlisted member of a listed name")
def unlisted_twin(wheel, dice):
    wheel.add("demo/data.txt", b"other\n", listed=False, recorded=False)


@change("member not recorded")
def unrecorded(wheel, dice):
    wheel.add("demo/more.py", recorded=False)


@each("gap", {"zeros": bytes(8), "text": b"between", "local header": archive.LOCAL + bytes(26), "one": b"\0", "descriptor": archive.DESCRIPTOR + bytes(12)})
def gap(wheel, dice, data):
    random_member(wheel, dice).gap = data


@each("end", {
    "comment": {"comment": b"note"}, "comment with an end": {"comment": archive.END + bytes(18)}, "comment with a locator": {"comment": archive.LOCATOR64 + bytes(16)}, "more entries": {"entries": 1}, "fewer entries": {"entries": -1}, "larger": {"size": 1}, "smaller": {"size": -46}, "later": {"offset": 1}, "earlier": {"offset": -1}, "disk": {"disk": 1},
    "zip64": {"zip64": True}, "zip64 unneeded": {"zip64": True, "zip64_unneeded": True}, "zip64 extra": {"zip64": True, "zip64_extra": bytes(8)}, "locator elsewhere": {"zip64": True, "locator": 8}, "locator before": {"zip64": True, "locator": -8}, "unneeded zip64, locator elsewhere": {"zip64": True, "zip64_unneeded": True, "locator": 8}, "between": {"between": bytes(4)}, "zip64 fewer": {"zip64": True, "entries": -1},
    "signature": {"between": b"PK\x05\x05" + struct.pack("<H", 4) + b"sign"},
    "disk of the start": {"start_disk": 1}, "entries of this disk": {"entries_on_disk": -1}, "no disk": {"disk": 0xFFFF},
    "zip64 length 43": {"zip64": True, "zip64_length": 43}, "zip64 length 0": {"zip64": True, "zip64_length": 0}, "zip64 length 2^62": {"zip64": True, "zip64_length": 1 << 62}, "zip64 length 45": {"zip64": True, "zip64_length": 45}, "zip64 length more": {"zip64": True, "zip64_length": 44 + 76},
    "unneeded zip64 length 0": {"zip64": True, "zip64_unneeded": True, "zip64_length": 0}, "zip64 disk": {"zip64": True, "zip64_disks": (1, 0)}, "zip64 disk of the start": {"zip64": True, "zip64_disks": (0, 1)}, "zip64 disks": {"zip64": True, "zip64_disks": (1, 1)}, "zip64 entries of this disk": {"zip64": True, "zip64_entries_on_disk": -1},
    "unneeded zip64 disk": {"zip64": True, "zip64_unneeded": True, "zip64_disks": (1, 1)}, "zip64 needed 99": {"zip64": True, "zip64_needed": 99}, "zip64 needed 0": {"zip64": True, "zip64_needed": 0}, "unneeded zip64 entries": {"zip64": True, "zip64_unneeded": True, "entries": 1},
    "locator two disks": {"zip64": True, "locator_disks": 2}, "locator no disks": {"zip64": True, "locator_disks": 0}, "locator other disk": {"zip64": True, "locator_disk": 1}, "unneeded zip64, locator two disks": {"zip64": True, "zip64_unneeded": True, "locator_disks": 2}, "locator far": {"zip64": True, "locator": 1 << 62},
})
def end(wheel, dice, values):
    for key, value in values.items():
        assert hasattr(wheel.end, key), key
        setattr(wheel.end, key, value)


@each("around", {"before": (b"#!/bin/sh\n", b""), "behind": (b"", b"tail\n"), "zeros behind": (b"", bytes(64)), "newline behind": (b"", b"\n"), "zip behind": (b"", archive.END + bytes(18)), "zip before": (archive.END + bytes(18), b""), "local before": (archive.LOCAL, b"")})
def around(wheel, dice, ends):
    wheel.byte_changes.append(lambda content: ends[0] + content + ends[1])


@change("two archives")
def append_archive(wheel, dice):
    wheel.byte_changes.append(lambda content: content + content)


# Changes of bytes, without regard to their meaning.

@change("random bytes")
def bytes_anywhere(wheel, dice):
    def flip(content):
        content = bytearray(content)
        for _ in range(dice.randint(1, 3)):
            content[dice.randrange(len(content))] = dice.choice([0, 1, 255, dice.randrange(256)])
        return bytes(content)
    wheel.byte_changes.append(flip)


@change("random bytes of the directory")
def bytes_of_directory(wheel, dice):
    def flip(content):
        # Sometimes only the last entry, which has few bytes among all.
        start = content.rindex(archive.CENTRAL) if dice.random() < 0.3 else content.index(archive.CENTRAL)
        content = bytearray(content)
        content[dice.randrange(start, len(content))] ^= 1 << dice.randrange(8)
        return bytes(content)
    wheel.byte_changes.append(flip)


@change("random bytes of a local header")
def bytes_of_local(wheel, dice):
    def flip(content):
        places = [at for at in range(len(content) - 30) if content[at:at + 4] == archive.LOCAL]
        content = bytearray(content)
        content[dice.choice(places) + dice.randrange(4, 30)] ^= 1 << dice.randrange(8)
        return bytes(content)
    wheel.byte_changes.append(flip)


@change("random cut")
def cut(wheel, dice):
    def drop(content):
        at = dice.randrange(len(content))
        return content[:at] + content[at + dice.randint(1, 40):]
    wheel.byte_changes.append(drop)
