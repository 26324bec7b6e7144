//! Finds outliers and trends among many recordings.
//!
//! Only the same work is compared: recordings of one program on one GPU that ran the same kernels as
//! often in as many command buffers, and simulated recordings only with each other. A recording counts
//! once, however often it is among the inputs.

pub(crate) mod dates;
mod repeats;
mod row;
mod steps;
mod totals;

use metalens_analyzer::id;
use std::collections::{BTreeMap, HashSet};

use metalens_message::{Message, Number, count, counted, kernel, message, name, path};
use metalens_text::number::Float;
use metalens_text::units;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metrics::{metric, unit_of};
use crate::outliers::find_outliers;
use crate::sentences;
use crate::statistics::median;
use crate::trend::trend;
use crate::unit::Unit;
pub use repeats::mark_repeats;
pub use row::{IndexRow, RowIdle, RowKernel};
pub use totals::{FindingTotal, RowFinding, total_findings};

/// Largest p-value at which a trend is reported.
const CHANCE: f64 = 0.05;
/// Ids of the figures in which outliers and trends are searched: of the run, and of its steps.
pub const SEARCHED: [&str; 3] = [id!(busy.ratio?), id!(window.span_ns), "steps.median_ns"];
/// Path of the median time of a kernel, in which only steps are searched.
const KERNEL: &str = "kernels.med_ns";

/// Figure whose course is looked at.
#[derive(Clone, Copy)]
enum Series<'a> {
    Figure(&'a str),
    Kernel(&'a RowKernel),
}
/// Figures by which the amounts of work are equal.
const INTERVALS: &str = id!(counts.intervals);
const BUFFERS: &str = id!(counts.command_buffers);
const KERNELS: &str = id!(counts.kernels);
const DAY_MS: f64 = 86_400_000.0;

/// Recordings of the same work: of one program on one GPU, with the same kernels as often, in as many
/// command buffers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SameWorkGroup {
    /// Name to which outliers and trends refer, such as `bench on Apple M1, 1,000 GPU intervals in
    /// 40 command buffers, 4 kernels`.
    pub name: String,
    /// Name of the program.
    pub process: String,
    /// Name of the GPU. Null if the recordings do not say.
    pub gpu: Option<String>,
    /// True if the recordings are simulated.
    pub synthetic: bool,
    /// Number of GPU intervals of each recording.
    pub intervals: u64,
    /// Number of command buffers of each recording. Null if the recordings do not say.
    pub command_buffers: Option<u64>,
    /// Number of kernels of each recording.
    pub kernels: u64,
    /// Folders of their reports.
    pub reports: Vec<String>,
}

/// A recording that is far from the others of its group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexOutlier {
    /// Folder of the recording's report.
    pub report: String,
    /// Name of its group.
    pub group: String,
    /// Path in a report of the figure in which the recording is far from the others.
    pub figure: String,
    /// Value of the figure.
    pub value: Number,
    /// Median of the group.
    pub median: Number,
    /// Median distance from that median.
    pub mad: Number,
    /// Modified z-score of the value. Null if more than half of the values are equal.
    pub score: Option<Number>,
    /// The finding in one sentence.
    pub says: Message,
}

/// Place where a figure of a group stepped to another level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelChange {
    /// Folder of the report of the first recording on the new level.
    pub report: String,
    /// Name of that recording.
    pub name: String,
    /// Start of that recording, ISO 8601.
    pub date: String,
    /// Median of the recordings on the level before.
    pub before: Number,
    /// Median of the recordings on the new level.
    pub after: Number,
}

/// Trend of one figure of a group over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupTrend {
    /// Name of the group.
    pub group: String,
    /// Path in a report of the figure that the trend is about.
    pub figure: String,
    /// Name of the kernel that it is a figure of. Null for a figure of the whole recording.
    #[serde(default)]
    pub kernel: Option<String>,
    /// Number of recordings with a date and a value.
    pub recordings: u64,
    /// Start of the first recording, ISO 8601.
    pub from: String,
    /// Start of the last recording, ISO 8601.
    pub to: String,
    /// Probability of a trend this strong by chance alone: Mann–Kendall, two-sided.
    pub p: Number,
    /// Change per day: Theil–Sen slope.
    pub slope_per_day: Number,
    /// Value of the trend line at the first recording.
    pub first: Number,
    /// Value of the trend line at the last recording.
    pub last: Number,
    /// Steps to other levels, the earliest first: a trend in the way of its line has none.
    #[serde(default)]
    pub changes: Vec<LevelChange>,
    /// True if the trend is significant: p is below 0.05, and the change is worth reporting; or if there is a step.
    pub is_trend: bool,
    /// The trend in one sentence.
    pub says: Message,
}

