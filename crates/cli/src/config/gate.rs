//! Parses the section `[gate]` of `metalens.toml`, which `docs/gating.md` explains.
//!
//! ```toml
//! [gate.metrics]
//! "window.span_ns" = { grow = "5%" }                     # relative to base, beyond noise
//! "gaps.median_ns" = { max = "200us", severity = "warn" } # absolute
//! "busy.ratio" = { min = "80%" }
//! "gaps.mean_ns" = { range = "10%" }                     # base's range and a margin
//!
//! [gate.kernels]                                         # the longest pattern that matches counts
//! "*" = { grow = "5%", of = "median", share = "1%" }
//! "matmul*" = { grow = "3%", max = "40us", optional = true } # no miss if it is not there
//! ```

use std::collections::BTreeMap;

use anyhow::Context;
use metalens_analyzer::message;
use metalens_analyzer::message::path;
use metalens_comparison::{
    Gate, GateSeverity, KernelFigure, KernelLimit, Limit, MetricLimit, Unit, metric_ids,
};
use metalens_failure::did_you_mean;
use serde::Deserialize;

use super::value::{Value, ratio};
use crate::args::shared::nanoseconds;

/// The contents of the section.
#[derive(Debug, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "the tables [gate.metrics] and [gate.kernels]"
)]
pub(super) struct Section {
    metrics: BTreeMap<String, Limits>,
    kernels: BTreeMap<String, Limits>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "rules in braces, such as { grow = \"5%\" }"
)]
struct Limits {
    max: Option<Value>,
    min: Option<Value>,
    grow: Option<Value>,
    shrink: Option<Value>,
    range: Option<Value>,
    severity: GateSeverity,
    optional: bool,
    of: Option<KernelFigure>,
    share: Option<Value>,
}

impl Section {
    /// Returns the gate of this section, or the error of its first invalid limit.
    pub(super) fn gate(self, source: &str) -> anyhow::Result<Gate> {
        let metrics = self.metrics.into_iter().map(|(id, limits)| {
            let failed = format!("{source}: gate.metrics.{id:?}");
            metric(id, limits).context(failed)
        });
        let kernels = self.kernels.into_iter().map(|(pattern, limits)| {
            let failed = format!("{source}: gate.kernels.{pattern:?}");
            kernel(pattern, limits).context(failed)
        });

        let gate = Gate {
            source: message!("[gate] of {}", path(source)),
            metrics: metrics.collect::<anyhow::Result<_>>()?,
            kernels: kernels.collect::<anyhow::Result<_>>()?,
        };
        anyhow::ensure!(
            !gate.metrics.is_empty() || !gate.kernels.is_empty(),
            "{source}: [gate] has no limits; add one, or remove the section for the default limits"
        );
        Ok(gate)
    }
}

/// Returns the limit for a figure of the report.
fn metric(id: String, limits: Limits) -> anyhow::Result<MetricLimit> {
    anyhow::ensure!(
        limits.of.is_none() && limits.share.is_none(),
        "`of` and `share` are only for kernels"
    );

    let mut metric = MetricLimit {
        id,
        limit: Limit::default(),
    };
    let unit = metric.unit().with_context(|| unknown_figure(&metric.id))?;
    metric.limit = limit(limits, unit)?;
    Ok(metric)
}

/// Explains that no figure has this id, and names the nearest one that exists.
fn unknown_figure(id: &str) -> String {
    let meant = did_you_mean(id, metric_ids());
    format!("unknown figure; {meant}`metalens gate ids` lists all")
}

/// Returns the limit for the kernels whose names match a pattern.
fn kernel(pattern: String, mut limits: Limits) -> anyhow::Result<KernelLimit> {
    let figure = limits.of.unwrap_or(KernelFigure::Total);
    let share = limits.share.take();
    Ok(KernelLimit {
        pattern,
        figure,
        share: share.map_or(Ok(0.0), |share| ratio(&share.text()))?,
        limit: limit(limits, figure.unit())?,
    })
}

/// Parses the values of a limit. Refuses one without any.
fn limit(limits: Limits, unit: Unit) -> anyhow::Result<Limit> {
    let value = |text: Option<Value>| text.map(|text| value(&text.text(), unit)).transpose();
    let share = |text: Option<Value>| text.map(|text| growth(&text.text())).transpose();
    let limit = Limit {
        max: value(limits.max)?,
        min: value(limits.min)?,
        grow: share(limits.grow)?,
        shrink: share(limits.shrink)?,
        range: share(limits.range)?,
        severity: limits.severity,
        optional: limits.optional,
    };

    let all = [limit.max, limit.min, limit.grow, limit.shrink, limit.range];
    anyhow::ensure!(
        all.iter().any(Option::is_some),
        "this entry has no limit: write max, min, grow, shrink or range"
    );
    Ok(limit)
}

/// Parses a value into the unit of its figure.
#[expect(clippy::cast_precision_loss, reason = "a limit has few digits")]
fn value(text: &str, unit: Unit) -> anyhow::Result<f64> {
    match unit {
        Unit::Ns => Ok(nanoseconds(text).map_err(anyhow::Error::msg)? as f64),
        Unit::Ratio => ratio(text),
        Unit::Count => {
            let count: u64 = text
                .parse()
                .ok()
                .with_context(|| format!("`{text}` is not a whole number"))?;
            Ok(count as f64)
        }
    }
}

