//! Libraries of the set that the loader of a file does not find.

use base::source::Code;
use binary::policy;
use binary::site::{self, Linked, Site};

use crate::{File, Finding, Package, Set};

/// Needed library that is in the set, but where the loader does not look.
pub(crate) struct Lost<'s, 'a> {
    pub package: &'s Package<'a>,
    pub file: &'s File<'a>,
    pub library: String,
    /// The library in the same package.
    pub own: Option<&'s File<'a>>,
    /// A package with the library.
    pub other: Option<&'s Package<'a>>,
    /// Certain failure; otherwise the process may have loaded the library already.
    pub certain: bool,
}

pub(crate) fn lost<'s, 'a>(set: &'s Set<'a>) -> Vec<Lost<'s, 'a>> {
    let linked = set.binaries().filter_map(|(package, file, needs)| {
        let path = file.site_path()?.to_owned();
        Some((package, file, Linked::new(path, needs.elf()?, needs.is_module())?))
    });
    let all: Vec<(&Package<'a>, &File<'a>, Linked)> = linked.collect();
    let lost = Site::new(all.iter().map(|(_, _, linked)| linked)).lost();
    let lost = lost
        .into_iter()
        .filter(|lost| !policy::is_promised(all[lost.file].2.machine, lost.library));
    let lost = lost.map(|site::Lost { file, library, there, certain }| {
        let (package, file, _) = &all[file];
        let mut own = there.iter().filter(|there| std::ptr::eq(all[**there].0, *package));
        Lost {
            package,
            file,
            library: library.to_owned(),
            own: own.next().map(|own| all[*own].1),
            other: there.first().map(|first| all[*first].0),
            certain,
        }
    });
    lost.collect()
}

/// An error if the file's own package has the library and failure is certain, otherwise a warning, because another
/// file may load it first.
pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    let lost = lost(set).into_iter();
    let lost = lost.filter(|lost| !set.environment.on_system(&lost.library));
    lost.map(|lost| lost.finding()).collect()
}

impl Lost<'_, '_> {
    fn finding(&self) -> Finding {
        let library = &self.library;
        let finding = match self.own {
            Some(own) if self.certain => {
                let what = format!(
                    "needed `{library}` is in the same package, but no rpath leads to its \
                     directory"
                );
                Finding::error(Code::LibraryNotFound, what)
                    .because(format!("it is `{}`", own.member))
            }
            Some(own) => {
                let what = format!(
                    "needed `{library}` is in the same package, but no rpath leads to it; the \
                     program must load it first"
                );
                Finding::warning(Code::LibraryNotFound, what)
                    .because(format!("it is `{}`", own.member))
            }
            None => {
                let other = self.other.map_or("another package", |package| &*package.file);
                let what = format!(
                    "needed `{library}` is in {other}, but no rpath leads to it; another file \
                     must load it first"
                );
                Finding::warning(Code::LibraryNotFound, what)
            }
        };
        finding.of(&*self.file.member).to(library).within(&self.package.file)
    }
}
