//! Edits, and the resulting dynamic section.

use object::elf::{self, DynamicTag};
use serde::{Deserialize, Serialize};

use super::dynamic::{Dynamic, DynamicEntry, Strings};
use super::error::ElfError;
use super::info::ElfInfo;
use super::rpath::join_entries;

/// Changes to one file, applied all or none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edits {
    /// Change of the library search path.
    #[serde(default)]
    pub rpath: RpathEdit,
    /// New `DT_SONAME`.
    #[serde(default)]
    pub soname: Option<String>,
    /// New names of needed libraries, in `DT_NEEDED` and in the version needs.
    #[serde(default)]
    pub needed: Vec<Rename>,
    /// Remove the request for an executable stack, if no trampoline needs it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub clear_execstack: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields so")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Change of `DT_RPATH`. All except [`RpathEdit::Keep`] remove `DT_RUNPATH`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RpathEdit {
    /// No change.
    #[default]
    Keep,
    /// Move the directories to `DT_RPATH`.
    Convert,
    /// Convert and append, without duplicates.
    Append(Vec<String>),
    /// Set exactly these; an empty list removes both tags.
    Set(Vec<String>),
}

/// New name of a needed library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rename {
    /// Old name.
    pub from: String,
    /// New name.
    pub to: String,
}

#[derive(Debug, Clone)]
pub(super) struct DynamicChanges {
    pub entries: Vec<DynamicEntry>,
    pub added: Vec<u8>,
    /// New `vn_file`s: offset of the entry, and of the string.
    pub needs: Vec<(u64, u64)>,
    pub steps: Vec<String>,
}

struct Pool<'a> {
    old: &'a Strings,
    added: Vec<u8>,
}

impl Edits {
    /// Changes only the rpath.
    pub fn rpath(rpath: RpathEdit) -> Self {
        Self { rpath, ..Self::default() }
    }

    pub(super) fn resolve(
        &self,
        info: &ElfInfo,
        dynamic: &Dynamic,
        strings: &Strings,
    ) -> Result<DynamicChanges, ElfError> {
        self.check()?;
        if strings.bytes.last().is_some_and(|&byte| byte != 0) {
            return Err(ElfError::Dynamic {
                field: "last byte of the string table",
                value: strings.bytes.len() as u64,
            });
        }
        let mut pool = Pool { old: strings, added: Vec::new() };
        let mut resolved = DynamicChanges {
            entries: dynamic.entries.clone(),
            added: Vec::new(),
            needs: Vec::new(),
            steps: Vec::new(),
        };
        self.want_rpath(info, &mut pool, &mut resolved)?;
        self.want_soname(info, &mut pool, &mut resolved)?;
        for rename in &self.needed {
            rename.want(info, &mut pool, &mut resolved)?;
        }
        resolved.added = pool.added;
        Ok(resolved)
    }

    /// `None` removes the tag.
    pub(super) fn final_rpath(&self, info: &ElfInfo) -> Result<Option<Vec<u8>>, ElfError> {
        let effective = info.effective_rpath()?.map(<[u8]>::to_vec);
        Ok(match &self.rpath {
            RpathEdit::Keep | RpathEdit::Convert => effective,
            RpathEdit::Set(entries) if entries.is_empty() => None,
            RpathEdit::Set(entries) => Some(join_entries(entries).into_bytes()),
            RpathEdit::Append(entries) => extended(effective, entries),
        })
    }

