//! Page layout of an index.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::rc::Rc;

use super::entry::IndexedFile;
use super::package::Listed;
use super::{IndexError, Layout, json, page};
use base::names::RelPath;

/// Pages in write order: link targets first.
#[derive(Default)]
pub(super) struct Pages<'a> {
    pub(super) pages: Vec<(RelPath, Render<'a>)>,
    /// Pages that installers are given.
    pub(super) entries: Vec<RelPath>,
}

/// Writes the text of a page, an entry at a time: all of them are larger than the list of packages.
pub(super) type Render<'a> = Box<dyn Fn(&mut dyn Write) -> io::Result<()> + 'a>;

type Directory = Option<RelPath>;

impl<'a> Pages<'a> {
    pub(super) fn new(layout: Layout, files: &'a [Listed]) -> Result<Self, IndexError> {
        let mut pages = Self::default();
        match layout {
            Layout::Simple => {
                let indexes = Indexes::new(files.iter().collect());
                pages.simple(None, &indexes.main)?;
                for (name, files) in &indexes.further {
                    pages.simple(Some(&join(None, name)?), files)?;
                }
                pages.overview(&indexes)?;
            }
            Layout::Flat => pages.flats(files)?,
            Layout::Run => pages.runs(files)?,
        }
        pages.check_paths()?;
        Ok(pages)
    }

    /// Refuses two pages with one path: the second would replace the first.
    fn check_paths(&self) -> Result<(), IndexError> {
        let mut paths = BTreeSet::new();
        match self.pages.iter().map(|(path, _)| path).find(|path| !paths.insert(*path)) {
            Some(path) => Err(IndexError::PageTwice { path: path.clone() }),
            None => Ok(()),
        }
    }

