//! What is done to a wheel between its build and the index.

use std::error::Error;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::audit;
use crate::package::WheelName;
use crate::retag;
use crate::text::with_causes;

/// Puts a finished wheel into the directory `into`, under the platform tag that is true of it.
///
/// A wheel for any platform stays one; of another, the audit says on which it runs.
///
/// # Errors
/// When it cannot be read, audited or put there, or another wheel of the same name is there.
pub fn finish_wheel(wheel: &Path, into: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(into)?;
    let name: WheelName = wheel
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .parse()
        .map_err(io::Error::other)?;
    let platform = platform(wheel, &name)?;
    let place = into.join(WheelName { platform: platform.clone(), ..name.clone() }.to_string());
    if place.exists() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!("another made {} already", place.display()),
        ));
    }
    let place = if platform == name.platform {
        let place = into.join(wheel.file_name().unwrap_or_default());
        fs::rename(wheel, &place)?;
        place
    } else {
        retag::retag(wheel, &platform.parse().map_err(other)?, into).map_err(other)?
    };
    fs::set_permissions(&place, PermissionsExt::from_mode(0o644))?;
    Ok(place)
}

/// The platform tag of a wheel: its own if that is `any`, else what the audit finds.
fn platform(wheel: &Path, name: &WheelName) -> io::Result<String> {
    if name.platform == "any" {
        return Ok(name.platform.clone());
    }
    let audits = audit::audit(&[wheel]).map_err(other)?;
    Ok(audits.into_iter().next().map_or_else(|| name.platform.clone(), |audit| audit.tag))
}

/// An error with its causes, as one of the machine: whoever builds projects tells it so.
fn other(error: impl Error + 'static) -> io::Error {
    io::Error::other(with_causes(&error))
}
