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

/// Functions of each GPU interval of the process; empty if dispatches are not recorded.
#[derive(Debug, Default)]
pub(crate) struct DispatchedFunctions {
    /// Names of the interval's functions, joined, as a symbol; `None` if it has none.
    pub names: Vec<Option<Symbol>>,
    /// Number of the interval's dispatches.
    pub counts: Vec<u64>,
    /// All functions of the recording, those with the most dispatches first.
    pub inventory: Vec<Shader>,
}

/// Functions of one encoder: their joined names, and the number of their dispatches.
type OfEncoder = (Symbol, u64);

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
    let by_encoder = by_encoder(&table, names, made);
    let of_encoder = |interval: &Interval| by_encoder.get(interval.encoder?);
    Ok(DispatchedFunctions {
        inventory: inventory(&table, names),
        names: mine
            .iter()
            .map(|interval| Some(of_encoder(interval)?.0))
            .collect(),
        counts: mine
            .iter()
            .map(|interval| of_encoder(interval).map_or(0, |(_, count)| count))
            .collect(),
    })
}

/// Returns the functions of each encoder.
fn by_encoder(table: &Dispatches, names: &Names, made: &mut Names) -> ById<OfEncoder> {
    // Few sets of functions are distinct.
    let mut joined: FxHashMap<Vec<Symbol>, Symbol> = FxHashMap::default();
    let mut name_of = |functions: &mut Vec<Symbol>| {
        if let Some(&name) = joined.get(functions.as_slice()) {
            return name;
        }
        let name = made.symbol(&join(functions, names));
        joined.insert(functions.clone(), name);
        name
    };
    let mut entries: Vec<(NonZeroU64, OfEncoder)> = Vec::new();
    // Encoder in which each function was last.
    let mut last_in: FxHashMap<Symbol, NonZeroU64> = FxHashMap::default();
    let (mut open, mut functions, mut count) = (None, Vec::new(), 0);
    for row in 0..table.functions.len() {
        let row_of = (id_of(&table.encoders, row), at(&table.functions, row));
        let (Some(encoder), Some(function)) = row_of else {
            continue;
        };
        // The rows of an encoder are together.
        if let Some(last) = open.filter(|&last| last != encoder) {
            entries.push((last, (name_of(&mut functions), count)));
            functions.clear();
            count = 0;
        }
        open = Some(encoder);
        if last_in.insert(function, encoder) != Some(encoder) {
            functions.push(function);
        }
        count += table.counts.get(row).unwrap_or(0);
    }
    if let Some(last) = open {
        entries.push((last, (name_of(&mut functions), count)));
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
