//! Publishing: packages of a directory go into a store, with the pages by which installers find them.
//!
//! In this order, so that whoever reads meanwhile finds what a page names, and whatever interrupts it leaves an
//! index of whole packages:
//!
//! 1. everything is looked at: what the store has already, whether the same bytes, whether all that the packages
//!    require is there. What is wrong is found here, before anything is written;
//! 2. the name of the stream, where the store has none yet; packages, each only if nothing is at its key. Equal bytes that are there are left alone;
//! 3. the METADATA of wheels (PEP 658);
//! 4. pages of projects: read, merged, and replaced if they are still what was read; what others require comes
//!    before those who require it;
//! 5. pages that lead to projects, and what is made of these.
//!
//! **Pages are merged, not made.** What a page says of packages that only the store has stays. The JSON is what
//! is read and merged; the HTML is made from it, after its own tag was read, so that the last one who writes it
//! has read the last JSON. HTML that another program made is read as well: what only it names, stays too.
//!
//! **Again.** A run after an interrupted one does what is left, and after a complete one nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::simple::{self, IndexError, Local, PageError};
use crate::store::{Bucket, StoreError};
use base::names::{PackageName, PathError, RelPath};
use build::gate::{Gate, GateError};
use manifest::Publishing;
use wheel::archive::Timestamp;

mod aggregate;
mod closure;
mod headers;
mod indexes;
mod layout;
mod mirror;
mod order;
mod pages;
mod pause;
mod prune;
mod read;
mod stream;
mod upload;
mod workers;
mod writer;

pub use closure::Unmet;
pub use layout::{Form, Layout, Shelf, Takes};
pub use mirror::{Mirror, Mirrored, mirror};
pub use prune::{PruneStep, Pruned, Retention, is_more_than_half, prune};

use aggregate::Above;
use closure::Closure;
use layout::Placed;
use pages::Pages;
use stream::StreamRecord;
use upload::{AtKey, Survey};

/// What to do, beyond the layout.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Where packages and pages go.
    pub layout: Layout,
    /// When all packages were uploaded; without it, each when its newest member is from.
    pub time: Option<Timestamp>,
    /// Projects that users get elsewhere, as indexes compare them.
    pub outside: BTreeSet<String>,
    /// The same by the manifest's lines.
    pub publishing: Publishing,
    /// Publish although something that is required is nowhere.
    pub incomplete: bool,
    /// Look at everything, and write nothing.
    pub dry_run: bool,
    /// How many packages are on their way at once; one, if it is 0.
    pub jobs: usize,
}

/// Something that is done, or that would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A package goes up.
    Upload {
        /// Its key.
        key: RelPath,
        /// Its size in bytes.
        size: u64,
    },
    /// A package is there already, with the same bytes.
    Same {
        /// Its key.
        key: RelPath,
    },
    /// The METADATA of a wheel goes up.
    Metadata {
        /// Its key.
        key: RelPath,
    },
    /// A package becomes yanked, gets another reason for it, or is yanked no more.
    Yank {
        /// Its file name.
        file: String,
        /// Why it is yanked, if it is; the reason may be empty.
        reason: Option<String>,
    },
    /// A page is made or replaced.
    Page {
        /// Its key.
        key: RelPath,
        /// How many names it gets.
        more: usize,
    },
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Packages that went up.
    pub uploaded: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Packages that were there.
    pub same: usize,
    /// Pages that were written; others were right already.
    pub pages: usize,
}

impl Summary {
    fn add(&mut self, other: Self) {
        self.uploaded += other.uploaded;
        self.bytes += other.bytes;
        self.same += other.same;
        self.pages += other.pages;
    }
}

