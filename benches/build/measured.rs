//! Running and measuring of programs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use fs_err as fs;
use serde::Deserialize;

/// Result of a measurement.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub struct Measured {
    /// Elapsed seconds.
    pub wall: f64,
    /// Processor seconds, including child processes.
    #[serde(default)]
    pub cpu: f64,
    /// Peak memory of one process in bytes.
    #[serde(default)]
    pub peak: f64,
    /// Written bytes, of all files.
    #[serde(default)]
    pub written: f64,
}

impl Measured {
    /// Measures work of this process; only [`Measured::wall`] is set.
    pub fn of(work: impl FnOnce()) -> Self {
        let start = Instant::now();
        work();
        Self { wall: start.elapsed().as_secs_f64(), ..Self::default() }
    }
}

/// Starts programs through `measure.py`, a small process, so that the kernel's counts cover nothing
/// else than the program.
#[derive(Debug)]
pub struct Stopwatch {
    pub python: PathBuf,
    pub scratch: PathBuf,
}

impl Stopwatch {
    /// Runs `program` and returns the measurement and its standard output.
    ///
    /// # Errors
    /// Fails with the messages of the failed program.
    pub fn run(
        &self,
        program: &Path,
        arguments: &[OsString],
    ) -> Result<(Measured, String), String> {
        // Writes of earlier programs must not delay this one.
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

pub fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches").join(name)
}
