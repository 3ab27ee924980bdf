//! What in a tar archive is no file.

use tar::EntryType;

use crate::package::{Fault, FaultKind, TarMember};

/// A link that leads out of the top directory, or a kind of entry that no sdist has (PEP 721).
pub(super) fn check(member: &TarMember) -> Option<Fault> {
    let TarMember { path, kind, target, .. } = member;
    match *kind {
        EntryType::Regular
        | EntryType::Continuous
        | EntryType::GNUSparse
        | EntryType::Directory => None,
        EntryType::Symlink | EntryType::Link => {
            let target = target.as_deref().unwrap_or_default();
            // A hard link counts from the top, a symbolic one from where it stands.
            let from = if *kind == EntryType::Link {
                ""
            } else {
                path.rsplit_once('/').map_or("", |(directory, _)| directory)
            };
            let top = path.split('/').next().unwrap_or_default();
            let inside = resolved(from, target).is_some_and(|to| {
                to == top || to.strip_prefix(top).is_some_and(|rest| rest.starts_with('/'))
            });
            (!inside).then(|| {
                Fault::new(FaultKind::Link, "a link that leads out of the sdist")
                    .because(format!("`{target}`"))
            })
        }
        _ => Some(Fault::new(FaultKind::Kind, "neither a file nor a directory nor a link")),
    }
}

/// Where `target` leads from the directory `from`; `None` when that is above the archive.
fn resolved(from: &str, target: &str) -> Option<String> {
    if target.starts_with('/') {
        return None;
    }
    let mut at: Vec<&str> = from.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in target.split('/').filter(|segment| !matches!(*segment, "" | ".")) {
        if segment == ".." {
            at.pop()?;
        } else {
            at.push(segment);
        }
    }
    Some(at.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_may_stay_inside() {
        let wrong = |kind, path: &str, target: &str| {
            let mut header = tar::Header::new_ustar();
            header.set_entry_type(kind);
            let member = TarMember::new(path.to_owned(), Some(target.to_owned()), 0, header);
            check(&member).is_some()
        };
        assert!(!wrong(EntryType::Symlink, "a-1/b/c", "../d"));
        assert!(!wrong(EntryType::Link, "a-1/b/c", "a-1/d"));
        for outside in ["../../x", "/x", "../../../x", "../../a-10/x"] {
            assert!(wrong(EntryType::Symlink, "a-1/b/c", outside), "{outside}");
        }
        assert!(wrong(EntryType::Link, "a-1/b/c", "../d"));
        assert!(wrong(EntryType::Fifo, "a-1/b", ""));
    }
}