/// Parses `5%`, `150%` or `0.05`. Refuses a bare number above 1, which may be meant in percent or
/// as a factor.
fn growth(text: &str) -> anyhow::Result<f64> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent
            .trim_end()
            .parse()
            .ok()
            .map(|value: f64| value / 100.0),
        None => text.parse().ok().filter(|value| *value <= 1.0),
    };

    share
        .filter(|value| value.is_finite() && *value >= 0.0)
        .with_context(|| format!("`{text}` is not a share: write 5% or 0.05"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_a_percentage_or_at_most_one() {
        let cases = [
            ("5%", Some(0.05)),
            ("150 %", Some(1.5)),
            ("0.05", Some(0.05)),
            ("0", Some(0.0)),
            ("5", None),
            ("-5%", None),
            ("inf", None),
            ("NaN%", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(growth(text).ok(), expected, "{text}");
        }
    }

    /// Checks that the error, or else the debug text of the gate, contains `expected`.
    fn check(toml: &str, expected: &str) {
        let section: Result<Section, _> = toml::from_str(toml);
        let actual = match section {
            Err(error) => error.to_string(),
            Ok(section) => match section.gate("x.toml") {
                Ok(gate) => format!("{gate:?}"),
                Err(error) => format!("{error:#}"),
            },
        };
        assert!(actual.contains(expected), "{toml}\n{actual}");
    }

    #[test]
    fn the_documented_example_is_valid_and_uses_every_kind_of_limit() {
        const PAGE: &str = include_str!("../../../../docs/gating.md");
        let (_, example) = PAGE.split_once("```toml\n").unwrap();
        let (example, _) = example.split_once("```").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("metalens.toml");
        std::fs::write(&file, example).unwrap();
        let gate = super::super::gate(None, Some(&file)).unwrap();

        let limits = gate.metrics.iter().map(|metric| metric.limit);
        let limits: Vec<Limit> = limits
            .chain(gate.kernels.iter().map(|kernel| kernel.limit))
            .collect();
        let uses = |kind: fn(&Limit) -> bool| assert!(limits.iter().any(kind), "{limits:?}");
        uses(|limit| limit.max.is_some());
        uses(|limit| limit.min.is_some());
        uses(|limit| limit.grow.is_some());
        uses(|limit| limit.shrink.is_some());
        uses(|limit| limit.range.is_some());
        uses(|limit| limit.optional);
        uses(|limit| limit.severity == GateSeverity::Warn);
        assert!(gate.kernels.iter().any(|kernel| kernel.share > 0.0));
        let other_figure = |kernel: &KernelLimit| kernel.figure != KernelFigure::Total;
        assert!(gate.kernels.iter().any(other_figure));
    }

    #[test]
    fn the_default_gate_is_as_documented() {
        let default = format!("{:?}", Gate::default());
        assert_eq!(default.matches("grow: Some(0.05)").count(), 3, "{default}");
        assert_eq!(default.matches("grow: Some(0.1)").count(), 2, "{default}");
    }

    #[test]
    fn limits_are_parsed_or_refused_with_the_reason() {
        check(
            "metrics = { \"gaps.median_ns\" = { max = \"200us\" } }",
            "max: Some(200000.0)",
        );
        check(
            "metrics = { \"busy.ratio\" = { min = \"80%\" } }",
            "min: Some(0.8)",
        );
        check(
            "metrics = { \"counts.intervals\" = { max = 7 } }",
            "max: Some(7.0)",
        );
        check(
            "kernels = { \"a*\" = { grow = 0.1, severity = \"warn\" } }",
            "severity: Warn",
        );
        check(
            "kernels = { \"a*\" = { grow = 0.1, of = \"median\" } }",
            "figure: Median",
        );
        check(
            "kernels = { \"a*\" = { grow = 0.1, optional = true } }",
            "optional: true",
        );
        check("", "has no limit");
        check("kernels = { \"a\" = {} }", "no limit: write max");
        check(
            "metrics = { \"gaps.median_ns\" = { max = 200 } }",
            "a time needs a unit",
        );
        check(
            "metrics = { \"gaps.median\" = { max = \"2us\" } }",
            "unknown figure; did you mean `gaps.median_ns`? `metalens gate ids` lists all",
        );
        check(
            "metrics = { \"#\" = { max = 1 } }",
            "unknown figure; `metalens gate ids` lists all",
        );
        check(
            "metrics = { \"busy.busy_ns\" = \"2%\" }",
            "expected rules in braces, such as { grow = \"5%\" }",
        );
        check("metrics = 5", "a map");
        check(
            "metrics = { \"gaps.count\" = { max = [1] } }",
            "a number, or text with a unit",
        );
        check(
            "metrics = { \"gaps.count\" = { max = 1, share = 0.1 } }",
            "only for kernels",
        );
        check(
            "metrics = { \"gaps.count\" = { most = 1 } }",
            "unknown field `most`",
        );
        check("kernels = { \"a\" = { grow = \"5\" } }", "is not a share");
    }
}
