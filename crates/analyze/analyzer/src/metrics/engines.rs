//! Computes the work of engines beside the GPU's channels, and what the GPU waited for meanwhile.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::num::NonZeroU64;

use metalens_trace::{Names, Symbol};

use super::busy_window::BusyWindow;
use crate::basics::message::{Message, table, ungrouped};
use crate::basics::spans::{Span, length_ns, overlap_ns, time_in, touches, union};
use crate::basics::state_interval::StateInterval;
use crate::basics::statistics::ratio;
use crate::message;
use crate::report::{
    Cause, Distribution, Engine, EngineId, EngineWork, Frames, GapParts, NotRecorded,
};
use crate::subject::buffers::Buffer;
use crate::tables::columns::{Either, at};
use crate::tables::engines::EngineTables;
use crate::tables::engines::{
    CORE_ML, DRAWABLE_WAITS, EngineRows, MPS, NEURAL_ENGINE, NEURAL_ENGINE_INTERNAL,
    PRESENT_REQUESTS, Presents,
};
use crate::tables::reader::TableResult;

/// Number of labels that a report lists for an engine.
const LABELS: usize = 10;
/// Text before the command buffer's id in a label of MPSGraph.
const COMMAND_BUFFER: &str = "(CommandBuffer: 0x";

/// Lane of an engine: its name, and its intervals in the window in order of time.
pub(crate) type EngineLane = (&'static str, Vec<StateInterval>);

/// Work of all engines.
#[derive(Default)]
pub(crate) struct Engines {
    pub engines: Vec<Engine>,
    pub frames: Option<Frames>,
    /// Lanes for pictures: those of the engines, then the frames.
    pub lanes: Vec<EngineLane>,
    pub not_recorded: Vec<NotRecorded>,
}

/// Computes the work of all engines. `buffers` are the command buffers of the process, in the order
/// of their ids; `idle` are the stretches of idle time with their causes.
pub(crate) fn engines(
    tables: EngineTables,
    busy_window: BusyWindow<'_>,
    buffers: &[Buffer],
    idle: impl Fn() -> Vec<(Span, Cause)>,
    names: &Names,
) -> Engines {
    let neural_engine = with_rows(tables.neural_engine)
        .map(|rows| (NEURAL_ENGINE.schema, rows))
        .or_else(|| {
            Some((
                NEURAL_ENGINE_INTERNAL.schema,
                with_rows(tables.neural_engine_internal)?,
            ))
        });

    let tables_by_engine = [
        (
            EngineId::Mps,
            MPS.schema,
            with_rows(tables.mps).map(|rows| (MPS.schema, rows)),
        ),
        (EngineId::NeuralEngine, NEURAL_ENGINE.schema, neural_engine),
        (
            EngineId::CoreMl,
            CORE_ML.schema,
            with_rows(tables.core_ml).map(|rows| (CORE_ML.schema, rows)),
        ),
        (
            EngineId::DrawableWait,
            DRAWABLE_WAITS.schema,
            with_rows(tables.drawable_waits).map(|rows| (DRAWABLE_WAITS.schema, rows)),
        ),
    ];

    let mut engines = Engines::default();
    let mut missing: Vec<(&'static str, &'static str)> = Vec::new();
    let mut stretches: Option<Vec<(Span, Cause)>> = None;
    for (id, schema, given) in tables_by_engine {
        let Some((schema, rows)) = given else {
            missing.push((part(id), schema));
            continue;
        };
        let work = work(&rows, id, busy_window, buffers, names);
        if work.is_empty() {
            engines.not_recorded.push(none_in_window(id, schema));
            continue;
        }
        let stretches = stretches.get_or_insert_with(&idle);
        let engine = engine(id, schema, &work, busy_window, stretches, names);
        engines.engines.push(engine);
        engines.lanes.push((id.label(), lane(&work, id, names)));
    }

    let of_others = frames_of_others(&tables.present_requests, busy_window);
    match frames(tables.present_requests, tables.presented, busy_window) {
        Some((frames, lane)) => {
            engines.frames = Some(frames);
            engines.lanes.push(("Frames", lane));
        }
        None if of_others.is_some() => engines.not_recorded.extend(of_others),
        None => missing.push(("frames", PRESENT_REQUESTS.schema)),
    }
    let missing = not_recorded(&missing, !engines.engines.is_empty());
    engines.not_recorded.extend(missing);
    engines
}

/// Returns a table that has rows: an empty one tells nothing.
fn with_rows(given: TableResult<EngineRows>) -> Option<EngineRows> {
    given.ok().filter(|rows| rows.spans.rows() > 0)
}

/// Returns the part of a report that an engine is.
fn part(id: EngineId) -> &'static str {
    match id {
        EngineId::Mps => "engines.mps",
        EngineId::NeuralEngine => "engines.neural-engine",
        EngineId::CoreMl => "engines.core-ml",
        EngineId::DrawableWait => "engines.drawable-wait",
    }
}

