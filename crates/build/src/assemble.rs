//! Unites what several builds made of one plan: their packages, checksums and provenance.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use fs_err::File;
use rustix::fs::{AtFlags, CWD, linkat};

use crate::gate::{Gate, GateError};
use crate::provenance::{Difference, Made, Package, STATEMENT, SUMS, Statement};
use crate::recorded::{self, RecordError, Recorded, Replaced};
use base::names::RelPath;
use base::regular;
use base::text::counted;
use wheel::archive::stage::DIST;
use wheel::archive::{Stage, StageError};

mod finished;
mod promised;

pub use promised::Promised;

/// What was put together.
#[derive(Debug)]
pub struct Assembled {
    /// The packages, by path below the destination, with their SHA-256.
    pub packages: BTreeMap<RelPath, String>,
    /// How many statements it takes to tell of all of them.
    pub statements: usize,
    /// Packages of an earlier build that were removed.
    pub removed: Vec<RelPath>,
}

/// Why packages cannot be put together.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// A directory that no build wrote.
    #[error(transparent)]
    NoRecord(#[from] RecordError),
    /// A directory that a build wrote, where one with finished files alone is wanted.
    #[error("{} is a record of a build or of finished files already", .file.display())]
    Record {
        /// Its checksums or its statement.
        file: PathBuf,
    },
    /// A directory, link or device where a finished file is expected.
    #[error("{} cannot be put together with the others: {why}", .path.display())]
    NotAFile {
        /// Where it is.
        path: PathBuf,
        /// What it is, or what is wrong with its name.
        why: String,
    },
    /// A directory without files.
    #[error("{} has no file in it", .dir.display())]
    Empty {
        /// The directory.
        dir: PathBuf,
    },
    /// A package that is listed, and that nobody says to have made.
    #[error("{SUMS} lists {}, and no provenance statement beside it names that file", .path.display())]
    Untold {
        /// The package.
        path: PathBuf,
    },
    /// A package that is listed, and is not there.
    #[error("{} is not there, and {list} lists it", .path.display())]
    Absent {
        /// The package.
        path: PathBuf,
        /// What lists it.
        list: &'static str,
    },
    /// A package that is listed, and no file below its directory.
    #[error("{} cannot be taken", .path.display())]
    Unusable {
        /// The package.
        path: PathBuf,
        /// Why not.
        #[source]
        error: io::Error,
    },
    /// A package that is listed, and is another file.
    #[error("{} is not the file that {SUMS} beside it lists", .path.display())]
    Changed {
        /// The package.
        path: PathBuf,
    },
    /// Two different packages of one name.
    #[error("{name} is in {} and in {}, and they are different files", .dirs.0.display(), .dirs.1.display())]
    Different {
        /// The file, below `dist`.
        name: String,
        /// Where both are.
        dirs: Box<(PathBuf, PathBuf)>,
    },
    /// Packages of builds that differ in more than `--only`.
    #[error("{}", disagreement(.dirs, .difference))]
    Disagree {
        /// The directories of both.
        dirs: Box<(PathBuf, PathBuf)>,
        /// The difference.
        difference: Box<Difference>,
    },
    /// A statement without the digests that builds are compared by.
    #[error(
        "the provenance of {} does not say of which plan its packages are, and by which rockpack",
        .dir.display()
    )]
    Incomparable {
        /// Its directory.
        dir: PathBuf,
    },
    /// Packages of another plan than the one that was given.
    #[error(
        "the packages of {} are not of {label}: they are of a plan with the digest `{built:.12}`, and {label} has `{given:.12}`",
        .dir.display()
    )]
    OtherPlan {
        /// The directory.
        dir: PathBuf,
        /// The plan, as an error names it.
        label: String,
        /// The digest of the plan that was built.
        built: String,
        /// That of the plan that was given.
        given: String,
    },
    /// Packages of the plan that no directory has.
    #[error("{}", incomplete(.label, .lacking))]
    Incomplete {
        /// The plan, as an error names it.
        label: String,
        /// The packages.
        lacking: Vec<String>,
    },
    /// Packages that `verify` refuses.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The destination.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// The machine.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// One of the directories that are united.
struct Shard<'a> {
    /// As it was named.
    dir: &'a Path,
    /// Where its packages are.
    dist: PathBuf,
    recorded: Recorded,
}

/// Puts the packages of all `dirs` into `dest`: destinations of builds, or their `dist` directories.
///
/// Files are linked where that can be, else copied. What an earlier build left in `dest` is removed.
///
/// # Errors
/// When a directory has no record of a build, a package is not the one that is recorded or does not pass the
/// gate, two different files have one name, or the builds differ in more than the packages that each made; with a
/// plan, also when a package of it is in no directory. `dest` is then as it was.
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

/// The same of directories with finished files, which no build recorded: all of them, and a statement
/// that they are `made` of a commit. Who calls this answers for that; the files do not tell.
///
/// # Errors
/// When a directory has a record, something that is no file, or nothing; otherwise as [`assemble`].
pub fn assemble_finished(
    dirs: &[PathBuf],
    made: &Made,
    dest: &Path,
    gate: &Gate<'_>,
) -> Result<Assembled, AssembleError> {
    let shards =
        dirs.iter().map(|dir| Shard::finished(dir, made)).collect::<Result<Vec<_>, _>>()?;
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
    let made: Vec<_> = packages.iter().map(|(path, sha256)| Package { path, sha256 }).collect();
    let statements = shards.into_iter().flat_map(|shard| shard.recorded.statements).collect();
    let Replaced { removed, statements } =
        recorded::replace::<AssembleError>(stage, &made, statements, gate)?;
    Ok(Assembled { packages, statements, removed })
}

