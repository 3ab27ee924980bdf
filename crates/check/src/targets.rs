use base::names::TargetNames;
use binary::device_code::Reading;

/// Targets and a detector of their code.
#[derive(Debug)]
pub struct Targets {
    names: TargetNames,
    pub(crate) reading: Reading,
}

impl Targets {
    /// Takes the targets declared by a manifest.
    pub fn new(names: TargetNames) -> Self {
        let reading = Reading::new(names.prefixes());
        Self { names, reading }
    }

    pub(crate) fn names_one(&self, member: &str) -> bool {
        !self.in_path(member).is_empty()
    }

    pub(crate) fn names(&self) -> &TargetNames {
        &self.names
    }

    /// ISAs that a path names below its first directory.
    pub(crate) fn in_path<'m>(&'m self, member: &'m str) -> Vec<&'m str> {
        self.names.in_path(member.split_once('/').map_or("", |(_, path)| path))
    }
}
