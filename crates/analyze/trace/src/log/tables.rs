//! Builds the tables of a log.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::line::{Buffer, Encoder, EncoderKind, Header, Phase, Time, Wait};
use crate::integers::Integers;
use crate::kind::Kind;
use crate::names::{Names, Process, ProcessId, Symbol, Thread, ThreadId};
use crate::select::Selection;
use crate::table::{Column, ColumnSpec, Origin, Schema, Table};
use crate::toc::ListedTable;

/// Largest number of labels of encoders that name an interval of several.
const NAMED: usize = 4;

/// A column of a table: its mnemonic and its engineering type.
type Declared = (&'static str, &'static str);

const INTERVALS: &[Declared] = &[
    ("start", "start-time"),
    ("duration", "duration"),
    ("process", "process"),
    ("cmdbuffer-id", "metal-command-buffer-id"),
    ("encoder-id", "metal-encoder-id"),
    ("channel-name", "gpu-channel-name"),
    ("event-label", "string"),
    ("start-latency", "duration"),
    ("gpu", "string"),
];
const ENCODERS: &[Declared] = &[
    ("start", "start-time"),
    ("duration", "duration"),
    ("process", "process"),
    ("thread", "thread"),
    ("cmdbuffer-id", "metal-command-buffer-id"),
    ("encoder-id", "metal-encoder-id"),
    ("cmdbuffer-label", "string"),
    ("encoder-label", "string"),
];
const COMPLETIONS: &[Declared] = &[
    ("timestamp", "event-time"),
    ("cmdbuffer-id", "metal-command-buffer-id"),
];
const ERRORS: &[Declared] = &[
    ("timestamp", "event-time"),
    ("cmdbuffer-id", "metal-command-buffer-id"),
    ("error", "string"),
];
const PHASES: &[Declared] = &[
    ("start", "start-time"),
    ("duration", "duration"),
    ("name", "string"),
    ("process", "process"),
];
const DISPATCHES: &[Declared] = &[
    ("encoder-id", "metal-encoder-id"),
    ("function", "string"),
    ("kind", "string"),
    ("dispatches", "uint64"),
];
const WAITS: &[Declared] = &[
    ("start", "start-time"),
    ("duration", "duration"),
    ("cmdbuffer-id", "metal-command-buffer-id"),
    ("thread", "thread"),
    ("process", "process"),
];

/// The tables of a log, as far as it is read.
pub(super) struct LogTables {
    intervals: Rows,
    encoders: Rows,
    completions: Rows,
    errors: Rows,
    phases: Rows,
    dispatches: Rows,
    waits: Rows,
    process: ProcessId,
    device: Option<Symbol>,
    /// Names of the kinds of encoders.
    kinds: [Symbol; EncoderKind::ALL.len()],
    last_encoder: u64,
    last_thread: Option<(u64, ThreadId)>,
    /// Labels of the last GPU interval, and its own.
    last_label: Option<(Labels, Symbol)>,
    /// Earliest and latest time of the log.
    first: u64,
    last: u64,
    /// Number of encoders with sampled times outside of their command buffer.
    pub(super) outside: u64,
    /// Number of all encoders, and of those that the program made to measure a dispatch.
    pub(super) all_encoders: u64,
    pub(super) upper_bounds: u64,
    /// Shortest time from a commit to the GPU.
    pub(super) least_latency: Option<u64>,
    /// Longest time of a command buffer on the GPU.
    pub(super) longest_ns: u64,
    /// Text that is put together, and used again.
    text: String,
}

/// Labels of a command buffer and of its encoder.
type Labels = [Symbol; 2];

/// The part of a command buffer that becomes one GPU interval.
struct Part<'b> {
    encoders: &'b [Encoder<'b>],
    start: Time,
    end: Time,
    /// Time between which it was encoded, if it is known.
    encoded: Option<(Time, Time)>,
}

