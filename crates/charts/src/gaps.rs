//! The gaps by length: how many there are, and how much of the idle time they are.

use metalens_analyzer::units::short_time;
use metalens_analyzer::{Analysis, Cause, ExplainedGap, Report};

use crate::axes::Axis;
use crate::canvas::{AXIS, Canvas, MARGIN, Mesh, Place, fault, limit, ratio};
use crate::font::{self, SMALL};
use crate::options::{Error, Options};
use crate::scene::{Anchor, Scene};

/// Where the tenths of a decade are, in thousandths.
const TENTHS: [u64; 10] = [
    1_000, 1_259, 1_585, 1_995, 2_512, 3_162, 3_981, 5_012, 6_310, 7_943,
];
const LEFT: f32 = 56.0;
/// Above the first panel, for its title and the target's; and above the second.
const TITLE: f32 = 36.0;
const SECOND: f32 = 26.0;

/// Draws it.
#[expect(clippy::cast_precision_loss, reason = "a height in pixels")]
pub(crate) fn draw(analysis: &Analysis, options: &Options) -> Result<Scene, Error> {
    let report = &analysis.report;
    let canvas = Canvas::new(
        options,
        &format!("Gaps of {} by length", report.process.name),
    );
    let fault = fault(report);
    let lines: Vec<&str> = fault.as_deref().into_iter().collect();
    let top = canvas.header(report, &idle(report), &lines) + 6.0;
    let bins = bins(analysis);
    let target_ns = target_ns(report);
    let Some(range) = range(&bins, target_ns) else {
        return canvas.finish(top + MARGIN, options);
    };
    let entries = canvas.causes(&analysis.report);
    let legend = canvas.legend_height(&entries, options);
    let around = top + TITLE + AXIS + SECOND + AXIS + 10.0 + legend + MARGIN;
    let room = options
        .height
        .map_or(260.0, |height| height as f32 - around);
    let mut place = Place {
        left: MARGIN + LEFT,
        top: (top + TITLE).round(),
        width: canvas.width - 2.0 * MARGIN - LEFT - 8.0,
        height: (room / 2.0).floor().max(60.0),
    };
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(1);
    let total = report.gaps.total_ns;
    title(
        &canvas,
        place,
        "How many gaps there are of each length, in the colour of their main cause",
        TITLE,
    );
    panel(&canvas, place, range, Axis::count(most), &bins, |bin| {
        vec![(bin.main(), bin.count as f64)]
    })?;
    if let Some(target_ns) = target_ns {
        target(&canvas, place, range, target_ns);
    }
    place.top = (place.bottom() + AXIS + SECOND).round();
    let share = "Their share of the idle time, by cause";
    title(&canvas, place, share, SECOND);
    let largest = bins.iter().map(|bin| ratio(bin.total_ns(), total));
    let largest = largest.fold(0.0, f64::max);
    panel(&canvas, place, range, Axis::share(largest), &bins, |bin| {
        let parts = Cause::ALL.into_iter().zip(bin.parts);
        parts.map(|(cause, ns)| (cause, ratio(ns, total))).collect()
    })?;
    let bottom = canvas.legend(place.bottom() + AXIS + 10.0, &entries);
    canvas.finish(bottom + MARGIN - 6.0, options)
}

/// The report's sentence, which can stand alone here.
pub(crate) fn idle(report: &Report) -> String {
    let (said, name) = (&report.summary.idle, &report.process.name);
    let alone = said
        .strip_prefix("It left it ")
        .map(|rest| format!("{name} left the GPU {rest}"));
    let alone = alone.or_else(|| Some(format!("{name} left {}", said.strip_prefix("It left ")?)));
    alone.unwrap_or_else(|| said.clone())
}

/// Gaps of about the same length.
struct Bin {
    from_ns: u64,
    to_ns: u64,
    count: u64,
    /// In the order of `Cause::ALL`.
    parts: [u64; 7],
}

impl Bin {
    fn total_ns(&self) -> u64 {
        self.parts.iter().sum()
    }

    fn main(&self) -> Cause {
        let parts = Cause::ALL.into_iter().zip(self.parts);
        // Of equal ones the first.
        let largest = parts.rev().max_by_key(|&(_, ns)| ns);
        largest.map_or(Cause::Unknown, |(cause, _)| cause)
    }

    fn add(&mut self, gap: &ExplainedGap<'_>) {
        self.count += 1;
        for (sum, (_, ns)) in self.parts.iter_mut().zip(gap.parts.by_cause()) {
            *sum += ns;
        }
    }
}

