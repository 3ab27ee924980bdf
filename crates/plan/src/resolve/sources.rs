use super::paths::PathMap;
use binary::elf::ElfFacts;
use catalog::{ArtifactId, Catalog, CatalogEntry, EntryKind, FileType, SourcePath};

pub(super) struct Sources<'a>(PathMap<&'a str, Vec<(&'a ArtifactId, &'a CatalogEntry)>>);

impl<'a> Sources<'a> {
    pub fn new(catalog: &'a Catalog) -> Self {
        let mut sources: PathMap<&str, Vec<_>> = PathMap::default();
        for artifact in &catalog.artifacts {
            for entry in artifact
                .entries
                .iter()
                .filter(|entry| matches!(&entry.kind, EntryKind::File { content, .. } if !matches!(content, FileType::Data)))
            {
                sources.entry(entry.path.as_str()).or_default().push((&artifact.id, entry));
            }
        }
        Self(sources)
    }

    pub(crate) fn has_pe(&self) -> bool {
        let is_pe = |entry: &CatalogEntry| entry.pe().is_some() || entry.import_library().is_some();
        self.0.values().flatten().any(|(_, entry)| is_pe(entry))
    }

    pub fn facts(&self, origin: &SourcePath) -> Option<&'a ElfFacts> {
        self.entry(origin)?.elf()
    }

    pub fn entry(&self, origin: &SourcePath) -> Option<&'a CatalogEntry> {
        let candidates = self.0.get(origin.path.as_str())?.iter();
        let is_origin = |(artifact, entry): &&(&ArtifactId, &CatalogEntry)| {
            **artifact == origin.artifact && entry.base == origin.base
        };
        candidates.copied().find(|one| is_origin(&one)).map(|(_, entry)| entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::catalog;

    #[test]
    fn bytes_come_from_an_artifact_a_base_and_a_path() {
        let catalog = catalog(
            "a_lib_generic f so a-one base=one
             a_lib_generic f so a-two base=two
             a_lib_generic t text t base=one
             b_lib_generic f so b-one base=one",
        );
        let sources = Sources::new(&catalog);
        let cases = [
            ("a", "one", "f", Some("a-one")),
            ("a", "two", "f", Some("a-two")),
            ("b", "one", "f", Some("b-one")),
            ("b", "two", "f", None),
            ("a", "one", "t", None),
        ];
        for (name, base, path, soname) in cases {
            let artifact = catalog.artifacts.iter().find(|a| a.id.name.as_str() == name).unwrap();
            let (artifact, base) = (artifact.id.clone(), base.parse().unwrap());
            let origin = SourcePath { artifact, base, path: path.parse().unwrap() };
            let found = sources.facts(&origin).and_then(|facts| facts.soname.as_deref());
            assert_eq!(found, soname, "{origin}");
        }
        assert!(!sources.has_pe());
    }
}
