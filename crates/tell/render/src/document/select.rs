//! Selects parts of a document: sections by name, rows by number and order.

use metalens_message::Message;

use super::{Block, Cell, Document, Section, Table};

/// A name that nothing in the document has, and the names that there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The name that was asked for.
    pub name: String,
    /// The names that there are.
    pub known: Vec<String>,
}

impl Document {
    /// Returns the names of the sections, in their order, each once.
    pub fn section_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for section in &self.sections {
            if !names.iter().any(|name| name == section.id) {
                names.push(section.id.to_owned());
            }
        }
        names
    }

    /// Keeps the sections with these names, in the order of the document.
    pub fn keep(&mut self, names: &[String]) -> Result<(), Unknown> {
        let known = self.section_names();
        if let Some(name) = names.iter().find(|name| !known.contains(name)) {
            return Err(Unknown {
                name: name.clone(),
                known,
            });
        }
        self.sections
            .retain(|section| names.iter().any(|name| name == section.id));
        Ok(())
    }

    /// Limits every table, and the findings, to their first rows.
    pub fn limit(&mut self, rows: usize) {
        let sections = self.sections.iter_mut();
        for block in sections.flat_map(|section| &mut section.blocks) {
            match block {
                Block::Table(table) => {
                    // What is said of the rows beyond the table's own limit is true of no other.
                    if table.short != rows {
                        table.rest = Message::default();
                    }
                    (table.short, table.long) = (rows, rows);
                }
                Block::Findings(findings) | Block::FirstSteps(findings) => findings.truncate(rows),
                _ => {}
            }
        }
    }

    /// Sorts the rows of each table that has a column of this key: the largest number first,
    /// names by their letters.
    pub fn sort(&mut self, column: &str) -> Result<(), Unknown> {
        let mut known = Vec::new();
        let mut is_found = false;
        for table in self.tables_mut().filter(|table| table.is_sortable) {
            let keys = table.columns.iter().map(|column| column.key.clone());
            let keys: Vec<String> = keys.collect();
            if let Some(at) = keys.iter().position(|key| key == column) {
                sort_rows(table, at);
                if let Some(column) = table.columns.get_mut(at) {
                    // What the reader asked for is shown wherever there is a screen.
                    column.spare = 0;
                }
                is_found = true;
            }
            known.extend(keys);
        }

        if is_found {
            return Ok(());
        }
        known.retain(|key| !key.is_empty());
        known.sort_unstable();
        known.dedup();
        Err(Unknown {
            name: column.to_owned(),
            known,
        })
    }

    /// Returns the tables, in their order.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.sections.iter().flat_map(Section::tables)
    }

    fn tables_mut(&mut self) -> impl Iterator<Item = &mut Table> {
        self.sections.iter_mut().flat_map(Section::tables_mut)
    }
}

/// Sorts rows by a column: the largest number first, rows without one last; texts by letters.
fn sort_rows(table: &mut Table, at: usize) {
    let value = |row: &Vec<Cell>| row.get(at).and_then(Cell::sort_value);
    let text = |row: &Vec<Cell>| row.get(at).map(|cell| cell.text.text.clone());
    let has_numbers = table.rows.iter().any(|row| value(row).is_some());
    if has_numbers {
        let rank = |row: &Vec<Cell>| value(row).unwrap_or(f64::NEG_INFINITY);
        table
            .rows
            .sort_by(|row, other| rank(other).total_cmp(&rank(row)));
    } else {
        table.rows.sort_by_key(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Column;
    use metalens_message::{Ns, kernel, time};

    fn document() -> Document {
        let columns = vec![Column::number("total"), Column::name("name")];
        let mut table = Table::new("kernels", "Kernels", columns).sortable();
        for (ns, name) in [(5_000, "copy"), (70_000, "add"), (900, "sin")] {
            table.row([time(Ns(ns)), kernel(name)]);
        }
        let section = |id| Section::new(id, id, 1);
        Document {
            sections: vec![
                section("gaps"),
                section("kernels").with(Block::Table(table)),
            ],
            ..Document::default()
        }
    }

    fn column(document: &Document, at: usize) -> Vec<&str> {
        let rows = document.tables().flat_map(|table| &table.rows);
        rows.map(|row| row[at].text.text.as_str()).collect()
    }

    #[test]
    fn sections_are_kept_by_name() {
        let mut some = document();
        some.keep(&["kernels".to_owned()]).unwrap();
        assert_eq!(some.section_names(), ["kernels"]);
        let unknown = document().keep(&["kernel".to_owned()]).unwrap_err();
        assert_eq!((unknown.name.as_str(), unknown.known.len()), ("kernel", 2));
    }

    #[test]
    fn rows_are_sorted_by_a_column() {
        let mut sorted = document();
        sorted.sort("total").unwrap();
        assert_eq!(column(&sorted, 1), ["add", "copy", "sin"]);
        sorted.sort("name").unwrap();
        assert_eq!(column(&sorted, 1), ["add", "copy", "sin"]);
        let unknown = sorted.sort("size").unwrap_err();
        assert_eq!(unknown.known, ["name", "total"]);
    }

    #[test]
    fn another_heading_breaks_no_screen() {
        let mut renamed = document();
        for table in renamed.tables_mut() {
            let columns = table.columns.iter_mut();
            columns.for_each(|column| column.heading = "what readers see".into());
        }
        renamed.sort("total").unwrap();
        assert_eq!(column(&renamed, 1), ["add", "copy", "sin"]);
        for table in renamed.tables_mut() {
            crate::first_screen::keep_columns(table, &["name"]);
        }
        assert_eq!(column(&renamed, 0), ["add", "copy", "sin"]);
        let mut csv = Vec::new();
        let table = renamed.tables().next().unwrap();
        crate::csv::table(table, &mut csv).unwrap();
        assert_eq!(String::from_utf8(csv).unwrap().lines().next(), Some("name"));
    }
}
