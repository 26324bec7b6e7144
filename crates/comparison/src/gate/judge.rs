//! Which limits a comparison keeps, and by how much it misses the others.
//!
//! A relative limit (`grow`, `shrink`) is missed when the change is beyond it and
//! beyond noise: the interval excludes 0, and as long as the interval is the whole
//! range of differences, which it is of few runs, the sides are apart by as much as
//! the wider of them spreads. Three runs against three that are alike are in order
//! one time in ten; that far apart they are much less often. Without an interval
//! the figures alone decide.

use metalens_analyzer::units::percent;

use super::{
    Gate, GateResult, GateRow, GateVerdict, KernelFigure, KernelLimit, Limit, Rule, Severity,
};
use crate::change::Change;
use crate::compare::Comparison;
use crate::kernels::KernelChange;
use crate::metrics::Unit;
use crate::number::Number;
use crate::words;

/// Judges a comparison.
#[must_use]
pub fn judge(comparison: &Comparison, gate: &Gate) -> GateResult {
    let mut rows = Vec::new();
    for metric in &gate.metrics {
        let found = comparison.metrics.iter().find(|one| one.id == metric.id);
        let subject = Subject {
            what: &metric.id,
            channel: None,
            of: None,
            unit: metric.unit().unwrap_or(Unit::Count),
            change: found.map(|one| &one.change),
        };
        subject.judge(&metric.limit, &mut rows);
    }
    for kernel in &comparison.kernels {
        if let Some(limit) = limit_of(kernel, &gate.kernels) {
            of_kernel(kernel, limit).judge(&limit.limit, &mut rows);
        }
    }
    rows.extend(unmatched(comparison, gate));
    // Errors before warnings; the order of limits and of kernels holds among equals.
    rows.sort_by_key(|row| (row.verdict, row.severity == Severity::Warn));
    let is_error =
        |row: &GateRow| row.verdict == GateVerdict::Miss && row.severity == Severity::Error;
    GateResult {
        source: gate.source.clone(),
        missed: rows.iter().any(is_error),
        rows,
    }
}

/// Of the patterns that fit the longest; of equally long ones the first. One that is
/// for larger kernels is none for this.
fn limit_of<'a>(kernel: &KernelChange, limits: &'a [KernelLimit]) -> Option<&'a KernelLimit> {
    let mut best: Option<&KernelLimit> = None;
    for limit in limits {
        let is_longer = best.is_none_or(|best| limit.pattern.len() > best.pattern.len());
        if is_longer && fits(&limit.pattern, &kernel.name) {
            best = Some(limit);
        }
    }
    best.filter(|limit| kernel.share.unwrap_or(0.0) >= limit.share)
}

/// Whether a name is of a pattern, in which `*` stands for anything.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn of_kernel<'a>(kernel: &'a KernelChange, limit: &KernelLimit) -> Subject<'a> {
    Subject {
        what: &kernel.name,
        channel: kernel.channel.as_deref(),
        of: Some(limit.of),
        unit: limit.of.unit(),
        change: Some(match limit.of {
            KernelFigure::Total => &kernel.total_ns,
            KernelFigure::Median => &kernel.med_ns,
            KernelFigure::Instances => &kernel.instances,
        }),
    }
}

/// A limit that is for no kernel at all keeps nobody from anything: that is told.
fn unmatched(comparison: &Comparison, gate: &Gate) -> Vec<GateRow> {
    let mut rows = Vec::new();
    for limit in &gate.kernels {
        let mut kernels = comparison.kernels.iter();
        if limit.pattern == "*" || kernels.any(|kernel| fits(&limit.pattern, &kernel.name)) {
            continue;
        }
        let subject = Subject {
            what: &limit.pattern,
            channel: None,
            of: Some(limit.of),
            unit: limit.of.unit(),
            change: None,
        };
        subject.judge(&limit.limit, &mut rows);
    }
    rows
}

/// What a limit is for.
struct Subject<'a> {
    what: &'a str,
    channel: Option<&'a str>,
    of: Option<KernelFigure>,
    unit: Unit,
    change: Option<&'a Change>,
}

/// What was found: the value in the limit's unit, how far it is beyond, why that
/// does or does not count.
struct Found {
    value: f64,
    by: f64,
    is_miss: bool,
    why: String,
}

