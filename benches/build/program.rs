//! Command lines of the measured program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Trees of distributions have code of one ISA under the names of others, which builds refuse.
const ALLOWED: [&str; 2] = ["--allow", "misplaced-code"];

/// Compression of the wheels' members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Compression {
    Store,
    Fast,
    Default,
    Max,
}

impl Compression {
    pub fn name(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Fast => "fast",
            Self::Default => "default",
            Self::Max => "max",
        }
    }
}

/// Call of `rockpack build`.
#[derive(Debug, Clone)]
pub struct Build<'a> {
    pub tree: &'a Path,
    pub dest: &'a Path,
    pub compression: Compression,
    /// Preset of the devel archive; a plain tar by default.
    pub xz: Option<u32>,
    /// Directory of the cache; none by default.
    pub cache: Option<&'a Path>,
    pub jobs: Option<usize>,
    /// Only package to build.
    pub only: Option<&'a str>,
    /// Trace to write.
    pub events: Option<PathBuf>,
}

impl<'a> Build<'a> {
    /// Builds all packages without a cache.
    pub fn new(tree: &'a Path, dest: &'a Path) -> Self {
        Self {
            tree,
            dest,
            compression: Compression::Default,
            xz: None,
            cache: None,
            jobs: None,
            only: None,
            events: None,
        }
    }

    pub fn arguments(&self) -> Vec<OsString> {
        let mut all: Vec<OsString> = vec![
            "build".into(),
            "--artifact-dir".into(),
            self.tree.into(),
            "--dest-dir".into(),
            self.dest.into(),
        ];
        all.extend(ALLOWED.map(OsString::from));
        // Released programs without this option can be measured too.
        if self.compression != Compression::Default {
            all.extend(["--compression".into(), self.compression.name().into()]);
        }
        if let Some(preset) = self.xz {
            all.extend(["--devel-tarball-compression".into(), "--xz-preset".into()]);
            all.push(preset.to_string().into());
        }
        match self.cache {
            Some(dir) => all.extend(["--cache".into(), dir.into()]),
            None => all.push("--no-cache".into()),
        }
        if let Some(jobs) = self.jobs {
            all.extend(["--jobs".into(), jobs.to_string().into()]);
        }
        if let Some(package) = self.only {
            all.extend(["--only".into(), package.into()]);
        }
        if let Some(file) = &self.events {
            all.extend(["--events".into(), file.into()]);
        }
        all
    }
}

/// Returns the arguments for a plan of the packages of [`Build`].
pub fn plan(tree: &Path) -> Vec<OsString> {
    let mut all: Vec<OsString> =
        vec!["plan".into(), "--artifact-dir".into(), tree.into(), "--json".into()];
    all.extend(ALLOWED.map(OsString::from));
    all
}

/// Returns the arguments for a promotion of the packages of [`Build`].
pub fn promote(from: &Path, dest: &Path) -> Vec<OsString> {
    let mut all: Vec<OsString> = vec![
        "wheel".into(),
        "promote".into(),
        from.into(),
        "--to".into(),
        "1!1.0".into(),
        "-o".into(),
        dest.into(),
    ];
    all.extend(ALLOWED.map(OsString::from));
    all
}
