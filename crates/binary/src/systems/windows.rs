//! DLLs that a Windows wheel need not ship.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::PythonTags;

const DLLS: &str = include_str!("windows.txt");

/// Origin of a DLL outside of packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Part of Windows.
    Windows,
    /// Interpreter that loads the wheel.
    Interpreter,
    /// Installed by users: the Visual C++ Redistributable.
    Redistributable,
    /// Installed by users: the driver of a device.
    Driver,
}

/// Libraries of the Visual C++ Redistributable by the beginning of their names. Python installs
/// only `vcruntime140.dll` and `vcruntime140_1.dll`.
const REDISTRIBUTABLE: [&str; 10] = [
    "vcruntime",
    "msvcp",
    "msvcr",
    "concrt",
    "vccorlib",
    "vcamp",
    "vcomp",
    "mfc",
    "mfcm",
    "mfcmifc",
];

/// Installed by the drivers of GPUs.
const DRIVERS: [&str; 7] = [
    "nvcuda.dll",
    "nvml.dll",
    "nvcuvid.dll",
    "nvencodeapi64.dll",
    "opencl.dll",
    "vulkan-1.dll",
    "ze_loader.dll",
];

/// Returns the origin of a DLL; `None` if a package must ship it.
pub fn provider(library: &str, python: &PythonTags<'_>) -> Option<Provider> {
    let name = library.to_ascii_lowercase();
    if is_api_set(&name) || is_windows(&name) {
        return Some(Provider::Windows);
    }
    match python.has_dll(&name) {
        Some(true) => return Some(Provider::Interpreter),
        Some(false) => return None,
        None => {}
    }
    if DRIVERS.contains(&name.as_str()) {
        return Some(Provider::Driver);
    }
    is_redistributable(&name).then_some(Provider::Redistributable)
}

impl Provider {
    /// Returns whether every machine with this interpreter has it.
    pub fn is_certain(self) -> bool {
        matches!(self, Self::Windows | Self::Interpreter)
    }
}

fn is_windows(name: &str) -> bool {
    static NAMES: OnceLock<HashSet<&str>> = OnceLock::new();
    let names = NAMES.get_or_init(|| DLLS.lines().filter(|line| !line.starts_with('#')).collect());
    // The loader adds the ending.
    names.contains(name) || (!name.contains('.') && names.contains(format!("{name}.dll").as_str()))
}

/// Windows maps these contracts to its DLLs ("Windows API sets"):
/// `api-ms-win-core-file-l1-2-0.dll`.
fn is_api_set(name: &str) -> bool {
    let name = name.strip_suffix(".dll").unwrap_or(name);
    let rest = name.strip_prefix("api-ms-").or_else(|| name.strip_prefix("ext-ms-"));
    // `l`, and three numbers.
    let Some((_, level)) = rest.and_then(|rest| rest.rsplit_once("-l")) else { return false };
    let numbers: Vec<&str> = level.split('-').collect();
    numbers.len() == 3 && numbers.iter().all(|number| number.parse::<u16>().is_ok())
}

/// Debug builds (`msvcp140d.dll`) are not redistributable.
fn is_redistributable(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".dll") else { return false };
    REDISTRIBUTABLE.iter().any(|start| {
        let Some(rest) = stem.strip_prefix(start) else { return false };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let more = &rest[digits..];
        digits >= 2 && !more.starts_with('d')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(library: &str, python: &str, abi: &str) -> Option<Provider> {
        provider(library, &PythonTags { python, abi })
    }

    #[test]
    fn recognizes_windows_libraries() {
        for library in ["KERNEL32.dll", "uxtheme.dll", "WINHTTP.dll", "netapi32.dll", "d3d11.dll"] {
            assert_eq!(of(library, "py3", "none"), Some(Provider::Windows), "{library}");
        }
        for library in ["api-ms-win-crt-heap-l1-1-0.dll", "ext-ms-win-ntuser-window-l1-1-4.dll"] {
            assert_eq!(of(library, "py3", "none"), Some(Provider::Windows), "{library}");
        }
        for library in ["api-ms-win-x.dll", "api-ms-l1-1-0-x.dll", "geos_c.dll", "msvcp140d.dll"] {
            assert_eq!(of(library, "cp312", "cp312"), None, "{library}");
        }
    }

    #[test]
    fn names_provider_of_each_library() {
        assert_eq!(of("MSVCP140.dll", "py3", "none"), Some(Provider::Redistributable));
        assert_eq!(of("mfc140u.dll", "py3", "none"), Some(Provider::Redistributable));
        assert_eq!(of("vcruntime140_1.dll", "py3", "none"), Some(Provider::Interpreter));
        assert_eq!(of("nvcuda.dll", "py3", "none"), Some(Provider::Driver));
        assert!(!Provider::Driver.is_certain());
    }
}
