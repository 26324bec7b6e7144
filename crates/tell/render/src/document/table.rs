//! Defines tables: columns, and rows of cells that know their kind.

use std::borrow::Cow;

use metalens_analyzer::Cause;
use metalens_message::{Message, Ns, Value};
use metalens_text::number::Float;
use metalens_text::shorten_all;

/// A table of a document: rows under headings.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The stable name of the table.
    pub id: &'static str,
    /// The contents of the table in a few words, for screen readers.
    pub caption: &'static str,
    /// The columns, from left to right.
    pub columns: Vec<Column>,
    /// The rows; each has a cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// The number of all rows; `rows` may have only the first of them.
    pub total: usize,
    /// Largest number of rows on a screen or on a page of text.
    pub short: usize,
    /// Largest number of rows on an interactive page.
    pub long: usize,
    /// A few words on the rows beyond `short`; their number precedes it.
    pub rest: Message,
    /// True if readers may want to sort the rows.
    pub is_sortable: bool,
    /// True if a comment shows a few rows first, and all rows in a part of its own.
    pub has_preview: bool,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The stable name of the column, by which screens, orders and CSV know it.
    pub key: String,
    /// The heading of the column: its key, unless readers see another one.
    pub heading: Message,
    /// The kind of the cells.
    pub kind: ColumnKind,
    /// The order in which columns are dropped where there is no room: 0 never, else the highest
    /// first.
    pub spare: u8,
}

/// The kind of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// The name of the row. It is shortened where there is no room.
    Name,
    /// A number with its unit.
    Number,
    /// A few words that are never shortened.
    Words,
    /// A label that is shortened where there is no room.
    Label,
    /// A sentence. It is left out where there is no room.
    Sentence,
    /// A bar or a small picture.
    Bar,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The text of the cell.
    pub text: Message,
    /// The look of the cell beyond its text.
    pub look: Look,
}

/// The look of a cell beyond its text. The types of a text's values mark names and numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Look {
    /// Text with no further look.
    Plain,
    /// Text with a rank to sort by.
    Ranked(u8),
    /// A bar: a part of a whole, in the color of a cause of idle time if it is about one.
    Bar(Ns, Ns, Option<Cause>),
    /// A verdict, with its tone.
    Verdict(Tone),
    /// The name of a cause of idle time, which has a color.
    Cause(Cause),
    /// The name of a recording that has a report in this folder.
    Report(String),
    /// A finding of the report in a folder, with its id and a rank to sort by.
    Finding(String, String, u8),
    /// The busy share of one process and of the others over time, in thousandths.
    OverTime(Vec<u16>, Vec<u16>),
}

/// The tone of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// The verdict is good news.
    Good,
    /// The verdict is bad news.
    Bad,
    /// The verdict is a reason to look closer.
    Doubtful,
    /// The verdict is nothing new.
    Faint,
    /// The verdict stands out, but is neither good nor bad.
    Strong,
}

impl Table {
    /// Returns a table without rows.
    #[must_use]
    pub fn new(id: &'static str, caption: &'static str, columns: Vec<Column>) -> Self {
        Self {
            id,
            caption,
            columns,
            rows: Vec::new(),
            total: 0,
            short: usize::MAX,
            long: usize::MAX,
            rest: Message::default(),
            is_sortable: false,
            has_preview: false,
        }
    }

    /// Appends a row to the table.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<Cell>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self.total = self.total.max(self.rows.len());
    }

    /// Lets readers sort the rows.
    #[must_use]
    pub fn sortable(mut self) -> Self {
        self.is_sortable = true;
        self
    }

    /// Limits the number of rows: on screens and pages of text, and on interactive pages.
    #[must_use]
    pub fn limited(mut self, short: usize, long: usize) -> Self {
        (self.short, self.long) = (short, long);
        self
    }

    /// Returns the table with names of at most this many letters, of which no two different ones
    /// look alike.
    #[must_use]
    pub(crate) fn with_short_names(&self, longest: usize) -> Cow<'_, Self> {
        let fits = |name: &str| name.chars().count() <= longest;
        let mut short = Cow::Borrowed(self);
        for at in 0..self.columns.len() {
            let cells = self.rows.iter().filter_map(|row| row.get(at));
            let cells: Vec<&Cell> = cells.filter(|cell| cell.is_name()).collect();
            let names: Vec<&str> = cells.iter().map(|cell| cell.text.text.as_str()).collect();
            if names.iter().all(|name| fits(name)) {
                continue;
            }

            let mut texts = shorten_all(&names, &fits).into_iter();
            let rows = short.to_mut().rows.iter_mut();
            let cells = rows.filter_map(|row| row.get_mut(at));
            for (cell, text) in cells.filter(|cell| cell.is_name()).zip(&mut texts) {
                if let Some(value) = cell.text.values.first_mut() {
                    value.text.clone_from(&text);
                }
                cell.text.text = text;
            }
        }
        short
    }

    /// Removes the columns in which all rows are alike, except for the first. Returns their headings
    /// with the cell that all rows have. A table with one row keeps its columns.
    pub(crate) fn remove_constant_columns(&mut self) -> Vec<(Message, Cell)> {
        let mut removed = Vec::new();
        if self.rows.len() < 2 {
            return removed;
        }
        for at in (1..self.columns.len()).rev() {
            let mut cells = self.rows.iter().filter_map(|row| row.get(at));
            let Some(first) = cells.next() else { continue };
            if cells.all(|cell| cell == first) {
                let heading = self.columns.remove(at).heading;
                let cells = self.rows.iter_mut().map(|row| row.remove(at));
                removed.extend(cells.last().map(|cell| (heading, cell)));
            }
        }
        removed.reverse();
        removed
    }

    /// Sets the number of all rows, in the table or not.
    #[must_use]
    pub fn of(mut self, total: usize) -> Self {
        self.total = total;
        self
    }
}

