//! Packages of an index, by exact version and SHA-256.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use fs_err as fs;
use percent_encoding::percent_decode_str;

use super::download::{Saving, run_locked, write_file};
use crate::patch::History;
use crate::publish::pages_of;
use crate::simple::{IndexedFile, Link, Yank};
use crate::store::{Bucket, LARGEST, StoreError, UrlOrigin, is_web};
use base::address::Address;
use base::hash::Sum;
use base::names::RelPath;
use base::regular;
use base::source::{Code, Place, Problem, Problems};
use base::text::with_causes;
use base::version::Version;
use patches::Patches;

mod list;
mod patches;

pub use list::{pin, pins};

/// Exact version of a project.
#[derive(Debug, Clone)]
pub struct Pin {
    /// Normalized name.
    pub project: String,
    /// Version.
    pub version: Version,
    /// SHA-256 of the files to take; empty for all that the page hashes.
    pub sha256: BTreeSet<String>,
    /// Line of the list.
    pub place: Option<Place>,
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=={}", self.project, self.version)
    }
}

/// A package to fetch.
#[derive(Debug, Clone)]
pub struct PinnedFile {
    /// File name.
    pub name: String,
    /// Size, if the page has it.
    pub size: Option<u64>,
    sha256: String,
    yanked: Option<String>,
    /// Earlier wheels on the page, newest first.
    earlier: Vec<Earlier>,
    bucket: Arc<dyn Bucket>,
    key: RelPath,
}

/// Wheel between a package and the one in the directory.
#[derive(Debug, Clone)]
struct Earlier {
    name: String,
    sha256: String,
    size: Option<u64>,
}

/// Origin of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The file existed before.
    Kept,
    /// Whole transfer.
    Whole,
    /// An earlier package in the directory, and patches.
    Patch,
}

/// A verified package in the directory.
#[derive(Debug)]
pub struct Arrival {
    /// Origin of its bytes.
    pub way: Way,
    /// Transferred bytes.
    pub bytes: u64,
    /// Fault of an unused patch, and a yank that was taken back.
    pub warnings: Vec<Problem>,
}

/// Opens a store at an address.
pub type Opener<'o> = &'o dyn Fn(&str, UrlOrigin) -> Result<Box<dyn Bucket>, StoreError>;

/// Selects the files of `pins` on the pages of `source`, sorted by name. Each needs a SHA-256.
pub fn select(
    source: &Arc<dyn Bucket>,
    open: Opener<'_>,
    pins: &[Pin],
) -> Result<Vec<PinnedFile>, Problems> {
    let (mut files, mut problems) = (BTreeMap::new(), Problems::new());
    let (mut pages, mut hosts) = (BTreeMap::new(), BTreeMap::new());
    for pin in pins {
        if !pages.contains_key(&pin.project) {
            let read = pages_of(&**source, &pin.project);
            let read = read.map_err(|e| Problem::error(Code::PinnedPackage, with_causes(&e)));
            pages.insert(pin.project.clone(), read?);
        }
        let page: &Vec<IndexedFile> = &pages[&pin.project];
        let history = History::new(page.iter().map(|file| (&file.filename, file)));
        match files_of_pin(source.name(), page, pin) {
            Ok(chosen) => {
                for file in chosen {
                    let (bucket, key) = place(source, open, &mut hosts, &pin.project, file)?;
                    let yanked = file.yanked.reason().map(str::to_owned);
                    let (name, sha256) = (file.filename.clone(), hash_of(file));
                    let (size, earlier) = (file.size, earlier(&history, &name));
                    let file = PinnedFile { name, size, sha256, yanked, earlier, bucket, key };
                    files.insert(file.name.clone(), file);
                }
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(files.into_values().collect()) } else { Err(problems) }
}

fn earlier(history: &History<&IndexedFile>, name: &str) -> Vec<Earlier> {
    let earlier = |file: &&IndexedFile| Earlier {
        name: file.filename.clone(),
        sha256: hash_of(file),
        size: file.size,
    };
    history.before(name).take(patches::LONGEST).map(earlier).collect()
}

fn hash_of(file: &IndexedFile) -> String {
    file.sha256().unwrap_or_default().to_owned()
}

fn files_of_pin<'f>(
    source: &str,
    page: &'f [IndexedFile],
    pin: &Pin,
) -> Result<Vec<&'f IndexedFile>, Problem> {
    let of_pin = |file: &&IndexedFile| {
        file.project().is_some_and(|(project, version)| {
            project == pin.project && version.is_same(&pin.version)
        })
    };
    let files: Vec<&IndexedFile> = page.iter().filter(of_pin).collect();
    let refused = |message: String, help: &str| {
        let problem = Problem::error(Code::PinnedPackage, message).help(help);
        let label = |problem: Problem, place| problem.label(place, "this package");
        Err(pin.place.iter().fold(problem, label))
    };
    if files.is_empty() {
        let mut versions: Vec<Version> =
            page.iter().filter_map(|file| Some(file.project()?.1)).collect();
        versions.sort();
        let newest = versions.last().map_or_else(
            || {
                "give the address of an index with this project, to which pip's --index-url leads"
                    .to_owned()
            },
            |newest| format!("the newest version there is {newest}"),
        );
        return refused(format!("`{source}` has no {pin}"), &newest);
    }
    if let Some(bare) = files.iter().find(|file| file.sha256().is_none()) {
        let name = &bare.filename;
        let help = "without a hash, the server could give other bytes: use another index";
        return refused(format!("the page of `{source}` has no SHA-256 of `{name}`"), help);
    }
    if pin.sha256.is_empty() {
        return Ok(files);
    }
    let hashes: BTreeSet<String> = files.iter().map(|file| hash_of(file)).collect();
    if let Some(absent) = pin.sha256.difference(&hashes).next() {
        let help = "remove the hash, or compile the list again from this index";
        return refused(format!("no file of {pin} in `{source}` has the SHA-256 {absent}"), help);
    }
    Ok(files.into_iter().filter(|file| pin.sha256.contains(&hash_of(file))).collect())
}

