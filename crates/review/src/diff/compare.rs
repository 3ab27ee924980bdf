use std::collections::HashMap;

use super::built::Built;
use super::contents::{Area, EntryContent, File, Package};
use super::difference::Difference;
use super::rpath::{self, FileRpath};
use super::translate::Translations;
use binary::elf::stub::StubMachine;
use binary::loader::Linked;
use catalog::SourcePath;
use plan::Step;

pub(super) struct Comparison<'c, 'a> {
    pub old: &'c Package<'a>,
    pub new: &'c Package<'a>,
    pub translations: &'c Translations<'a>,
    /// One rule edits thousands of files.
    rpaths: HashMap<(&'a str, &'a str, &'a str), Option<Difference>>,
}

impl<'c, 'a> Comparison<'c, 'a> {
    pub fn new(
        old: &'c Package<'a>,
        new: &'c Package<'a>,
        translations: &'c Translations<'a>,
    ) -> Self {
        Self { old, new, translations, rpaths: HashMap::new() }
    }

    /// None if only the version differs.
    pub fn files(&mut self, old: &File<'a>, new: &File<'a>) -> Vec<Difference> {
        let mut changes = match (old.content, new.content) {
            (EntryContent::Directory, EntryContent::Directory) => return Vec::new(),
            (EntryContent::Link(a), EntryContent::Link(b)) => {
                return self.target(old, a, new, b).into_iter().collect();
            }
            (EntryContent::Planned(a), EntryContent::Planned(b)) => self.steps(old, a, new, b),
            (EntryContent::Planned(step), EntryContent::Built(bytes)) => {
                self.promised(old, step, new, bytes, Side::Old)
            }
            (EntryContent::Built(bytes), EntryContent::Planned(step)) => {
                self.promised(new, step, old, bytes, Side::New)
            }
            (EntryContent::Built(a), EntryContent::Built(b)) => self.built(old, a, new, b),
            (
                EntryContent::Planned(_)
                | EntryContent::Built(_)
                | EntryContent::Link(_)
                | EntryContent::Directory,
                _,
            ) => return vec![other_kind(old, new)],
        };
        // A changed step implies the execute bit.
        if old.executable != new.executable
            && !changes.iter().any(|difference| matches!(difference, Difference::Step { .. }))
        {
            changes.push(Difference::Executable { now: new.executable });
        }
        changes
    }

    fn steps(
        &mut self,
        old: &File<'a>,
        a: &'a Step,
        new: &File<'a>,
        b: &'a Step,
    ) -> Vec<Difference> {
        let mut changes = Vec::new();
        match (a, b) {
            (Step::Copy { source: from }, Step::Copy { source: to }) => {
                changes.extend(sources(old, from, new, to));
            }
            (
                Step::Relink { source: from, rpath: was, clear_execstack: cleared },
                Step::Relink { source: to, rpath: is, clear_execstack: clears },
            ) => {
                changes.extend(sources(old, from, new, to));
                changes.extend(self.rpath(old, was, new, is));
                changes
                    .extend((cleared != clears).then_some(Difference::Stack { cleared: *clears }));
            }
            (Step::Stub { .. } | Step::Alias { .. }, _) => {
                changes.extend(self.made(old, a, new, b));
            }
            (Step::Render { text: was }, Step::Render { text: is }) => {
                changes.extend(self.text(&was.text(), &is.text()));
            }
            (
                Step::Copy { .. }
                | Step::Relink { .. }
                | Step::Render { .. }
                | Step::Link { .. }
                | Step::Directory,
                _,
            ) => changes.push(other_kind(old, new)),
        }
        changes
    }

    /// Compares generated files.
    fn made(&self, old: &File<'a>, a: &Step, new: &File<'a>, b: &Step) -> Vec<Difference> {
        let (changed, old_machine, new_machine) = match (a, b) {
            (Step::Stub { target: was, machine: from }, Step::Stub { target: is, machine: to }) => {
                (self.target(old, was, new, is), from, to)
            }
            (
                Step::Alias { soname, needed, rpath, machine: from },
                Step::Alias {
                    soname: new_soname,
                    needed: new_needed,
                    rpath: new_rpath,
                    machine: to,
                },
            ) => {
                let now = (&**new_soname, &**new_needed, &**new_rpath);
                (self.alias((soname, needed, rpath), now), from, to)
            }
            _ => return vec![other_kind(old, new)],
        };
        changed
            .into_iter()
            .chain((old_machine != new_machine).then(|| machines(*old_machine, *new_machine)))
            .collect()
    }

