//! Who is unlike the others, and where groups go with time.
//!
//! Only like is compared with like: traces of one program on one GPU, and simulated ones
//! among themselves.

mod dates;
mod row;

use std::collections::BTreeMap;

use metalens_analyzer::message::{
    PlacedValue, Value, count, counted, name, number, path, percent, time,
};
use metalens_analyzer::{Message, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::number::Number;
use crate::outlying::outlying;
use crate::statistics::median;
use crate::trend::trend;
pub use row::{ROW_FORM, Row, RowFinding, RowFindings, RowGaps, RowIdle, RowKernel};

/// A trend is told if chance alone would show it less often than this.
const CHANCE: f64 = 0.05;
const DAY_MS: f64 = 86_400_000.0;

/// Traces of one program on one GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// `bench on Apple M1`: what outliers and trends refer to.
    pub name: String,
    /// The program.
    pub process: String,
    /// The GPU; null where the recordings do not say.
    pub gpu: Option<String>,
    /// Whether they were simulated.
    pub synthetic: bool,
    /// The folders of their reports.
    pub reports: Vec<String>,
}

/// A trace that is far from the others of its group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outlier {
    /// The folder of its report.
    pub report: String,
    /// Its group.
    pub group: String,
    /// In which figure.
    pub figure: Figure,
    /// Its value.
    pub value: Number,
    /// The median of the group.
    pub median: Number,
    /// The median distance from that.
    pub mad: Number,
    /// Its modified z-score; null where more than half of the values are equal.
    pub score: Option<Number>,
    /// All that in a sentence.
    pub says: String,
    /// Values of `says`, in the order in which they stand in it.
    #[serde(default)]
    pub says_values: Vec<PlacedValue>,
}

/// Where a figure of a group goes with time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrendFound {
    /// The group.
    pub group: String,
    /// Which figure.
    pub figure: Figure,
    /// How many dated traces there are.
    pub traces: u64,
    /// When the first began, ISO 8601.
    pub from: String,
    /// When the last began.
    pub to: String,
    /// How likely chance alone would show as much: Mann–Kendall, two-sided.
    pub p: Number,
    /// How fast it changes, by the day: Theil–Sen.
    pub slope_per_day: Number,
    /// The value of that line at the first trace.
    pub first: Number,
    /// And at the last.
    pub last: Number,
    /// Whether it is more than chance: p is below 0.05, and the change is worth a word.
    pub is_trend: bool,
    /// All that in a sentence.
    pub says: String,
    /// Values of `says`, in the order in which they stand in it.
    #[serde(default)]
    pub says_values: Vec<PlacedValue>,
}

/// A figure of a trace.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// The busy share of the window.
    Busy,
    /// The length of the window.
    Span,
    /// The mean gap.
    MeanGap,
    /// How many GPU intervals.
    Intervals,
}

impl Figure {
    const ALL: [Self; 4] = [Self::Busy, Self::Span, Self::MeanGap, Self::Intervals];

    #[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
    fn of(self, row: &Row) -> Option<f64> {
        match self {
            Self::Busy => row.busy_ratio,
            Self::Span => Some(row.span_ns as f64),
            Self::MeanGap => row.gaps.mean_ns.map(|ns| ns as f64),
            Self::Intervals => Some(row.intervals as f64),
        }
    }

    /// Returns the figure in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Span => "window",
            Self::MeanGap => "mean gap",
            Self::Intervals => "GPU intervals",
        }
    }

    /// What differs by less is not worth a word: a twentieth, and of a share no more than
    /// two points.
    fn floor(self, median: f64) -> f64 {
        match self {
            Self::Busy => (0.05 * median).min(0.02),
            _ => 0.05 * median.abs(),
        }
    }

    fn says(self, value: f64) -> Message {
        match self {
            Self::Busy => percent(value),
            Self::Intervals => count(whole(value)),
            Self::Span | Self::MeanGap => time(whole(value)),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count, or whole nanoseconds"
)]
fn whole(value: f64) -> u64 {
    value.round().max(0.0) as u64
}

/// The groups, by name.
pub fn groups(rows: &[Row]) -> Vec<Group> {
    let mut groups: BTreeMap<(&str, &Option<String>, bool), Vec<String>> = BTreeMap::new();
    for row in rows {
        let key = (row.process.as_str(), &row.gpu, row.synthetic);
        groups.entry(key).or_default().push(row.report.clone());
    }
    let group = |((target, gpu, synthetic), reports): ((&str, &Option<String>, bool), _)| {
        let gpu_name = gpu.as_deref().unwrap_or("an unknown GPU");
        let simulated = if synthetic { ", simulated" } else { "" };
        Group {
            name: format!("{target} on {gpu_name}{simulated}"),
            process: target.to_owned(),
            gpu: gpu.clone(),
            synthetic,
            reports,
        }
    };
    groups.into_iter().map(group).collect()
}