/// Why nothing was published, or not all.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The packages cannot be read.
    #[error(transparent)]
    Packages(#[from] IndexError),
    /// Packages that `verify` refuses.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// There are none.
    #[error("there are no packages in {}", .0.display())]
    Nothing(PathBuf),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A package that no part of the layout takes.
    #[error("nothing says where `{0}` goes")]
    Homeless(String),
    /// A selector for an index of its own, which no part of the layout is for.
    #[error("nothing says where the index `{0}` goes, which a selector in the directory is for")]
    NoShelf(PackageName),
    /// Keys that have other bytes.
    #[error("{} there with other bytes; nothing was written: {}", are(.0), shown(.0))]
    OtherBytes(Vec<String>),
    /// Keys that somebody else filled while packages went up.
    #[error("another program brought other bytes for {} meanwhile; {}", .keys.join(", "), unnamed(*.uploaded))]
    Overtaken {
        /// The keys.
        keys: Vec<String>,
        /// How many packages of the directory are there by now.
        uploaded: usize,
    },
    /// Requirements that nothing meets.
    #[error("{} nowhere; nothing was written:\n{}", are(.0), lines(.0))]
    Incomplete(Vec<Unmet>),
    /// A page that cannot be read, or not be merged.
    #[error("{}", page_text(store, key, source))]
    Page {
        /// The store.
        store: String,
        /// The page.
        key: RelPath,
        /// What is wrong with it.
        source: PageError,
    },
    /// A page that says more than its data.
    #[error(
        "`{key}` in `{store}` was changed by hand: it {says}, and `{data}` does not; nothing was written"
    )]
    ByHand {
        /// The store.
        store: String,
        /// The page.
        key: RelPath,
        /// Its data.
        data: RelPath,
        /// What it says.
        says: String,
    },
    /// A store that is for another stream.
    #[error(
        "`{key}` says that `{store}` is the store of the stream `{there}`, and {}; nothing was written",
        not_of(.given.as_deref())
    )]
    Stream {
        /// The store.
        store: String,
        /// The document that says so.
        key: RelPath,
        /// What it says.
        there: String,
        /// The stream that was given.
        given: Option<String>,
    },
    /// A store without a record of its stream, of which packages were to be removed.
    #[error(
        "`{store}` does not say of which stream it is, so that nothing is removed of it as of `{stream}`"
    )]
    NoStream {
        /// The store.
        store: String,
        /// The stream that was given.
        stream: String,
    },
    /// More packages to remove than a mistake may cost.
    #[error(
        "{going} of the {all} packages in `{store}` would be removed, more than half; nothing was written"
    )]
    TooMany {
        /// The store.
        store: String,
        /// The packages to remove.
        going: usize,
        /// All packages.
        all: usize,
    },
    /// A page that others changed whenever it was to be replaced.
    #[error(
        "`{key}` in `{store}` was changed by others each of {tries} times that it was to be replaced"
    )]
    Contended {
        /// The store.
        store: String,
        /// The page.
        key: RelPath,
        /// How often it was tried.
        tries: usize,
    },
    /// Packages that stay, of which nobody knows what they require.
    #[error("what {} packages require is not known, so that nothing is removed: {}", .0.len(), shown(.0))]
    Unknown(Vec<String>),
    /// Packages of which no page says the SHA-256.
    #[error("no page says the SHA-256 of {}, so that nothing is written", shown(.0))]
    NoHash(Vec<String>),
    /// Projects that were named and are on no page.
    #[error("no page has packages of {}", shown(.0))]
    Absent(Vec<String>),
    /// There is no page with packages.
    #[error("there are no pages with packages in `{0}`")]
    NoPages(String),
    /// A page that is not ours to replace.
    #[error("`{key}` in `{store}` was not made by rockpack, and is in the way of a page")]
    Foreign {
        /// The store.
        store: String,
        /// The page.
        key: RelPath,
    },
    /// An index where a mirror was to go.
    #[error(
        "`{key}` in `{store}` leads to packages beside it: that is an index that `rockpack index publish` or `rockpack index write` made, \
         and not a mirror; nothing was written"
    )]
    NoMirror {
        /// The store.
        store: String,
        /// The page.
        key: RelPath,
    },
    /// A key that cannot be.
    #[error("a key is impossible")]
    Key(#[from] PathError),
}

/// What cannot be done with a page.
fn page_text(store: &str, key: &RelPath, source: &PageError) -> String {
    match source {
        PageError::OtherBytes(_) | PageError::NoHash(_) => {
            format!("cannot merge `{key}` in `{store}` with what is known of its packages")
        }
        _ => format!("cannot read `{key}` in `{store}` as a page of an index"),
    }
}

/// What is there of a directory whose pages were not written.
fn unnamed(packages: usize) -> String {
    match packages {
        0 => "nothing was written".to_owned(),
        1 => "1 package of this directory is there now, and no page names it".to_owned(),
        count => {
            format!("{count} packages of this directory are there now, and no page names them")
        }
    }
}

/// The stream that was given instead of that of the store.
fn not_of(given: Option<&str>) -> String {
    match given {
        Some(given) => format!("not of `{given}`"),
        None => "no stream was given".to_owned(),
    }
}

