use std::borrow::Cow;

use serde::Serialize;

use super::rows::{Part, Row, Rows};
use base::names::Mode;
use plan::title;
use plan::{Absent, Distribution, Dropped, Form, Member, Note, Plan, Step, Unowned, Warning};

#[derive(Serialize)]
struct Data<'p> {
    version: &'p str,
    mode: Option<&'static str>,
    platform: &'p str,
    distributions: Vec<Head<'p>>,
    notes: Vec<String>,
    warnings: &'p [Warning],
    dropped: &'p [Dropped],
    #[serde(flatten)]
    rows: Rows<'p>,
}

#[derive(Serialize)]
struct Head<'p> {
    title: String,
    form: Form,
    platform: Option<&'p str>,
    directory: &'p str,
    summary: &'p str,
    license: &'p str,
    requires: &'p [String],
    scripts: Vec<&'p str>,
    archive: Option<&'p str>,
    estimate: Option<u64>,
}

/// Escapes `<`, so that no text can end the script element.
pub(super) fn json(plan: &Plan) -> String {
    let data = Data {
        version: plan.version.as_str(),
        mode: plan.mode.map(Mode::as_str),
        platform: &plan.platform_tag,
        distributions: plan.distributions.iter().map(head).collect(),
        notes: plan.notes.iter().map(Note::shown).collect(),
        warnings: &plan.warnings,
        dropped: &plan.dropped,
        rows: rows(plan),
    };
    serde_json::to_string(&data)
        .expect("texts and numbers can be written as JSON")
        .replace('<', "\\u003c")
}

fn head(distribution: &Distribution) -> Head<'_> {
    Head {
        title: title(distribution),
        form: distribution.form,
        platform: distribution.platform_tag.as_deref(),
        directory: distribution.directory.as_str(),
        summary: &distribution.metadata.summary,
        license: &distribution.metadata.license,
        requires: &distribution.metadata.requires_dist,
        scripts: distribution.entry_points.keys().map(String::as_str).collect(),
        archive: distribution.archive.as_ref().map(|a| a.path.as_str()),
        estimate: distribution.estimate,
    }
}

/// Files, then absent and unowned paths. Paths imply directories.
fn rows(plan: &Plan) -> Rows<'_> {
    let mut rows = Rows::new();
    for (number, distribution) in (1..).zip(&plan.distributions) {
        let licenses = license_directory(plan, distribution);
        let archived = distribution
            .archive
            .iter()
            .flat_map(|a| &a.members)
            .filter(|m| m.step != Step::Directory);
        let members = distribution.members.iter().filter(|m| m.step != Step::Directory);
        members.for_each(|m| rows.push(file(number, Part::File, m.path.as_str().into(), m)));
        distribution.licenses.iter().for_each(|m| {
            rows.push(file(number, Part::License, format!("{licenses}{}", m.path).into(), m));
        });
        archived.for_each(|m| rows.push(file(number, Part::Archive, m.path.as_str().into(), m)));
    }
    for (number, distribution) in (1..).zip(&plan.distributions) {
        distribution.absent.iter().for_each(|a| rows.push(absent(number, a)));
    }
    plan.unowned.iter().for_each(|u| rows.push(unowned(u)));
    rows
}

fn license_directory(plan: &Plan, distribution: &Distribution) -> String {
    match distribution.form {
        Form::Wheel => {
            format!("{}-{}.dist-info/licenses/", distribution.name.file_stem(), plan.version)
        }
        Form::Sdist => String::new(),
    }
}

fn file<'p>(distribution: u64, part: Part, path: Cow<'p, str>, member: &'p Member) -> Row<'p> {
    let (detail, rpath) = match &member.step {
        Step::Copy { .. } | Step::Directory | Step::Render { .. } => ("".into(), ""),
        Step::Relink { rpath, clear_execstack, .. } => {
            let stack = if *clear_execstack { "executable stack cleared" } else { "" };
            (stack.into(), rpath.as_str())
        }
        Step::Stub { target, .. } => (format!("starts {target}").into(), ""),
        Step::Alias { needed, rpath, .. } => (format!("needs {needed}").into(), rpath.as_str()),
        Step::Link { target } => (format!("leads to {target}").into(), ""),
    };
    Row {
        distribution,
        part,
        step: member.step.name(),
        path,
        size: member.size,
        executable: member.executable,
        rule: &member.rule,
        source: member.step.source(),
        detail,
        rpath,
    }
}

fn absent(distribution: u64, absent: &Absent) -> Row<'_> {
    Row {
        distribution,
        part: Part::File,
        step: "absent",
        path: absent.path.as_str().into(),
        size: 0,
        executable: false,
        rule: &absent.rule,
        source: None,
        detail: absent.reason.as_str().into(),
        rpath: "",
    }
}

fn unowned(unowned: &Unowned) -> Row<'_> {
    Row {
        distribution: 0,
        part: Part::File,
        step: "unowned",
        path: unowned.origin.path.as_str().into(),
        size: unowned.size,
        executable: false,
        rule: "",
        source: Some(&unowned.origin),
        detail: unowned.reason.as_str().into(),
        rpath: "",
    }
}
