//! What is wanted of a file, and what that makes of its dynamic section.

use object::elf::{self, DynamicTag};
use serde::{Deserialize, Serialize};

use super::dynamic::{Dynamic, DynamicEntry, Strings};
use super::error::ElfError;
use super::info::ElfInfo;
use super::rpath::rpath_text;

/// Changes to one file. They are one plan: all of them are made, or none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edits {
    /// Where the loader looks for what the file needs.
    #[serde(default)]
    pub rpath: RpathEdit,
    /// Another `DT_SONAME`.
    #[serde(default)]
    pub soname: Option<String>,
    /// Other names for needed libraries, in `DT_NEEDED` and the version needs alike.
    #[serde(default)]
    pub needed: Vec<Rename>,
}

/// What becomes of `DT_RPATH` and `DT_RUNPATH`. All but [`RpathEdit::Keep`] leave no `DT_RUNPATH`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RpathEdit {
    /// Nothing.
    #[default]
    Keep,
    /// What is there becomes `DT_RPATH`.
    Convert,
    /// What is there becomes `DT_RPATH`, with these entries after it, none of them twice.
    Append(Vec<String>),
    /// Exactly these entries; none removes both tags.
    Set(Vec<String>),
}

/// A needed library's new name. A file that doesn't need `from` stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rename {
    /// The name it has.
    pub from: String,
    /// The name it gets.
    pub to: String,
}

/// The dynamic section as it is to be, and the strings it gains.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub entries: Vec<DynamicEntry>,
    /// What follows the old string table, at its end.
    pub added: Vec<u8>,
    /// New `vn_file`s: where the entry stands in its table, and the string's offset.
    pub needs: Vec<(u64, u64)>,
    /// What changes, for people.
    pub steps: Vec<String>,
}

/// The strings of a file while it gains some.
struct Pool<'a> {
    old: &'a Strings,
    added: Vec<u8>,
}

impl Edits {
    /// Only another rpath.
    pub fn rpath(rpath: RpathEdit) -> Self {
        Self { rpath, ..Self::default() }
    }

    /// What the dynamic section has to become.
    pub(super) fn wanted(
        &self,
        info: &ElfInfo,
        dynamic: &Dynamic,
        strings: &Strings,
    ) -> Result<Wanted, ElfError> {
        self.check()?;
        if strings.bytes.last().is_some_and(|&byte| byte != 0) {
            return Err(ElfError::Dynamic {
                field: "last byte of the string table",
                value: strings.bytes.len() as u64,
            });
        }
        let mut pool = Pool { old: strings, added: Vec::new() };
        let mut wanted = Wanted {
            entries: dynamic.entries.clone(),
            added: Vec::new(),
            needs: Vec::new(),
            steps: Vec::new(),
        };
        self.want_rpath(info, &mut pool, &mut wanted)?;
        self.want_soname(info, &mut pool, &mut wanted)?;
        for rename in &self.needed {
            rename.want(info, &mut pool, &mut wanted)?;
        }
        wanted.added = pool.added;
        Ok(wanted)
    }

    /// The value of `DT_RPATH` afterwards; `None` when there is to be none.
    pub(super) fn final_rpath(&self, info: &ElfInfo) -> Result<Option<Vec<u8>>, ElfError> {
        let effective = info.effective_rpath()?.map(<[u8]>::to_vec);
        Ok(match &self.rpath {
            RpathEdit::Keep | RpathEdit::Convert => effective,
            RpathEdit::Set(entries) if entries.is_empty() => None,
            RpathEdit::Set(entries) => Some(rpath_text(entries).into_bytes()),
            RpathEdit::Append(entries) => extended(effective, entries),
        })
    }

