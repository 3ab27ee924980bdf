//! Runner of a confined program: a hidden command of rockpack. Only a process with one thread can
//! enter a user namespace, and only a child of it is the first process of the PID namespace, with
//! which all processes in it end.
//!
//! | process | namespaces stand | they are refused |
//! |---|---|---|
//! | child of rockpack | `outer`: enters namespaces, waits | `alone`: adopts the program's orphans |
//! | its child | `inner`: first process; mounts, loopback | the program |
//! | its child | the program | |
//!
//! A program that must start no others is first `last`, which takes this right from itself.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};

use rustix::fs::Mode;
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, set_dumpable_behavior,
    set_parent_process_death_signal, setsid, umask, wait,
};
use rustix::stdio::stdin;
use rustix::thread::set_name;

use super::channel::{self, Message, Task};
use super::confined::{self, Limits, Network};
use super::{filter, mounts, namespaces, rights};
use base::cleanup;
use base::text::with_causes;

/// Hidden command. It is no part of the command line of `clap`, since it reads no options.
const COMMAND: &str = "confined-program";
const OUTER: &str = "outer";
const INNER: &str = "inner";
const ALONE: &str = "alone";
const LAST: &str = "last";
/// Word behind [`OUTER`]: without a network namespace.
const CONNECTED: &str = "connected";

/// Path of this program, which stays valid if its file is replaced.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Exit status of a runner that could not do its work; rockpack gets the reason by [`Message`].
const FAILED: u8 = 125;

/// Kind of a runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// In namespaces.
    Namespaces,
    /// Landlock and seccomp alone.
    Alone,
}

/// End of a program.
#[derive(Debug)]
pub(crate) enum End {
    Ended(ExitStatus),
    /// Not started.
    Failed(String),
}

/// Command of a runner of `limits`, with its standard input.
pub(crate) fn command(kind: Kind, limits: &Limits, input: UnixStream) -> Command {
    let mut command = runner(if kind == Kind::Namespaces { OUTER } else { ALONE });
    if limits.network {
        command.arg(CONNECTED);
    }
    command.env_clear().stdin(OwnedFd::from(input));
    command
}

fn runner(role: &str) -> Command {
    let mut command = Command::new(THIS_PROGRAM);
    command.arg0("rockpack").args([COMMAND, role]);
    command
}

/// Gives `task` to the runner `child`, and waits for the end of the program.
pub(crate) fn converse(runner: &UnixStream, child: Pid, task: &Task) -> io::Result<End> {
    loop {
        match Message::receive(runner)? {
            Some(Message::Map) => {
                namespaces::map_users(child)?;
                channel::confirm(runner)?;
            }
            Some(Message::Ready) => task.send(runner)?,
            Some(Message::Ended(status)) => return Ok(End::Ended(ExitStatus::from_raw(status))),
            Some(Message::Failed(reason)) => return Ok(End::Failed(reason)),
            None => return Ok(End::Failed("its runner was killed".to_owned())),
        }
    }
}

/// Acts as a runner if `words` say so; returns the exit status.
///
/// To be called first in `main`: with a second thread, namespaces are refused.
pub fn run(words: impl IntoIterator<Item = OsString>) -> Option<u8> {
    let words: Vec<OsString> = words.into_iter().skip(1).collect();
    let (first, words) = words.split_first()?;
    if first != COMMAND {
        return None;
    }
    let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
    if let [role, program, words @ ..] = &*words
        && *role == LAST
    {
        let refused = filter::refuse_programs();
        let _ = refused.map(|()| Command::new(program).args(words).exec());
        return Some(FAILED);
    }
    let Ok(input) = stdin().try_clone_to_owned() else { return Some(FAILED) };
    let rockpack = UnixStream::from(input);
    let connected = words.get(1).is_some_and(|word| *word == CONNECTED);
    let result = match words.first().and_then(|word| word.to_str()) {
        Some(OUTER) => outer(connected, &rockpack),
        Some(INNER) => inner(connected, &rockpack),
        Some(ALONE) => alone(&rockpack),
        _ => Err(io::Error::other("an unknown runner")),
    };
    let Err(error) = result else { return Some(0) };
    let _ = Message::Failed(with_causes(&error)).send(&rockpack);
    Some(FAILED)
}

/// Ends this process with its parent. The parent is the thread that started it.
fn end_with_parent() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

fn outer(connected: bool, rockpack: &UnixStream) -> io::Result<()> {
    end_with_parent()?;
    set_name(c"rockpack")?;
    // Without a controlling terminal: a program could type commands into it.
    setsid()?;
    namespaces::enter(connected, rockpack)?;
    rights::hand_on()?;
    let mut command = runner(INNER);
    if connected {
        command.arg(CONNECTED);
    }
    let child = command.stdin(OwnedFd::from(rockpack.try_clone()?)).spawn();
    let mut child = child.map_err(|e| with_context("the first process is refused", &e))?;
    child.wait().map(drop)
}

fn inner(connected: bool, rockpack: &UnixStream) -> io::Result<()> {
    prepare()?;
    Message::Ready.send(rockpack)?;
    let task = Task::receive(rockpack)?;
    mounts::arrange(&task.limits, &task.sockets)?;
    if !connected {
        namespaces::start_loopback()?;
    }
    let network = if connected { Network::Open } else { Network::Separate };
    let status = to_its_end(&task, network)?;
    // The kernel kills the other processes of the namespace.
    Message::Ended(status).send(rockpack)
}

fn alone(rockpack: &UnixStream) -> io::Result<()> {
    prepare()?;
    setsid()?;
    cleanup::adopt_orphans()?;
    Message::Ready.send(rockpack)?;
    let task = Task::receive(rockpack)?;
    let network = if task.limits.network { Network::Open } else { Network::Closed };
    let status = to_its_end(&task, network)?;
    cleanup::end_orphans();
    Message::Ended(status).send(rockpack)
}

fn prepare() -> io::Result<()> {
    end_with_parent()?;
    // Otherwise `exe`.
    set_name(c"rockpack")?;
    // Programs of the user must not reach the channel through /proc.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    // Modes of built files do not depend on the caller.
    umask(Mode::WGRP | Mode::WOTH);
    Ok(())
}

/// Runs the program, and reaps all that lost their parent.
fn to_its_end(task: &Task, network: Network) -> io::Result<i32> {
    let (program, words) = task.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = if task.limits.alone { runner(LAST) } else { Command::new(program) };
    if task.limits.alone {
        command.arg(program);
    }
    command.args(words).current_dir(&task.directory).env_clear();
    command.envs(task.environment.iter().map(|(name, value)| (name, value)));
    // A signal to its group must not reach the runner.
    command.stdin(Stdio::null()).process_group(0);
    let child = confined::confined(&task.limits, network, || {
        command
            .spawn()
            .map_err(|e| with_context(&format!("cannot start {}", program.display()), &e))
    })?;
    let child = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if Some(ended) == child => return Ok(status.as_raw()),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn with_context(text: &str, error: &io::Error) -> io::Error {
    io::Error::other(format!("{text}: {error}"))
}
