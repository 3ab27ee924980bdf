use std::io::{self, Read};
use std::path::Path;

use super::{Ignored, Unfound};
use crate::finding::Finding;
use crate::{stable_abi, stack};
use binary::dlls::Dll;
use binary::elf::{self, ElfFacts, ElfInfo, ElfKind, Import, Machine};
use binary::pe::{self, ImportLibrary as Library};
use binary::policy::{
    self, Architecture, Subject, SymbolSet, Symbols, Unresolved, Unused, windows_tag,
};
use binary::site::Linked;
use binary::systems::PythonTags;
use binary::systems::stable_abi::{Release, newest};
use wheel::package::devel_archive::{self, is_devel_archive};
use wheel::package::wheel::site_path;
use wheel::package::{
    ContentKind, FileContent, Kept, Metadata, OpenError, Requirement, Wheel, WheelName,
};

pub(super) struct Contents {
    pub file: String,
    pub name: WheelName,
    pub files: Vec<File>,
    pub pe_files: Vec<(String, &'static str)>,
    pub dlls: Vec<Dll>,
    /// Names of all files.
    pub names: Vec<String>,
    pub requires: Vec<Requirement>,
    pub findings: Vec<Finding>,
    pub ignored: Vec<Ignored>,
    /// A file for a machine without policies, and the machine.
    pub foreign: Option<(String, String)>,
}

pub(super) struct File {
    path: String,
    pub facts: ElfFacts,
    imports: Vec<Import>,
    pub symbols: Option<Symbols>,
    /// `None` inside an archive.
    pub linked: Option<Linked>,
    pub lost: Vec<Unfound>,
    lost_names: Vec<String>,
}

impl File {
    pub fn unresolved(&self, set: &SymbolSet<'_>) -> Option<Unresolved> {
        let symbols = set.unresolved(self.symbols.as_ref()?);
        (!symbols.is_empty()).then(|| Unresolved { file: self.path.clone(), symbols })
    }

    pub fn unused(&self, set: &SymbolSet<'_>) -> Option<Unused> {
        let libraries = set.unused(self.symbols.as_ref()?);
        (!libraries.is_empty()).then(|| Unused { file: self.path.clone(), libraries })
    }

    pub fn of_python(&self, set: &SymbolSet<'_>, python: &PythonTags<'_>) -> Vec<Finding> {
        let symbols = self.symbols.as_ref().map(|own| set.of_python(own)).unwrap_or_default();
        let found = stable_abi::findings(python, symbols);
        found.into_iter().map(|finding| finding.of(&*self.path)).collect()
    }

    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    pub(crate) fn lose(&mut self, library: &str, at: &str, certain: bool) {
        self.lost_names.push(library.to_owned());
        let (file, library, at) = (self.path.clone(), library.to_owned(), at.to_owned());
        self.lost.push(Unfound { file, library, at, certain });
    }

    fn is_for(&self, architecture: Architecture) -> bool {
        Architecture::of(self.facts.machine) == Some(architecture)
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    pub fn subject(&self) -> Subject<'_> {
        Subject {
            file: &self.path,
            facts: &self.facts,
            imports: &self.imports,
            lost: &self.lost_names,
        }
    }
}

impl Contents {
    /// Oldest Python with all functions of the stable ABI that each file uses.
    pub fn abi_needs(&self, set: &SymbolSet<'_>) -> Vec<(Release, String)> {
        let python = PythonTags { python: &self.name.python, abi: &self.name.abi };
        if python.stable_abi().is_none() {
            return Vec::new();
        }
        let of_elf = self.files.iter().filter_map(|file| {
            let symbols = set.of_python(file.symbols.as_ref()?);
            Some((newest(symbols)?, file.path.clone()))
        });
        let of_pe = self
            .dlls
            .iter()
            .filter_map(|dll| Some((newest(stable_abi::of_dll(dll))?, dll.path.clone())));
        of_elf.chain(of_pe).collect()
    }

    pub fn read(path: &Path) -> Result<Self, OpenError> {
        let wheel = Wheel::open(path)?;
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut contents = Self {
            file,
            name: wheel.name().clone(),
            files: Vec::new(),
            pe_files: Vec::new(),
            dlls: Vec::new(),
            names: Vec::new(),
            requires: requires(&wheel),
            findings: Vec::new(),
            ignored: Vec::new(),
            foreign: None,
        };
        for entry in wheel.entries() {
            let (name, member) = (&entry.name, wheel.member(entry)?);
            let read = if is_devel_archive(name) {
                devel_archive::each(name, member, |archived, bytes| {
                    let path = format!("{name}: {}", archived.path);
                    contents.add_name(&archived.path);
                    if archived.is_file() {
                        contents.add(&path, None, archived.size, bytes)?;
                    }
                    Ok(())
                })
            } else {
                contents.add_name(name);
                contents.add(name, site_path(name), entry.size, member)
            };
            read.map_err(|source| wheel.unread(name, source))?;
        }
        contents.ignore_others();
        Ok(contents)
    }

