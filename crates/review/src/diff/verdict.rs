use super::{Diff, Loss};

/// Text for two equal sides.
pub(super) const NOTHING: &str = "no difference\n";

/// Shown losses of each kind, because a verdict is for the first lines of a review.
const SHOWN_LOSSES: usize = 8;

/// Lines of the verdict: first the unallowed losses, or one line for no loss, then the allowed losses.
pub(super) fn lines(diff: &Diff) -> Vec<String> {
    let (allowed, unallowed): (Vec<&Loss>, Vec<&Loss>) =
        diff.losses.iter().partition(|loss| loss.allowed.is_some());
    let mut lines: Vec<String> =
        unallowed.iter().take(SHOWN_LOSSES).map(|loss| loss.text.clone()).collect();
    if lines.is_empty() {
        let suffix = if allowed.is_empty() { "" } else { " except allowed losses" };
        lines.push(format!("nothing lost{suffix}"));
    }
    let more = unallowed.len().saturating_sub(SHOWN_LOSSES);
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
    /// Losses that neither a line of the manifest nor an option allows.
    pub fn unallowed_losses(&self) -> impl Iterator<Item = &Loss> {
        self.losses.iter().filter(|loss| loss.allowed.is_none())
    }

    /// First line of the verdict: the most serious unallowed loss, or the line for no loss.
    pub fn verdict(&self) -> String {
        if self.is_empty() {
            return NOTHING.trim_end().to_owned();
        }
        lines(self).swap_remove(0)
    }
}
