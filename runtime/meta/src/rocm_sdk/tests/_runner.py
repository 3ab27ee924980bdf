"""Concurrent run of the cases, with a report in their order."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

from .._packages import DIST
from ._cases import collect
from ._outcome import Case, Outcome, fail

_STATUSES = ("ok", "FAIL", "skip")


def run(
    *,
    only: Sequence[str] | None = None,
    list_only: bool = False,
    json_file: Path | None = None,
) -> int:
    """Run the self-test; return 0 if cases ran and none failed, otherwise 1.

    `only` has globs for names of cases; `list_only` prints the names. `json_file` receives a
    report: `version`, `summary` (a count per status) and `cases`, each with `name`, `status`,
    `reason` and `seconds`.
    """
    cases = [case for case in collect() if not only or _is_selected(case, only)]
    if list_only:
        for case in cases:
            print(case.name)
        return 0
    results: list[tuple[Case, Outcome, float]] = []
    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
        for case, (outcome, seconds) in zip(cases, pool.map(_timed, cases), strict=True):
            results.append((case, outcome, seconds))
            print(_line(case, outcome), flush=True)
    counts = Counter(outcome.status for _, outcome, _ in results)
    print(f"{counts['ok']} ok, {counts['FAIL']} failed, {counts['skip']} skipped")
    if json_file is not None:
        json_file.write_text(_report(results, counts), "utf-8")
    return 1 if counts["FAIL"] or not results else 0


def _is_selected(case: Case, only: Sequence[str]) -> bool:
    return any(fnmatchcase(case.name, pattern) for pattern in only)


def _timed(case: Case) -> tuple[Outcome, float]:
    start = time.monotonic()
    try:
        outcome = case.check()
    except Exception as error:  # a fault of one package must not end the run
        outcome = fail(f"{type(error).__name__}: {error}")
    return outcome, time.monotonic() - start


def _line(case: Case, outcome: Outcome) -> str:
    line = f"{outcome.status:4} {case.name}"
    return f"{line}  ({outcome.reason})" if outcome.reason else line


def _report(results: list[tuple[Case, Outcome, float]], counts: Counter[str]) -> str:
    cases = [
        {
            "name": case.name,
            "status": outcome.status,
            "reason": outcome.reason,
            "seconds": round(seconds, 3),
        }
        for case, outcome, seconds in results
    ]
    summary = {status: counts[status] for status in _STATUSES}
    report = {"version": DIST["version"], "summary": summary, "cases": cases}
    return json.dumps(report, indent=1) + "\n"
