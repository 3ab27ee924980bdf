use super::member::Member;
use crate::Finding;
use base::source::Code;
use wheel::package::directory::DirectoryEntry;

pub(super) fn check(
    entries: &[DirectoryEntry],
    members: &[Member],
    dist_info: Option<&str>,
) -> Vec<Finding> {
    let mut findings: Vec<_> =
        entries.iter().filter_map(|entry| place(entry, dist_info?)).collect();
    for (entry, member) in entries.iter().zip(members) {
        let faults = [kind(entry), bytes(member)].into_iter().flatten();
        findings.extend(faults.map(|finding| finding.of(&*entry.name)));
    }
    findings.extend(times(entries));
    findings.extend(dist_info.and_then(|directory| order(entries, directory)));
    findings
}

/// Findings of the headers alone.
pub(super) fn headers(entries: &[DirectoryEntry], dist_info: Option<&str>) -> Vec<Finding> {
    let kinds = entries.iter().filter_map(|entry| Some(kind(entry)?.of(&*entry.name)));
    let places = entries.iter().filter_map(|entry| place(entry, dist_info?));
    let order = dist_info.and_then(|directory| order(entries, directory));
    kinds.chain(places).chain(times(entries)).chain(order).collect()
}

const SCHEMES: [&str; 5] = ["purelib", "platlib", "headers", "scripts", "data"];

fn place(entry: &DirectoryEntry, dist_info: &str) -> Option<Finding> {
    let (top, rest) = entry.name.split_once('/').unwrap_or((&entry.name, ""));
    let fault = |message: &'static str| Some(Finding::error(Code::UnsafeName, message));
    let finding = if let Some(stem) = top.strip_suffix(".data") {
        let (scheme, path) = rest.split_once('/').unwrap_or((rest, ""));
        if dist_info.strip_suffix(".dist-info") != Some(stem) {
            fault("`.data` directory with another name than the metadata directory")
        } else if !SCHEMES.contains(&scheme) && !rest.is_empty() {
            fault("directory below `.data` that installers do not know")
        } else if path.is_empty() && !entry.is_directory() {
            fault("file in place of a directory below `.data`")
        } else if scheme == "scripts" && path.contains('/') {
            fault("script in a directory, which installers reject")
        } else {
            None
        }
    } else {
        None
    };
    finding.map(|finding| finding.of(&*entry.name))
}

fn kind(entry: &DirectoryEntry) -> Option<Finding> {
    if entry.is_directory() && entry.size > 0 {
        return Some(Finding::error(Code::MemberKind, "directory entry with content"));
    }
    entry.is_directory().then(|| {
        Finding::warning(
            Code::MemberKind,
            "directory entry; a wheel should have only \
            files",
        )
    })
}

fn bytes(member: &Member) -> Option<Finding> {
    let fault = member.content.fault.as_ref()?;
    Some(Finding::error(Code::BrokenMember, "damaged").because(fault.clone()))
}

fn times(entries: &[DirectoryEntry]) -> Option<Finding> {
    let first = entries.first()?;
    let differing = entries.iter().find(|entry| entry.time != first.time)?;
    let message = "its members have different timestamps, so its build is not reproducible";
    Some(Finding::warning(Code::MemberTime, message).because(format!(
        "{} and {}",
        time(first),
        time(differing)
    )))
}

fn time(entry: &DirectoryEntry) -> String {
    let (date, time) = (u32::from(entry.time.0), u32::from(entry.time.1));
    let day = format!("{}-{:02}-{:02}", 1980 + (date >> 9), date >> 5 & 15, date & 31);
    format!("{day} {:02}:{:02}:{:02}", time >> 11, time >> 5 & 63, (time & 31) * 2)
}

/// Checks that metadata is last, as installers expect (binary distribution format, "Recommended
/// archiver features").
fn order(entries: &[DirectoryEntry], dist_info: &str) -> Option<Finding> {
    let inside = |entry: &&DirectoryEntry| {
        entry.name.strip_prefix(dist_info).is_some_and(|rest| rest.starts_with('/'))
    };
    // Directories have no bytes, so their order does not matter.
    let files = || entries.iter().filter(|entry| !entry.is_directory());
    let mut after = files().skip_while(|entry| !inside(entry)).filter(|entry| !inside(entry));
    if let Some(entry) = after.next() {
        return Some(
            Finding::warning(Code::MemberOrder, "file after the metadata, which should be last")
                .of(&*entry.name),
        );
    }
    let record = format!("{dist_info}/RECORD");
    let behind = files().skip_while(|entry| entry.name != record).nth(1)?;
    Some(
        Finding::warning(Code::MemberOrder, "file after RECORD, which should be last")
            .of(&*behind.name),
    )
}