impl LogTables {
    pub(super) fn new(header: &Header<'_>, names: &mut Names, selection: &Selection) -> Self {
        let rows = |schema, columns| Rows::new(schema, columns, selection);
        let name = names.symbol(&header.program);
        Self {
            intervals: rows("metal-gpu-intervals", INTERVALS),
            encoders: rows("metal-application-encoders-list", ENCODERS),
            completions: rows("metal-command-buffer-completed", COMPLETIONS),
            errors: rows("metal-command-buffer-error", ERRORS),
            phases: rows("OSSignpostIntervals", PHASES),
            dispatches: rows("command-buffer-log-dispatches", DISPATCHES),
            waits: rows("command-buffer-log-waits", WAITS),
            process: names.process_id(Process {
                name,
                pid: Some(header.pid),
            }),
            device: header.device.as_ref().map(|device| names.symbol(device)),
            kinds: EncoderKind::ALL.map(|kind| names.symbol(kind.name())),
            last_encoder: 0,
            last_thread: None,
            last_label: None,
            first: u64::MAX,
            last: 0,
            outside: 0,
            all_encoders: 0,
            upper_bounds: 0,
            least_latency: None,
            longest_ns: 0,
            text: String::new(),
        }
    }

    pub(super) fn add_buffer(&mut self, buffer: &Buffer<'_>, names: &mut Names) {
        let id = buffer.command_buffer;
        for time in [
            buffer.encode,
            Some(buffer.commit),
            buffer.gpu_end,
            buffer.completed,
        ] {
            time.into_iter().for_each(|time| self.see(time));
        }
        if let Some(completed) = buffer.completed {
            self.completions
                .add(&[Cell::time(completed), Cell::Number(id)]);
        }
        if let Some(error) = &buffer.error {
            let time = buffer.completed.unwrap_or(buffer.commit);
            let error = Cell::Text(Some(names.symbol(error)));
            self.errors
                .add(&[Cell::time(time), Cell::Number(id), error]);
        }
        self.all_encoders += buffer.encoders.len() as u64;
        let measuring = buffer.encoders.iter().filter(|encoder| encoder.upper_bound);
        self.upper_bounds += measuring.count() as u64;
        let (Some(start), Some(end)) = (buffer.gpu_start, buffer.gpu_end) else {
            return;
        };
        let latency = start.ns() - buffer.commit.ns();
        let least = self
            .least_latency
            .map_or(latency, |least| least.min(latency));
        self.least_latency = Some(least);
        self.longest_ns = self.longest_ns.max(end.ns() - start.ns());
        if self.has_own_times(buffer, start, end) {
            for encoder in &buffer.encoders {
                let (Some(start), Some(end)) = (encoder.gpu_start, encoder.gpu_end) else {
                    continue;
                };
                let part = Part {
                    encoders: std::slice::from_ref(encoder),
                    start,
                    end,
                    encoded: encoder.start.zip(encoder.end),
                };
                self.add_part(buffer, &part, names);
            }
        } else {
            let part = Part {
                encoders: &buffer.encoders,
                start,
                end,
                encoded: buffer.encode.map(|encode| (encode, buffer.commit)),
            };
            self.add_part(buffer, &part, names);
        }
    }

    /// Returns whether each encoder has times of its own that lie in those of the command buffer. A
    /// tenth of its length is left to the difference of the clocks.
    fn has_own_times(&mut self, buffer: &Buffer<'_>, start: Time, end: Time) -> bool {
        let slack = (end.ns() - start.ns()) / 10;
        let mut own = buffer.encoders.iter().filter_map(|encoder| {
            let (first, last) = (encoder.gpu_start?, encoder.gpu_end?);
            Some(first.ns() + slack >= start.ns() && last.ns() <= end.ns() + slack)
        });
        let is_timed = own.clone().count() == buffer.encoders.len() && !buffer.encoders.is_empty();
        let outside = own.clone().filter(|is_inside| !is_inside).count();
        self.outside += outside as u64;
        is_timed && own.all(|is_inside| is_inside)
    }

