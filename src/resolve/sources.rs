//! The ELF files of a catalog by where they are: a member knows its source, not what it is.

use std::collections::HashMap;

use crate::catalog::{ArtifactId, Catalog, Origin};
use crate::elf::ElfFacts;
use crate::names::RelPath;

/// Facts of ELF files, by their path, artifact and base directory.
pub(super) struct Sources<'a>(HashMap<&'a str, Vec<(&'a ArtifactId, &'a RelPath, &'a ElfFacts)>>);

impl<'a> Sources<'a> {
    pub fn new(catalog: &'a Catalog) -> Self {
        let mut sources: HashMap<&str, Vec<_>> = HashMap::new();
        for artifact in &catalog.artifacts {
            for entry in &artifact.entries {
                if let Some(facts) = entry.elf() {
                    sources.entry(entry.path.as_str()).or_default().push((
                        &artifact.id,
                        &entry.base,
                        facts,
                    ));
                }
            }
        }
        Self(sources)
    }

    /// What is known of the file that bytes come from, when it is an ELF file.
    pub fn facts(&self, origin: &Origin) -> Option<&'a ElfFacts> {
        let there = self.0.get(origin.path.as_str())?;
        there
            .iter()
            .find(|(artifact, base, _)| **artifact == origin.artifact && **base == origin.base)
            .map(|(_, _, facts)| *facts)
    }
}
