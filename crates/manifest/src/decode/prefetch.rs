//! `prefetch`.

use super::Node;
use crate::{Glob, Prefetch, PrefetchSource, Requirement, Setting};
use base::names::{self, PackageName};
use base::source::{Code, Problem, Spanned};

/// Reads one `prefetch`.
pub(super) fn prefetch(node: &mut Node<'_>) -> Option<Prefetch> {
    let name = node.argument::<PackageName>("a name");
    let given = |node: &Node<'_>, names: &[&str]| names.iter().any(|name| node.has(name));
    let (of_index, of_git) = (given(node, &["index", "requirement"]), given(node, &["git"]));
    let comes_from_nowhere = !of_index && !of_git && !given(node, &["path"]);
    let path = node.property::<Glob>("path");
    let requirement = node.property::<Requirement>("requirement");
    let address = node.property::<Setting>("index");
    let git = node.property::<Setting>("git");
    let branch = node.property::<String>("branch");
    let title = node.title();
    if comes_from_nowhere {
        node.fault(
            format!("`{title}` lacks `path`, `index`, `requirement` or `git`"),
            "say where it comes from",
        );
    }
    if of_index && of_git {
        node.fault(format!("`{title}` has an index and `git`"), "keep one of them");
    }
    if let Some(branch) = branch.as_ref().filter(|_| !of_git) {
        let problem = Problem::error(Code::MisplacedNode, format!("`{title}` has no `git`"));
        let problem = problem.label(&branch.place, "of which this would be a branch");
        node.report(problem.help("add git=\"URL\", or remove `branch`"));
    }
    let name = name?;
    if let Some(requirement) = &requirement {
        check_name(node, &name, requirement);
    }
    let from = match git {
        Some(address) => {
            Some(PrefetchSource::Git { address, branch: branch.map(|branch| branch.value) })
        }
        None if of_index => Some(PrefetchSource::Index { requirement, address }),
        None => None,
    };
    Some(Prefetch { name, path, from })
}

fn check_name(node: &Node<'_>, name: &Spanned<PackageName>, wanted: &Spanned<Requirement>) {
    let Ok(required) = wanted.as_str().parse::<names::Requirement>() else { return };
    if required.name != name.as_str() {
        let message =
            format!("`{}` is to be of another distribution, `{}`", name.value, required.name);
        let problem = Problem::error(Code::InvalidText, message)
            .label(&wanted.place, "names another")
            .label(&name.place, "this is its name");
        node.report(problem.help("write the same name twice"));
    }
}
