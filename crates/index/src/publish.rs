//! Publishing: uploads the packages of a directory to a store and updates its index pages.
//!
//! Pages name existing packages at any time: checks, the record of the stream, packages, companions
//! (PEP 658, PEP 740, patches), pages of projects (required ones first), other pages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::simple::{self, IndexError, Local, PageError};
use crate::store::{Bucket, StoreError};
use base::names::{PackageName, PathError, RelPath};
use manifest::Publishing;
use record::content::{ContentError, Rules};
use record::gate::{Gate, GateError};
use wheel::archive::Timestamp;
use wheel::package::Wheel;

mod aggregate;
mod closure;
mod delta;
mod encoding;
mod headers;
mod indexes;
mod kept_pages;
mod layout;
mod listing;
mod mirror;
mod order;
mod page;
mod page_cache;
mod page_store;
mod pages;
mod pause;
mod prune;
mod read;
mod stream;
mod upload;
mod workers;
mod writer;

pub use closure::Unmet;
pub use delta::{Delta, DeltaError, delta};
pub use layout::{Form, Layout, Shelf, Takes};
pub use listing::project_files;
pub(crate) use listing::{Listing, listing, pages_of};
pub use mirror::{Mirror, Mirrored, mirror};
pub use page_cache::PageCache;
pub use prune::{PruneStep, Pruned, Retention, is_more_than_half, prune};

use aggregate::Above;
use closure::Closure;
use layout::Placed;
use page_store::PageStore;
use pages::Pages;
use stream::StreamRecord;
use upload::{AtKey, Survey};

/// Options.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Keys of packages and pages.
    pub layout: Layout,
    /// Public address of the store, for addresses of provenance; pages lack them without it.
    pub public: Option<String>,
    /// Upload time; defaults to the newest member's time of each package.
    pub time: Option<Timestamp>,
    /// Normalized names of projects from other indexes.
    pub outside: BTreeSet<String>,
    /// Rules of the manifest.
    pub publishing: Publishing,
    /// Publishes despite unmet requirements.
    pub incomplete: bool,
    /// Checks only.
    pub dry_run: bool,
    /// Parallel transfers; 0 counts as 1.
    pub jobs: usize,
    /// Digests of contents by SHA-256 of the package, as recorded by builds, with their rules.
    pub contents: Option<(BTreeMap<String, String>, Rules)>,
}

/// Step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Upload of a package.
    Upload {
        /// Key.
        key: RelPath,
        /// Size in bytes.
        size: u64,
    },
    /// Existing package with the same bytes.
    Same {
        /// Key.
        key: RelPath,
    },
    /// Upload of a companion, such as a wheel's METADATA.
    Metadata {
        /// Key.
        key: RelPath,
    },
    /// Change of a yank.
    Yank {
        /// File name.
        file: String,
        /// Reason; `None` takes the yank back.
        reason: Option<String>,
    },
    /// New or changed page.
    Page {
        /// Key.
        key: RelPath,
        /// New names.
        more: usize,
    },
}

/// Counts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Uploaded packages.
    pub uploaded: usize,
    /// Bytes of uploaded packages.
    pub bytes: u64,
    /// Packages that existed.
    pub same: usize,
    /// Changed page files.
    pub pages: usize,
    /// Packages with attestations.
    pub attested: usize,
}

impl Summary {
    fn add(&mut self, more: Self) {
        self.uploaded += more.uploaded;
        self.bytes += more.bytes;
        self.same += more.same;
        self.pages += more.pages;
        self.attested += more.attested;
    }
}

