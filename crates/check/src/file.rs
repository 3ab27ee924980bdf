use std::borrow::Cow;
use std::fmt;

use binary::Format;
use binary::device_code::Code;
use binary::pe::ImportLibrary;

use crate::{Bytes, Known, Needs};

/// File of a package, as an installer leaves it.
#[derive(Debug, Clone)]
pub struct File<'a> {
    /// Name in the package.
    pub member: Cow<'a, str>,
    /// Root of the installed path.
    pub scheme: Scheme,
    /// The installed path is the end of the name, from here.
    start: u32,
    /// Permissions.
    pub mode: Known<u32>,
    /// Role by content.
    pub kind: Kind<'a>,
    /// Device code in the content.
    pub code: Known<Option<Box<Code>>>,
    /// Facts for comparisons, if the reader takes them.
    pub bytes: Option<Box<Bytes>>,
}

/// Root of installed paths (`sysconfig.get_paths()`); `purelib` and `platlib` are one directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// `site-packages`.
    Site,
    /// Directory of programs.
    Scripts,
    /// Directory of C headers.
    Headers,
    /// Environment, outside of the other directories.
    Data,
    /// Tree of a devel archive.
    Devel,
    /// Tree of an sdist, which no installer copies.
    Source,
}

/// Role of a file.
#[derive(Debug, Clone)]
pub enum Kind<'a> {
    /// Any other content.
    Data,
    /// Begins with `#!`.
    Script,
    /// Command that installers write for an entry point of this file.
    Command,
    /// ELF or PE file.
    Binary(Box<Needs<'a>>),
    /// Names of DLLs for a linker.
    ImportLibrary(Box<ImportLibrary>),
    /// Begins like an import library, but is invalid.
    BrokenImportLibrary(Box<str>),
    /// Begins like a binary, but is invalid.
    Broken(Format, Box<str>),
    /// Symbolic link with this text.
    Link(Cow<'a, str>),
    /// Directory of a devel archive.
    Directory,
    /// The bytes are unread or damaged.
    Unread,
}

/// Directories of an environment that hold another scheme, as Linux and macOS (first) and Windows
/// have them.
const PROGRAMS: [&str; 2] = ["bin/", "scripts/"];
const LIBRARIES: [&str; 2] = ["lib/", "lib64/"];
const SITE: &str = "site-packages/";

impl<'a> File<'a> {
    /// File at a path below `site-packages`, or at the place that a `.data` directory gives its
    /// member (PEP 427).
    pub fn of_wheel(member: impl Into<Cow<'a, str>>, mode: Known<u32>, kind: Kind<'a>) -> Self {
        let member = member.into();
        let (scheme, path) = place(&member);
        let start = member.len() - path.len();
        Self::with_start(member, scheme, start, mode, kind)
    }

    /// File at its own name below a root.
    pub fn below(
        scheme: Scheme,
        member: impl Into<Cow<'a, str>>,
        mode: Known<u32>,
        kind: Kind<'a>,
    ) -> Self {
        Self::with_start(member.into(), scheme, 0, mode, kind)
    }

    /// Sets the device code.
    #[must_use]
    pub fn with_code(self, code: Known<Option<Box<Code>>>) -> Self {
        Self { code, ..self }
    }

    fn with_start(
        member: Cow<'a, str>,
        scheme: Scheme,
        start: usize,
        mode: Known<u32>,
        kind: Kind<'a>,
    ) -> Self {
        // Archives limit names to 64 KiB.
        let start = u32::try_from(start).unwrap_or_default();
        Self { member, scheme, start, mode, kind, code: Known::Is(None), bytes: None }
    }

    /// Installed path below the root of its scheme.
    pub fn path(&self) -> &str {
        &self.member[self.start as usize..]
    }

    /// Installed path below `site-packages`.
    pub fn site_path(&self) -> Option<&str> {
        (self.scheme == Scheme::Site).then(|| self.path())
    }

    /// Last part of the path.
    pub fn name(&self) -> &str {
        let path = self.path();
        path.rsplit('/').next().unwrap_or(path)
    }

    /// Returns whether a user can execute it.
    pub fn is_executable(&self) -> bool {
        self.mode.get().is_some_and(|mode| mode & 0o111 != 0)
    }

    /// Returns whether an installer of wheels leaves the file at its path.
    pub fn is_installed(&self) -> bool {
        !matches!(self.scheme, Scheme::Devel | Scheme::Source)
    }

    /// Needs of a binary.
    pub fn needs(&self) -> Option<&Needs<'a>> {
        match &self.kind {
            Kind::Binary(needs) => Some(needs),
            _ => None,
        }
    }

    /// DLLs that a PE file imports, or that an import library provides.
    pub fn imports(&self) -> impl Iterator<Item = &str> {
        let (pe, library) = match &self.kind {
            Kind::Binary(needs) => (needs.pe(), None),
            Kind::ImportLibrary(library) => (None, Some(library)),
            _ => (None, None),
        };
        let pe = pe.into_iter().flat_map(|facts| facts.imports.iter().chain(&facts.delayed));
        pe.chain(library.into_iter().flat_map(|library| &library.dlls)).map(String::as_str)
    }
}

