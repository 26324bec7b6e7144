//! `report.md`: a report filled into `templates/report.md`.
//!
//! Every text is escaped unless the template itself wrote it, so that a kernel
//! called `a | b` or `<img …>` stays a name.

use anyhow::Context;
use metalens_analyzer::units::{bytes, count, percent, time};
use metalens_analyzer::{Finding, Report, Unit};
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, Error, Output, State, context};

use crate::words;

const TEMPLATE: &str = include_str!("../../../../templates/report.md");

/// A report as Markdown; ends with a newline.
pub(crate) fn markdown(report: &Report) -> anyhow::Result<String> {
    let mut pages = Environment::new();
    pages.set_auto_escape_callback(|_| AutoEscape::Custom("markdown"));
    pages.set_formatter(escaped);
    pages.set_keep_trailing_newline(true);
    add_words(&mut pages);
    pages
        .add_template("report.md", TEMPLATE)
        .context("templates/report.md is broken")?;
    let context = context! {
        idle_parts => idle_parts(report),
        opportunities => opportunities(report),
        has_quiet_notes => report.notes.iter().any(|note| !is_loud(note)),
        findings => findings(report),
        travels => travels(report),
        how => words::how(report.target.how),
        version => env!("CARGO_PKG_VERSION"),
        ..Value::from_serialize(report)
    };
    let page = pages
        .get_template("report.md")
        .and_then(|page| page.render(context));
    page.context("cannot fill templates/report.md")
}

/// The ledger's parts that are not nothing, the largest first.
fn idle_parts(report: &Report) -> Value {
    let parts = report.ledger.parts.in_words().into_iter();
    let parts = parts.map(|(cause, ns, words)| context! { cause, ns, words });
    parts.collect()
}

/// The ways of the work that the recording tells the length of.
fn travels(report: &Report) -> Value {
    let latency = &report.latency;
    let rows = [
        ("commit → GPU start", latency.start),
        ("GPU end → completion", latency.completion),
        ("commit → next commit", latency.commit_cadence),
        ("encoding", latency.encode),
    ];
    let rows = rows.into_iter().filter(|(_, found)| found.is_some());
    let rows = rows.map(|(name, found)| context! { name, found => Value::from_serialize(found) });
    rows.collect()
}

/// The findings, their evidence as sentences.
fn findings(report: &Report) -> Value {
    let told = report.findings.iter().map(|finding| Finding {
        evidence: words::evidence(finding, report),
        ..finding.clone()
    });
    Value::from_serialize(told.collect::<Vec<_>>())
}

/// Findings that could gain time, the most first.
fn opportunities(report: &Report) -> Value {
    let gain = |finding: &&Finding| finding.gain.map_or(0, |gain| gain.at_most_ns);
    let mut best: Vec<&Finding> = report.findings.iter().filter(|one| gain(one) > 0).collect();
    best.sort_by_key(|one| std::cmp::Reverse(gain(one)));
    Value::from_serialize(best)
}

/// Writes a value so that Markdown shows it and does not obey it.
fn escaped(out: &mut Output<'_>, state: &State<'_, '_>, value: &Value) -> Result<(), Error> {
    if state.auto_escape() == AutoEscape::None || value.is_safe() {
        return minijinja::escape_formatter(out, state, value);
    }
    let Some(text) = value.as_str() else {
        return match value.is_none() || value.is_undefined() {
            true => Ok(()),
            false => write_all(out, &value.to_string()),
        };
    };
    write_all(out, &escape(text))
}

fn write_all(out: &mut Output<'_>, text: &str) -> Result<(), Error> {
    out.write_str(text).map_err(Error::from)
}

/// Marks of Markdown and HTML as plain characters; all on one line.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '|' | '[' | ']' | '#' | '~' => {
                escaped.push('\\');
                escaped.push(letter);
            }
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            _ if letter.is_control() => escaped.push(' '),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// The words that the template uses: numbers as people read them.
fn add_words(pages: &mut Environment<'_>) {
    let nothing = || "-".to_owned();
    pages.add_filter("time", move |ns: Option<i64>| {
        ns.map_or_else(nothing, signed_time)
    });
    pages.add_filter("moment", |ns: u64| words::moment(ns));
    pages.add_filter("bytes", |number: u64| bytes(number));
    pages.add_filter("count", |number: u64| count(number));
    pages.add_filter("percent", move |share: Option<f64>| {
        share.map_or_else(nothing, percent)
    });
    pages.add_filter("share", |part: u64, whole: u64| words::share(part, whole));
    pages.add_filter("factor", |factor: f64| format!("{factor:.1}"));
    pages.add_filter("fixed", |number: f64, digits: usize| {
        format!("{number:.digits$}")
    });
    pages.add_filter("valued", |value: Option<f64>, unit: &str| {
        target_value(value, unit)
    });
    pages.add_filter("verdict", |verdict: &str| verdict_word(verdict));
    pages.add_filter("range", |bucket: Value| range(&bucket));
    pages.add_filter("known", |list: Vec<Value>| -> Value {
        list.into_iter().filter(|one| !one.is_none()).collect()
    });
    pages.add_test("loud", is_loud);
}

fn signed_time(ns: i64) -> String {
    let length = time(ns.unsigned_abs());
    if ns < 0 { format!("-{length}") } else { length }
}

fn target_value(value: Option<f64>, unit: &str) -> String {
    let unit = if unit == "ns" { Unit::Ns } else { Unit::Ratio };
    value.map_or_else(|| "-".to_owned(), |value| words::valued(value, unit))
}

fn verdict_word(verdict: &str) -> Value {
    let word = match verdict {
        "pass" => "PASS",
        "fail" => "**FAIL**",
        _ => "not measurable",
    };
    Value::from_safe_string(word.to_owned())
}

/// `5.000 µs – 20.00 µs`, of a bucket.
fn range(bucket: &Value) -> String {
    let edge = |name: &str| {
        bucket
            .get_attr(name)
            .ok()
            .and_then(|ns| u64::try_from(ns).ok())
    };
    let from = edge("from_ns").unwrap_or(0);
    match edge("to_ns") {
        Some(to) if from == 0 => format!("below {}", time(to)),
        Some(to) => format!("{} – {}", time(from), time(to)),
        None => format!("{} and longer", time(from)),
    }
}

/// Notes that change what every number means begin with a word in capitals.
fn is_loud(note: &str) -> bool {
    crate::screen::report::is_loud(note)
}