    fn rpath(
        &mut self,
        old: &File<'a>,
        was: &'a str,
        new: &File<'a>,
        is: &'a str,
    ) -> Option<Difference> {
        let (directory, same_place) =
            (parent(new.path), old.path == new.path && old.area == new.area);
        if was == is && same_place && self.translations.forward.is_identity() {
            return None;
        }
        if same_place
            && new.area == Area::Platform
            && let Some(known) = self.rpaths.get(&(was, is, directory))
        {
            return known.clone();
        }
        let (old_path, new_path) = (self.old.installed(old), self.new.installed(new));
        let difference = rpath::difference(
            &FileRpath { rpath: was, file: &old_path },
            &FileRpath { rpath: is, file: &new_path },
            &self.translations.forward,
        );
        if same_place && new.area == Area::Platform {
            self.rpaths.insert((was, is, directory), difference.clone());
        }
        difference
    }

    fn target(&self, old: &File<'a>, was: &str, new: &File<'a>, is: &str) -> Option<Difference> {
        let translated = self.translations.forward.path(was);
        if translated == is {
            return None;
        }
        let from = rpath::resolve_link(
            &self.translations.forward.path(&self.old.installed(old)),
            &translated,
        );
        let new_target = rpath::resolve_link(&self.new.installed(new), is);
        let below_platform_dir = |path: String| {
            path.strip_prefix(self.new.platform_dir.unwrap_or_default())
                .and_then(|p| p.strip_prefix('/'))
                .map_or(path.clone(), str::to_owned)
        };
        let (old_path, new_path) = (
            from.map_or(translated.into_owned(), below_platform_dir),
            new_target.map_or(is.to_owned(), below_platform_dir),
        );
        let (old_part, new_part) = apart(&old_path, &new_path);
        Some(Difference::Target { old: old_part.to_owned(), new: new_part.to_owned() })
    }

    fn alias(
        &self,
        (soname, needed, rpath): (&str, &str, &str),
        (new_soname, new_needed, new_rpath): (&str, &str, &str),
    ) -> Option<Difference> {
        let from = self.translations.forward.path(rpath);
        if (soname, needed, &*from) == (new_soname, new_needed, new_rpath) {
            return None;
        }
        let sentence = |soname: &str, needed: &str, place: &str| {
            let place = if from == new_rpath { String::new() } else { format!(" in {place}") };
            format!("{soname} for {needed}{place}")
        };
        Some(Difference::Alias {
            old: sentence(soname, needed, &from),
            new: sentence(new_soname, new_needed, new_rpath),
        })
    }

    fn text(&self, was: &str, is: &str) -> Option<Difference> {
        (was != is && self.translations.forward.text(was, self.old.version, self.new.version) != is)
            .then_some(Difference::Text)
    }

    fn promised(
        &mut self,
        promise: &File<'a>,
        step: &'a Step,
        built: &File<'a>,
        bytes: Built<'a>,
        side: Side,
    ) -> Vec<Difference> {
        match step {
            Step::Copy { .. } if promise.size != built.size => vec![Difference::Size],
            Step::Relink { rpath, .. } => self.searched(promise, rpath, built, bytes, side),
            Step::Render { text } => self.rendered(&text.text(), bytes, side).into_iter().collect(),
            Step::Stub { .. } | Step::Alias { .. } => match (&bytes.made(), side) {
                (Some(made), Side::Old) => self.made(promise, step, built, made),
                (Some(made), Side::New) => self.made(built, made, promise, step),
                // Not rockpack's output.
                (None, _) => vec![Difference::Content],
            },
            Step::Copy { .. } | Step::Link { .. } | Step::Directory => Vec::new(),
        }
    }

    fn searched(
        &mut self,
        promise: &File<'a>,
        rpath: &'a str,
        built: &File<'a>,
        bytes: Built<'a>,
        side: Side,
    ) -> Vec<Difference> {
        let Some(search) = bytes.search() else { return vec![Difference::Content] };
        let real = Linked::new(search).search;
        let difference = match side {
            Side::Old => self.rpath(promise, rpath, built, real),
            Side::New => self.rpath(built, real, promise, rpath),
        };
        let tag = search.runpath.is_some().then_some(Difference::Content);
        difference.into_iter().chain(tag).collect()
    }

