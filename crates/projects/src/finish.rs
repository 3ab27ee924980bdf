//! Finishes built wheels: audit and platform tag.

use std::error::Error;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fs_err as fs;

use base::text::with_causes;
use check::audit;
use wheel::package::{Metadata, Wheel, WheelName};
use wheel::retag;

/// Copies a finished wheel into `into`, which can be on another file system.
///
/// Wheels with the tag `any` keep it. Others are audited together with the wheels in `set` that
/// they require, also indirectly, since these are installed too. `at_most` limits the tag.
pub(crate) fn finish_wheel(
    wheel: &Path,
    set: &[PathBuf],
    into: &Path,
    at_most: Option<&str>,
) -> io::Result<PathBuf> {
    fs::create_dir_all(into)?;
    let name: WheelName = wheel
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .parse()
        .map_err(io::Error::other)?;
    let platform = platform(wheel, &name, set, at_most)?;
    let place = into.join(WheelName { platform: platform.clone(), ..name.clone() }.to_string());
    if place.exists() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!("another process already created {}", place.display()),
        ));
    }
    let place = if platform == name.platform {
        let place = into.join(wheel.file_name().unwrap_or_default());
        fs::copy(wheel, &place)?;
        place
    } else {
        retag::retag(wheel, &platform.parse().map_err(io_error)?, into).map_err(io_error)?.path
    };
    fs::set_permissions(&place, PermissionsExt::from_mode(0o644))?;
    Ok(place)
}

fn platform(
    wheel: &Path,
    name: &WheelName,
    set: &[PathBuf],
    at_most: Option<&str>,
) -> io::Result<String> {
    if name.platform == "any" {
        return Ok(name.platform.clone());
    }
    let required = required(wheel, set)?;
    let together: Vec<&Path> = [wheel].into_iter().chain(required).collect();
    let audits = audit::audit(&together).map_err(io_error)?;
    let Some(audit) = audits.into_iter().next() else { return Ok(name.platform.clone()) };
    if let Some((level, reason)) = at_most.and_then(|level| Some((level, audit.beyond(level)?))) {
        let text = format!("its wheel is {}, beyond `at-most \"{level}\"`: {reason}", audit.tag);
        return Err(io::Error::other(text));
    }
    Ok(audit.tag)
}

fn required<'s>(wheel: &Path, set: &'s [PathBuf]) -> io::Result<Vec<&'s Path>> {
    let mut files: Vec<&Path> = Vec::new();
    let mut next = requirements(wheel)?;
    while let Some(name) = next.pop() {
        let has_name = |file: &&PathBuf| {
            let file = file.file_name().unwrap_or_default().to_string_lossy();
            file.parse::<WheelName>().is_ok_and(|wheel| wheel.dist.normalized() == name)
        };
        for file in set.iter().filter(has_name) {
            if !files.contains(&file.as_path()) {
                files.push(file);
                next.extend(requirements(file)?);
            }
        }
    }
    Ok(files)
}

fn requirements(wheel: &Path) -> io::Result<Vec<String>> {
    let opened = Wheel::open(wheel).map_err(io_error)?;
    let metadata = Metadata::parse(&opened.info("METADATA").map_err(io_error)?);
    let plain = metadata.requirements().flatten().filter(|r| r.of_extras.is_empty());
    Ok(plain.map(|requirement| requirement.name).collect())
}

fn io_error(error: impl Error + 'static) -> io::Error {
    io::Error::other(with_causes(&error))
}