    fn want_rpath(
        &self,
        info: &ElfInfo,
        pool: &mut Pool<'_>,
        wanted: &mut Wanted,
    ) -> Result<(), ElfError> {
        if self.rpath == RpathEdit::Keep {
            return Ok(());
        }
        let is_path =
            |entry: &DynamicEntry| entry.tag == elf::DT_RPATH || entry.tag == elf::DT_RUNPATH;
        let place = wanted.entries.iter().position(is_path);
        let entry = match self.final_rpath(info)? {
            None => None,
            Some(value) => Some(DynamicEntry {
                tag: elf::DT_RPATH,
                value: pool.offset_of_rpath(info, &value)?,
            }),
        };
        let before = wanted.entries.clone();
        wanted.entries.retain(|entry| !is_path(entry));
        if let Some(entry) = entry {
            wanted.entries.insert(place.unwrap_or(wanted.entries.len()), entry);
        }
        if wanted.entries != before {
            wanted.steps.push(self.describe_rpath(info)?);
        }
        Ok(())
    }

    fn describe_rpath(&self, info: &ElfInfo) -> Result<String, ElfError> {
        let shown = |value: Option<&[u8]>| {
            value.map_or("none".to_owned(), |value| format!("`{}`", String::from_utf8_lossy(value)))
        };
        let old = if info.tag(elf::DT_RUNPATH).is_some() { "RUNPATH" } else { "RPATH" };
        let after = self.final_rpath(info)?;
        Ok(format!("{old} {} → RPATH {}", shown(info.effective_rpath()?), shown(after.as_deref())))
    }

    fn want_soname(
        &self,
        info: &ElfInfo,
        pool: &mut Pool<'_>,
        wanted: &mut Wanted,
    ) -> Result<(), ElfError> {
        let Some(name) = &self.soname else { return Ok(()) };
        let old = info.tag(elf::DT_SONAME).map(|at| info.string("DT_SONAME", at)).transpose()?;
        if old == Some(name.as_bytes()) {
            return Ok(());
        }
        let value = pool.offset(name.as_bytes());
        let mut entries =
            wanted.entries.iter_mut().filter(|entry| entry.tag == elf::DT_SONAME).peekable();
        if entries.peek().is_some() {
            entries.for_each(|entry| entry.value = value);
        } else {
            wanted.entries.push(DynamicEntry { tag: elf::DT_SONAME, value });
        }
        let old = String::from_utf8_lossy(old.unwrap_or_default()).into_owned();
        wanted.steps.push(format!("SONAME `{old}` → `{name}`"));
        Ok(())
    }

    /// Names that the format, or its list separator, can't hold.
    fn check(&self) -> Result<(), ElfError> {
        let paths = match &self.rpath {
            RpathEdit::Keep | RpathEdit::Convert => &[][..],
            RpathEdit::Append(entries) | RpathEdit::Set(entries) => entries,
        };
        let paths = paths.iter().map(|text| ("DT_RPATH", text, text.contains(':')));
        let names = self.soname.iter().map(|text| ("DT_SONAME", text, false));
        let renames = self.needed.iter().map(|rename| ("DT_NEEDED", &rename.to, false));
        let mut all = paths.chain(names).chain(renames);
        match all.find(|(_, text, bad)| *bad || text.is_empty() || text.contains('\0')) {
            Some((field, text, _)) => Err(ElfError::Name { field, value: text.clone() }),
            None => Ok(()),
        }
    }
}

impl Rename {
    fn want(
        &self,
        info: &ElfInfo,
        pool: &mut Pool<'_>,
        wanted: &mut Wanted,
    ) -> Result<(), ElfError> {
        if self.from == self.to {
            return Ok(());
        }
        let mut found = false;
        for (old, new) in info
            .entries_of(elf::DT_NEEDED)
            .zip(wanted.entries.iter_mut().filter(|entry| entry.tag == elf::DT_NEEDED))
        {
            if info.string("DT_NEEDED", old)? == self.from.as_bytes() {
                new.value = pool.offset(self.to.as_bytes());
                found = true;
            }
        }
        for need in &info.needs.entries {
            if info.string("vn_file", need.file)? == self.from.as_bytes() {
                wanted.needs.push((need.at, pool.offset(self.to.as_bytes())));
                found = true;
            }
        }
        if found {
            wanted.steps.push(format!("NEEDED `{}` → `{}`", self.from, self.to));
        }
        Ok(())
    }
}