/// Returns the smallest difference worth reporting: 5 % of the median, and at most two percentage points for
/// a share.
fn floor(figure: &str, median: f64) -> f64 {
    let floor = 0.05 * median.abs();
    match unit_of(figure) {
        Some(Unit::Ratio) => floor.min(0.02),
        _ => floor,
    }
}

/// Returns the name of a figure for sentences.
pub fn figure_name(figure: &str) -> &'static str {
    metric(figure).map_or("", |figure| figure.name)
}

/// Returns a value of a figure as text.
pub fn figure_text(figure: &str, value: Number) -> Message {
    let unit = match figure {
        KERNEL => Unit::Ns,
        figure => unit_of(figure).unwrap_or(Unit::Count),
    };
    sentences::value(value, unit)
}

impl<'a> Series<'a> {
    fn figure(self) -> &'a str {
        match self {
            Self::Figure(figure) => figure,
            Self::Kernel(_) => KERNEL,
        }
    }

    fn kernel(self) -> Option<&'a RowKernel> {
        match self {
            Self::Figure(_) => None,
            Self::Kernel(kernel) => Some(kernel),
        }
    }

    fn value(self, row: &IndexRow) -> Option<Number> {
        match self {
            Self::Figure(figure) => row.of.figure(figure),
            Self::Kernel(kernel) => row.median_of(kernel),
        }
    }
}

/// Facts that are equal in all recordings of a group.
type GroupKey<'a> = (
    (&'a str, Option<&'a str>, bool),
    (u64, Option<u64>, &'a str),
);

/// Returns the groups of recordings, by name, without those that were counted under another name.
pub fn groups(rows: &[IndexRow]) -> Vec<SameWorkGroup> {
    let mut groups: BTreeMap<GroupKey<'_>, Vec<&IndexRow>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.same_as.is_none()) {
        let program = (row.of.process.as_str(), row.of.gpu(), row.of.is_synthetic());
        let work = (
            row.count(INTERVALS).unwrap_or(0),
            row.count(BUFFERS),
            row.work.as_str(),
        );
        let key = (program, work);
        groups.entry(key).or_default().push(row);
    }

    let mut names = HashSet::new();
    let listed = groups.into_values().filter_map(|members| {
        let first = *members.first()?;
        let base = group_name(first);
        // Other kernels, but as many of them.
        let numbered = (2..).map(|number| format!("{base} ({number})"));
        let mut free = std::iter::once(base.clone()).chain(numbered);
        let name = free.find(|name| !names.contains(name))?;
        names.insert(name.clone());
        Some(SameWorkGroup {
            name,
            process: first.of.process.clone(),
            gpu: first.of.gpu().map(str::to_owned),
            synthetic: first.of.is_synthetic(),
            intervals: first.count(INTERVALS).unwrap_or(0),
            command_buffers: first.count(BUFFERS),
            kernels: first.count(KERNELS).unwrap_or(0),
            reports: members.iter().map(|row| row.report.clone()).collect(),
        })
    });
    listed.collect()
}

fn group_name(row: &IndexRow) -> String {
    let gpu = row.of.gpu().unwrap_or("an unknown GPU");
    let simulated = if row.of.is_synthetic() {
        ", simulated"
    } else {
        ""
    };
    let counted = |id: &str, what: &str| Some(units::counted(row.count(id)?, what));
    let intervals = counted(INTERVALS, "GPU interval").unwrap_or_default();
    let buffers = counted(BUFFERS, "command buffer");
    let buffers = buffers.map_or_else(String::new, |buffers| format!(" in {buffers}"));
    let kernels = counted(KERNELS, "kernel").unwrap_or_default();
    format!(
        "{} on {gpu}{simulated}, {intervals}{buffers}, {kernels}",
        row.of.process
    )
}

impl IndexRow {
    fn count(&self, id: &str) -> Option<u64> {
        self.of.figure(id).map(Number::to_whole)
    }
}

/// Returns the rows of a group, in the order of the index.
pub fn members<'a>(rows: &'a [IndexRow], group: &SameWorkGroup) -> Vec<&'a IndexRow> {
    let reports: HashSet<&str> = group.reports.iter().map(String::as_str).collect();
    rows.iter()
        .filter(|row| reports.contains(row.report.as_str()))
        .collect()
}

