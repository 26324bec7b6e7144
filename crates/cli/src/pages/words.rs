//! What pages are filled with: parts of a report in the order people read them,
//! and numbers as people read them.

use metalens_analyzer::units::{bytes, count, moment, percent, time};
use metalens_analyzer::{Finding, Report, Unit};
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, State, context};

use crate::{unbroken, words};

/// What a page of HTML is filled from: in its sentences numbers and their units
/// stay on one line.
pub(super) fn contents(report: &Report) -> Value {
    plain_contents(&unbroken::report(report))
}

/// What every page is filled from: the report, and what is sorted out of it.
pub(super) fn plain_contents(report: &Report) -> Value {
    context! {
        idle_parts => idle_parts(report),
        opportunities => opportunities(report),
        loud_notes => report.loud_notes().map(|note| note.text).collect::<Vec<_>>(),
        quiet_notes => report.quiet_notes().map(|note| note.text).collect::<Vec<_>>(),
        findings => findings(report),
        travels => travels(report),
        how => words::how(report.process.chosen_by),
        version => env!("CARGO_PKG_VERSION"),
        ..Value::from_serialize(report)
    }
}

/// The words that templates use: numbers as people read them.
pub(super) fn add_words(pages: &mut Environment<'_>) {
    let nothing = || "-".to_owned();
    pages.add_filter("time", move |state: &State<'_, '_>, ns: Option<i128>| {
        ns.map_or_else(nothing, |ns| fit(state, signed_time(ns)))
    });
    pages.add_filter("moment", |ns: u64| moment(ns));
    pages.add_filter("bytes", |state: &State<'_, '_>, number: u64| {
        fit(state, bytes(number))
    });
    pages.add_filter("count", |number: u64| count(number));
    pages.add_filter(
        "percent",
        move |state: &State<'_, '_>, share: Option<f64>| {
            share.map_or_else(nothing, |share| fit(state, percent(share)))
        },
    );
    pages.add_filter("share", |state: &State<'_, '_>, part: u64, whole: u64| {
        fit(state, words::share(part, whole))
    });
    pages.add_filter("factor", |factor: f64| format!("{factor:.1}"));
    pages.add_filter("fixed", |number: f64, digits: usize| {
        format!("{number:.digits$}")
    });
    pages.add_filter(
        "valued",
        |state: &State<'_, '_>, value: Option<f64>, unit: &str| {
            fit(state, target_value(value, unit))
        },
    );
    pages.add_filter("range", |state: &State<'_, '_>, bucket: Value| {
        range(&bucket, |ns| fit(state, time(ns)))
    });
    pages.add_filter("known", |list: Vec<Value>| -> Value {
        list.into_iter().filter(|one| !one.is_none()).collect()
    });
}

/// How a comment is escaped: as Markdown, but its tables are narrow.
pub(super) const COMMENT: AutoEscape = AutoEscape::Custom("comment");

/// A number as the page can take it: held together in HTML and in comments.
fn fit(state: &State<'_, '_>, number: String) -> String {
    match state.auto_escape() {
        AutoEscape::Html | COMMENT => unbroken::number(&number),
        _ => number,
    }
}

/// Tells a time of a report, which is a `u64` or an `i64`.
fn signed_time(ns: i128) -> String {
    let length = time(u64::try_from(ns.unsigned_abs()).unwrap_or(u64::MAX));
    if ns < 0 { format!("-{length}") } else { length }
}

fn target_value(value: Option<f64>, unit: &str) -> String {
    let unit = if unit == "ns" { Unit::Ns } else { Unit::Ratio };
    value.map_or_else(|| "-".to_owned(), |value| words::valued(value, unit))
}

/// The ledger's parts that are not nothing, the largest first.
fn idle_parts(report: &Report) -> Value {
    let parts = report.idle.parts.largest_first().into_iter();
    let parts = parts.map(|(cause, ns)| {
        context! { cause, ns, label => cause.label(), words => cause.explanation() }
    });
    parts.collect()
}

/// The ways of the work that the recording tells the length of.
fn travels(report: &Report) -> Value {
    let latency = &report.latency;
    let rows = [
        ("commit → GPU start", latency.submission),
        ("GPU end → completion", latency.completion),
        ("commit → next commit", latency.commit_interval),
        ("encoding", latency.encoding),
    ];
    let rows = rows.into_iter().filter(|(_, found)| found.is_some());
    let rows = rows.map(|(name, found)| context! { name, found => Value::from_serialize(found) });
    rows.collect()
}

/// The findings, their evidence as sentences.
fn findings(report: &Report) -> Value {
    let told = report.findings.iter().map(|finding| Finding {
        evidence: words::evidence(finding),
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

/// `5.000 µs – 20.00 µs`, of a bucket.
fn range(bucket: &Value, time: impl Fn(u64) -> String) -> String {
    let edge = |name: &str| {
        bucket
            .get_attr(name)
            .ok()
            .and_then(|ns| u64::try_from(ns).ok())
    };
    range_of(edge("from_ns").unwrap_or(0), edge("to_ns"), time)
}

/// The same of its edges.
pub(super) fn range_of(from: u64, to: Option<u64>, time: impl Fn(u64) -> String) -> String {
    match to {
        Some(to) if from == 0 => format!("below {}", time(to)),
        Some(to) => format!("{} – {}", time(from), time(to)),
        None => format!("{} and longer", time(from)),
    }
}
