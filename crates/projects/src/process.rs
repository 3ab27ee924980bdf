//! Runs programs with a fixed environment, and logs their output.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt;
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::confined::{Limits, confined};
use base::cleanup;
use base::regular;

#[derive(Debug, Clone)]
pub(crate) struct Log {
    path: PathBuf,
}

/// Failure of a program.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// Not started.
    #[error("cannot start `{program}`")]
    Start {
        /// Program.
        program: String,
        /// Error of the system.
        source: io::Error,
    },
    /// Failed or stopped.
    #[error("`{command}` ended with {status}")]
    Status {
        /// Command line.
        command: String,
        /// Exit status.
        status: ExitStatus,
    },
    /// The log cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A program to run.
#[derive(Debug)]
pub struct Run<'a> {
    /// Program and arguments.
    pub command: &'a [OsString],
    /// Working directory.
    pub directory: &'a Path,
    /// Complete environment.
    pub environment: &'a BTreeMap<String, OsString>,
    /// Limits; `None` for all rights of the user.
    pub limits: Option<&'a Limits>,
}

const TAIL: u64 = 64 * 1024;
const MOST_TEXT: u64 = 16 << 20;

impl Log {
    pub fn create(path: PathBuf) -> io::Result<Self> {
        // Never writes through a link or pipe.
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => fs::File::create_new(&path)?,
        };
        Ok(Self { path })
    }

    /// Opens the log for appending, even if a program replaced it.
    fn append(&self) -> io::Result<fs::File> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let file = fs::OpenOptions::new().append(true).custom_flags(flags).open(&self.path)?;
        regular::check(&self.path, &file.metadata()?)?;
        Ok(file)
    }

    /// Runs a program, and logs its command line and output.
    pub fn run(&self, run: &Run<'_>) -> Result<(), ProcessError> {
        let mut file = self.append()?;
        writeln!(file, "$ {}", shown(run.command))?;
        let (out, err) = (file.try_clone()?.into_parts().0, file.into_parts().0);
        let status = to_its_end(command(run)?.stdout(out).stderr(err), run)?;
        if status.success() {
            Ok(())
        } else {
            Err(ProcessError::Status { command: shown(run.command), status })
        }
    }

    /// Returns the beginning of the log, or nothing if it is unreadable.
    pub fn text(&self) -> String {
        let read = || -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            regular::open_unlinked(&self.path)?.take(MOST_TEXT).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
    }

    /// Puts a text before the log. A large log stays as it is.
    pub fn begin_with(&self, text: &str) -> io::Result<()> {
        let old = self.text();
        if old.len() as u64 >= MOST_TEXT {
            return Ok(());
        }
        let partial = self.path.with_extension("partial");
        Self::create(partial.clone())?;
        fs::write(&partial, format!("{text}\n\n{old}"))?;
        fs::rename(partial, &self.path)
    }

    pub fn say(&self, line: &str) -> io::Result<()> {
        writeln!(self.append()?, "{line}")
    }

    /// The last lines; empty if unreadable.
    pub fn tail(&self, count: usize) -> Vec<String> {
        let read = || -> io::Result<Vec<u8>> {
            let mut file = regular::open_unlinked(&self.path)?;
            let size = file.metadata()?.len();
            file.seek(SeekFrom::Start(size.saturating_sub(TAIL)))?;
            let mut bytes = Vec::new();
            file.take(TAIL).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let text = String::from_utf8_lossy(&read().unwrap_or_default()).into_owned();
        let lines: Vec<&str> =
            text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(count)..].iter().map(|&line| line.to_owned()).collect()
    }
}

/// Runs a program as leader of a process group, and kills the rest of the group at its end.
fn to_its_end(command: &mut Command, run: &Run<'_>) -> Result<ExitStatus, ProcessError> {
    // The cleanup runs before the start or after the registration.
    let together = cleanup::undisturbed();
    let command = command.process_group(0);
    let child = match run.limits {
        Some(limits) => confined(limits, || command.spawn()),
        None => command.spawn(),
    };
    let mut child = child.map_err(|e| not_started(run, e))?;
    let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let registration = leader.map(cleanup::programs);
    drop(together);
    if let Some(leader) = leader {
        // The leader is not reaped yet, so that no other group can have its number.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(leader), options), Err(rustix::io::Errno::INTR)) {}
        let _ = kill_process_group(leader, Signal::KILL);
    }
    drop(registration);
    Ok(child.wait()?)
}

/// Runs a program; returns its standard output.
pub fn answer(run: &Run<'_>) -> Result<String, ProcessError> {
    let output = command(run)?.stderr(Stdio::null()).output().map_err(|e| not_started(run, e))?;
    if !output.status.success() {
        return Err(ProcessError::Status { command: shown(run.command), status: output.status });
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// A shell sets the umask, so that modes of built files do not depend on the caller.
fn command(run: &Run<'_>) -> Result<Command, ProcessError> {
    let program = run.command.first().map(OsString::as_os_str).unwrap_or_default();
    if !is_there(program, run) {
        let source = io::Error::new(io::ErrorKind::NotFound, "no such program");
        return Err(ProcessError::Start {
            program: program.to_string_lossy().into_owned(),
            source,
        });
    }
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "umask 022; exec \"$@\"", "sh"]).args(run.command);
    command.current_dir(run.directory).env_clear().envs(run.environment).stdin(Stdio::null());
    Ok(command)
}

fn is_there(program: &OsStr, run: &Run<'_>) -> bool {
    if program.to_string_lossy().contains('/') {
        return run.directory.join(program).exists();
    }
    let path = run.environment.get("PATH").cloned().unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

fn not_started(run: &Run<'_>, source: io::Error) -> ProcessError {
    ProcessError::Start {
        program: run.command.first().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default(),
        source,
    }
}

/// Formats a command line for a shell.
pub fn shown(command: &[OsString]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%^".contains(c);
    let word = |word: &OsString| {
        let word = word.to_string_lossy();
        if !word.is_empty() && word.chars().all(plain) {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    command.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn a_log_has_the_commands_and_what_they_wrote() {
        let directory = tempfile::tempdir().unwrap();
        let log = Log::create(directory.path().join("a.log")).unwrap();
        let environment = BTreeMap::from([
            ("PATH".to_owned(), OsString::from("/usr/bin:/bin")),
            ("A".to_owned(), "one".into()),
        ]);
        let run = |command: &[&str]| {
            log.run(&Run {
                command: &words(command),
                directory: directory.path(),
                environment: &environment,
                limits: None,
            })
        };
        run(&["sh", "-c", "echo $A; umask; env | wc -l >&2"]).unwrap();
        let failed = run(&["sh", "-c", "exit 3"]).unwrap_err();
        assert_eq!(failed.to_string(), "`sh -c 'exit 3'` ended with exit status: 3");
        assert!(
            run(&["no-such-program"])
                .unwrap_err()
                .to_string()
                .contains("cannot start `no-such-program`")
        );
        // PATH, A, and PWD, which shells set.
        let written = [
            "$ sh -c 'echo $A; umask; env | wc -l >&2'",
            "one",
            "0022",
            "3",
            "$ sh -c 'exit 3'",
            "$ no-such-program",
        ];
        assert_eq!(log.tail(9), written);
        assert_eq!(log.tail(1), written[5..]);
    }
}
