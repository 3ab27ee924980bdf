# SPDX-License-Identifier: MIT
"""Starts the extension as a package that was built against ROCm does.

Usage: probe.py VERSION SHORTNAME...
"""

import sys

import rocm_sdk

rocm_sdk.initialize_process(
    preload_shortnames=sys.argv[2:], check_version=sys.argv[1], fail_on_version_mismatch=True
)

import extension  # noqa: E402 (its libraries are loaded by now)

print(extension.versions())
