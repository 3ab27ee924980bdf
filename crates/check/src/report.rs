use std::collections::BTreeMap;
use std::fmt;

use crate::rules::names;
use crate::{Finding, sums};
use base::source::{Code, Problem, Problems, Severity, printable};

/// Number of members shown per fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The first few.
    Few,
    /// All members.
    All,
}

const FEW: usize = 3;

const LIBRARY: &str = "set an rpath in the build (`-Wl,-rpath,'$ORIGIN'`) or with \
    `rockpack elf edit --rpath`; if the package loads the library first, accept this with an \
    `ignore` line (`rockpack help manifest ignore`)";

/// Creates a problem per file and fault; with [`Shown::All`] per member.
pub fn problems<'f>(findings: impl IntoIterator<Item = &'f Finding>, shown: Shown) -> Problems {
    let mut groups: BTreeMap<(&str, Code, &str, bool), Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        let warning = finding.severity != Severity::Error;
        groups
            .entry((&finding.file, finding.code, &finding.what, warning))
            .or_default()
            .push(finding);
    }
    let mut problems = Problems::new();
    for ((file, code, summary, warning), findings) in groups {
        let size = if shown == Shown::All { 1 } else { findings.len() };
        for together in findings.chunks(size) {
            let message = format!("{}: {}", plain(file), sentence(&plain(summary), together));
            let problem = if warning {
                Problem::warning(code, message)
            } else {
                Problem::error(code, message)
            };
            problems.push(match remedy(code, summary) {
                Some(remedy) => problem.help(remedy),
                None => problem,
            });
        }
    }
    problems
}

/// Accepted errors, and all others.
pub fn let_through(findings: Vec<Finding>, allowed: &[Code]) -> (Vec<Finding>, Vec<Finding>) {
    findings
        .into_iter()
        .partition(|finding| finding.severity == Severity::Error && allowed.contains(&finding.code))
}

/// A warning for each accepted fault.
pub fn allowed(allowed: &[Finding], shown: Shown) -> Problems {
    let doubtful =
        allowed.iter().map(|finding| Finding { severity: Severity::Warning, ..finding.clone() });
    let doubtful: Vec<Finding> = doubtful.collect();
    let mut warnings = Problems::new();
    for problem in problems(&doubtful, shown).iter() {
        let help = format!("allowed by --allow {}", problem.code());
        warnings.push(problem.clone().help(help));
    }
    warnings
}

fn sentence(summary: &str, findings: &[&Finding]) -> String {
    let mut members: Vec<String> =
        findings.iter().filter_map(|finding| particular(finding)).collect();
    if members.is_empty() {
        return summary.to_owned();
    }
    let more = members.len().saturating_sub(FEW);
    members.truncate(FEW);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{summary}: {}{rest}", members.join(", "))
}

/// First finding, with others of its fault.
pub fn first(findings: &[Finding]) -> Option<String> {
    let first = findings.first()?;
    let alike = |other: &&Finding| {
        (&other.file, other.code, &other.what) == (&first.file, first.code, &first.what)
    };
    Some(sentence(&plain(&first.what), &findings.iter().filter(alike).collect::<Vec<_>>()))
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", plain(&self.file), sentence(&plain(&self.what), &[self]))
    }
}

const LONGEST: usize = 300;

fn plain(text: &str) -> String {
    let shown: String = text.chars().take(LONGEST).collect();
    let cut = if text.chars().nth(LONGEST).is_some() { "…" } else { "" };
    format!("{}{cut}", printable(&shown))
}

fn particular(finding: &Finding) -> Option<String> {
    match (finding.member.as_deref().map(plain), finding.detail.as_deref().map(plain)) {
        (Some(member), Some(detail)) => Some(format!("`{member}` ({detail})")),
        (Some(member), None) => Some(format!("`{member}`")),
        (None, Some(detail)) => Some(detail),
        (None, None) => None,
    }
}

fn remedy(code: Code, summary: &str) -> Option<&'static str> {
    Some(match code {
        Code::RecordHash | Code::NotInRecord | Code::OnlyInRecord => {
            "build the wheel again, or write a new RECORD with `python -m wheel pack`"
        }
        Code::UnsafeName if summary == names::WINDOWS => {
            "rename it in the build, or exclude it: Windows does not allow this name"
        }
        Code::BrokenMember | Code::BrokenPackage => "download or build it again",
        Code::SdistUnusable => "build it again; `pip wheel --no-deps FILE` shows the whole error",
        Code::RpathLeadsNowhere => {
            "remove the rpath entry in the build, or accept it with an `ignore` line (`rockpack \
             help manifest ignore`)"
        }
        Code::ImportLeadsNowhere => {
            "ship it, add its package with `--with`, or declare it with a `system-library` line"
        }
        Code::ExecutableStack => {
            "link it with `-z noexecstack` and assembler sources with `.note.GNU-stack`, or clear it: by a \
             `clear-execstack` line in packages.kdl, or with `rockpack elf edit --clear-execstack`"
        }
        Code::StableAbi => {
            "define `Py_LIMITED_API` as the oldest Python in the tags, or raise that tag"
        }
        Code::Runpath => "convert it to DT_RPATH with `rockpack elf edit --convert-rpath`",
        Code::LibraryNotFound => LIBRARY,
        Code::RpathOutside => "set the rpath relative to `$ORIGIN`",
        Code::MemberTime => "set SOURCE_DATE_EPOCH in the build",
        Code::TwoOwners => {
            "keep the file in one of them: the second installation overwrites it, and \
             uninstalling one breaks the other"
        }
        Code::TagsDisagree => {
            "change the tags with `python -m wheel tags`, which writes name, \
            WHEEL and RECORD"
        }
        Code::MisplacedCode => {
            "move it to a package for its ISA, or accept it with an `ignore` line (`rockpack help \
             manifest ignore`)"
        }
        Code::NotAsPlanned => {
            "build the plan with `rockpack build --plan`; after `rockpack wheel retag` or \
             `rockpack wheel promote`, compare with a plan of that --platform-tag or --version"
        }
        Code::ChecksumList if summary == sums::LOST => {
            "fetch the missing file (a build with download=\"minimal\" leaves \
             packages in the farm's storage), build it again, or remove its line"
        }
        Code::ChecksumList => "write it again: sha256sum *.whl *.tar.gz > SHA256SUMS",
        Code::WrongProvenance => {
            "fetch it again with all packages that it names, or remove it: nothing vouches for it"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_first_finding_with_equal_ones() {
        let line = |line: &str| Finding::error(Code::NotAsPlanned, "it is another").because(line);
        let mut findings: Vec<Finding> = ["- a", "+ b", "- c", "+ d", "+ e"].map(line).into();
        findings.insert(2, Finding::error(Code::NotAsPlanned, "it has another size"));
        assert_eq!(first(&findings).unwrap(), "it is another: - a, + b, - c and 2 more");
        assert_eq!(first(&findings[2..3]).unwrap(), "it has another size");
        assert_eq!(first(&[]), None);
    }
}
