use std::collections::BTreeMap;

use super::compare::Compared;
use super::{Accepted, Counts, Difference};
use manifest::AcceptRule;

/// Differences by the line that accepts them.
pub(super) struct Sorted<'r> {
    pub packages: Vec<Counts>,
    pub accepted: Vec<Accepted>,
    pub unexplained: Vec<Difference>,
    /// Lines that accept nothing, without a reason for that.
    pub idle: Vec<&'r AcceptRule>,
}

/// Gives each difference to the first line that accepts it. A line that only repeats others is not
/// idle.
pub(super) fn sorted(compared: Compared, rules: &[AcceptRule]) -> Sorted<'_> {
    let Compared { mut counts, differences } = compared;
    let mut by_rule: BTreeMap<usize, Vec<Difference>> = BTreeMap::new();
    let mut unexplained = Vec::new();
    for (distribution, difference) in differences {
        let accepts =
            |rule: &AcceptRule| rule.accepts(difference.class, &distribution, &difference.name);
        let mut lines = rules.iter().enumerate().filter(|(_, rule)| accepts(rule));
        let first = lines.next().map(|(index, _)| index);
        for (index, _) in lines {
            by_rule.entry(index).or_default();
        }
        let counts = counts.entry(difference.package.clone()).or_default();
        if let Some(index) = first {
            counts.accepted += 1;
            by_rule.entry(index).or_default().push(difference);
        } else {
            counts.unexplained += 1;
            unexplained.push(difference);
        }
    }
    unexplained.sort_by(|a, b| (a.class, &a.package, &a.name).cmp(&(b.class, &b.package, &b.name)));
    let is_idle = |(index, rule): &(usize, &AcceptRule)| {
        !by_rule.contains_key(index) && rule.optional.is_none()
    };
    let idle = rules.iter().enumerate().filter(is_idle).map(|(_, rule)| rule).collect();
    let accepted = by_rule.into_iter().map(|(index, differences)| {
        let AcceptRule { class, reason, .. } = &rules[index];
        let line = class.place.shown().to_string();
        Accepted { line, class: class.value, reason: reason.clone(), differences }
    });
    Sorted {
        packages: counts.into_values().collect(),
        accepted: accepted.collect(),
        unexplained,
        idle,
    }
}