    /// Ignores files for other processors than the name of the wheel says.
    fn ignore_others(&mut self) {
        let named = Architecture::in_tags(&self.name.platform);
        let Some(named) = named.filter(|named| self.files.iter().any(|it| it.is_for(*named)))
        else {
            return;
        };
        let other = |file: &mut File| {
            matches!(file.facts.machine, Machine::Other { .. }) && !file.is_for(named)
        };
        let others = self.files.extract_if(.., other);
        self.ignored.extend(others.map(|file| Ignored {
            reason: another_machine(&file.facts).unwrap_or_default(),
            file: file.path,
        }));
    }

    fn add(
        &mut self,
        path: &str,
        installed: Option<String>,
        size: u64,
        member: impl Read,
    ) -> io::Result<()> {
        let content = FileContent::new(member)?;
        match content.kind() {
            ContentKind::Elf => self.add_elf(path, installed, &content.keep(size)?),
            ContentKind::Pe => self.add_pe(path, &content.keep(size)?),
            ContentKind::Archive if path.ends_with(".lib") => {
                if let Ok(Some(library)) = pe::import_library(&content.keep(size)?) {
                    let Library { machine, dlls, .. } = library;
                    self.dlls.push(Dll::import_library(path.to_owned(), machine, &dlls));
                }
            }
            ContentKind::Archive | ContentKind::Script | ContentKind::Data => {}
        }
        Ok(())
    }

    fn add_name(&mut self, path: &str) {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.names.push(name.to_ascii_lowercase());
    }

    fn add_pe(&mut self, path: &str, file: &Kept) {
        let ignored = |reason| Ignored { file: path.to_owned(), reason };
        match pe::facts(file) {
            Ok(Some(facts)) => match windows_tag(&facts) {
                Some(tag) => {
                    // Unreadable tables can have any symbol.
                    let symbols = pe::symbols(file).ok().flatten();
                    self.dlls.push(Dll::new(path.to_owned(), &facts, symbols));
                    self.pe_files.push((path.to_owned(), tag));
                }
                None => self.ignored.push(ignored("no platform tag covers it".to_owned())),
            },
            Ok(None) => {}
            Err(error) => self.ignored.push(ignored(error.to_string())),
        }
    }

    fn add_elf(&mut self, path: &str, installed: Option<String>, file: &Kept) {
        let read =
            elf::inspect_any(file).and_then(|info| Ok((policy::facts_of(&info, file)?, info)));
        let (facts, info) = match read {
            Ok(read) => read,
            Err(error) => {
                return self
                    .ignored
                    .push(Ignored { file: path.to_owned(), reason: error.to_string() });
            }
        };
        if let Some(machine) = unjudged(&facts, &info) {
            self.ignored.push(Ignored { file: path.to_owned(), reason: machine.clone() });
            self.foreign.get_or_insert((path.to_owned(), machine));
        } else if facts.kind.runs_on_hosts() {
            self.findings.extend(stack::finding(&facts).map(|finding| finding.of(path)));
            let symbols = Symbols::of(&info, &facts, path, file);
            // Only versioned imports occur in messages.
            let imports =
                info.imports(file).into_iter().filter(|import| import.version.is_some()).collect();
            let is_module = symbols.as_ref().is_some_and(Symbols::is_module);
            let linked = installed.and_then(|installed| Linked::new(installed, &facts, is_module));
            let path = path.to_owned();
            let (lost, lost_names) = (Vec::new(), Vec::new());
            self.files.push(File { path, facts, imports, symbols, linked, lost, lost_names });
        }
    }
}

/// A wheel without readable metadata requires nothing.
fn requires(wheel: &Wheel) -> Vec<Requirement> {
    let text = wheel.info("METADATA").unwrap_or_default();
    Metadata::parse(&text).requirements().filter_map(Result::ok).collect()
}

/// `EM_ARM`.
const ARM: u16 = 40;
/// Version 5 of the ABI, with hard floats (ELF for the ARM architecture), of which `armv7l` is.
const ARM_ABI: (u32, u32) = (0xff00_0400, 0x0500_0400);

fn unjudged(facts: &ElfFacts, info: &ElfInfo) -> Option<String> {
    let machine = another_machine(facts)?;
    let has_policies = facts.kind.runs_on_hosts() && Architecture::of(facts.machine).is_some();
    let (mask, abi) = ARM_ABI;
    match facts.machine {
        Machine::Other { number: ARM, .. } if info.flags() & mask != abi => {
            Some("for ARM without hard floats".to_owned())
        }
        _ => (!has_policies).then_some(machine),
    }
}

fn another_machine(facts: &ElfFacts) -> Option<String> {
    match (facts.machine, facts.kind) {
        (_, ElfKind::CodeObject | ElfKind::DebugOnly) => None,
        (Machine::Other { number, bits, .. }, _) => {
            Some(format!("for another machine (number {number}, {bits}-bit)"))
        }
        _ => None,
    }
}
