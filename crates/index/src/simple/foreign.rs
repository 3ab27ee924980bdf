//! HTML pages of any program (PEP 503, PEP 592, PEP 658, PEP 714).

use std::borrow::Cow;
use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::anchor::{Anchor, MOST_LINKS, links};
use super::document::{Files, PageError, Projects, check, check_version, entries};
use super::entry::{IndexedFile, Yanked};
use super::reference::Link;
use base::address::Address;
use base::names::normalized;

const PACKAGES: [&str; 7] = [".whl", ".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz", ".egg"];
const BESIDE: [&str; 6] = [".metadata", ".json", ".asc", ".sha256", ".provenance", ".attestation"];
const HASHES: [&str; 6] = ["sha256", "sha512", "sha384", "sha224", "sha1", "md5"];

impl Files {
    /// Ignores links to parents and sort links. Other links are errors.
    pub(crate) fn of_html(name: &str, html: &[u8]) -> Result<Self, PageError> {
        let mut entries = Vec::new();
        for anchor in anchors(html)? {
            let link = || PageError::Link(Address::new(address(&anchor)));
            entries.extend(entry(&anchor)?.ok_or_else(link)?);
        }
        check(&entries)?;
        let mut files = Self::new(name);
        files.merge(&entries)?;
        Ok(files)
    }
}

impl Projects {
    /// With the URL of the page on a web server, with a final `/`, links can begin with its path.
    pub(crate) fn of_html(html: &[u8], url: Option<&str>) -> Result<Self, PageError> {
        let mut projects = Self::default();
        for anchor in anchors(html)? {
            let href = anchor.get("href").unwrap_or_default();
            let Some(href) = below(href, url) else { continue };
            let directory = href.strip_suffix("index.html").unwrap_or(&href);
            let directory = directory.strip_prefix("./").unwrap_or(directory);
            let name = directory.strip_suffix('/').unwrap_or(directory);
            let elsewhere = || PageError::Link(Address::new(address(&anchor)));
            let name = percent_decode_str(name).decode_utf8().map_err(|_| elsewhere())?;
            projects.0.insert(normalized(&name).filter(|n| *n == *name).ok_or_else(elsewhere)?);
        }
        Ok(projects)
    }
}

/// Link relative to the page with this URL; `None` for links to it or a directory above.
fn below<'h>(href: &'h str, url: Option<&str>) -> Option<Cow<'h, str>> {
    let target = |url| Link::parse(href).map(|link| link.on_page(url));
    let Some((url, target)) = url.and_then(|url| Some((url, target(url)?))) else {
        return Some(href.into());
    };
    if target.ends_with('/') && url.starts_with(&target) {
        return None;
    }
    Some(target.strip_prefix(url).map_or_else(|| href.into(), |below| below.to_owned().into()))
}

/// Packages on a JSON or HTML page. Ignores other links.
pub(crate) fn packages_on(page: &[u8]) -> Result<Vec<IndexedFile>, PageError> {
    match entries(page) {
        Err(PageError::NoPage(_)) => {}
        files => return files,
    }
    let mut files = Vec::new();
    for anchor in anchors(page)? {
        files.extend(entry(&anchor)?.into_iter().flatten());
    }
    check(&files)?;
    Ok(files)
}

/// All addresses of a JSON or HTML page.
pub fn addresses(page: &[u8]) -> Vec<String> {
    match entries(page) {
        Ok(files) => files.into_iter().map(|entry| entry.url).collect(),
        Err(_) => links(&String::from_utf8_lossy(page)).anchors.iter().map(address).collect(),
    }
}

/// The first link or yank of `html` that is missing in `made`, rendered from its data.
pub fn beyond_data(html: &[u8], made: &str) -> Option<String> {
    let without_fragment =
        |anchor: &Anchor| address(anchor).split('#').next().unwrap_or_default().to_owned();
    let is_yanked = |anchor: &Anchor| anchor.get("data-yanked").is_some();
    let made: BTreeMap<String, bool> =
        links(made).anchors.iter().map(|a| (without_fragment(a), is_yanked(a))).collect();
    links(&String::from_utf8_lossy(html)).anchors.iter().find_map(|anchor| {
        let address = without_fragment(anchor);
        match made.get(&address) {
            None => Some(format!("names `{address}`")),
            Some(false) if is_yanked(anchor) => Some(format!("yanks `{address}`")),
            Some(_) => None,
        }
    })
}

