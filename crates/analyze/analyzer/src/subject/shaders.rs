//! Names GPU intervals after the shaders that the recording saw run in them.
//!
//! `metal-shader-profiler-intervals` has samples with a shader's name and a time, in recordings
//! made with the Shader Timeline. A sample belongs to the interval in which it begins, and
//! samples name an interval only if they cover half of it: a sample of 9 µs says little about an
//! interval of 3.7 ms. `metal-shader-profiler-shader-list` has names without times, in nearly
//! every recording: an inventory, which names no interval.
//!
//! Samples nest, and the time of an inner one is in the outer one too. So only outer ones name
//! and count:
//!
//! ```text
//! interval  ├──────────────────────────┤
//! depth 0   ├── matmul ──┤ ├─ softmax ─┤
//! depth 1      ├─ exp ─┤
//! ```

use std::cmp::Reverse;

use metalens_text::number::{Float, rounded};
use metalens_trace::{Names, Symbol};
use rustc_hash::FxHashMap;

use super::chosen_processes::ChosenProcesses;
use super::interval::Interval;
use crate::basics::spans::{Span, length_ns, union};
use crate::error::Result;
use crate::tables::columns::at;
use crate::tables::names::ShaderSamples;
use crate::tables::reader::{TableResult, if_any};

/// Largest number of shaders that a report lists.
pub(crate) const SHADERS: usize = 200;

/// Largest number of shaders that are all named; an interval of more is named after the largest
/// alone.
const NAMED: usize = 3;

/// Shaders that ran in the GPU intervals of the process, with an entry for each interval; empty
/// if nothing was sampled.
#[derive(Debug, Default)]
pub(crate) struct SampledShaders {
    /// Name of the interval's shaders, as a symbol; `None` if they cover less than half of it.
    pub names: Vec<Option<Symbol>>,
    /// Time of the interval inside the window that samples cover.
    pub covered_ns: Vec<u64>,
}

/// ShaderSample of a shader.
struct ShaderSample {
    span: Span,
    channel: Option<Symbol>,
    name: Symbol,
    /// Share of its interval in percent, as the recorder has it.
    percent: Option<f64>,
    depth: Option<u64>,
}

impl ShaderSample {
    /// Returns whether a sample lies inside another one.
    fn is_in(&self, outer: &Self) -> bool {
        let depths = outer.depth.zip(self.depth);
        depths.is_some_and(|(outer, own)| outer < own)
            && outer.span.start_ns <= self.span.start_ns
            && outer.span.end_ns >= self.span.end_ns
    }
}

/// Returns the shaders of each interval, with names as symbols of `made`.
pub(crate) fn shaders_of(
    table: TableResult<ShaderSamples>,
    mine: &[Interval],
    window: Span,
    chosen: &ChosenProcesses,
    names: &Names,
    made: &mut Names,
) -> Result<SampledShaders> {
    let mut shaders = SampledShaders::default();
    let Some(table) = if_any(table)? else {
        return Ok(shaders);
    };
    let samples = samples(&table, chosen, names, made)?;
    if samples.is_empty() {
        return Ok(shaders);
    }

    for interval in mine {
        let seen = Seen::in_interval(&samples, interval);
        let name = seen
            .names_interval(interval.span)
            .then(|| name_of(&seen.shaders, made))
            .flatten();
        shaders.names.push(name);
        shaders
            .covered_ns
            .push(seen.covered_ns(interval.span.clip(window)));
    }
    Ok(shaders)
}

/// Returns the samples of the chosen processes, sorted by start, outer ones before inner ones.
fn samples(
    table: &ShaderSamples,
    chosen: &ChosenProcesses,
    names: &Names,
    made: &mut Names,
) -> Result<Vec<ShaderSample>> {
    let mut functions: FxHashMap<Symbol, Symbol> = FxHashMap::default();
    let mut samples = Vec::new();
    for (row, span) in table.spans.all().enumerate() {
        let span = span?;
        let is_own = chosen.owns_row(table.processes.as_ref(), row);
        if let Some(name) = at(&table.names, row).filter(|_| is_own) {
            samples.push(ShaderSample {
                span,
                channel: at(&table.channels, row),
                name: *functions
                    .entry(name)
                    .or_insert_with(|| made.symbol(function(names.text(name)))),
                percent: table.percents.get(row, names),
                depth: table.depths.get(row),
            });
        }
    }
    samples.sort_by_key(|sample| {
        let span = sample.span;
        (span.start_ns, Reverse(span.end_ns), sample.depth)
    });
    Ok(samples)
}

