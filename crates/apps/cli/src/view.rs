//! Chooses what is printed of a document: the first screen, all of it, or sections, rows and a unit.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;

use clap::{Args, ValueEnum};
use metalens_failure::did_you_mean;
use metalens_render::document::{Document, Table, Unknown};
use metalens_render::{csv, json, markdown, terminal};
use serde::Serialize;

use crate::exit::Misuse;
use crate::out;

/// The part of a document that is printed, and its form.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "What is printed")]
pub(crate) struct View {
    /// Print every section [default: the most important, on one screen]
    #[arg(long, conflicts_with_all = ["json", "sections"])]
    pub(crate) full: bool,
    /// Print this section, such as kernels or idle
    #[arg(
        long = "section",
        value_name = "NAME",
        value_delimiter = ',',
        conflicts_with = "json"
    )]
    pub(crate) sections: Vec<String>,
    /// Print at most this many rows of each table, and findings
    #[arg(long, value_name = "N", conflicts_with = "json")]
    pub(crate) top: Option<usize>,
    /// Sort the rows by this column, such as total, med or name
    #[arg(long, value_name = "COLUMN", conflicts_with = "json")]
    pub(crate) sort: Option<String>,
    /// Format of the sections: csv needs --section
    #[arg(long, value_enum, default_value_t, conflicts_with = "json")]
    pub(crate) format: SectionFormat,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SectionFormat {
    /// Text for people
    #[default]
    Text,
    /// Comma-separated values, exact; times in nanoseconds
    Csv,
}

impl View {
    /// Returns whether a table is printed as CSV.
    pub(crate) fn is_csv(&self) -> bool {
        self.format == SectionFormat::Csv
    }

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
        Ok(csv::table(table, &mut out::data())?)
    }
}

/// Prints a value as JSON.
pub(crate) fn print_json(value: &(impl Serialize + ?Sized)) -> anyhow::Result<()> {
    Ok(out::json().write_all(json::document(value)?.as_bytes())?)
}

/// Prints a document as Markdown, or as text.
pub(crate) fn print(document: &Document, is_markdown: bool) -> anyhow::Result<()> {
    let text = page_text(document, is_markdown);
    Ok(out::page().write_all(text.as_bytes())?)
}

/// Returns a document as it is printed: as Markdown, or as the text of a terminal.
pub(crate) fn page_text(document: &Document, is_markdown: bool) -> String {
    if is_markdown {
        markdown::page(document, &[])
    } else {
        terminal::text(document, out::width())
    }
}

/// Returns the format that was asked for, else the one of the file's extension; `endings` has those that name
/// one, and `help` says them.
pub(crate) fn format_of_file<F: Copy + PartialEq>(
    file: &Path,
    asked: Option<F>,
    endings: &[(&str, F)],
    help: &str,
) -> Result<F, Misuse> {
    let ending = file.extension().map(OsStr::to_ascii_lowercase);
    let known = endings
        .iter()
        .find(|(known, _)| ending.as_deref() == Some(OsStr::new(known)));
    let shown = file.display();
    match (asked, known.map(|(_, format)| *format)) {
        (Some(asked), Some(known)) if asked != known => Err(Misuse(format!(
            "the extension of {shown} contradicts --format: change one of them"
        ))),
        (None, None) => Err(Misuse(format!("{shown} does not end in {help}"))),
        (Some(format), _) | (None, Some(format)) => Ok(format),
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
