//! Further indexes of the same packages.

use super::RequireRule;
use base::names::PackageName;
use base::source::Spanned;
use base::target::Condition;

/// `index "whl" mode="kpack" { requires "device" offer="all"; }`: an index of the same packages whose selector
/// requires more.
#[derive(Debug, Clone)]
pub struct IndexRule {
    /// Its name, which is that of the selector's directory too.
    pub name: Spanned<PackageName>,
    /// What the selector requires there beside what it requires everywhere.
    pub requires: Vec<RequireRule>,
    /// Where it counts.
    pub when: Condition,
}
