//! Changes of one wheel.

use std::collections::BTreeMap;

use super::archive::{self, ArchiveRewrite};
use super::change::{Change, Changed};
use super::error::PromoteError;
use super::input::{Input, OwnFacts, refusal};
use super::set::Set;
use super::targets::{Pruning, Targets};
use super::{facts, metadata, module, values};
use base::version::Version;
use manifest::{PromoteRule, VersionFile};
use record::sbom::{Document, SBOM_PATH};
use wheel::edit::with_version;
use wheel::package::Wheel;
use wheel::package::zip_file::LONGEST_TEXT;

const LONGEST_SBOM: u64 = 64 << 20;

#[derive(Debug)]
pub(super) struct WheelRewrite {
    pub version: Version,
    /// Changed members, by their old names.
    pub contents: BTreeMap<String, String>,
    /// Changed archive of a devel wheel.
    pub archive: Option<ArchiveRewrite>,
    /// Made by rockpack, so the result must be as rockpack makes it.
    pub own: bool,
}

pub(super) struct Context<'c> {
    pub set: &'c Set,
    pub targets: &'c Targets,
    pub rule: Option<&'c PromoteRule>,
}

pub(super) fn with_facts(
    input: &Input,
    own: &OwnFacts,
    wheel: &Wheel,
    context: &Context<'_>,
) -> Result<(WheelRewrite, Vec<Change>), PromoteError> {
    let Context { set, targets, .. } = context;
    let package = input.file_name();
    let damaged = |member: &str| {
        let reason = format!("`{member}` does not have the form that rockpack writes");
        refusal(&package, reason, "build it again with this rockpack")
    };
    let mut work = Work::new(wheel, &set.to, true);
    let facts = facts::promoted(&own.member, &own.text, &own.facts, set, targets);
    work.apply(&own.member, facts.ok_or_else(|| damaged(&own.member))?.0);
    let (requirements, extras) = metadata::requirements(&input.metadata);
    work.metadata(input, &set.to, set, &targets.pruning(&requirements, &extras)?);
    let platform_dir = own.facts.get("platform_dir").and_then(serde_json::Value::as_str);
    let links = platform_dir.map(|directory| format!("{directory}/.devel_links/"));
    for entry in wheel.entries() {
        let below = links.as_deref().and_then(|links| entry.name.strip_prefix(links));
        if below.and_then(|file| file.strip_suffix(".json")).is_some() {
            // A manifest has a line for each file, and may be long.
            let text = text_of(wheel, &entry.name)?;
            let changed = facts::promoted_links(&entry.name, &text, set);
            work.apply(&entry.name, changed.ok_or_else(|| damaged(&entry.name))?);
        }
    }
    let sbom = format!("{}/{SBOM_PATH}", wheel.dist_info());
    if wheel.zip().find(&sbom).is_some() {
        let text = text_of(wheel, &sbom)?;
        let changed = bill(&sbom, &text, wheel.dist_info(), &set.to);
        work.apply(&sbom, changed.ok_or_else(|| damaged(&sbom))?);
    }
    if let Some(rule) = context.rule {
        let new = |value: &str| same_version(value, &set.from).then(|| set.to.to_string());
        work.files(rule, &package, &new, None)?;
        work.rewrite.archive = archive::planned(wheel, rule, &new, &mut work.changes)?;
    }
    Ok((work.rewrite, work.changes))
}

pub(super) fn without_facts(
    input: &Input,
    wheel: &Wheel,
    to: &Version,
    pruning: &Pruning,
    context: &Context<'_>,
) -> Result<(WheelRewrite, Vec<Change>), PromoteError> {
    let set = context.set;
    let mut work = Work::new(wheel, to, false);
    work.metadata(input, to, set, pruning);
    if let Some(rule) = context.rule {
        let new = |value: &str| new_version(value, input, to, set);
        work.files(rule, &input.file_name(), &new, Some(context.targets))?;
    }
    Ok((work.rewrite, work.changes))
}

