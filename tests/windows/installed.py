# SPDX-License-Identifier: MIT
"""The packages, installed by pip in a Python for Windows, and used there."""

import shutil

from machine import ATTEMPTS, python_for_windows, windows_path

ISA = {"ROCM_SDK_TARGET_FAMILY": "gfx1151"}
WANTED = "rocm[libraries,devel,device-gfx1151]"
# Opening more than 259 characters fails on a Windows with its usual settings; Wine minds no length.
# A directory has to leave room for a file's name of the old kind.
SHORT_PATHS = """
import os, sys
LONGEST = {"os.mkdir": 247}
def check(event, arguments):
    if event == "open" or event.startswith("os."):
        for one in arguments[:2]:
            if isinstance(one, (str, bytes, os.PathLike)):
                path = os.fsdecode(one)
                if path.startswith("\\\\\\\\?\\\\"):
                    if "/" in path:
                        raise OSError(22, "no separator of this kind here", path)
                elif len(os.path.abspath(path)) > LONGEST.get(event, 259):
                    raise FileNotFoundError(2, "the path is too long", path)
sys.addaudithook(check)
"""
STATUS = """
import subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, stdin=subprocess.PIPE)
print(hex(done.returncode), done.stdout.decode().splitlines())
"""
# Control-C reaches all programs of a console: this program gets a new one, and outlives it.
CONTROL_C = """
import ctypes, subprocess, sys
kernel = ctypes.WinDLL("kernel32")
kernel.FreeConsole()
kernel.AllocConsole()
handler = ctypes.WINFUNCTYPE(ctypes.c_int, ctypes.c_uint)(lambda event: 1)
kernel.SetConsoleCtrlHandler(handler, 1)
started = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.PIPE)
said = started.stdout.readline()
kernel.GenerateConsoleCtrlEvent(0, 0)
more = started.communicate(timeout=60)[0]
text = (said + more).decode().split()
print(hex(started.returncode), *text[1:])
"""
# A reader of RECORD, as a virus scanner is, until a second after the new RECORD was written: Windows refuses to replace
# the file until then.
READER = """
import os, subprocess, sys, time
record, workspace, *command = sys.argv[1:]
with open(record):
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    while started.poll() is None and not os.path.exists(os.path.join(workspace, "RECORD.new")):
        time.sleep(0.01)
    time.sleep(1)
    ended = started.poll()
text = started.communicate(timeout=300)[0].decode()
print(ended, started.returncode, text)
"""
# Another process that expands the tree.
HOLDER = """
import pathlib, subprocess, sys
from rocm_sdk._lock import exclusive, is_held
module, *command = sys.argv[1:]
text = b""
with exclusive(pathlib.Path(module)):
    held = is_held(pathlib.Path(module))
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    for line in started.stdout:
        text += line
        if b"waiting for another process" in line:
            break
    ended = started.poll()
text += started.communicate(timeout=300)[0]
print(held, is_held(pathlib.Path(module)), ended, started.returncode, text.decode())
"""
LOADED_BEFORE = """
import ctypes, warnings, rocm_sdk
ctypes.WinDLL("amdhip64_7.dll")
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    rocm_sdk.preload_libraries("amdhip64")
print(*(one.message for one in told))
"""


class Installation:
    """A copy of Python for Windows in a directory with a blank in its name."""

    def __init__(self, bench):
        self.windows = bench.windows
        self.place = bench.work / "Program Files"
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(python_for_windows(bench.work), self.place)
        self.site = self.place / "Lib" / "site-packages"
        self.python = self.place / "python.exe"
        self.find = ("--find-links", windows_path(bench.packages))

    def run(self, *command, **variables):
        return self.windows.run([self.python, *command], self.place, **{**ISA, **variables})

    def script(self, name, *arguments, **variables):
        """Run a console script that pip made."""
        return self.windows.run([self.place / "Scripts" / f"{name}.exe", *arguments], self.place, **{**ISA, **variables})

    def pip(self, *arguments):
        return self.run("-m", "pip", "--disable-pip-version-check", "--no-color", *arguments)

    def files(self):
        """Return all files except Python's bytecode."""
        paths = (path.relative_to(self.place) for path in self.place.rglob("*") if not path.is_dir())
        return {path for path in paths if "__pycache__" not in path.parts}


