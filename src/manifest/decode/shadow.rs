//! Rules over paths that can never count, because of others.

use super::Faults;
use crate::manifest::{DropRule, PathRule, Rules};
use crate::source::{Code, Problem};

/// Include rules of which an exclude rule, which wins, leaves nothing.
pub(super) fn includes(faults: &Faults, includes: &[PathRule], excludes: &Rules<PathRule>) {
    for include in includes {
        let mut covering = excludes.covering(&include.glob).map(|(_, exclude)| exclude);
        let swallows = |exclude: &&PathRule| exclude.when.covers(include.when);
        let Some(exclude) = covering.find(swallows) else { continue };
        let (kept, out) = (include.glob.as_str(), exclude.glob.as_str());
        let problem = Problem::error(
            Code::SwallowedInclude,
            format!("nothing of `{kept}` is taken: `{out}` is excluded"),
        )
        .label(&include.glob.place, "takes what the other rule keeps out")
        .label(&exclude.glob.place, "excludes win over includes");
        faults.report(problem.help("narrow the exclude rule, or remove one of the two lines"));
    }
}

/// Drop rules after one that drops all that they can.
pub(super) fn drops(faults: &Faults, drops: &Rules<DropRule>) {
    for (index, rule) in drops.iter().enumerate() {
        // Those that count everywhere are asked before all others.
        let before = drops.covering(&rule.glob).filter(|(at, other)| {
            other.everywhere && !rule.everywhere
                || other.everywhere == rule.everywhere && *at < index
        });
        let mut before = before.map(|(_, other)| other);
        let Some(earlier) = before.find(|other| counts_for_all_of(other, rule)) else { continue };
        let problem = Problem::error(Code::ShadowedDrop, "nothing is left for this drop rule")
            .label(&rule.glob.place, "all that it could drop is dropped already")
            .label(&earlier.glob.place, "by this rule");
        faults.report(problem.help("a file is dropped for the reason of the first rule: remove this one, or put it before the other"));
    }
}

/// Whether a rule counts for every artifact, component and mode that the other counts for.
fn counts_for_all_of(earlier: &DropRule, rule: &DropRule) -> bool {
    let artifact = earlier.artifact.is_none() || earlier.artifact == rule.artifact;
    let component = earlier.component.is_none() || earlier.component == rule.component;
    artifact && component && earlier.when.covers(rule.when)
}