/// Store and key of a file on the page of a project, or with `""` on the page of the index.
pub(super) fn place(
    source: &Arc<dyn Bucket>,
    open: Opener<'_>,
    hosts: &mut BTreeMap<String, Arc<dyn Bucket>>,
    project: &str,
    file: &IndexedFile,
) -> Result<(Arc<dyn Bucket>, RelPath), Problem> {
    let refused = |why: &str| {
        let message = format!("cannot open `{}`: {why}", Address::new(&*file.url));
        Problem::error(Code::PinnedPackage, message)
    };
    let is_web = is_web(source.name());
    let url = match Link::parse(&file.url) {
        None => {
            return Err(refused(
                "a link of a page must be https:// or http://, or a path, without user and spaces",
            ));
        }
        Some(link @ Link::Web(_)) => link.on_page(""),
        Some(link) if is_web => {
            let base = source.name().trim_end_matches('/');
            let page = if project.is_empty() { "/".into() } else { format!("/{project}/") };
            link.on_page(&format!("{base}{page}"))
        }
        Some(link) => {
            let page = format!("{project}/index.html");
            let page: Option<RelPath> = page.trim_start_matches('/').parse().ok();
            let key = page.and_then(|page| link.key(&page));
            let out = || refused(&format!("the link leads out of `{}`", source.name()));
            return key.map(|key| (source.clone(), key)).ok_or_else(out);
        }
    };
    if url.contains('?') {
        return Err(refused("it has a query"));
    }
    let (host, path) = url.split_at(after_host(&url));
    let path = percent_decode_str(path.trim_start_matches('/')).decode_utf8();
    let key = path.ok().and_then(|path| path.parse().ok());
    let key = key.ok_or_else(|| refused("it has no path of a file"))?;
    if !hosts.contains_key(host) {
        let is_own =
            is_web && source.name()[..after_host(source.name())].eq_ignore_ascii_case(host);
        let origin = if is_own { UrlOrigin::User } else { UrlOrigin::Page };
        let bucket = open(host, origin).map_err(|error| refused(&with_causes(&error)))?;
        hosts.insert(host.to_owned(), bucket.into());
    }
    Ok((hosts[host].clone(), key))
}

fn after_host(url: &str) -> usize {
    let start = url.find("://").map_or(0, |scheme| scheme + "://".len());
    url[start..].find('/').map_or(url.len(), |slash| start + slash)
}

