use std::collections::HashMap;

use super::fault::{MemberFault, Refusal};
use super::follow::{Unresolved, follow};
use super::member::MemberKind;

/// Members of an archive. Rejects members below files and links, and links that lead outside, in
/// any order of unpacking. Links that lead outside through later members are only in
/// [`Self::link_faults`], which callers must check at the end.
#[derive(Debug)]
pub struct Tree {
    members: HashMap<Box<str>, Node>,
    /// Number of leading directories that links must not leave: 0 or 1.
    floor: usize,
}

#[derive(Debug)]
enum Node {
    Directory,
    /// Directory that is only on the path of a member.
    Implied,
    File,
    Link(Box<str>),
}

impl Tree {
    /// `confined_to_top` refuses links that leave the top directory, as for installed archives.
    pub fn new(confined_to_top: bool) -> Self {
        Self { members: HashMap::new(), floor: usize::from(confined_to_top) }
    }

    /// Adds a member with a valid name.
    pub fn add(&mut self, path: &str, kind: &MemberKind) -> Result<(), Refusal> {
        let parents = path.rmatch_indices('/').map(|(at, _)| &path[..at]);
        let nearest = parents.clone().find_map(|parent| Some((parent, self.members.get(parent)?)));
        if let Some((parent, Node::File | Node::Link(_))) = nearest {
            return Err(Refusal::Below(parent.to_owned()));
        }
        let node = self.node(path, kind)?;
        match (self.members.get(path), &node) {
            (None | Some(Node::Implied | Node::Directory), Node::Directory) | (None, _) => {}
            (Some(Node::Implied), _) => return Err(Refusal::Above),
            (Some(_), _) => return Err(Refusal::Twice),
        }
        for parent in parents {
            if self.members.contains_key(parent) {
                break;
            }
            self.members.insert(parent.into(), Node::Implied);
        }
        self.members.insert(path.into(), node);
        Ok(())
    }

    /// Links that lead outside or in a circle.
    pub fn link_faults(&self) -> Vec<MemberFault> {
        let wrong = self.members.iter().filter_map(|(path, node)| match node {
            Node::Link(target) => Some(self.check_target(path, target).err()?.of(&**path)),
            Node::Directory | Node::Implied | Node::File => None,
        });
        let mut faults: Vec<MemberFault> = wrong.collect();
        faults.sort_by(|a, b| a.member.cmp(&b.member));
        faults
    }

    fn node(&self, path: &str, kind: &MemberKind) -> Result<Node, Refusal> {
        match kind {
            MemberKind::File => Ok(Node::File),
            MemberKind::Directory => Ok(Node::Directory),
            MemberKind::Symlink(target) => self.link(path, target),
            MemberKind::HardLink(target) => self.hard_link(path, target),
            MemberKind::Special => Err(Refusal::Special),
        }
    }

    fn link(&self, path: &str, target: &str) -> Result<Node, Refusal> {
        check_text(target)?;
        // The target must be inside without following links, too: an installer can unpack this link
        // before those on the target's path.
        let refusal = |unresolved| refusal(unresolved, target);
        follow(directory(path), target, self.floor, |_| None).map_err(refusal)?;
        match self.check_target(path, target) {
            Err(refusal @ Refusal::Outside(_)) => Err(refusal),
            _ => Ok(Node::Link(target.into())),
        }
    }

    fn hard_link(&self, path: &str, target: &str) -> Result<Node, Refusal> {
        check_text(target)?;
        let outside = || Refusal::Outside(target.to_owned());
        let place = follow("", target, 0, |_| None).map_err(|_| outside())?;
        let top = |path: &str| path.split('/').next().map(str::to_owned);
        if self.floor > 0 && top(&place) != top(path) {
            return Err(outside());
        }
        match self.members.get(target) {
            Some(Node::File) => Ok(Node::File),
            // Not in installed archives, whose floor is 1: uv makes hard links only to files.
            Some(Node::Link(text)) if self.floor == 0 => self.link(path, text),
            _ => Err(Refusal::NoFile(target.to_owned())),
        }
    }

