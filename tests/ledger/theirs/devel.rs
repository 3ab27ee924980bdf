//! The archive of a devel package: files that no runtime package has, and links to the rest.

use std::collections::BTreeMap;
use std::path::PathBuf;

use binary::elf::RpathEdit;
use fs_err as fs;

use super::pack::Member;
use super::runtime::{Runtime, edited};

const TOP: &str = "_rocm_sdk_devel";

/// Archive of the entries for one family, or for all.
pub fn archive(
    entries: &BTreeMap<String, PathBuf>,
    runtimes: &[Runtime],
    family: Option<&str>,
) -> Vec<u8> {
    let is_for = |runtime: &&Runtime| {
        family.is_none() || runtime.family.is_none() || runtime.family.as_deref() == family
    };
    let runtimes: Vec<&Runtime> = runtimes.iter().filter(is_for).collect();
    let mut tar = tar::Builder::new(Vec::new());
    let init = Member::text("");
    init.append(&mut tar, &format!("{TOP}/__init__.py"));
    for (path, source) in entries {
        let alias = runtimes.iter().find_map(|runtime| runtime.aliases.get(path));
        let owner = runtimes.iter().find(|runtime| runtime.files.contains_key(path));
        let link = match (alias, owner) {
            (Some(soname), _) => Some(soname.clone()),
            (None, Some(owner)) => {
                let up = "../".repeat(path.matches('/').count() + 1);
                Some(format!("{up}{}/{path}", owner.directory))
            }
            (None, None) => fs::read_link(source).ok().map(|link| link.display().to_string()),
        };
        let name = format!("{TOP}/{path}");
        if let Some(link) = link {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(tar::EntryType::Symlink);
            header.set_size(0);
            header.set_mode(0o777);
            tar.append_link(&mut header, name, link).unwrap();
        } else {
            let mut member = Member::of(source);
            member.bytes = edited(member.bytes, RpathEdit::Convert);
            member.append(&mut tar, &name);
        }
    }
    tar.into_inner().unwrap()
}
