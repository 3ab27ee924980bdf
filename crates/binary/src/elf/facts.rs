use object::elf::{self, DynamicTag};
use serde::{Deserialize, Serialize};

use super::error::ElfError;
use super::info::{ElfInfo, ElfKind, read_any};
use super::stack::ExecutableStack;
use crate::Machine;
use crate::ReadAt;

/// Kind, names and dependencies of an ELF file.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ElfFacts {
    /// Role of the file.
    pub kind: ElfKind,
    /// Processor that the file is built for.
    pub machine: Machine,
    /// `DT_SONAME`: name by which other files need it.
    pub soname: Option<String>,
    /// `DT_NEEDED`: needed libraries, in order.
    pub needed: Vec<String>,
    /// `DT_RPATH`: search path before `LD_LIBRARY_PATH`.
    pub rpath: Option<String>,
    /// `DT_RUNPATH`: search path after `LD_LIBRARY_PATH`; disables `DT_RPATH`.
    pub runpath: Option<String>,
    /// Oldest glibc with all needed versions, as major and minor version.
    pub glibc: Option<(u32, u32)>,
    /// Needed symbol versions of each library.
    pub versions: Vec<VersionNeed>,
    /// `PT_INTERP`: loader of an executable.
    pub interpreter: Option<String>,
    /// Imported symbols that a platform policy forbids although it allows their library.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbidden: Vec<String>,
    /// Required x86-64 level, such as 2 for x86-64-v2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isa_level: Option<u8>,
    /// Number of the ISA of a code object (`EF_AMDGPU_MACH`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isa_number: Option<u32>,
    /// Request for an executable stack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executable_stack: Option<ExecutableStack>,
}

impl ElfFacts {
    /// Both tags with their values for messages, because a file can have both.
    pub fn search_path(&self) -> String {
        let tags = [("RPATH", &self.rpath), ("RUNPATH", &self.runpath)];
        let tags = tags.into_iter().filter_map(|(tag, value)| Some((tag, value.as_ref()?)));
        let tags: Vec<String> = tags.map(|(tag, value)| format!("{tag} `{value}`")).collect();
        if tags.is_empty() { "RPATH none".to_owned() } else { tags.join(", ") }
    }
}

/// Needed symbol versions of one library.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct VersionNeed {
    /// SONAME of the library.
    pub library: String,
    /// Versions in file order.
    pub versions: Vec<String>,
}

/// Reads the facts, for any processor; `None` if the file is not ELF.
pub fn facts(file: &(impl ReadAt + ?Sized)) -> Result<Option<ElfFacts>, ElfError> {
    match read_any(file, ElfInfo::facts) {
        Ok(facts) => Ok(Some(facts)),
        Err(ElfError::NotElf) => Ok(None),
        Err(error) => Err(error),
    }
}

impl ElfInfo {
    /// Returns the facts.
    pub fn facts(&self) -> Result<ElfFacts, ElfError> {
        let versions = self.version_needs()?;
        let needed = self.needed()?;
        Ok(ElfFacts {
            kind: self.kind,
            machine: self.machine,
            soname: self.text("DT_SONAME", elf::DT_SONAME)?,
            needed,
            rpath: self.text("DT_RPATH", elf::DT_RPATH)?,
            runpath: self.text("DT_RUNPATH", elf::DT_RUNPATH)?,
            glibc: versions
                .iter()
                .flat_map(|need| &need.versions)
                .filter_map(|name| glibc_version(name))
                .max(),
            versions,
            interpreter: self.interpreter.as_deref().map(lossy),
            // `policy::facts` adds these.
            forbidden: Vec::new(),
            isa_level: self.isa_level,
            isa_number: self.isa_number,
            executable_stack: self.executable_stack(),
        })
    }

