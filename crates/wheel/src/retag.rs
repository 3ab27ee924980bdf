//! Another platform tag or version for a finished wheel: name, `WHEEL`, `METADATA` and RECORD
//! change, all other bytes are copied.
//!
//! The result equals a build for the other tag, byte for byte.

use std::path::Path;

use crate::edit::{Edit, EditError, FinishedWheel, MakeError, MemberContent, Prepared};
use crate::package::header::rewritten;
use crate::package::{Wheel, WheelName};
use base::names::{PlatformTags, VariantLabel};
use base::version::Version;

mod same;

/// Writes `wheel` into `into` under one or more platform tags
/// (`manylinux_2_28_x86_64.linux_x86_64`).
pub fn retag(
    wheel: &Path,
    platform: &PlatformTags,
    into: &Path,
) -> Result<FinishedWheel, MakeError> {
    prepare(wheel, platform, into)?.finish()
}

/// Writes like [`retag`], but under a temporary name.
pub fn prepare(wheel: &Path, platform: &PlatformTags, into: &Path) -> Result<Prepared, MakeError> {
    let old = Wheel::open(wheel)?;
    let place = into.join(new_name(wheel, platform.as_str(), old.name().variant.as_ref()));
    let name = WheelName { platform: platform.to_string(), ..old.name().clone() };
    if same::is_one_file(wheel, &place) && same::has_tags(&old, &name)? {
        return Ok(Prepared::finished(place));
    }
    let edit = retagged(&old, &name).map_err(|error| MakeError::new(error, wheel, &place))?;
    edit.prepare(place)
}

/// Writes `wheel` into `into` under another version. Files into which the project wrote its version
/// keep it.
pub fn reversion(wheel: &Path, version: &Version, into: &Path) -> Result<FinishedWheel, MakeError> {
    let old = Wheel::open(wheel)?;
    let name = WheelName { version: version.clone(), ..old.name().clone() };
    let place = into.join(name.to_string());
    let failed = |error| MakeError::new(error, wheel, &place);
    let mut edit = retagged(&old, &name).map_err(failed)?;
    let metadata = rewritten(&old.info("METADATA")?, |field| {
        let is_version = field.name.eq_ignore_ascii_case("Version");
        Some(if is_version { version.to_string() } else { field.value.clone() })
    });
    let member = format!("{}/METADATA", old.dist_info());
    edit.replace(&member, MemberContent::text(metadata)).map_err(failed)?;
    edit.set_version(version).map_err(failed)?;
    edit.prepare(place)?.finish()
}

/// The rest stays as its maker spelt it.
fn new_name(wheel: &Path, platform: &str, label: Option<&VariantLabel>) -> String {
    let name = wheel.file_name().unwrap_or_default().to_string_lossy();
    let before = |text: &str| text.rsplit_once('-').map_or(text, |(before, _)| before).to_owned();
    let stem = before(&name);
    match label {
        None => format!("{stem}-{platform}.whl"),
        Some(label) => format!("{}-{platform}-{label}.whl", before(&stem)),
    }
}

fn retagged<'w>(old: &'w Wheel, name: &WheelName) -> Result<Edit<'w>, EditError> {
    let mut edit = Edit::of(old)?;
    let text = wheel_file(&old.info("WHEEL")?, name);
    edit.replace(&format!("{}/WHEEL", old.dist_info()), MemberContent::text(text))?;
    Ok(edit)
}

fn wheel_file(old: &str, name: &WheelName) -> String {
    let lines: Vec<&str> = old.lines().filter(|line| !line.is_empty()).collect();
    let is_tag = |line: &&str| {
        line.split_once(':').is_some_and(|(field, _)| field.trim().eq_ignore_ascii_case("tag"))
    };
    let index = lines.iter().position(is_tag).unwrap_or(lines.len());
    let line = |line: &&str| format!("{line}\n");
    let before = lines[..index].iter().map(line);
    let after = lines[index..].iter().filter(|line| !is_tag(line)).map(line);
    before.chain(name.tags().map(|tag| format!("Tag: {tag}\n"))).chain(after).collect()
}
