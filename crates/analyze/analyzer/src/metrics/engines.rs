//! Computes the busy time of engines beside the GPU's channels.

use std::num::NonZeroU64;

use metalens_message::{Message, Ns, message, share, table};
use metalens_trace::Names;

use super::busy_window::BusyWindow;
use crate::basics::spans::{Span, length_ns, overlap_ns, time_in, touches, union};
use crate::report::{Engine, EngineId, NotRecorded};
use crate::subject::buffers::Buffer;
use crate::tables::columns::{Either, at};
use crate::tables::engines::{
    CORE_ML, DRAWABLE_WAITS, EngineRows, EngineTables, MPS, NEURAL_ENGINE, NEURAL_ENGINE_INTERNAL,
};

/// Text before the command buffer's id in a label of MPSGraph.
const COMMAND_BUFFER: &str = "(CommandBuffer: 0x";

/// Computes the busy time of all engines, and lists those without rows. `buffers` are the command
/// buffers of the process, in the order of their ids.
pub(crate) fn engines(
    tables: EngineTables,
    busy_window: BusyWindow<'_>,
    buffers: &[Buffer],
    names: &Names,
) -> (Vec<Engine>, Vec<NotRecorded>) {
    use EngineId::{CoreMl, DrawableWait, Mps, NeuralEngine};
    let internal = tables.neural_engine_internal;
    let tables = [
        (Mps, MPS.schema, tables.mps),
        (NeuralEngine, NEURAL_ENGINE.schema, tables.neural_engine),
        (NeuralEngine, NEURAL_ENGINE_INTERNAL.schema, internal),
        (CoreMl, CORE_ML.schema, tables.core_ml),
        (DrawableWait, DRAWABLE_WAITS.schema, tables.drawable_waits),
    ];

    let mut engines: Vec<Engine> = Vec::new();
    let mut missing: Vec<(EngineId, &str)> = Vec::new();
    for (id, schema, rows) in tables {
        let work = rows.map_or_else(
            |_| Vec::new(),
            |rows| work(&rows, id, busy_window, buffers, names),
        );
        if engines.iter().any(|engine| engine.id == id) {
            continue;
        }
        if !work.is_empty() {
            missing.retain(|&(other, _)| other != id);
            engines.push(engine(id, schema, &work, busy_window));
        } else if missing.iter().all(|&(other, _)| other != id) {
            missing.push((id, schema));
        }
    }

    let missing = if engines.is_empty() {
        let schemas = missing.iter().map(|(_, schema)| table(schema));
        vec![NotRecorded::new("engines", why_absent(None, schemas))]
    } else {
        let each = missing.iter().map(|&(id, schema)| {
            let part = format!("engines.{}", id.part());
            NotRecorded::new(&part, why_absent(Some(id), [table(schema)]))
        });
        each.collect()
    };
    (engines, missing)
}

fn why_absent(engine: Option<EngineId>, tables: impl IntoIterator<Item = Message>) -> Message {
    let advice = match engine {
        Some(EngineId::Mps | EngineId::DrawableWait) => {
            "record with Metal System Trace, which has them"
        }
        _ => {
            "record with --instrument 'Neural Engine' and --instrument 'Core ML' too; MPSGraph is part \
             of Metal System Trace"
        }
    };
    message!(
        "the window has no rows of {}, which does not prove that nothing of the kind happened: {}",
        Message::joined(tables, ", "),
        advice,
    )
}

/// Returns the intervals inside the window, in order of time.
fn work(
    rows: &EngineRows,
    id: EngineId,
    busy_window: BusyWindow<'_>,
    buffers: &[Buffer],
    names: &Names,
) -> Vec<Span> {
    let (window, chosen) = (busy_window.window, busy_window.chosen);
    let active = names.find_symbol("Active");
    let is_active = |row: usize| at(&rows.states, row).is_none_or(|state| Some(state) == active);
    let label = |row: usize| match &*rows.labels {
        Either::Left(formatted) => Some(names.label(at(formatted, row)?)?.text),
        Either::Right(plain) => at(plain, row),
    };
    let is_mine = |row: usize, span: Span| {
        let thread = || names.thread(at(&rows.threads, row)?)?.process;
        match id {
            EngineId::NeuralEngine | EngineId::CoreMl => true,
            // Real rows name no process, but a command buffer.
            EngineId::Mps => match at(&rows.processes, row) {
                None => match label(row).and_then(|label| command_buffer(names.text(label))) {
                    Some(id) => is_of_buffer(span, id, buffers),
                    None => is_inside(span, busy_window.busy),
                },
                process => chosen.contains(process),
            },
            EngineId::DrawableWait => chosen.contains(thread()),
        }
    };

    let mut work: Vec<Span> = rows
        .spans
        .started()
        .filter(|&(row, span)| touches(span, window) && is_active(row) && is_mine(row, span))
        .map(|(_, span)| span.clip(window))
        .collect();
    work.sort_unstable();
    work
}

/// Returns the id of the command buffer in a label such as
/// `MPSGraph:0x10f504470 (CommandBuffer: 0xaa130cc9)`.
fn command_buffer(label: &str) -> Option<NonZeroU64> {
    let (_, rest) = label.split_once(COMMAND_BUFFER)?;
    let digits = rest.split(')').next()?.trim();
    NonZeroU64::new(u64::from_str_radix(digits, 16).ok()?)
}

/// Returns whether a span belongs to one of the command buffers. Another process may have a command
/// buffer of the same id at another time.
fn is_of_buffer(span: Span, id: NonZeroU64, buffers: &[Buffer]) -> bool {
    let same = buffers.binary_search_by_key(&id, |buffer| buffer.id);
    let buffer = same.ok().and_then(|index| buffers.get(index));
    buffer.is_some_and(|buffer| touches(span, buffer.span))
}

/// Returns whether at least half of a span is GPU work of the process.
fn is_inside(span: Span, busy: &[Span]) -> bool {
    !span.is_empty() && 2 * time_in(span, busy) >= span.length_ns()
}

fn engine(id: EngineId, schema: &str, work: &[Span], busy_window: BusyWindow<'_>) -> Engine {
    let busy = union(work.iter().copied());
    Engine {
        id,
        table: schema.to_owned(),
        of_process: matches!(id, EngineId::Mps | EngineId::DrawableWait),
        intervals: work.len() as u64,
        busy_ns: Ns(length_ns(&busy)),
        ratio: share(length_ns(&busy), busy_window.window.length_ns()),
        while_gpu_idle_ns: Ns(overlap_ns(&busy, busy_window.gaps)),
    }
}
