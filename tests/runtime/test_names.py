"""Names of `rocm_sdk` that other projects import, used as these projects do."""

from __future__ import annotations

import unittest

import support

EVERYTHING = (
    support.core(),
    support.libraries(),
    support.profiler(),
    support.device("gfx942"),
)


class Names(unittest.TestCase):
    def setUp(self) -> None:
        self.layout = support.Layout(self, *EVERYTHING)

    def prints(self, expected: str, code: str, **variables: str) -> None:
        self.assertEqual(self.layout.code(code, **variables), expected)

    def test_root_of_a_package(self) -> None:
        """rocm-cli, mlir-aie, hip-python and PyInstaller recipes read the root of core."""
        code = (
            "from pathlib import Path\n"
            "from rocm_sdk import _dist_info as di\n"
            "core = di.ALL_PACKAGES['core']\n"
            "name = core.get_py_package_name()\n"
            "print(name, Path(core.get_py_package().origin).parent, core.has_py_package())\n"
            "print(core.is_required, core.required, core.logical_name, core.pure_py_package_name)\n"
        )
        root = self.layout.site / "_rocm_sdk_core"
        self.prints(f"_rocm_sdk_core {root} True\nTrue True core rocm_sdk_core", code)

    def test_a_target_is_given_for_packages_of_any_kind(self) -> None:
        """SD.Next reads the libraries' directory through the attribute `rocm_sdk._dist_info`."""
        code = (
            "import rocm_sdk, os\n"
            "di = rocm_sdk._dist_info\n"
            "target = di.determine_target_family()\n"
            "spec = di.ALL_PACKAGES['libraries'].get_py_package(target)\n"
            "print(target, os.path.dirname(spec.origin))\n"
        )
        root = self.layout.site / "_rocm_sdk_libraries"
        self.prints(f"gfx942 {root}", code, ROCM_SDK_TARGET_FAMILY="gfx942")

    def test_patterns_of_libraries(self) -> None:
        """SD.Next, PyInstaller recipes and TheRock's check of ASan glob for libraries."""
        code = (
            "from rocm_sdk._dist_info import ALL_LIBRARIES\n"
            "for name in ('hiprtc', 'rocdxg', 'windows-only'):\n"
            "    one = ALL_LIBRARIES[name]\n"
            "    print(one.shortname, one.package.logical_name, one.posix_relpath,\n"
            "          repr(one.so_pattern), one.windows_relpath, repr(one.dll_pattern), one.optional)\n"
        )
        self.prints(
            "hiprtc core lib 'libhiprtc.so*' bin 'hiprtc0*.dll' False\n"
            "rocdxg core lib 'librocdxg*.so*' bin '' True\n"
            "windows-only core lib '' bin 'x.dll' False",
            code,
        )

    def test_every_library_by_short_name(self) -> None:
        """hip-python and TheRock's RAND check register each library's directory on Windows."""
        code = (
            "from rocm_sdk import find_libraries\n"
            "from rocm_sdk._dist_info import ALL_LIBRARIES\n"
            "found = []\n"
            "for name in ALL_LIBRARIES:\n"
            "    try: found += find_libraries(name)\n"
            "    except (ModuleNotFoundError, FileNotFoundError): pass\n"
            "print(*sorted(p.name for p in found))\n"
        )
        self.prints("libhipblas.so.3 libhiprtc.so.7", code)

    def test_targets(self) -> None:
        """TheRock's tests and rocm-cli read the targets and the default."""
        code = (
            "from rocm_sdk._dist_info import (AVAILABLE_TARGET_FAMILIES, DEFAULT_TARGET_FAMILY,\n"
            "    LINUX_TARGET_FAMILIES, WINDOWS_TARGET_FAMILIES, PY_PACKAGE_SUFFIX_NONCE, __version__)\n"
            "print(AVAILABLE_TARGET_FAMILIES, DEFAULT_TARGET_FAMILY, LINUX_TARGET_FAMILIES,\n"
            "    WINDOWS_TARGET_FAMILIES, repr(PY_PACKAGE_SUFFIX_NONCE), __version__)\n"
        )
        every = "['gfx942', 'gfx1100']"
        self.prints(f"{every} gfx942 {every} [] '' {support.VERSION}", code)

    def test_an_unknown_target_is_a_value_error(self) -> None:
        """TheRock's callers catch ValueError."""
        code = (
            "from rocm_sdk._dist_info import determine_target_family\n"
            "try: determine_target_family()\n"
            "except ValueError as error: print(error)\n"
        )
        output = self.layout.code(code, ROCM_SDK_TARGET_FAMILY="gfx000")
        self.assertIn("gfx000", output)
        self.assertIn("gfx942, gfx1100", output)

    def test_packages_for_each_target(self) -> None:
        """rocprof_trace_decoder skips packages with a target; TheRock reads distributions' names."""
        code = (
            "from rocm_sdk._dist_info import ALL_PACKAGES\n"
            "device = ALL_PACKAGES['device']\n"
            "print([name for name, one in ALL_PACKAGES.items() if one.is_target_specific])\n"
            "print(device.get_dist_package_name('gfx942:xnack+'), device.get_dist_package_require('gfx1100'))\n"
            "print(device.has_py_package('gfx942'), device.has_py_package('gfx1100'))\n"
            "print(ALL_PACKAGES['meta'].get_dist_package_name(), ALL_PACKAGES['devel'].has_py_package())\n"
            "try: device.get_py_package_name()\n"
            "except ValueError as error: print(error)\n"
        )
        self.prints(
            "['device']\n"
            f"rocm-sdk-device-gfx942 rocm-sdk-device-gfx1100=={support.VERSION}\n"
            "True False\nrocm False\n"
            "device has a package for each target: pass target_family",
            code,
        )

    def test_names_of_the_build(self) -> None:
        """TheRock's self-tests ask for the marker; other programs for the target of a package."""
        code = (
            "import importlib, rocm_sdk_devel\n"
            "from pathlib import Path\n"
            "for name in ('rocm_sdk', 'rocm_sdk_core', 'rocm_sdk_device_gfx942'):\n"
            "    print(importlib.import_module(f'{name}._dist_info').THIS_TARGET_FAMILY)\n"
            "from rocm_sdk import _devel, _dist_info as di\n"
            "marker = Path(rocm_sdk_devel.__file__).parent / di.DEVEL_INITIALIZED\n"
            "print(marker.is_file()); _devel.get_devel_root(); print(marker.is_file())\n"
            "from rocm_sdk_core._cli import PLATFORM_PATH\n"
            "from rocm_sdk_libraries import _cli\n"
            "print(PLATFORM_PATH.name, _cli.PLATFORM_PATH.name, hasattr(_cli, 'x'))\n"
        )
        self.layout.install(support.devel())
        self.prints(
            "None\nNone\ngfx942\nFalse\nTrue\n_rocm_sdk_core _rocm_sdk_libraries False", code
        )
        info = support.dist(mode="legacy", default_target="gfx94X-dcgpu")
        (self.layout.site / "rocm_sdk/_dist_info.py").write_bytes(support.literal(info))
        self.prints("gfx94X-dcgpu", "from rocm_sdk._dist_info import THIS_TARGET_FAMILY as t; print(t)")

    def test_families_share_a_module_name(self) -> None:
        """TheRock's packages of all families have one module name; here it leads to one of them."""
        module = "rocm_sdk_libraries_gfx94X_dcgpu"
        name = "rocm-sdk-libraries-{family}"
        row = {**support.DIST["packages"]["libraries"], "distribution": name}
        wheel = support.libraries(
            distribution="rocm-sdk-libraries-gfx94X-dcgpu",
            module=module,
            platform_dir=f"_{module}",
            more={"packages": {**support.DIST["packages"], "libraries": row}},
            files={
                f"_{module}/__init__.py": b"",
                f"{module}.pth": f"{module}/_shared\n".encode(),
                f"{module}/_shared/rocm_sdk_libraries/__init__.py": (
                    "import importlib\nimport sys\n\n"
                    f'sys.modules[__name__] = importlib.import_module("{module}")\n'
                ).encode(),
            },
        )
        layout = support.Layout(self, support.core(), wheel)
        code = (
            f"import site; site.addsitedir({str(layout.site)!r})\n"
            f"import rocm_sdk_libraries, {module} as own\n"
            "from rocm_sdk_libraries import _dist_info\n"
            "from rocm_sdk_libraries._cli import PLATFORM_PATH\n"
            "print(rocm_sdk_libraries is own, rocm_sdk_libraries.__version__)\n"
            "print(_dist_info.THIS_TARGET_FAMILY, PLATFORM_PATH.name)\n"
        )
        self.assertEqual(
            layout.code(code), f"True {support.VERSION}\ngfx94X-dcgpu _{module}"
        )

    def test_the_module_is_one_and_the_same(self) -> None:
        """Programs patch entries in place, so imports must return the same objects."""
        code = (
            "import importlib, rocm_sdk\n"
            "from rocm_sdk import _dist_info as one\n"
            "other = importlib.import_module('rocm_sdk._dist_info')\n"
            "print(one is other is rocm_sdk._dist_info, one.ALL_LIBRARIES is other.ALL_LIBRARIES)\n"
            "print(getattr(one, 'NONSENSE', None), hasattr(one, '__path__'))\n"
        )
        self.prints("True True\nNone False", code)

    def test_the_same_names_in_every_package(self) -> None:
        """rocprof_trace_decoder imports names from core and the profiler, with or without `rocm`."""
        code = (
            "import importlib\n"
            "for module in ('rocm_sdk_core', 'rocm_profiler', 'rocm_sdk_libraries', 'rocm_sdk_device_gfx942'):\n"
            "    di = importlib.import_module(module + '._dist_info')\n"
            "    names = [one.get_py_package_name() for n, one in di.ALL_PACKAGES.items()\n"
            "             if not one.is_target_specific and one.has_py_package()]\n"
            "    print(di.__version__, *names, di.ALL_LIBRARIES['hipblas'].package.pure_py_package_name)\n"
        )
        row = f"{support.VERSION} _rocm_sdk_core _rocm_sdk_libraries _rocm_profiler rocm_sdk_libraries"
        self.prints("\n".join([row] * 4), code)
        targets = (
            "from rocm_sdk_core._dist_info import determine_target_family as d; print(d())\n"
            "from rocm_sdk_core import _dist_info; print(_dist_info.AVAILABLE_TARGET_FAMILIES)"
        )
        variables = {"ROCM_SDK_TARGET_FAMILY": "gfx942"}
        self.prints("gfx942\n['gfx942', 'gfx1100']", targets, **variables)
        (self.layout.site / "rocm_sdk").rename(self.layout.site / "away")
        self.prints("\n".join([row] * 4), code)
        error = self.layout.error("from rocm_sdk_core._dist_info import determine_target_family")
        self.assertIn("cannot import name 'determine_target_family'", error)
        error = self.layout.error("import rocm_sdk_core._dist_info as d; d.DEFAULT_TARGET_FAMILY")
        self.assertIn("to install: pip install rocm==7.2.4", error)

    def test_root_of_devel(self) -> None:
        """TransformerEngine, hip-python, rocm-cli, CTranslate2; Dockerfiles of llama.cpp."""
        code = (
            "from rocm_sdk._devel import get_devel_root\n"
            "print(get_devel_root().as_posix(), get_devel_root(force_initialize=True))\n"
        )
        self.assertIn("ModuleNotFoundError: rocm-sdk-devel", self.layout.error(code))
        self.layout.install(support.devel())
        root = self.layout.site / "_rocm_sdk_devel"
        self.prints(f"{root} {root}", code)
        (root / "include/hip/hip_runtime.h").unlink()
        self.prints(f"{root} {root}", code)
        self.assertTrue((root / "include/hip/hip_runtime.h").is_file())

    def test_a_library_that_a_program_has_loaded_is_not_loaded_again(self) -> None:
        """Two programs register their HIP library before torch preloads it."""
        code = (
            "import ctypes, rocm_sdk\n"
            "mine = ctypes.CDLL(None)\n"
            "rocm_sdk._ALL_CDLLS['hiprtc'] = mine\n"
            "rocm_sdk.initialize_process(preload_shortnames=['hiprtc'])\n"
            "print(rocm_sdk._ALL_CDLLS == {'hiprtc': mine}, 'libhiprtc' in open('/proc/self/maps').read())\n"
            "rocm_sdk._ALL_CDLLS.clear()\n"
            "rocm_sdk.preload_libraries('hiprtc')\n"
            "print(list(rocm_sdk._ALL_CDLLS), 'libhiprtc' in open('/proc/self/maps').read())\n"
        )
        self.prints("True False\n['hiprtc'] True", code)

    def test_arguments_of_newer_versions(self) -> None:
        """Newer builds of torch and JAX generate `_rocm_init.py` with more arguments."""
        code = "import rocm_sdk; rocm_sdk.initialize_process(from_the_future=1)"
        result = self.layout.run("-c", code, ROCM_SDK_VERBOSE="1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("unknown argument 'from_the_future'", result.stderr)
        self.assertEqual(self.layout.run("-c", code).stderr, "")

    def test_words_and_kind_of_a_version_mismatch(self) -> None:
        """TheRock's self-test matches these words in a UserWarning and a RuntimeError."""
        code = (
            "import rocm_sdk, warnings\n"
            "with warnings.catch_warnings(record=True) as seen:\n"
            "    warnings.simplefilter('always')\n"
            "    rocm_sdk.initialize_process(check_version='bad')\n"
            "print(seen[0].category.__name__, seen[0].message)\n"
            "try: rocm_sdk.initialize_process(check_version='bad', fail_on_version_mismatch=True)\n"
            "except RuntimeError as error: print(error)\n"
        )
        words = "The program was compiled against a ROCm version matching bad"
        first, second = self.layout.code(code).splitlines()
        self.assertTrue(first.startswith(f"UserWarning {words}"), first)
        self.assertTrue(second.startswith(words), second)

    def test_targets_between_semicolons(self) -> None:
        """COLMAP passes the ISAs to CMake, and scripts split them at `;`."""
        self.assertRegex(self.layout.sdk("targets").stdout, r"^gfx\w+(;gfx\w+)+\n$")


if __name__ == "__main__":
    unittest.main()
