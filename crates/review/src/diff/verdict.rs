use super::{Diff, Loss};

pub(super) const NOTHING: &str = "no difference\n";

const SHOWN_LOSSES: usize = 8;

pub(super) fn lines(diff: &Diff) -> Vec<String> {
    let (allowed, lost): (Vec<&Loss>, Vec<&Loss>) =
        diff.losses.iter().partition(|loss| loss.allowed.is_some());
    let mut lines: Vec<String> =
        lost.iter().take(SHOWN_LOSSES).map(|loss| loss.text.clone()).collect();
    if lines.is_empty() {
        let suffix = if allowed.is_empty() { "" } else { " except allowed losses" };
        lines.push(format!("nothing lost{suffix}"));
    }
    let more = lost.len().saturating_sub(SHOWN_LOSSES);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    let shown = allowed.iter().take(SHOWN_LOSSES);
    lines.extend(shown.filter_map(|loss| {
        let note = loss.allowed.as_ref()?;
        Some(format!("allowed: {}: {}", loss.text, note.shown()))
    }));
    let more = allowed.len().saturating_sub(SHOWN_LOSSES);
    lines.extend((more > 0).then(|| format!("allowed: {more} more")));
    lines
}

impl Diff {
    /// Losses without allowance.
    pub fn lost(&self) -> impl Iterator<Item = &Loss> {
        self.losses.iter().filter(|loss| loss.allowed.is_none())
    }

    /// The most dangerous loss, or that nothing is lost, in one line.
    pub fn verdict(&self) -> String {
        if self.is_empty() {
            return NOTHING.trim_end().to_owned();
        }
        lines(self).swap_remove(0)
    }
}
