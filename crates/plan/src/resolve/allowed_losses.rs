use super::targets;
use crate::Lost;
use crate::{Note, Request};
use base::names::{ArtifactName, Component};
use base::source::{Code, Place};
use catalog::{Catalog, Origin};
use manifest::{Glob, IgnoreRule, Manifest};

/// Lines of a change that accept losses: `drop`, `ignore "unowned-files"` and `ignore "loss"`.
///
/// Those of the old manifest accepted earlier losses.
#[derive(Debug)]
pub struct AllowedLosses {
    files: Vec<OfFiles>,
    ignores: Vec<IgnoreRule>,
}

#[derive(Debug, Clone)]
struct OfFiles {
    what: &'static str,
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
        let old_lines = old.as_ref().map(of_files).unwrap_or_default();
        let is_new = |line: &OfFiles| !old_lines.iter().any(|other| other.is_like(line));
        let known_ignores = old.as_ref().map_or(&[][..], |old| &old.excuses.findings);
        let ignores = new.excuses.with(Code::Loss);
        let ignores = ignores.filter(|rule| !known_ignores.iter().any(|other| alike(other, rule)));
        Self {
            ignores: ignores.cloned().collect(),
            files: of_files(&new).into_iter().filter(is_new).collect(),
        }
    }

    /// Returns the reason of the first matching line.
    pub fn of(&self, lost: &Lost<'_>) -> Option<Note> {
        let file = lost.origin.and_then(|origin| self.files.iter().find(|line| line.takes(origin)));
        let file = file.map(|line| note(&format!("{}: {}", line.what, line.reason), &line.place));
        file.or_else(|| {
            let path = lost.name.parse().ok();
            let accepts =
                |rule: &&IgnoreRule| rule.accepts(Code::Loss, lost.package, path.as_ref());
            let rule = self.ignores.iter().find(accepts)?;
            Some(note(&rule.reason, &rule.code.place))
        })
    }
}

fn note(text: &str, place: &Place) -> Note {
    Note { text: text.to_owned(), rule: Some(place.to_string()) }
}

fn of_files(manifest: &Manifest) -> Vec<OfFiles> {
    let drops = manifest.drops.iter().map(|rule| OfFiles {
        what: "dropped",
        glob: rule.glob.value.clone(),
        place: rule.glob.place.clone(),
        artifact: rule.artifact.clone(),
        component: rule.component,
        reason: rule.reason.clone(),
    });
    let unowned = manifest.excuses.unowned.iter().map(|rule| OfFiles {
        what: "unowned",
        glob: rule.glob.value.clone(),
        place: rule.glob.place.clone(),
        artifact: rule.artifact.clone(),
        component: rule.component,
        reason: rule.reason.clone(),
    });
    drops.chain(unowned).collect()
}

impl OfFiles {
    fn is_like(&self, other: &Self) -> bool {
        self.what == other.what
            && self.glob.as_str() == other.glob.as_str()
            && (&self.artifact, self.component) == (&other.artifact, other.component)
    }

    fn takes(&self, origin: &Origin) -> bool {
        self.artifact.as_ref().is_none_or(|name| *name == origin.artifact.name)
            && self.component.is_none_or(|component| component == origin.artifact.component)
            && self.glob.matches(&origin.path)
    }
}

fn alike(one: &IgnoreRule, other: &IgnoreRule) -> bool {
    let glob = |rule: &IgnoreRule| rule.glob.as_ref().map(|glob| glob.as_str().to_owned());
    let package = |rule: &IgnoreRule| rule.package.as_ref().map(|name| name.value.clone());
    one.code.value == other.code.value && (glob(one), package(one)) == (glob(other), package(other))
}
