//! Compilers, emulators and programs that the tests start.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use binary::elf::stub::{StubMachine, exec_stub};
use tempfile::TempDir;

use workbench::skips::has;

/// A child that is forked while another thread writes a program keeps that file open until its
/// `exec`, and starting the program fails meanwhile (`ETXTBSY`). The lock keeps writes and forks
/// apart.
static FORK_OR_WRITE: Mutex<()> = Mutex::new(());

#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub out: String,
    pub err: String,
    pub code: Option<i32>,
}

pub fn run(command: &mut Command) -> Outcome {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let spawned = {
        let _guard = FORK_OR_WRITE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"))
    };
    let Output { status, stdout, stderr } = spawned.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Outcome { out: text(stdout), err: text(stderr), code: status.code() }
}

/// Runs a tool that must succeed, and returns both output streams.
pub fn run_successfully(command: &mut Command) -> String {
    let outcome = run(command);
    assert_eq!(outcome.code, Some(0), "{command:?}: {}{}", outcome.out, outcome.err);
    outcome.out + &outcome.err
}

/// Writes a file with these permissions, creating its directories.
pub fn write(path: &Path, bytes: &[u8], mode: u32) {
    let _guard = FORK_OR_WRITE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, bytes).unwrap();
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Makes a directory whose path has no symlinks, because `/proc/self/exe` has none.
pub fn temp_dir() -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let path = fs_err::canonicalize(dir.path()).unwrap();
    (dir, path)
}

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/elf_stub").join(name)
}

/// Returns the machine's name as in `qemu-…` and GNU triplets.
pub fn arch(machine: StubMachine) -> &'static str {
    match machine {
        StubMachine::X86_64 => "x86_64",
        StubMachine::Aarch64 => "aarch64",
    }
}

pub fn is_native(machine: StubMachine) -> bool {
    arch(machine) == std::env::consts::ARCH
}

pub fn native() -> StubMachine {
    StubMachine::ALL
        .into_iter()
        .find(|machine| is_native(*machine))
        .expect("tests run on a machine that stubs exist for")
}

/// Returns the machines with programs that can run here.
pub fn machines() -> Vec<StubMachine> {
    let runs = |machine: &StubMachine| {
        is_native(*machine) || has(&emulator(*machine), &format!("running {machine:?} programs"))
    };
    StubMachine::ALL.into_iter().filter(runs).collect()
}

fn emulator(machine: StubMachine) -> String {
    format!("qemu-{}", arch(machine))
}

/// Returns the GNU triplet of Debian's cross compilers.
fn triplet(machine: StubMachine) -> String {
    format!("{}-linux-gnu", arch(machine).replace('_', "-"))
}

/// Returns the name of a GNU tool (`as`, `gcc`) for a machine.
pub fn gnu_tool(machine: StubMachine, tool: &str) -> String {
    if is_native(machine) { tool.to_owned() } else { format!("{}-{tool}", triplet(machine)) }
}

/// Returns a command that starts a program for `machine` with this `argv[0]`.
pub fn start_as(machine: StubMachine, program: &Path, argv0: impl AsRef<OsStr>) -> Command {
    if is_native(machine) {
        let mut command = Command::new(program);
        std::os::unix::process::CommandExt::arg0(&mut command, argv0);
        return command;
    }
    let mut command = Command::new(emulator(machine));
    let sysroot = format!("/usr/{}", triplet(machine));
    command.arg("-L").arg(sysroot).arg("-0").arg(argv0).arg(program);
    command
}

/// Returns the command with the program's path as `argv[0]`.
pub fn start(machine: StubMachine, program: &Path) -> Command {
    start_as(machine, program, program)
}

pub fn put_stub(machine: StubMachine, path: &Path, target: &str) {
    write(path, &exec_stub(machine, target).unwrap(), 0o755);
}

pub fn compile(machine: StubMachine, source: &str, out: &Path, options: &[&str]) {
    fs_err::create_dir_all(out.parent().unwrap()).unwrap();
    let compiler = gnu_tool(machine, "gcc");
    run_successfully(Command::new(compiler).arg("-o").arg(out).arg(fixture(source)).args(options));
}
