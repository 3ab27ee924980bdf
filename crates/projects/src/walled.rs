//! Processes to their end.

use std::io;
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitStatus};

use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitId, WaitIdOptions, kill_process_group,
    set_dumpable_behavior, waitid,
};

use super::channel::Task;
use super::runner::{self, End, Kind};
use base::cleanup;

/// Runs a program behind walls. All its processes end with it.
///
/// From then on, other programs of the user cannot read memory and environment of this process.
pub(crate) fn walled(
    kind: Kind,
    task: &Task,
    prepare: impl FnOnce(&mut Command) -> io::Result<()>,
) -> io::Result<End> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = runner::command(kind, &task.limits, theirs);
    prepare(&mut command)?;
    group_to_its_end(command, |child| runner::converse(&ours, child, task)).map(|(end, _)| end)
}

/// Runs a program as leader of a process group, and kills the rest of the group at its end.
pub(crate) fn group_to_its_end<T>(
    mut command: Command,
    attend: impl FnOnce(Pid) -> io::Result<T>,
) -> io::Result<(T, ExitStatus)> {
    // The cleanup runs before the start or after the registration.
    let together = cleanup::undisturbed();
    let mut child = command.spawn()?;
    // It holds the program's ends of pipes, which would hide the program's death.
    drop(command);
    let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let leader = leader.ok_or_else(|| io::Error::other("a process without a number"))?;
    let registration = cleanup::register_programs(leader);
    drop(together);
    let attended = attend(leader);
    if attended.is_err() {
        let _ = child.kill();
    }
    // The leader is not reaped yet, so that no other group can have its number.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(waitid(WaitId::Pid(leader), options), Err(rustix::io::Errno::INTR)) {}
    let _ = kill_process_group(leader, Signal::KILL);
    drop(registration);
    let status = child.wait()?;
    Ok((attended?, status))
}
