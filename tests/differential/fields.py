# SPDX-License-Identifier: MIT
"""Changes of a wheel's texts: fields of METADATA and WHEEL, build tags, and entry points."""

from changes import each
from wheel import INFO

# A marker that is never true, because installers must not fetch the requirement.
ABSENT = "; python_version < '2'"
REQUIREMENTS = {
    "folded": f"other\n        >=1{ABSENT}", "folded in the marker": "other>=1;\n  python_version < '2'", "no-break space": f"other\u00a0>=1{ABSENT}", "tab": f"other\t>=1{ABSENT}", "ideographic space": f"other\u3000>=1{ABSENT}",
    "extras marker": "other; 'x' in extras", "extras equal": "other; extras == 'x'", "dependency_groups marker": "other; 'x' in dependency_groups", "extra in a list": "other; 'x' in extra", "marker and": f"other{ABSENT} and os_name == 'x'", "marker empty": "other;", "marker alone": "other; python_version",
    "marker two literals": "other; '1' == '2'", "marker two variables": f"other{ABSENT} and os_name == sys_platform", "marker unknown": "other; bogus == '1'", "marker of old": f"other{ABSENT} and os.name == 'x'", "marker tilde": "other; python_version ~= '2'", "marker triple": "other; python_version === '2'", "marker quotes": "other; python_version < \"2'",
    "marker in": "other; python_version in '2.6 2.7'", "marker not in": "other; python_version not in '3.9'" + ABSENT.replace(";", " and"), "marker not  in": "other; python_version not  in '3'" + ABSENT.replace(";", " and"), "marker parentheses": "other; (python_version < '2')", "marker open": "other; (python_version < '2'", "marker deep": "other; " + "(" * 60 + "python_version < '2'" + ")" * 60,
    "marker star": "other; python_version < '2.*'", "marker version x": "other; python_version < 'x'", "marker escape": "other; os_name == 'a\\'b'" , "marker blank value": "other; os_name == ''", "marker implementation": "other; platform_python_implementation == 'x'", "marker python_implementation": "other; python_implementation == 'x'", "marker full version": "other; python_full_version < '2.0.0'",
    "extras": f"other[x,y]>=1{ABSENT}", "extras twice": f"other[x,x]{ABSENT}", "extras empty": f"other[]{ABSENT}", "extras comma": f"other[x,]{ABSENT}", "extras blank": f"other[ x ]{ABSENT}", "extras open": f"other[x{ABSENT}", "extras name": f"other[-x]{ABSENT}",
    "parentheses": f"other (>=1){ABSENT}", "parentheses empty": f"other (){ABSENT}", "parentheses open": f"other (>=1{ABSENT}", "comma": f"other>=1,<2{ABSENT}", "commas": f"other>=1,,<2{ABSENT}", "leading comma": f"other,>=1{ABSENT}", "no comma": f"other>=1 <2{ABSENT}", "no version": f"other>={ABSENT}", "operator apart": f"other> =1{ABSENT}",
    "arrow": f"other=>1{ABSENT}", "compatible one": f"other~=1{ABSENT}", "compatible star": f"other~=1.0.*{ABSENT}", "equal star": f"other==1.*{ABSENT}", "arbitrary": f"other===x{ABSENT}", "arbitrary blank": f"other===a b{ABSENT}", "less star": f"other<1.*{ABSENT}", "local": f"other>=1+x{ABSENT}", "equal local": f"other==1+x{ABSENT}", "dev star": f"other==1.dev*{ABSENT}", "wild zero": f"other==*{ABSENT}",
    "url": f"other @ https://example.invalid/o.whl {ABSENT}", "url marker close": f"other @ https://example.invalid/o.whl{ABSENT}", "url without blank": f"other@https://example.invalid/o.whl {ABSENT}", "url no scheme": f"other @ o.whl {ABSENT}", "url file": f"other @ file:///o.whl {ABSENT}", "url blank": f"other @ https://example.invalid/a b {ABSENT}", "url and version": f"other>=1 @ https://example.invalid/ {ABSENT}", "url variable": f"other @ https://${{X}}/o.whl {ABSENT}", "url git": f"other @ git+https://example.invalid/x@1 {ABSENT}", "url empty": f"other @ {ABSENT}", "url colon": f"other @ a:b {ABSENT}",
    "name capitals": f"Other.X{ABSENT}", "name end": f"other-{ABSENT}", "name start": f"-other{ABSENT}", "name unicode": f"\u00f6ther{ABSENT}", "two names": f"other more{ABSENT}", "comment": f"other # x{ABSENT}", "empty": "", "quotes": f"'other'{ABSENT}", "epoch": f"other>=1!2{ABSENT}", "leading v": f"other>=v1{ABSENT}", "huge": f"other>={'9' * 40}{ABSENT}", "long": f"other>=1{ABSENT}" + " and os_name == 'x'" * 200, "full width": f"other>=\uff11{ABSENT}",
}


