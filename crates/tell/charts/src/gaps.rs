//! Draws the gaps by length: their number, and their share of the idle time.

use metalens_analyzer::{Analysis, Cause, ExplainedGap, Report, id};
use metalens_message::Ns;
use metalens_text::number::{Float, whole};
use metalens_text::units::short_time;

use crate::axes::Axis;
use crate::canvas::{AXIS, Area, Canvas, MARGIN, Mesh, limit, main_causes, ratio};
use crate::font::{self, SMALL};
use crate::options::{ChartError, ChartOptions};
use crate::palette::Color;
use crate::pixels::px;
use crate::scene::{Anchor, Scene};

/// Tenths of a decade on a logarithmic scale, in thousandths.
const TENTHS: [u64; 10] = [
    1_000, 1_259, 1_585, 1_995, 2_512, 3_162, 3_981, 5_012, 6_310, 7_943,
];
const LEFT: f32 = 56.0;
/// Beginning of the legend.
const LEGEND: &str = "Of idle time:";
/// Room above the first panel, for its title and the limit's label; and above the second.
const TITLE: f32 = 36.0;
const SECOND: f32 = 26.0;

/// Draws the chart of gaps by length.
pub(crate) fn draw(analysis: &Analysis, options: &ChartOptions) -> Result<Scene, ChartError> {
    let report = &analysis.report;
    let canvas = Canvas::new(
        options,
        &format!("Gaps of {} by length", report.process.name),
    );
    let causes = main_causes(report);
    let lines: Vec<&str> = causes.as_deref().into_iter().collect();
    let top = canvas.header(report, &report.summary.idle.text, &lines) + 6.0;

    let bins = bins(analysis);
    let limit_ns = limit_ns(report);
    let Some(range) = range(&bins, limit_ns) else {
        return Ok(canvas.finish(top + MARGIN));
    };

    let entries = canvas.causes(&analysis.report);
    let mut place = Area {
        left: MARGIN + LEFT,
        top: (top + TITLE).round(),
        width: canvas.width - 2.0 * MARGIN - LEFT - 8.0,
        height: 130.0,
    };

    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(1);
    let total = report.gaps.total_ns;
    title(&canvas, place, "Number of gaps by length", TITLE);
    // A bar holds gaps of several causes, which the second panel shows.
    let neutral = canvas.palette.text;
    panel(&canvas, place, range, Axis::count(most), &bins, |bin| {
        vec![(neutral, bin.count.float())]
    })?;
    if let Some(limit_ns) = limit_ns {
        mark_limit(&canvas, place, range, limit_ns);
    }

    place.top = (place.bottom() + AXIS + SECOND).round();
    let share = "Share of the idle time, by cause";
    title(&canvas, place, share, SECOND);
    let largest = bins.iter().map(|bin| ratio(bin.total_ns(), total));
    let largest = largest.fold(0.0, f64::max);
    panel(&canvas, place, range, Axis::share(largest), &bins, |bin| {
        let parts = Cause::ALL.into_iter().zip(bin.parts);
        parts
            .map(|(cause, ns)| (canvas.palette.cause(cause), ratio(ns, total)))
            .collect()
    })?;

    let bottom = canvas.legend(place.bottom() + AXIS + 10.0, LEGEND, &entries);
    Ok(canvas.finish(bottom + MARGIN - 6.0))
}

/// Gaps of similar length.
struct Bin {
    from_ns: u64,
    to_ns: u64,
    count: u64,
    /// Idle time by cause, in the order of `Cause::ALL`.
    parts: [Ns; Cause::ALL.len()],
}

impl Bin {
    fn total_ns(&self) -> Ns {
        self.parts.into_iter().sum()
    }

    fn add(&mut self, gap: &ExplainedGap<'_>) {
        self.count += 1;
        for (sum, (_, ns)) in self.parts.iter_mut().zip(gap.parts.by_cause()) {
            *sum += ns;
        }
    }
}

/// Returns the edges of the bins: ten per decade, each in this many parts; bins below 10 ns are one
/// nanosecond wide.
fn edges(parts: u64) -> Vec<u64> {
    let decades = (0..=18).map(|power| 10_u64.pow(power));
    let edge = |decade: u64, tenth: u64| {
        let exact = u128::from(decade) * u128::from(tenth) / 1_000;
        u64::try_from(exact).unwrap_or(u64::MAX)
    };

    let mut edges: Vec<u64> = decades
        .flat_map(|decade| TENTHS.map(|tenth| edge(decade, tenth)))
        .collect();
    edges.dedup();
    let pairs = edges.iter().zip(edges.iter().skip(1));
    let inner = pairs.flat_map(|(&from, &to)| {
        let length = to - from;
        (0..parts).map(move |part| from + length / parts * part + length % parts * part / parts)
    });
    let mut inner: Vec<u64> = inner.collect();
    inner.dedup();
    inner
}