    fn rendered(&self, text: &str, bytes: Built<'_>, side: Side) -> Option<Difference> {
        let has_bytes = |text: &str| crc32fast::hash(text.as_bytes()) == bytes.bytes.crc32;
        let translated = || match side {
            Side::Old => self.translations.forward.text(text, self.old.version, self.new.version),
            Side::New => self.translations.inverse.text(text, self.new.version, self.old.version),
        };
        (!has_bytes(text) && !has_bytes(&translated())).then_some(Difference::Text)
    }

    fn built(
        &mut self,
        old: &File<'a>,
        a: Built<'a>,
        new: &File<'a>,
        b: Built<'a>,
    ) -> Vec<Difference> {
        if a.bytes.crc32 == b.bytes.crc32 && old.size == new.size {
            return Vec::new();
        }
        if let (Some(was), Some(is)) = (a.text(), b.text()) {
            return self.text(was, is).into_iter().collect();
        }
        if let (Some(was), Some(is)) = (a.made(), b.made()) {
            return self.made(old, &was, new, &is);
        }
        let (Some(was), Some(is)) = (a.search(), b.search()) else {
            return vec![if old.size == new.size { Difference::Content } else { Difference::Size }];
        };
        let (old_search, new_search) = (Linked::new(was).search, Linked::new(is).search);
        let mut changes: Vec<Difference> =
            self.rpath(old, old_search, new, new_search).into_iter().collect();
        // Renamed directories change bytes and size.
        let is_same_search = (&was.rpath, &was.runpath) == (&is.rpath, &is.runpath);
        let renamed = changes.is_empty() && !is_same_search;
        let explained =
            if renamed { old_search.len().abs_diff(new_search.len()) as u64 + ALIGNED } else { 0 };
        if old.size.abs_diff(new.size) > explained {
            changes.push(Difference::Size);
        } else if changes.is_empty() && !renamed {
            changes.push(Difference::Content);
        }
        changes
    }
}

/// Padding of tables that an edit moves to the end.
const ALIGNED: u64 = 64;

#[derive(Clone, Copy)]
enum Side {
    Old,
    New,
}

fn other_kind(old: &File<'_>, new: &File<'_>) -> Difference {
    Difference::Step { old: old.kind(), new: new.kind() }
}

fn machines(old: StubMachine, new: StubMachine) -> Difference {
    let name = |machine| match machine {
        StubMachine::X86_64 => "x86-64",
        StubMachine::Aarch64 => "aarch64",
    };
    Difference::Machine { old: name(old), new: name(new) }
}

fn sources(
    old: &File<'_>,
    from: &SourcePath,
    new: &File<'_>,
    to: &SourcePath,
) -> Option<Difference> {
    if from.artifact == to.artifact && from.path == to.path && from.base == to.base {
        return (old.size != new.size).then_some(Difference::Size);
    }
    let bases = from.artifact == to.artifact && from.path == to.path;
    let (old_source, new_source) = (source(from, bases), source(to, bases));
    let (old, new) = apart(&old_source, &new_source);
    Some(Difference::Source { old: old.to_owned(), new: new.to_owned() })
}

fn source(origin: &SourcePath, with_base: bool) -> String {
    if with_base { origin.to_string() } else { format!("{}/{}", origin.artifact, origin.path) }
}

pub(super) fn apart<'t>(old: &'t str, new: &'t str) -> (&'t str, &'t str) {
    let (mut old_head, mut new_head) = (old, new);
    while let (Some((a, x)), Some((b, y))) = (old_head.rsplit_once('/'), new_head.rsplit_once('/'))
    {
        if x != y {
            break;
        }
        (old_head, new_head) = (a, b);
    }
    (old_head, new_head)
}

pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_end_in_is_not_told() {
        assert_eq!(apart("_a/lib/x/f", "_b/lib/x/f"), ("_a", "_b"));
        assert_eq!(apart("lib/x/f", "lib/y/f"), ("lib/x", "lib/y"));
        assert_eq!(apart("x/f", "f"), ("x/f", "f"), "nothing would be left of one of them");
        assert_eq!(apart("f", "g"), ("f", "g"));
    }
}