@each("Requires-Dist", REQUIREMENTS)
def requires_dist(wheel, dice, text):
    wheel.edit("METADATA", "Summary: a demo\n", f"Summary: a demo\nProvides-Extra: x\nRequires-Dist: {text}\n")


@each("Requires-Python", {
    "comma": ">=3.8,", "parentheses": "(>=3.8)", "star": ">=3.*", "greater star": ">3.*", "equal star": "==3.*", "no operator": "3.8", "folded": ">=3.8,\n   <9", "no-break space": ">=3.8,\u00a0<9", "no comma": ">=3.8 <9", "single equal": "=3.11", "arrow": "=>3.8", "or": ">=3.8 || <2", "compatible": "~=3.8", "compatible one": "~=3", "arbitrary": "===3.11.7", "empty": "", "twice": ">=3.8\nRequires-Python: >=3.7", "quotes": "'>=3.8'", "caret": "^3.8", "local": ">=3.8+x", "not star": "!=2.*", "zeros": ">=3.08", "marker": ">=3.8; os_name == 'x'", "blank": "> =3.8",
})
def requires_python(wheel, dice, text):
    wheel.edit("METADATA", "Requires-Python: >=3.8", f"Requires-Python: {text}")


@each("METADATA 2.5 line", {
    "content type text/evil": "Description-Content-Type: text/evil", "charset latin-1": "Description-Content-Type: text/markdown; charset=latin-1", "charset utf8": "Description-Content-Type: text/markdown; charset=utf8", "variant x": "Description-Content-Type: text/markdown; variant=x", "variant CommonMark": "Description-Content-Type: text/markdown; variant=CommonMark", "variant of plain": "Description-Content-Type: text/plain; variant=GFM", "content type capitals": "Description-Content-Type: TEXT/Markdown", "content type empty": "Description-Content-Type:", "content type junk": "Description-Content-Type: markdown", "content type rst": "Description-Content-Type: text/x-rst", "content type two": "Description-Content-Type: text/plain, text/markdown", "content type parameter": "Description-Content-Type: text/plain; x=y",
    "dynamic name": "Dynamic: Name", "dynamic version": "Dynamic: Version", "dynamic metadata version": "Dynamic: Metadata-Version", "dynamic bogus": "Dynamic: Bogus", "dynamic lower": "Dynamic: requires-dist", "dynamic fine": "Dynamic: Requires-Dist", "dynamic empty": "Dynamic:", "dynamic two": "Dynamic: Summary, Author", "dynamic description": "Dynamic: Description",
    "import name": "Import-Name: demo", "import name class": "Import-Name: class", "import name dotted keyword": "Import-Name: demo.class", "import name digit": "Import-Name: 1demo", "import name private": "Import-Name: demo._x; private", "import name public": "Import-Name: demo; public", "import name empty": "Import-Name:", "import name twice": "Import-Name: demo\nImport-Name: demo", "import name blank": "Import-Name: demo x", "import name dash": "Import-Name: de-mo", "import name dots": "Import-Name: demo..x", "import name soft keyword": "Import-Name: match", "import name unicode": "Import-Name: d\u00e9mo", "import name without parent": "Import-Name: demo.sub", "import name empty and other": "Import-Name:\nImport-Name: demo", "import name private spaced": "Import-Name: demo ;  private",
    "import namespace": "Import-Namespace: demo", "import namespace class": "Import-Namespace: class", "import namespace private": "Import-Namespace: demo; private", "import name and namespace": "Import-Name: demo\nImport-Namespace: demo", "import namespace empty": "Import-Namespace:",
    "own licence": "License-Expression: LicenseRef-Mine", "own licence empty": "License-Expression: LicenseRef-", "own licence underscore": "License-Expression: LicenseRef-a_b", "own licence dot": "License-Expression: LicenseRef-a.b", "own licence plus": "License-Expression: LicenseRef-a+", "own licence lower": "License-Expression: licenseref-a", "own licence with": "License-Expression: LicenseRef-a WITH LLVM-exception", "document licence": "License-Expression: DocumentRef-a:LicenseRef-b", "addition": "License-Expression: MIT WITH AdditionRef-x", "licence empty": "License-Expression:", "licence folded": "License-Expression: MIT\n  OR Apache-2.0", "licence blanks": "License-Expression: MIT   OR  Apache-2.0", "licence lower or": "License-Expression: MIT or Apache-2.0", "licence mixed or": "License-Expression: MIT Or Apache-2.0", "licence old": "License-Expression: GPL-2.0", "licence plus": "License-Expression: GPL-2.0-only+", "licence apache plus": "License-Expression: Apache-2.0+", "licence exception alone": "License-Expression: LLVM-exception", "licence parentheses": "License-Expression: (MIT)", "licence nested": "License-Expression: ((MIT) AND ISC)", "licence NONE": "License-Expression: NONE", "licence NOASSERTION": "License-Expression: NOASSERTION", "licence no-break": "License-Expression: MIT\u00a0OR ISC", "licence of nothing": "License-Expression: ()", "licence with lower": "License-Expression: Apache-2.0 with LLVM-exception",
    "licence file": "License-File: LICENSE", "licence file up": "License-File: ../LICENSE", "licence file absolute": "License-File: /LICENSE", "licence file star": "License-File: LICEN*", "licence file backslash": "License-File: a\\LICENSE", "licence file absent": "License-File: GONE", "licence file dot": "License-File: ./LICENSE", "licence file twice": "License-File: LICENSE\nLicense-File: LICENSE", "licence file empty": "License-File:", "licence file slashes": "License-File: a//b", "licence file directory": "License-File: .",
    "platform": "Platform: any", "supported platform": "Supported-Platform: x", "maintainer": "Maintainer: a\nMaintainer-email: a@example.invalid", "no email": "Author-email: not an email", "emails": "Author-email: A <a@example.invalid>, b@example.invalid", "obsoletes": "Obsoletes-Dist: x", "provides": "Provides-Dist: x", "requires external": "Requires-External: x", "requires": "Requires: x", "url long label": f"Project-URL: {'l' * 40}, https://example.invalid", "url label empty": "Project-URL: , https://example.invalid", "url label twice": "Project-URL: a, https://a.invalid\nProject-URL: a, https://b.invalid", "url javascript": "Project-URL: a, javascript:x", "url no url": "Project-URL: a, b", "home page": "Home-page: x", "download": "Download-URL: x", "unknown field": "Unknown-Field: x", "unknown field twice": "Unknown-Field: x\nUnknown-Field: y", "misspelt field": "Requires_Dist: other", "field capitals": "SUPPORTED-PLATFORM: x", "private field": "X-Internal: x", "description field": "Description: text", "keywords twice": "Keywords: a\nKeywords: b", "extra underscore": "Provides-Extra: a_b", "extra twice": "Provides-Extra: a\nProvides-Extra: a", "extra folded": "Provides-Extra: a\n b", "extra end": "Provides-Extra: a-", "extra dots": "Provides-Extra: a--b", "summary folded": "Author: a\n b", "summary": "Classifier: No :: Such", "gpg": "Keywords: a b c", "maintainer twice": "Maintainer: a\nMaintainer: b", "mime": "MIME-Version: 1.0", "content transfer": "Content-Transfer-Encoding: base64", "content type multipart": "Content-Type: multipart/mixed; boundary=x", "long line": "Author: " + "a" * 2000, "encoded word": "Author: =?utf-8?q?J=C3=BCrgen?=", "emoji": "Author: \U0001f600", "nothing after": "Author: ",
})
def metadata_line(wheel, dice, line):
    wheel.edit("METADATA", "Metadata-Version: 2.1", "Metadata-Version: 2.5")
    wheel.edit("METADATA", "Summary: a demo\n", f"Summary: a demo\n{line}\n")


