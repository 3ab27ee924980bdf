//! The table that the bench prints: what was measured, what against, and whether the target is met.

/// How a ratio is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// Met when the ratio is this or less.
    AtMost(f64),
    /// Met when the ratio is this or more.
    AtLeast(f64),
    /// Nothing was promised: it is told to be known.
    None,
}

impl Limit {
    /// Whether `ratio` meets it.
    fn verdict(self, ratio: f64) -> &'static str {
        match self {
            // What cannot be computed is not met.
            Self::AtMost(most) if ratio <= most => "ok",
            Self::AtLeast(least) if ratio >= least => "ok",
            Self::AtMost(_) | Self::AtLeast(_) => "MISS",
            Self::None => "",
        }
    }
}

/// A measured quantity: seconds, bytes, or a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quantity {
    /// Seconds.
    Seconds(f64),
    /// Bytes.
    Bytes(f64),
}

impl Quantity {
    /// The number alone.
    pub fn value(self) -> f64 {
        match self {
            Self::Seconds(n) | Self::Bytes(n) => n,
        }
    }
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Seconds(s) if s < 0.001 => write!(f, "{:.0} µs", s * 1e6),
            Self::Seconds(s) if s < 1.0 => write!(f, "{:.0} ms", s * 1e3),
            Self::Seconds(s) => write!(f, "{s:.2} s"),
            Self::Bytes(b) if b < 1e6 => write!(f, "{:.1} kB", b / 1e3),
            Self::Bytes(b) if b < 1e9 => write!(f, "{:.1} MB", b / 1e6),
            Self::Bytes(b) => write!(f, "{:.3} GB", b / 1e9),
        }
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What was done.
    pub what: String,
    /// What it came to.
    pub measured: Quantity,
    /// What it is compared with, in words.
    pub against: String,
    /// That, measured in the same run.
    pub reference: Option<Quantity>,
    /// The ratio that counts, where there is something to compare with.
    pub ratio: Option<f64>,
    /// What was promised.
    pub limit: Limit,
}

impl Line {
    /// What was done and what it came to, with nothing to compare it with.
    pub fn alone(what: impl Into<String>, measured: Quantity) -> Self {
        Self {
            what: what.into(),
            measured,
            against: String::new(),
            reference: None,
            ratio: None,
            limit: Limit::None,
        }
    }

    /// `measured` in multiples of `reference`.
    pub fn multiple(
        what: impl Into<String>,
        measured: Quantity,
        against: impl Into<String>,
        reference: Quantity,
        limit: Limit,
    ) -> Self {
        let ratio = Some(measured.value() / reference.value());
        Self {
            what: what.into(),
            measured,
            against: against.into(),
            reference: Some(reference),
            ratio,
            limit,
        }
    }

    /// How many times faster `measured` is than `reference`.
    pub fn faster(
        what: impl Into<String>,
        measured: Quantity,
        against: impl Into<String>,
        reference: Quantity,
        limit: Limit,
    ) -> Self {
        let ratio = Some(reference.value() / measured.value());
        Self {
            what: what.into(),
            measured,
            against: against.into(),
            reference: Some(reference),
            ratio,
            limit,
        }
    }

    /// The cells, but the row's name.
    fn cells(&self) -> [String; 6] {
        let target = match self.limit {
            Limit::AtMost(most) => format!("≤ {most:.2}"),
            Limit::AtLeast(least) => format!("≥ {least:.2}"),
            Limit::None => String::new(),
        };
        let reference = self.reference.map(|r| r.to_string()).unwrap_or_default();
        let ratio = self.ratio.map(|r| format!("{r:.2}")).unwrap_or_default();
        let verdict = self.ratio.map(|r| self.limit.verdict(r)).unwrap_or_default();
        [
            self.what.clone(),
            self.measured.to_string(),
            [&reference, " ", &self.against].concat().trim().to_owned(),
            ratio,
            target,
            verdict.to_owned(),
        ]
    }
}

const HEADS: [&str; 7] = ["row", "what", "measured", "against", "ratio", "target", ""];
/// Numbers are aligned at their right.
const RIGHT: [bool; 7] = [false, false, true, false, true, true, false];

/// All rows as text, aligned. Each row has a name and lines; the name stands at the first.
pub fn table(rows: &[(&str, Vec<Line>)]) -> String {
    let mut cells = vec![HEADS.map(str::to_owned)];
    for (name, lines) in rows {
        for (index, line) in lines.iter().enumerate() {
            let [what, measured, against, ratio, target, verdict] = line.cells();
            let name = if index == 0 { (*name).to_owned() } else { String::new() };
            cells.push([name, what, measured, against, ratio, target, verdict]);
        }
    }
    aligned(&cells)
}

fn aligned(rows: &[[String; 7]]) -> String {
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths: [usize; 7] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let cells: [String; 7] = std::array::from_fn(|i| padded(&row[i], widths[i], RIGHT[i]));
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn padded(cell: &str, width: usize, right: bool) -> String {
    if right { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
}
