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
    /// The artifact.
    #[arg("NAME", "an artifact")]
    pub name: Spanned<ArtifactName>,
    /// lib, run, dev, dbg, doc or test. A runtime package names one at least; a devel package that names none takes
    /// all.
    #[arg("COMPONENT", "a component", many, read = components)]
    pub components: Vec<Spanned<Component>>,
    /// The reason why another package that can be installed with this one ships the same files too; without it, that is
    /// a mistake. In runtime packages.
    #[prop("WHY", except = Devel)]
    pub repeats: Option<String>,
    /// The reason why libraries of the artifact can be in another directory than their files: files for single targets,
    /// and files in the directory `NAME` next to `libNAME.so`. Without a reason, this is an error. In runtime packages.
    #[prop("WHY", except = Devel)]
    pub apart: Option<String>,
    /// The reason why the line may match nothing; without it, that is an error.
    #[prop("WHY")]
    pub optional: Option<String>,
    /// The part of the build that it comes from: families.kdl says for which ISAs that is not built.
    #[prop]
    pub subproject: Option<Spanned<String>>,
    /// Targets of the line.
    #[when]
    pub when: Condition,
}

fn components(node: &mut Node<'_>, scope: &Scope<'_, '_>) -> Vec<Spanned<Component>> {
    if scope.kind == Some(PackageKind::Runtime) {
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
    // In a runtime package none is a mistake that has been reported, not a wish for all.
    if components.is_empty() && scope.kind == Some(PackageKind::Devel) {
        // All of them at once: the first that was given before says enough.
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
    /// The reason why the line may match nothing; without it, that is an error.
    #[prop("WHY")]
    pub optional: Option<String>,
    /// Targets of the line.
    #[when]
    pub when: Condition,
}

/// Narrows the package to these paths; where there are several, each adds some.
#[derive(Debug, Clone, Line)]
#[line("include", once, example = r#"include "lib/profiler/**""#)]
pub struct PathRule {
    /// Installed paths of files and links; `*` stays in one directory, `**` spans them, `a/**` is all that is below the
    /// directory `a`, and a link `a` itself.
    #[each("GLOB", "a glob")]
    pub glob: Spanned<Glob>,
    /// The reason why the line may match nothing; without it, that is an error.
    #[prop("WHY")]
    pub optional: Option<String>,
    /// Targets of the line.
    #[when]
    pub when: Condition,
}
