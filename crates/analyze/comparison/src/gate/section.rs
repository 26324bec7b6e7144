//! Parses the section `[gate]` of a settings file, which `docs/gating.md` explains.
//!
//! ```text
//! [gate]
//! runs = 3                                               # of each side, at least
//! work-may-change = true                                 # amounts of work only warn
//!
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

use metalens_failure::did_you_mean;
use metalens_message::written::{Written, growth, nanoseconds, share};
use metalens_message::{message, path};
use metalens_text::number::Float;
use serde::Deserialize;

use super::{Gate, GateSeverity, KernelFigure, KernelLimit, Limit, MetricLimit};
use crate::metrics::{metrics, unit_of};
use crate::unit::Unit;

/// Contents of the section `[gate]` of a settings file.
#[derive(Debug, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "the tables [gate.metrics] and [gate.kernels], runs and work-may-change"
)]
pub struct GateSection {
    runs: Option<usize>,
    #[serde(rename = "work-may-change")]
    may_change_work: bool,
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
    max: Option<Written>,
    min: Option<Written>,
    grow: Option<Written>,
    slower: Option<Written>,
    shrink: Option<Written>,
    range: Option<Written>,
    severity: GateSeverity,
    optional: bool,
    of: Option<KernelFigure>,
    share: Option<Written>,
    instances: Option<Written>,
}

impl GateSection {
    /// Returns the gate of this section. `source` names its file.
    ///
    /// # Errors
    ///
    /// Returns the key of the first invalid limit, and why it is, in words.
    pub fn gate(self, source: &str) -> Result<Gate, String> {
        let metrics = self.metrics.into_iter().map(|(id, limits)| {
            let place = format!("{source}: gate.metrics.{id:?}");
            metric(id, limits).map_err(|why| format!("{place}: {why}"))
        });
        let kernels = self
            .kernels
            .into_iter()
            .map(|(pattern, limits)| {
                let place = format!("{source}: gate.kernels.{pattern:?}");
                kernel(&pattern, limits).map_err(|why| format!("{place}: {why}"))
            })
            .collect::<Result<Vec<_>, _>>()?;

        let gate = Gate {
            source: message!("[gate] of {}", path(source)),
            metrics: metrics.collect::<Result<_, _>>()?,
            kernels: kernels.into_iter().flatten().collect(),
            runs: self.runs,
            may_change_work: self.may_change_work,
            until_decided: false,
            allow_inconclusive: false,
        };
        if gate.runs == Some(0) {
            return Err(format!("{source}: gate.runs: a side has at least one run"));
        }
        if gate.metrics.is_empty() && gate.kernels.is_empty() {
            if gate.may_change_work {
                let source = message!(
                    "the default limits, with work-may-change of {}",
                    path(source)
                );
                return Ok(Gate {
                    source,
                    metrics: Gate::default().metrics,
                    kernels: Gate::default().kernels,
                    ..gate
                });
            }
            return Err(format!(
                "{source}: [gate] has no limits; add one, or remove the section for the default \
                 limits"
            ));
        }
        Ok(gate)
    }
}

/// Returns the limit for a figure of the report.
fn metric(id: String, limits: Limits) -> Result<MetricLimit, String> {
    if limits.of.is_some() || limits.share.is_some() || limits.instances.is_some() {
        return Err("`of`, `share` and `instances` are only for kernels".to_owned());
    }
    let unit = unit_of(&id).ok_or_else(|| {
        let meant = did_you_mean(&id, metrics().map(|metric| metric.id));
        format!("unknown figure; {meant}`metalens baseline figures` lists all")
    })?;
    Ok(MetricLimit {
        id,
        limit: with_rules(limit(limits, unit)?)?,
        steps: None,
    })
}

/// Returns the limits for the kernels whose names match a pattern: of their number, if `instances` says
/// by how much it may change, and of one figure.
fn kernel(pattern: &str, mut limits: Limits) -> Result<Vec<KernelLimit>, String> {
    let figure = limits.of.unwrap_or(KernelFigure::Total);
    let least = limits.share.take();
    let share = least.map_or(Ok(0.0), |least| share(&least.text()))?;
    let of = |figure: KernelFigure, limit: Limit| KernelLimit {
        pattern: pattern.to_owned(),
        figure,
        share,
        limit,
        is_of_as_many_steps: false,
    };

    let by = limits.instances.take().map(|by| growth(&by.text()));
    let count = by.transpose()?.map(|by| Limit {
        grow: Some(by),
        shrink: Some(by).filter(|by| *by < 1.0),
        severity: limits.severity,
        optional: limits.optional,
        ..Limit::default()
    });
    let own = limit(limits, figure.unit())?;
    let own = match &count {
        Some(_) => Some(own).filter(Limit::has_rules),
        None => Some(with_rules(own)?),
    };
    let own = own.map(|limit| of(figure, limit));
    let count = count.map(|limit| of(KernelFigure::Instances, limit));
    Ok(own.into_iter().chain(count).collect())
}

