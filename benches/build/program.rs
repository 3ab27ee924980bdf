//! The flags of the program that is measured, in one place.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What the wheels' members are compressed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Compression {
    Store,
    Fast,
    Default,
    Max,
}

impl Compression {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Fast => "fast",
            Self::Default => "default",
            Self::Max => "max",
        }
    }
}

/// A call of `rockpack build`.
#[derive(Debug, Clone)]
pub struct Build<'a> {
    pub tree: &'a Path,
    pub dest: &'a Path,
    pub compression: Compression,
    /// The preset of the devel archive; without one it is a plain tar, as by default.
    pub xz: Option<u32>,
    /// The cache's directory; without one there is no cache.
    pub cache: Option<&'a Path>,
    pub jobs: Option<usize>,
    /// Only this package.
    pub only: Option<&'a str>,
    /// Where a trace goes.
    pub timings: Option<PathBuf>,
}

impl<'a> Build<'a> {
    /// Everything, without cache.
    pub fn new(tree: &'a Path, dest: &'a Path) -> Self {
        Self {
            tree,
            dest,
            compression: Compression::Default,
            xz: None,
            cache: None,
            jobs: None,
            only: None,
            timings: None,
        }
    }

    /// Its arguments.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut all: Vec<OsString> = vec![
            "build".into(),
            "--artifact-dir".into(),
            self.tree.into(),
            "--dest-dir".into(),
            self.dest.into(),
        ];
        // Without this flag the released program is measured, also where it does not know it.
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
        if let Some(file) = &self.timings {
            all.extend(["--timings".into(), file.into()]);
        }
        all
    }
}

/// The arguments of a plan of what [`Build`] makes.
pub fn plan(tree: &Path) -> Vec<OsString> {
    vec!["plan".into(), "--artifact-dir".into(), tree.into(), "--json".into()]
}

/// The arguments of a promotion of what a [`Build`] made.
pub fn promote(from: &Path, dest: &Path) -> Vec<OsString> {
    [
        "wheel".into(),
        "promote".into(),
        from.into(),
        "--to".into(),
        "1!1.0".into(),
        "-o".into(),
        dest.into(),
    ]
    .into()
}
