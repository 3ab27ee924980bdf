use object::elf::{self, DynamicTag};

use super::Comparison;
use crate::elf::edits::{Edits, RpathEdit};
use crate::elf::info::ElfInfo;
use crate::elf::plan::plan_edit;
use crate::elf::violation::{Violation, check};

pub(super) fn name_of(info: &ElfInfo, tag: DynamicTag) -> Option<&[u8]> {
    info.string("a name", info.tag(tag)?).ok()
}

pub(super) fn needed(info: &ElfInfo) -> Vec<&[u8]> {
    let names = info.entries_of(elf::DT_NEEDED).map(|at| info.string("DT_NEEDED", at));
    names.map(Result::unwrap_or_default).collect()
}

pub(super) fn versioned(info: &ElfInfo) -> Vec<&[u8]> {
    let names = info.needs.entries.iter().map(|need| info.string("vn_file", need.file));
    names.map(Result::unwrap_or_default).collect()
}

fn quoted(name: &[u8]) -> String {
    format!("`{}`", String::from_utf8_lossy(name))
}

impl Comparison<'_> {
    /// Checks I11: only names that edits may change have changed, and they are not empty.
    pub(super) fn check_names(&self, violations: &mut Vec<Violation>) {
        self.check_search_paths(violations);
        let (old, new) = (name_of(self.old, elf::DT_SONAME), name_of(self.new, elf::DT_SONAME));
        let named = old == new || new.is_some_and(|name| !name.is_empty());
        check(violations, "I11", named, || "DT_SONAME is missing or empty".to_owned());
        self.check_renames(violations);
    }

    fn check_search_paths(&self, violations: &mut Vec<Violation>) {
        let tags = [elf::DT_RPATH, elf::DT_RUNPATH];
        let paths = |info| tags.map(|tag| name_of(info, tag));
        if paths(self.old) == paths(self.new) {
            return;
        }
        check(violations, "I11", self.new.tag(elf::DT_RUNPATH).is_none(), || {
            "a DT_RUNPATH remains or is new".to_owned()
        });
        check(violations, "I11", self.new.entries_of(elf::DT_RPATH).count() <= 1, || {
            "DT_RPATH exists twice".to_owned()
        });
        let old = self.old.effective_rpath().ok().flatten();
        let path = name_of(self.new, elf::DT_RPATH);
        // Loaders read an empty entry as the working directory, which no edit may add.
        let is_empty = |path: &[u8]| path.split(|&byte| byte == b':').any(<[u8]>::is_empty);
        let new_hole = path.is_some_and(is_empty) && !old.is_some_and(is_empty);
        check(violations, "I11", !new_hole, || {
            format!("DT_RPATH {} has an empty directory", quoted(path.unwrap_or_default()))
        });
    }

    fn check_renames(&self, violations: &mut Vec<Violation>) {
        let (old, new) = (needed(self.old), needed(self.new));
        check(violations, "I11", old.len() == new.len(), || {
            format!("DT_NEEDED names {} libraries, named {}", new.len(), old.len())
        });
        let renames: std::collections::HashMap<_, _> =
            old.iter().copied().zip(new.iter().copied()).collect();
        let consistent =
            old.iter().zip(&new).all(|(from, to)| from == to || renames.get(from) == Some(to));
        let named = old.iter().zip(&new).all(|(from, to)| from == to || !to.is_empty());
        check(violations, "I11", consistent && named, || {
            "a library has two names in DT_NEEDED, or an empty one".to_owned()
        });
        let (old, new) = (versioned(self.old), versioned(self.new));
        // Names absent from DT_NEEDED may change freely.
        let follows = |(from, to): (&&[u8], &&[u8])| {
            renames.get(from).map_or(from == to || !to.is_empty(), |want| want == to)
        };
        let follow = old.len() == new.len() && old.iter().zip(&new).all(follows);
        check(violations, "I11", follow, || {
            "the version needs name other libraries than DT_NEEDED".to_owned()
        });
    }

    /// Checks I11: exactly the edits are applied.
    pub(super) fn check_edits(&self, edits: &Edits, violations: &mut Vec<Violation>) {
        if edits.rpath == RpathEdit::Keep {
            for (tag, name) in [(elf::DT_RPATH, "DT_RPATH"), (elf::DT_RUNPATH, "DT_RUNPATH")] {
                check(violations, "I11", name_of(self.old, tag) == name_of(self.new, tag), || {
                    format!("{name} changed")
                });
            }
        } else {
            let want = edits.final_rpath(self.old).ok().flatten();
            check(violations, "I11", name_of(self.new, elf::DT_RPATH) == want.as_deref(), || {
                "DT_RPATH differs from the requested value".to_owned()
            });
            check(violations, "I11", self.new.tag(elf::DT_RUNPATH).is_none(), || {
                "a DT_RUNPATH remains".to_owned()
            });
        }
        let soname = edits.soname.as_ref().map(String::as_bytes);
        let soname = soname.or_else(|| name_of(self.old, elf::DT_SONAME));
        check(violations, "I11", name_of(self.new, elf::DT_SONAME) == soname, || {
            "DT_SONAME differs from the requested value".to_owned()
        });
        let renamed = |name: &[u8]| {
            let rename = edits.needed.iter().rfind(|rename| rename.from.as_bytes() == name);
            rename.map_or_else(|| name.to_vec(), |rename| rename.to.clone().into_bytes())
        };
        let names = |info| [needed(info), versioned(info)].concat();
        let want: Vec<_> = names(self.old).into_iter().map(renamed).collect();
        check(violations, "I11", names(self.new) == want, || {
            "DT_NEEDED and the version needs differ from the requested names".to_owned()
        });
    }

    /// Checks I12: repeating the edit changes nothing.
    pub(super) fn check_repeat(&self, edits: &Edits, violations: &mut Vec<Violation>) {
        let again = plan_edit(self.new_file, self.new, edits);
        let renames_back =
            edits.needed.iter().any(|one| edits.needed.iter().any(|two| one.to == two.from));
        check(violations, "I12", renames_back || again.is_ok_and(|plan| plan.is_noop()), || {
            "a second edit would change it again".to_owned()
        });
    }
}
