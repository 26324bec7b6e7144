//! `report.md`: a report filled into `templates/report.md`.
//!
//! Every text is escaped unless the template itself wrote it, so that a kernel
//! called `a | b` or `<img …>` stays a name.

use anyhow::Context;
use metalens_analyzer::Report;
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, Error, Output, State, context};

use super::escape::in_markdown;
use super::words::{add_words, plain_contents};

const TEMPLATE: &str = include_str!("../../../../templates/report.md");

/// A picture that a page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Which chart it is.
    pub(crate) chart: String,
    /// Where it lies, seen from the page.
    pub(crate) path: String,
    /// What it shows, in words.
    pub(crate) alt: String,
}

/// A report as Markdown, with what pictures there are; ends with a newline.
pub(crate) fn markdown(report: &Report, pictures: &[Shown]) -> anyhow::Result<String> {
    let mut pages = Environment::new();
    pages.set_auto_escape_callback(|_| AutoEscape::Custom("markdown"));
    pages.set_formatter(escaped);
    pages.set_keep_trailing_newline(true);
    add_words(&mut pages);
    pages.add_filter("verdict", verdict_word);
    pages
        .add_template("report.md", TEMPLATE)
        .context("templates/report.md is broken")?;
    let charts = pictures.iter().map(|one| {
        let (path, alt) = (one.path.as_str(), one.alt.as_str());
        (one.chart.as_str(), context! { path, alt })
    });
    let context = context! {
        charts => Value::from_iter(charts),
        ..plain_contents(report)
    };
    let page = pages
        .get_template("report.md")
        .and_then(|page| page.render(context));
    page.context("cannot fill templates/report.md")
}

/// Writes a value so that Markdown shows it and does not obey it.
pub(super) fn escaped(
    out: &mut Output<'_>,
    state: &State<'_, '_>,
    value: &Value,
) -> Result<(), Error> {
    if state.auto_escape() == AutoEscape::None || value.is_safe() {
        return minijinja::escape_formatter(out, state, value);
    }
    let Some(text) = value.as_str() else {
        return match value.is_none() || value.is_undefined() {
            true => Ok(()),
            false => write_all(out, &value.to_string()),
        };
    };
    write_all(out, &in_markdown(text))
}

fn write_all(out: &mut Output<'_>, text: &str) -> Result<(), Error> {
    out.write_str(text).map_err(Error::from)
}

pub(super) fn verdict_word(verdict: &str) -> Value {
    let word = match verdict {
        "pass" => "PASS",
        "fail" => "**FAIL**",
        _ => "not measurable",
    };
    Value::from_safe_string(word.to_owned())
}
