# SPDX-License-Identifier: MIT
"""Simulated machines: the kernel driver's list of devices."""

KERNEL = "ROCM_SDK_KFD_NODES"
WISH = "ROCM_SDK_TARGET_FAMILY"
GFX942, GFX1100, GFX906 = 90402, 110000, 90006  # the kernel's numbers for them
CPU = 0


def machine(place, *versions):
    """Write a kernel topology with these GPUs behind a processor; return the settings that lead to it."""
    nodes = place / ("-".join(map(str, versions)) or "none")
    for number, version in enumerate((CPU, *versions)):
        node = nodes / str(number)
        node.mkdir(parents=True, exist_ok=True)
        text = f"cpu_cores_count {16 if version == CPU else 0}\nsimd_count 0\ngfx_target_version {version}\n"
        (node / "properties").write_text(text, "utf-8")
    return {KERNEL: str(nodes)}