impl<'a> Shard<'a> {
    fn read(dir: &'a Path) -> Result<Self, AssembleError> {
        // Where a build put them, or that directory itself under whatever name it was carried here.
        let below = dir.join(DIST);
        let dist = if below.is_dir() { below } else { dir.to_owned() };
        let recorded = Recorded::read_whole(&dist)?;
        let shard = Self { dir, dist, recorded };
        shard.is_told()?;
        Ok(shard)
    }

    /// Puts one of its packages on the stage, if it is the one that is recorded.
    fn bring(&self, path: &RelPath, sha256: &str, stage: &Stage) -> Result<(), AssembleError> {
        let below = below_dist(path);
        let from = self.dist.join(below);
        let file = regular::open_below(&self.dist, Path::new(below))
            .map_err(|error| self.unusable(path, from.clone(), error))?;
        let to = stage.place(path)?;
        put(file, &to)?;
        // Of the file that is put in place: the other could change in between.
        if regular::sha256(&to)? == sha256 {
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

    /// Checks that a statement tells of all that is listed: what nobody made is not passed on.
    fn is_told(&self) -> Result<(), AssembleError> {
        let named: BTreeMap<RelPath, &str> = self.recorded.packages().collect();
        let untold = |(path, sha256): &(&RelPath, &String)| {
            named.get(*path).is_none_or(|named| named != sha256)
        };
        match self.recorded.sums.iter().find(untold) {
            None => Ok(()),
            Some((path, _)) => {
                Err(AssembleError::Untold { path: self.dist.join(below_dist(path)) })
            }
        }
    }
}

/// The difference between the builds of two directories, or of one that has packages of both.
fn disagreement((one, other): &(PathBuf, PathBuf), difference: &Difference) -> String {
    let (part, (one, other)) = (difference.part.name(), (one.display(), other.display()));
    if one.to_string() == other.to_string() {
        return format!("{one} has packages of two builds with different {part}: {difference}");
    }
    let Difference { name, values: (ours, theirs), .. } = difference;
    format!(
        "{one} and {other} are of builds with different {part}: {name} is {ours} in {one}, and {theirs} in {other}"
    )
}

fn incomplete(label: &str, lacking: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = lacking.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    let more = match lacking.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let packages = counted(lacking.len(), "package");
    let are = if lacking.len() == 1 { "is" } else { "are" };
    format!("{packages} of {label} {are} in none of the directories: {shown}{more}")
}

/// Gives an open file another name, or copies it where that cannot be. Its first name may lead elsewhere by now.
fn put(mut file: File, to: &Path) -> io::Result<()> {
    let open = format!("/proc/self/fd/{}", file.file().as_raw_fd());
    if linkat(CWD, open, CWD, to, AtFlags::SYMLINK_FOLLOW).is_err() {
        let mut copy = File::create(to)?;
        io::copy(&mut file, &mut copy)?;
        copy.set_permissions(file.metadata()?.permissions())?;
    }
    Ok(())
}

/// The name of a path below `dist`.
fn below_dist(path: &RelPath) -> &str {
    path.as_str().strip_prefix(DIST).unwrap_or(path.as_str()).trim_start_matches('/')
}

/// Checks that all packages are of builds of one plan, by one rockpack, of the same artifacts.
fn agree(shards: &[Shard<'_>]) -> Result<(), AssembleError> {
    let statements: Vec<(&Path, &Statement)> = statements(shards).collect();
    if statements.len() > 1
        && let Some((dir, _)) = statements.iter().find(|(_, statement)| !statement.is_comparable())
    {
        return Err(AssembleError::Incomparable { dir: dir.to_path_buf() });
    }
    for (index, (dir, statement)) in statements.iter().enumerate() {
        for (earlier, other) in &statements[..index] {
            if let Some(difference) = other.difference(statement).map(Box::new) {
                let dirs = Box::new((earlier.to_path_buf(), dir.to_path_buf()));
                return Err(AssembleError::Disagree { dirs, difference });
            }
        }
    }
    Ok(())
}

/// All statements with the directories that they are in.
fn statements<'s>(shards: &'s [Shard<'_>]) -> impl Iterator<Item = (&'s Path, &'s Statement)> {
    let all = shards.iter().map(|shard| (shard.dir, &shard.recorded.statements));
    all.flat_map(|(dir, statements)| statements.iter().map(move |statement| (dir, statement)))
}

/// Every package with its hash and the directory that it is taken from.
fn packages<'s, 'a>(
    shards: &'s [Shard<'a>],
) -> Result<BTreeMap<RelPath, (String, &'s Shard<'a>)>, AssembleError> {
    let mut packages: BTreeMap<RelPath, (String, &Shard<'a>)> = BTreeMap::new();
    for shard in shards {
        let named = shard.recorded.packages().map(|(path, sha256)| (path, sha256.to_owned()));
        let listed = shard.recorded.sums.iter().map(|(path, hash)| (path.clone(), hash.clone()));
        for (path, sha256) in named.chain(listed) {
            let (known, other) =
                packages.entry(path.clone()).or_insert_with(|| (sha256.clone(), shard));
            if *known != sha256 {
                let name = path.as_str().to_owned();
                let dirs = Box::new((other.dir.to_owned(), shard.dir.to_owned()));
                return Err(AssembleError::Different { name, dirs });
            }
        }
    }
    Ok(packages)
}
