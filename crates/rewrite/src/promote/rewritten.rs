use std::collections::BTreeMap;

use super::change::Change;
use super::error::PromoteError;
use super::input::{Body, Input, OwnFacts, SdistFile, output, refusal};
use super::set::Set;
use super::targets::Pruning;
use super::wheel::{self, Context};
use super::{Action, Package, facts, metadata, module};
use ::wheel::archive::egg_info;
use ::wheel::archive::sdist::{SdistMember, sdist_file_name};
use ::wheel::package::WheelName;
use base::names::DistName;
use base::version::Version;

pub(super) fn package(
    mut input: Input,
    new: Option<Version>,
    context: &Context<'_>,
) -> Result<Package, PromoteError> {
    let (below, from) = (input.below_dist(), input.found.path.clone());
    let Some(new) = new else {
        no_pins(&input, context.set)?;
        let output = output(&input.found, &input.file_name())?;
        let (changes, action) = (Vec::new(), Action::Copy);
        return Ok(Package { from, input: below, output, changes, action });
    };
    let output = output(&input.found, &file_name(&input, &new)?)?;
    let (action, changes) = match (std::mem::take(&mut input.body), &input.own) {
        (Body::Wheel(wheel), Some(own)) => {
            let (rewrite, changes) = wheel::with_facts(&input, own, &wheel, context)?;
            (Action::Wheel { wheel, rewrite }, changes)
        }
        (Body::Wheel(wheel), None) => {
            let (requirements, extras) = metadata::requirements(&input.metadata);
            let pruning = context.targets.pruning(&requirements, &extras)?;
            let (rewrite, changes) = wheel::without_facts(&input, &wheel, &new, &pruning, context)?;
            (Action::Wheel { wheel, rewrite }, changes)
        }
        (Body::Sdist(files), Some(own)) => {
            let (members, changes) = sdist(&input, own, files, context)?;
            (Action::Sdist { name: dist_name(&input)?, members }, changes)
        }
        (Body::Sdist(files), None) if input.is_of_set => {
            let (members, changes) = other_sdist(&input, files, context)?;
            (Action::Sdist { name: dist_name(&input)?, members }, changes)
        }
        (Body::Sdist(_), None) => {
            let reason = "rockpack did not make this sdist, and the manifest does not declare it";
            let help = "build it from the sources of the new version";
            return Err(refusal(&input.file_name(), reason, help));
        }
    };
    Ok(Package { from, input: below, output, changes, action })
}

pub(super) fn dist_name(input: &Input) -> Result<DistName, PromoteError> {
    let wrong = |error| refusal(&input.file_name(), format!("{error}"), "build it again");
    input.name.parse().map_err(|error: base::names::NameError| wrong(error))
}

fn file_name(input: &Input, to: &Version) -> Result<String, PromoteError> {
    let Body::Wheel(wheel) = &input.body else {
        return Ok(sdist_file_name(&dist_name(input)?, to));
    };
    let old = input.file_name();
    let new = WheelName { version: to.clone(), ..wheel.name().clone() }.to_string();
    let name = old.split('-').next().unwrap_or_default();
    let rest = new.split_once('-').map_or("", |(_, rest)| rest);
    Ok(format!("{name}-{rest}"))
}

fn no_pins(input: &Input, set: &Set) -> Result<(), PromoteError> {
    let (requirements, _) = metadata::requirements(&input.metadata);
    match requirements.iter().find(|requirement| set.repinned(&requirement.text).is_some()) {
        None => Ok(()),
        Some(pin) => {
            let reason = format!("the requirement `{}` has the old version", pin.text);
            let help = "name it in a `promote` line of packages.kdl if it carries the version of \
                the others; otherwise build it against the new version";
            Err(refusal(&input.file_name(), reason, help))
        }
    }
}

fn sdist(
    input: &Input,
    own: &OwnFacts,
    files: Vec<SdistFile>,
    context: &Context<'_>,
) -> Result<(Vec<SdistMember>, Vec<Change>), PromoteError> {
    let package = input.file_name();
    let rewrite = facts::promoted(&own.member, &own.text, &own.facts, context.set, context.targets);
    let Some((facts, lines)) = rewrite else {
        let reason = format!("`{}` does not have the form that rockpack writes", own.member);
        return Err(refusal(&package, reason, "build it again with this rockpack"));
    };
    let pruning = pruning(input, context)?.and_lines(lines);
    let new = |path: &str| (path == own.member).then(|| facts.text.clone());
    let (members, changes) = with_metadata(input, files, context, &pruning, new)?;
    Ok((members, [changes, facts.changes].concat()))
}

fn pruning(input: &Input, context: &Context<'_>) -> Result<Pruning, PromoteError> {
    let (requirements, extras) = metadata::requirements(&input.metadata);
    context.targets.pruning(&requirements, &extras)
}

/// Sdist of another tool: metadata, and the files of a rule.
fn other_sdist(
    input: &Input,
    files: Vec<SdistFile>,
    context: &Context<'_>,
) -> Result<(Vec<SdistMember>, Vec<Change>), PromoteError> {
    let (package, set) = (input.file_name(), context.set);
    if files.is_empty() {
        let reason = "it has links, faults or more bytes than an sdist of a selector";
        return Err(refusal(&package, reason, "see its faults with `rockpack wheel verify`"));
    }
    let (mut texts, mut changes) = (BTreeMap::new(), Vec::new());
    for file in context.rule.iter().flat_map(|rule| &rule.files) {
        let before = changes.len();
        for member in files.iter().filter(|member| file.is_meant(&member.path)) {
            let Ok(text) = std::str::from_utf8(&member.content) else { continue };
            let text = texts.get(&member.path).map_or(text, String::as_str);
            let new = |value: &str| wheel::new_version(value, input, &set.to, set);
            let rewrite = module::promoted(&member.path, text, file, &new, Some(context.targets));
            texts.insert(member.path.clone(), rewrite.text);
            changes.extend(rewrite.changes);
        }
        if changes.len() == before {
            wheel::unversioned(&package, file)?;
        }
    }
    let pruning = pruning(input, context)?;
    let new = |path: &str| texts.get(path).cloned();
    let (members, of_metadata) = with_metadata(input, files, context, &pruning, new)?;
    Ok((members, [of_metadata, changes].concat()))
}

/// Members with new metadata, and new texts of others.
fn with_metadata(
    input: &Input,
    files: Vec<SdistFile>,
    context: &Context<'_>,
    pruning: &Pruning,
    new: impl Fn(&str) -> Option<String>,
) -> Result<(Vec<SdistMember>, Vec<Change>), PromoteError> {
    let (package, set) = (input.file_name(), context.set);
    let info = metadata::promoted("PKG-INFO", &input.metadata, &set.to, set, pruning);
    let (requirements, _) = metadata::requirements(&info.text);
    let requires = egg_info::requires(requirements.iter().map(|one| one.text.as_str()));
    let mut members = Vec::new();
    for SdistFile { path, executable, content } in files {
        let text = match (path.as_str(), egg_info::file_of(&path)) {
            ("PKG-INFO", _) | (_, Some(egg_info::PKG_INFO)) => Some(info.text.clone()),
            (_, Some(egg_info::REQUIRES)) => Some(requires.clone()),
            (path, _) => new(path),
        };
        let path = path.parse().map_err(|_| {
            let reason = format!("`{path}` is not a valid path");
            refusal(&package, reason, "see its faults with `rockpack wheel verify`")
        })?;
        members.push(SdistMember {
            path,
            executable,
            content: text.map_or(content, String::into_bytes),
        });
    }
    Ok((members, info.changes))
}
