use base::source::Code;
use binary::Format;

use crate::{Finding, Kind, Set};

pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &set.packages {
        for file in package.installed() {
            let (code, message, why) = match &file.kind {
                Kind::Broken(Format::Elf, why) => {
                    (Code::BrokenElf, "malformed file with an ELF signature", why)
                }
                Kind::Broken(Format::Pe, why) => {
                    (Code::BrokenPe, "malformed file with a PE signature", why)
                }
                Kind::BrokenImportLibrary(why) => {
                    let message = "malformed file with the signature of an import library";
                    (Code::BrokenPe, message, why)
                }
                _ => continue,
            };
            let finding = Finding::error(code, message).because(&**why);
            findings.push(finding.of(&*file.member).within(&package.file));
        }
    }
    findings
}
