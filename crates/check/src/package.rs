use std::collections::BTreeSet;

use base::names::{Form, VariantLabel};
use base::version::Version;
use binary::systems::PythonTags;
use wheel::archive::variants::Variants;
use wheel::package::{Requirement, WheelName};

use crate::{File, Finding, Finished, Known, Needs, Scheme, Why};

/// Package of a set, as an installer leaves it.
#[derive(Debug)]
pub struct Package<'a> {
    /// File as given, or as planned.
    pub file: String,
    /// Wheel or sdist.
    pub form: Form,
    /// Normalized name of the distribution, if valid.
    pub name: Option<String>,
    /// Version, if valid.
    pub version: Option<Version>,
    /// Tags in the file name of a wheel, if valid.
    pub tags: Option<WheelName>,
    /// Directory of the metadata, if unique.
    pub info: Option<String>,
    /// Valid requirements.
    pub requires: Vec<Requirement>,
    /// Normalized extras.
    pub extras: BTreeSet<String>,
    /// ISA or family that the manifest makes the package for; `None` for all.
    pub target: Known<Option<String>>,
    /// Label and data of a wheel variant.
    pub variant: Option<VariantFacts>,
    /// Files of the package, of its devel archive, and commands.
    pub files: Vec<File<'a>>,
    /// Unpacked size in bytes.
    pub size: u64,
    /// Number of entry points.
    pub entry_points: usize,
    /// Facts that a plan has in other forms.
    pub finished: Known<Box<Finished>>,
    /// Faults of reading.
    pub faults: Vec<Finding>,
}

/// Label and data of a wheel variant.
#[derive(Debug)]
pub struct VariantFacts {
    /// Label in the file name.
    pub label: VariantLabel,
    /// Text of its data in the metadata directory.
    pub text: String,
    /// Parsed data, if valid.
    pub variants: Option<Variants>,
}

impl<'a> Package<'a> {
    /// Package of which only the file is known.
    pub fn new(file: &str, form: Form) -> Self {
        Self {
            file: file.to_owned(),
            form,
            name: None,
            version: None,
            tags: None,
            info: None,
            requires: Vec::new(),
            extras: BTreeSet::new(),
            target: Known::Unknown(Why::NoManifest),
            variant: None,
            files: Vec::new(),
            size: 0,
            entry_points: 0,
            finished: Known::Unknown(Why::NoBytes),
            faults: Vec::new(),
        }
    }

    /// Files that installers place, with the commands they write.
    pub fn installed(&self) -> impl Iterator<Item = &File<'a>> {
        self.files.iter().filter(|file| file.is_installed())
    }

    /// Files of the archive itself.
    pub fn members(&self) -> impl Iterator<Item = &File<'a>> {
        let is_member = |file: &&File<'a>| {
            file.scheme != Scheme::Devel && !matches!(file.kind, crate::Kind::Command)
        };
        self.files.iter().filter(is_member)
    }

    /// Number of files in the archive.
    pub fn file_count(&self) -> usize {
        self.members().count()
    }

    /// Number of ELF and PE files in the archive.
    pub fn binary_count(&self) -> usize {
        self.members().filter(|file| file.needs().is_some()).count()
    }

    /// Binaries with their files, also of a devel archive.
    pub fn binaries(&self) -> impl Iterator<Item = (&File<'a>, &Needs<'a>)> {
        self.files.iter().filter_map(|file| Some((file, file.needs()?)))
    }

    /// Tags of the interpreter; without valid ones, of any.
    pub fn python(&self) -> PythonTags<'_> {
        match &self.tags {
            Some(tags) => PythonTags { python: &tags.python, abi: &tags.abi },
            None => PythonTags::ANY,
        }
    }

    /// Returns whether a platform tag is `any`.
    pub fn is_for_any(&self) -> bool {
        self.tags.as_ref().is_some_and(|tags| tags.platform.split('.').any(|tag| tag == "any"))
    }

    /// Returns whether all platform tags are for Linux.
    pub fn is_only_for_linux(&self) -> bool {
        let is_linux = |tag: &str| tag.contains("linux_");
        self.tags.as_ref().is_some_and(|tags| tags.platform.split('.').all(is_linux))
    }
}