def check(bench, report):
    """Install, use and uninstall the demo's packages."""
    installation = Installation(bench)
    before = installation.files()
    result = installation.pip("install", "--no-cache-dir", "--no-index", *installation.find, WANTED)
    if not report.check("pip installs the packages", result.status and f"{result.out} {result.err}"):
        return
    _record_in_use(installation, report)
    _lock_in_use(installation, report)
    _self_test(installation, report)
    _scripts(installation, report)
    _doctor(installation, report)
    _long_paths(installation, report, bench.work)
    result = installation.pip("uninstall", "--yes", "rocm", "rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-devel",
                              "rocm-sdk-device-gfx1151")
    remaining = sorted(map(str, installation.files() ^ before))
    failure = result.status and f"{result.out} {result.err}"
    report.check("pip uninstalls the packages with the devel tree", failure or ", ".join(remaining))


def _record_in_use(installation, report):
    record = next(installation.site.glob("rocm_sdk_devel-*/RECORD"))
    command = windows_path(installation.place / "Scripts" / "rocm-sdk.exe"), "init"
    workspace = installation.site / "_rocm_sdk_devel.partial"
    result = installation.run("-c", READER, windows_path(record), windows_path(workspace), *command)
    good = result.out.startswith("None 0 ")
    report.check("`rocm-sdk init` waits for a reader of RECORD", None if good else f"{result.out} {result.err}")
    report.check("RECORD has the marker of the tree", None if "_rocm_sdk_devel/.rocm-sdk.json," in record.read_text() else "no row")


def _lock_in_use(installation, report):
    shutil.rmtree(installation.site / "_rocm_sdk_devel")
    command = windows_path(installation.place / "Scripts" / "rocm-sdk.exe"), "init"
    module = windows_path(installation.site / "rocm_sdk_devel")
    result = installation.run("-c", HOLDER, module, *command, ROCM_SDK_VERBOSE="1")
    good = result.out.startswith("True False None 0 ") and "waiting for another process" in result.out
    report.check("`rocm-sdk init` waits for another one", None if good else f"{result.out} {result.err}")
    files = [path.name for path in (installation.site / "rocm_sdk_devel").iterdir() if "lock" in path.name]
    report.check("a lock leaves no file", ", ".join(files))


def _self_test(installation, report):
    problem = None
    # Each case is a program, which Wine can end as `Windows.run` says; a fault of the packages comes again.
    for _ in range(ATTEMPTS):
        result = installation.script("rocm-sdk", "test")
        counts = result.out.strip().rpartition("\n")[2]
        report.note(counts)
        if result.status == 0 and ", 0 failed, " in counts and int(counts.split()[0]) > 40:
            problem = None
            break
        failures = [line for line in result.out.splitlines() if not line.startswith(("ok ", "skip "))]
        problem = "\n".join([f"exit status {result.status}", *failures, result.err])
        report.note(problem)
    report.check("`rocm-sdk test` finds nothing wrong", problem)
    links = [path for path in (installation.site / "_rocm_sdk_devel").rglob("*") if path.is_symlink()]
    report.check("no link is in the devel tree", ", ".join(map(str, links)))
    record = next(installation.site.glob("rocm_sdk_devel-*/RECORD")).read_text()
    tree = [path for path in (installation.site / "_rocm_sdk_devel").rglob("*") if path.is_file()]
    unknown = [path for path in tree if f"{path.relative_to(installation.site).as_posix()}," not in record]
    unknown = [path for path in unknown if ".device-" not in path.name and "gfx1151" not in path.name]
    report.check("RECORD has the files of the devel tree", ", ".join(map(str, unknown)) or (None if tree else "the devel tree has no files"))


