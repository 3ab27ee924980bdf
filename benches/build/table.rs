//! Printed table: measurements, references, and targets.

/// Target for a ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// Met if the ratio is at most this.
    AtMost(f64),
    /// Met if the ratio is at least this.
    AtLeast(f64),
    /// No target; for information.
    None,
}

impl Limit {
    /// Judges `ratio`.
    fn verdict(self, ratio: f64) -> &'static str {
        match self {
            // NaN misses the target.
            Self::AtMost(most) if ratio <= most => "ok",
            Self::AtLeast(least) if ratio >= least => "ok",
            Self::AtMost(_) | Self::AtLeast(_) => "MISS",
            Self::None => "",
        }
    }
}

/// Measured quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quantity {
    Seconds(f64),
    Bytes(f64),
}

impl Quantity {
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

/// Line of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Measured action.
    pub what: String,
    /// Result.
    pub measured: Quantity,
    /// Description of the reference.
    pub against: String,
    /// Reference, measured in the same run.
    pub reference: Option<Quantity>,
    /// Ratio to judge, if a reference exists.
    pub ratio: Option<f64>,
    /// Target of the ratio.
    pub limit: Limit,
}

impl Line {
    /// Makes a line without a reference.
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

    /// Expresses `measured` in multiples of `reference`.
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

    /// Expresses `measured` as a speed-up over `reference`.
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

    /// Returns all cells except the row's name.
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
/// Right-aligned columns.
const RIGHT: [bool; 7] = [false, false, true, false, true, true, false];

/// Returns all rows as aligned text. The name of a row is in its first line.
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
