//! Union of several builds of one plan.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use fs_err::File;
use rustix::fs::{AtFlags, CWD, linkat};

use base::directory;
use base::names::{Form, RelPath};
use base::regular;
use base::text::counted;
use record::gate::{Gate, GateError};
use record::provenance::{Difference, FilesOrigin, Package, STATEMENT, SUMS, Statement};
use record::recorded::{self, Earlier, RecordError, Recorded, Replaced};
use wheel::archive::stage::DIST;
use wheel::archive::{Stage, StageError};

mod finished;
mod promised;

pub use promised::Promised;

/// United packages.
#[derive(Debug)]
pub struct Assembled {
    /// SHA-256 by path below the destination.
    pub packages: BTreeMap<RelPath, String>,
    /// Number of statements.
    pub statements: usize,
    /// Removed earlier packages.
    pub removed: Vec<RelPath>,
}

/// Reason against a union.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// Directory without record.
    #[error(transparent)]
    NoRecord(#[from] RecordError),
    /// Record beside finished files.
    #[error("{} already records a build or finished files", .file.display())]
    Record {
        /// Checksums or statement.
        file: PathBuf,
    },
    /// Directory, link or device.
    #[error("{} cannot be merged with the others: {reason}", .path.display())]
    NotAFile {
        path: PathBuf,
        /// File type or name fault.
        reason: String,
    },
    /// Directory without files.
    #[error("{} has no files", .dir.display())]
    Empty {
        /// Directory.
        dir: PathBuf,
    },
    /// Package without statement.
    #[error("{SUMS} lists {}, but no provenance statement of its directory names that file", .path.display())]
    Untold {
        /// Package.
        path: PathBuf,
    },
    /// Package outside of all records.
    #[error("neither {SUMS} nor a provenance statement of its directory names {}", .path.display())]
    Unlisted {
        /// Package.
        path: PathBuf,
    },
    /// Missing package.
    #[error("{} is missing, but {list} lists it", .path.display())]
    Absent {
        /// Package.
        path: PathBuf,
        list: &'static str,
    },
    /// Package outside of its directory, or not a regular file.
    #[error("{} cannot be copied", .path.display())]
    Unusable {
        /// Package.
        path: PathBuf,
        /// Cause.
        #[source]
        error: io::Error,
    },
    /// Wrong checksum.
    #[error("{} does not match {SUMS} of its directory", .path.display())]
    Changed {
        /// Package.
        path: PathBuf,
    },
    /// Different packages with one name.
    #[error("{name} differs between {} and {}", .dirs.0.display(), .dirs.1.display())]
    Different {
        /// Name below `dist`.
        name: String,
        /// Directories.
        dirs: Box<(PathBuf, PathBuf)>,
    },
    /// Builds that differ beyond `--only`.
    #[error("{}", disagreement(.dirs, .difference))]
    Disagree {
        /// Directories.
        dirs: Box<(PathBuf, PathBuf)>,
        difference: Box<Difference>,
    },
    /// Statement without comparable digests.
    #[error(
        "the provenance of {} does not record its plan and its rockpack",
        .dir.display()
    )]
    Incomparable {
        /// Directory.
        dir: PathBuf,
    },
    /// Packages of another plan.
    #[error(
        "the packages of {} are of another plan than {label}: their plan has the digest \
         `{built:.12}`, {label} has `{planned:.12}`",
        .dir.display()
    )]
    OtherPlan {
        /// Directory.
        dir: PathBuf,
        /// Plan's name.
        label: String,
        /// Built plan's digest.
        built: String,
        /// Digest of the plan `label`.
        planned: String,
    },
    /// Missing packages.
    #[error("{}", incomplete(.label, .lacking))]
    Incomplete {
        /// Plan's name.
        label: String,
        /// Packages.
        lacking: Vec<String>,
    },
    /// Packages refused by `verify`.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// Destination error.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// System error.
    #[error(transparent)]
    Io(#[from] io::Error),
}

struct Shard<'a> {
    dir: &'a Path,
    dist: PathBuf,
    recorded: Recorded,
}