impl Subject<'_> {
    fn judge(&self, limit: &Limit, rows: &mut Vec<GateRow>) {
        let rules = [
            (Rule::Max, limit.max),
            (Rule::Min, limit.min),
            (Rule::Grow, limit.grow),
            (Rule::Shrink, limit.shrink),
            (Rule::Range, limit.range),
        ];
        for (rule, value) in rules {
            if let Some(value) = value.and_then(Number::of) {
                rows.push(self.row(rule, value, limit.severity));
            }
        }
    }

    fn row(&self, rule: Rule, limit: Number, severity: Severity) -> GateRow {
        let unit = match rule {
            Rule::Max | Rule::Min => self.unit,
            Rule::Grow | Rule::Shrink | Rule::Range => Unit::Ratio,
        };
        let found = self.found(rule, limit.get());
        let (verdict, why) = match &found {
            Ok(found) if found.is_miss => (GateVerdict::Miss, found.why.clone()),
            Ok(found) => (GateVerdict::Pass, found.why.clone()),
            Err(why) => (GateVerdict::NotMeasurable, (*why).to_owned()),
        };
        let found = found.ok();
        let by = found.as_ref().filter(|found| found.is_miss);
        GateRow {
            what: self.what.to_owned(),
            channel: self.channel.map(str::to_owned),
            of: self.of,
            rule,
            limit,
            by: by.and_then(|found| Number::of(found.by)),
            value: found.and_then(|found| Number::of(found.value)),
            unit,
            severity,
            verdict,
            why,
        }
    }

    fn found(&self, rule: Rule, limit: f64) -> Result<Found, &'static str> {
        let Some(change) = self.change else {
            return Err(match self.of {
                Some(_) => "no kernel of either side is called so",
                None => "neither side tells it",
            });
        };
        let absent = match (self.of, change.new.median) {
            (Some(_), None) => "new has no such kernel",
            (Some(_), Some(_)) => "base has no such kernel",
            (None, None) => "new does not tell it",
            (None, Some(_)) => "base does not tell it",
        };
        let now = change.new.median.ok_or(absent)?.get();
        if change.absolute.is_none() && !matches!(rule, Rule::Max | Rule::Min) {
            return Err(absent);
        }
        match rule {
            Rule::Max => Ok(self.absolute(now, now - limit)),
            Rule::Min => Ok(self.absolute(now, limit - now)),
            Rule::Grow => self.relative(change, limit, 1.0),
            Rule::Shrink => self.relative(change, limit, -1.0),
            Rule::Range => self.range(change, now, limit),
        }
    }

    fn absolute(&self, value: f64, by: f64) -> Found {
        let shown =
            Number::of(value).map_or_else(String::new, |value| words::value(value, self.unit));
        Found {
            value,
            by,
            is_miss: by > 0.0,
            why: format!("the median of new is {shown}"),
        }
    }

    /// `sign`: 1 if growing is what is limited, -1 if shrinking is.
    fn relative(&self, change: &Change, limit: f64, sign: f64) -> Result<Found, &'static str> {
        let by = change.absolute.ok_or("base does not tell it")?.get() * sign;
        let share = match change.relative {
            Some(share) => share * sign,
            None if by == 0.0 => 0.0,
            None => return Err("base is 0, and of nothing there is no share"),
        };
        let is_beyond = share > limit;
        let is_real = is_beyond_noise(change, sign);
        let became = words::became(change, self.unit).unwrap_or_default();
        let sure = words::sureness(change, self.unit);
        let sure = sure.map_or_else(
            || "; one run on a side cannot tell a change from noise".to_owned(),
            |sure| format!("; {sure}"),
        );
        let noise = match is_beyond && !is_real {
            true => "; within the noise of these runs",
            false => "",
        };
        Ok(Found {
            value: share,
            by: share - limit,
            is_miss: is_beyond && is_real,
            why: format!("{became}{sure}{noise}"),
        })
    }

    fn range(&self, change: &Change, now: f64, limit: f64) -> Result<Found, &'static str> {
        let most = change.base.max.ok_or("base does not tell it")?.get();
        let value = match now - most {
            by if by <= 0.0 => by.max(-most.abs()) / most.abs().max(f64::MIN_POSITIVE),
            _ if most == 0.0 => return Err("base is 0, and of nothing there is no share"),
            by => by / most.abs(),
        };
        let shown = |value: f64| {
            Number::of(value).map_or_else(String::new, |value| words::value(value, self.unit))
        };
        let side = if value > 0.0 { "above" } else { "not above" };
        Ok(Found {
            value,
            by: value - limit,
            is_miss: value > limit,
            why: format!(
                "the median of new is {}, {side} base's largest, {} ({})",
                shown(now),
                shown(most),
                percent(value.abs()),
            ),
        })
    }
}

