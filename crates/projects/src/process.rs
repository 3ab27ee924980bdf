//! Runs programs with a fixed environment, and logs their output.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, PipeWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::OFlags;

use super::channel::Task;
use super::confined::Limits;
use super::runner::End;
use super::sockets;
use super::walled::{group_to_its_end, walled};
use super::walls::Walls;
use base::regular;
use base::text::with_causes;

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

/// Bytes at the end of a log that are read for its last lines.
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
        writeln!(file, "$ {}", shell_line(run.command))?;
        if !program_exists(run) {
            return Err(absent(run));
        }
        let status = copied(file, |output| {
            to_its_end(run, |command| {
                command.stdout(output.try_clone()?).stderr(output.try_clone()?);
                Ok(())
            })
        });
        let status = status.inspect_err(|error| {
            let _ = self.write_line(&with_causes(error));
        })?;
        if status.success() {
            Ok(())
        } else {
            Err(ProcessError::Status { command: shell_line(run.command), status })
        }
    }

    /// Returns the beginning of the log, or nothing if it is unreadable.
    pub fn text(&self) -> String {
        self.since(0)
    }

    /// Length in bytes, or 0 if unreadable.
    pub fn length(&self) -> u64 {
        regular::open_unlinked(&self.path)
            .and_then(|file| file.metadata())
            .map_or(0, |metadata| metadata.len())
    }

    /// Returns the text behind `offset`, or nothing if it is unreadable.
    pub fn since(&self, offset: u64) -> String {
        let read = || -> io::Result<Vec<u8>> {
            let (mut bytes, mut file) = (Vec::new(), regular::open_unlinked(&self.path)?);
            file.seek(SeekFrom::Start(offset))?;
            file.take(MOST_TEXT).read_to_end(&mut bytes)?;
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

    pub fn write_line(&self, line: &str) -> io::Result<()> {
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

const PIECE: usize = 64 * 1024;
/// Bytes of output after the end of a program: more than a pipe holds.
const REST: usize = 1 << 20;

/// Copies output into `log` until `work` ends: programs that had the log itself could change its
/// earlier lines.
fn copied<T: Send>(
    mut log: impl Write + Send,
    work: impl FnOnce(&PipeWriter) -> Result<T, ProcessError> + Send,
) -> Result<T, ProcessError> {
    let (mut reader, writer) = io::pipe()?;
    let (end, ending) = io::pipe()?;
    std::thread::scope(|scope| {
        let copying = scope.spawn(move || -> io::Result<()> {
            let (mut piece, mut rest) = (vec![0; PIECE], REST);
            loop {
                let mut polled_files =
                    [PollFd::new(&reader, PollFlags::IN), PollFd::new(&end, PollFlags::IN)];
                match poll(&mut polled_files, None) {
                    Err(rustix::io::Errno::INTR) => continue,
                    polled => polled?,
                };
                let [is_readable, is_over] = polled_files.map(|file| !file.revents().is_empty());
                let count = if is_readable { reader.read(&mut piece)? } else { 0 };
                log.write_all(&piece[..count])?;
                if !is_over {
                    continue;
                }
                // A program that left its group may hold the pipe for ever.
                rest = rest.saturating_sub(count);
                if count == 0 || rest == 0 {
                    return Ok(());
                }
            }
        });
        let result = work(&writer);
        drop((writer, ending));
        let copied = copying.join();
        copied.unwrap_or_else(|_| Err(io::Error::other("the thread of a log panicked")))?;
        result
    })
}

/// Runs a program; returns its standard output.
pub fn answer(run: &Run<'_>) -> Result<String, ProcessError> {
    if !program_exists(run) {
        return Err(absent(run));
    }
    let mut answer = Vec::new();
    let status = copied(&mut answer, |output| {
        to_its_end(run, |command| {
            command.stdout(output.try_clone()?).stderr(Stdio::null());
            Ok(())
        })
    })?;
    if !status.success() {
        return Err(ProcessError::Status { command: shell_line(run.command), status });
    }
    Ok(String::from_utf8_lossy(&answer).trim_end().to_owned())
}

/// Runs a program behind the walls of its limits; `prepare` sets its output.
fn to_its_end(
    run: &Run<'_>,
    prepare: impl FnOnce(&mut Command) -> io::Result<()>,
) -> Result<ExitStatus, ProcessError> {
    let Some(limits) = run.limits else {
        let mut command = command(run);
        command.process_group(0);
        let ended = prepare(&mut command).and_then(|()| group_to_its_end(command, |_| Ok(())));
        return ended.map(|((), status)| status).map_err(|e| not_started(run, e));
    };
    let environment = run.environment.iter();
    let task = Task {
        command: run.command.to_vec(),
        directory: run.directory.to_owned(),
        environment: environment.map(|(name, value)| (name.into(), value.clone())).collect(),
        limits: limits.clone(),
        sockets: if limits.network { Vec::new() } else { sockets::with_paths() },
    };
    let kind = Walls::probe().kind();
    match walled(kind, &task, prepare).map_err(|e| not_started(run, e))? {
        End::Ended(status) => Ok(status),
        End::Failed(reason) => Err(not_started(run, io::Error::other(reason))),
    }
}

/// A shell sets the umask, so that modes of built files do not depend on the caller.
fn command(run: &Run<'_>) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "umask 022; exec \"$@\"", "sh"]).args(run.command);
    command.current_dir(run.directory).env_clear().envs(run.environment).stdin(Stdio::null());
    command
}

fn program_exists(run: &Run<'_>) -> bool {
    let program = run.command.first().map(OsString::as_os_str).unwrap_or_default();
    if program.to_string_lossy().contains('/') {
        return run.directory.join(program).exists();
    }
    let path = run.environment.get("PATH").cloned().unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

fn absent(run: &Run<'_>) -> ProcessError {
    not_started(run, io::Error::new(io::ErrorKind::NotFound, "no such program"))
}

fn not_started(run: &Run<'_>, source: io::Error) -> ProcessError {
    ProcessError::Start {
        program: run.command.first().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default(),
        source,
    }
}

/// Formats a command line for a shell.
pub fn shell_line(command: &[OsString]) -> String {
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
    fn a_log_has_commands_and_their_output() {
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
        let lines = [
            "$ sh -c 'echo $A; umask; env | wc -l >&2'",
            "one",
            "0022",
            "3",
            "$ sh -c 'exit 3'",
            "$ no-such-program",
        ];
        assert_eq!(log.tail(9), lines);
        assert_eq!(log.tail(1), lines[5..]);
    }
}