/// Collects the packages of all `dirs`, each a destination or its `dist` directory, in `dest`.
/// Links files if possible, otherwise copies. Removes recorded earlier packages from `dest` that the set
/// does not require.
///
/// # Errors
///
/// If a package has no record, differs from it or fails the gate, different files have one name,
/// builds differ beyond their selected packages, or a package of the plan is missing. Leaves `dest`
/// unchanged.
pub fn assemble(
    dirs: &[PathBuf],
    promised: Option<&Promised>,
    dest: &Path,
    gate: &Gate<'_>,
) -> Result<Assembled, AssembleError> {
    let shards = dirs.iter().map(|dir| Shard::read(dir)).collect::<Result<Vec<_>, _>>()?;
    agree(&shards)?;
    if let Some(promised) = promised {
        promised.check(&shards)?;
    }
    unite(shards, dest, gate)
}

/// Collects directories with finished, unrecorded files, made from a commit according to the
/// caller.
///
/// # Errors
///
/// If a directory has a record, other things than files, or nothing; otherwise as [`assemble`].
pub fn assemble_finished(
    dirs: &[PathBuf],
    origin: &FilesOrigin,
    dest: &Path,
    gate: &Gate<'_>,
) -> Result<Assembled, AssembleError> {
    let shards =
        dirs.iter().map(|dir| Shard::finished(dir, origin)).collect::<Result<Vec<_>, _>>()?;
    unite(shards, dest, gate)
}

fn unite(shards: Vec<Shard<'_>>, dest: &Path, gate: &Gate<'_>) -> Result<Assembled, AssembleError> {
    let packages = packages(&shards)?;
    let stage = Stage::open(dest)?;
    for (path, (sha256, shard)) in &packages {
        shard.bring(path, sha256, &stage)?;
    }
    let packages: BTreeMap<RelPath, String> =
        packages.into_iter().map(|(path, (sha256, _))| (path, sha256)).collect();
    let files: Vec<_> = packages.iter().map(|(path, sha256)| Package { path, sha256 }).collect();
    let statements = shards.into_iter().flat_map(|shard| shard.recorded.statements).collect();
    let Replaced { removed, statements } = recorded::replace::<AssembleError>(
        stage,
        &files,
        statements,
        gate,
        Earlier::KeptIfRequired,
    )?;
    Ok(Assembled { packages, statements, removed })
}

impl<'a> Shard<'a> {
    fn read(dir: &'a Path) -> Result<Self, AssembleError> {
        // A destination, or its `dist` directory, possibly renamed.
        let below = dir.join(DIST);
        let dist = if below.is_dir() { below } else { dir.to_owned() };
        let recorded = Recorded::read_whole(&dist)?;
        let shard = Self { dir, dist, recorded };
        shard.check_stated()?;
        shard.check_listed()?;
        Ok(shard)
    }

    fn bring(&self, path: &RelPath, sha256: &str, stage: &Stage) -> Result<(), AssembleError> {
        let below = below_dist(path);
        let from = self.dist.join(below);
        let file = regular::open_below(&self.dist, Path::new(below))
            .map_err(|error| self.unusable(path, from.clone(), error))?;
        let target = stage.place(path)?;
        link_or_copy(file, &target)?;
        // The original can change meanwhile.
        if regular::sha256(&target)? == sha256 {
            Ok(())
        } else {
            Err(AssembleError::Changed { path: from })
        }
    }

    fn unusable(&self, listed: &RelPath, path: PathBuf, error: io::Error) -> AssembleError {
        if error.kind() != io::ErrorKind::NotFound {
            return AssembleError::Unusable { path, error };
        }
        let list = if self.recorded.sums.contains_key(listed) { SUMS } else { STATEMENT };
        AssembleError::Absent { path, list }
    }

    fn check_stated(&self) -> Result<(), AssembleError> {
        let digests: BTreeMap<RelPath, &str> = self.recorded.packages().collect();
        let is_unstated = |(path, sha256): &(&RelPath, &String)| {
            digests.get(*path).is_none_or(|digest| digest != sha256)
        };
        match self.recorded.sums.iter().find(is_unstated) {
            None => Ok(()),
            Some((path, _)) => {
                Err(AssembleError::Untold { path: self.dist.join(below_dist(path)) })
            }
        }
    }

