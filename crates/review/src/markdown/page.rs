use std::fmt::Write as _;

/// Space for the summary of omitted parts.
const RESERVE: usize = 1000;

const MORE: usize = 120;

pub(super) struct Page {
    text: String,
    limit: usize,
    left_out: Vec<(usize, &'static str)>,
}

/// Appears with at least one row, or not at all.
pub(super) struct Section<'a> {
    pub head: &'a str,
    pub rows: &'a [String],
    pub foot: &'a str,
    pub what: &'static str,
    /// Number and plural noun if the section is omitted.
    pub otherwise: (usize, &'static str),
    pub share: usize,
}

impl Page {
    pub fn new(limit: usize) -> Self {
        Self { text: String::new(), limit, left_out: Vec::new() }
    }

    pub fn section(&mut self, section: &Section<'_>) {
        let free = self.limit.saturating_sub(self.text.len() + RESERVE).min(section.share);
        let mut room = free.saturating_sub(section.head.len() + section.foot.len() + MORE);
        let fits = |row: &&String| {
            let fits = row.len() < room;
            room = room.saturating_sub(row.len() + 1);
            fits
        };
        let shown = section.rows.iter().take_while(fits).count();
        if shown == 0 && !section.rows.is_empty() {
            let (count, noun) = section.otherwise;
            self.leave_out(count, noun);
            return;
        }
        self.text.push_str(section.head);
        for row in &section.rows[..shown] {
            self.text.push_str(row);
            self.text.push('\n');
        }
        if shown < section.rows.len() {
            let _ =
                writeln!(self.text, "\n… and {} more {}", section.rows.len() - shown, section.what);
        }
        self.text.push_str(section.foot);
    }

    fn leave_out(&mut self, count: usize, what: &'static str) {
        match self.left_out.iter_mut().find(|(_, other)| *other == what) {
            Some((sum, _)) => *sum += count,
            None => self.left_out.push((count, what)),
        }
    }

    pub fn finish(mut self) -> String {
        if !self.left_out.is_empty() {
            let parts: Vec<String> =
                self.left_out.iter().map(|(count, what)| format!("{count} {what}")).collect();
            let _ = writeln!(
                self.text,
                "\nLeft out to stay below {} kB: {}. `rockpack plan --format html` shows everything.",
                self.limit / 1000,
                parts.join(", ")
            );
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(limit: usize, rows: usize) -> String {
        let rows: Vec<String> = (0..rows).map(|i| format!("{i:099}")).collect();
        let mut page = Page::new(limit);
        for what in ["first", "second"] {
            let head = format!("{what}\n");
            page.section(&Section {
                head: &head,
                rows: &rows,
                foot: "end\n",
                what: "rows",
                otherwise: (rows.len(), "sections"),
                share: 3000,
            });
        }
        page.finish()
    }

    #[test]
    fn everything_is_there_when_it_fits() {
        let text = page(9000, 20);
        assert!(!text.contains("more rows") && !text.contains("Left out"), "{text}");
        assert_eq!(text.lines().count(), 44);
    }

    #[test]
    fn rows_beyond_a_share_are_counted() {
        let text = page(9000, 100);
        let shown = text.lines().filter(|l| l.len() == 99).count() / 2;
        assert!((20..30).contains(&shown), "{shown}");
        assert_eq!(text.matches(&format!("… and {} more rows", 100 - shown)).count(), 2);
    }

    #[test]
    fn sections_without_room_are_summed_up_at_the_end() {
        for limit in [1000, 2000, 4000, 5000] {
            let text = page(limit, 1000);
            assert!(text.len() <= limit, "{} of {limit}", text.len());
        }
        let text = page(1000, 7);
        assert_eq!(
            text,
            "\nLeft out to stay below 1 kB: 14 sections. `rockpack plan --format html` shows everything.\n"
        );
    }
}
