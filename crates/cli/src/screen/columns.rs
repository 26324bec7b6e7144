//! Aligned columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Which side a column's cells lean to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Rows under a heading, each column as wide as its widest cell.
pub(crate) struct Columns {
    alignment: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Columns {
    /// Columns with these headings.
    pub(crate) fn new(headings: &[(&str, Align)]) -> Self {
        Self {
            alignment: headings.iter().map(|&(_, align)| align).collect(),
            rows: vec![
                headings
                    .iter()
                    .map(|&(heading, _)| heading.to_owned())
                    .collect(),
            ],
        }
    }

    /// One more row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Shortens the cells of the last column so that no line is wider than this.
    pub(crate) fn fit(mut self, line_width: usize) -> Self {
        let last = self.alignment.len().saturating_sub(1);
        let others: usize = self.widths().iter().take(last).map(|width| width + 2).sum();
        let left = line_width.saturating_sub(others + 2).max(12);
        for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(last)) {
            *cell = shorten(cell, left);
        }
        self
    }

    /// Leaves a column out if the lines would be wider than this even with short
    /// cells in the last one.
    pub(crate) fn spare(mut self, line_width: usize, heading: &str) -> Self {
        const SHORT: usize = 24;
        let mut widths = self.widths();
        if let Some(last) = widths.last_mut() {
            *last = SHORT.min(*last);
        }
        let wide: usize = widths.into_iter().map(|width| width + 2).sum();
        let headings = self.rows.first();
        let at = headings.and_then(|row| row.iter().position(|one| one == heading));
        if let Some(at) = at.filter(|_| wide > line_width) {
            self.alignment.remove(at);
            self.rows.iter_mut().for_each(|row| drop(row.remove(at)));
        }
        self
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.width()).max().unwrap_or(0)
        };
        (0..self.alignment.len()).map(width).collect()
    }

    /// The lines, the heading first, each indented by two.
    pub(crate) fn lines(&self) -> Vec<String> {
        let widths = self.widths();
        self.rows
            .iter()
            .map(|row| self.line(row, &widths))
            .collect()
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for ((cell, &width), align) in row.iter().zip(widths).zip(&self.alignment) {
            let padding = " ".repeat(width.saturating_sub(cell.width()));
            match align {
                Align::Left => line.push_str(&format!("  {cell}{padding}")),
                Align::Right => line.push_str(&format!("  {padding}{cell}")),
            }
        }
        line.trim_end().to_owned()
    }
}

/// Shortens a text to a width, in the middle: both ends of a label tell.
pub(crate) fn shorten(text: &str, width: usize) -> String {
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

/// Breaks a text into lines of a width, at plain spaces: what [`unbroken`](crate::unbroken)
/// holds together stays so. A word that is longer than a line is broken anywhere.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
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
        columns.row(["カーネル".to_owned(), "7".to_owned()]);
        columns.row(["sin".to_owned(), "1,000".to_owned()]);
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
    fn the_last_column_gives_way() {
        let mut columns = Columns::new(&[("n", Align::Right), ("name", Align::Left)]);
        columns.row(["1,000".to_owned(), "a long name of a kernel".to_owned()]);
        let lines = columns.fit(22).lines();
        assert_eq!(lines, ["      n  name", "  1,000  a long…kernel"]);
    }

    #[test]
    fn long_texts_keep_both_ends() {
        assert_eq!(shorten("abcdefghij", 7), "abc…hij");
        assert_eq!(shorten("abc", 7), "abc");
        assert_eq!(shorten("カーネルカーネル", 7), "カ…ル");
    }

    #[test]
    fn words_wrap() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("", 8), [""]);
        assert_eq!(
            wrap("it took 50.6\u{a0}%, more", 11),
            ["it took", "50.6\u{a0}%,", "more"]
        );
        assert_eq!(wrap("a abcdefghij b", 4), ["a", "abcd", "efgh", "ij b"]);
    }
}