/// Returns bins in which the gaps of a program that is regular are told apart, none as thin as a hair.
fn bins(analysis: &Analysis) -> Vec<Bin> {
    /// Largest share of all gaps in one bin.
    const MOST: u64 = 4;
    /// Numbers of parts of a wide bin, each with the least number of gaps that it is for, and the largest
    /// ratio of lengths for which there is room.
    const FINER: [(u64, u64, u64); 2] = [(4, 20, 1_000), (8, 100, 30)];
    let mut bins = bins_of(analysis, 1);
    for (parts, least, farthest) in FINER {
        let count: u64 = bins.iter().map(|bin| bin.count).sum();
        let is_crowded = bins.iter().any(|bin| bin.count > count / MOST);
        let ends = bins.first().zip(bins.last());
        let has_room =
            ends.is_some_and(|(first, last)| last.to_ns / first.from_ns.max(1) < farthest);
        if is_crowded && has_room && count > least {
            bins = bins_of(analysis, parts);
        }
    }
    bins
}

fn bins_of(analysis: &Analysis, parts: u64) -> Vec<Bin> {
    let edges = edges(parts);
    let pairs = edges.iter().zip(edges.iter().skip(1));
    let mut bins: Vec<Bin> = pairs
        .map(|(&from_ns, &to_ns)| Bin {
            from_ns,
            to_ns,
            count: 0,
            parts: [Ns(0); Cause::ALL.len()],
        })
        .collect();

    for gap in analysis.gaps() {
        let at = edges.partition_point(|&edge| edge <= gap.duration_ns);
        if let Some(bin) = bins.get_mut(at.saturating_sub(1)) {
            bin.add(&gap);
        }
    }

    bins.retain(|bin| bin.count > 0);
    bins
}

/// Returns the lengths that are shown: all gaps, and the limit.
fn range(bins: &[Bin], limit_ns: Option<u64>) -> Option<(u64, u64)> {
    let (first, last) = (bins.first()?, bins.last()?);
    let (from, to) = (first.from_ns, last.to_ns);
    Some(match limit_ns {
        Some(limit) => (from.min(limit / 2), to.max(limit.saturating_mul(2))),
        None => (from, to),
    })
}

/// Returns the limit of the mean gap.
fn limit_ns(report: &Report) -> Option<u64> {
    let limit = limit(report, id!(gaps.mean_ns?))?;
    (limit >= 1.0).then_some(whole(limit))
}

fn title(canvas: &Canvas, place: Area, text: &str, above: f32) {
    let text = font::shorten(text, SMALL, canvas.width - 2.0 * MARGIN);
    let at = (MARGIN, place.top - above + 11.0);
    canvas.text(at, SMALL, Anchor::Start, canvas.palette.text, &text);
}

/// Draws one value per bin, in stacked parts.
fn panel(
    canvas: &Canvas,
    place: Area,
    (from, to): (u64, u64),
    up: Axis,
    bins: &[Bin],
    parts: impl Fn(&Bin) -> Vec<(Color, f64)>,
) -> Result<(), ChartError> {
    let across = Axis::logarithmic_time(from, to).with_room(place.width);
    canvas.plot(place, (across.clone(), up.clone()), Mesh::Across)?;
    let snap = |length: f32| (length / canvas.pixel).round() * canvas.pixel;
    let x = |ns: u64| snap(place.left + place.width * share(&across, ns));

    for bin in bins {
        let (left, right) = (x(bin.from_ns), x(bin.to_ns));
        let mut sum = 0.0;
        let mut low = place.bottom();
        for (fill, value) in parts(bin) {
            sum += value;
            let top = snap(place.bottom() - place.height * px(up.along(sum)));
            // A value above 0 is visible.
            let first = low >= place.bottom() && value > 0.0;
            let top = if first {
                top.min(place.bottom() - 1.0)
            } else {
                top
            };
            let bar = Area {
                left,
                top,
                width: (right - left - 1.0).max(1.0),
                height: low - top,
            };
            if bar.height > 0.0 {
                canvas.rectangle(bar, fill);
                low = top;
            }
        }
    }
    Ok(())
}

fn share(axis: &Axis, ns: u64) -> f32 {
    px(axis.along(ns.float()))
}

fn mark_limit(canvas: &Canvas, place: Area, (from, to): (u64, u64), limit_ns: u64) {
    let axis = Axis::logarithmic_time(from, to);
    let x = (place.left + place.width * share(&axis, limit_ns)).round();
    canvas.dashes_down(x, place);
    let label = format!(
        "limit: mean of {}",
        short_time(limit_ns).replace(".00 ", " ")
    );

    // Above the plot the label hides nothing. It stays above the mark if it can.
    let half = font::width(&label, SMALL) / 2.0;
    let most = (place.right() - half).max(place.left + half);
    let at = (x.clamp(place.left + half, most), place.top - 5.0);
    canvas.text(at, SMALL, Anchor::Middle, canvas.palette.text, &label);
}
