//! Takes finished wheels from files or an index.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::tools::Tools;
use super::workspace::{Failed, Workspace, wheels_in};
use base::names::RelPath;
use base::regular;
use plan::TakenWheel;

pub fn bring(
    wheel: &TakenWheel,
    sources: Option<&PathBuf>,
    tools: &Tools,
    place: &Workspace,
) -> Result<Vec<PathBuf>, Failed> {
    let out = place.directory.join("out");
    fs::create_dir_all(&out)?;
    copy(&wheel.files, sources, &out, place)?;
    if let Some(pin) = &wheel.index {
        let words = ["download", "--no-deps", "--only-binary=:all:", "--dest"].map(OsString::from);
        let words = words.into_iter().chain([out.clone().into(), pin.into()]);
        place.fetch("fetching it", &tools.pip_alone(tools.python(), words))?;
    }
    wheels_in(&out, &wheel.name)
}

pub fn copy(
    files: &[RelPath],
    sources: Option<&PathBuf>,
    out: &Path,
    place: &Workspace,
) -> Result<(), Failed> {
    for file in files {
        let from = sources
            .ok_or_else(|| Failed::new("it is a file below --sources, which is not set"))?
            .join(file.as_str());
        place.log.write_line(&format!("copied from {file}"))?;
        io::copy(
            &mut regular::open(&from)?,
            &mut fs::File::create_new(out.join(file.file_name()))?,
        )?;
    }
    Ok(())
}