/// Reason of an incomplete publication.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// Unreadable packages.
    #[error(transparent)]
    Packages(#[from] IndexError),
    /// Packages that `verify` rejects.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// Unreadable content.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// Package with another content than its build recorded.
    #[error("the content of `{0}` differs from the one in its provenance statement")]
    OtherContent(String),
    /// Patch that makes another file than its package.
    #[error("`{}` makes another file than the package beside it", .0.display())]
    OtherPatch(PathBuf),
    /// No packages.
    #[error("there are no packages in {}", .0.display())]
    Nothing(PathBuf),
    /// Failure of the store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Package that no shelf takes.
    #[error("no shelf takes `{0}`")]
    Homeless(String),
    /// Further index without a shelf.
    #[error("no shelf is for the index `{0}`, for which the directory contains a selector")]
    NoShelf(PackageName),
    /// Keys with other bytes.
    #[error("{} already in the store with other bytes; nothing was written: {}", count_and_verb(.0), abbreviate(.0))]
    OtherBytes(Vec<String>),
    /// Keys that another program filled meanwhile.
    #[error("another program uploaded other bytes as {} meanwhile; {}", .keys.join(", "), unnamed(*.uploaded))]
    Overtaken {
        /// Keys.
        keys: Vec<String>,
        /// Packages uploaded so far.
        uploaded: usize,
    },
    /// Unmet requirements.
    #[error("{} missing; nothing was written:\n{}", count_and_verb(.0), lines(.0))]
    Incomplete(Vec<Unmet>),
    /// Invalid or unmergeable page.
    #[error("{}", page_text(store, key, source))]
    Page {
        /// Store.
        store: String,
        /// Page.
        key: RelPath,
        /// Fault of the page.
        source: PageError,
    },
    /// HTML page with more information than its data.
    #[error(
        "`{key}` in `{store}` was edited by hand: unlike `{data}`, it {says}; nothing was written"
    )]
    ByHand {
        /// Store.
        store: String,
        /// Page.
        key: RelPath,
        /// Data of the page.
        data: RelPath,
        /// Additional information.
        says: String,
    },
    /// Store of another stream.
    #[error(
        "`{store}` belongs to the stream `{recorded}` (recorded in `{key}`), {}; nothing was written",
        not_of(.requested.as_deref())
    )]
    Stream {
        /// Store.
        store: String,
        /// Record of the stream.
        key: RelPath,
        /// Recorded stream.
        recorded: String,
        /// Given stream.
        requested: Option<String>,
    },
    /// Store without a record of its stream.
    #[error("`{store}` has no record of its stream, so nothing is removed for `{stream}`")]
    NoStream {
        /// Store.
        store: String,
        /// Given stream.
        stream: String,
    },
    /// Removal of more than half.
    #[error(
        "{going} of the {total} packages in `{store}` would be removed, more than half; nothing was written"
    )]
    TooMany {
        /// Store.
        store: String,
        /// Packages to remove.
        going: usize,
        /// All packages.
        total: usize,
    },
    /// Page that other programs changed before every attempt.
    #[error(
        "`{key}` in `{store}` was changed by other programs before each of {tries} attempts to replace it"
    )]
    Contended {
        /// Store.
        store: String,
        /// Page.
        key: RelPath,
        /// Number of attempts.
        tries: usize,
    },
    /// Packages to keep with unknown requirements.
    #[error("the requirements of {} packages are unknown, so nothing is removed: {}", .0.len(), abbreviate(.0))]
    Unknown(Vec<String>),
    /// Packages without a SHA-256 on any page.
    #[error("no page contains the SHA-256 of {}; nothing was written", abbreviate(.0))]
    NoHash(Vec<String>),
    /// Requested projects without a page.
    #[error("no page has packages of {}", abbreviate(.0))]
    Absent(Vec<String>),
    /// No page with packages.
    #[error("there are no pages with packages in `{0}`")]
    NoPages(String),
    /// Page of another program.
    #[error("`{key}` in `{store}` was not made by rockpack and is not replaced by a page")]
    Foreign {
        /// Store.
        store: String,
        /// Page.
        key: RelPath,
    },
    /// Index with packages, at the destination of a mirror.
    #[error(
        "`{key}` in `{store}` links to packages next to it: it is an index of `rockpack index publish` or `rockpack index write`, \
         not a mirror; nothing was written"
    )]
    NoMirror {
        /// Store.
        store: String,
        /// Page.
        key: RelPath,
    },
    /// Invalid key.
    #[error("a key is invalid")]
    Key(#[from] PathError),
}

fn page_text(store: &str, key: &RelPath, source: &PageError) -> String {
    match source {
        PageError::OtherBytes(_) | PageError::NoHash(_) => {
            format!("cannot merge the entries of `{key}` in `{store}`")
        }
        _ => format!("cannot read `{key}` in `{store}` as an index page"),
    }
}

fn unnamed(packages: usize) -> String {
    match packages {
        0 => "nothing was written".to_owned(),
        1 => "1 package of this directory was uploaded, and no page names it".to_owned(),
        count => {
            format!("{count} packages of this directory were uploaded, and no page names them")
        }
    }
}

fn not_of(stream: Option<&str>) -> String {
    match stream {
        Some(stream) => format!("not to `{stream}`"),
        None => "and no stream was given".to_owned(),
    }
}

fn count_and_verb<T>(list: &[T]) -> String {
    match list.len() {
        1 => "1 is".to_owned(),
        count => format!("{count} are"),
    }
}

fn abbreviate(list: &[String]) -> String {
    const SHOWN: usize = 3;
    let more = list.len().saturating_sub(SHOWN);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    list.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ") + &more
}