/// Ten for each decade; those below 10 ns are a nanosecond wide.
fn edges() -> Vec<u64> {
    let decades = (0..=18).map(|power| 10_u64.pow(power));
    let edge = |decade: u64, tenth: u64| {
        let exact = u128::from(decade) * u128::from(tenth) / 1_000;
        u64::try_from(exact).unwrap_or(u64::MAX)
    };
    let mut edges: Vec<u64> = decades
        .flat_map(|decade| TENTHS.map(|tenth| edge(decade, tenth)))
        .collect();
    edges.dedup();
    edges
}

fn bins(analysis: &Analysis) -> Vec<Bin> {
    let edges = edges();
    let pairs = edges.iter().zip(edges.iter().skip(1));
    let mut bins: Vec<Bin> = pairs
        .map(|(&from_ns, &to_ns)| Bin {
            from_ns,
            to_ns,
            count: 0,
            parts: [0; 7],
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

/// The lengths that are shown: all there are, and the target.
fn range(bins: &[Bin], target_ns: Option<u64>) -> Option<(u64, u64)> {
    let (first, last) = (bins.first()?, bins.last()?);
    let (from, to) = (first.from_ns, last.to_ns);
    Some(match target_ns {
        Some(target) => (from.min(target / 2), to.max(target.saturating_mul(2))),
        None => (from, to),
    })
}

/// What gaps should be on average.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float becomes the integer that is next to it"
)]
fn target_ns(report: &Report) -> Option<u64> {
    let limit = limit(report, "average-gap")?;
    (limit >= 1.0).then_some(limit as u64)
}

fn title(canvas: &Canvas, place: Place, text: &str, above: f32) {
    let text = font::shorten(text, SMALL, canvas.width - 2.0 * MARGIN);
    let at = (MARGIN, place.top - above + 11.0);
    canvas.text(at, SMALL, Anchor::Start, canvas.palette.text, &text);
}

/// One value per bin, in parts that stand one upon the other.
fn panel(
    canvas: &Canvas,
    place: Place,
    (from, to): (u64, u64),
    up: Axis,
    bins: &[Bin],
    parts: impl Fn(&Bin) -> Vec<(Cause, f64)>,
) -> Result<(), Error> {
    let across = Axis::logarithmic_time(from, to).with_room(place.width);
    canvas.plot(place, (across.clone(), up.clone()), Mesh::Across)?;
    let snap = |length: f32| (length / canvas.pixel).round() * canvas.pixel;
    let x = |ns: u64| snap(place.left + place.width * share(&across, ns));
    for bin in bins {
        let (left, right) = (x(bin.from_ns), x(bin.to_ns));
        let mut sum = 0.0;
        let mut low = place.bottom();
        for (cause, value) in parts(bin) {
            sum += value;
            let top = snap(place.bottom() - place.height * up_share(&up, sum));
            // What there is, is seen.
            let first = low >= place.bottom() && value > 0.0;
            let top = if first {
                top.min(place.bottom() - 1.0)
            } else {
                top
            };
            let bar = Place {
                left,
                top,
                width: (right - left - 1.0).max(1.0),
                height: low - top,
            };
            if bar.height > 0.0 {
                canvas.rectangle(bar, canvas.palette.cause(cause));
                low = top;
            }
        }
    }
    Ok(())
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a place on a canvas"
)]
fn share(axis: &Axis, ns: u64) -> f32 {
    axis.along(ns as f64) as f32
}

#[expect(clippy::cast_possible_truncation, reason = "a place on a canvas")]
fn up_share(axis: &Axis, value: f64) -> f32 {
    axis.along(value) as f32
}

fn target(canvas: &Canvas, place: Place, (from, to): (u64, u64), target_ns: u64) {
    let axis = Axis::logarithmic_time(from, to);
    let x = (place.left + place.width * share(&axis, target_ns)).round();
    canvas.dashes_down(x, place);
    let label = format!(
        "target: {} on average",
        short_time(target_ns).replace(".00 ", " ")
    );
    // Above the plot it hides nothing, and stays in line with it where it can.
    let half = font::width(&label, SMALL) / 2.0;
    let most = (place.right() - half).max(place.left + half);
    let at = (x.clamp(place.left + half, most), place.top - 5.0);
    canvas.text(at, SMALL, Anchor::Middle, canvas.palette.text, &label);
}
