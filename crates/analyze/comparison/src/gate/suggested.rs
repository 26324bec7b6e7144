//! Writes the section `[gate]` of a settings file for a baseline.

use metalens_analyzer::Figure;

use super::{Gate, GateSeverity, KernelFigure, KernelLimit, Limit, MetricLimit};
use crate::baseline::Baseline;
use crate::change::STEADY;
use crate::metric_changes::OWN;
use crate::metrics::metrics;
use crate::runs::KernelRuns;
use crate::sentences;
use crate::statistics::median_of_known;
use crate::unit::Unit;
use metalens_analyzer::Number;

/// Returns a settings file with a limit for each figure and kernel of a baseline. The limits of the
/// default gate are in force; the others are comments.
#[must_use]
pub fn suggested_gate(baseline: &Baseline) -> String {
    let runs = &baseline.runs;
    let default = Gate::default();
    let mut text = format!(
        "# Limits for `metalens compare --baseline FILE RUN... --gate`, from a baseline of {} runs.\n\
         # Remove the # of a line to put its limit into force. docs/gating.md explains the rules.\n\n\
         [gate.metrics]\n",
        runs.count()
    );
    let has_steps = runs.values(OWN).iter().any(Option::is_some);
    for &Figure { id, name, unit, .. } in metrics() {
        let values = runs.metrics.get(id);
        if let Some(shown) = values.and_then(|values| range(values, unit)) {
            if values.is_some_and(|values| is_wide(values)) {
                text.push_str(&format!(
                    "# {name}: {shown}, which varies too much for a limit\n"
                ));
                continue;
            }
            let mut own = default.metrics.iter().filter(|active| active.id == id);
            let active = own.find(|active| active.steps.is_none_or(|steps| steps == has_steps));
            text.push_str(&metric_lines(id, &format!("{name}: {shown}"), unit, active));
        }
    }

    text.push_str("\n[gate.kernels]\n");
    let of = |figure: KernelFigure| {
        default
            .kernels
            .iter()
            .find(|kernel| kernel.figure == figure)
    };
    let (Some(active), Some(count)) = (of(KernelFigure::Median), of(KernelFigure::Instances))
    else {
        return text;
    };
    let sums = runs.metrics.get("busy.sum_ns");
    let sum = sums.and_then(|sum| median_of_known(sum));
    let total = |kernel: &KernelRuns| median_of_known(&kernel.total_ns).unwrap_or(0.0);
    let mut kernels: Vec<&KernelRuns> = runs.kernels.iter().collect();
    kernels.sort_by(|a, b| total(b).total_cmp(&total(a)));

    let mut seen: Vec<&str> = Vec::new();
    for kernel in kernels {
        // One name may be on several channels, and one limit is for all of them.
        if seen.contains(&kernel.name.as_str()) {
            continue;
        }
        seen.push(&kernel.name);
        let is_large = sum.is_none_or(|sum| total(kernel) >= sum * active.share);
        text.push_str(&kernel_lines(kernel, active, count, is_large));
    }
    text
}

/// Returns the limit for a figure, under a comment with its values. It is a comment itself, unless
/// it is active.
fn metric_lines(id: &str, shown: &str, unit: Unit, active: Option<&MetricLimit>) -> String {
    let (mark, rules) = match (active, unit) {
        (Some(active), _) => ("", rules(&active.limit)),
        (None, Unit::Count) => ("# ", "grow = \"2%\", shrink = \"2%\"".to_owned()),
        // Less of a busy share is worse, more of a time.
        (None, Unit::Ratio) => ("# ", "shrink = \"10%\"".to_owned()),
        (None, Unit::Ns | Unit::Bytes) => ("# ", "grow = \"10%\"".to_owned()),
    };
    format!("# {shown}\n{mark}{} = {{ {rules} }}\n", key(id))
}

/// Returns the limit for a kernel, under a comment with its values. It is a comment itself, unless
/// the kernel is large.
fn kernel_lines(
    kernel: &KernelRuns,
    time_limit: &KernelLimit,
    count_limit: &KernelLimit,
    is_large: bool,
) -> String {
    let mark = if is_large { "" } else { "# " };
    let shown: Vec<String> = [
        ("median", range(&kernel.med_ns, Unit::Ns)),
        ("total", range(&kernel.total_ns, Unit::Ns)),
        ("instances", range(&kernel.instances, Unit::Count)),
    ]
    .into_iter()
    .filter_map(|(what, range)| Some(format!("{what} {}", range?)))
    .collect();
    format!(
        "# {}\n{mark}{} = {{ {}, of = \"{}\", instances = \"{:.0}%\" }}\n",
        shown.join(", "),
        key(&kernel.name),
        rules(&time_limit.limit),
        time_limit.figure.name(),
        count_limit.limit.grow.unwrap_or(0.0) * 100.0
    )
}

/// Returns the relative rules of a limit, as a settings file has them.
fn rules(limit: &Limit) -> String {
    let rules = [
        ("grow", limit.grow),
        ("slower", limit.slower),
        ("shrink", limit.shrink),
    ];
    let rules = rules.into_iter().filter_map(|(name, share)| {
        let percent = share? * 100.0;
        Some(format!("{name} = \"{percent:.0}%\""))
    });
    let warns = limit.severity == GateSeverity::Warn;
    let warns = warns.then(|| "severity = \"warn\"".to_owned());
    rules.chain(warns).collect::<Vec<String>>().join(", ")
}

/// Returns the median of the values, and their range if they differ.
fn range(values: &[Option<Number>], unit: Unit) -> Option<String> {
    let known = || values.iter().flatten().map(|value| value.get());
    let shown = |value: f64| Some(sentences::value(Number::new(value)?, unit).text);
    let (low, high) = (
        shown(known().min_by(f64::total_cmp)?)?,
        shown(known().max_by(f64::total_cmp)?)?,
    );
    let middle = shown(median_of_known(values)?)?;
    Some(if low == high {
        middle
    } else {
        format!("{middle} ({low} to {high})")
    })
}

/// Returns whether values are so far apart, or on both sides of 0, that no limit can be judged.
fn is_wide(values: &[Option<Number>]) -> bool {
    let known = || values.iter().flatten().map(|value| value.get());
    let ends = known()
        .min_by(f64::total_cmp)
        .zip(known().max_by(f64::total_cmp));
    ends.is_some_and(|(least, most)| most > least * (1.0 + STEADY))
}

/// Returns a quoted key. The escapes of JSON are escapes of TOML, which also wants one for DEL.
fn key(name: &str) -> String {
    let quoted = serde_json::Value::from(name).to_string();
    quoted.replace('\u{7f}', "\\u007f")
}