/// Returns the outliers and the trends of each group in each figure. Where a figure stepped to another level, a
/// recording is compared with those of its own level.
pub fn outliers_and_trends(
    rows: &[IndexRow],
    groups: &[SameWorkGroup],
) -> (Vec<IndexOutlier>, Vec<GroupTrend>) {
    let (mut outliers, mut trends) = (Vec::new(), Vec::new());
    for group in groups {
        let members = members(rows, group);
        let dated = dated(&members);
        // All of a group ran the same kernels.
        let kernels = dated.first().map_or(&[][..], |(_, row)| &row.kernels);
        let chance = CHANCE / (SEARCHED.len() + kernels.len()).float();
        for figure in SEARCHED {
            let trend = group_trend(&dated, group, Series::Figure(figure), chance);
            let changes = trend.iter().flat_map(|trend| &trend.changes);
            let firsts: HashSet<&str> = changes.map(|change| change.report.as_str()).collect();
            if firsts.is_empty() {
                outliers.extend(figure_outliers(&members, group, figure));
            } else {
                let is_same = |_: &_, next: &(i64, &IndexRow)| !firsts.contains(&*next.1.report);
                for level in dated.chunk_by(is_same) {
                    let level: Vec<&IndexRow> = level.iter().map(|(_, row)| *row).collect();
                    outliers.extend(figure_outliers(&level, group, figure));
                }
            }
            trends.extend(trend);
        }
        let of_kernels = kernels.iter();
        let of_kernels =
            of_kernels.filter_map(|own| group_trend(&dated, group, Series::Kernel(own), chance));
        trends.extend(of_kernels.filter(|trend| trend.is_trend && !trend.changes.is_empty()));
    }
    (outliers, trends)
}

fn figure_outliers(
    members: &[&IndexRow],
    group: &SameWorkGroup,
    figure: &str,
) -> Vec<IndexOutlier> {
    let known = members
        .iter()
        .filter_map(|row| Some((*row, row.of.figure(figure)?.get())));
    let (known, values): (Vec<&IndexRow>, Vec<f64>) = known.unzip();
    let Some(middle) = median(&values) else {
        return Vec::new();
    };
    let Some(result) = find_outliers(&values, floor(figure, middle)) else {
        return Vec::new();
    };

    let others = known.len() - result.outliers.len();
    let text = |value: f64| Some(figure_text(figure, Number::new(value)?));
    let (Some(least), Some(most)) = (text(result.others.0), text(result.others.1)) else {
        return Vec::new();
    };
    let range = if least.text == most.text {
        least
    } else {
        message!("{} to {}", least, most)
    };

    let outliers = result.outliers.iter().filter_map(|outlier| {
        let (row, &value) = (known.get(outlier.index)?, values.get(outlier.index)?);
        let what = message!("{} {}", figure_name(figure), text(value));
        let says = message!(
            "{}: {}, the {} others {}",
            path(&row.name),
            what,
            count(others as u64),
            range.clone()
        );
        Some(IndexOutlier {
            report: row.report.clone(),
            group: group.name.clone(),
            figure: figure.to_owned(),
            value: Number::new(value)?,
            median: Number::new(result.median)?,
            mad: Number::new(result.mad)?,
            score: outlier.score.and_then(Number::new),
            says,
        })
    });
    outliers.collect()
}

/// Returns the rows with a date as milliseconds since 1970, the oldest first.
fn dated<'a>(members: &[&'a IndexRow]) -> Vec<(i64, &'a IndexRow)> {
    let mut dated: Vec<(i64, &IndexRow)> = members
        .iter()
        .filter_map(|row| {
            let date = dates::parse(row.of.date.as_deref()?)?;
            Some((date, *row))
        })
        .collect();
    dated.sort_by_key(|&(date, _)| date);
    dated
}

