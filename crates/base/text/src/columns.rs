//! Aligns columns, and fits texts into a width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::Style;

/// Alignment of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Cells are aligned to the left.
    Left,
    /// Cells are aligned to the right.
    Right,
}

/// Rows under headings, with each column as wide as its widest cell.
#[derive(Debug)]
pub struct Columns {
    alignment: Vec<Align>,
    least: Vec<usize>,
    rows: Vec<Vec<(String, Style)>>,
}

impl Columns {
    /// Returns columns with these headings.
    pub fn new(headings: &[(&str, Align)]) -> Self {
        let heading = headings.iter();
        let heading = heading.map(|&(heading, _)| (heading.to_owned(), Style::NONE));
        Self {
            alignment: headings.iter().map(|&(_, align)| align).collect(),
            least: vec![0; headings.len()],
            rows: vec![heading.collect()],
        }
    }

    /// Sets the least widths of the columns.
    pub fn at_least(&mut self, widths: &[usize]) {
        self.least = widths.to_vec();
    }

    /// Appends a row of cells with a style each.
    pub fn styled_row(&mut self, cells: impl IntoIterator<Item = (String, Style)>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Returns the width of each column.
    pub fn widths(&self) -> Vec<usize> {
        let mut widths = self.least.clone();
        for row in &self.rows {
            for (width, (cell, _)) in widths.iter_mut().zip(row) {
                *width = cell.width().max(*width);
            }
        }
        widths
    }

    /// Returns the lines, with the headings first, each indented by two spaces.
    pub fn lines(&self) -> Vec<String> {
        let widths = self.widths();
        let rows = self.rows.iter();
        rows.map(|row| self.line(row, &widths)).collect()
    }

    fn line(&self, row: &[(String, Style)], widths: &[usize]) -> String {
        let mut line = String::new();
        for (((cell, style), &width), align) in row.iter().zip(widths).zip(&self.alignment) {
            let padding = " ".repeat(width.saturating_sub(cell.width()));
            match align {
                Align::Left => line.push_str(&format!("  {style}{cell}{style:#}{padding}")),
                Align::Right => line.push_str(&format!("  {padding}{style}{cell}{style:#}")),
            }
        }
        line.trim_end().to_owned()
    }
}

/// Shortens a text to a width, in the middle: labels differ at both ends.
pub fn shorten(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let half = width.saturating_sub(1) / 2;
    let head = take_width(text.chars(), half);
    let tail: String = take_width(text.chars().rev(), half).chars().rev().collect();
    format!("{head}…{tail}")
}

fn take_width(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    characters.take_while(fits).collect()
}

/// Breaks a text into lines of a width, at plain spaces: numbers stay beside their units. A word
/// that is longer than a line is broken anywhere.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for mut word in text.split_ascii_whitespace() {
        while word.width() > width {
            let head = take_width(word.chars(), width);
            word = match word.get(head.len()..) {
                Some(rest) if !head.is_empty() => rest,
                _ => break,
            };
            match lines.last_mut() {
                Some(line) if line.is_empty() => *line = head,
                _ => lines.push(head),
            }
        }
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_by_display_width() {
        let mut columns = Columns::new(&[("name", Align::Left), ("n", Align::Right)]);
        for row in [["カーネル", "7"], ["sin", "1,000"]] {
            columns.styled_row(row.map(|cell| (cell.to_owned(), Style::NONE)));
        }
        assert_eq!(
            columns.lines(),
            [
                "  name          n",
                "  カーネル      7",
                "  sin       1,000"
            ]
        );
    }

    #[test]
    fn long_texts_keep_both_ends() {
        assert_eq!(shorten("abcdefghij", 7), "abc…hij");
        assert_eq!(shorten("abc", 7), "abc");
        assert_eq!(shorten("カーネルカーネル", 7), "カ…ル");
    }

    #[test]
    fn long_lines_wrap_between_words() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("", 8), [""]);
        assert_eq!(
            wrap("it took 50.6\u{a0}%, more", 11),
            ["it took", "50.6\u{a0}%,", "more"]
        );
        assert_eq!(wrap("a abcdefghij b", 4), ["a", "abcd", "efgh", "ij b"]);
    }
}
