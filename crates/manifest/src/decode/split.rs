//! The lines of a `wheel` that is split.

use super::{Block, Context, Node, Once};
use crate::{DeviceBy, Families, Glob, SplitFiles, SplitRule, TargetWord, Template};
use base::names::{DistName, Isa, PackageName, RelPath, Requirement};
use base::source::{Code, Problem, Problems, Spanned, nearest};
use base::target::Condition;

/// The lines of a `wheel` that is split.
pub(super) struct Lines {
    by: Option<Means>,
    files: Vec<SplitFiles>,
    words: Vec<TargetWord>,
    keeps: Vec<SplitFiles>,
    requires: Vec<Spanned<Template>>,
}

/// `device-by "path" root="…" distribution="…"`.
struct Means {
    by: Vec<DeviceBy>,
    root: Option<RelPath>,
    device: Option<Spanned<Template>>,
}

/// Reads them all; nothing where there are none.
pub(super) fn lines(mut block: Block<'_>, context: &Context<'_>) -> Option<Lines> {
    if block.is_empty() {
        return None;
    }
    let by = block.once("device-by", |node| Some(device_by(node)));
    let files = block.at_least_once("files", |node| {
        let globs = node.at_least_one::<Glob>("a glob");
        Some(SplitFiles { globs, optional: node.property("optional").map(|why| why.value) })
    });
    let words = block.every("target-word", |node| {
        let word = node.argument::<String>("a word");
        let target = node.required::<String>("is");
        Some(TargetWord { word: word?, target: target? })
    });
    let keeps = block.every("host", |node| {
        let globs = node.at_least_one::<Glob>("a glob");
        node.required::<String>("reason");
        Some(SplitFiles { globs, optional: node.property("optional").map(|why| why.value) })
    });
    let requires = block.every("requires-dist", |node| {
        let text = node.argument::<Template>("a requirement")?;
        check_requirement(node, &text).then_some(text)
    });
    block.finish();
    let once = Once::default();
    for TargetWord { word, .. } in &words {
        once.give(context.faults, ("target-word", word), Condition::default(), &word.place);
    }
    Some(Lines { by, files, words, keeps, requires })
}

fn device_by(node: &mut Node<'_>) -> Means {
    let by = node.at_least_one::<DeviceBy>("what device code is told by");
    let root = node.property::<RelPath>("root").map(|root| root.value);
    let device = node.required::<Template>("distribution").filter(|name| check_name(node, name));
    check_means(node, &by, root.is_some());
    Means { by: by.into_iter().map(|by| by.value).collect(), root, device }
}

/// Files always go by their paths, and archives of what is in others lie below the root.
fn check_means(node: &Node<'_>, by: &[Spanned<DeviceBy>], rooted: bool) {
    let Some(bundle) = by.iter().find(|by| by.value == DeviceBy::Bundle) else { return };
    let wrong = |what: &str, help: &str| {
        let problem = Problem::error(Code::InvalidText, what).label(&bundle.place, "stands here");
        node.report(problem.help(help));
    };
    if !by.iter().any(|by| by.value == DeviceBy::Path) {
        let what = "`bundle` stands without `path`, by which files are told apart in any case";
        wrong(what, "write `device-by \"path\" \"bundle\" …`");
    }
    if !rooted {
        let what =
            "`bundle` makes archives of code, and nothing tells below which directory they lie";
        wrong(what, "add root=\"DIRECTORY\", the directory of the framework in the wheel");
    }
}

/// Whether the wheels with device code can be called so: each by its target, and by nothing else.
fn check_name(node: &Node<'_>, name: &Spanned<Template>) -> bool {
    if !check_places(node, name, &["isa"]) {
        return false;
    }
    if !name.has_placeholder() {
        let what = format!("`{}` lacks `{{isa}}`, so that all would share one name", name.value);
        let problem = Problem::error(Code::PlaceholderMissing, what);
        node.report(problem.label(&name.place, "`{isa}` has to be in here"));
        return false;
    }
    if let Err(error) = name.filled().parse::<DistName>() {
        let what = format!("`{}` is not a distribution name", name.value);
        node.report(Problem::error(Code::InvalidText, what).label(&name.place, error.reason));
        return false;
    }
    true
}

fn check_places(node: &Node<'_>, text: &Spanned<Template>, known: &[&str]) -> bool {
    let Some(unknown) = text.placeholders().find(|place| !known.contains(place)) else {
        return true;
    };
    let what = format!("`{}` has `{{{unknown}}}`, which nothing fills here", text.value);
    let known: Vec<String> = known.iter().map(|place| format!("`{{{place}}}`")).collect();
    let problem = Problem::error(Code::PlaceholderNotFilled, what)
        .label(&text.place, "this placeholder")
        .help(format!("what can stand here: {}", known.join(" and ")));
    node.report(problem);
    false
}

fn check_requirement(node: &Node<'_>, text: &Spanned<Template>) -> bool {
    if !check_places(node, text, &["isa", "version"]) {
        return false;
    }
    let filled = text.as_str().replace("{isa}", "x").replace("{version}", "1");
    if filled.parse::<Requirement>().is_ok() {
        return true;
    }
    let what = format!("`{}` is not a requirement (PEP 508)", text.value);
    let label = "write it like `example-device-{isa}=={version}`";
    node.report(Problem::error(Code::InvalidText, what).label(&text.place, label));
    false
}

impl Lines {
    /// How the wheel is split; nothing where something is wrong, which is reported. `from` tells that the
    /// line has `path` or `index` too.
    pub(super) fn rule(
        self,
        node: &Node<'_>,
        name: Option<Spanned<PackageName>>,
        from: bool,
    ) -> Option<SplitRule> {
        if from {
            let what = format!("`{}` is split, and has `path` or `index`", node.title());
            node.fault(what, "take them away: `rockpack wheel split` is given the wheel");
            return None;
        }
        let Means { by, root, device } = self.by?;
        Some(SplitRule {
            name: name?,
            by,
            device: device?,
            root,
            files: self.files,
            words: self.words,
            keeps: self.keeps,
            requires: self.requires,
        })
    }
}

/// Words for targets that families.kdl does not have, and words that it has itself.
pub(super) fn unknown_targets(splits: &[SplitRule], families: &Families) -> Problems {
    let mut problems = Problems::new();
    let known =
        || families.packaged().map(Isa::as_str).chain(families.levels.keys().map(String::as_str));
    for TargetWord { word, target } in splits.iter().flat_map(|split| &split.words) {
        if !known().any(|name| name == target.value) {
            let label = match nearest(&target.value, known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "families.kdl has no such ISA or level".to_owned(),
            };
            let what = format!("there is no target `{}`", target.value);
            let problem = Problem::error(Code::UnknownTarget, what).label(&target.place, label);
            problems.push(problem.help("write an ISA with packages of its own, or a level"));
        }
        if known().any(|name| name == word.value) {
            let what = format!("`{}` is a target itself", word.value);
            let problem = Problem::error(Code::GivenTwice, what)
                .label(&word.place, "families.kdl declares it");
            problems.push(problem.help("take the line away"));
        }
    }
    problems
}
