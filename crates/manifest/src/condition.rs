//! Which lines have a condition.

use super::{
    AliasRule, AllowIsaRule, AllowUnownedRule, ArtifactRule, ComponentRule, Distribution, DropRule,
    Environment, Extra, ForbidRule, IndexRule, KeepLinkRule, Library, PathRule, RequireDistRule,
    RequireRule, RpathRule, Script,
};
use base::target::Condition;

/// A line of the manifest that can count for some targets only.
pub trait HasCondition {
    /// Where it counts.
    fn when(&self) -> Condition;
}

macro_rules! has_condition {
    ($($line:ty),*) => {
        $(impl HasCondition for $line {
            fn when(&self) -> Condition {
                self.when
            }
        })*
    };
}

has_condition!(
    AliasRule,
    AllowIsaRule,
    AllowUnownedRule,
    ArtifactRule,
    ComponentRule,
    Distribution,
    DropRule,
    Environment,
    Extra,
    ForbidRule,
    IndexRule,
    KeepLinkRule,
    Library,
    PathRule,
    RequireDistRule,
    RequireRule,
    RpathRule,
    Script
);
