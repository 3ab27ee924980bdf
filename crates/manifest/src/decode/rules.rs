//! The rules of a package, one function a node.

use super::scope::Scope;
use super::text::{AliasPath, Function, LibraryPath, ShortName, Variable};
use super::{Block, Node};
use crate::{
    AliasForm, AliasRule, ArtifactRule, ComponentRule, Environment, ForbidRule, Glob, Library,
    PackageKind, PathRule, RpathRule, Rules, Script, ScriptTarget,
};
use base::names::{ArtifactName, Component, RelPath};
use base::source::{Code, Place, Problem, Spanned};
use base::target::Condition;

pub(super) fn artifact<'a>(node: &mut Node<'a>, scope: &Scope<'_, 'a>) -> Option<ArtifactRule> {
    let name = node.argument::<ArtifactName>("an artifact");
    let components = match scope.kind {
        Some(PackageKind::Runtime) => {
            let line = format!("{} \"lib\"", node.title());
            node.at_least_one_as::<Component>("a component", &line)
        }
        _ => node.arguments(),
    };
    // A devel package has links to what others ship, or the files that none does.
    let why = |node: &mut Node<'a>, word| match scope.kind {
        Some(PackageKind::Devel) => None,
        _ => node.property::<String>(word).map(|why| why.value),
    };
    let (repeats, apart) = (why(node, "repeats"), why(node, "apart"));
    let optional = node.property::<String>("optional").map(|o| o.value);
    let subproject = node.property::<String>("subproject");
    let when = node.condition();
    let name = name?;
    if node.is_sound() {
        give_components(scope, &name, &components, when);
    }
    Some(ArtifactRule { name, components, repeats, apart, subproject, optional, when })
}

fn give_components(
    scope: &Scope<'_, '_>,
    name: &Spanned<ArtifactName>,
    components: &[Spanned<Component>],
    when: Condition,
) {
    let give = |component: Component, place: &Place| {
        scope.give("artifact", &format!("{} {component}", name.value), when, place)
    };
    // In a runtime package none is a mistake that has been reported, not a wish for all.
    if components.is_empty() && scope.kind == Some(PackageKind::Devel) {
        // All of them at once: the first that was given before says enough.
        let _ = Component::ALL.into_iter().all(|component| give(component, &name.place));
    }
    for component in components {
        give(component.value, &component.place);
    }
}

pub(super) fn component(node: &mut Node<'_>, scope: &Scope<'_, '_>) -> Option<ComponentRule> {
    let component = node.argument::<Component>("a component");
    let optional = node.property::<String>("optional").map(|o| o.value);
    let when = node.condition();
    let component = component.filter(|_| node.is_sound())?;
    scope.give("without-component", component.as_str(), when, &component.place);
    Some(ComponentRule { component, optional, when })
}

/// The paths of all lines of this name, in their order.
pub(super) fn paths<'a>(
    lines: &mut Block<'a>,
    scope: &Scope<'_, 'a>,
    line: &'static str,
) -> Rules<PathRule> {
    lines.every(line, |node| path(node, scope, line)).into_iter().flatten().collect()
}

fn path(node: &mut Node<'_>, scope: &Scope<'_, '_>, line: &'static str) -> Option<Vec<PathRule>> {
    let globs = node.at_least_one::<Glob>("a glob");
    let optional = node.property::<String>("optional").map(|o| o.value);
    let when = node.condition();
    let rule = |glob: Spanned<Glob>| {
        scope.give(line, glob.as_str(), when, &glob.place);
        PathRule { glob, optional: optional.clone(), when }
    };
    node.is_sound().then(|| globs.into_iter().map(rule).collect())
}

/// The paths that the package must not take.
pub(super) fn forbids<'a>(lines: &mut Block<'a>, scope: &Scope<'_, 'a>) -> Rules<ForbidRule> {
    lines.every("forbid", |node| forbid(node, scope)).into_iter().flatten().collect()
}

fn forbid(node: &mut Node<'_>, scope: &Scope<'_, '_>) -> Option<Vec<ForbidRule>> {
    let globs = node.at_least_one::<Glob>("a glob");
    let reason = node.required::<String>("reason");
    let when = node.condition();
    let reason = reason.filter(|_| node.is_sound())?.value;
    let rule = |glob: Spanned<Glob>| {
        scope.give("forbid", glob.as_str(), when, &glob.place);
        ForbidRule { glob, reason: reason.clone(), when }
    };
    Some(globs.into_iter().map(rule).collect())
}

pub(super) fn rpath<'a>(node: &mut Node<'a>, scope: &Scope<'_, 'a>) -> Option<Vec<RpathRule>> {
    let rules = directories(node, scope)?;
    for rule in &rules {
        let key = format!("{} {}", rule.package.value, rule.directory.value);
        scope.give("rpath", &key, rule.when, &rule.directory.place);
    }
    Some(rules)
}

fn directories<'a>(node: &mut Node<'a>, scope: &Scope<'_, 'a>) -> Option<Vec<RpathRule>> {
    let package = scope.context.package(node, Some(PackageKind::Runtime));
    let directories = node.at_least_one::<RelPath>("a directory");
    let optional = node.property::<String>("optional").map(|o| o.value);
    let when = node.condition();
    let package = package?;
    let rule = |directory| RpathRule {
        package: package.clone(),
        directory,
        optional: optional.clone(),
        when,
    };
    Some(directories.into_iter().map(rule).collect())
}