    fn want_rpath(
        &self,
        info: &ElfInfo,
        pool: &mut Pool<'_>,
        changes: &mut DynamicChanges,
    ) -> Result<(), ElfError> {
        if self.rpath == RpathEdit::Keep {
            return Ok(());
        }
        let is_path =
            |entry: &DynamicEntry| entry.tag == elf::DT_RPATH || entry.tag == elf::DT_RUNPATH;
        let place = changes.entries.iter().position(is_path);
        let entry = match self.final_rpath(info)? {
            None => None,
            Some(value) => Some(DynamicEntry {
                tag: elf::DT_RPATH,
                value: pool.offset_of_rpath(info, &value)?,
            }),
        };
        let before = changes.entries.clone();
        changes.entries.retain(|entry| !is_path(entry));
        if let Some(entry) = entry {
            changes.entries.insert(place.unwrap_or(changes.entries.len()), entry);
        }
        if changes.entries != before {
            changes.steps.push(self.describe_rpath(info)?);
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
        changes: &mut DynamicChanges,
    ) -> Result<(), ElfError> {
        let Some(name) = &self.soname else { return Ok(()) };
        let old = info.tag(elf::DT_SONAME).map(|at| info.string("DT_SONAME", at)).transpose()?;
        if old == Some(name.as_bytes()) {
            return Ok(());
        }
        let value = pool.offset(name.as_bytes());
        let mut entries =
            changes.entries.iter_mut().filter(|entry| entry.tag == elf::DT_SONAME).peekable();
        if entries.peek().is_some() {
            entries.for_each(|entry| entry.value = value);
        } else {
            changes.entries.push(DynamicEntry { tag: elf::DT_SONAME, value });
        }
        let old = String::from_utf8_lossy(old.unwrap_or_default()).into_owned();
        changes.steps.push(format!("SONAME `{old}` → `{name}`"));
        Ok(())
    }

    fn check(&self) -> Result<(), ElfError> {
        let paths = match &self.rpath {
            RpathEdit::Keep | RpathEdit::Convert => &[][..],
            RpathEdit::Append(entries) | RpathEdit::Set(entries) => entries,
        };
        let paths = paths.iter().map(|text| ("DT_RPATH", text, text.contains(':')));
        let names = self.soname.iter().map(|text| ("DT_SONAME", text, false));
        let renames = self.needed.iter().map(|rename| ("DT_NEEDED", &rename.to, false));
        let mut values = paths.chain(names).chain(renames);
        match values.find(|(_, text, bad)| *bad || text.is_empty() || text.contains('\0')) {
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
        changes: &mut DynamicChanges,
    ) -> Result<(), ElfError> {
        if self.from == self.to {
            return Ok(());
        }
        let mut has_match = false;
        for (old, new) in info
            .entries_of(elf::DT_NEEDED)
            .zip(changes.entries.iter_mut().filter(|entry| entry.tag == elf::DT_NEEDED))
        {
            if info.string("DT_NEEDED", old)? == self.from.as_bytes() {
                new.value = pool.offset(self.to.as_bytes());
                has_match = true;
            }
        }
        for need in &info.needs.entries {
            if info.string("vn_file", need.file)? == self.from.as_bytes() {
                changes.needs.push((need.at, pool.offset(self.to.as_bytes())));
                has_match = true;
            }
        }
        if has_match {
            changes.steps.push(format!("NEEDED `{}` → `{}`", self.from, self.to));
        }
        Ok(())
    }
}

fn extended(existing: Option<Vec<u8>>, entries: &[String]) -> Option<Vec<u8>> {
    let existing = existing.filter(|value| !value.is_empty());
    let mut merged: Vec<&[u8]> =
        existing.iter().flat_map(|value| value.split(|&byte| byte == b':')).collect();
    for entry in entries {
        if !merged.contains(&entry.as_bytes()) {
            merged.push(entry.as_bytes());
        }
    }
    if merged.is_empty() { None } else { Some(merged.join(&b':')) }
}

impl Pool<'_> {
    /// Reuses the end of a longer string, and never overwrites strings: other tables may use them.
    fn offset(&mut self, value: &[u8]) -> u64 {
        let added = Strings { offset: 0, address: 0, bytes: std::mem::take(&mut self.added) };
        let base = self.old.bytes.len() as u64;
        let existing =
            self.old.find(value).or_else(|| added.find(value).map(|offset| base + offset));
        self.added = added.bytes;
        existing.unwrap_or_else(|| {
            let offset = base + self.added.len() as u64;
            self.added.extend_from_slice(value);
            self.added.push(0);
            offset
        })
    }

    /// Keeps the offset of an unchanged rpath: only the tag changes.
    fn offset_of_rpath(&mut self, info: &ElfInfo, value: &[u8]) -> Result<u64, ElfError> {
        let is_current = info.effective_rpath()? == Some(value);
        Ok(info.effective_rpath_at().filter(|_| is_current).unwrap_or_else(|| self.offset(value)))
    }
}

impl ElfInfo {
    /// Prefers `DT_RUNPATH`, which disables `DT_RPATH` (gABI, "Shared Object Dependencies").
    fn effective_rpath_at(&self) -> Option<u64> {
        self.tag(elf::DT_RUNPATH).or_else(|| self.tag(elf::DT_RPATH))
    }

    pub(super) fn effective_rpath(&self) -> Result<Option<&[u8]>, ElfError> {
        self.effective_rpath_at().map(|at| self.string("DT_RUNPATH", at)).transpose()
    }

    pub(super) fn entries_of(&self, tag: DynamicTag) -> impl Iterator<Item = u64> {
        self.dynamic.iter().flat_map(move |dynamic| dynamic.values(tag))
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
    fn appends_entries_without_duplicates() {
        assert_eq!(extend(Some("/a:/b"), &["/c", "/a", "/c"]).unwrap(), "/a:/b:/c");
        assert_eq!(extend(None, &["/c", "/d"]).unwrap(), "/c:/d");
        assert_eq!(extend(Some(""), &["/c"]).unwrap(), "/c");
        assert_eq!(extend(Some("/a::/a"), &["/b"]).unwrap(), "/a::/a:/b");
        assert_eq!(extend(None, &[]), None);
    }

    #[test]
    fn shares_strings_by_suffix() {
        let old = Strings { offset: 0, address: 0, bytes: b"\0libfoo.so\0lib\0".to_vec() };
        let mut pool = Pool { old: &old, added: Vec::new() };
        assert_eq!(pool.offset(b"foo.so"), 4);
        assert_eq!(pool.offset(b"lib"), 11);
        assert_eq!(pool.offset(b"libf"), 15);
        assert_eq!(pool.offset(b"bf"), 17);
        assert_eq!(pool.added, b"libf\0");
    }

    #[test]
    fn refuses_invalid_names() {
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