@each("Summary", {"two lines": "a\n demo", "empty": "", "form feed": "a\x0cdemo", "vertical tab": "a\x0bdemo", "line separator": "a\u2028demo", "escape": "a\x1bdemo", "long": "s" * 513, "tabs": "a\tdemo"})
def summary(wheel, dice, text):
    wheel.edit("METADATA", "Summary: a demo", f"Summary: {text}")


@each("description", {"none": ("\nText.\n", ""), "only a blank line": ("Text.\n", ""), "like fields": ("Text.", "Name: other\nVersion: 3"), "very long": ("Text.", "x" * 300_000), "crlf": ("Text.\n", "Text.\r\n"), "no newline": ("Text.\n", "Text."), "boundary": ("Text.", "--x\nName: y\n--x--"), "broken rst": ("Text.", "``x\n====\n\n.. nothing::\n\n*a"), "html": ("Text.", "<script>x</script>")})
def description(wheel, dice, words):
    wheel.edit("METADATA", *words)


@each("Wheel-Version", {name: name for name in ("01.00", "+1.+0", "1.00", "1.0 ", "1_0.0", "1.-0", "1.", ".1", "1,0", "1.0.", "1..0", "0.9", "1.0 x", "\u0661.\u0660", "1.\u0660", "1.1", "1.10", "2", "1e0", "", "1.0\n  .1", "v1.0", "1 . 0", "1.99999999999999999999")})
def wheel_version(wheel, dice, text):
    wheel.edit("/WHEEL", "Wheel-Version: 1.0", f"Wheel-Version: {text}")