    /// Refuses packages without a record, such as retagged wheels: the union would lack them in silence.
    fn check_listed(&self) -> Result<(), AssembleError> {
        // All packages in SHA256SUMS are among them (`check_stated`).
        let stated: BTreeSet<RelPath> = self.recorded.packages().map(|(path, _)| path).collect();
        // Names of temporary directories begin with a dot.
        for entry in directory::walk_where(&self.dist, |entry| !entry.is_hidden()) {
            let entry = entry?;
            if entry.file_type().is_dir() || Form::of_file(&entry.name()).is_none() {
                continue;
            }
            let path = format!("{DIST}/{}", entry.below().display()).parse();
            if path.is_ok_and(|path| stated.contains(&path)) {
                continue;
            }
            return Err(AssembleError::Unlisted { path: entry.path().to_owned() });
        }
        Ok(())
    }
}

fn disagreement((first, second): &(PathBuf, PathBuf), difference: &Difference) -> String {
    let (part, (first, second)) = (difference.part.name(), (first.display(), second.display()));
    if first.to_string() == second.to_string() {
        return format!("{first} has packages of two builds with different {part}: {difference}");
    }
    let Difference { name, values: (ours, theirs), .. } = difference;
    format!(
        "{first} and {second} are of builds with different {part}: {name} is {ours} in {first}, and {theirs} in {second}"
    )
}

fn incomplete(label: &str, lacking: &[String]) -> String {
    const SHOWN: usize = 5;
    let names = lacking.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    let more = match lacking.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let packages = counted(lacking.len(), "package");
    let verb = if lacking.len() == 1 { "is" } else { "are" };
    format!("{packages} of {label} {verb} missing in all directories: {names}{more}")
}

fn link_or_copy(mut file: File, target: &Path) -> io::Result<()> {
    let open = format!("/proc/self/fd/{}", file.file().as_raw_fd());
    if linkat(CWD, open, CWD, target, AtFlags::SYMLINK_FOLLOW).is_err() {
        let mut copy = File::create(target)?;
        io::copy(&mut file, &mut copy)?;
        copy.set_permissions(file.metadata()?.permissions())?;
    }
    Ok(())
}

fn below_dist(path: &RelPath) -> &str {
    path.as_str().strip_prefix(DIST).unwrap_or(path.as_str()).trim_start_matches('/')
}

fn agree(shards: &[Shard<'_>]) -> Result<(), AssembleError> {
    let statements: Vec<(&Path, &Statement)> = statements(shards).collect();
    if statements.len() > 1
        && let Some((dir, _)) = statements.iter().find(|(_, statement)| !statement.is_comparable())
    {
        return Err(AssembleError::Incomparable { dir: dir.to_path_buf() });
    }
    for (index, (dir, statement)) in statements.iter().enumerate() {
        for (first_dir, first_statement) in &statements[..index] {
            if let Some(difference) = first_statement.difference(statement).map(Box::new) {
                let dirs = Box::new((first_dir.to_path_buf(), dir.to_path_buf()));
                return Err(AssembleError::Disagree { dirs, difference });
            }
        }
    }
    Ok(())
}

fn statements<'s>(shards: &'s [Shard<'_>]) -> impl Iterator<Item = (&'s Path, &'s Statement)> {
    let shards = shards.iter().map(|shard| (shard.dir, &shard.recorded.statements));
    shards.flat_map(|(dir, statements)| statements.iter().map(move |statement| (dir, statement)))
}

fn packages<'s, 'a>(
    shards: &'s [Shard<'a>],
) -> Result<BTreeMap<RelPath, (String, &'s Shard<'a>)>, AssembleError> {
    let mut packages: BTreeMap<RelPath, (String, &Shard<'a>)> = BTreeMap::new();
    for shard in shards {
        let stated = shard.recorded.packages().map(|(path, sha256)| (path, sha256.to_owned()));
        let listed = shard.recorded.sums.iter().map(|(path, hash)| (path.clone(), hash.clone()));
        for (path, sha256) in stated.chain(listed) {
            let (digest, owner) =
                packages.entry(path.clone()).or_insert_with(|| (sha256.clone(), shard));
            if *digest != sha256 {
                let name = path.as_str().to_owned();
                let dirs = Box::new((owner.dir.to_owned(), shard.dir.to_owned()));
                return Err(AssembleError::Different { name, dirs });
            }
        }
    }
    Ok(packages)
}
