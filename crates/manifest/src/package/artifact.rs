//! Lines of a package that take files of artifacts.

use crate::line::Scope;
use crate::reader::Node;
use crate::{Glob, PackageKind};
use base::names::{ArtifactName, Component};
use base::source::{Place, Spanned};
use base::target::Condition;
use manifest_derive::Line;

/// Takes components of a build artifact: the directories `{NAME}_{component}_{family}`.
#[derive(Debug, Clone, Line)]
#[line(
    "artifact",
    check(give_components(name, components, when)),
    usage = r#"artifact "NAME" "lib" repeats="WHY" apart="WHY" subproject="…" optional="WHY" mode="…" on="…""#,
    example = r#"artifact "blas" "lib" "run" optional="not in every build""#
)]
pub struct ArtifactRule {
    /// An artifact.
    #[arg("NAME", "an artifact")]
    pub name: Spanned<ArtifactName>,
    /// lib, run, dev, dbg, doc or test. A runtime package names at least one; a devel package that
    /// names none takes all.
    #[arg("COMPONENT", "a component", many, read = components)]
    pub components: Vec<Spanned<Component>>,
    /// Reason why another package that can be installed with this one ships the same files; without
    /// it, an error. In runtime packages.
    #[prop("WHY", read = repeats)]
    pub repeats: Option<String>,
    /// Reason why its libraries may be in another directory than their files: files for single
    /// targets, and the directory `NAME` next to `libNAME.so`; without it, an error. In runtime
    /// packages.
    #[prop("WHY", read = apart)]
    pub apart: Option<String>,
    /// Reason why the line may match nothing; without it, an error.
    #[prop("WHY")]
    pub optional: Option<String>,
    /// Part of the build; families.kdl has the ISAs that lack it.
    #[prop]
    pub subproject: Option<Spanned<String>>,
    /// Targets.
    #[when]
    pub when: Condition,
}

fn repeats(node: &mut Node<'_>, scope: &Scope<'_, '_>) -> Option<Spanned<String>> {
    except_in_devel(node, scope, "repeats")
}

fn apart(node: &mut Node<'_>, scope: &Scope<'_, '_>) -> Option<Spanned<String>> {
    except_in_devel(node, scope, "apart")
}

fn except_in_devel(
    node: &mut Node<'_>,
    scope: &Scope<'_, '_>,
    name: &'static str,
) -> Option<Spanned<String>> {
    if scope.kind == Some(PackageKind::Devel) { None } else { node.property(name) }
}

fn components(node: &mut Node<'_>, scope: &Scope<'_, '_>) -> Vec<Spanned<Component>> {
    if scope.kind == Some(PackageKind::Runtime) && node.is_sound() {
        let line = format!("{} \"lib\"", node.title());
        return node.at_least_one_as("a component", &line);
    }
    node.arguments()
}

fn give_components(
    node: &Node<'_>,
    scope: &Scope<'_, '_>,
    name: Option<&Spanned<ArtifactName>>,
    components: &[Spanned<Component>],
    when: Condition,
) {
    let Some(name) = name.filter(|_| node.is_sound()) else { return };
    let give = |component: Component, place: &Place| {
        scope.give("artifact", &format!("{} {component}", name.value), when, place)
    };
    // A runtime package without components is a mistake that was reported, and does not take all.
    if components.is_empty() && scope.kind == Some(PackageKind::Devel) {
        // Stops at the first component that was given before.
        let _ = Component::ALL.into_iter().all(|component| give(component, &name.place));
    }
    for component in components {
        give(component.value, &component.place);
    }
}

/// Leaves a component out of every artifact.
#[derive(Debug, Clone, Line)]
#[line("without-component", once, example = r#"without-component "test" mode="kpack""#)]
pub struct ComponentRule {
    /// lib, run, dev, dbg, doc or test.
    #[arg("COMPONENT", "a component", shown = r#""test""#)]
    pub component: Spanned<Component>,
    /// Reason why the line may match nothing; without it, an error.
    #[prop("WHY")]
    pub optional: Option<String>,
    /// Targets.
    #[when]
    pub when: Condition,
}

/// Narrows the package to these paths; several lines add up.
#[derive(Debug, Clone, Line)]
#[line("include", once, example = r#"include "lib/profiler/**""#)]
pub struct PathRule {
    /// Installed paths of files and links; `*` stays in one directory, `**` spans them, `a/**` is
    /// all below `a`, and a link `a` itself.
    #[each("GLOB", "a glob")]
    pub glob: Spanned<Glob>,
    /// Reason why the line may match nothing; without it, an error.
    #[prop("WHY")]
    pub optional: Option<String>,
    /// Targets.
    #[when]
    pub when: Condition,
}