/// Fetches files into the existing directory `dir`, on the caller's rayon pool: by patches of
/// earlier packages there, or whole. Fetched files stay after a failure.
pub fn fetch_pinned(files: &[PinnedFile], dir: &Path) -> Result<Vec<Arrival>, Problems> {
    let patches = Patches::in_directory(dir);
    run_locked(files, dir, |file| fetch_file(file, dir, &patches))
}

fn fetch_file(file: &PinnedFile, dir: &Path, patches: &Patches<'_>) -> Result<Arrival, Problem> {
    let place = dir.join(&file.name);
    let unwritten = |error: &io::Error| {
        Problem::error(Code::Environment, format!("cannot write {}: {error}", place.display()))
    };
    let is_there = fs::symlink_metadata(&place).is_ok();
    if is_there && regular::sha256(&place).map_err(|e| unwritten(&e))? != file.sha256 {
        let message = format!("{} has another SHA-256 than its page", place.display());
        let help = "remove it, or give another directory";
        return Err(Problem::error(Code::PinnedPackage, message).help(help));
    }
    let mut arrival = Arrival { way: Way::Kept, bytes: 0, warnings: Vec::new() };
    if !is_there {
        let unread = |why: &dyn fmt::Display| {
            let message = format!("cannot fetch `{}`: {why}", file.name);
            Problem::error(Code::PinnedPackage, message)
        };
        let saving = Saving { dir, place: &place, unread: &|e| unread(e), unwritten: &unwritten };
        arrival = by_patch(file, patches, &saving)?;
        if arrival.way == Way::Whole {
            arrival.bytes = download_whole(file, &saving, &unread)?;
        }
    }
    arrival.warnings.extend(write_yank(file, dir).map_err(|e| unwritten(&e))?);
    Ok(arrival)
}

/// Writes the yank of the page. A file of an earlier yank becomes a text that takes it back also in
/// other indexes.
fn write_yank(file: &PinnedFile, dir: &Path) -> io::Result<Option<Problem>> {
    let is_back = file.yanked.is_none();
    if is_back && !matches!(Yank::beside(&dir.join(&file.name))?, Some(Yank::For(_))) {
        return Ok(None);
    }
    let name = format!("{}.yanked", file.name);
    write_file(dir, &dir.join(&name), Yank::text(file.yanked.as_deref()).as_bytes())?;
    let message =
        format!("the index does not yank `{}`: `{name}` now takes the yank back", file.name);
    let help = "write the reason into it again to yank the file in your index";
    Ok(is_back.then(|| Problem::note(Code::PinnedPackage, message).help(help)))
}

fn by_patch(
    file: &PinnedFile,
    patches: &Patches<'_>,
    saving: &Saving<'_>,
) -> Result<Arrival, Problem> {
    let save = |new: &[u8]| saving.save(new, |_| Ok(()));
    match patches.apply(file, save) {
        Ok(Some((bytes, saved))) => {
            saved.map(|()| Arrival { way: Way::Patch, bytes, warnings: Vec::new() })
        }
        Ok(None) => Ok(Arrival { way: Way::Whole, bytes: 0, warnings: Vec::new() }),
        Err(why) => {
            let message = format!("a patch of `{}` is damaged or unreadable: {why}", file.name);
            let help = "the whole package is fetched";
            let warnings = vec![Problem::warning(Code::PinnedPackage, message).help(help)];
            Ok(Arrival { way: Way::Whole, bytes: 0, warnings })
        }
    }
}

fn download_whole(
    file: &PinnedFile,
    saving: &Saving<'_>,
    unread: &dyn Fn(&dyn fmt::Display) -> Problem,
) -> Result<u64, Problem> {
    let content = file.bucket.get(&file.key, None).map_err(|e| unread(&with_causes(&e)))?;
    let size = content.object.size;
    match file.size {
        Some(expected) if size != expected => {
            return Err(unread(&format!("it has {size} bytes, and {expected} on its page")));
        }
        None if size > LARGEST => {
            return Err(unread(&format!("it has {size} bytes, more than any package")));
        }
        Some(_) | None => {}
    }
    let expected = |Sum { sha256, size }: Sum| {
        let is_it = sha256.to_string() == file.sha256;
        let wrong = || unread(&format!("it has the SHA-256 {sha256}, not {}", file.sha256));
        if is_it { Ok(size) } else { Err(wrong()) }
    };
    saving.save(content.body, expected)
}
