//! Verdict of a wheel on a system.

use serde::{Serialize, Serializer};

use std::path::Path;

use super::{Audit, device_code};
use base::source::{Code, Severity};
use binary::policy::{Level, Libc, Obstacle, ObstacleKind};
use binary::systems::stable_abi::Release;
use binary::systems::{System, runtime};
use wheel::package::OpenError;

/// The first glibc that refuses libraries with an executable stack.
const REFUSES_STACKS: Release = (2, 41);

/// Verdict for one system.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct OnSystem {
    /// Name of the system.
    #[serde(serialize_with = "shown")]
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub system: System,
    /// Reason why the wheel does not run there; null if it runs.
    pub no: Option<String>,
}

fn shown<S: Serializer>(system: &System, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(system)
}

impl Audit {
    /// Judges the needs of the wheel on a system.
    pub fn on_system(&self, system: System) -> OnSystem {
        let no = match system {
            System::Glibc(release) => self.on_linux(Libc::Glibc, release),
            System::Musl(release) => self.on_linux(Libc::Musl, release),
            System::CPython(release) => self.on_python(release),
            System::Windows => self.on_windows(),
            System::Runtime(name, release) => self.on_runtime(name, release),
        };
        OnSystem { system, no }
    }

    fn on_linux(&self, libc: Libc, release: Release) -> Option<String> {
        if self.tag.starts_with("win") {
            return Some("its binaries are for Windows".to_owned());
        }
        let needs = self.needs.as_ref()?;
        if needs.libc.is_some_and(|other| other != libc) {
            return Some(format!("`{}` is linked with another C library", needs.file));
        }
        let beyond = needs.beyond(Level { libc, release });
        let refuses = libc == Libc::Glibc && release >= REFUSES_STACKS;
        let stacks = || refuses.then(|| self.error(|code| code == Code::ExecutableStack)).flatten();
        let lost = self.unfound.iter().find(|it| it.certain);
        let lost = || lost.map(|it| format!("`{}` does not find {}", it.file, it.library));
        let undefined = || {
            let first = self.unresolved.first()?;
            Some(format!("`{}` needs `{}`, which no library defines", first.file, first.symbols[0]))
        };
        let beyond = beyond.iter().find(|obstacle| !self.is_after_others(obstacle));
        beyond.map(ToString::to_string).or_else(stacks).or_else(lost).or_else(undefined)
    }

    /// Returns whether an obstacle is a library of the wheel that another file may have loaded before: a plugin needs the
    /// library that opens it.
    fn is_after_others(&self, obstacle: &Obstacle) -> bool {
        let library = obstacle.library.as_deref().unwrap_or(&obstacle.needs);
        let mut of_library = self.unfound.iter().filter(|it| it.library == library).peekable();
        of_library.peek().is_some() && of_library.all(|it| !it.certain)
    }

    /// Reads the forms of device code in the wheel, which verdicts on device runtimes need.
    ///
    /// # Errors
    ///
    /// Fails if the wheel cannot be read.
    pub fn read_device_code(&mut self, wheel: &Path) -> Result<(), OpenError> {
        self.forms = device_code::forms(wheel)?;
        Ok(())
    }

    /// Judges libraries of the runtime that the wheel does not ship, and its device code.
    fn on_runtime(&self, name: &str, release: Release) -> Option<String> {
        let libraries = self.external_libraries.iter();
        let libraries = libraries.filter(|one| one.kind == ObstacleKind::Library);
        let mut libraries = libraries.filter_map(|one| {
            let refusal = runtime::provides(name, release, &one.needs)?.err()?;
            Some(format!("`{}` needs {}: {refusal}", one.file, one.needs))
        });
        let mut forms = self.forms.iter().filter_map(|(form, file)| {
            let refusal = runtime::reads(name, release, *form).err()?;
            Some(format!("`{file}` has {form}: {refusal}"))
        });
        libraries.next().or_else(|| forms.next())
    }

    fn on_windows(&self) -> Option<String> {
        if !self.tag.starts_with("win") {
            return (self.tag != "any").then(|| "its binaries are for Linux".to_owned());
        }
        self.error(|code| code != Code::StableAbi)
    }

    /// Judges tags; the stable ABI by the symbols of its modules.
    fn on_python(&self, (major, minor): Release) -> Option<String> {
        let (python, abi) = &self.interpreter;
        let digits = |tag: &str, start: &str| tag.strip_prefix(start)?.parse::<u32>().ok();
        let cpython = format!("cp{major}{minor}");
        let fits = python.split('.').any(|tag| {
            let (exact, later) = (tag == cpython, digits(tag, "cp3").is_some_and(|it| it <= minor));
            let generic = tag == format!("py{major}")
                || digits(tag, "py3").is_some_and(|it| major == 3 && it <= minor);
            abi.split('.').any(|abi| match abi {
                "none" => generic || exact,
                "abi3" => major == 3 && later,
                _ => exact && abi == cpython,
            })
        });
        if !fits {
            return Some(format!("its tags are {python}-{abi}"));
        }
        let later = self.abi_needs.iter().find(|(release, _)| *release > (major, minor));
        later.map(|((major, minor), file)| format!("`{file}` needs Python {major}.{minor}"))
    }

    /// First error of loading with an asked code.
    fn error(&self, is_asked: impl Fn(Code) -> bool) -> Option<String> {
        let errors = self.findings.iter().filter(|it| it.severity == Severity::Error);
        let first = errors.into_iter().find(|it| is_asked(it.code))?;
        Some(format!("`{}`: {}", first.member.as_deref().unwrap_or_default(), first.what))
    }
}
