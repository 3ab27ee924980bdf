use std::collections::HashSet;

use base::source::Code;
use catalog::SourcePath;
use plan::LossSubject;
use plan::resolve::AllowedLosses;
use plan::{Note, Plan};

/// Losses that options or new lines of the manifest allow.
pub struct Allowed<'a> {
    allows_all: bool,
    /// Unowned files of `--allow unowned-files`.
    unowned: HashSet<&'a SourcePath>,
    lines: Option<AllowedLosses>,
}

impl<'a> Allowed<'a> {
    pub fn new(codes: &[Code], new: Option<&'a Plan>, lines: Option<AllowedLosses>) -> Self {
        let unowned = new.filter(|_| codes.contains(&Code::UnownedFiles));
        let unowned = unowned.into_iter().flat_map(|plan| &plan.unowned);
        Self {
            allows_all: codes.contains(&Code::Loss),
            unowned: unowned.map(|unowned| &unowned.origin).collect(),
            lines,
        }
    }

    pub fn note_of(&self, subject: &LossSubject<'_>) -> Option<Note> {
        if let Some(note) = self.lines.as_ref().and_then(|lines| lines.note_of(subject)) {
            return Some(note);
        }
        let is_unowned = subject.source.is_some_and(|source| self.unowned.contains(source));
        let code = match (self.allows_all, is_unowned) {
            (true, _) => Code::Loss,
            (false, true) => Code::UnownedFiles,
            (false, false) => return None,
        };
        Some(format!("--allow {code}").into())
    }
}