    fn simple(&mut self, base: Option<&RelPath>, files: &[&'a Listed]) -> Result<(), IndexError> {
        let root = join(base, "simple/index.html")?;
        let projects = by_project(&distinct(files)?);
        let mut links = Vec::new();
        for (name, files) in projects {
            let place = join(base, &format!("simple/{name}/index.html"))?;
            let (for_html, for_json) = (place.clone(), place.clone());
            let files: Rc<[&Listed]> = files.into();
            let files_of_json = Rc::clone(&files);
            self.add(
                &place,
                Box::new(move |to| page::files(&for_html, name, &files, &[], to)),
                Box::new(move |to| project_json(&for_json, name, &files_of_json, to)),
            )?;
            links.push((place, name));
        }
        let html = page::projects(&root, "Simple index", &links);
        let json = json::root(links.iter().map(|(_, name)| *name));
        let json = json.map_err(|e| IndexError::Write(e.into()))?;
        self.add(&root, rendered(html), rendered(json))?;
        self.entries.push(root);
        Ok(())
    }

    fn add(
        &mut self,
        place: &RelPath,
        html: Render<'a>,
        json: Render<'a>,
    ) -> Result<(), IndexError> {
        self.pages.push((join(place.parent().as_ref(), "index.json")?, json));
        self.pages.push((place.clone(), html));
        Ok(())
    }

    fn overview(&mut self, indexes: &Indexes<'a>) -> Result<(), IndexError> {
        let place = join(None, "index.html")?;
        let mut links = vec![(
            join(None, "simple/index.html")?,
            "simple/".to_owned(),
            "for --index-url".to_owned(),
        )];
        for name in indexes.further.keys() {
            links.push((
                join(None, &format!("{name}/simple/index.html"))?,
                format!("{name}/simple/"),
                "for --index-url".to_owned(),
            ));
        }
        for (name, files) in by_project(&distinct(&indexes.main)?) {
            links.push((
                join(None, &format!("simple/{name}/index.html"))?,
                name.to_owned(),
                versions(&files),
            ));
        }
        let html = page::list(&place, "Packages", &links);
        self.pages.push((place, rendered(html)));
        Ok(())
    }

    fn flats(&mut self, files: &'a [Listed]) -> Result<(), IndexError> {
        let mut directories = by_directory(files);
        let top = Indexes::new(directories.remove(&None).unwrap_or_default());
        let mut links = Vec::new();
        for (directory, files) in directories {
            let indexes = Indexes::new(files);
            let place = self.flat(directory.as_ref(), &indexes.main)?;
            links.push((place, format!("{}/", title(directory.as_ref()))));
            self.add_further_indexes(directory.as_ref(), &indexes, &mut links)?;
        }
        self.add_further_indexes(None, &top, &mut links)?;
        let top = ordered(&top.main);
        let place = join(None, "index.html")?;
        // An empty top page has only links, which --find-links does not follow.
        if !top.is_empty() {
            self.entries.insert(0, place.clone());
        }
        let page = place.clone();
        let html = move |to: &mut dyn Write| page::files(&page, "Packages", &top, &links, to);
        self.pages.push((place, Box::new(html)));
        Ok(())
    }

    fn add_further_indexes(
        &mut self,
        directory: Option<&RelPath>,
        indexes: &Indexes<'a>,
        links: &mut Vec<(RelPath, String)>,
    ) -> Result<(), IndexError> {
        for (name, files) in &indexes.further {
            let directory = join(directory, name)?;
            let place = self.flat(Some(&directory), files)?;
            links.push((place, format!("{directory}/")));
        }
        Ok(())
    }

    fn flat(
        &mut self,
        directory: Option<&RelPath>,
        files: &[&'a Listed],
    ) -> Result<RelPath, IndexError> {
        let place = join(directory, "index.html")?;
        let (page, title) = (place.clone(), title(directory).to_owned());
        let files = ordered(files);
        let html = move |to: &mut dyn Write| page::files(&page, &title, &files, &[], to);
        self.pages.push((place.clone(), Box::new(html)));
        self.entries.push(place.clone());
        Ok(place)
    }

    fn runs(&mut self, files: &'a [Listed]) -> Result<(), IndexError> {
        let mut links = Vec::new();
        for (directory, files) in &by_directory(files) {
            // `by_directory` makes no directory without a file.
            let group = directory.as_ref().filter(|directory| is_group(directory));
            let group =
                group.ok_or_else(|| IndexError::Misplaced { path: files[0].path.clone() })?;
            let indexes = Indexes::new(files.clone());
            self.group(group, &indexes.main, &mut links)?;
            for (name, files) in &indexes.further {
                self.group(&join(Some(group), name)?, files, &mut links)?;
            }
        }
        let place = join(None, "index.html")?;
        let html = page::list(&place, "Runs", &links);
        self.pages.push((place, rendered(html)));
        Ok(())
    }

    fn group(
        &mut self,
        group: &RelPath,
        files: &[&'a Listed],
        links: &mut Vec<(RelPath, String, String)>,
    ) -> Result<(), IndexError> {
        self.simple(Some(group), files)?;
        let place = self.flat(Some(group), files)?;
        let count =
            if files.len() == 1 { "1 file".to_owned() } else { format!("{} files", files.len()) };
        links.push((place, group.to_string(), count));
        Ok(())
    }
}

fn rendered<'a>(text: String) -> Render<'a> {
    Box::new(move |to| to.write_all(text.as_bytes()))
}

struct Indexes<'a> {
    main: Vec<&'a Listed>,
    /// By the name of an `index` line: its selectors, and `main` without the projects of these.
    further: BTreeMap<&'a str, Vec<&'a Listed>>,
}

impl<'a> Indexes<'a> {
    fn new(files: Vec<&'a Listed>) -> Self {
        let mut further: BTreeMap<&str, Vec<&Listed>> = BTreeMap::new();
        let mut main = Vec::new();
        for file in files {
            match &file.package.index {
                Some(index) => further.entry(index.as_str()).or_default().push(file),
                None => main.push(file),
            }
        }
        for files in further.values_mut() {
            let projects: BTreeSet<&str> =
                files.iter().map(|file| &*file.package.project).collect();
            let is_not_replaced = |file: &&&Listed| !projects.contains(&*file.package.project);
            files.extend(main.iter().filter(is_not_replaced));
        }
        Self { main, further }
    }
}

fn project_json(
    page: &RelPath,
    name: &str,
    files: &[&Listed],
    to: &mut dyn Write,
) -> io::Result<()> {
    let mut listed = BTreeSet::new();
    let versions = files.iter().map(|file| file.package.version.as_str());
    let versions: Vec<&str> = versions.filter(|version| listed.insert(*version)).collect();
    let has_provenance = files.iter().any(|file| file.provenance.is_some());
    let entries = files.iter().map(|file| IndexedFile::from_listed(page, file));
    json::write_line(to, &json::project(name, &versions, has_provenance, entries))
}

fn is_group(directory: &RelPath) -> bool {
    let mut segments = directory.segments();
    let run = segments.next().and_then(|run| run.rsplit_once('-'));
    let named = run.is_some_and(|(run, platform)| !run.is_empty() && !platform.is_empty());
    named && segments.next() == Some("python") && segments.count() <= 1
}

fn join(directory: Option<&RelPath>, below: &str) -> Result<RelPath, IndexError> {
    let path: Result<RelPath, _> = below.parse();
    let path = path.map_err(|source| IndexError::Name {
        dir: directory.map_or("", RelPath::as_str).into(),
        source,
    })?;
    Ok(directory.map_or(path.clone(), |directory| directory.join(&path)))
}

fn title(directory: Option<&RelPath>) -> &str {
    directory.map_or("Packages", RelPath::as_str)
}

/// Removes repeated files. Fails if files of one name differ.
fn distinct<'a>(files: &[&'a Listed]) -> Result<Vec<&'a Listed>, IndexError> {
    let mut by_name: BTreeMap<&str, &Listed> = BTreeMap::new();
    for &file in files {
        match by_name.get(file.path.file_name()) {
            Some(first) if first.package.sha256 != file.package.sha256 => {
                return Err(IndexError::Clash {
                    first: first.path.clone(),
                    second: file.path.clone(),
                });
            }
            Some(_) => {}
            None => {
                by_name.insert(file.path.file_name(), file);
            }
        }
    }
    Ok(by_name.into_values().collect())
}

