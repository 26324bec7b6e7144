//! A report or a comparison as a comment on a pull request, and as a job summary:
//! the verdict first, and never longer than GitHub takes.
//!
//! The texts are in `templates/comment-report.md` and `comment-comparison.md`, cut into
//! sections by lines like `=== kernels 4 rows`: a name, how soon it is left out where
//! there is too much (0: never; else the highest first), and whether it has rows that
//! can be left out instead.

mod charts;
mod comparison;
mod fit;
mod report;

use anyhow::Context;
use metalens_analyzer::Report;
use metalens_comparison::Comparison;
use minijinja::value::Value;
use minijinja::{Environment, Output, State, context};

use super::escape::{as_code, clipped, in_html};
use super::markdown::{escaped, verdict_word};
use super::words::{COMMENT, add_words};
use fit::{Section, fitted};

/// What a comment may be long, in bytes. GitHub says 65,536 characters; others found
/// that it counts bytes, and takes four times as many. Bytes are never fewer than
/// characters or UTF-16 units, so this keeps whichever limit holds, and leaves room for
/// the addresses that `gh` writes into a body.
pub(crate) const COMMENT_LIMIT: usize = 60_000;
/// What a step's job summary may be long, in bytes: 1 MiB, less what frames it.
pub(crate) const SUMMARY_LIMIT: usize = 1_000_000;
/// Charts in a comment: more are not looked at.
pub(crate) const REPORT_CHARTS: [&str; 4] = ["timeline", "idle", "kernels", "gaps"];
/// A longer name is clipped: nobody reads it to its end, and a report has thousands.
const LONGEST_NAME: usize = 120;
/// A longer sentence is clipped.
const LONGEST_TEXT: usize = 700;

/// What is posted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Subject<'a> {
    /// What `analyze -o` wrote. Redacted already, where names are not to be shown.
    Report(&'a Report),
    /// What `compare -o` wrote.
    Comparison(&'a Comparison),
}

/// How it is posted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dress {
    /// What the comment is called.
    pub(crate) key: String,
    /// The commit that was recorded: hexadecimal digits.
    pub(crate) commit: Option<String>,
    /// The charts; without any, such are made of characters.
    pub(crate) pictures: Vec<Picture>,
    /// How many charts the folder has.
    pub(crate) charts: usize,
    /// Links at the end: a text of ours, and an address.
    pub(crate) links: Vec<(String, String)>,
    /// Whether folders are shown.
    pub(crate) show_names: bool,
}

/// A chart that has an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Picture {
    /// Which chart it is.
    pub(crate) chart: String,
    /// What it shows, in words.
    pub(crate) alt: String,
    /// How wide it is shown, pixels.
    pub(crate) width: u32,
    /// Where it is.
    pub(crate) source: PictureSource,
}

/// Where a chart is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PictureSource {
    /// At these addresses.
    Addresses { light: String, dark: Option<String> },
    /// A file that `gh` attaches: it looks for a picture of Markdown with this path.
    Attached(String),
}

/// What a comment of this name begins with.
pub(crate) fn marker(key: &str) -> String {
    format!("<!-- metalens:{key} -->")
}

/// The text, at most so many bytes long; ends with a newline.
pub(crate) fn comment(subject: Subject<'_>, dress: &Dress, limit: usize) -> anyhow::Result<String> {
    let (template, contents) = match subject {
        Subject::Report(report) => (report::TEMPLATE, report::contents(report, &dress.pictures)),
        Subject::Comparison(compared) => (
            comparison::TEMPLATE,
            comparison::contents(compared, &dress.pictures, dress.show_names),
        ),
    };
    let shared = shared(dress);
    let contents = context! { ..shared, ..contents };
    let rows_of = |name: &str| match subject {
        Subject::Report(report) => report::rows_of(report, name),
        Subject::Comparison(compared) => comparison::rows_of(compared, name),
    };
    let sections = fit::sections(template, &rows_of)?;
    let pages = environment(&sections)?;
    let render = |section: &Section<'_>, rows: usize, left_out: &[&str]| {
        let page = pages.get_template(section.name)?;
        page.render(context! { rows, left_out, ..contents.clone() })
    };
    let page = fitted(&sections, limit, &render).context("cannot write the comment")?;
    Ok(tidy(&page))
}

/// What both kinds of comments are filled from.
fn shared(dress: &Dress) -> Value {
    let links = dress.links.iter().map(|(text, url)| {
        context! { text, url => Value::from_safe_string(url.clone()) }
    });
    context! {
        marker => Value::from_safe_string(marker(&dress.key)),
        commit => dress.commit.clone().map(Value::from_safe_string),
        links => links.collect::<Vec<_>>(),
        charts_of => context! { shown => dress.pictures.len(), all => dress.charts },
        version => env!("CARGO_PKG_VERSION"),
    }
}

fn environment<'a>(sections: &[Section<'a>]) -> anyhow::Result<Environment<'a>> {
    let mut pages = Environment::new();
    pages.set_auto_escape_callback(|_| COMMENT);
    pages.set_formatter(clipped_and_escaped);
    pages.set_keep_trailing_newline(true);
    add_words(&mut pages);
    pages.add_filter("verdict", verdict_word);
    let safe = Value::from_safe_string;
    pages.add_filter("code", move |name: &str| {
        safe(as_code(&clipped(name, LONGEST_NAME)))
    });
    pages.add_filter("html", move |text: &str| {
        safe(in_html(&clipped(text, LONGEST_NAME)))
    });
    pages.add_filter("max", |list: Vec<u64>| list.into_iter().max().unwrap_or(0));
    for section in sections {
        pages
            .add_template(section.name, section.source)
            .with_context(|| {
                format!("section {} of a comment's template is broken", section.name)
            })?;
    }
    Ok(pages)
}

/// What no template wrote is text, and not endless.
fn clipped_and_escaped(
    out: &mut Output<'_>,
    state: &State<'_, '_>,
    value: &Value,
) -> Result<(), minijinja::Error> {
    match value.as_str() {
        Some(text) if !value.is_safe() && text.len() > LONGEST_TEXT => escaped(
            out,
            state,
            &Value::from(clipped(text, LONGEST_TEXT).into_owned()),
        ),
        _ => escaped(out, state, value),
    }
}

/// Without the empty lines that absent parts leave behind. In none of our blocks of
/// code are there two in a row.
fn tidy(page: &str) -> String {
    let mut tidy = String::with_capacity(page.len());
    let mut empty = 0;
    for line in page.lines() {
        empty = if line.trim().is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            tidy.push_str(line.trim_end());
            tidy.push('\n');
        }
    }
    tidy
}