fn anchors(html: &[u8]) -> Result<Vec<Anchor>, PageError> {
    let links = links(&String::from_utf8_lossy(html));
    check_version(links.version)?;
    if links.is_cut {
        return Err(PageError::Long(MOST_LINKS, "links"));
    }
    if let Some(base) = links.base {
        return Err(PageError::Base(Address::new(base)));
    }
    let leads = |anchor: &Anchor| {
        let href = anchor.get("href").unwrap_or_default();
        !(href.starts_with(['?', '#']) || ["..", "../", "./"].contains(&href))
    };
    Ok(links.anchors.into_iter().filter(leads).collect())
}

fn address(anchor: &Anchor) -> String {
    anchor.get("href").unwrap_or_default().to_owned()
}

/// A package link; an empty list for derived files.
fn entry(anchor: &Anchor) -> Result<Option<Vec<IndexedFile>>, PageError> {
    let href = anchor.get("href").unwrap_or_default();
    let (url, fragment) = href.split_once('#').unwrap_or((href, ""));
    let path = url.split('?').next().unwrap_or_default();
    let name = percent_decode_str(path.rsplit('/').next().unwrap_or_default()).decode_utf8();
    let Ok(name) = name.map(Cow::into_owned) else { return Ok(None) };
    if !PACKAGES.iter().any(|ending| name.ends_with(ending)) {
        return Ok(BESIDE.iter().any(|ending| name.ends_with(ending)).then(Vec::new));
    }
    let fields = fragment.split('&').filter_map(|part| part.split_once('='));
    let supported = fields.filter(|(name, value)| HASHES.contains(name) && !value.is_empty());
    let mut hashes = BTreeMap::new();
    for (algorithm, value) in supported {
        if hashes.insert(algorithm.to_owned(), value.to_ascii_lowercase()).is_some() {
            return Err(PageError::Value { file: name, key: "two hashes of one algorithm" });
        }
    }
    let metadata = |name| anchor.get(name).and_then(metadata);
    let attribute =
        |name| anchor.get(name).filter(|text: &&str| !text.is_empty()).map(str::to_owned);
    let file = IndexedFile {
        filename: name,
        url: url.to_owned(),
        hashes,
        size: None,
        upload_time: None,
        requires_python: attribute("data-requires-python"),
        core_metadata: metadata("data-core-metadata"),
        dist_info_metadata: metadata("data-dist-info-metadata"),
        yanked: Yanked::from_reason(anchor.get("data-yanked")),
        extra: BTreeMap::new(),
    };
    Ok(Some(vec![file.with_provenance(attribute("data-provenance"))]))
}

fn metadata(text: &str) -> Option<Value> {
    match text.split_once('=') {
        Some((name, hash)) => Some(json!({ name: hash })),
        None => (text == "true").then_some(Value::Bool(true)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_projects_begin_with_the_path_of_a_web_server() {
        let url = "https://h:1/whl/simple/";
        let projects = |links: &[&str], url| {
            let anchor = |link: &&str| ["<a href=\"", link, "\">x</a>"].concat();
            let html = links.iter().map(anchor).collect::<Vec<_>>().concat();
            Projects::of_html(html.as_bytes(), url).map(|projects| Vec::from_iter(projects.0))
        };
        let links = [
            "/whl/simple/a-b/",
            "https://h:1/whl/simple/c/index.html",
            "//h:1/whl/simple/d",
            "./e/",
            "f/",
            "../simple/g/",
            "/whl/",
            "/",
            "/whl/simple/",
        ];
        assert_eq!(projects(&links, Some(url)).unwrap(), ["a-b", "c", "d", "e", "f", "g"]);
        for link in ["/whl/other/", "https://other/whl/simple/a/", "/whl/simple/a/b/", "A/"] {
            assert!(projects(&[link], Some(url)).is_err(), "{link}");
        }
        assert!(projects(&links[..1], None).is_err());
    }
}