    fn add_part(&mut self, buffer: &Buffer<'_>, part: &Part<'_>, names: &mut Names) {
        self.last_encoder += 1;
        // Sampled times may lie a little outside of those of the command buffer.
        self.see(part.start);
        self.see(part.end);
        let (id, encoder) = (
            Cell::Number(buffer.command_buffer),
            Cell::Number(self.last_encoder),
        );
        let process = Cell::Process(self.process);
        let buffer_label = names.symbol(buffer.label.as_deref().unwrap_or(""));
        let encoder_label = self.label_of(part.encoders, names);

        // Copies run on the channel of compute work, too. Work of one channel never overlaps, so that a
        // channel of their own would promise what no GPU does.
        let has = |kind| part.encoders.iter().any(|encoder| encoder.kind == kind);
        let channel = self.name_of(if has(EncoderKind::Render) {
            EncoderKind::Render
        } else {
            EncoderKind::Compute
        });
        let label = self.label_of_interval([buffer_label, encoder_label], names);
        let latency = part.start.ns().checked_sub(buffer.commit.ns());
        self.intervals.add(&[
            Cell::time(part.start),
            Cell::Number(part.end.ns() - part.start.ns()),
            process,
            id,
            encoder,
            Cell::Text(channel),
            Cell::Text(Some(label)),
            latency.map_or(Cell::Null, Cell::Number),
            Cell::Text(self.device),
        ]);

        if let Some((start, end)) = part.encoded {
            self.see(start);
            let thread = Cell::Thread(self.thread(buffer.thread, names));
            self.encoders.add(&[
                Cell::time(start),
                Cell::Number(end.ns().saturating_sub(start.ns())),
                process,
                thread,
                id,
                encoder,
                Cell::Text(Some(buffer_label)),
                Cell::Text(Some(encoder_label)),
            ]);
        }
        for found in part.encoders {
            let kind = Cell::Text(self.name_of(found.kind));
            for (function, dispatches) in found.kernels.iter() {
                let function = Cell::Text(Some(names.symbol(function)));
                let row = [encoder, function, kind, Cell::Number(dispatches)];
                self.dispatches.add(&row);
            }
        }
    }

    fn name_of(&self, kind: EncoderKind) -> Option<Symbol> {
        self.kinds.get(kind as usize).copied()
    }

    /// Returns the label of one encoder, or the different ones of several. A copy without one has that
    /// of Metal.
    fn label_of(&mut self, encoders: &[Encoder<'_>], names: &mut Names) -> Symbol {
        if let [encoder] = encoders {
            let label = encoder.label.as_deref().filter(|label| !label.is_empty());
            let is_copy = encoder.kind == EncoderKind::Blit;
            let default = if is_copy { "Blit Command 0" } else { "" };
            return names.symbol(label.unwrap_or(default));
        }
        let mut known = BTreeSet::new();
        let labels = encoders
            .iter()
            .filter_map(|encoder| encoder.label.as_deref());
        let mut labels = labels.filter(|label| !label.is_empty() && known.insert(*label));
        let named: Vec<&str> = labels.by_ref().take(NAMED).collect();
        let more = labels.count();
        self.text = named.join(" + ");
        if more > 0 {
            let _ = write!(self.text, " + {more} more");
        }
        names.symbol(&self.text)
    }

    pub(super) fn add_phase(&mut self, phase: &Phase<'_>, names: &mut Names) {
        self.see(phase.start);
        self.see(phase.end);
        let name = Cell::Text(Some(names.symbol(&phase.phase)));
        let duration = Cell::Number(phase.end.ns() - phase.start.ns());
        let process = Cell::Process(self.process);
        self.phases
            .add(&[Cell::time(phase.start), duration, name, process]);
    }

    pub(super) fn add_wait(&mut self, wait: &Wait, names: &mut Names) {
        self.see(wait.start);
        self.see(wait.end);
        let duration = Cell::Number(wait.end.ns() - wait.start.ns());
        let thread = Cell::Thread(self.thread(wait.thread, names));
        self.waits.add(&[
            Cell::time(wait.start),
            duration,
            Cell::Number(wait.wait),
            thread,
            Cell::Process(self.process),
        ]);
    }

    /// Widens the time of the log, so that it has this time.
    pub(super) fn see(&mut self, time: Time) {
        self.first = self.first.min(time.ns());
        self.last = self.last.max(time.ns());
    }

    /// Returns the last time of the log.
    pub(super) fn last_ns(&self) -> u64 {
        self.last
    }

    /// Returns the time from the first to the last time of the log.
    pub(super) fn length_ns(&self) -> u64 {
        self.last.saturating_sub(self.first)
    }

    fn thread(&mut self, tid: Option<u64>, names: &mut Names) -> Option<ThreadId> {
        let tid = tid?;
        if let Some((_, id)) = self.last_thread.filter(|&(last, _)| last == tid) {
            return Some(id);
        }
        self.text.clear();
        // Writing to a string does not fail.
        let _ = write!(self.text, "Thread {tid:#x}");
        let display = names.symbol(&self.text);
        let id = names.thread_id(Thread {
            display,
            tid: Some(tid),
            process: Some(self.process),
        });
        self.last_thread = Some((tid, id));
        Some(id)
    }

    /// Returns the label of a GPU interval, as Instruments puts it together.
    fn label_of_interval(&mut self, labels: Labels, names: &mut Names) -> Symbol {
        if let Some((_, label)) = self.last_label.filter(|&(last, _)| last == labels) {
            return label;
        }
        let [buffer, encoder] = labels.map(|label| names.text(label));
        self.text.clear();
        // Writing to a string does not fail.
        let _ = write!(self.text, "{buffer}:{encoder}");
        let label = names.symbol(&self.text);
        self.last_label = Some((labels, label));
        label
    }

    /// Returns the selected tables, with times from the first one of the log, and the list of all. What
    /// no line names was not recorded, so that there is no table of it.
    pub(super) fn finish(
        self,
        file: &str,
        truncated: bool,
        synthetic: bool,
    ) -> (Vec<Table>, Vec<ListedTable>) {
        let first = if self.first == u64::MAX {
            0
        } else {
            self.first
        };
        let others = [
            self.encoders,
            self.completions,
            self.errors,
            self.phases,
            self.dispatches,
            self.waits,
        ];
        let others = others.into_iter().filter(|rows| rows.count > 0);
        let (mut tables, mut listed) = (Vec::new(), Vec::new());
        for (rows, position) in std::iter::once(self.intervals).chain(others).zip(1..) {
            listed.push(ListedTable {
                schema: rows.schema.name.clone(),
                position,
                attributes: Vec::new(),
            });
            if rows.is_selected {
                let origin = Origin {
                    run: Some(1),
                    table: Some(position),
                };
                tables.push(Table {
                    file: file.to_owned(),
                    truncated,
                    synthetic,
                    ..rows.finish(first, origin)
                });
            }
        }
        (tables, listed)
    }
}

/// The rows of a table, of which the selected columns are kept.
struct Rows {
    schema: Schema,
    columns: Vec<Column>,
    count: usize,
    is_selected: bool,
}

/// A value of a row.
#[derive(Clone, Copy)]
enum Cell {
    Null,
    Number(u64),
    Text(Option<Symbol>),
    Process(ProcessId),
    Thread(Option<ThreadId>),
}

impl Cell {
    fn time(time: Time) -> Self {
        Self::Number(time.ns())
    }
}

impl Rows {
    fn new(schema: &str, declared: &[Declared], selection: &Selection) -> Self {
        let wanted = selection.columns_of(schema);
        let column = |&(mnemonic, engineering_type): &Declared| {
            if wanted.is_some_and(|columns| columns.contains(mnemonic)) {
                Column::empty(Kind::from_type(engineering_type))
            } else {
                Column::Dropped
            }
        };
        let spec = |&(mnemonic, engineering_type): &Declared| ColumnSpec {
            mnemonic: mnemonic.to_owned(),
            name: mnemonic.to_owned(),
            engineering_type: engineering_type.to_owned(),
        };
        Self {
            columns: declared.iter().map(column).collect(),
            schema: Schema {
                name: schema.to_owned(),
                columns: declared.iter().map(spec).collect(),
            },
            count: 0,
            is_selected: wanted.is_some(),
        }
    }

