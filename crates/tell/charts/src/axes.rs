//! Defines axes for plotters, whose ticks are round numbers with a unit.

use std::iter::successors;
use std::ops::Range;

use metalens_text::number::{Float, whole};
use metalens_text::units;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use crate::font::{self, SMALL};
use crate::pixels::{nearest_px, times};

/// An axis with its ticks and their labels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    from: f64,
    to: f64,
    logarithmic: bool,
    ticks: Vec<(f64, String)>,
}

const HOUR: u64 = 3_600_000_000_000;

impl Axis {
    fn linear(from: f64, to: f64, ticks: impl Iterator<Item = (f64, String)>) -> Self {
        Self {
            from,
            to,
            logarithmic: false,
            ticks: ticks.collect(),
        }
    }

    /// Makes an axis from 0, in nanoseconds, with at most this many ticks.
    pub(crate) fn time(span_ns: u64, most: usize) -> Self {
        let span_ns = span_ns.max(1);
        let (step, unit, name) = time_step(span_ns, most.max(1) as u64);
        let decimals = decimals(step, unit);
        let label = |time: u64| match time {
            0 => "0".to_owned(),
            _ => format!("{:.decimals$} {name}", time.float() / unit.float()),
        };

        let ticks = (0..=span_ns / step).map(|at| at * step);
        let ticks = ticks.map(|time| (time.float(), label(time)));
        Self::linear(0.0, span_ns.float(), ticks)
    }

    /// Makes an axis of the recording's time, written as tables write moments: `0.871s`.
    pub(crate) fn recording(start_ns: u64, end_ns: u64, most: usize) -> Self {
        const SECOND: u64 = 1_000_000_000;
        let end_ns = end_ns.max(start_ns.saturating_add(1));
        let step = round_step(end_ns - start_ns, most.max(1) as u64);
        let decimals = decimals(step, SECOND);
        let first = start_ns.div_ceil(step);
        let ticks = (first..=end_ns / step).map(|at| (at * step).float());
        let label = |time: f64| format!("{:.decimals$}s", time / SECOND.float());
        let ticks = ticks.map(|time| (time, label(time)));
        Self::linear(start_ns.float(), end_ns.float(), ticks)
    }

    /// Makes an axis from 0 to a round share that is not below `most`.
    pub(crate) fn share(most: f64) -> Self {
        let most = whole((most * 100.0).ceil().clamp(1.0, 100.0));
        let step = round_step(most, 5);
        let steps = most.div_ceil(step);
        let tick = |percent: u64| (percent.float() / 100.0, format!("{percent} %"));
        let ticks = (0..=steps).map(|at| tick(at * step));
        Self::linear(0.0, (steps * step).float() / 100.0, ticks)
    }

    /// Makes an axis from 0 to a round number that is not below `most`.
    pub(crate) fn count(most: u64) -> Self {
        let step = round_step(most, 5);
        let steps = most.div_ceil(step).max(1);
        let tick = |count: u64| (count.float(), units::count(count));
        let ticks = (0..=steps).map(|at| tick(at * step));
        Self::linear(0.0, (steps * step).float(), ticks)
    }

    /// Makes a logarithmic axis of times in nanoseconds, both above 0.
    pub(crate) fn logarithmic_time(from_ns: u64, to_ns: u64) -> Self {
        let from_ns = from_ns.max(1);
        let to_ns = to_ns.max(from_ns.saturating_add(1));
        // Within a factor of four, 1, 2 and 5 may leave a single label.
        let ticks: Vec<(f64, String)> = if to_ns / from_ns < 4 {
            let step = round_step(to_ns - from_ns, 5);
            let times = (from_ns.div_ceil(step)..=to_ns / step).map(|at| at * step);
            let tick = |time: u64| (time.float(), units::short_time(time));
            times.map(tick).collect()
        } else {
            let narrow = to_ns / from_ns < 50;
            let steps: &[u64] = if narrow { &[1, 2, 5] } else { &[1] };
            let decades = successors(Some(1_u64), |decade| decade.checked_mul(10));
            let decades = decades.take_while(|&decade| decade <= to_ns);
            let times = decades
                .flat_map(|decade| steps.iter().map(move |step| decade.saturating_mul(*step)));
            let times = times.filter(|time| (from_ns..=to_ns).contains(time));
            times.map(|time| (time.float(), round_time(time))).collect()
        };
        Self {
            from: from_ns.float(),
            to: to_ns.float(),
            logarithmic: true,
            ticks,
        }
    }

    /// Drops ticks whose labels would touch the one before, on an axis of this many pixels.
    pub(crate) fn spaced(mut self, pixels: f32) -> Self {
        const BETWEEN: f64 = 6.0;
        let ticks = std::mem::take(&mut self.ticks).into_iter();
        let mut free = f64::NEG_INFINITY;
        for (value, label) in ticks {
            let middle = self.along(value) * f64::from(pixels);
            let half = f64::from(font::width(&label, SMALL)) / 2.0;
            if middle - half >= free {
                free = middle + half + BETWEEN;
                self.ticks.push((value, label));
            }
        }
        self
    }

    pub(crate) fn tick_count(&self) -> usize {
        self.ticks.len()
    }

