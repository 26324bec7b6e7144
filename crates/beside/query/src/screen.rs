//! Formats answers and the description of the tables for the terminal.

use metalens_dataset::TableInfo;
use metalens_query::{Cell, QueryAnswer};
use metalens_text::columns::{Align, Columns, shorten};
use metalens_text::{Style, shown};

/// Longest text in a table: a column of longer texts would push all others off the screen.
const WIDEST: usize = 60;

/// Draws an answer as aligned columns, with the number of rows that are not shown.
pub(crate) fn table(answer: &QueryAnswer, rows: usize) -> String {
    let names = answer.columns().map(|(name, is_number)| {
        let align = if is_number { Align::Right } else { Align::Left };
        (shown(name), align)
    });
    let names: Vec<_> = names.collect();
    let headings: Vec<_> = names
        .iter()
        .map(|(name, align)| (&**name, *align))
        .collect();
    let mut columns = Columns::new(&headings);
    for row in 0..rows.min(answer.rows()) {
        columns.styled_row(answer.row(row).map(|cell| (text_of(&cell), Style::NONE)));
    }

    let mut text = columns.lines().join("\n") + "\n";
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
        let headings = ["column", "type", "unit", "meaning"];
        let mut columns = Columns::new(&headings.map(|heading| (heading, Align::Left)));
        for column in &table.columns {
            let cells = [column.name, column.kind.name(), column.unit, column.meaning];
            columns.styled_row(cells.map(|cell| (cell.to_owned(), Style::NONE)));
        }
        text.push_str(&(columns.lines().join("\n") + "\n"));
    }
    text
}

fn text_of(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Absent => "null".to_owned(),
        Cell::Integer(number) => number.to_string(),
        Cell::Number(number) => fraction(*number),
        Cell::Flag(flag) => flag.to_string(),
        Cell::Text(text) => shorten(&shown(text), WIDEST),
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

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

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
        let short = shorten(&long, WIDEST);
        assert!(
            short.starts_with("begin") && short.ends_with("end"),
            "{short}"
        );
        assert!(short.width() <= WIDEST);
    }
}