def _scripts(installation, report):
    words = ["a b", 'with "quotes"', "", "C:\\dir\\"]
    result = installation.script("hipcc", *words)
    lines = result.out.splitlines()
    report.check("a console script passes on its arguments", None if lines == words else f"{result.out} {result.err}")
    script = installation.place / "Scripts" / "hipcc.exe"
    for status in ("0x0", "0x7", "0xff", "0xc000013a", "0xffffffff"):
        result = installation.run("-c", STATUS, script, STATUS=status)
        status_printed = result.out.split(" ")[0]
        report.check(f"a console script returns the exit status {status}", None if status_printed == status else f"{result.out} {result.err}")
    result = installation.run("-c", CONTROL_C, script, WAIT="handled", STATUS="0x5")
    report.check("a program can handle Control-C and return a status", None if result.out == "0x5\n" else f"{result.out} {result.err}")
    program = installation.site / "_rocm_sdk_devel" / "bin" / "hipcc.exe"
    alone, through = (installation.run("-c", CONTROL_C, one, WAIT="default") for one in (program, script))
    # The status is 0xc000013a on Windows, 0 in Wine. A program that no Control-C reaches has another one, too.
    good = alone.out in ("0xc000013a\n", "0x0\n") and through.out == alone.out
    report.check("Control-C ends the script as it ends the program",
                 None if good else f"{alone.out} {alone.err} {through.out} {through.err}")
    programs = [installation.site / name / "bin" / "hipconfig.exe" for name in ("_rocm_sdk_core", "_rocm_sdk_devel")]
    hidden = [program.rename(program.with_suffix(".hidden")) for program in programs]
    result = installation.script("hipconfig")
    good = result.status == 127 and "hipconfig is missing: reinstall rocm-sdk-core" in result.err
    report.check("a missing program is reported", None if good else f"{result.status} {result.err}")
    for program, other in zip(programs, hidden, strict=True):
        other.rename(program)


def _doctor(installation, report):
    result = installation.script("rocm-sdk", "doctor")
    report.check("the doctor reports nothing", None if "everything is in order" in result.out else result.out + result.err)
    library = installation.site / "_rocm_sdk_core" / "bin" / "amdhip64_7.dll"
    driver = installation.windows.system / "amdhip64_7.dll"
    shutil.copy(library, driver)
    try:
        result = installation.script("rocm-sdk", "doctor", HIP_PATH="C:\\Program Files\\SDK")
        wins = f"amdhip64_7.dll: {windows_path(library)}"
        good = wins in result.out and "wins over C:\\windows\\System32\\amdhip64_7.dll" in result.out
        report.check("the doctor names the winner of two libraries", None if good else result.out + result.err)
        good = "HIP_PATH: it is C:\\Program Files\\SDK, which does not exist" in result.out
        report.check("the doctor reports a variable with another directory", None if good else result.out)
        output = installation.run("-c", LOADED_BEFORE).out
        good = "system32\\amdhip64_7.dll was loaded before" in output
        report.check("a DLL that was loaded before is reported", None if good else output)
    finally:
        driver.unlink()


def _long_paths(installation, report, work):
    """Expand the devel tree where a path is too long for functions that take 259 characters."""
    # Never an empty name, however long `work` is: the next line would delete `work` itself.
    site = work / ("x" * max(20, 190 - len(str(work))))
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(installation.site, site, ignore=shutil.ignore_patterns("_rocm_sdk_devel", "pip*", "__pycache__"))
    for record in site.glob("rocm_sdk_devel-*/RECORD"):
        rows = [row for row in record.read_text().splitlines() if not row.startswith("_rocm_sdk_devel/")]
        record.write_text("\n".join([*rows, ""]))
    (site / "sitecustomize.py").write_text(SHORT_PATHS)
    result = installation.run("-m", "rocm_sdk", "init", PYTHONPATH=windows_path(site))
    tree = site / "_rocm_sdk_devel"
    longest = max((len(windows_path(path)) + len(".partial\\_rocm_sdk_devel") for path in tree.rglob("*")), default=0)
    good = result.status == 0 and longest > 259
    report.check("`rocm-sdk init` accepts a workspace with long paths", None if good else f"{longest}: {result.err}")
    result = installation.run("-m", "rocm_sdk", "doctor", PYTHONPATH=windows_path(site))
    report.check("the doctor accepts a workspace with long paths", None if "devel     expanded" in result.out else result.out + result.err)
    shutil.rmtree(site)
