//! Another platform tag, or another version, for a finished wheel: name, `WHEEL`, `METADATA` and RECORD change, every
//! other member's bytes are copied as they are stored.
//!
//! A wheel that rockpack built becomes byte for byte the wheel that a build for the other tag makes.

use std::path::{Path, PathBuf};

use crate::edit::{Content, Edit, Made, MakeError, Prepared};
use crate::package::header::rewritten;
use crate::package::{OpenError, Wheel, WheelName};
use base::names::{PlatformTags, VariantLabel};
use base::version::Version;

mod same;

/// Fault of a wheel that cannot get another tag.
#[derive(Debug, thiserror::Error)]
pub enum RetagError {
    /// The wheel cannot be read, or the new one cannot be written.
    #[error(transparent)]
    Make(#[from] MakeError),
    /// A file of the wheel does not run on the platforms of the tag.
    #[error("{} cannot be `{tag}`: {reason}", .wheel.display())]
    Contradicted {
        /// The wheel.
        wheel: PathBuf,
        /// The tag, one of the set.
        tag: String,
        /// The contradiction.
        reason: String,
    },
}

/// Writes `wheel` into the directory `into` under the platform tag `platform`, or the tags of a
/// compressed set (`manylinux_2_28_x86_64.linux_x86_64`). `wheel` stays.
///
/// # Errors
/// Fails if the wheel cannot be read, another file has the new name, or the disk fails.
pub fn retag(wheel: &Path, platform: &PlatformTags, into: &Path) -> Result<Made, MakeError> {
    prepare(wheel, platform, into)?.put()
}

/// Writes `wheel` with its new tag as [`retag`] does, but under a temporary name.
///
/// # Errors
/// Fails if the wheel cannot be read, or the disk fails.
pub fn prepare(wheel: &Path, platform: &PlatformTags, into: &Path) -> Result<Prepared, MakeError> {
    let old = Wheel::open(wheel)?;
    let place = into.join(new_name(wheel, platform.as_str(), old.name().variant.as_ref()));
    let name = WheelName { platform: platform.to_string(), ..old.name().clone() };
    if same::is_one_file(wheel, &place) && same::has_tags(&old, &name)? {
        return Ok(Prepared::finished(place));
    }
    retagged(&old, &name)?.prepare(place)
}

/// Writes `wheel` into the directory `into` under another version, with its metadata directories and its metadata.
/// `wheel` stays. Files that the project itself wrote its version into keep it.
///
/// # Errors
/// Fails if the wheel cannot be read, another file has the new name, or the disk fails.
pub fn reversion(wheel: &Path, version: &Version, into: &Path) -> Result<Made, MakeError> {
    let old = Wheel::open(wheel)?;
    let name = WheelName { version: version.clone(), ..old.name().clone() };
    let mut edit = retagged(&old, &name)?;
    let metadata = rewritten(&old.info("METADATA")?, |field| {
        let is_version = field.name.eq_ignore_ascii_case("Version");
        Some(if is_version { version.to_string() } else { field.value.clone() })
    });
    edit.replace(&format!("{}/METADATA", old.dist_info()), Content::text(metadata));
    edit.set_version(version);
    edit.prepare(into.join(name.to_string()))?.put()
}

/// Refuses tags before [`retag`] writes anything: `contradiction` gives a reason against a tag, and is called for each
/// of the set.
///
/// # Errors
/// Fails if the wheel cannot be read, or a tag is contradicted.
pub fn check(
    wheel: &Path,
    platform: &PlatformTags,
    mut contradiction: impl FnMut(&str) -> Option<String>,
) -> Result<(), RetagError> {
    Wheel::open(wheel).map_err(MakeError::from)?;
    for tag in platform.iter() {
        if let Some(reason) = contradiction(tag) {
            let (wheel, tag) = (wheel.to_owned(), tag.to_owned());
            return Err(RetagError::Contradicted { wheel, tag, reason });
        }
    }
    Ok(())
}

/// File name with another platform tag, before the label of a variant. The rest stays as its maker spelt it.
fn new_name(wheel: &Path, platform: &str, label: Option<&VariantLabel>) -> String {
    let name = wheel.file_name().unwrap_or_default().to_string_lossy();
    let before = |text: &str| text.rsplit_once('-').map_or(text, |(before, _)| before).to_owned();
    let stem = before(&name);
    match label {
        None => format!("{stem}-{platform}.whl"),
        Some(label) => format!("{}-{platform}-{label}.whl", before(&stem)),
    }
}

/// An edit that gives `WHEEL` the tags of `name`.
fn retagged<'w>(old: &'w Wheel, name: &WheelName) -> Result<Edit<'w>, OpenError> {
    let mut edit = Edit::of(old);
    let text = wheel_file(&old.info("WHEEL")?, name);
    edit.replace(&format!("{}/WHEEL", old.dist_info()), Content::text(text));
    Ok(edit)
}

/// `WHEEL` with the tags of `name` in the place of its tags.
fn wheel_file(old: &str, name: &WheelName) -> String {
    let lines: Vec<&str> = old.lines().filter(|line| !line.is_empty()).collect();
    let is_tag = |line: &&str| {
        line.split_once(':').is_some_and(|(field, _)| field.trim().eq_ignore_ascii_case("tag"))
    };
    let at = lines.iter().position(is_tag).unwrap_or(lines.len());
    let line = |line: &&str| format!("{line}\n");
    let before = lines[..at].iter().map(line);
    let after = lines[at..].iter().filter(|line| !is_tag(line)).map(line);
    before.chain(name.tags().map(|tag| format!("Tag: {tag}\n"))).chain(after).collect()
}
