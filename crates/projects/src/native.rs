//! Native projects: built and installed into a directory, for later projects.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::workspace::{Failed, Workspace};
use base::directory::{entries, is_empty};
use plan::NativeBuild;

pub struct Site<'a> {
    /// Installation directory.
    pub prefix: PathBuf,
    pub processes: usize,
    /// The project in its copied checkout.
    pub directory: &'a Path,
}

impl Site<'_> {
    pub fn begin(&self) -> io::Result<()> {
        // The directory itself stays, because access was granted to it.
        fs::create_dir_all(&self.prefix)?;
        for entry in entries(&self.prefix)? {
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Builds and installs with CMake; fails if nothing was installed.
    pub fn build(
        &self,
        native: &NativeBuild,
        place: &Workspace,
        fill: &impl Fn(&str) -> String,
    ) -> Result<(), Failed> {
        if let Some(arguments) = &native.cmake {
            self.cmake(arguments, place, fill)?;
        }
        if is_empty(&self.prefix)? {
            return Err(Failed::new("its build installed nothing into its prefix"));
        }
        Ok(())
    }

    fn cmake(
        &self,
        arguments: &[String],
        place: &Workspace,
        fill: &impl Fn(&str) -> String,
    ) -> Result<(), Failed> {
        let build = place.directory.join("build");
        let run = |doing: &str, words: Vec<OsString>| {
            let command: Vec<OsString> =
                [OsString::from("cmake")].into_iter().chain(words).collect();
            place.run_in(self.directory, doing, &command)
        };
        let mut prefix = OsString::from("-DCMAKE_INSTALL_PREFIX=");
        prefix.push(&self.prefix);
        let mut configure: Vec<OsString> =
            vec!["-S".into(), self.directory.into(), "-B".into(), build.clone().into(), prefix];
        configure.extend(arguments.iter().map(|argument| fill(argument).into()));
        run("configuring it", configure)?;
        let jobs = self.processes.to_string();
        let words = ["--build".into(), build.clone().into(), "--parallel".into(), jobs.into()];
        run("building it", words.into())?;
        run("installing it", vec!["--install".into(), build.into()])
    }
}
