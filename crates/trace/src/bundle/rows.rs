//! Rows to columns: the numbers of a store and what they stand for.

use std::collections::HashMap;
use std::io::Read;

use rustc_hash::FxBuildHasher;

use super::display;
use super::files::Files;
use super::layout::{HEADER, Layout, Slot, check_header};
use super::manager::Store;
use super::people::People;
use super::types::{self, Encoding};
use super::uniquing::{Array, Uniques};
use crate::error::{Error, Place, Problem, Result};
use crate::kind::Kind;
use crate::names::{Frame, Label, LabelId, Names, StackId};
use crate::select::Columns;
use crate::table::{Column, Integers, Origin, Table};

/// All that is needed to say what a run's numbers stand for.
pub(crate) struct Decoder<'a> {
    pub(crate) files: &'a Files,
    pub(crate) uniques: &'a Uniques,
    pub(crate) people: &'a People,
    /// Labels as displayed, too.
    pub(crate) rendered: bool,
}

/// Where a store's rows are, sorted as an export sorts them: by time, rows of
/// equal time as they were stored.
pub(crate) struct Rows {
    layout: Layout,
    bytes: Vec<u8>,
    order: Vec<u32>,
}

/// So many bytes of rows are read of one store; the largest real one has 30 MB.
const ROWS_LIMIT: u64 = 8 << 30;

impl Rows {
    /// Reads the rows and not the preallocated rest behind them.
    pub(crate) fn read(files: &Files, store: &Store, layout: Layout) -> Result<Self> {
        let path = format!("{}/bulkstore", store.path);
        let unsupported =
            |detail: String| files.error(&path, Problem::UnsupportedBundle { detail });
        let size = layout
            .rows
            .checked_mul(layout.row_size as u64)
            .filter(|&n| n <= ROWS_LIMIT);
        let size = size.ok_or_else(|| unsupported(format!("{} rows are too many", layout.rows)))?;
        let bytes = files.stream(&path, |stored| {
            let mut header = vec![0; HEADER as usize];
            stored
                .read_exact(&mut header)
                .map_err(|error| files.io_error(&path, error))?;
            check_header(&header, &layout).map_err(unsupported)?;
            let mut bytes = Vec::new();
            let read = stored.take(size).read_to_end(&mut bytes);
            read.map_err(|error| files.io_error(&path, error))?;
            if bytes.len() as u64 != size {
                let rows = bytes.len() / layout.row_size.max(1);
                let detail = format!("it holds {rows} rows, its descriptor says {}", layout.rows);
                return Err(unsupported(detail));
            }
            Ok(bytes)
        })?;
        let count = u32::try_from(layout.rows)
            .map_err(|_| unsupported(format!("{} rows are too many", layout.rows)))?;
        let mut rows = Self {
            layout,
            bytes,
            order: (0..count).collect(),
        };
        let time = rows.layout.time;
        if !(1..count).all(|row| rows.number(row - 1, time) <= rows.number(row, time)) {
            let mut order = std::mem::take(&mut rows.order);
            order.sort_by_key(|&row| rows.number(row, time));
            rows.order = order;
        }
        Ok(rows)
    }

    fn number(&self, row: u32, slot: Slot) -> u64 {
        let start = row as usize * self.layout.row_size;
        let at =
            |offset: usize, width: usize| self.bytes.get(start + offset..start + offset + width);
        match slot {
            Slot::U32(offset) => {
                let bytes = at(offset, 4).and_then(|bytes| bytes.try_into().ok());
                u64::from(u32::from_le_bytes(bytes.unwrap_or([0; 4])))
            }
            Slot::U64(offset) => {
                let bytes = at(offset, 8).and_then(|bytes| bytes.try_into().ok());
                u64::from_le_bytes(bytes.unwrap_or([0; 8]))
            }
        }
    }

    /// The values of a column in the order of the export; null where all bits are set.
    pub(crate) fn values(&self, slot: Slot) -> impl Iterator<Item = Option<u64>> {
        let null = match slot {
            Slot::U32(_) => u64::from(u32::MAX),
            Slot::U64(_) => u64::MAX,
        };
        let values = self.order.iter().map(move |&row| self.number(row, slot));
        values.map(move |value| (value != null).then_some(value))
    }

    /// The column of a mnemonic.
    pub(crate) fn slot(&self, mnemonic: &str) -> Option<Slot> {
        let column = self
            .layout
            .columns
            .iter()
            .find(|column| column.mnemonic == mnemonic);
        column.map(|column| column.slot)
    }
}