/// New value for the version of a package that rockpack did not make, of the set, or of the set in
/// a local part.
pub(super) fn new_version(value: &str, input: &Input, to: &Version, set: &Set) -> Option<String> {
    if same_version(value, &input.version) {
        return Some(to.to_string());
    }
    if same_version(value, &set.from) {
        return Some(set.to.to_string());
    }
    let (local, new_local) = set.locals();
    (value.replace(['-', '_'], ".").to_lowercase() == local).then_some(new_local)
}

fn same_version(value: &str, version: &Version) -> bool {
    value.parse::<Version>().is_ok_and(|value| value == *version)
}

struct Work<'w> {
    wheel: &'w Wheel,
    rewrite: WheelRewrite,
    changes: Vec<Change>,
}

impl<'w> Work<'w> {
    fn new(wheel: &'w Wheel, to: &Version, own: bool) -> Self {
        let rewrite =
            WheelRewrite { version: to.clone(), contents: BTreeMap::new(), archive: None, own };
        Self { wheel, rewrite, changes: Vec::new() }
    }

    fn apply(&mut self, member: &str, changed: Changed) {
        if !changed.changes.is_empty() {
            self.rewrite.contents.insert(member.to_owned(), changed.text);
            self.changes.extend(changed.changes);
        }
    }

    fn metadata(&mut self, input: &Input, to: &Version, set: &Set, pruning: &Pruning) {
        let member = format!("{}/METADATA", self.wheel.dist_info());
        let changed = metadata::promoted(&member, &input.metadata, to, set, pruning);
        self.apply(&member, changed);
    }

    /// Changes the files of a rule. With the `targets` of a package that rockpack did not make,
    /// each file must exist and hold the version, and modules lose targets. Facts of rockpack are
    /// changed already.
    fn files(
        &mut self,
        rule: &PromoteRule,
        package: &str,
        new: values::NewValue<'_>,
        targets: Option<&Targets>,
    ) -> Result<(), PromoteError> {
        for file in &rule.files {
            let before = self.changes.len();
            for entry in self.wheel.entries().iter().filter(|e| file.is_meant(&e.name)) {
                if entry.size > LONGEST_TEXT || self.rewrite.contents.contains_key(&entry.name) {
                    continue;
                }
                if let Some(text) = self.wheel.text(&entry.name).ok().flatten() {
                    self.apply(
                        &entry.name,
                        module::promoted(&entry.name, &text, file, new, targets),
                    );
                }
            }
            if targets.is_some() && self.changes.len() == before {
                unversioned(package, file)?;
            }
        }
        Ok(())
    }
}

/// Fails if no file has the version although one must.
pub(super) fn unversioned(package: &str, file: &VersionFile) -> Result<(), PromoteError> {
    if file.optional.is_some() {
        return Ok(());
    }
    let reason = format!("no file `{}` has the version", file.glob.as_str());
    let help = "correct its `version-file` line in packages.kdl, or give a reason: optional=\"…\"";
    Err(refusal(package, reason, help))
}

fn text_of(wheel: &Wheel, name: &str) -> Result<String, PromoteError> {
    let Some(index) = wheel.zip().find(name) else { return Ok(String::new()) };
    let bytes = wheel.zip().bytes(&wheel.entries()[index], LONGEST_SBOM);
    let text = bytes.and_then(|bytes| {
        String::from_utf8(bytes)
            .map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))
    });
    Ok(text.map_err(|source| wheel.unread(name, source))?)
}

/// Bill of materials; `None` if rockpack did not write it.
fn bill(member: &str, text: &str, info: &str, to: &Version) -> Option<Changed> {
    let mut document = Document::read(text).ok()?;
    if document.to_json() != text {
        return None;
    }
    let changes = document.set_version(to, (info, &with_version(info, to)));
    let change = |(field, from, to): (&str, String, String)| Change::new(member, field, from, to);
    Some(Changed { text: document.to_json(), changes: changes.into_iter().map(change).collect() })
}
