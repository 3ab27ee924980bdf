//! Changes of one wheel.

use std::collections::BTreeMap;

use super::archive::{self, ArchiveRewrite};
use super::change::{Change, Changed};
use super::error::PromoteError;
use super::input::{Input, Own, refused};
use super::set::Set;
use super::targets::{Pruning, Targets};
use super::{facts, metadata, values};
use base::version::Version;
use manifest::PromoteRule;
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

pub(super) fn own(
    input: &Input,
    own: &Own,
    wheel: &Wheel,
    context: &Context<'_>,
) -> Result<(WheelRewrite, Vec<Change>), PromoteError> {
    let Context { set, targets, .. } = context;
    let package = input.file_name();
    let damaged = |member: &str| {
        let what = format!("`{member}` does not have the form that rockpack writes");
        refused(&package, what, "build it again with this rockpack")
    };
    let mut work = Work::new(wheel, &set.to, true);
    let facts = facts::promoted(&own.member, &own.text, &own.facts, set, targets);
    work.put(&own.member, facts.ok_or_else(|| damaged(&own.member))?.0);
    let (requirements, extras) = metadata::requirements(&input.metadata);
    work.metadata(input, &set.to, set, &targets.pruning(&requirements, &extras)?);
    let platform_dir = own.facts.get("platform_dir").and_then(serde_json::Value::as_str);
    let links = platform_dir.map(|directory| format!("{directory}/.devel_links/"));
    for entry in wheel.entries() {
        let below = links.as_deref().and_then(|links| entry.name.strip_prefix(links));
        if below.and_then(|file| file.strip_suffix(".json")).is_some() {
            // A manifest has a line for each file, and may be long.
            let text = text_of(wheel, &entry.name)?;
            let done = facts::promoted_links(&entry.name, &text, set);
            work.put(&entry.name, done.ok_or_else(|| damaged(&entry.name))?);
        }
    }
    let sbom = format!("{}/{SBOM_PATH}", wheel.dist_info());
    if wheel.zip().find(&sbom).is_some() {
        let text = text_of(wheel, &sbom)?;
        let done = bill(&sbom, &text, wheel.dist_info(), &set.to);
        work.put(&sbom, done.ok_or_else(|| damaged(&sbom))?);
    }
    if let Some(rule) = context.rule {
        let new = |value: &str| same_version(value, &set.from).then(|| set.to.to_string());
        work.files(rule, &package, &new, false)?;
        work.rewrite.archive = archive::planned(wheel, rule, &new, &mut work.changes)?;
    }
    Ok((work.rewrite, work.changes))
}

pub(super) fn other(
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
        let (local, new_local) = set.locals();
        let new = |value: &str| {
            if same_version(value, &input.version) {
                Some(to.to_string())
            } else if same_version(value, &set.from) {
                Some(set.to.to_string())
            } else {
                (value.replace(['-', '_'], ".").to_lowercase() == local).then(|| new_local.clone())
            }
        };
        work.files(rule, &input.file_name(), &new, true)?;
    }
    Ok((work.rewrite, work.changes))
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

    fn put(&mut self, member: &str, changed: Changed) {
        if !changed.changes.is_empty() {
            self.rewrite.contents.insert(member.to_owned(), changed.text);
            self.changes.extend(changed.changes);
        }
    }

    fn metadata(&mut self, input: &Input, to: &Version, set: &Set, pruning: &Pruning) {
        let member = format!("{}/METADATA", self.wheel.dist_info());
        let done = metadata::promoted(&member, &input.metadata, to, set, pruning);
        self.put(&member, done);
    }

    /// Changes the files of a rule. If `needed`, each must exist and hold the version.
    fn files(
        &mut self,
        rule: &PromoteRule,
        package: &str,
        new: values::NewValue<'_>,
        needed: bool,
    ) -> Result<(), PromoteError> {
        for file in &rule.files {
            let before = self.changes.len();
            for entry in self.wheel.entries().iter().filter(|e| file.is_meant(&e.name)) {
                if entry.size > LONGEST_TEXT {
                    continue;
                }
                if let Some(text) = self.wheel.text(&entry.name).ok().flatten() {
                    let done = values::promoted(&entry.name, &text, file.key.as_deref(), new);
                    self.put(&entry.name, done);
                }
            }
            if needed && file.optional.is_none() && self.changes.len() == before {
                let what = format!("no file `{}` has the version", file.glob.as_str());
                let help = "correct its `version-file` line in packages.kdl, or give a reason: \
                    optional=\"…\"";
                return Err(refused(package, what, help));
            }
        }
        Ok(())
    }
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
