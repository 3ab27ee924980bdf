use super::{Finding, Package};
use base::source::Code;
use binary::policy;
use binary::site::{Linked, Lost, Site};

pub(super) const REMEDY: &str = "set an rpath in the build (`-Wl,-rpath,'$ORIGIN'`) or with \
    `rockpack elf edit --rpath`; if the package loads the library first, accept this with an \
    `ignore` line (`rockpack help manifest ignore`)";

/// Reports libraries of the set that the loader does not find: an error if the file's own package
/// has it and failure is certain ([`Lost::certain`]), otherwise a warning, because another file may
/// load it first.
pub fn loading(packages: &[Package], on_system: &dyn Fn(&str) -> bool) -> Vec<Finding> {
    let owners: Vec<(&Package, &(String, Linked))> = packages
        .iter()
        .flat_map(|package| package.linked.iter().map(move |linked| (package, linked)))
        .collect();
    let site = Site::new(owners.iter().map(|(_, (_, linked))| linked));
    let promised = |lost: &Lost<'_>| {
        let (_, (_, linked)) = owners[lost.file];
        on_system(lost.library) || policy::is_promised(linked.machine, lost.library)
    };
    let lost = site.lost().into_iter().filter(|lost| !promised(lost));
    let finding = |lost: Lost<'_>| {
        let (package, (member, _)) = owners[lost.file];
        let library = lost.library;
        let own = lost.there.iter().find(|there| std::ptr::eq(owners[**there].0, package));
        let finding = match (own, lost.there.first()) {
            (Some(own), _) if lost.certain => {
                let what = format!(
                    "needed `{library}` is in the same package, but no rpath leads to its \
                     directory"
                );
                let (_, (at, _)) = owners[*own];
                Finding::error(Code::LibraryNotFound, what).because(format!("it is `{at}`"))
            }
            (Some(own), _) => {
                let what = format!(
                    "needed `{library}` is in the same package, but no rpath leads to it; the \
                     program must load it first"
                );
                let (_, (at, _)) = owners[*own];
                Finding::warning(Code::LibraryNotFound, what).because(format!("it is `{at}`"))
            }
            (None, first) => {
                let other = first.map_or("another package", |first| &*owners[*first].0.file);
                let what = format!(
                    "needed `{library}` is in {other}, but no rpath leads to it; another file \
                     must load it first"
                );
                Finding::warning(Code::LibraryNotFound, what)
            }
        };
        finding.of(&**member).to(library).within(&package.file)
    };
    lost.map(finding).collect()
}
