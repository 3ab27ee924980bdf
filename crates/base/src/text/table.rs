//! Rows of cells in aligned columns.

use std::fmt::{self, Write as _};

/// Width and alignment of a column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    is_right: bool,
    least: usize,
    most: usize,
}

impl Column {
    /// Left-aligned column, as wide as its widest cell.
    pub fn left() -> Self {
        Self { is_right: false, least: 0, most: usize::MAX }
    }

    /// Right-aligned column, as wide as its widest cell.
    pub fn right() -> Self {
        Self { is_right: true, ..Self::left() }
    }

    /// Sets a minimum width.
    #[must_use]
    pub fn at_least(self, width: usize) -> Self {
        Self { least: width, ..self }
    }

    /// Sets a maximum width; a longer cell moves those after it.
    #[must_use]
    pub fn at_most(self, width: usize) -> Self {
        Self { most: width, ..self }
    }

    /// Sets the width; a longer cell moves those after it.
    #[must_use]
    pub fn of(self, width: usize) -> Self {
        self.at_least(width).at_most(width)
    }
}

/// Rows of aligned cells. Lines have no trailing blanks. Cells beyond the declared columns are as
/// wide as their text.
#[derive(Debug)]
pub struct Table {
    columns: Vec<Column>,
    indent: usize,
    gap: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Empty table with two blanks between columns.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self { columns: columns.into_iter().collect(), indent: 0, gap: 2, rows: Vec::new() }
    }

    /// Sets the indent.
    #[must_use]
    pub fn indented(self, indent: usize) -> Self {
        Self { indent, ..self }
    }

    /// Sets the gap between columns.
    #[must_use]
    pub fn spaced(self, gap: usize) -> Self {
        Self { gap, ..self }
    }

    /// Adds a row.
    pub fn row<C: ToString>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(|cell| cell.to_string()).collect());
    }

    fn width(&self, index: usize) -> usize {
        let Column { least, most, .. } = self.columns[index];
        let cells = self.rows.iter().filter_map(|row| row.get(index));
        let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or_default();
        widest.max(least).min(most)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<usize> = (0..self.columns.len()).map(|index| self.width(index)).collect();
        for row in &self.rows {
            let mut line = " ".repeat(self.indent);
            for (index, cell) in row.iter().enumerate() {
                line.extend((index > 0).then(|| " ".repeat(self.gap)));
                let width = widths.get(index).copied().unwrap_or_default();
                let is_right = self.columns.get(index).is_some_and(|column| column.is_right);
                if is_right {
                    write!(line, "{cell:>width$}")?;
                } else {
                    write!(line, "{cell:width$}")?;
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_aligned_and_lines_end_without_blanks() {
        let columns = [Column::left().at_most(4), Column::right().of(3), Column::right()];
        let mut table = Table::new(columns).indented(1);
        table.row(["é", "1", "22", "the rest"]);
        table.row(["longer", "12345", "3", ""]);
        assert_eq!(table.to_string(), " é       1  22  the rest\n longer  12345   3\n");
        let mut table = Table::new([Column::left().at_least(3)]).spaced(1);
        table.row(["a", "b"]);
        assert_eq!(table.to_string(), "a   b\n");
        assert_eq!(Table::new([]).to_string(), "");
    }
}
