//! What pages are filled with: parts of a report in the order people read them,
//! and numbers as people read them.

use metalens_analyzer::units::{bytes, count, percent, time};
use metalens_analyzer::{Finding, Report, Unit, is_loud};
use minijinja::value::Value;
use minijinja::{Environment, context};

use crate::words;

/// What every page is filled from: the report, and what is sorted out of it.
pub(super) fn contents(report: &Report) -> Value {
    context! {
        idle_parts => idle_parts(report),
        opportunities => opportunities(report),
        has_quiet_notes => report.notes.iter().any(|note| !is_loud(note)),
        findings => findings(report),
        travels => travels(report),
        how => words::how(report.target.how),
        version => env!("CARGO_PKG_VERSION"),
        ..Value::from_serialize(report)
    }
}

/// The words that templates use: numbers as people read them.
pub(super) fn add_words(pages: &mut Environment<'_>) {
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