/// The installed path, with the root unless it is `site-packages`.
impl fmt::Display for File<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.scheme.root())?;
        f.write_str(self.path())
    }
}

impl Kind<'_> {
    /// Returns whether nothing depends on the content.
    pub fn is_plain(&self) -> bool {
        matches!(self, Self::Data | Self::Script)
    }
}

impl Scheme {
    fn root(self) -> &'static str {
        match self {
            Self::Site | Self::Devel | Self::Source => "",
            Self::Scripts => "<scripts>/",
            Self::Headers => "<headers>/",
            Self::Data => "<data>/",
        }
    }
}

fn place(member: &str) -> (Scheme, &str) {
    let Some((top, rest)) = member.split_once('/') else { return (Scheme::Site, member) };
    let Some(stem) = top.strip_suffix(".data") else { return (Scheme::Site, member) };
    match rest.split_once('/') {
        Some(("purelib" | "platlib", path)) => (Scheme::Site, path),
        Some(("scripts", path)) => (Scheme::Scripts, path),
        Some(("headers", path)) => (Scheme::Headers, path),
        Some(("data", path)) => match headers(path, stem) {
            Some(path) => (Scheme::Headers, path),
            None => of_environment(path),
        },
        // The reader reports it.
        _ => (Scheme::Data, rest),
    }
}

/// Files below the environment's root reach the directories of other schemes too.
fn of_environment(path: &str) -> (Scheme, &str) {
    let below = |start: &str| {
        let head = path.get(..start.len())?;
        head.eq_ignore_ascii_case(start).then(|| &path[start.len()..])
    };
    if let Some(program) = PROGRAMS.into_iter().find_map(below) {
        return (Scheme::Scripts, program);
    }
    let Some(library) = LIBRARIES.into_iter().find_map(below) else { return (Scheme::Data, path) };
    let python = |(first, rest)| is_python(first).then_some(rest);
    let library = library.split_once('/').and_then(python).unwrap_or(library);
    match library.get(..SITE.len()) {
        Some(site) if site.eq_ignore_ascii_case(SITE) => (Scheme::Site, &library[SITE.len()..]),
        _ => (Scheme::Data, path),
    }
}

/// Environments have headers in `include/site/python3.11/NAME`, users in `include/python3.11/NAME`.
fn headers<'p>(path: &'p str, stem: &str) -> Option<&'p str> {
    let below = path.strip_prefix("include/")?;
    let (python, rest) = below.strip_prefix("site/").unwrap_or(below).split_once('/')?;
    let (name, path) = rest.split_once('/')?;
    let distribution = stem.split_once('-').map_or(stem, |(name, _)| name);
    let is_same = base::names::normalized(name) == base::names::normalized(distribution);
    (is_python(python) && is_same).then_some(path)
}

fn is_python(directory: &str) -> bool {
    let version = directory.strip_prefix("python").unwrap_or_default();
    version.starts_with("3.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_members_as_installers_do() {
        for (member, expected) in [
            ("a/b.py", "a/b.py"),
            ("a-1.data/purelib/a/b.py", "a/b.py"),
            ("a-1.data/platlib/b.so", "b.so"),
            ("a/x.data/scripts/b", "a/x.data/scripts/b"),
            ("a-1.data/scripts/run", "<scripts>/run"),
            ("a-1.data/headers/a.h", "<headers>/a.h"),
            ("a-1.data/data/bin/run", "<scripts>/run"),
            ("a-1.data/data/Scripts/run.exe", "<scripts>/run.exe"),
            ("a-1.data/data/lib/python3.11/site-packages/a.py", "a.py"),
            ("a-1.data/data/Lib/site-packages/a.py", "a.py"),
            ("a-1.data/data/lib/python3.11/os.py", "<data>/lib/python3.11/os.py"),
            ("a-1.data/data/include/site/python3.11/A/a.h", "<headers>/a.h"),
            ("a-1.data/data/include/python3.11/b/a.h", "<data>/include/python3.11/b/a.h"),
            ("a-1.data/data/share/a.txt", "<data>/share/a.txt"),
        ] {
            let file = File::of_wheel(member, Known::Is(0o644), Kind::Data);
            assert_eq!(file.to_string(), expected, "{member}");
        }
    }

    /// A set of the largest tree has 200,000 files.
    #[test]
    fn a_file_is_small() {
        assert!(size_of::<File<'_>>() <= 96, "{}", size_of::<File<'_>>());
    }
}
