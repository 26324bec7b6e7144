//! Names GPU intervals after the shaders that the recording saw run in them.
//!
//! `metal-shader-profiler-intervals` has samples with a shader's name and a time, in recordings
//! made with the Shader Timeline; they name the interval in which they begin.
//! `metal-shader-profiler-shader-list` has names without times, in nearly every recording: an
//! inventory, which names no interval.

use metalens_trace::{Names, Symbol};
use rustc_hash::FxHashMap;

use super::chosen_processes::ChosenProcesses;
use super::timeline::Interval;
use crate::error::Result;
use crate::tables::columns::at;
use crate::tables::names::ShaderSamples;
use crate::tables::reader::{TableResult, if_any};

/// Largest number of shaders that are all named; an interval of more is named after the largest
/// alone.
const NAMED: usize = 3;

/// Sample of a shader.
struct ShaderSample {
    start_ns: u64,
    length_ns: u64,
    channel: Option<Symbol>,
    name: Symbol,
}

/// Returns the shaders' name of each interval, as a symbol of `made`; empty if nothing was
/// sampled.
pub(crate) fn shaders_of(
    table: TableResult<ShaderSamples>,
    mine: &[Interval],
    chosen: &ChosenProcesses,
    names: &Names,
    made: &mut Names,
) -> Result<Vec<Option<Symbol>>> {
    let Some(table) = if_any(table)? else {
        return Ok(Vec::new());
    };
    let samples = samples(&table, chosen, names, made)?;
    if samples.is_empty() {
        return Ok(Vec::new());
    }

    let named = mine.iter().map(|interval| {
        let shaders = shaders_in(&samples, interval);
        name_of(&shaders, made)
    });
    Ok(named.collect())
}

/// Returns the samples of the chosen processes, sorted by start.
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
                start_ns: span.start_ns,
                length_ns: span.length_ns(),
                channel: at(&table.channels, row),
                name: *functions
                    .entry(name)
                    .or_insert_with(|| made.symbol(function(names.text(name)))),
            });
        }
    }
    samples.sort_by_key(|sample| sample.start_ns);
    Ok(samples)
}

/// Returns the shaders that begin in an interval, on its channel, in order of time, each with
/// its duration.
fn shaders_in(samples: &[ShaderSample], interval: &Interval) -> Vec<(Symbol, u64)> {
    let from = samples.partition_point(|sample| sample.start_ns < interval.span.start_ns);
    let samples = samples.iter().skip(from);
    let samples = samples.take_while(|sample| sample.start_ns < interval.span.end_ns);

    let mut shaders: Vec<(Symbol, u64)> = Vec::new();
    for sample in samples.filter(|sample| {
        sample.channel.is_none() || interval.channel.is_none() || sample.channel == interval.channel
    }) {
        match shaders.iter_mut().find(|(name, _)| *name == sample.name) {
            Some((_, length)) => *length += sample.length_ns,
            None => shaders.push((sample.name, sample.length_ns)),
        }
    }
    shaders
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
        let all: Vec<&str> = shaders.iter().map(|&(name, _)| names.text(name)).collect();
        all.join(" + ")
    } else {
        // Of equally long ones the first in time, so that the name is stable.
        let largest = shaders.iter().rev().max_by_key(|(_, length)| *length);
        let largest = largest.map_or(first, |&(name, _)| name);
        format!("{} + {} more", names.text(largest), rest.len())
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
