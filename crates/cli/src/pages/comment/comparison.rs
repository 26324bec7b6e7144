//! What a comment on a comparison is filled from.

use metalens_analyzer::units::time;
use metalens_comparison::{Comparison, GateVerdict, Number};
use minijinja::context;
use minijinja::value::Value;

use super::{Picture, charts};
use crate::bars::bar;
use crate::pages::comparison::{self, Form};
use crate::unbroken;

pub(super) const TEMPLATE: &str = include_str!("../../../../../templates/comment-comparison.md");
const FORM: Form = Form {
    kernels: 400,
    limits: 60,
    number: unbroken::number,
};
/// What is drawn where there is no picture: how long it took, and what of that was work.
const DRAWN: [&str; 3] = ["window.span_ns", "busy.busy_ns", "gaps.total_ns"];

pub(super) fn contents(compared: &Comparison, pictures: &[Picture], show_names: bool) -> Value {
    let contents = comparison::contents(compared, show_names, None, FORM);
    let rows_of = contents.get_attr("rows").unwrap_or_default();
    let sides = [&compared.base, &compared.new];
    context! {
        // Of one run a side there is no range.
        has_ranges => sides.iter().any(|side| side.runs.len() > 1),
        charts => charts::charts(pictures, &[("compare", bars(compared))]),
        kernel_count => compared.kernels.len(),
        // `rows` is how many of them a section shows.
        rows_of,
        ..contents
    }
}

/// How many rows a section could show.
pub(super) fn rows_of(compared: &Comparison, section: &str) -> usize {
    let limits = compared.gate.iter().flat_map(|gate| &gate.rows);
    let open = limits.filter(|row| row.verdict != GateVerdict::Pass);
    match section {
        "gate" => open.count().min(FORM.limits),
        "kernel_list" => compared.kernels.len().min(FORM.kernels),
        _ => 0,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "lengths of a chart: times are not negative, and below centuries"
)]
fn bars(compared: &Comparison) -> Option<String> {
    let ns = |value: Number| value.get().max(0.0).round() as u64;
    let found = DRAWN.iter().filter_map(|id| {
        let metric = compared.metrics.iter().find(|metric| metric.id == *id)?;
        let (base, new) = (metric.change.base.median?, metric.change.new.median?);
        Some((metric.name.as_str(), ns(base), ns(new)))
    });
    let found: Vec<(&str, u64, u64)> = found.collect();
    let longest = found.iter().map(|&(_, base, new)| base.max(new)).max()?;
    let line = |name: &str, side: &str, ns: u64| {
        (
            name.to_owned(),
            side.to_owned(),
            time(ns),
            bar(ns, longest, 32),
        )
    };
    let rows = found
        .iter()
        .flat_map(|&(name, base, new)| [line(name, "base", base), line("", "new", new)]);
    charts::table(rows.collect())
}