/// Whether a change is more than the runs differ among themselves.
fn is_beyond_noise(change: &Change, sign: f64) -> bool {
    let Some(interval) = change.interval else {
        return true;
    };
    let (low, high) = (interval.low.get(), interval.high.get());
    let nearest = if sign > 0.0 { low } else { -high };
    let spread = [&change.base, &change.new].map(|side| side.range().unwrap_or(0.0));
    let is_whole_range = match (change.base.max, change.new.min) {
        (Some(most), Some(least)) if sign > 0.0 => least.get() - most.get() >= low,
        _ => match (change.base.min, change.new.max) {
            (Some(least), Some(most)) => most.get() - least.get() <= high,
            _ => false,
        },
    };
    match is_whole_range {
        true => nearest > 0.0 && nearest >= spread[0].max(spread[1]),
        false => nearest > 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Floor, Judge, Wish};

    #[test]
    fn patterns() {
        let cases = [
            ("*", "", true),
            ("*", "anything", true),
            ("matmul", "matmul", true),
            ("matmul", "matmul2", false),
            ("matmul*", "matmul_f16", true),
            ("*_f16", "matmul_f16", true),
            ("mat*_f*6", "matmul_f16", true),
            ("a*a", "a", false),
            ("a*b*a", "aba", true),
            ("", "", true),
            ("", "x", false),
            ("é*", "étude", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    fn verdict(rule: Rule, limit: f64, base: &[f64], new: &[f64]) -> (GateVerdict, Option<f64>) {
        let numbers = |values: &[f64]| {
            values
                .iter()
                .map(|&one| Number::of(one))
                .collect::<Vec<_>>()
        };
        let judge = Judge::new(Floor::default(), base.len(), new.len());
        let change = judge.change((&numbers(base), &numbers(new)), Unit::Count, Wish::Less);
        let subject = Subject {
            what: "x",
            channel: None,
            of: None,
            unit: Unit::Count,
            change: Some(&change),
        };
        let row = subject.row(rule, Number::of(limit).unwrap(), Severity::Error);
        (row.verdict, row.by.map(|by| (by.get() * 1e6).round() / 1e6))
    }

    #[test]
    fn limits() {
        use GateVerdict::{Miss, NotMeasurable, Pass};
        type Case<'a> = (Rule, f64, &'a [f64], &'a [f64], (GateVerdict, Option<f64>));
        let cases: [Case<'_>; 16] = [
            (Rule::Max, 10.0, &[1.0], &[10.0], (Pass, None)),
            (Rule::Max, 10.0, &[], &[12.0], (Miss, Some(2.0))),
            (Rule::Min, 10.0, &[1.0], &[7.0], (Miss, Some(3.0))),
            (Rule::Grow, 0.05, &[100.0], &[110.0], (Miss, Some(0.05))),
            (Rule::Grow, 0.05, &[100.0], &[105.0], (Pass, None)),
            (Rule::Grow, 0.05, &[0.0], &[1.0], (NotMeasurable, None)),
            (Rule::Grow, 0.0, &[0.0], &[0.0], (Pass, None)),
            (Rule::Grow, 0.05, &[], &[1.0], (NotMeasurable, None)),
            (Rule::Grow, 0.05, &[1.0], &[], (NotMeasurable, None)),
            (Rule::Shrink, 0.05, &[100.0], &[80.0], (Miss, Some(0.15))),
            // Beyond the limit and apart by 6, more than either spreads.
            (
                Rule::Grow,
                0.05,
                &[99.0, 100.0, 101.0],
                &[107.0, 108.0, 109.0],
                (Miss, Some(0.03)),
            ),
            // Beyond the limit and apart, but by 1 only where the sides spread by 10.
            (
                Rule::Grow,
                0.05,
                &[90.0, 95.0, 100.0],
                &[101.0, 106.0, 111.0],
                (Pass, None),
            ),
            // Of many runs the interval is no longer the whole range, and decides alone.
            (
                Rule::Shrink,
                0.05,
                &[101.0, 106.0, 111.0, 103.0, 104.0, 108.0],
                &[90.0, 95.0, 100.0, 92.0, 93.0, 97.0],
                (Miss, Some(0.055769)),
            ),
            (
                Rule::Range,
                0.05,
                &[90.0, 100.0, 80.0],
                &[103.0, 104.0, 105.0],
                (Pass, None),
            ),
            (
                Rule::Range,
                0.05,
                &[90.0, 100.0, 80.0],
                &[110.0, 112.0, 90.0],
                (Miss, Some(0.05)),
            ),
            (Rule::Range, 0.0, &[0.0], &[3.0], (NotMeasurable, None)),
        ];
        for (rule, limit, base, new, expected) in cases {
            let found = verdict(rule, limit, base, new);
            assert_eq!(found, expected, "{rule:?} {limit} {base:?} {new:?}");
        }
    }
}