fn group_trend(
    dated: &[(i64, &IndexRow)],
    group: &SameWorkGroup,
    series: Series<'_>,
    chance: f64,
) -> Option<GroupTrend> {
    let (start, first) = dated.first()?;
    let (end, last) = dated.last()?;
    let days = |date: i64| (date - start).float() / DAY_MS;
    let known = dated.iter();
    let known =
        known.filter_map(|&(date, row)| Some((row, (days(date), series.value(row)?.get()))));
    let (known, points): (Vec<&IndexRow>, Vec<(f64, f64)>) = known.unzip();

    let line = trend(&points)?;
    let (was, is) = (line.intercept, line.intercept + line.slope * days(*end));
    let values: Vec<f64> = points.iter().map(|point| point.1).collect();
    let floor = floor(series.figure(), median(&values)?);
    // A smaller step counts for nothing, but parts the recordings into two levels even so.
    let cuts = steps::steps(&points, &line, floor / 2.0, chance);
    let changes = changes(&known, &values, &cuts);
    let mut moves = changes
        .iter()
        .map(|change| change.after.get() - change.before.get());
    let is_trend = if changes.is_empty() {
        line.p < CHANCE && (is - was).abs() >= floor
    } else {
        moves.any(|by| by.abs() >= floor)
    };
    let (from, to) = (first.of.date.clone()?, last.of.date.clone()?);

    let mut trend = GroupTrend {
        group: group.name.clone(),
        figure: series.figure().to_owned(),
        kernel: series.kernel().map(|kernel| kernel.name.clone()),
        changes,
        recordings: points.len() as u64,
        from,
        to,
        p: Number::new(line.p)?,
        slope_per_day: Number::new(line.slope)?,
        first: Number::new(was)?,
        last: Number::new(is)?,
        is_trend,
        says: Message::default(),
    };
    trend.says = message!("{}: {}", name(&group.name), trend.course());
    Some(trend)
}

/// Returns the steps at these cuts.
fn changes(known: &[&IndexRow], values: &[f64], cuts: &[usize]) -> Vec<LevelChange> {
    let levels: Vec<Option<Number>> = steps::levels(values, cuts)
        .map(|level| Number::new(median(level)?))
        .collect();
    let changes = cuts
        .iter()
        .zip(levels.windows(2))
        .filter_map(|(&cut, pair)| {
            let (row, &[before, after]) = (known.get(cut)?, pair) else {
                return None;
            };
            Some(LevelChange {
                report: row.report.clone(),
                name: row.name.clone(),
                date: row.of.date.clone()?,
                before: before?,
                after: after?,
            })
        });
    changes.collect()
}

impl GroupTrend {
    /// Returns the name of the figure, with that of its kernel.
    fn what(&self) -> Message {
        match &self.kernel {
            Some(own) => message!("{}, median", kernel(own)),
            None => figure_name(&self.figure).into(),
        }
    }

    /// Describes the steps to other levels.
    fn steps(&self) -> Message {
        let text = |value: Number| figure_text(&self.figure, value);
        let steps = self.changes.iter().map(|change| {
            message!(
                "{} from {} to {} with {} of {}",
                moved(change.before.get(), change.after.get()),
                text(change.before),
                text(change.after),
                path(&change.name),
                name(day(&change.date))
            )
        });
        Message::joined(steps, ", then ")
    }

    /// Describes the course of the figure.
    fn course(&self) -> Message {
        let sample = message!(
            "{}, {} to {}",
            counted(self.recordings, "recording"),
            name(day(&self.from)),
            name(day(&self.to))
        );
        let (was, is) = (self.first.get(), self.last.get());
        let text =
            |value: f64| Number::new(value.max(0.0)).map(|value| figure_text(&self.figure, value));
        let less = if self.is_trend {
            ""
        } else {
            ", less than counts"
        };
        if !self.changes.is_empty() {
            message!("{} {}{} ({})", self.what(), self.steps(), less, sample)
        } else if self.is_trend || self.p.get() < CHANCE {
            message!(
                "{} {} from about {} to about {}{} ({})",
                self.what(),
                moved(was, is),
                text(was),
                text(is),
                less,
                sample
            )
        } else {
            message!("{} shows no trend ({})", self.what(), sample)
        }
    }
}

fn moved(was: f64, is: f64) -> &'static str {
    if is > was { "rose" } else { "fell" }
}

