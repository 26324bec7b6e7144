//! Formats answers and the description of the tables for the terminal.

use metalens_dataset::TableInfo;
use metalens_query::{Cell, QueryAnswer};
use metalens_text::shown;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Longest text in a table: a column of longer texts would push all others off the screen.
const WIDEST: usize = 60;

/// Draws an answer as aligned columns, with the number of rows that are not shown.
pub(crate) fn table(answer: &QueryAnswer, rows: usize) -> String {
    let mut lines = vec![
        answer
            .columns()
            .map(|(name, _)| shown(name).into_owned())
            .collect(),
    ];
    for row in 0..rows.min(answer.rows()) {
        lines.push(
            answer
                .row(row)
                .map(|cell| text_of(&cell))
                .collect::<Vec<String>>(),
        );
    }

    let is_right: Vec<bool> = answer.columns().map(|(_, is_number)| is_number).collect();
    let mut text = aligned(&lines, &is_right);
    let more = answer.rows().saturating_sub(rows);
    if more > 0 {
        text.push_str(&format!(
            "  … {more} more rows: --rows shows more, --format csv or json all\n"
        ));
    }

    if answer.rows() == 0 {
        text.push_str("  no rows\n");
    }
    text
}

/// Describes the tables and their columns.
pub(crate) fn schema(tables: &[TableInfo]) -> String {
    let mut text = String::new();
    for (index, table) in tables.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        text.push_str(&format!("{}  {}\n", table.name, table.meaning));
        let mut lines = vec![
            ["column", "type", "unit", "meaning"]
                .map(str::to_owned)
                .to_vec(),
        ];
        for column in &table.columns {
            let cells = [column.name, column.kind.name(), column.unit, column.meaning];
            lines.push(cells.map(str::to_owned).to_vec());
        }
        text.push_str(&aligned(&lines, &[]));
    }
    text
}

/// Aligns lines of cells: each column is as wide as its widest cell, two spaces apart.
fn aligned(lines: &[Vec<String>], is_right: &[bool]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| cell.width()).max().unwrap_or(0)
        })
        .collect();

    let mut text = String::new();
    for line in lines {
        let mut drawn = String::new();
        for (index, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let padding = " ".repeat(width.saturating_sub(cell.width()));
            if is_right.get(index).copied().unwrap_or(false) {
                drawn.push_str(&format!("  {padding}{cell}"));
            } else {
                drawn.push_str(&format!("  {cell}{padding}"));
            }
        }
        text.push_str(drawn.trim_end());
        text.push('\n');
    }
    text
}

fn text_of(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Absent => "null".to_owned(),
        Cell::Integer(number) => number.to_string(),
        Cell::Number(number) => fraction(*number),
        Cell::Flag(flag) => flag.to_string(),
        Cell::Text(text) => shorten(&shown(text)),
    }
}

/// Formats a number with six decimal places, which is enough for people.
fn fraction(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude != 0.0 && !(1e-4..1e15).contains(&magnitude) {
        return format!("{number:.5e}");
    }
    let text = format!("{number:.6}");
    let text = text.trim_end_matches('0');
    text.strip_suffix('.').unwrap_or(text).to_owned()
}

/// Shortens a text in the middle, because labels differ at both ends.
fn shorten(text: &str) -> String {
    if text.width() <= WIDEST {
        return text.to_owned();
    }
    let half = (WIDEST - 1) / 2;
    let head = first_columns(text.chars(), half);
    let tail: String = first_columns(text.chars().rev(), half)
        .chars()
        .rev()
        .collect();
    format!("{head}…{tail}")
}

fn first_columns(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut used = 0;
    characters
        .take_while(|character| {
            used += character.width().unwrap_or(0);
            used <= width
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_short() {
        let cases = [
            (0.0, "0"),
            (0.5, "0.5"),
            (2.0, "2"),
            (100.0, "100"),
            (1.0 / 3.0, "0.333333"),
            (-1234.5678, "-1234.5678"),
            (1e-9, "1.00000e-9"),
            (3e20, "3.00000e20"),
        ];
        for (number, expected) in cases {
            assert_eq!(fraction(number), expected);
        }
    }

    #[test]
    fn long_texts_keep_both_ends() {
        let long = format!("begin{}end", "x".repeat(100));
        let short = shorten(&long);
        assert!(
            short.starts_with("begin") && short.ends_with("end"),
            "{short}"
        );
        assert!(short.width() <= WIDEST);
    }
}
