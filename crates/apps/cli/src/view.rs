//! Chooses what is printed of a document: the first screen, all of it, or sections, rows and a unit.

use metalens_failure::did_you_mean;
use metalens_render::document::{Document, ShownUnit, Table, Unknown};
use metalens_render::{csv, markdown, terminal};

use crate::exit::Misuse;
use crate::out;

/// The part of a document that is printed, and its form.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// True to print every section.
    pub(crate) full: bool,
    /// Names of the sections to print. Empty for the first screen, or all.
    pub(crate) sections: Vec<String>,
    /// Rows of each table to print at most.
    pub(crate) top: Option<usize>,
    /// Heading of the column to sort rows by.
    pub(crate) sort: Option<String>,
    /// True to print a table as CSV.
    pub(crate) is_csv: bool,
    /// Unit of all times.
    pub(crate) unit: Option<ShownUnit>,
}

impl View {
    /// Returns whether the first screen is wanted, and neither all sections nor some by name.
    pub(crate) fn is_brief(&self) -> bool {
        !self.full && self.sections.is_empty()
    }

    /// Leaves the chosen sections and rows of a document, in their order and unit. `what` names the
    /// document in errors.
    pub(crate) fn choose(&self, document: &mut Document, what: &str) -> Result<(), Misuse> {
        if !self.sections.is_empty() {
            document
                .keep(&self.sections)
                .map_err(|unknown| misnamed(what, "section", &unknown))?;
        }
        if let Some(column) = &self.sort {
            document
                .sort(column)
                .map_err(|unknown| misnamed(what, "column", &unknown))?;
        }
        if let Some(rows) = self.top {
            document.limit(rows);
        }
        // CSV has exact numbers in the unit: it needs no other text.
        if let (Some(unit), false) = (self.unit, self.is_csv) {
            document.in_unit(unit);
        }
        Ok(())
    }

    /// Prints the only table of the chosen sections as CSV.
    pub(crate) fn print_csv(&self, mut document: Document, what: &str) -> anyhow::Result<()> {
        let sections = document.sections.iter();
        let with_table = sections.filter(|section| section.tables().count() == 1);
        let names: Vec<&str> = with_table.map(|section| section.id).collect();
        self.choose(&mut document, what)?;

        let tables: Vec<&Table> = document.tables().collect();
        let [table] = tables.as_slice() else {
            return Err(Misuse(format!(
                "--format csv prints one table: choose it with --section and one of {}",
                names.join(", ")
            ))
            .into());
        };
        let unit = self.unit.unwrap_or(ShownUnit::Ns);
        Ok(csv::table(table, unit, &mut out::data())?)
    }
}

/// Returns a document as it is printed: as Markdown, or as the text of a terminal.
pub(crate) fn page_text(document: &Document, is_markdown: bool) -> String {
    if is_markdown {
        markdown::page(document, &[])
    } else {
        terminal::text(document, out::width())
    }
}

/// Returns the error of a name that no section or column has.
fn misnamed(document: &str, what: &str, unknown: &Unknown) -> Misuse {
    let meant = did_you_mean(&unknown.name, unknown.known.iter().map(String::as_str));
    Misuse(format!(
        "the {document} has no {what} {}; {meant}it has {}",
        unknown.name,
        unknown.known.join(", ")
    ))
}