impl Column {
    fn new(key: impl Into<Message>, kind: ColumnKind) -> Self {
        let heading = key.into();
        Self {
            key: heading.text.clone(),
            heading,
            kind,
            spare: 0,
        }
    }

    /// Returns the column that names the rows.
    pub fn name(key: impl Into<Message>) -> Self {
        Self::new(key, ColumnKind::Name)
    }

    /// Returns a column of numbers.
    pub fn number(key: impl Into<Message>) -> Self {
        Self::new(key, ColumnKind::Number)
    }

    /// Returns a column of a few words.
    pub fn words(key: impl Into<Message>) -> Self {
        Self::new(key, ColumnKind::Words)
    }

    /// Returns a column of labels, which may be long.
    pub fn label(key: impl Into<Message>) -> Self {
        Self::new(key, ColumnKind::Label)
    }

    /// Returns a column of sentences.
    pub fn sentence(key: impl Into<Message>) -> Self {
        Self::new(key, ColumnKind::Sentence)
    }

    /// Returns a column of bars.
    pub fn bar(key: impl Into<Message>) -> Self {
        Self::new(key, ColumnKind::Bar)
    }

    /// Sets the heading that readers see.
    #[must_use]
    pub fn headed(mut self, heading: impl Into<Message>) -> Self {
        self.heading = heading.into();
        self
    }

    /// Sets the order in which the column is dropped where there is no room.
    #[must_use]
    pub fn spare(mut self, spare: u8) -> Self {
        self.spare = spare;
        self
    }
}

impl Cell {
    /// Returns a bar: a part of a whole.
    #[must_use]
    pub fn bar(part: Ns, whole: Ns) -> Self {
        Self {
            text: Message::default(),
            look: Look::Bar(part, whole, None),
        }
    }

    /// Returns a bar in the color of a cause of idle time.
    #[must_use]
    pub fn bar_of_cause(cause: Cause, part: Ns, whole: Ns) -> Self {
        Self {
            text: Message::default(),
            look: Look::Bar(part, whole, Some(cause)),
        }
    }

    /// Returns a cell with a verdict.
    pub fn verdict(text: impl Into<Message>, tone: Tone) -> Self {
        Self {
            text: text.into(),
            look: Look::Verdict(tone),
        }
    }

    /// Returns a cell with a cause of idle time.
    #[must_use]
    pub fn cause(cause: Cause) -> Self {
        Self {
            text: cause.label().into(),
            look: Look::Cause(cause),
        }
    }

    /// Returns the value that the text is, if it is nothing else.
    pub fn only_value(&self) -> Option<&Value> {
        match self.text.values.as_slice() {
            [only] if only.text == self.text.text => Some(&only.value),
            _ => None,
        }
    }

    /// Returns whether the text is a name from a recording and nothing else.
    pub fn is_name(&self) -> bool {
        self.only_value().is_some_and(Value::is_name)
    }

    /// Returns the number to sort by; `None` if the cell has no number or it is not known.
    pub fn sort_value(&self) -> Option<f64> {
        match self.look {
            Look::Ranked(rank) | Look::Finding(_, _, rank) => Some(f64::from(rank)),
            _ => number(&self.text.values.first()?.value),
        }
    }

    /// Returns whether the cell has a verdict that a reader should look into.
    pub fn asks_for_reason(&self) -> bool {
        matches!(self.look, Look::Verdict(Tone::Bad | Tone::Doubtful))
    }
}

impl<T: Into<Message>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self {
            text: text.into(),
            look: Look::Plain,
        }
    }
}

/// Returns the number of a value, if it has one.
fn number(value: &Value) -> Option<f64> {
    match *value {
        Value::Time { ns } | Value::Moment { ns } => Some(ns.float()),
        Value::SignedTime { ns } => Some(ns.float()),
        Value::Count { count } => Some(count.float()),
        Value::Bytes { bytes } => Some(bytes.float()),
        Value::Share { share: number }
        | Value::Change { change: number }
        | Value::Points { points: number }
        | Value::Factor { factor: number }
        | Value::Number { number }
        | Value::Bandwidth { gb_per_s: number }
        | Value::Throughput {
            tflop_per_s: number,
        } => Some(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_columns_are_removed() {
        let check = |rows: &[[&'static str; 3]], left: &[&str], removed: &[(&str, &str)]| {
            let columns = ["trace", "verdict", "busy"].map(Column::words);
            let mut table = Table::new("t", "", columns.into());
            rows.iter().for_each(|&row| table.row(row));
            let found = table.remove_constant_columns();
            let found: Vec<(&str, &str)> = found
                .iter()
                .map(|(heading, cell)| (heading.text.as_str(), cell.text.text.as_str()))
                .collect();
            assert_eq!(found, removed, "{rows:?}");
            let headings = table
                .columns
                .iter()
                .map(|column| column.heading.text.as_str());
            assert_eq!(headings.collect::<Vec<_>>(), left, "{rows:?}");
            assert!(table.rows.iter().all(|row| row.len() == left.len()));
        };
        check(
            &[["a", "x", "1"], ["b", "x", "2"]],
            &["trace", "busy"],
            &[("verdict", "x")],
        );
        check(
            &[["a", "x", "1"], ["a", "x", "1"]],
            &["trace"],
            &[("verdict", "x"), ("busy", "1")],
        );
        check(&[["a", "x", "1"]], &["trace", "verdict", "busy"], &[]);
        check(&[], &["trace", "verdict", "busy"], &[]);
    }
}
