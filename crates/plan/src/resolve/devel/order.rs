//! Order of a devel archive: links follow their targets and the links between.

use std::collections::HashMap;

use super::{Member, Step};

pub(super) fn links_last(members: Vec<Member>) -> Vec<Member> {
    let (mut links, mut ordered): (Vec<Member>, Vec<Member>) =
        members.into_iter().partition(|m| text(m).is_some());
    links.sort_by(|a, b| a.path.cmp(&b.path));
    let order = Ordering::new(&links).run();
    let mut links: Vec<Option<Member>> = links.into_iter().map(Some).collect();
    ordered.extend(order.into_iter().filter_map(|index| links[index].take()));
    ordered
}

fn text(member: &Member) -> Option<&str> {
    if let Step::Link { target } = &member.step { Some(target) } else { None }
}

/// Linux's limit (`path_resolution(7)`).
const MOST_LINKS: usize = 40;

struct Ordering<'l> {
    links: Vec<(&'l str, &'l str)>,
    by_path: HashMap<&'l str, usize>,
    waiting: Vec<bool>,
}

impl<'l> Ordering<'l> {
    fn new(links: &'l [Member]) -> Self {
        let links: Vec<_> =
            links.iter().filter_map(|m| Some((m.path.as_str(), text(m)?))).collect();
        let by_path = links.iter().enumerate().map(|(index, (path, _))| (*path, index)).collect();
        Self { waiting: vec![true; links.len()], links, by_path }
    }

    fn run(mut self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.links.len());
        for first in 0..self.links.len() {
            let mut chain: Vec<usize> = self.begin(first).into_iter().collect();
            while let Some(&last) = chain.last() {
                match self.needs(last).and_then(|next| self.begin(next)) {
                    Some(next) => chain.push(next),
                    None => order.extend(chain.pop()),
                }
            }
        }
        order
    }

    fn begin(&mut self, link: usize) -> Option<usize> {
        std::mem::take(&mut self.waiting[link]).then_some(link)
    }

    fn needs(&self, link: usize) -> Option<usize> {
        let (path, target) = self.links[link];
        let mut current = path.rsplit_once('/').map_or("", |(directory, _)| directory).to_owned();
        let mut ahead: Vec<&str> = target.split('/').rev().collect();
        let mut followed = 0;
        while let Some(segment) = ahead.pop() {
            match segment {
                "" | "." => continue,
                ".." => leave(&mut current)?,
                name => enter(&mut current, name),
            }
            let Some(&number) = self.by_path.get(current.as_str()) else { continue };
            if self.waiting[number] {
                return Some(number);
            }
            if followed < MOST_LINKS {
                followed += 1;
                leave(&mut current)?;
                ahead.extend(self.links[number].1.split('/').rev());
            }
        }
        None
    }
}

fn enter(at: &mut String, name: &str) {
    if !at.is_empty() {
        at.push('/');
    }
    at.push_str(name);
}

fn leave(at: &mut String) -> Option<()> {
    let above = at.rfind('/').unwrap_or(0);
    (!at.is_empty()).then(|| at.truncate(above))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn link(path: &str, target: &str) -> Member {
        let step = Step::Link { target: target.to_owned() };
        Member {
            path: path.parse().unwrap(),
            step,
            executable: false,
            size: 0,
            rule: Arc::default(),
        }
    }

    fn order(members: Vec<Member>) -> Vec<String> {
        links_last(members).iter().map(|m| m.path.to_string()).collect()
    }

    #[test]
    fn no_link_comes_before_what_it_leads_to() {
        let file =
            Member { step: Step::Render { text: crate::Rendered::default() }, ..link("d/z", "") };
        let links = vec![
            link("d/a", "b"),
            link("d/b", "c"),
            link("d/c", "../d/z"),
            link("d/loop", "loop"),
            file,
        ];
        assert_eq!(order(links), ["d/z", "d/c", "d/b", "d/a", "d/loop"]);
    }

    #[test]
    fn no_link_comes_before_what_it_leads_through() {
        let links = vec![
            link("a", "dir/file"),
            link("dir", "real"),
            link("real/file", "other"),
            link("x", "y"),
            link("y", "x"),
        ];
        assert_eq!(order(links), ["dir", "real/file", "a", "y", "x"]);
    }
}