pub(super) fn alias<'a>(node: &mut Node<'a>, scope: &Scope<'_, 'a>) -> Vec<AliasRule> {
    let paths = node.at_least_one::<AliasPath>("a path");
    let form = node.property::<AliasForm>("as").map_or(AliasForm::Forward, |form| form.value);
    let optional = node.property::<String>("optional").map(|o| o.value);
    let when = node.condition();
    let rule = |path: Spanned<AliasPath>| {
        let path = Spanned::new(path.value.0, path.place);
        scope.give("alias", path.as_str(), when, &path.place);
        AliasRule { path, form, optional: optional.clone(), when }
    };
    paths.into_iter().map(rule).collect()
}

pub(super) fn library<'a>(node: &mut Node<'a>, scope: &Scope<'_, 'a>) -> Vec<Library> {
    let names = node.at_least_one::<ShortName>("a short name");
    let so = node.property::<LibraryPath>("so");
    let dll = node.property::<LibraryPath>("dll");
    let optional = node.property::<String>("optional").map(|o| o.value);
    let when = node.condition();
    one_name(node, &names, so.as_ref().or(dll.as_ref()));
    let so = so.map(|p| p.value.0);
    let dll = dll.map(|p| p.value.0);
    let library = |name: Spanned<ShortName>| {
        let name = Spanned::new(name.value.0, name.place);
        scope.context.give("find-library", &name, when, &name.place);
        let so = so.clone().or_else(|| Some(format!("lib/lib{}.so*", *name)));
        Library { name, so, dll: dll.clone(), optional: optional.clone(), when }
    };
    names.into_iter().map(library).collect()
}

/// A path is of one name: a line with several leaves it out.
fn one_name<T, P>(node: &Node<'_>, names: &[Spanned<T>], path: Option<&Spanned<P>>) {
    if let ([_, second, ..], Some(path)) = (names, path) {
        let problem = Problem::error(
            Code::UnreadArgument,
            format!("`{}` gives several names one path", node.title()),
        );
        node.report(
            problem
                .label(&second.place, "a second name")
                .label(&path.place, "a path for one")
                .help("give each name with a path of its own a line of its own"),
        );
    }
}

pub(super) fn script<'a>(node: &mut Node<'a>, scope: &Scope<'_, 'a>) -> Option<Vec<Script>> {
    let names = node.at_least_one::<ShortName>("a name");
    let target = script_target(node, scope);
    let expand_devel = node.flag("expand-devel");
    let optional = node.property::<String>("optional").map(|o| o.value);
    let when = node.condition();
    one_name(node, &names, target.as_ref());
    if names.is_empty() || !node.is_sound() {
        return None;
    }
    let script = |name: Spanned<ShortName>| {
        let name = Spanned::new(name.value.0, name.place);
        scope.context.give("script", &name, when, &name.place);
        let usual = || format!("bin/{}", *name).parse().map(ScriptTarget::Program).ok();
        let target = target.clone().or_else(|| Some(Spanned::new(usual()?, name.place.clone())))?;
        Some(Script { name, target, expand_devel, when, optional: optional.clone() })
    };
    Some(names.into_iter().filter_map(script).collect())
}

fn script_target(node: &mut Node<'_>, scope: &Scope<'_, '_>) -> Option<Spanned<ScriptTarget>> {
    let told = [node.has("program"), node.has("function")];
    let program = node.property::<RelPath>("program");
    let function = node.property::<Function>("function");
    // A selector ships no program.
    if told == [false, false] && scope.kind == Some(PackageKind::Selector) {
        node.fault(format!("`{}` starts nothing", node.title()), "`function=…` has to follow");
    }
    if let (Some(program), Some(function)) = (&program, &function) {
        let problem = Problem::error(
            Code::ScriptTarget,
            format!("`{}` has a program and a function", node.title()),
        );
        let problem =
            problem.label(&program.place, "a program").label(&function.place, "a function");
        scope.context.faults.report(problem.help("a script starts one thing: keep one of them"));
    }
    if let (Some(program), Some(PackageKind::Selector)) = (&program, scope.kind) {
        let problem = Problem::error(
            Code::ScriptTarget,
            format!("`{}` names a program, but a selector ships none", node.title()),
        );
        scope.context.faults.report(
            problem
                .label(&program.place, "no such file can be there")
                .help("write function=\"MODULE:FUNCTION\""),
        );
    }
    program
        .map(|p| Spanned::new(ScriptTarget::Program(p.value), p.place))
        .or(function.map(|f| Spanned::new(f.value.0, f.place)))
}

pub(super) fn environment<'a>(node: &mut Node<'a>, scope: &Scope<'_, 'a>) -> Option<Environment> {
    let variable = node.argument::<Variable>("a variable");
    let when = node.condition();
    let mut lines = node.block();
    let directories = lines.at_least_once("directory", |n| directories(n, scope)).concat();
    lines.finish();
    let variable = variable.map(|v| Spanned::new(v.value.0, v.place))?;
    scope.give("prepend-path", &variable, when, &variable.place);
    Some(Environment { variable, directories, when })
}