    /// Adds a row with a value for each declared column.
    fn add(&mut self, row: &[Cell]) {
        debug_assert_eq!(row.len(), self.columns.len());
        for (column, cell) in self.columns.iter_mut().zip(row) {
            match (column, *cell) {
                (Column::Integers(values), Cell::Number(number)) => values.push(Some(number)),
                (Column::Integers(values), _) => values.push(None),
                (Column::Texts(values), Cell::Text(text)) => values.push(text),
                (Column::Texts(values), _) => values.push(None),
                (Column::Processes(values), Cell::Process(process)) => values.push(Some(process)),
                (Column::Threads(values), Cell::Thread(thread)) => values.push(thread),
                _ => {}
            }
        }
        self.count += 1;
    }

    /// Returns the table, with its times counted from the first one of the log.
    fn finish(mut self, first: u64, origin: Origin) -> Table {
        for (spec, column) in self.schema.columns.iter().zip(&mut self.columns) {
            let is_time = matches!(spec.engineering_type.as_str(), "start-time" | "event-time");
            if let Column::Integers(times) = column
                && is_time
            {
                *times = Integers::from_rows(times.iter().map(|time| Some(time? - first)));
            }
        }
        Table {
            schema: self.schema,
            origin,
            file: String::new(),
            truncated: false,
            synthetic: false,
            rows: self.count,
            columns: self.columns,
        }
    }
}
