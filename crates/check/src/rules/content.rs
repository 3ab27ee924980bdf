use base::source::Code;
use binary::Format;

use crate::{Finding, Kind, Set};

pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for package in &set.packages {
        for file in package.installed() {
            let (code, what, why) = match &file.kind {
                Kind::Broken(Format::Elf, why) => {
                    (Code::BrokenElf, "malformed file with an ELF signature", why)
                }
                Kind::Broken(Format::Pe, why) => {
                    (Code::BrokenPe, "malformed file with a PE signature", why)
                }
                Kind::BrokenImportLibrary(why) => {
                    let what = "malformed file with the signature of an import library";
                    (Code::BrokenPe, what, why)
                }
                _ => continue,
            };
            let finding = Finding::error(code, what).because(&**why);
            found.push(finding.of(&*file.member).within(&package.file));
        }
    }
    found
}