/// The rows of a group, in the order of the index.
pub fn members<'a>(rows: &'a [Row], group: &Group) -> Vec<&'a Row> {
    let is_in = |row: &&Row| {
        row.process == group.process && row.gpu == group.gpu && row.synthetic == group.synthetic
    };
    rows.iter().filter(is_in).collect()
}

/// Who is far from the others, group by group and figure by figure.
pub fn outliers(rows: &[Row], groups: &[Group]) -> Vec<Outlier> {
    let mut found = Vec::new();
    for group in groups {
        let members = members(rows, group);
        for figure in Figure::ALL {
            found.extend(of_figure(&members, group, figure));
        }
    }
    found
}

fn of_figure(members: &[&Row], group: &Group, figure: Figure) -> Vec<Outlier> {
    let known = members
        .iter()
        .filter_map(|row| Some((*row, figure.of(row)?)));
    let (known, values): (Vec<&Row>, Vec<f64>) = known.unzip();
    let Some(middle) = median(&values) else {
        return Vec::new();
    };
    let Some(all) = outlying(&values, figure.floor(middle)) else {
        return Vec::new();
    };
    let others = known.len() - all.far.len();
    let (least, most) = (figure.says(all.others.0), figure.says(all.others.1));
    let range = if least.text == most.text {
        least
    } else {
        message!("{} to {}", least, most)
    };
    let told = all.far.iter().filter_map(|far| {
        let (row, &value) = (known.get(far.at)?, values.get(far.at)?);
        let what = match figure {
            Figure::Intervals => message!("{} GPU intervals", figure.says(value)),
            _ => message!("{} {}", figure.name(), figure.says(value)),
        };
        let says = message!(
            "{}: {}, the {} others {}",
            path(&row.name),
            what,
            count(others as u64),
            range.clone()
        );
        Some(Outlier {
            report: row.report.clone(),
            group: group.name.clone(),
            figure,
            value: Number::of(value)?,
            median: Number::of(all.median)?,
            mad: Number::of(all.mad)?,
            score: far.score.and_then(Number::of),
            says: says.text,
            says_values: says.values,
        })
    });
    told.collect()
}

/// Where the busy share and the length of each group go with time.
pub fn trends(rows: &[Row], groups: &[Group]) -> Vec<TrendFound> {
    let mut found = Vec::new();
    for group in groups {
        let dated = dated(&members(rows, group));
        for figure in [Figure::Busy, Figure::Span] {
            found.extend(trend_of(&dated, group, figure));
        }
    }
    found
}

/// The rows with a date, the oldest first.
pub fn dated<'a>(members: &[&'a Row]) -> Vec<(i64, &'a Row)> {
    let dated = members.iter().filter_map(|row| {
        let at = dates::parse(row.date.as_deref()?)?;
        Some((at, *row))
    });
    let mut dated: Vec<(i64, &Row)> = dated.collect();
    dated.sort_by_key(|&(at, _)| at);
    dated
}

#[expect(clippy::cast_precision_loss, reason = "days, to the millisecond")]
fn trend_of(dated: &[(i64, &Row)], group: &Group, figure: Figure) -> Option<TrendFound> {
    let (start, first) = dated.first()?;
    let (end, last) = dated.last()?;
    let days = |at: i64| (at - start) as f64 / DAY_MS;
    let points = dated.iter();
    let points = points.filter_map(|&(at, row)| Some((days(at), figure.of(row)?)));
    let points: Vec<(f64, f64)> = points.collect();
    let found = trend(&points)?;
    let (was, is) = (found.intercept, found.intercept + found.slope * days(*end));
    let values: Vec<f64> = points.iter().map(|point| point.1).collect();
    let floor = figure.floor(median(&values)?);
    let is_trend = found.p < CHANCE && (is - was).abs() >= floor;
    let (from, to) = (first.date.clone()?, last.date.clone()?);
    let mut trend = TrendFound {
        group: group.name.clone(),
        figure,
        traces: points.len() as u64,
        from,
        to,
        p: Number::of(found.p)?,
        slope_per_day: Number::of(found.slope)?,
        first: Number::of(was)?,
        last: Number::of(is)?,
        is_trend,
        says: String::new(),
        says_values: Vec::new(),
    };
    let says = message!("{}: {}", name(&group.name), trend.course());
    (trend.says, trend.says_values) = says.into_parts();
    Some(trend)
}

