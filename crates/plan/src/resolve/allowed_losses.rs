use super::targets;
use crate::LossSubject;
use crate::{Note, Request};
use base::names::{ArtifactName, Component};
use base::source::{Code, Place};
use catalog::{Catalog, SourcePath};
use manifest::{Glob, IgnoreRule, Manifest};

/// Lines of a change that accept losses: `drop`, `ignore "unowned-files"` and `ignore "loss"`. Lines of
/// the old manifest do not count, because they accepted earlier losses; with another reason, they are new.
#[derive(Debug)]
pub struct AllowedLosses {
    files: Vec<FileLine>,
    ignores: Vec<IgnoreRule>,
}

#[derive(Debug, Clone)]
struct FileLine {
    /// State of the files in the plan, for the note.
    state: &'static str,
    glob: Glob,
    place: Place,
    artifact: Option<ArtifactName>,
    component: Option<Component>,
    reason: String,
}

impl AllowedLosses {
    /// Lines of `new` that `old` lacks.
    pub fn new(
        old: Option<&Manifest>,
        new: &Manifest,
        catalog: &Catalog,
        request: &Request,
    ) -> Self {
        let target = targets::target(catalog, request);
        let (old, new) = (old.map(|old| old.for_target(target)), new.for_target(target));
        let old_lines = old.as_ref().map(file_lines).unwrap_or_default();
        let is_new = |line: &FileLine| !old_lines.iter().any(|other| other.is_like(line));
        let old_ignores = old.as_ref().map_or(&[][..], |old| &old.excuses.findings);
        let ignores = new.excuses.with(Code::Loss);
        let ignores = ignores.filter(|rule| !old_ignores.iter().any(|other| alike(other, rule)));
        Self {
            ignores: ignores.cloned().collect(),
            files: file_lines(&new).into_iter().filter(is_new).collect(),
        }
    }

    /// Returns the reason of the first matching line.
    pub fn note_of(&self, subject: &LossSubject<'_>) -> Option<Note> {
        let line = subject.source.and_then(|source| self.files.iter().find(|l| l.takes(source)));
        let note_of_file =
            line.map(|line| note(&format!("{}: {}", line.state, line.reason), &line.place));
        note_of_file.or_else(|| {
            let path = subject.name.parse().ok();
            let accepts =
                |rule: &&IgnoreRule| rule.accepts(Code::Loss, subject.package, path.as_ref());
            let rule = self.ignores.iter().find(accepts)?;
            Some(note(&rule.reason, &rule.code.place))
        })
    }
}

fn note(text: &str, place: &Place) -> Note {
    Note { text: text.to_owned(), rule: Some(place.to_string()) }
}

fn file_lines(manifest: &Manifest) -> Vec<FileLine> {
    let drops = manifest.drops.iter().map(|rule| FileLine {
        state: "dropped",
        glob: rule.glob.value.clone(),
        place: rule.glob.place.clone(),
        artifact: rule.artifact.clone(),
        component: rule.component,
        reason: rule.reason.clone(),
    });
    let unowned = manifest.excuses.unowned.iter().map(|rule| FileLine {
        state: "unowned",
        glob: rule.glob.value.clone(),
        place: rule.glob.place.clone(),
        artifact: rule.artifact.clone(),
        component: rule.component,
        reason: rule.reason.clone(),
    });
    drops.chain(unowned).collect()
}

impl FileLine {
    fn is_like(&self, other: &Self) -> bool {
        self.state == other.state
            && self.glob.as_str() == other.glob.as_str()
            && (&self.artifact, self.component) == (&other.artifact, other.component)
            && self.reason == other.reason
    }

    fn takes(&self, source: &SourcePath) -> bool {
        self.artifact.as_ref().is_none_or(|name| *name == source.artifact.name)
            && self.component.is_none_or(|component| component == source.artifact.component)
            && self.glob.matches(&source.path)
    }
}

fn alike(one: &IgnoreRule, other: &IgnoreRule) -> bool {
    let glob = |rule: &IgnoreRule| rule.glob.as_ref().map(|glob| glob.as_str().to_owned());
    let package = |rule: &IgnoreRule| rule.package.as_ref().map(|name| name.value.clone());
    one.code.value == other.code.value
        && (glob(one), package(one)) == (glob(other), package(other))
        && one.reason == other.reason
}
