//! Extension modules for another Python or platform than the wheel.
//!
//! Names are `NAME.cpython-311-x86_64-linux-gnu.so`, on Windows `NAME.cp311-win_amd64.pyd`, for the
//! stable ABI `NAME.abi3.so`. A module for another version is a leftover of another build.

use base::source::Code;
use wheel::package::WheelName;

use crate::{Finding, Set};

/// Accepts modules for several versions in wheels for any Python 3, but none in wheels for any platform.
pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &set.packages {
        let Some(tags) = &package.tags else { continue };
        for file in package.members() {
            let Some(module) = Module::parse(file.name()) else { continue };
            if let Some(reason) = module.contradiction(tags) {
                let message = format!("extension module {reason}");
                let finding = Finding::error(Code::ForeignExtension, message);
                findings.push(finding.of(&*file.member).within(&package.file));
            }
        }
    }
    findings
}

/// Architectures with the same name in modules and tags.
const ARCHITECTURES: [&str; 5] = ["x86_64", "aarch64", "win_amd64", "win_arm64", "win32"];

struct Module<'n> {
    /// Python tag: `cp311`, also with letters for free-threaded or debug builds (`cp313t`).
    python: String,
    /// Rest of the name: `x86_64-linux-gnu`, `win_amd64`, `darwin`.
    platform: &'n str,
}

impl<'n> Module<'n> {
    fn parse(file: &'n str) -> Option<Self> {
        let stem = file.strip_suffix(".so").or_else(|| file.strip_suffix(".pyd"))?;
        let (_, abi) = stem.rsplit_once('.')?;
        let (version, platform) = match abi.strip_prefix("cpython-") {
            Some(rest) => rest.split_once('-').unwrap_or((rest, "")),
            None => abi.strip_prefix("cp")?.split_once('-').unwrap_or((&abi[2..], "")),
        };
        let is_version = version.starts_with('3') && version.len() > 1;
        (is_version && version.bytes().all(|byte| byte.is_ascii_alphanumeric()))
            .then(|| Self { python: format!("cp{version}"), platform })
    }

    fn contradiction(&self, name: &WheelName) -> Option<String> {
        if name.platform == "any" {
            return Some(format!("for {} in a wheel for any platform", self.python));
        }
        let pythons = || name.python.split('.');
        // Letters of free-threaded and debug builds are only in the ABI tag.
        let plain = self.python.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let fits = |tag: &str| {
            tag == plain
                && (name.abi == "abi3" || name.abi.split('.').any(|abi| abi == self.python))
        };
        if pythons().any(|tag| tag.starts_with("cp")) && !pythons().any(fits) {
            let (python, tags) = (&self.python, format!("{}-{}", name.python, name.abi));
            return Some(format!("for {python} in a wheel for {tags}"));
        }
        let platforms = || name.platform.split('.');
        let architecture = self.platform.split('-').next().unwrap_or_default();
        let is_linux = self.platform.contains("linux");
        let fits = |tag: &str| tag.ends_with(architecture) && tag.contains("linux") == is_linux;
        // Other architectures have different names in modules and tags.
        if ARCHITECTURES.contains(&architecture) && !platforms().any(fits) {
            return Some(format!("for {} in a wheel for {}", self.platform, name.platform));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_modules_for_another_python_or_platform() {
        let reason = |file: &str, tags: &str| {
            let name: WheelName = format!("a-1-{tags}.whl").parse().unwrap();
            Module::parse(file).and_then(|module| module.contradiction(&name))
        };
        let linux = "cp311-cp311-manylinux_2_28_x86_64";
        for (file, tags) in [
            ("a.cpython-311-x86_64-linux-gnu.so", linux),
            ("a.cpython-311-x86_64-linux-gnu.so", "cp311-cp311-linux_x86_64.manylinux1_x86_64"),
            ("a.cpython-311-x86_64-linux-gnu.so", "cp310.cp311-cp310.cp311-linux_x86_64"),
            ("a.cpython-313t-x86_64-linux-gnu.so", "cp313-cp313t-linux_x86_64"),
            ("a.abi3.so", linux),
            ("a.so", linux),
            ("a.cpython-39-x86_64-linux-gnu.so", "cp39-abi3-linux_x86_64"),
            // Artifact packages may contain modules for debuggers with several Pythons.
            ("a.cpython-39-x86_64-linux-gnu.so", "py3-none-linux_x86_64"),
            ("a.cp311-win_amd64.pyd", "cp311-cp311-win_amd64"),
            ("a.cpython-311-darwin.so", "cp311-cp311-macosx_11_0_arm64"),
            ("libcp3.cpp-3.so", linux),
        ] {
            assert_eq!(reason(file, tags), None, "{file} in {tags}");
        }
        for (file, tags, expected) in [
            ("a.cpython-39-x86_64-linux-gnu.so", linux, "for cp39 in a wheel for cp311-cp311"),
            (
                "a.cpython-311-x86_64-linux-gnu.so",
                "cp39-abi3-linux_x86_64",
                "for cp311 in a wheel for cp39-abi3",
            ),
            (
                "a.cpython-313t-x86_64-linux-gnu.so",
                "cp313-cp313-linux_x86_64",
                "for cp313t in a wheel for cp313-cp313",
            ),
            (
                "a.cpython-311-aarch64-linux-gnu.so",
                linux,
                "for aarch64-linux-gnu in a wheel for manylinux_2_28_x86_64",
            ),
            ("a.cp311-win_amd64.pyd", linux, "for win_amd64 in a wheel for manylinux_2_28_x86_64"),
            (
                "a.cpython-39-x86_64-linux-gnu.so",
                "py3-none-any",
                "for cp39 in a wheel for any platform",
            ),
        ] {
            assert_eq!(reason(file, tags).as_deref(), Some(expected), "{file} in {tags}");
        }
    }
}
