//! Trial of a selector's sdist: its backend builds the wheel, and each of its modules is imported.
//!
//! Building runs code of the sdist: it is tried only if each file that could run is the runtime's
//! (`ours`).

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use fs_err as fs;
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

use base::cleanup;
use base::source::Code;
use check::Finding;
use plan::Templates;
use wheel::package::zip_file::LONGEST_TEXT;
use wheel::package::{Metadata, Sdist};

mod ours;

const PROGRAM: &str = include_str!("trial/trial.py");
/// Exit status with a Python that the packages do not support.
const OLD_PYTHON: i32 = 77;
/// Time limit of an sdist; half a second is usual.
const PATIENCE: Duration = Duration::from_mins(2);
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST_MESSAGE: u64 = 64 * 1024;

#[derive(Debug)]
pub enum Trial {
    /// Faults of the imported package.
    Done(Vec<Finding>),
    /// File with code that this program does not ship.
    Foreign(String),
    /// Reason why this machine cannot do it.
    NoPython(String),
}

/// Builds and imports the sdist at `path`, which must be free of errors by `verify::sdist`.
/// `templates` are the runtime's sources.
pub fn trial(
    path: &Path,
    name: &str,
    templates: &Templates,
    python: Option<&Path>,
) -> io::Result<Trial> {
    let (mut files, mut size) = (Vec::new(), 0);
    let sdist = Sdist::open(path, |member, bytes| {
        size += member.size;
        if member.is_file() && size <= LONGEST_TEXT {
            let mut content = Vec::new();
            bytes.read_to_end(&mut content)?;
            files.push((member.path.clone(), content));
        }
        Ok(())
    })?;
    if size > LONGEST_TEXT {
        return Ok(Trial::Foreign("it has more bytes than the limit".to_owned()));
    }
    let module = match ours::module(&sdist.top, &files, templates) {
        Ok(module) => module,
        Err(foreign) => return Ok(Trial::Foreign(foreign)),
    };
    let Some(python) = python else {
        return Ok(Trial::NoPython("no `python3` in PATH".to_owned()));
    };
    let (place, _registration) = cleanup::temporary(TempDir::new)?;
    for (path, content) in &files {
        let file = place.path().join(path);
        fs::create_dir_all(file.parent().unwrap_or(place.path()))?;
        fs::write(file, content)?;
    }
    let end = run(python, place.path(), &[&sdist.top, &module, &stem(&sdist)]);
    Ok(match end? {
        Ended { status: Some(status), .. } if status.success() => Trial::Done(Vec::new()),
        Ended { status: Some(status), .. } if status.code() == Some(OLD_PYTHON) => {
            Trial::NoPython(format!("{} is older than Python 3.10", python.display()))
        }
        Ended { status, message } => {
            let fault = "installers cannot build it, or Python cannot import the result";
            let late = || format!("no answer in {} s", PATIENCE.as_secs());
            let reason = status.map_or_else(late, |_| message);
            Trial::Done(vec![
                Finding::error(Code::SdistUnusable, fault).because(reason).within(name),
            ])
        }
    })
}

fn stem(sdist: &Sdist) -> String {
    let metadata = Metadata::parse(sdist.pkg_info().unwrap_or_default());
    let name = metadata.name().map(|name| name.file_stem()).unwrap_or_default();
    let version = metadata.version().map(|version| version.to_string()).unwrap_or_default();
    format!("{name}-{version}")
}

struct Ended {
    /// `None` after the time limit.
    status: Option<ExitStatus>,
    message: String,
}

fn run(python: &Path, place: &Path, arguments: &[&str]) -> io::Result<Ended> {
    let program = place.join("trial.py");
    let messages = place.join("messages");
    fs::write(&program, PROGRAM)?;
    let mut command = Command::new(python);
    // Isolated, without site-packages: only the standard library is imported.
    command.args(["-I", "-S", "-B"]).arg(&program).args(arguments).current_dir(place);
    command.env_clear().stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(fs::File::create(&messages)?.into_parts().0).process_group(0);
    let together = cleanup::undisturbed();
    let mut child = command.spawn()?;
    let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let registration = leader.map(cleanup::register_programs);
    drop(together);
    let status = waited(&mut child, leader)?;
    drop(registration);
    let mut text = String::new();
    fs::File::open(&messages)?.take(LONGEST_MESSAGE).read_to_string(&mut text)?;
    let message = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
    Ok(Ended { status, message })
}

fn waited(child: &mut Child, leader: Option<Pid>) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > PATIENCE {
            let _ = leader.map(|leader| kill_process_group(leader, Signal::KILL));
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(PAUSE);
    }
}

pub fn python() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join("python3")).find(|p| p.is_file())
}