impl Decoder<'_> {
    /// A store as a table; columns that are not wanted are left out.
    pub(crate) fn table(
        &self,
        store: &Store,
        layout: Layout,
        origin: Origin,
        wanted: &Columns,
        names: &mut Names,
    ) -> Result<Table> {
        let schema = layout.declared(|type_id| types::of(type_id).0.to_owned());
        let file = format!("{}/{}", self.files.name(), store.path);
        let count = usize::try_from(layout.rows).unwrap_or(usize::MAX);
        let mut columns = Vec::new();
        if matches!(wanted, Columns::None) {
            columns.resize(layout.columns.len(), Column::Dropped);
        } else {
            let rows = Rows::read(self.files, store, layout)?;
            for column in &rows.layout.columns {
                let kept = wanted.contains(&column.mnemonic);
                let decoded = match kept {
                    true => self.column(&rows, column.slot, &column.type_id, names),
                    false => Ok(Column::Dropped),
                };
                columns.push(decoded.map_err(|value| {
                    let place = Place {
                        table: Some(rows.layout.schema.clone()),
                        column: Some(column.mnemonic.clone()),
                        ..Place::file(&file)
                    };
                    let detail = format!("{value:#x} stands for nothing in the bundle");
                    Error::new(Problem::UnsupportedBundle { detail }, place)
                })?);
            }
        }
        Ok(Table {
            schema,
            origin,
            file,
            truncated: false,
            synthetic: false,
            rows: count,
            columns,
        })
    }

    /// One column; `Err` is the value that stands for nothing.
    fn column(
        &self,
        rows: &Rows,
        slot: Slot,
        type_id: &str,
        names: &mut Names,
    ) -> Result<Column, u64> {
        let (_, encoding) = types::of(type_id);
        let full = rows.order.iter().map(|&row| rows.number(row, slot));
        Ok(match encoding {
            Encoding::Number => Column::Integers(Integers::from_rows(rows.values(slot))),
            Encoding::FullNumber | Encoding::Undecoded => {
                Column::Integers(Integers::from_rows(full.map(Some)))
            }
            Encoding::NumberText => Column::Texts(each(rows.values(slot), |value| {
                Some(names.symbol(&value.to_string()))
            })?),
            Encoding::Text => Column::Texts(each(rows.values(slot), |value| {
                Some(names.symbol(self.uniques.string(value)?))
            })?),
            Encoding::Process => Column::Processes(each(rows.values(slot), |value| {
                self.people.process(value, self.uniques, names)
            })?),
            Encoding::Thread => Column::Threads(each(rows.values(slot), |value| {
                self.people.thread(value, self.uniques, names)
            })?),
            Encoding::ThreadName => Column::Texts(each(rows.values(slot), |value| {
                self.thread_name(value, names)
            })?),
            Encoding::Backtrace => {
                Column::Stacks(each(rows.values(slot), |value| self.stack(value, names))?)
            }
            Encoding::Callstack => Column::Texts(each(rows.values(slot), |value| {
                Some(names.symbol(&self.callstack(value)?))
            })?),
            Encoding::Label => Column::Labels(each(rows.values(slot), |value| {
                self.label(self.uniques.typed.get(value)?, names)
            })?),
            Encoding::Narrative => Column::Texts(each(rows.values(slot), |value| {
                let parts = self.parts(self.uniques.typed.get(value)?)?;
                Some(names.symbol(&displayed(&parts)))
            })?),
        })
    }

    /// `worker  0x1f`: the name and the thread's number, two blanks apart.
    fn thread_name(&self, value: u64, names: &mut Names) -> Option<crate::names::Symbol> {
        let (name, thread) = (value >> 32, value & u64::from(u32::MAX));
        let name = self.uniques.string(name)?;
        let tid = self.uniques.arrays.get(thread)?.get(0)?;
        Some(names.symbol(&format!("{name}  0x{tid:x}")))
    }

    /// `PC:0x1047849c0, 14 frames, 1 regs, pid: 88`.
    fn callstack(&self, value: u64) -> Option<String> {
        let parts = self.uniques.arrays.get(value)?;
        let frames = self.uniques.arrays.get(parts.get(0)?)?.len();
        let (counter, pid) = (parts.get(1)?, People::pid(parts.get(2)?, self.uniques)?);
        let registers = parts.len().saturating_sub(3);
        Some(format!(
            "PC:0x{counter:x}, {frames} frames, {registers} regs, pid: {pid}"
        ))
    }

    /// A list of pieces, each a list of addresses (and whose they are).
    fn stack(&self, value: u64, names: &mut Names) -> Option<StackId> {
        let mut frames = Vec::new();
        for piece in self.uniques.arrays.get(value)?.iter() {
            for address in self.uniques.arrays.get(piece & u64::from(u32::MAX))?.iter() {
                let address = names.symbol(&format!("0x{address:x}"));
                frames.push(names.frame_id(Frame {
                    name: address,
                    address,
                    binary: None,
                }));
            }
        }
        Some(names.stack_id(&frames))
    }

    fn label(&self, array: Array<'_>, names: &mut Names) -> Option<LabelId> {
        let parts = self.parts(array)?;
        let process = parts.iter().find(|part| part.tag == "process");
        let process = process.and_then(|part| part.value);
        let process = process.and_then(|value| self.people.process(value, self.uniques, names));
        let submission = parts
            .iter()
            .rev()
            .find(|part| part.tag == "metal-encoder-id");
        let submission = submission.and_then(|part| part.value);
        let display = displayed(&parts);
        let text = label_text(&parts, &display, submission.is_some());
        let mut label = Label::new(names.symbol(text), process, submission);
        if self.rendered {
            label.rendered = Some(names.symbol(&display));
        }
        Some(names.label_id(label))
    }

    /// The parts of a typed list.
    fn parts(&self, array: Array<'_>) -> Option<Vec<Part<'_>>> {
        let pairs =
            (0..array.len() / 2).map(|at| Some((array.get(2 * at)?, array.get(2 * at + 1)?)));
        pairs
            .map(|pair| {
                let (kind, value) = pair?;
                let type_id = self.uniques.types.get(usize::try_from(kind).ok()?)?;
                self.part(type_id, value)
            })
            .collect()
    }

    fn part<'a>(&'a self, type_id: &'a str, value: u64) -> Option<Part<'a>> {
        let (tag, encoding) = types::of(type_id);
        let null = value == u64::MAX || value == u64::from(u32::MAX);
        let display = match encoding {
            Encoding::Text => self.uniques.string(value)?.to_owned(),
            Encoding::Process if null => return Some(Part::null(tag)),
            Encoding::Process => self.people.process_display(value, self.uniques)?,
            Encoding::Thread if null => return Some(Part::null(tag)),
            Encoding::Thread => self.people.thread_display(value, self.uniques)?,
            _ => number_display(tag, value),
        };
        Some(Part {
            tag,
            value: Some(value),
            display,
        })
    }
}