fn by_project<'a>(files: &[&'a Listed]) -> BTreeMap<&'a str, Vec<&'a Listed>> {
    let mut projects: BTreeMap<&str, Vec<&Listed>> = BTreeMap::new();
    for &file in files {
        projects.entry(&file.package.project).or_default().push(file);
    }
    for files in projects.values_mut() {
        files.sort_by_cached_key(|file| file.order());
    }
    projects
}

fn by_directory(files: &[Listed]) -> BTreeMap<Directory, Vec<&Listed>> {
    let mut directories: BTreeMap<Directory, Vec<&Listed>> = BTreeMap::new();
    for file in files {
        directories.entry(file.home()).or_default().push(file);
    }
    directories
}

fn ordered<'a>(files: &[&'a Listed]) -> Vec<&'a Listed> {
    by_project(files).into_values().flatten().collect()
}

fn versions(files: &[&Listed]) -> String {
    let mut listed = BTreeSet::new();
    let versions = files
        .iter()
        .rev()
        .map(|file| file.package.version.as_str())
        .filter(|version| listed.insert(*version));
    versions.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wheel::archive::Timestamp;

    use super::super::package::Package;
    use super::*;

    fn listed(path: &str, project: &str, index: Option<&str>) -> Listed {
        let package = Package {
            size: 1,
            sha256: path.to_owned(),
            metadata: None,
            project: project.to_owned(),
            version: "1.0".parse().unwrap(),
            requires_python: None,
            index: index.map(|name| name.parse().unwrap()),
            time: 0,
        };
        Listed {
            path: path.parse().unwrap(),
            package: Arc::new(package),
            yank: None,
            provenance: None,
            time: Timestamp::EARLIEST,
        }
    }

    #[test]
    fn refuses_an_index_with_the_name_of_a_directory_or_project() {
        let repeated_page = |layout, files: &[Listed]| match Pages::new(layout, files) {
            Err(IndexError::PageTwice { path }) => Some(path.to_string()),
            result => {
                result.unwrap();
                None
            }
        };
        let selector = listed("whl/rocm-1.0.tar.gz", "rocm", Some("whl"));
        let other = listed("whl/other-1.0-py3-none-any.whl", "other", None);
        assert_eq!(repeated_page(Layout::Flat, std::slice::from_ref(&selector)), None);
        let files = [selector, other];
        assert_eq!(repeated_page(Layout::Flat, &files).as_deref(), Some("whl/index.html"));
        assert_eq!(repeated_page(Layout::Simple, &files), None);
        let selector = listed("simple/rocm-1.0.tar.gz", "rocm", Some("simple"));
        let project = listed("simple-1.0-py3-none-any.whl", "simple", None);
        let page = repeated_page(Layout::Simple, &[selector, project]);
        assert_eq!(page.as_deref(), Some("simple/simple/index.json"));
    }
}