fn are<T>(list: &[T]) -> String {
    match list.len() {
        1 => "1 is".to_owned(),
        count => format!("{count} are"),
    }
}

/// The first of them.
fn shown(list: &[String]) -> String {
    const SHOWN: usize = 3;
    let more = list.len().saturating_sub(SHOWN);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    list.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ") + &more
}

fn lines(list: &[Unmet]) -> String {
    list.iter().map(|unmet| format!("  {unmet}")).collect::<Vec<_>>().join("\n")
}

/// Publishes the packages below `dir`. Each step is `told` before it is done, from several threads.
///
/// # Errors
/// When a package is broken or does not pass the gate, the store has other bytes under a name, something that is required is nowhere, or
/// a page is somebody else's: nothing is written then. When the store fails later, what is there is whole, and
/// another run does the rest.
pub fn publish(
    dir: &Path,
    bucket: &dyn Bucket,
    options: &Options,
    gate: &Gate<'_>,
    told: &(dyn Fn(&Step) + Sync),
) -> Result<Summary, PublishError> {
    let locals = simple::packages(dir)?;
    if locals.is_empty() {
        return Err(PublishError::Nothing(dir.to_owned()));
    }
    gate.check(locals.iter().map(|local| local.path.as_path()))?;
    let indexes = indexes::of(locals);
    let mut summary = Summary::default();
    // Before anything is written, all indexes are looked at.
    if indexes.len() > 1 && !options.dry_run {
        let looked = Options { dry_run: true, ..options.clone() };
        for (index, locals) in &indexes {
            publish_index(index.as_ref(), locals, bucket, &looked, &|_| ())?;
        }
    }
    for (index, locals) in &indexes {
        summary.add(publish_index(index.as_ref(), locals, bucket, options, told)?);
    }
    Ok(summary)
}

/// Publishes the packages of one index.
fn publish_index(
    index: Option<&PackageName>,
    locals: &[Local],
    bucket: &dyn Bucket,
    options: &Options,
    told: &(dyn Fn(&Step) + Sync),
) -> Result<Summary, PublishError> {
    let options = &Options { layout: options.layout.of_index(index), ..options.clone() };
    if let Some(index) = index.filter(|_| options.layout.shelves.is_empty()) {
        return Err(PublishError::NoShelf(index.clone()));
    }
    let (above, record) =
        (Above::of(bucket, &options.layout), StreamRecord::of(bucket, &options.layout)?);
    record.check()?;
    let placed = options.layout.place(locals, options.time)?;
    let pages = Pages::new(bucket, &placed)?;
    let survey = Survey { bucket, jobs: options.jobs };
    let found = survey.look(&placed, |placed| pages.told(placed))?;
    if !options.incomplete {
        let unmet = Closure::new(bucket, options, locals).check()?;
        if !unmet.is_empty() {
            return Err(PublishError::Incomplete(unmet));
        }
    }
    let mut summary = counted(&placed, &found);
    let above = above.map(|above| above.with(&pages));
    if options.dry_run {
        let recorded = record.tell(told)?;
        Survey::tell(&placed, &found, told);
        summary.pages = pages.tell(&order::of(&placed), told);
        summary.pages += above.map_or(Ok(0), |above| above.tell(told))?;
        summary.pages += usize::from(recorded);
        return Ok(summary);
    }
    let recorded = record.write(told)?;
    survey.upload(&placed, &found, told)?;
    survey.upload_metadata(&placed, told)?;
    summary.pages = pages.write(&order::of(&placed), told)?;
    summary.pages += above.map_or(Ok(0), |above| above.write(told))?;
    summary.pages += usize::from(recorded);
    Ok(summary)
}

fn counted(placed: &[Placed<'_>], found: &[AtKey]) -> Summary {
    let mut summary = Summary::default();
    for (placed, found) in placed.iter().zip(found) {
        match found {
            AtKey::Nothing => {
                summary.uploaded += 1;
                summary.bytes += placed.local.size();
            }
            AtKey::Same => summary.same += 1,
            AtKey::Other => {}
        }
    }
    summary
}

/// The names of a package's file and of what lies beside it.
fn beside(key: &RelPath, ending: &str) -> Result<RelPath, PathError> {
    key.with_file_name(&format!("{}.{ending}", key.file_name()))
}

/// A package as an error names it.
fn named(local: &Local) -> String {
    local.file_name.clone()
}