    fn check_target(&self, path: &str, target: &str) -> Result<(), Refusal> {
        let links = |path: &str| match self.members.get(path) {
            Some(Node::Link(text)) => Some(&**text),
            _ => None,
        };
        let followed = follow(directory(path), target, self.floor, links);
        followed.map(drop).map_err(|unresolved| refusal(unresolved, target))
    }
}

fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

fn refusal(unresolved: Unresolved, target: &str) -> Refusal {
    match unresolved {
        Unresolved::Outside => Refusal::Outside(target.to_owned()),
        Unresolved::Circle => Refusal::Circle(target.to_owned()),
    }
}

fn check_text(target: &str) -> Result<(), Refusal> {
    if target.is_empty() {
        Err(Refusal::Target("its target is empty"))
    } else if target.contains(|c: char| c.is_control() || c == '\\') {
        Err(Refusal::Target("its target has a backslash or a control character"))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(target: &str) -> MemberKind {
        MemberKind::Symlink(target.to_owned())
    }

    fn hard(target: &str) -> MemberKind {
        MemberKind::HardLink(target.to_owned())
    }

    fn add(members: &[(&str, MemberKind)]) -> (Tree, Result<(), Refusal>) {
        let mut tree = Tree::new(false);
        let added = members.iter().try_for_each(|(path, kind)| tree.add(path, kind));
        (tree, added)
    }

    #[test]
    fn links_are_refused_in_every_order_of_the_links_that_they_pass() {
        let chain = [("d1/d2/a", link("../..")), ("d1/d2/b", link("a/.."))];
        let outside = || Refusal::Outside("a/..".to_owned());
        assert_eq!(add(&chain).1, Err(outside()));
        let [first, second] = chain;
        let (tree, added) = add(&[second, first]);
        assert_eq!((added, tree.link_faults()), (Ok(()), vec![outside().of("d1/d2/b")]));
        // The text alone leads outside; the link on its path leads back inside.
        let text = [("a/deep", link("x/y/z")), ("b", link("a/deep/../../.."))];
        assert_eq!(add(&text).1, Err(Refusal::Outside("a/deep/../../..".to_owned())));
    }

    #[test]
    fn a_hard_link_to_a_link_leads_from_its_own_place() {
        let (_, added) = add(&[("a/b/l", link("../../x")), ("h", hard("a/b/l"))]);
        assert_eq!(added, Err(Refusal::Outside("../../x".to_owned())));
        assert_eq!(add(&[("a/l", link("x")), ("h", hard("a/l"))]).1, Ok(()));
        for target in ["none", "a"] {
            let (_, added) = add(&[("a/f", MemberKind::File), ("h", hard(target))]);
            assert_eq!(added, Err(Refusal::NoFile(target.to_owned())));
        }
    }

    #[test]
    fn circles_are_found_at_the_end() {
        let (tree, added) = add(&[("one", link("two")), ("two", link("one"))]);
        let circle = |path: &str, target: &str| Refusal::Circle(target.to_owned()).of(path);
        assert_eq!(added, Ok(()));
        assert_eq!(tree.link_faults(), [circle("one", "two"), circle("two", "one")]);
    }

    #[test]
    fn nothing_is_below_files_and_links_or_in_the_place_of_another() {
        use MemberKind::{Directory, File};
        let refused = |members: &[(&str, MemberKind)]| add(members).1.unwrap_err();
        assert_eq!(refused(&[("a", File), ("a/b/c", File)]), Refusal::Below("a".to_owned()));
        assert_eq!(refused(&[("a", link("b")), ("a/c", File)]), Refusal::Below("a".to_owned()));
        assert_eq!(refused(&[("a/b", File), ("a", link("c"))]), Refusal::Above);
        assert_eq!(refused(&[("a", Directory), ("a", File)]), Refusal::Twice);
        assert_eq!(refused(&[("a", File), ("a", File)]), Refusal::Twice);
        assert_eq!(add(&[("a/b", File), ("a", Directory), ("a", Directory)]).1, Ok(()));
    }
}
