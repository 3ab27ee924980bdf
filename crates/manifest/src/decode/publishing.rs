//! `shelf`, `aggregate`, `outside` and `stream`: where packages go, what they may do without, how long they stay.

use super::{Block, Context, Node};
use crate::{Aggregate, Dated, Glob, Keep, Publishing, ShelfRule, StreamRule};
use base::names::{PackageName, RelPath};
use base::source::{Code, Problem, Spanned};
use base::target::Condition;

pub(super) fn publishing<'a>(nodes: &mut Block<'a>, context: &Context<'a>) -> Publishing {
    Publishing {
        shelves: nodes.every("shelf", |node| shelf(node, context)),
        aggregate: nodes.at_most_once("aggregate", aggregate),
        outside: nodes.every("outside", |node| Some(projects(node))).concat(),
        streams: nodes.every("stream", |node| stream(node, context)),
    }
}

fn stream<'a>(node: &mut Node<'a>, context: &Context<'a>) -> Option<StreamRule> {
    let name = node.argument::<String>("a name");
    let keep = node.required::<Keep>("keep");
    let date = node.property::<Dated>("date").map(|date| date.value).unwrap_or_default();
    let name = name?;
    context.give("stream", &name.value, Condition::default(), &name.place);
    Some(StreamRule { name, keep: keep?.value, date })
}

fn shelf<'a>(node: &mut Node<'a>, context: &Context<'a>) -> Option<ShelfRule> {
    let path = node.argument::<RelPath>("a path in a store");
    let public = public(node);
    let index = node.property::<PackageName>("index");
    let mut lines = node.block();
    let projects = lines.every("project", |node| Some(projects(node))).concat();
    lines.finish();
    let path = path?;
    context.give("shelf", path.value.as_str(), Condition::default(), &path.place);
    Some(ShelfRule { path, public: public?, index, projects })
}

fn aggregate(node: &mut Node<'_>) -> Option<Aggregate> {
    let path = node.argument::<RelPath>("a path in a store");
    let public = public(node);
    let routes = node.required::<RelPath>("routes");
    let validation = node.property::<RelPath>("validation").map(|path| path.value);
    Some(Aggregate { path: path?.value, public: public?, routes: routes?.value, validation })
}

/// Where clients see something: the path of a URL, which ends with `/`.
fn public(node: &mut Node<'_>) -> Option<String> {
    let public = node.required::<String>("public")?;
    if !(public.starts_with('/') && public.ends_with('/')) {
        let text = format!("`{}` is no path of a URL that leads to a directory", *public);
        let problem = Problem::error(Code::InvalidText, text);
        node.report(problem.label(&public.place, "write it with `/` at both ends"));
    }
    Some(public.value)
}

fn projects(node: &mut Node<'_>) -> Vec<Spanned<Glob>> {
    let names = node.at_least_one::<Glob>("a project");
    for name in &names {
        let is_name = |c: char| !c.is_ascii_uppercase() && !matches!(c, '/' | '_' | '.');
        if !name.as_str().chars().all(is_name) {
            let text = format!("`{}` is no name of a project", name.as_str());
            let problem = Problem::error(Code::InvalidText, text);
            let label = "indexes compare names in lower case, with `-` between words";
            node.report(problem.label(&name.place, label));
        }
    }
    names
}