/// Parses the values of a limit.
fn limit(limits: Limits, unit: Unit) -> Result<Limit, String> {
    let value = |text: Option<Written>| text.map(|text| value(&text.text(), unit)).transpose();
    let by = |text: Option<Written>| text.map(|text| growth(&text.text())).transpose();
    let limit = Limit {
        max: value(limits.max)?,
        min: value(limits.min)?,
        grow: by(limits.grow)?,
        slower: by(limits.slower)?,
        shrink: by(limits.shrink)?,
        range: by(limits.range)?,
        severity: limits.severity,
        optional: limits.optional,
    };

    if limit.shrink.is_some_and(|share| share >= 1.0) {
        return Err("`shrink` can never fail: nothing shrinks by more than 100 %".to_owned());
    }
    Ok(limit)
}

/// Refuses a limit without any rule.
fn with_rules(limit: Limit) -> Result<Limit, String> {
    let why = "this entry has no limit: write max, min, grow, slower, shrink or range, or instances for kernels";
    Some(limit)
        .filter(Limit::has_rules)
        .ok_or_else(|| why.to_owned())
}

/// Parses a value into the unit of its figure.
fn value(text: &str, unit: Unit) -> Result<f64, String> {
    match unit {
        Unit::Ns => Ok(nanoseconds(text)?.float()),
        Unit::Ratio => share(text),
        Unit::Bytes => Ok(bytes(text)?.float()),
        Unit::Count => {
            let count = text
                .parse::<u64>()
                .map_err(|_| format!("`{text}` is not a whole number"))?;
            Ok(count.float())
        }
    }
}

/// Parses an amount of memory, such as `4096` or `64 MiB`.
fn bytes(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u32); 4] = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("B", 0)];
    let unit = UNITS.into_iter().find(|(unit, _)| text.ends_with(unit));
    let (unit, shift) = unit.unwrap_or(("", 0));
    let digits = text.strip_suffix(unit).unwrap_or(text).trim_end();
    let number = digits.parse::<u64>().ok();
    let bytes = number.and_then(|number| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| format!("`{text}` is not an amount of memory, such as \"64 MiB\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the error, or else the debug text of the gate, contains `expected`.
    fn check(toml: &str, expected: &str) {
        let section: Result<GateSection, _> = toml::from_str(toml);
        let actual = match section {
            Err(error) => error.to_string(),
            Ok(section) => match section.gate("x.toml") {
                Ok(gate) => format!("{gate:?}"),
                Err(why) => why,
            },
        };
        assert!(actual.contains(expected), "{toml}\n{actual}");
    }

    #[test]
    fn the_documented_example_is_valid_and_uses_every_kind_of_limit() {
        const PAGE: &str = include_str!("../../../../../docs/gating.md");
        #[derive(Deserialize)]
        struct SettingsFile {
            gate: GateSection,
        }
        let (_, example) = PAGE.split_once("```toml\n").unwrap();
        let (example, _) = example.split_once("```").unwrap();
        let file: SettingsFile = toml::from_str(example).unwrap();
        let gate = file.gate.gate("metalens.toml").unwrap();

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
        for (limit, times) in [
            ("slower: Some(0.05)", 3),
            ("grow: Some(0.05)", 3),
            ("grow: Some(0.1)", 1),
            ("grow: Some(0.0)", 3),
            ("shrink: Some(0.02)", 3),
        ] {
            assert_eq!(default.matches(limit).count(), times, "{limit}: {default}");
        }
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
        check(
            "kernels = { \"a*\" = { instances = \"2%\" } }",
            "figure: Instances, share: 0.0, limit: Limit { max: None, min: None, grow: Some(0.02), \
             slower: None, shrink: Some(0.02)",
        );
        check(
            "kernels = { \"a*\" = { max = \"1ms\", instances = \"2%\" } }",
            "figure: Total",
        );
        check(
            "metrics = { \"gaps.count\" = { max = 1, instances = \"2%\" } }",
            "only for kernels",
        );
        check("work-may-change = true", "may_change_work: true");
        check(
            "runs = 3\nmetrics = { \"gaps.count\" = { max = 1 } }",
            "runs: Some(3)",
        );
        check(
            "runs = 0\nmetrics = { \"gaps.count\" = { max = 1 } }",
            "at least one run",
        );
        check("metrics = { \"gaps.count\" = { max = 1 } }", "runs: None");
        for shrink in ["100%", "150%", "1.0"] {
            check(
                &format!("metrics = {{ \"busy.ratio\" = {{ shrink = \"{shrink}\" }} }}"),
                "can never fail",
            );
        }
        check(
            "metrics = { \"busy.ratio\" = { shrink = \"99%\" } }",
            "shrink: Some(0.99)",
        );
        check("", "has no limit");
        check("kernels = { \"a\" = {} }", "no limit: write max");
        check(
            "metrics = { \"gaps.median_ns\" = { max = 200 } }",
            "a time needs a unit",
        );
        check(
            "metrics = { \"gaps.median\" = { max = \"2us\" } }",
            "unknown figure; did you mean `gaps.median_ns`? `metalens baseline figures` lists all",
        );
        check(
            "metrics = { \"#\" = { max = 1 } }",
            "unknown figure; `metalens baseline figures` lists all",
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