@each("build tag", {name: name for name in ("1", "1+2", "1 2", "1_a", "1.2", "01", "1a", "1\u00e9", "\u0661", "1!", "99999999999999999999999", "1~", "1,2", "1%20", "1A", "1;", "1'", "1#", "1@x")})
def build_tag(wheel, dice, text):
    wheel.file = f"demo-1.0-{text}-py3-none-any.whl"
    wheel.edit("/WHEEL", "Tag:", f"Build: {text}\nTag:")


@each("name and version", {name: name for name in (
    "demo-1.0+a-py3-none-any.whl", "demo-1.0+A-py3-none-any.whl", "demo-1.0_1-py3-none-any.whl", "demo-1!1.0-py3-none-any.whl", "demo-1.0rc1-py3-none-any.whl", "demo-1.0.RC.1-py3-none-any.whl", "demo-1.0alpha-py3-none-any.whl", "demo-1.0.dev-py3-none-any.whl", "de_mo-1.0-py3-none-any.whl", "de.mo-1.0-py3-none-any.whl", "DeMo-1.0-py3-none-any.whl", "de__mo-1.0-py3-none-any.whl", "_demo-1.0-py3-none-any.whl", "demo_-1.0-py3-none-any.whl", "demo-1.0-py3.py3-none-any.whl", "demo-1.0-py3-none.none-any.whl", "demo-1.0-py3-None-any.whl", "d\u00e9mo-1.0-py3-none-any.whl", "demo-01.0-py3-none-any.whl", "demo-1.0.post1-py3-none-any.whl", "demo-1.0+a.b-py3-none-any.whl", "demo-1.0+a_b-py3-none-any.whl", "d-1.0-py3-none-any.whl", "demo 1-1.0-py3-none-any.whl")})
def whole_name(wheel, dice, file):
    dist, version, *rest = file.removesuffix(".whl").split("-")
    wheel.file = file
    wheel.edit("METADATA", "Name: demo", f"Name: {dist}")
    wheel.edit("METADATA", "Version: 1.0", f"Version: {version}")
    wheel.edit("/WHEEL", "py3-none-any", "-".join(rest[-3:]))
    info = f"{dist}-{version}.dist-info"
    for member in wheel.members:
        member.name = member.name.replace(INFO.encode(), info.encode())
        if not info.isascii():
            member.flags = 0x800
    wheel.record_changes.append(lambda text: text.replace(INFO, info))