    /// Returns the position of a value on the axis, from 0 to 1.
    pub(crate) fn along(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            // The platform's own logarithm may differ in the last digit.
            let log = |value: f64| libm::log(value / self.from);
            log(value.max(self.from)) / log(self.to)
        } else {
            (value - self.from) / (self.to - self.from)
        };
        share.clamp(0.0, 1.0)
    }
}

impl Axis {
    /// Keeps each second, third, … tick, so that all labels have room.
    pub(crate) fn with_room(mut self, width: f32) -> Self {
        const LABEL: f32 = 46.0;
        let mut every = 1;
        while times(self.ticks.len().div_ceil(every)) * LABEL > width.max(LABEL) {
            every += 1;
        }
        let ticks = self.ticks.into_iter().step_by(every);
        self.ticks = ticks.collect();
        self
    }
}

/// Formats a round time, such as `10 µs`.
fn round_time(ns: u64) -> String {
    match ns {
        ..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} µs", ns / 1_000),
        1_000_000..1_000_000_000 => format!("{} ms", ns / 1_000_000),
        _ => format!("{} s", ns / 1_000_000_000),
    }
}

/// Returns the step of a time axis in nanoseconds, and its unit.
fn time_step(span_ns: u64, most: u64) -> (u64, u64, &'static str) {
    const UNITS: [(u64, &str); 4] = [
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "µs"),
        (1, "ns"),
    ];
    if span_ns >= 2 * HOUR {
        let tenths = round_step(span_ns / (HOUR / 10), most);
        return (tenths * (HOUR / 10), HOUR, "h");
    }
    let step = round_step(span_ns, most);
    let unit = UNITS.iter().find(|&&(unit, _)| span_ns >= unit);
    let &(unit, name) = unit.unwrap_or(&(1, "ns"));
    (step, unit, name)
}

/// Returns the smallest of 1, 2, 5, 10, 20, … that divides a length into at most `most` parts.
fn round_step(length: u64, most: u64) -> u64 {
    let mut decade = 1_u64;
    loop {
        for step in [1, 2, 5].map(|part| decade.saturating_mul(part)) {
            if length.div_ceil(step) <= most || step == u64::MAX {
                return step;
            }
        }
        decade = decade.saturating_mul(10);
    }
}

/// Returns the number of decimals that distinguishes steps.
fn decimals(step: u64, unit: u64) -> usize {
    let (mut scaled, mut decimals) = (step, 0);
    while !scaled.is_multiple_of(unit) && decimals < 9 {
        scaled = scaled.saturating_mul(10);
        decimals += 1;
    }
    decimals
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let length = f64::from(limit.1) - f64::from(limit.0);
        nearest_px(f64::from(limit.0) + length * self.along(*value))
    }

    fn key_points<H: KeyPointHint>(&self, _: H) -> Vec<f64> {
        self.ticks.iter().map(|&(value, _)| value).collect()
    }

    fn range(&self) -> Range<f64> {
        self.from..self.to
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let same = |tick: &&(f64, String)| tick.0.total_cmp(value).is_eq();
        let tick = self.ticks.iter().find(same);
        tick.map_or(String::new(), |(_, label)| label.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_ticks_are_round_and_have_the_unit_that_fits() {
        let cases = [
            (1, "0|1 ns"),
            (200_189_875, "0|50 ms|100 ms|150 ms|200 ms"),
            (2_123_889, "0|0.5 ms|1.0 ms|1.5 ms|2.0 ms"),
            (990, "0|200 ns|400 ns|600 ns|800 ns"),
            (86_400_000_000_000, "0|5 h|10 h|15 h|20 h"),
            (2 * HOUR, "0|0.5 h|1.0 h|1.5 h|2.0 h"),
        ];
        for (span, expected) in cases {
            let labels: Vec<String> = Axis::time(span, 5).ticks.into_iter().map(|t| t.1).collect();
            assert_eq!(labels.join("|"), expected, "{span}");
        }
    }

    #[test]
    fn logarithmic_ticks_are_round() {
        let cases = [
            (100, 2_000_000, "100 ns|1 µs|10 µs|100 µs|1 ms"),
            (1_000, 20_000, "1 µs|2 µs|5 µs|10 µs|20 µs"),
            (158_489, 251_188, "160 µs|180 µs|200 µs|220 µs|240 µs"),
        ];
        for (from, to, expected) in cases {
            let axis = Axis::logarithmic_time(from, to);
            let labels: Vec<String> = axis.ticks.into_iter().map(|t| t.1).collect();
            assert_eq!(labels.join("|"), expected);
        }
    }

    #[test]
    fn recording_times_are_written_as_in_tables() {
        let check = |from: u64, to: u64, expected: &[&str]| {
            let axis = Axis::recording(from, to, 7);
            let labels: Vec<String> = axis.ticks.iter().map(|tick| tick.1.clone()).collect();
            assert_eq!(labels, expected);
            let first = axis.ticks.first().map(|tick| axis.along(tick.0));
            assert!(
                first.is_some_and(|at| (0.0..0.5).contains(&at)),
                "{first:?}"
            );
        };
        let window = ["0.25s", "0.30s", "0.35s", "0.40s", "0.45s", "0.50s"];
        check(201_147_000, 510_748_774, &window);
        let enlarged = [
            "1.0546s", "1.0548s", "1.0550s", "1.0552s", "1.0554s", "1.0556s",
        ];
        check(1_054_410_000, 1_055_677_000, &enlarged);
    }
}
