//! Rows of cells in aligned columns.

use std::fmt::{self, Display, Write as _};
use std::ops::Range;

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
    /// Cells of all rows without separators: a table can have millions of cells.
    text: String,
    cells: Vec<Cell>,
    /// Number of cells before the end of each row.
    rows: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    /// Offset in the text.
    end: usize,
    /// Characters.
    width: usize,
}

impl Table {
    /// Empty table with two blanks between columns.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self {
            columns: columns.into_iter().collect(),
            indent: 0,
            gap: 2,
            text: String::new(),
            cells: Vec::new(),
            rows: Vec::new(),
        }
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
    pub fn row<C: Display>(&mut self, cells: impl IntoIterator<Item = C>) {
        for cell in cells {
            let start = self.text.len();
            let _ = write!(self.text, "{cell}");
            let width = self.text[start..].chars().count();
            self.cells.push(Cell { end: self.text.len(), width });
        }
        self.rows.push(self.cells.len());
    }

    /// Cells of each row.
    fn rows(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.rows.iter().copied());
        starts.zip(&self.rows).map(|(start, end)| start..*end)
    }

    fn cell(&self, index: usize) -> &str {
        let start = index.checked_sub(1).map_or(0, |before| self.cells[before].end);
        &self.text[start..self.cells[index].end]
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(|column| column.least).collect();
        for row in self.rows() {
            for (width, cell) in widths.iter_mut().zip(&self.cells[row]) {
                *width = cell.width.max(*width);
            }
        }
        widths.iter().zip(&self.columns).map(|(width, column)| *width.min(&column.most)).collect()
    }

    fn write_row(&self, row: Range<usize>, widths: &[usize], line: &mut String) {
        line.extend(std::iter::repeat_n(' ', self.indent));
        for (column, index) in row.enumerate() {
            if column > 0 {
                line.extend(std::iter::repeat_n(' ', self.gap));
            }
            let width = widths.get(column).copied().unwrap_or_default();
            let blanks = std::iter::repeat_n(' ', width.saturating_sub(self.cells[index].width));
            if self.columns.get(column).is_some_and(|column| column.is_right) {
                line.extend(blanks);
                line.push_str(self.cell(index));
            } else {
                line.push_str(self.cell(index));
                line.extend(blanks);
            }
        }
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let mut line = String::new();
        for row in self.rows() {
            line.clear();
            self.write_row(row, &widths, &mut line);
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
