//! Runs programs and tells what they took.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use fs_err as fs;
use serde::Deserialize;

/// What something took.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub struct Measured {
    /// Seconds on the wall.
    pub wall: f64,
    /// Seconds on processors; of a program, with all that it started.
    #[serde(default)]
    pub cpu: f64,
    /// The most memory of one process, in bytes.
    #[serde(default)]
    pub peak: f64,
    /// Bytes that were written, to whatever file.
    #[serde(default)]
    pub written: f64,
}

impl Measured {
    /// Times what this process does itself.
    pub fn of(work: impl FnOnce()) -> Self {
        let start = Instant::now();
        work();
        Self { wall: start.elapsed().as_secs_f64(), ..Self::default() }
    }
}

/// Starts programs through `measure.py`, a small process that the kernel's counts are not
/// mixed up with.
#[derive(Debug)]
pub struct Stopwatch {
    pub python: PathBuf,
    pub scratch: PathBuf,
}

impl Stopwatch {
    /// Runs `program` and gives what it took and what it printed.
    ///
    /// # Errors
    /// What the program says when it fails.
    pub fn run(
        &self,
        program: &Path,
        arguments: &[OsString],
    ) -> Result<(Measured, String), String> {
        // What earlier work left to be written is not for this one to wait for.
        rustix::fs::sync();
        let result = self.scratch.join("measured.json");
        let mut command = Command::new(&self.python);
        command.arg(script("today/measure.py")).arg(&result).arg(program).args(arguments);
        let output =
            command.output().map_err(|e| format!("cannot start {}: {e}", self.python.display()))?;
        if !output.status.success() {
            let arguments: Vec<_> = arguments.iter().map(|a| a.to_string_lossy()).collect();
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!(
                "{} {}: {}\n{said}",
                program.display(),
                arguments.join(" "),
                output.status
            ));
        }
        let text = fs::read_to_string(&result).map_err(|e| e.to_string())?;
        let measured =
            serde_json::from_str(&text).map_err(|e| format!("{}: {e}", result.display()))?;
        Ok((measured, String::from_utf8_lossy(&output.stdout).into_owned()))
    }
}

/// A script of the bench.
pub fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches").join(name)
}