impl TrendFound {
    /// Says where the figure goes, and how likely that is chance.
    #[must_use]
    pub fn course(&self) -> Message {
        let of = message!(
            "{}, {} to {}",
            counted(self.traces, "trace"),
            name(day(&self.from)),
            name(day(&self.to))
        );
        let chance = match self.p.get() {
            p if p < 0.001 => "p < 0.001".into(),
            p => message!(
                "p = {}",
                number(format!("{p:.3}"), p, |number| Value::Number { number })
            ),
        };
        let (was, is) = (self.first.get(), self.last.get());
        if self.is_trend {
            message!(
                "{} {} from about {} to about {} ({}; {})",
                self.figure.name(),
                if is > was { "rose" } else { "fell" },
                self.figure.says(was.max(0.0)),
                self.figure.says(is.max(0.0)),
                of,
                chance
            )
        } else {
            message!("{} shows no trend ({}; {})", self.figure.name(), of, chance)
        }
    }
}

/// The date without the time of day.
fn day(date: &str) -> &str {
    date.split(['T', ' ']).next().unwrap_or(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trace of a day of January, with this busy share.
    fn row(name: &str, day: u32, busy: f64) -> Row {
        Row {
            report: name.to_owned(),
            name: name.to_owned(),
            input: format!("runs/{name}.trace"),
            run: 1,
            date: Some(format!("2026-01-{day:02}T09:00:00.000Z")),
            process: "bench".to_owned(),
            model: None,
            os: None,
            gpu: Some("Apple M1".to_owned()),
            synthetic: false,
            truncated: false,
            verdict: "bench kept the GPU busy".to_owned(),
            span_ns: 10_000_000,
            busy_ns: 9_000_000,
            busy_ratio: Some(busy),
            machine_busy_ns: 9_500_000,
            machine_busy_ratio: Some(0.95),
            intervals: 1_000,
            kernels: 4,
            gaps: RowGaps {
                count: 99,
                total_ns: 1_000_000,
                mean_ns: Some(10_101),
                median_ns: Some(10_000),
                p95_ns: Some(12_000),
            },
            idle: None,
            top_kernel: None,
            findings: RowFindings::default(),
            finding: None,
            missed: Vec::new(),
            not_measurable: Vec::new(),
            problems: Vec::new(),
            problem_details: Vec::new(),
            busy_over_time: vec![900, 850, 0],
            others_over_time: vec![0, 10, 0],
        }
    }

    fn rows(busy: &[f64]) -> Vec<Row> {
        let days = (1..).zip(busy);
        days.map(|(day, &busy)| row(&format!("b{day}"), day, busy))
            .collect()
    }

    #[test]
    fn who_is_far_is_named() {
        let check = |busy: &[f64], expected: &[&str]| {
            let rows = rows(busy);
            let found = outliers(&rows, &groups(&rows));
            let says: Vec<&str> = found.iter().map(|one| one.says.as_str()).collect();
            assert_eq!(says, expected, "{busy:?}");
        };
        check(
            &[0.88, 0.89, 0.90, 0.91, 0.89, 0.90, 0.41],
            &["b7: busy 41.0 %, the 6 others 88.0 % to 91.0 %"],
        );
        check(&[0.9, 0.9, 0.9, 0.9, 0.885], &[]);
        check(&[0.9, 0.9, 0.9, 0.41], &[]);
    }

    /// One program on one GPU, and no simulation among recordings.
    #[test]
    fn like_with_like() {
        let mut all = rows(&[0.9, 0.9, 0.9, 0.9, 0.9, 0.4]);
        all[5].gpu = Some("Apple M2".to_owned());
        assert!(outliers(&all, &groups(&all)).is_empty());
        all[5].gpu = all[0].gpu.clone();
        all[5].synthetic = true;
        assert!(outliers(&all, &groups(&all)).is_empty());
        all[5].synthetic = false;
        all[5].busy_ratio = None;
        assert!(outliers(&all, &groups(&all)).is_empty());
        assert_eq!(groups(&all).len(), 1);
    }

    #[test]
    fn where_it_goes() {
        let falling: Vec<f64> = (0..10).map(|day| 0.9 - 0.01 * f64::from(day)).collect();
        let all = rows(&falling);
        let found = trends(&all, &groups(&all));
        let says: Vec<&str> = found.iter().map(|one| one.says.as_str()).collect();
        assert_eq!(
            says,
            [
                "bench on Apple M1: busy fell from about 90.0 % to about 81.0 % (10 traces, \
              2026-01-01 to 2026-01-10; p < 0.001)"
            ]
        );
        assert!((found[0].slope_per_day.get() + 0.01).abs() < 1e-9);
        let level = rows(&[0.9, 0.901, 0.9, 0.902, 0.9, 0.901, 0.9, 0.9]);
        assert!(!trends(&level, &groups(&level))[0].is_trend);
        // The change is sure, and too small to matter.
        let small: Vec<f64> = (0..10).map(|day| 0.9 + 0.001 * f64::from(day)).collect();
        let small = rows(&small);
        assert!(!trends(&small, &groups(&small))[0].is_trend);
        let few = rows(&[0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]);
        assert!(trends(&few, &groups(&few)).is_empty());
    }
}
