//! `drop`.

use super::Glob;
use base::names::{ArtifactName, Component};
use base::source::Spanned;
use base::target::Condition;
use manifest_derive::Line;

/// Leaves files out of every package: files that no package takes, otherwise an error; with
/// `everywhere`, also files that packages take. `"**"` cannot drop an artifact or a component that
/// an `artifact` line names.
#[derive(Debug, Clone, Line)]
#[line(
    "drop",
    example = r#"drop "share/doc/blas/html/**" everywhere=#true reason="the documentation is on the web""#
)]
pub struct DropRule {
    /// Installed paths of files and links; `*` stays in one directory, `**` spans them, `a/**` is
    /// all below `a`.
    #[arg("GLOB", "a glob", shown = r#""**""#)]
    pub glob: Spanned<Glob>,
    /// Of this component only: lib, run, dev, dbg, doc or test.
    #[prop]
    pub component: Option<Component>,
    /// Of this artifact only.
    #[prop]
    pub artifact: Option<ArtifactName>,
    /// Leave them out of every package, also of packages that take them, devel packages included:
    /// the one way to ship a file nowhere that an `artifact` line takes.
    #[prop]
    pub everywhere: bool,
    /// Reason why they are shipped nowhere.
    #[prop]
    pub reason: String,
    /// Reason why the line may match nothing; without it, an error.
    #[prop]
    pub optional: Option<String>,
    /// Targets.
    #[when]
    pub when: Condition,
}

impl DropRule {
    /// Returns whether its glob matches every path.
    pub fn is_of_all_files(&self) -> bool {
        let mut segments = self.glob.as_str().rsplit('/');
        let last = segments.next();
        let deep = segments.next();
        (last == Some("**") || last == Some("*") && deep == Some("**"))
            && deep.into_iter().chain(segments).all(|segment| segment == "**")
    }
}
