use super::{Diff, Loss};

pub(super) const NOTHING: &str = "no difference\n";

const MOST: usize = 8;

pub(super) fn lines(diff: &Diff) -> Vec<String> {
    let (allowed, lost): (Vec<&Loss>, Vec<&Loss>) =
        diff.losses.iter().partition(|loss| loss.allowed.is_some());
    let mut lines: Vec<String> = lost.iter().take(MOST).map(|loss| loss.text.clone()).collect();
    if lines.is_empty() {
        let but = if allowed.is_empty() { "" } else { " that the change does not allow" };
        lines.push(format!("nothing lost{but}"));
    }
    let more = lost.len().saturating_sub(MOST);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    let shown = allowed.iter().take(MOST);
    lines.extend(shown.filter_map(|loss| {
        let note = loss.allowed.as_ref()?;
        Some(format!("allowed: {}: {}", loss.text, note.shown()))
    }));
    let more = allowed.len().saturating_sub(MOST);
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