/// Shaders that were seen in one interval.
struct Seen {
    /// Shaders in order of time, each with its duration.
    shaders: Vec<(Symbol, u64)>,
    /// Stretches that samples cover: disjoint, in order of time.
    covered: Vec<Span>,
    /// Share of the interval in percent, by the recorder's own count; `None` if a sample has
    /// none.
    percent: Option<f64>,
}

impl Seen {
    /// Finds the outer samples that begin in an interval, on its channel.
    fn in_interval(samples: &[ShaderSample], interval: &Interval) -> Self {
        let from = samples.partition_point(|sample| sample.span.start_ns < interval.span.start_ns);
        let later = samples.iter().skip(from);
        let meanwhile = later.take_while(|sample| sample.span.start_ns < interval.span.end_ns);

        let mut shaders: Vec<(Symbol, u64)> = Vec::new();
        let mut spans = Vec::new();
        let mut percent = Some(0.0);
        let mut open: Vec<&ShaderSample> = Vec::new();
        for sample in meanwhile.filter(|sample| {
            sample.channel.is_none()
                || interval.channel.is_none()
                || sample.channel == interval.channel
        }) {
            open.retain(|outer| outer.span.end_ns > sample.span.start_ns);
            if open.iter().any(|outer| sample.is_in(outer)) {
                continue;
            }
            open.push(sample);

            let span = sample.span.clip(interval.span);
            spans.push(span);
            percent = percent
                .zip(sample.percent)
                .map(|(sum, percent)| sum + percent);
            match shaders.iter_mut().find(|(name, _)| *name == sample.name) {
                Some((_, length)) => *length += span.length_ns(),
                None => shaders.push((sample.name, span.length_ns())),
            }
        }
        Self {
            shaders,
            covered: union(spans),
            percent,
        }
    }

    /// Returns whether the samples cover at least half of the interval.
    fn names_interval(&self, interval: Span) -> bool {
        self.covered_ns(interval) * 2 >= interval.length_ns()
    }

    /// Returns the time of a part of the interval that samples cover: the less of what their
    /// times and what their percentages say.
    fn covered_ns(&self, part: Span) -> u64 {
        let inside = self.covered.iter().map(|span| span.clip(part));
        let covered_ns = length_ns(&inside.collect::<Vec<Span>>());
        self.percent
            .map(|percent| rounded(part.length_ns().float() * percent / 100.0))
            .map_or(covered_ns, |ns| ns.min(covered_ns))
    }
}

/// Removes the number from a shader's name, which differs in every recording: `matmul (45)` →
/// `matmul`.
pub(crate) fn function(name: &str) -> &str {
    let stripped = name
        .strip_suffix(')')
        .and_then(|open| open.rsplit_once(" ("));
    match stripped {
        Some((name, number)) if number.parse::<u64>().is_ok() && !name.is_empty() => name,
        _ => name,
    }
}

/// Returns the name of several shaders: `matmul`, `matmul + softmax`, `matmul + 4 more`.
fn name_of(shaders: &[(Symbol, u64)], names: &mut Names) -> Option<Symbol> {
    let (&(first, _), rest) = shaders.split_first()?;
    if rest.is_empty() {
        return Some(first);
    }

    let text = if shaders.len() <= NAMED {
        let shader_names: Vec<&str> = shaders.iter().map(|&(name, _)| names.text(name)).collect();
        shader_names.join(" + ")
    } else {
        // Of equally long ones the first in time, so that the name is stable.
        let longest = shaders.iter().rev().max_by_key(|(_, length)| *length);
        let longest_name = longest.map_or(first, |&(name, _)| name);
        format!("{} + {} more", names.text(longest_name), rest.len())
    };
    Some(names.symbol(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_numbers_are_removed() {
        let cases = [
            ("matmul (45)", "matmul"),
            ("soft<max> (fast) (1)", "soft<max> (fast)"),
            ("matmul (fast)", "matmul (fast)"),
            ("matmul", "matmul"),
            (" (45)", " (45)"),
        ];
        for (name, expected) in cases {
            assert_eq!(function(name), expected);
        }
    }

    #[test]
    fn intervals_are_named_after_their_shaders() {
        let mut names = Names::new();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| names.symbol(name));
        type Shaders<'a> = &'a [(Symbol, u64)];
        let cases: [(Shaders<'_>, Option<&str>); 5] = [
            (&[], None),
            (&[(a, 5)], Some("a")),
            (&[(b, 5), (a, 9)], Some("b + a")),
            (&[(a, 5), (b, 9), (c, 9), (d, 1)], Some("b + 3 more")),
            (&[(a, 1), (b, 1), (c, 1), (d, 1)], Some("a + 3 more")),
        ];
        for (shaders, expected) in cases {
            let name = name_of(shaders, &mut names);
            assert_eq!(
                name.map(|name| names.text(name).to_owned()).as_deref(),
                expected
            );
        }
    }
}