/// Returns the date without the time of day.
fn day(date: &str) -> &str {
    date.split(['T', ' ']).next().unwrap_or(date)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Run;

    /// Returns a recording of a day in January with this busy share.
    pub(super) fn row(name: &str, day: u32, busy: f64) -> IndexRow {
        IndexRow {
            report: name.to_owned(),
            name: name.to_owned(),
            input: format!("runs/{name}.trace"),
            run: 1,
            of: Run {
                date: Some(format!("2026-01-{day:02}T09:00:00.000Z")),
                process: "bench".to_owned(),
                circumstances: [("GPU".to_owned(), "Apple M1".to_owned())].into(),
                figures: [
                    ("window.span_ns", 1e7),
                    ("busy.ratio", busy),
                    ("counts.intervals", 1e3),
                    ("counts.command_buffers", 40.0),
                    ("counts.kernels", 4.0),
                    ("gaps.mean_ns", 10_101.0),
                    ("gaps.p95_ns", 12_000.0),
                ]
                .map(|(id, value)| (id.to_owned(), Number::new(value).unwrap()))
                .into(),
            },
            truncated: false,
            verdict: "bench GPU busy".to_owned(),
            bound: None,
            work: "matmul".to_owned(),
            same_as: None,
            idle: None,
            top_kernel: None,
            kernels: Vec::new(),
            gate: None,
            problems: Vec::new(),
            findings: Vec::new(),
            busy_over_time: vec![900, 850, 0],
            others_over_time: vec![0, 10, 0],
        }
    }

    fn rows(busy: &[f64]) -> Vec<IndexRow> {
        let days = (1..).zip(busy);
        days.map(|(day, &busy)| row(&format!("b{day}"), day, busy))
            .collect()
    }

    #[test]
    fn outliers_are_named() {
        let check = |busy: &[f64], expected: &[&str]| {
            let rows = rows(busy);
            let found = outliers_and_trends(&rows, &groups(&rows)).0;
            let says: Vec<&str> = found.iter().map(|step| step.says.text.as_str()).collect();
            assert_eq!(says, expected, "{busy:?}");
        };
        check(
            &[0.88, 0.89, 0.90, 0.91, 0.89, 0.90, 0.41],
            &["b7: busy share 41.0 %, the 6 others 88.0 % to 91.0 %"],
        );
        check(&[0.9, 0.9, 0.9, 0.9, 0.885], &[]);
        check(&[0.9, 0.9, 0.9, 0.41], &[]);
    }

    /// Recordings of other work, of another GPU, simulated ones and those that were counted already
    /// are not compared.
    #[test]
    fn only_the_same_work_is_compared() {
        let check = |change: fn(&mut IndexRow), outliers_left: usize, groups_left: usize| {
            let mut all = rows(&[0.9, 0.9, 0.9, 0.9, 0.9, 0.4]);
            change(&mut all[5]);
            let groups = groups(&all);
            let found = (outliers_and_trends(&all, &groups).0.len(), groups.len());
            assert_eq!(found, (outliers_left, groups_left), "{:?}", all[5]);

            let names: HashSet<&str> = groups.iter().map(|group| group.name.as_str()).collect();
            assert_eq!(names.len(), groups.len(), "names are unique");
        };
        check(|_| (), 1, 1);
        check(
            |row| {
                row.of.figures.remove("busy.ratio");
            },
            0,
            1,
        );
        check(|row| row.same_as = Some("b1".to_owned()), 0, 1);
        check(
            |row| {
                row.of
                    .circumstances
                    .insert("GPU".to_owned(), "Apple M2".to_owned());
            },
            0,
            2,
        );
        check(
            |row| {
                row.of
                    .circumstances
                    .insert("origin".to_owned(), "synthetic".to_owned());
            },
            0,
            2,
        );
        check(|row| row.of.process = "other".to_owned(), 0, 2);
        check(
            |row| {
                row.of
                    .figures
                    .insert("counts.intervals".to_owned(), Number::new(800.0).unwrap());
            },
            0,
            2,
        );
        check(
            |row| {
                row.of.figures.remove("counts.command_buffers");
            },
            0,
            2,
        );
        check(
            |row| {
                row.of.figures.insert(
                    "counts.command_buffers".to_owned(),
                    Number::new(41.0).unwrap(),
                );
            },
            0,
            2,
        );
        check(|row| row.work = "softmax".to_owned(), 0, 2);
    }

    /// Of 200 recordings, the last 80 have a kernel that takes 20 % longer, and so 6 % more in all; some are spikes.
    #[test]
    fn a_step_is_dated_and_its_kernel_named() {
        let mut random = metalens_testing::Random::new(6);
        let recordings = (0..200_u32).map(|number| {
            let mut row = row(&format!("r{number}"), 1 + number / 8, 0.9);
            row.of.date = row
                .of
                .date
                .map(|date| date.replace("T09", &format!("T{:02}", number % 8)));
            let slower = if number < 120 { 1.0 } else { 1.2 };
            let mut medians = Vec::new();
            let mut window_ns = 0.0;
            for (name, ns) in [("matmul", 3e6 * slower), ("softmax", 7e6)] {
                let ns = ns * (1.0 + 0.01 * random.normal());
                window_ns += ns;
                medians.push(RowKernel {
                    name: name.to_owned(),
                    channel: None,
                    total_ns: metalens_message::Ns(0),
                    time_pct: 50.0,
                    med_ns: metalens_message::Ns(metalens_text::number::rounded(ns)),
                });
            }
            row.kernels = medians;
            if number % 50 == 40 {
                window_ns *= 1.3;
            }
            row.of
                .figures
                .insert("window.span_ns".to_owned(), Number::new(window_ns).unwrap());
            row
        });
        let all: Vec<IndexRow> = recordings.collect();
        let groups = groups(&all);
        let (outliers, trends) = outliers_and_trends(&all, &groups);
        let changed = trends.iter().filter(|trend| !trend.changes.is_empty());
        let changed: Vec<&GroupTrend> = changed.collect();
        assert_eq!(changed.len(), 2, "{changed:?}");
        assert_eq!(
            (changed[0].figure.as_str(), &changed[0].kernel),
            ("window.span_ns", &None)
        );
        assert_eq!(changed[1].kernel.as_deref(), Some("matmul"));
        for trend in &changed {
            let at: u32 = trend.changes[0].name[1..].parse().unwrap();
            assert!(
                at.abs_diff(120) <= 2 && trend.changes.len() == 1,
                "{trend:?}"
            );
        }
        let said = &changed[1].says.text;
        let expected = ": matmul, median rose from 2.998 ms to 3.604 ms with r120 of 2026-01-16 (200 recordings";
        assert!(said.contains(expected), "{said}");
        // Only spikes are far from the recordings of their own level.
        let names: Vec<&str> = outliers
            .iter()
            .map(|outlier| outlier.report.as_str())
            .collect();
        assert_eq!(names, ["r40", "r90", "r140", "r190"]);
    }

    /// A step that is too small to count is none to report, but recordings after it are no outliers.
    #[test]
    fn a_small_step_makes_no_outliers() {
        let mut random = metalens_testing::Random::new(8);
        let recordings = (0..60_u32).map(|number| {
            let mut row = row(&format!("r{number}"), 1 + number / 8, 0.9);
            row.of.date = row
                .of
                .date
                .map(|date| date.replace("T09", &format!("T{:02}", number % 8)));
            let level = if number < 40 { 1e7 } else { 1.04e7 };
            let window = Number::new(level * (1.0 + 0.003 * random.normal()));
            let figures = &mut row.of.figures;
            figures.insert("window.span_ns".to_owned(), window.unwrap());
            row
        });
        let all: Vec<IndexRow> = recordings.collect();
        let (outliers, trends) = outliers_and_trends(&all, &groups(&all));
        assert_eq!(outliers, []);
        let [trend] = trends.as_slice() else {
            panic!("the busy share does not vary: {trends:?}");
        };
        let said = &trend.says.text;
        assert!(
            said.contains("with r40 of 2026-01-06, less than counts (60 recordings"),
            "{said}"
        );
        assert!(!trend.is_trend);
    }

    #[test]
    fn trends_are_described() {
        let falling: Vec<f64> = (0..10).map(|day| 0.9 - 0.01 * f64::from(day)).collect();
        let all = rows(&falling);
        let found = outliers_and_trends(&all, &groups(&all)).1;
        let says: Vec<&str> = found.iter().map(|step| step.says.text.as_str()).collect();
        assert_eq!(
            says,
            [
                "bench on Apple M1, 1,000 GPU intervals in 40 command buffers, 4 kernels: busy share fell \
                 from about 90.0 % to about 81.0 % (10 recordings, 2026-01-01 to 2026-01-10)"
            ]
        );
        assert!((found[0].slope_per_day.get() + 0.01).abs() < 1e-9);
        let level = rows(&[0.9, 0.901, 0.9, 0.902, 0.9, 0.901, 0.9, 0.9]);
        assert!(!outliers_and_trends(&level, &groups(&level)).1[0].is_trend);

        // The change is significant, but too small to report.
        let small: Vec<f64> = (0..10).map(|day| 0.9 + 0.001 * f64::from(day)).collect();
        let small = rows(&small);
        let small = outliers_and_trends(&small, &groups(&small)).1;
        assert!(!small[0].is_trend);
        let said = &small[0].says.text;
        assert!(
            said.contains("rose from about 90.0 % to about 90.9 %, less than counts"),
            "{said}"
        );
        let few = rows(&[0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]);
        assert!(outliers_and_trends(&few, &groups(&few)).1.is_empty());
    }
}
