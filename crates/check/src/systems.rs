//! Systems that a package runs on.
//!
//! ```text
//! Set ─Installed─► PackageNeeds ─runs(System)─► nothing, or a Reason
//! ```
//!
//! Every command asks [`runs`]: rules for the systems that the tags of a wheel promise, a plan for the tag of its wheels
//! and for the newest allowed one, an audit for any system.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use base::source::Code;
use binary::device_code::CodeForm;
use binary::policy::{self, Level, Libc, Obstacle, ObstacleKind, Refusal};
use binary::systems::stable_abi::Release;
use binary::systems::{PythonTags, System, runtime};

use crate::Finding;
use crate::rules::stacks;

mod installed;

pub use installed::Installed;
pub(crate) use installed::{MessageNames, hosted, libc};

/// Needs of a package: of all its binaries, and its interpreter.
#[derive(Debug, Clone)]
pub struct PackageNeeds {
    /// Of its ELF files, without libraries of its set.
    pub linux: Option<policy::Needs>,
    /// It has PE files, and no ELF file.
    is_for_windows: bool,
    python: String,
    abi: String,
    pub(crate) loading: Loading,
}

/// Faults of loading, which other rules than the rules of tags report. An audit uses them for verdicts on systems.
#[derive(Debug, Clone, Default)]
pub(crate) struct Loading {
    /// Errors of the rules for executable stacks and DLLs.
    pub findings: Vec<Finding>,
    /// ELF file and library of the wheel that its loader is certain not to find.
    pub unfound: Option<(String, String)>,
    /// Libraries of the wheel that other files load before: a plugin needs the library that opens it.
    pub after_others: BTreeSet<String>,
    /// ELF file and symbol that no library defines.
    pub undefined: Option<(String, String)>,
    /// Oldest Python with all functions of the stable ABI that a file uses, and the file.
    pub abi: Vec<(Release, String)>,
    /// Libraries that neither the set nor a policy has.
    pub external: Vec<Obstacle>,
    /// Forms of device code with the first file of each.
    pub forms: BTreeMap<CodeForm, String>,
}

/// Reason why a package does not run on a system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Needs of ELF files.
    Linux(Refusal),
    /// Fault of a file, or another interpreter.
    Fault(String),
}

/// Judges the needs of a package on a system.
///
/// # Errors
///
/// The reason why the package does not run there.
pub fn runs(needs: &PackageNeeds, system: System) -> Result<(), Reason> {
    let fault = match system {
        System::Glibc(release) => return needs.on_linux(Level { libc: Libc::Glibc, release }),
        System::Musl(release) => return needs.on_linux(Level { libc: Libc::Musl, release }),
        System::CPython(release) => needs.on_python(release),
        System::Windows => needs.on_windows(),
        System::Runtime(name, release) => needs.on_runtime(name, release),
    };
    fault.map_or(Ok(()), |fault| Err(Reason::Fault(fault)))
}

/// Judges ELF files on the systems that a platform tag promises.
///
/// # Errors
///
/// The reason why the tag is wrong.
pub fn runs_as(needs: &PackageNeeds, tag: &str) -> Result<(), Reason> {
    let Some(linux) = &needs.linux else { return Ok(()) };
    let (file, ours) = (&linux.file, linux.architecture.name());
    let fault = |text: &str| Err(Reason::Fault(format!("`{file}` is an ELF file{text}")));
    match tag.strip_suffix(ours).and_then(|base| base.strip_suffix('_')) {
        // Of an unknown release, on the machine that built it.
        Some("linux") => Ok(()),
        Some(base) => match base.parse::<Level>() {
            Ok(level) => runs(needs, level.into()),
            Err(_) => fault(&format!(", but {tag} is not a tag for Linux")),
        },
        None => fault(&format!(" for {ours}, but {tag} is not")),
    }
}

impl PackageNeeds {
    fn new(PythonTags { python, abi }: PythonTags<'_>, linux: Option<policy::Needs>) -> Self {
        let (python, abi) = (python.to_owned(), abi.to_owned());
        Self { linux, is_for_windows: false, python, abi, loading: Loading::default() }
    }

    /// Needs without faults of loading.
    pub(crate) fn of_headers(&self) -> Self {
        Self { loading: Loading::default(), ..self.clone() }
    }

    fn on_linux(&self, level: Level) -> Result<(), Reason> {
        if self.is_for_windows {
            return Err(Reason::Fault("its binaries are for Windows".to_owned()));
        }
        let refusal = self.linux.as_ref().and_then(|needs| needs.refusal(level));
        if let Some(refusal) = refusal.and_then(|refusal| self.at_start(refusal)) {
            return Err(Reason::Linux(refusal));
        }
        let Loading { unfound, undefined, .. } = &self.loading;
        let unfound = || unfound.as_ref().map(|(file, it)| format!("`{file}` does not find {it}"));
        let undefined = || {
            let (file, symbol) = undefined.as_ref()?;
            Some(format!("`{file}` needs `{symbol}`, which no library defines"))
        };
        let stack = self.fault(|finding| stacks::is_refused(finding, level));
        stack.or_else(unfound).or_else(undefined).map_or(Ok(()), |fault| Err(Reason::Fault(fault)))
    }

    /// Leaves out libraries that other files load before.
    fn at_start(&self, refusal: Refusal) -> Option<Refusal> {
        let Refusal::Beyond(mut obstacles) = refusal else { return Some(refusal) };
        let after_others = &self.loading.after_others;
        let library =
            |it: &Obstacle| it.library.as_ref().is_some_and(|it| after_others.contains(it));
        obstacles.retain(|it| !library(it) && !after_others.contains(&it.needs));
        (!obstacles.is_empty()).then_some(Refusal::Beyond(obstacles))
    }

    /// Judges libraries of the runtime that the package does not ship, and its device code.
    fn on_runtime(&self, name: &str, release: Release) -> Option<String> {
        let libraries = self.loading.external.iter();
        let libraries = libraries.filter(|one| one.kind == ObstacleKind::Library);
        let mut libraries = libraries.filter_map(|one| {
            let refusal = runtime::provides(name, release, &one.needs)?.err()?;
            Some(format!("`{}` needs {}: {refusal}", one.file, one.needs))
        });
        let mut forms = self.loading.forms.iter().filter_map(|(form, file)| {
            let refusal = runtime::reads(name, release, *form).err()?;
            Some(format!("`{file}` has {form}: {refusal}"))
        });
        libraries.next().or_else(|| forms.next())
    }

    fn on_windows(&self) -> Option<String> {
        if self.linux.is_some() {
            return Some("its binaries are for Linux".to_owned());
        }
        self.fault(|finding| finding.code != Code::StableAbi)
    }

    /// Judges tags; the stable ABI by the symbols of its modules.
    fn on_python(&self, (major, minor): Release) -> Option<String> {
        let Self { python, abi, .. } = self;
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
        let later = self.loading.abi.iter().find(|(release, _)| *release > (major, minor));
        later.map(|((major, minor), file)| format!("`{file}` needs Python {major}.{minor}"))
    }

    fn fault(&self, is_relevant: impl Fn(&Finding) -> bool) -> Option<String> {
        let first = self.loading.findings.iter().find(|finding| is_relevant(finding))?;
        Some(format!("`{}`: {}", first.member.as_deref().unwrap_or_default(), first.what))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linux(refusal) => refusal.fmt(f),
            Self::Fault(text) => f.write_str(text),
        }
    }
}
