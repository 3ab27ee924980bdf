//! The order of a devel archive: no link comes before what it leads to or through.

use std::collections::BTreeMap;

use super::{Member, Step};

/// Directories and files first, by path; then links, those that others need before them.
pub(super) fn links_last(members: Vec<Member>) -> Vec<Member> {
    let (links, mut ordered): (Vec<Member>, Vec<Member>) = members.into_iter().partition(|m| text(m).is_some());
    let targets: BTreeMap<String, String> = links.iter().filter_map(|m| Some((m.path.to_string(), text(m)?.to_owned()))).collect();
    let mut waiting: BTreeMap<String, Member> = links.into_iter().map(|m| (m.path.to_string(), m)).collect();
    while let Some(first) = waiting.keys().next().cloned() {
        let mut chain = vec![first];
        while let Some(last) = chain.last() {
            match needs(last, &targets, |link| waiting.contains_key(link) && !chain.iter().any(|c| c == link)) {
                Some(next) => chain.push(next),
                None => ordered.extend(chain.pop().and_then(|path| waiting.remove(&path))),
            }
        }
    }
    ordered
}

fn text(member: &Member) -> Option<&str> {
    if let Step::Link { target } = &member.step { Some(target) } else { None }
}

/// Links followed before a path counts as a circle (`path_resolution(7)`).
const MOST_LINKS: usize = 40;

/// The first link on the way to where `link` leads that `is_missing`.
fn needs(link: &str, targets: &BTreeMap<String, String>, is_missing: impl Fn(&str) -> bool) -> Option<String> {
    let mut at: Vec<&str> = link.split('/').collect();
    at.pop();
    let mut ahead: Vec<&str> = targets.get(link)?.split('/').rev().collect();
    let mut followed = 0;
    while let Some(segment) = ahead.pop() {
        match segment {
            "" | "." => continue,
            ".." => _ = at.pop()?,
            name => at.push(name),
        }
        let here = at.join("/");
        if is_missing(&here) {
            return Some(here);
        }
        if let Some(target) = targets.get(&here).filter(|_| followed < MOST_LINKS) {
            followed += 1;
            at.pop();
            ahead.extend(target.split('/').rev());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(path: &str, target: &str) -> Member {
        let step = Step::Link { target: target.to_owned() };
        Member { path: path.parse().unwrap(), step, executable: false, size: 0, rule: String::new() }
    }

    fn order(members: Vec<Member>) -> Vec<String> {
        links_last(members).iter().map(|m| m.path.to_string()).collect()
    }

    #[test]
    fn no_link_comes_before_what_it_leads_to() {
        let file = Member { step: Step::Render { text: String::new() }, ..link("d/z", "") };
        let links = vec![link("d/a", "b"), link("d/b", "c"), link("d/c", "../d/z"), link("d/loop", "loop"), file];
        assert_eq!(order(links), ["d/z", "d/c", "d/b", "d/a", "d/loop"]);
    }

    #[test]
    fn no_link_comes_before_what_it_leads_through() {
        let links = vec![link("a", "dir/file"), link("dir", "real"), link("real/file", "other"), link("x", "y"), link("y", "x")];
        assert_eq!(order(links), ["dir", "real/file", "a", "y", "x"]);
    }
}