/// A part of a label.
struct Part<'a> {
    tag: &'a str,
    value: Option<u64>,
    display: String,
}

impl<'a> Part<'a> {
    fn null(tag: &'a str) -> Self {
        Self {
            tag,
            value: None,
            display: "n/a".to_owned(),
        }
    }
}

/// Parts are displayed one blank apart.
fn displayed(parts: &[Part<'_>]) -> String {
    let parts: Vec<&str> = parts.iter().map(|part| part.display.as_str()).collect();
    parts.join(" ")
}

fn number_display(tag: &str, value: u64) -> String {
    match tag {
        "duration" => display::duration(value),
        "start-time" | "event-time" | "sample-time" => display::instant(value),
        "size-in-bytes" => display::bytes(value),
        "uint64" => display::thousands(value),
        "metal-encoder-id" | "metal-command-buffer-id" => format!("0x{value:x}"),
        _ => value.to_string(),
    }
}

/// The words of a label, as the reader of exports finds them: its one text, or
/// nothing, when a number ends it; else what its display form says.
fn label_text<'a>(parts: &'a [Part<'_>], display: &'a str, numbered: bool) -> &'a str {
    let mixed = |part: &&Part<'_>| {
        let scaffold = ["narrative-text", "process", "thread", "metal-encoder-id"];
        !scaffold.contains(&part.tag) && !part.display.trim().is_empty()
    };
    let words: Vec<&Part<'_>> = parts.iter().filter(mixed).collect();
    match words.as_slice() {
        [] if numbered => "",
        [one] if numbered && Kind::of(one.tag) == Kind::Text => one.display.trim(),
        _ => {
            let process = parts
                .iter()
                .find(|part| part.tag == "process" && part.value.is_some());
            let before = process.and_then(|part| crate::label::before(display, &part.display));
            before.unwrap_or_else(|| crate::label::parse(display).text)
        }
    }
}

/// Decodes each value; the same number is decoded once.
fn each<T: Copy>(
    values: impl Iterator<Item = Option<u64>>,
    mut decode: impl FnMut(u64) -> Option<T>,
) -> Result<Vec<Option<T>>, u64> {
    let mut known: HashMap<u64, T, FxBuildHasher> = HashMap::default();
    let mut decoded = Vec::new();
    for value in values {
        let Some(value) = value else {
            decoded.push(None);
            continue;
        };
        let found = match known.get(&value) {
            Some(&found) => found,
            None => {
                let found = decode(value).ok_or(value)?;
                known.insert(value, found);
                found
            }
        };
        decoded.push(Some(found));
    }
    Ok(decoded)
}
