//! DLLs of Python interpreters, by the tags of a wheel (PEP 425).

/// Python and ABI tags of a wheel, each separated by dots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PythonTags<'t> {
    /// `cp312`, `py3`, `py2.py3`.
    pub python: &'t str,
    /// `cp312`, `abi3`, `none`.
    pub abi: &'t str,
}

/// Installed with `CPython` 3.8 and later.
const RUNTIME: [&str; 2] = ["vcruntime140.dll", "vcruntime140_1.dll"];

impl PythonTags<'_> {
    /// Any Python 3.
    pub const ANY: PythonTags<'static> = PythonTags { python: "py3", abi: "none" };

    /// Returns the oldest release of a wheel for the stable ABI.
    pub fn stable_abi(&self) -> Option<(u32, u32)> {
        if self.abi != "abi3" {
            return None;
        }
        let minors = self.pythons().map(|tag| tag.strip_prefix("cp3").unwrap_or_default().parse());
        Some((3, minors.collect::<Result<Vec<u32>, _>>().ok()?.into_iter().min()?))
    }

    /// Returns whether every interpreter with these tags has the DLL; `None` if no interpreter
    /// brings one of this name. `name` is in lower case.
    pub fn has_dll(&self, name: &str) -> Option<bool> {
        if RUNTIME.contains(&name) {
            return Some(true);
        }
        if name.starts_with("libpypy3") && name.ends_with("-c.dll") {
            return Some(self.pythons().any(|tag| tag.starts_with("pp") || tag.starts_with("py")));
        }
        let text = name.strip_prefix("python")?.strip_suffix(".dll")?;
        let (text, debug) = text.strip_suffix("_d").map_or((text, ""), |text| (text, "d"));
        let (version, threads) = text.strip_suffix('t').map_or((text, ""), |text| (text, "t"));
        let is_version = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
        is_version.then(|| self.has_version(version, &format!("{threads}{debug}")))
    }

    fn pythons(&self) -> impl Iterator<Item = &str> {
        self.python.split('.')
    }

    fn has_version(&self, version: &str, letters: &str) -> bool {
        let any = |abi: &str| match abi {
            // A wheel for several versions can choose its modules by version.
            "none" => {
                let cpython = |tag: &str| tag == format!("cp{version}");
                let generic = |tag: &str| tag == format!("py{}", &version[..1]);
                version == "3" || self.pythons().any(|tag| generic(tag) || cpython(tag))
            }
            "abi3" => version == "3" && letters.is_empty(),
            "abi3t" => version == "3" && letters == "t",
            _ => {
                let suffix = abi.strip_prefix("cp").unwrap_or_default();
                let digits = suffix.bytes().take_while(u8::is_ascii_digit).count();
                let (number, suffix) = suffix.split_at(digits);
                // Python before 3.8 had the letter `m`.
                let suffix = suffix.trim_start_matches('m');
                (number == version || (version == "3" && number.starts_with('3')))
                    && suffix == letters
            }
        };
        self.abi.split('.').any(any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dll_belongs_to_its_version() {
        let has = |name: &str, python: &str, abi: &str| PythonTags { python, abi }.has_dll(name);
        for (name, python, abi) in [
            ("python313.dll", "cp313", "cp313"),
            ("python3.dll", "cp313", "cp313"),
            ("python313t.dll", "cp313", "cp313t"),
            ("python3.dll", "cp39", "abi3"),
            ("python312.dll", "py3", "none"),
            ("python312.dll", "cp311.cp312", "none"),
            ("vcruntime140.dll", "cp39", "abi3"),
        ] {
            assert_eq!(has(name, python, abi), Some(true), "{name} {python}-{abi}");
        }
        for (name, python, abi) in [
            ("python312.dll", "cp313", "cp313"),
            ("python313.dll", "cp313", "cp313t"),
            ("python313.dll", "cp39", "abi3"),
            ("python313_d.dll", "cp313", "cp313"),
            ("python27.dll", "cp313", "none"),
            ("python27.dll", "py3", "none"),
        ] {
            assert_eq!(has(name, python, abi), Some(false), "{name} {python}-{abi}");
        }
        assert_eq!(has("pythoncom312.dll", "cp312", "cp312"), None);
        assert_eq!(has("kernel32.dll", "cp312", "cp312"), None);
    }
}