@each("entry point", {
    "extra open": "demo-run = demo:main [e", "extra": "demo-run = demo:main [e]", "extras": "demo-run = demo:main [e,f]", "extra close": "demo-run = demo:main[e]", "extra empty": "demo-run = demo:main []", "extra and more": "demo-run = demo:main [e] f", "extra only": "demo-run = [e]", "extra name": "demo-run = demo:main [-e-]", "extra closed": "demo-run = demo:main e]",
    "folded": "demo-run =\n  demo:main", "folded extra": "demo-run = demo:main\n  [e]", "folded word": "demo-run = demo:main\n  more", "folded entry": "demo-run = demo:main\n  other = demo:main", "folded blank": "demo-run = demo:main\n  \n", "folded tab": "demo-run = demo\n\t:main", "folded first": "  demo-run = demo:main", "folded comment": "demo-run = demo:main\n  # x",
    "300 characters": "n" * 300 + " = demo:main", "255 characters": "n" * 255 + " = demo:main", "251 characters": "n" * 251 + " = demo:main", "blanks at the colon": "demo-run = demo : main", "blank before the colon": "demo-run = demo :main", "blank behind the colon": "demo-run = demo: main", "blank at a dot": "demo-run = demo . sub : main", "tab": "demo-run\t=\tdemo:main", "no blanks": "demo-run=demo:main",
    "semicolon": "; x = demo:main", "semicolon behind": "demo-run = demo:main ; x", "hash close": "demo-run = demo:main#x", "hash name": "#x = demo:main", "two words": "x y = demo:main", "three words": "x y z = demo:main", "colon sign": "demo-run: demo:main", "colon in name": "a:b = demo:main", "two equals": "demo-run = = demo:main", "equals in name": "a=b = demo:main", "keyword": "demo-run = demo:class", "keyword module": "demo-run = class:main", "none": "demo-run = demo:None", "star": "demo-run = demo:*", "soft keyword": "demo-run = demo:match",
    "dots": "demo-run = demo..sub:main", "final dot": "demo-run = demo:main.", "leading dot": "demo-run = .demo:main", "two colons": "demo-run = demo:main:x", "call": "demo-run = demo:main()", "digits": "demo-run = demo:1main", "unicode object": "demo-run = demo:m\u00e4in", "no-break in name": "x\u00a0y = demo:main", "dash in module": "demo-run = de-mo:main", "slash module": "demo-run = demo/x:main", "no-break around": "demo-run\u00a0=\u00a0demo:main", "lambda": "demo-run = demo:lambda",
    "name dot": ". = demo:main", "name dots": ".. = demo:main", "name hidden": ".demo = demo:main", "name dash": "-demo = demo:main", "name py": "demo.py = demo:main", "name exe": "demo.exe = demo:main", "name quote": "de'mo = demo:main", "name double quote": 'de"mo = demo:main', "name dollar": "$demo = demo:main", "name percent": "de%mo = demo:main", "name bracket": "[demo = demo:main", "name brackets": "[demo] = demo:main", "name backslash": "de\\mo = demo:main", "name star": "de*mo = demo:main", "name plus": "de+mo = demo:main", "name at": "de@mo = demo:main", "name tilde": "~demo = demo:main", "name comma": "a,b = demo:main", "name newline": "a\\nb = demo:main", "name emoji": "\U0001f600 = demo:main", "name bell": "a\x07b = demo:main", "name parentheses": "a(b) = demo:main", "name device": "con = demo:main", "name final dot": "demo. = demo:main", "name case": "Demo-run = demo:main\ndemo-run = demo:main", "name script suffix": "demo-script = demo:main\ndemo = demo:main", "name two groups": "x = demo:main\n[gui_scripts]\nx = demo:main",
    "python": "python = demo:main", "PYTHON": "PYTHON = demo:main", "python3": "python3 = demo:main", "python3.11": "python3.11 = demo:main", "Python3.11": "Python3.11 = demo:main", "python3.12": "python3.12 = demo:main", "pythonw": "pythonw = demo:main", "python-x": "python-x = demo:main", "python.exe": "python.exe = demo:main", "pypy3": "pypy3 = demo:main", "pip": "pip = demo:main", "pip3.11": "pip3.11 = demo:main", "uv": "uv = demo:main", "uvx": "uvx = demo:main", "activate": "activate = demo:main", "activate.csh": "activate.csh = demo:main", "deactivate": "deactivate = demo:main", "python3.11-config": "python3.11-config = demo:main", "easy_install": "easy_install = demo:main", "py": "py = demo:main", "wheel": "wheel = demo:main",
})
def entry_point(wheel, dice, line):
    wheel.edit("entry_points.txt", "demo-run = demo:main", line)