    fn version_needs(&self) -> Result<Vec<VersionNeed>, ElfError> {
        let name = |field, offset| self.string(field, offset).map(lossy);
        let needs = self.needs.entries.iter().map(|need| {
            let versions =
                need.names.iter().map(|&at| name("vna_name", at)).collect::<Result<_, _>>()?;
            Ok(VersionNeed { library: name("vn_file", need.file)?, versions })
        });
        needs.collect()
    }

    fn text(&self, field: &'static str, tag: DynamicTag) -> Result<Option<String>, ElfError> {
        self.tag(tag).map(|at| self.string(field, at).map(lossy)).transpose()
    }

    fn needed(&self) -> Result<Vec<String>, ElfError> {
        let offsets = self.dynamic.iter().flat_map(|dynamic| dynamic.values(elf::DT_NEEDED));
        offsets.map(|at| self.string("DT_NEEDED", at).map(lossy)).collect()
    }

    pub(super) fn string(&self, field: &'static str, offset: u64) -> Result<&[u8], ElfError> {
        let strings = self.strings.as_ref().ok_or(ElfError::Dynamic { field, value: offset })?;
        strings.string(field, offset)
    }
}

/// Replaces invalid UTF-8; names that matter are ASCII.
fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn glibc_version(name: &str) -> Option<(u32, u32)> {
    let rest = name.strip_prefix("GLIBC_")?;
    if rest == "ABI_DT_RELR" {
        // A marker without symbols: loaders before 2.36 cannot read DT_RELR.
        return Some((2, 36));
    }
    let mut numbers = rest.split('.').map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Some((major, minor)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_path_has_both_tags() {
        let file = fs_err::File::open(std::env::current_exe().unwrap()).unwrap();
        let mut facts = facts(&file).unwrap().unwrap();
        for (rpath, runpath, expected) in [
            (None, None, "RPATH none"),
            (Some("a"), None, "RPATH `a`"),
            (None, Some("b"), "RUNPATH `b`"),
            (Some("a"), Some("b"), "RPATH `a`, RUNPATH `b`"),
        ] {
            (facts.rpath, facts.runpath) = (rpath.map(str::to_owned), runpath.map(str::to_owned));
            assert_eq!(facts.search_path(), expected);
        }
    }

    #[test]
    fn test_program_requires_glibc() {
        let file = fs_err::File::open(std::env::current_exe().unwrap()).unwrap();
        let facts = facts(&file).unwrap().unwrap();
        assert_eq!(facts.kind, ElfKind::Executable);
        assert!(facts.needed.iter().any(|name| name.starts_with("libc.so")), "{:?}", facts.needed);
        assert!(facts.glibc.is_some_and(|version| version >= (2, 17)), "{:?}", facts.glibc);
        assert!(facts.interpreter.is_some());
        let json = serde_json::to_string(&facts).unwrap();
        assert_eq!(serde_json::from_str::<ElfFacts>(&json).unwrap(), facts);
    }

    #[test]
    fn returns_no_facts_without_elf_signature() {
        for bytes in [&b""[..], b"\x7fEL", b"#!/bin/sh\nexit 0\n"] {
            assert_eq!(facts(bytes).unwrap(), None);
        }
    }

    #[test]
    fn refuses_truncated_header() {
        let bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0";
        assert!(matches!(facts(&bytes[..18]), Err(ElfError::Truncated { need: 20, have: 18, .. })));
        assert!(matches!(facts(&bytes[..]), Err(ElfError::Truncated { need: 64, have: 24, .. })));
    }

    #[test]
    fn versions_of_glibc_compare_by_number() {
        assert_eq!(glibc_version("GLIBC_2.3.4"), Some((2, 3)));
        assert_eq!(glibc_version("GLIBC_2.17"), Some((2, 17)));
        assert_eq!(glibc_version("GLIBC_ABI_DT_RELR"), Some((2, 36)));
        assert_eq!(glibc_version("GLIBC_PRIVATE"), None);
        assert_eq!(glibc_version("GLIBCXX_3.4"), None);
        assert!(glibc_version("GLIBC_2.9") < glibc_version("GLIBC_2.17"));
    }
}