/// `existing` and the entries it doesn't have, in order.
fn extended(existing: Option<Vec<u8>>, entries: &[String]) -> Option<Vec<u8>> {
    let existing = existing.filter(|value| !value.is_empty());
    let mut all: Vec<&[u8]> =
        existing.iter().flat_map(|value| value.split(|&byte| byte == b':')).collect();
    for entry in entries {
        if !all.contains(&entry.as_bytes()) {
            all.push(entry.as_bytes());
        }
    }
    if all.is_empty() { None } else { Some(all.join(&b':')) }
}

impl Pool<'_> {
    /// Where `value` stands, after adding it when it stands nowhere.
    ///
    /// Linkers let strings share their ends, so a longer one serves too. Nothing is ever
    /// overwritten: which other tables point into a string can't be known for sure.
    fn offset(&mut self, value: &[u8]) -> u64 {
        let added = Strings { offset: 0, address: 0, bytes: std::mem::take(&mut self.added) };
        let base = self.old.bytes.len() as u64;
        let found = self.old.find(value).or_else(|| added.find(value).map(|at| base + at));
        self.added = added.bytes;
        found.unwrap_or_else(|| {
            let at = base + self.added.len() as u64;
            self.added.extend_from_slice(value);
            self.added.push(0);
            at
        })
    }

    /// As [`Pool::offset`]; the value that is there keeps its place, so that only the tag flips.
    fn offset_of_rpath(&mut self, info: &ElfInfo, value: &[u8]) -> Result<u64, ElfError> {
        let kept = info.effective_rpath()? == Some(value);
        Ok(info.effective_rpath_at().filter(|_| kept).unwrap_or_else(|| self.offset(value)))
    }
}

impl ElfInfo {
    /// The entry that loaders heed: `DT_RUNPATH` disables `DT_RPATH` (gABI, "Shared Object Dependencies").
    fn effective_rpath_at(&self) -> Option<u64> {
        self.tag(elf::DT_RUNPATH).or_else(|| self.tag(elf::DT_RPATH))
    }

    /// The search path that loaders heed.
    pub(super) fn effective_rpath(&self) -> Result<Option<&[u8]>, ElfError> {
        self.effective_rpath_at().map(|at| self.string("DT_RUNPATH", at)).transpose()
    }

    /// The values of all dynamic entries of `tag`.
    pub(super) fn entries_of(&self, tag: DynamicTag) -> impl Iterator<Item = u64> {
        self.dynamic.iter().flat_map(move |dynamic| dynamic.all(tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extend(existing: Option<&str>, entries: &[&str]) -> Option<String> {
        let entries: Vec<_> = entries.iter().map(|&entry| entry.to_owned()).collect();
        extended(existing.map(|text| text.as_bytes().to_vec()), &entries)
            .map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn entries_follow_what_is_there_and_none_is_added_twice() {
        assert_eq!(extend(Some("/a:/b"), &["/c", "/a", "/c"]).unwrap(), "/a:/b:/c");
        assert_eq!(extend(None, &["/c", "/d"]).unwrap(), "/c:/d");
        assert_eq!(extend(Some(""), &["/c"]).unwrap(), "/c");
        assert_eq!(extend(Some("/a::/a"), &["/b"]).unwrap(), "/a::/a:/b");
        assert_eq!(extend(None, &[]), None);
    }

    #[test]
    fn strings_are_shared_by_their_ends() {
        let old = Strings { offset: 0, address: 0, bytes: b"\0libfoo.so\0lib\0".to_vec() };
        let mut pool = Pool { old: &old, added: Vec::new() };
        assert_eq!(pool.offset(b"foo.so"), 4);
        assert_eq!(pool.offset(b"lib"), 11);
        assert_eq!(pool.offset(b"libf"), 15);
        assert_eq!(pool.offset(b"bf"), 17);
        assert_eq!(pool.added, b"libf\0");
    }

    #[test]
    fn names_that_no_table_can_hold_are_refused() {
        for rpath in [
            RpathEdit::Set(vec!["/a:/b".to_owned()]),
            RpathEdit::Append(vec![String::new()]),
            RpathEdit::Set(vec!["a\0".to_owned()]),
        ] {
            assert!(matches!(
                Edits::rpath(rpath).check(),
                Err(ElfError::Name { field: "DT_RPATH", .. })
            ));
        }
    }
}
