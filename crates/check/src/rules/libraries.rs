//! Libraries of the set that the loader of a file does not find.

use base::source::Code;
use binary::loader::{self, Content, Entry, Linked, Tree};
use binary::policy;

use crate::{File, Finding, Package, Set};

/// Needed library that is in the set, but where the loader does not look.
pub(crate) struct UnfoundLibrary<'s, 'a> {
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

pub(crate) fn unfound<'s, 'a>(set: &'s Set<'a>) -> Vec<UnfoundLibrary<'s, 'a>> {
    let linked = set.binaries().filter_map(|(package, file, needs)| {
        let facts = needs.elf().filter(|facts| facts.kind.runs_on_hosts())?;
        let content = Content::Linked(Linked::new(facts));
        Some(((package, file, needs), Entry { owner: 0, path: file.site_path()?, content }))
    });
    let (binaries, entries): (Vec<_>, Vec<_>) = linked.unzip();
    let tree = Tree::new(&entries);
    let unfound = loader::unfound_libraries(&tree).into_iter();
    let unfound =
        unfound.filter(|it| !policy::is_promised(tree.files()[it.file].machine, it.library));
    let unfound = unfound.map(|loader::UnfoundLibrary { file, library, bearers, is_loaded }| {
        let (package, file, needs) = binaries[file];
        let mut siblings =
            bearers.iter().filter(|bearer| std::ptr::eq(binaries[**bearer].0, package));
        UnfoundLibrary {
            package,
            file,
            library: library.to_owned(),
            own: siblings.next().map(|bearer| binaries[*bearer].1),
            other: bearers.first().map(|first| binaries[*first].0),
            certain: is_loaded || needs.is_module(),
        }
    });
    unfound.collect()
}

/// An error if the file's own package has the library and failure is certain, otherwise a warning, because another
/// file may load it first.
pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    let unfound = unfound(set).into_iter();
    let unfound = unfound.filter(|it| !set.environment.on_system(&it.library));
    unfound.map(|it| it.finding()).collect()
}

impl UnfoundLibrary<'_, '_> {
    fn finding(&self) -> Finding {
        let library = &self.library;
        let finding = match self.own {
            Some(own) if self.certain => {
                let message = format!(
                    "needed `{library}` is in the same package, but no rpath leads to its \
                     directory"
                );
                Finding::error(Code::LibraryNotFound, message)
                    .because(format!("it is `{}`", own.member))
            }
            Some(own) => {
                let message = format!(
                    "needed `{library}` is in the same package, but no rpath leads to it; the \
                     program must load it first"
                );
                Finding::warning(Code::LibraryNotFound, message)
                    .because(format!("it is `{}`", own.member))
            }
            None => {
                let other = self.other.map_or("another package", |package| &*package.file);
                let message = format!(
                    "needed `{library}` is in {other}, but no rpath leads to it; another file \
                     must load it first"
                );
                Finding::warning(Code::LibraryNotFound, message)
            }
        };
        finding.of(&*self.file.member).to(library).within(&self.package.file)
    }
}