@each("entry points file", {
    "double brackets": "[[console_scripts]]\ndemo-run = demo:main\n", "blanks in brackets": "[ console_scripts ]\ndemo-run = demo:main\n", "text behind brackets": "[console_scripts] x\ndemo-run = demo:main\n", "comment behind brackets": "[console_scripts] # x\ndemo-run = demo:main\n", "capitals": "[CONSOLE_SCRIPTS]\ndemo-run = demo:main\n", "dashes": "[console-scripts]\ndemo-run = demo:main\n", "DEFAULT": "[DEFAULT]\nx = y\n[console_scripts]\ndemo-run = demo:main\n", "DEFAULT of scripts": "[DEFAULT]\nmore = demo:main\n[console_scripts]\ndemo-run = demo:main\n", "empty section": "[]\n[console_scripts]\ndemo-run = demo:main\n", "no section": "demo-run = demo:main\n", "nothing": "", "blank lines": "\n\n[console_scripts]\n\n\ndemo-run = demo:main\n\n", "two sections apart": "[console_scripts]\na = demo:main\n[other]\nx = demo\n[console_scripts]\nb = demo:main\n", "interpolation": "[console_scripts]\na = demo:main\nb = %(a)s\n", "interpolation default": "[DEFAULT]\nm = demo:main\n[console_scripts]\nb = %(m)s\n", "indented section": "  [console_scripts]\n  demo-run = demo:main\n", "indented entries": "[console_scripts]\n  a = demo:main\n  b = demo:main\n", "indented comment": "[console_scripts]\na = demo:main\n  # c\nb = demo:main\n", "group with dot": "[a.b]\nx = demo\n", "group with blank": "[a b]\nx = demo\n", "group with slash": "[a/b]\nx = demo:main\n", "entry without value": "[a]\nx\n", "entry with empty value": "[a]\nx =\n", "value with attributes": "[a]\nx = demo:a.b.c\n", "value of words": "[a]\nx = any words here\n", "value number": "[a]\nx = 1\n", "cr": "[console_scripts]\rdemo-run = demo:main\r", "form feed": "[console_scripts]\n\x0cdemo-run = demo:main\n", "vertical tab": "[console_scripts]\na = demo:main\x0bb = demo:main\n", "line separator": "[console_scripts]\na = demo:main\u2028b = demo:main\n", "next line": "[console_scripts]\na = demo:main\u0085b = demo:main\n", "unit separator": "[console_scripts]\na = demo:main\x1cb = demo:main\n", "no newline": "[console_scripts]\ndemo-run = demo:main", "many": "[console_scripts]\n" + "".join(f"n{n} = demo:main\n" for n in range(30)), "quoted section": "['console_scripts']\nx = demo:main\n", "rem": "[console_scripts]\nrem x\ndemo-run = demo:main\n", "comment sign": "[console_scripts]\n// x\ndemo-run = demo:main\n",
})
def entry_points_file(wheel, dice, text):
    wheel.member("entry_points.txt").data = text.encode()


@each("entry points bytes", {"latin 1": b"[a]\nd\xe9mo = demo\n", "nul": b"[console_scripts]\nx = demo:main\0\n", "utf-16": "[console_scripts]\nx = demo:main\n".encode("utf-16"), "surrogate": b"[a]\nx = demo \xed\xa0\x80\n", "nul in comment": b"# \0\n[console_scripts]\nx = demo:main\n", "latin comment": b"# \xe9\n[console_scripts]\nx = demo:main\n"})
def entry_points_bytes(wheel, dice, data):
    wheel.member("entry_points.txt").data = data


@each("WHEEL bytes", {"latin 1": b"Generator: d\xe9mo\n", "nul": b"Generator: d\0mo\n", "no final newline": None, "two parts": b"\nTag: py2-none-any\n"})
def wheel_bytes(wheel, dice, data):
    member = wheel.member("/WHEEL")
    member.data = member.data.rstrip(b"\n") if data is None else member.data + data