fn lines(list: &[Unmet]) -> String {
    list.iter().map(|unmet| format!("  {unmet}")).collect::<Vec<_>>().join("\n")
}

/// Publishes the packages below `dir`. Calls `report` before each step, from several threads.
/// Errors precede all writes; another run completes an interrupted one.
pub fn publish(
    dir: &Path,
    bucket: &dyn Bucket,
    options: &Options,
    gate: &Gate<'_>,
    report: &(dyn Fn(&Step) + Sync),
) -> Result<Summary, PublishError> {
    let mut locals = simple::packages(dir)?;
    if locals.is_empty() {
        return Err(PublishError::Nothing(dir.to_owned()));
    }
    with_contents(&mut locals, options)?;
    if let Some(patch) = delta::other_patch(&locals) {
        return Err(PublishError::OtherPatch(patch.to_owned()));
    }
    gate.check_set(locals.iter().map(|local| local.path.as_path()))?;
    let (indexes, store) = (indexes::by_index(locals), PageStore::new(bucket));
    if !options.dry_run {
        bucket.check_writes()?;
    }
    let mut summary = Summary::default();
    // Checks all indexes before any write.
    if indexes.len() > 1 && !options.dry_run {
        let looked = Options { dry_run: true, ..options.clone() };
        for (index, locals) in &indexes {
            publish_index(index.as_ref(), locals, &store, &looked, &|_| ())?;
        }
    }
    for (index, locals) in &indexes {
        summary.add(publish_index(index.as_ref(), locals, &store, options, report)?);
    }
    Ok(summary)
}

fn publish_index(
    index: Option<&PackageName>,
    locals: &[Local],
    store: &PageStore<'_>,
    options: &Options,
    report: &(dyn Fn(&Step) + Sync),
) -> Result<Summary, PublishError> {
    let options = &Options { layout: options.layout.of_index(index), ..options.clone() };
    if let Some(index) = index.filter(|_| options.layout.shelves.is_empty()) {
        return Err(PublishError::NoShelf(index.clone()));
    }
    let (above, record) =
        (Above::new(store, &options.layout), StreamRecord::new(store, &options.layout)?);
    record.check()?;
    let placed = options.layout.place(locals, options.public.as_deref(), options.time)?;
    let pages = Pages::new(store, &placed, options.jobs)?;
    let survey = Survey { bucket: store.bucket, jobs: options.jobs };
    let states = survey.look(&placed, |placed| pages.known_sha256(placed))?;
    if !options.incomplete {
        let unmet = Closure::new(store, options, locals).check()?;
        if !unmet.is_empty() {
            return Err(PublishError::Incomplete(unmet));
        }
    }
    let mut summary = summarize(&placed, &states);
    let above = above.map(|above| above.with_new_pages(&pages));
    if options.dry_run {
        let recorded = record.preview(report)?;
        Survey::preview(&placed, &states, report);
        summary.pages = pages.preview(&order::dependencies_first(&placed), report)?;
        summary.pages += above.map_or(Ok(0), |above| above.preview(report))?;
        summary.pages += usize::from(recorded);
        return Ok(summary);
    }
    let recorded = record.write(report)?;
    survey.upload(&placed, &states, report)?;
    survey.upload_companions(&placed, report)?;
    // Other programs write pages meanwhile.
    store.recheck();
    summary.pages = pages.write(&order::dependencies_first(&placed), report)?;
    summary.pages += above.map_or(Ok(0), |above| above.write(report))?;
    summary.pages += usize::from(recorded);
    Ok(summary)
}

fn with_contents(locals: &mut [Local], options: &Options) -> Result<(), PublishError> {
    let Some((contents, rules)) = &options.contents else { return Ok(()) };
    for local in locals {
        let Some(digest) = contents.get(local.sha256()) else { continue };
        let wheel = Wheel::open(&local.path).map_err(ContentError::from)?;
        let content = record::content::content(&wheel, rules)?;
        if content.digest() != *digest {
            return Err(PublishError::OtherContent(named(local)));
        }
        local.content = Some(content.to_text());
    }
    Ok(())
}

fn summarize(placed: &[Placed<'_>], states: &[AtKey]) -> Summary {
    let attested = placed.iter().filter(|placed| placed.local.provenance.is_some()).count();
    let mut summary = Summary { attested, ..Summary::default() };
    for (placed, state) in placed.iter().zip(states) {
        match state {
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

fn companion_key(key: &RelPath, ending: &str) -> Result<RelPath, PathError> {
    key.with_file_name(&format!("{}.{ending}", key.file_name()))
}

fn named(local: &Local) -> String {
    local.file_name.clone()
}