/// Returns the engines that the recording has no rows of: each beside one that has rows, and all
/// together otherwise. `missing` are parts of the report with their tables.
fn not_recorded(missing: &[(&'static str, &'static str)], has_engines: bool) -> Vec<NotRecorded> {
    if has_engines || missing.is_empty() {
        let each = missing.chunks(1).flat_map(|missing_part| {
            let part = missing_part.first().map(|(part, _)| part);
            part.map(|part| NotRecorded::new(part, why_absent(missing_part)))
        });
        each.collect()
    } else {
        vec![NotRecorded::new("engines", why_absent(missing))]
    }
}

fn why_absent(tables: &[(&str, &str)]) -> Message {
    message!(
        "the recording has no rows of {}, which does not prove that {}: record with \
         --instrument 'Neural Engine' and --instrument 'Core ML' too; MPSGraph and frames are \
         part of Metal System Trace",
        Message::joined(tables.iter().map(|(_, schema)| table(schema)), ", "),
        if tables.len() == 1 {
            "nothing of the kind happened"
        } else {
            "these engines did nothing"
        }
    )
}

/// Interval of an engine inside the window, with its label.
type Work = (Span, Option<Symbol>);

/// Returns the intervals inside the window, in order of time.
fn work(
    rows: &EngineRows,
    id: EngineId,
    busy_window: BusyWindow<'_>,
    buffers: &[Buffer],
    names: &Names,
) -> Vec<Work> {
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

    let mut work: Vec<Work> = rows
        .spans
        .started()
        .filter(|&(row, span)| touches(span, window) && is_active(row) && is_mine(row, span))
        .map(|(row, span)| (span.clip(window), label(row)))
        .collect();
    work.sort_by_key(|&(span, _)| span);
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

/// Returns the reason why an engine is missing although its table has rows.
fn none_in_window(id: EngineId, schema: &str) -> NotRecorded {
    let why = message!(
        "no row of {} in the window can be joined with the process",
        table(schema)
    );
    NotRecorded::new(part(id), why)
}

fn engine(
    id: EngineId,
    schema: &str,
    work: &[Work],
    busy_window: BusyWindow<'_>,
    idle: &[(Span, Cause)],
    names: &Names,
) -> Engine {
    let busy = union(work.iter().map(|&(span, _)| span));
    let mut parts = GapParts::default();
    for &(stretch, cause) in idle {
        *parts.get_mut(cause) += time_in(stretch, &busy);
    }
    let while_gpu_idle_ns = overlap_ns(&busy, busy_window.gaps);

    Engine {
        id,
        table: schema.to_owned(),
        of_process: matches!(id, EngineId::Mps | EngineId::DrawableWait),
        intervals: work.len() as u64,
        busy_ns: length_ns(&busy),
        ratio: ratio(length_ns(&busy), busy_window.window.length_ns()),
        while_gpu_busy_ns: overlap_ns(&busy, busy_window.busy),
        while_gpu_idle_ns,
        share_of_idle: ratio(while_gpu_idle_ns, length_ns(busy_window.gaps)),
        idle: parts,
        work: by_label(work, names),
    }
}

fn by_label(work: &[Work], names: &Names) -> Vec<EngineWork> {
    let mut labels: BTreeMap<Option<&str>, (u64, u64)> = BTreeMap::new();
    for &(span, label) in work {
        let tally = labels.entry(text(label, names)).or_default();
        tally.0 += 1;
        tally.1 += span.length_ns();
    }
    let mut labels: Vec<EngineWork> = labels
        .into_iter()
        .map(|(label, (intervals, total_ns))| EngineWork {
            label: label.map(str::to_owned),
            intervals,
            total_ns,
        })
        .collect();
    labels.sort_by_key(|work| Reverse(work.total_ns));
    labels.truncate(LABELS);
    labels
}

/// Returns a label without its command buffer, so that the work of a graph adds up; `None` for an
/// empty one.
fn text(label: Option<Symbol>, names: &Names) -> Option<&str> {
    label
        .map(|label| names.text(label))
        .map(|label| label.split(COMMAND_BUFFER).next().unwrap_or(label).trim())
        .filter(|label| !label.is_empty())
}

fn lane(work: &[Work], id: EngineId, names: &Names) -> Vec<StateInterval> {
    let intervals = work.iter().map(|&(span, label)| StateInterval {
        start_ns: span.start_ns,
        end_ns: span.end_ns,
        what: text(label, names).unwrap_or(id.label()).to_owned(),
        is_induced: false,
    });
    intervals.collect()
}

/// Returns why there are no frames of the process although a table of them has rows.
fn frames_of_others(
    requests: &TableResult<Presents>,
    busy_window: BusyWindow<'_>,
) -> Option<NotRecorded> {
    let requests = requests.as_ref().ok()?;
    let rows = 0..requests.times.len();
    let others = rows
        .filter(|row| !busy_window.chosen.contains(at(&requests.processes, *row)))
        .count();
    (others > 0).then(|| {
        let why = message!(
            "{} has no row of this process in the window, and {} of others",
            table(PRESENT_REQUESTS.schema),
            ungrouped(others as u64)
        );
        NotRecorded::new("frames", why)
    })
}

/// Returns the frames of the process, and each from its request to the next; `None` without any
/// request.
fn frames(
    requests: TableResult<Presents>,
    presented: TableResult<Presents>,
    busy_window: BusyWindow<'_>,
) -> Option<(Frames, Vec<StateInterval>)> {
    let mine = |table: &Presents| {
        let rows = table.times.iter().enumerate();
        let own = rows.filter(|&(row, _)| busy_window.chosen.contains(at(&table.processes, row)));
        let window = busy_window.window;
        let inside = |ns: &u64| window.start_ns <= *ns && *ns < window.end_ns;
        let mut times: Vec<u64> = own.filter_map(|(_, time)| time).filter(inside).collect();
        times.sort_unstable();
        times
    };
    let requests = mine(&requests.ok()?);
    let presented = presented.ok().filter(|table| !table.times.is_empty());
    let pairs = requests.iter().zip(requests.iter().skip(1));
    let lengths = pairs.clone().map(|(from, to)| (to - from).cast_signed());
    let lane = pairs
        .zip(1_u64..)
        .map(|((&start_ns, &end_ns), number)| StateInterval {
            start_ns,
            end_ns,
            what: format!("frame {number}"),
            is_induced: false,
        });

    (!requests.is_empty()).then(|| {
        let frames = Frames {
            requests: requests.len() as u64,
            presented: presented.map(|table| mine(&table).len() as u64),
            interval: Distribution::from_durations(lengths.collect()),
        };
        (frames, lane.collect())
    })
}
