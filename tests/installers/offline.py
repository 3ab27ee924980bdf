# SPDX-License-Identifier: MIT
"""Installing from a directory needs no network, and does not even try; and it needs no build tool."""

import os

import records
from machines import GFX942, machine
from packages import OLD
from selector import SHARED

# A new network namespace has no interface: every attempt fails, and the kernel counts it.
ALONE = 'counters=$1; shift; status=0; "$@" || status=$?; cat /proc/net/snmp /proc/net/snmp6 > "$counters"; exit $status'
TRY = "import socket; s = socket.socket(); s.settimeout(1); s.connect_ex(('192.0.2.1', 80))"
COUNTED = {"Ip": ("OutNoRoutes", "OutRequests"), "Tcp": ("ActiveOpens",), "Udp": ("OutDatagrams",)}
BUILD_TOOLS = ("setuptools", "wheel", "flit_core", "hatchling", "poetry", "pdm")


def alone(bench, python, tool):
    """Install in an empty network namespace, with and without build isolation."""
    if os.geteuid() != 0:
        bench.not_run("no network", "a network namespace needs root rights")
        return
    name = f"{bench.label(python, tool)}: without network"
    environment = bench.environment(python, tool)
    result, attempts = _run_offline(environment, [environment.place / "bin/python", "-c", TRY])
    if attempts is None:
        bench.report.check(f"{name}: programs run in an empty network namespace", result.problem or "no counters")
        return
    if not bench.report.check(f"{name}: a connection that is tried is seen", not attempts and "the kernel counts none"):
        return
    for suffix, words, settings in (
        ("", [], {}), (" --no-build-isolation", ["--no-build-isolation"], {}),
        (" PIP_NO_BUILD_ISOLATION=0", [], {"PIP_NO_BUILD_ISOLATION": "0"}),
        (" PIP_NO_BUILD_ISOLATION=1", [], {"PIP_NO_BUILD_ISOLATION": "1"}),
    ):
        if settings and tool.is_uv:
            continue
        fresh = bench.environment(python, tool)
        _test_install(bench, f"{name}: install{suffix}", fresh, words, {**settings, **machine(bench.work / SHARED, GFX942)})
        fresh.remove()
    environment.remove()


def _test_install(bench, name, environment, words, settings):
    command, needed = environment.command("install", *bench.sources[0].options, *words,
                                          f"rocm[libraries,devel,profiler,device,device-gfx942]=={OLD}")
    result, attempts = _run_offline(environment, command, {**needed, **settings})
    bench.report.check(name, result.problem)
    bench.report.check(f"{name}: no connection is tried", "no counters" if attempts is None else attempts)
    actual = records.distributions(environment.site)
    bench.report.check(f"{name}: seven packages", len(actual) != 7 and f"installed is {actual}")
    foreign = [path.name for path in environment.site.iterdir() if path.name.lower().startswith(BUILD_TOOLS)]
    bench.report.check(f"{name}: no build tool is installed with it", foreign)


def _run_offline(environment, command, settings=None):
    """Run a command in an empty network namespace; return its result, and its network attempts or None without counters."""
    counters = environment.work / "counters"
    counters.unlink(missing_ok=True)
    result = environment.run(["unshare", "--net", "sh", "-euc", ALONE, "sh", counters, *command], settings)
    # Without rights for a namespace, `unshare` fails before it starts the command.
    return result, _network_attempts(counters.read_text("utf-8")) if counters.is_file() else None


def _network_attempts(text):
    lines = [line.split() for line in text.splitlines()]
    # The kernel itself counts in Ip6OutRequests.
    unrouted = dict(words for words in lines if len(words) == 2).get("Ip6OutNoRoutes", "0")
    attempts = [f"Ip6OutNoRoutes {unrouted}"] if unrouted != "0" else []
    for names, numbers in zip(lines, lines[1:]):
        if names[0] == numbers[0] and names[0].rstrip(":") in COUNTED:
            table = dict(zip(names, numbers))
            attempts += [f"{names[0]}{name} {table[name]}" for name in COUNTED[names[0].rstrip(":")] if table[name] != "0"]
    return ", ".join(attempts)
