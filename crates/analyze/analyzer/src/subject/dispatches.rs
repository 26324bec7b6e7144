//! Names GPU intervals after the functions that the program dispatched in them, which only a
//! command-buffer log has.

use std::num::NonZeroU64;

use metalens_trace::{Names, Symbol};
use rustc_hash::FxHashMap;

use super::commands::id_of;
use super::interval::Interval;
use super::shaders::SHADERS;
use crate::basics::by_id::ById;
use crate::error::Result;
use crate::report::Shader;
use crate::tables::columns::at;
use crate::tables::names::Dispatches;
use crate::tables::reader::{TableResult, if_any};

/// Largest number of functions that are all in a name.
const NAMED: usize = 4;
/// Largest number of different mixes that are kept.
const MIXES: usize = 2_000;

/// Functions of each GPU interval of the process; empty if dispatches are not recorded.
#[derive(Debug, Default)]
pub(crate) struct DispatchedFunctions {
    /// Names of the interval's functions, joined, as a symbol; `None` if it has none.
    pub names: Vec<Option<Symbol>>,
    /// Number of the interval's dispatches.
    pub counts: Vec<u64>,
    /// Functions of the intervals, with how often each was dispatched.
    pub mixes: FunctionMixes,
    /// All functions of the recording, those with the most dispatches first.
    pub inventory: Vec<Shader>,
}

/// Different mixes of functions, and the place of each interval's among them.
#[derive(Debug, Default, Clone)]
pub(crate) struct FunctionMixes {
    pub different: Vec<Mix>,
    /// `None` without dispatches, and where there are too many mixes.
    pub of_interval: Vec<Option<u32>>,
}

/// Functions with how often each was dispatched.
type Mix = Vec<(Symbol, u64)>;

/// Functions of one encoder: their joined names, the number of their dispatches, and their mix.
type OfEncoder = (Symbol, u64, Option<u32>);

/// Returns the functions of each interval, with names as symbols of `made`.
pub(crate) fn functions_of(
    table: TableResult<Dispatches>,
    mine: &[Interval],
    names: &Names,
    made: &mut Names,
) -> Result<DispatchedFunctions> {
    let Some(table) = if_any(table)? else {
        return Ok(DispatchedFunctions::default());
    };
    let mut different = FxHashMap::default();
    let by_encoder = by_encoder(&table, names, made, &mut different);
    let of_encoder = |interval: &Interval| by_encoder.get(interval.encoder?);
    Ok(DispatchedFunctions {
        inventory: inventory(&table, names),
        names: mine
            .iter()
            .map(|interval| Some(of_encoder(interval)?.0))
            .collect(),
        counts: mine
            .iter()
            .map(|interval| of_encoder(interval).map_or(0, |(_, count, _)| count))
            .collect(),
        mixes: FunctionMixes {
            of_interval: mine
                .iter()
                .map(|interval| of_encoder(interval)?.2)
                .collect(),
            different: in_order(different),
        },
    })
}

/// Returns keys in the order of their places.
fn in_order(places: FxHashMap<Mix, u32>) -> Vec<Mix> {
    let mut mixes: Vec<(Mix, u32)> = places.into_iter().collect();
    mixes.sort_unstable_by_key(|(_, place)| *place);
    mixes.into_iter().map(|(mix, _)| mix).collect()
}

/// Returns the functions of each encoder. Adds new mixes to the different ones.
fn by_encoder(
    table: &Dispatches,
    names: &Names,
    made: &mut Names,
    different: &mut FxHashMap<Mix, u32>,
) -> ById<OfEncoder> {
    // Few sets of functions are distinct.
    let mut joined: FxHashMap<Vec<Symbol>, Symbol> = FxHashMap::default();
    let mut facts_of = |mix: &[(Symbol, u64)]| {
        let functions: Vec<Symbol> = mix.iter().map(|(function, _)| *function).collect();
        let name = joined
            .entry(functions)
            .or_insert_with_key(|functions| made.symbol(&join(functions, names)));
        // The order matters for the name alone.
        let mut sorted = mix.to_vec();
        sorted.sort_unstable_by_key(|(function, _)| function.index());
        let place = different.get(&sorted).copied().or_else(|| {
            let place = u32::try_from(different.len()).ok();
            let place = place.filter(|_| different.len() < MIXES)?;
            different.insert(sorted, place);
            Some(place)
        });
        (*name, mix.iter().map(|(_, count)| count).sum(), place)
    };
    let mut entries: Vec<(NonZeroU64, OfEncoder)> = Vec::new();
    // Encoder in which each function was last, and its place there.
    let mut last_in: FxHashMap<Symbol, (NonZeroU64, usize)> = FxHashMap::default();
    let (mut open, mut mix): (_, Mix) = (None, Vec::new());
    for row in 0..table.functions.len() {
        let row_of = (id_of(&table.encoders, row), at(&table.functions, row));
        let (Some(encoder), Some(function)) = row_of else {
            continue;
        };
        // The rows of an encoder are together.
        if let Some(last) = open.filter(|&last| last != encoder) {
            entries.push((last, facts_of(&mix)));
            mix.clear();
        }
        open = Some(encoder);
        let known = last_in.get(&function).filter(|(last, _)| *last == encoder);
        let place = known.map_or(mix.len(), |(_, place)| *place);
        let count = table.counts.get(row).unwrap_or(0);
        match mix.get_mut(place) {
            Some((_, sum)) => *sum += count,
            None => mix.push((function, count)),
        }
        last_in.insert(function, (encoder, place));
    }
    if let Some(last) = open {
        entries.push((last, facts_of(&mix)));
    }
    ById::new(entries)
}

/// Returns the functions with the number of their dispatches.
fn inventory(table: &Dispatches, names: &Names) -> Vec<Shader> {
    let mut counts: FxHashMap<(Symbol, Option<Symbol>), u64> = FxHashMap::default();
    for row in 0..table.functions.len() {
        if let Some(function) = at(&table.functions, row) {
            let count = counts.entry((function, at(&table.kinds, row))).or_default();
            *count += table.counts.get(row).unwrap_or(0);
        }
    }
    let mut functions: Vec<Shader> = counts
        .into_iter()
        .map(|((function, kind), count)| Shader {
            name: names.text(function).to_owned(),
            pipeline: None,
            kind: kind.map(|kind| names.text(kind).to_owned()),
            dispatches: Some(count),
        })
        .collect();
    functions.sort_by(|a, b| b.dispatches.cmp(&a.dispatches).then_with(|| a.cmp(b)));
    functions.truncate(SHADERS);
    functions
}

/// Joins the names of functions: `gemm + softmax + 3 more`.
fn join(functions: &[Symbol], names: &Names) -> String {
    let named = functions.iter().take(NAMED);
    let mut text = named
        .map(|&function| names.text(function))
        .collect::<Vec<_>>()
        .join(" + ");
    if let Some(more @ 1..) = functions.len().checked_sub(NAMED) {
        text.push_str(&format!(" + {more} more"));
    }
    text
}
