//! Decodes the numbers of a store into columns.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::arrays::Array;
use super::display;
use super::files::Files;
use super::layout::Slot;
use super::manager::Store;
use super::process_names::ProcessNames;
use super::store::{Numbers, Rows, present};
use super::symbols::{Symbols, shown_uuid};
use super::types::{self, Encoding};
use super::uniquing::{SUBMISSION, Uniques};
use crate::error::{Error, Problem, Result};
use crate::mangled::of_rust;
use crate::names::{Frame, Names, StackId};
use crate::place::Place;
use crate::select::Columns;
use crate::table::{Column, Origin, Table};

/// The type of a number that labels show in hexadecimal digits.
const HEX: &str = "uint64-hex-lowercase";

/// Table whose column of latencies has 0 where an export has none. A latency of 0 in another table was
/// never seen.
const WITHOUT_LATENCY: &str = "mps-hw-intervals";
const LATENCY: &str = "start-latency";

/// Depth of messages inside a message. The signature of an interval has those of its begin and its
/// end.
const MAX_MESSAGE_DEPTH: usize = 1;

/// The data that is needed to decode the numbers of a run.
pub(crate) struct Decoder<'a> {
    pub(crate) files: &'a Files,
    pub(crate) uniques: &'a Uniques,
    pub(crate) process_names: &'a ProcessNames,
    /// Names of functions.
    pub(crate) symbols: Symbols<'a>,
    /// True if labels are also kept as displayed.
    pub(crate) rendered: bool,
    /// True if labels keep the number of their submission.
    pub(crate) numbered: bool,
}

impl Decoder<'_> {
    /// Decodes a store into a table. Columns that are not selected are dropped.
    pub(crate) fn table(
        &self,
        store: &Store,
        rows: &mut Rows,
        origin: Origin,
        wanted: &Columns,
        names: &mut Names,
    ) -> Result<Table> {
        let file = format!("{}/{}", self.files.name(), store.path);
        let mut columns = Vec::new();
        let mut schema = rows
            .layout
            .declared(|type_id| types::lookup(type_id).0.to_owned());
        for (column, spec) in rows.layout.columns.clone().iter().zip(&mut schema.columns) {
            let decoded = if wanted.contains(&column.mnemonic) {
                self.column(rows, column.slot, &column.type_id, names)
            } else {
                Ok(Column::Dropped)
            };
            columns.push(decoded.map_err(|value| {
                let place = Place {
                    table: Some(rows.layout.schema.clone()),
                    column: Some(column.mnemonic.clone()),
                    ..Place::file(&file)
                };
                let detail = format!("{value:#x} refers to nothing in the bundle");
                Error::new(Problem::UnsupportedBundle { detail }, place)
            })?);
            if is_raw(&column.type_id, columns.last()) {
                spec.engineering_type.clone_from(&column.type_id);
            }
        }

        let mut table = Table {
            schema,
            origin,
            file,
            truncated: false,
            synthetic: false,
            rows: rows.count(),
            columns,
        };
        if table.schema.name == WITHOUT_LATENCY {
            let latencies = table.integers(LATENCY).ok().cloned().unwrap_or_default();
            table.forget(LATENCY, |row| latencies.get(row) == Some(0));
        }
        Ok(table)
    }

    /// Decodes one column. `Err` is a value that refers to nothing.
    fn column(
        &self,
        rows: &mut Rows,
        slot: Slot,
        type_id: &str,
        names: &mut Names,
    ) -> Result<Column, u64> {
        let (_, encoding) = types::lookup(type_id);
        if encoding.is_partly_known() {
            return Ok(self
                .known_column(rows, slot, encoding, names)
                .unwrap_or_else(|| Column::Integers(rows.take(slot).into_full_integers())));
        }

        let numbers = rows.take(slot);
        Ok(match encoding {
            Encoding::Number => Column::Integers(numbers.into_integers()),
            Encoding::NumberText => Column::Texts(of_each(numbers, |value| {
                Some(names.symbol(&value.to_string()))
            })?),
            Encoding::Decimal => Column::Texts(of_each(numbers, |value| {
                Some(names.symbol(&display::decimal(value)))
            })?),
            Encoding::Text => Column::Texts(of_each(numbers, |value| {
                Some(names.symbol(self.uniques.string(value)?))
            })?),
            Encoding::Process => Column::Processes(of_each(numbers, |value| {
                self.process_names.process(value, self.uniques, names)
            })?),
            Encoding::Thread => Column::Threads(of_each(numbers, |value| {
                self.process_names.thread(value, self.uniques, names)
            })?),
            Encoding::ThreadName => {
                Column::Texts(of_each(numbers, |value| self.thread_name(value, names))?)
            }
            Encoding::Backtrace => {
                Column::Stacks(of_each(numbers, |value| self.stack(value, names))?)
            }
            Encoding::Callstack => Column::Texts(of_each(numbers, |value| {
                Some(names.symbol(&self.callstack(value)?))
            })?),
            Encoding::Label => Column::Labels(self.labels(numbers, names)?),
            Encoding::Narrative => Column::Texts(of_each(numbers, |value| {
                let parts = self.parts(self.uniques.typed.get(value)?)?;
                Some(names.symbol(&displayed(&parts)))
            })?),
            _ => Column::Integers(numbers.into_full_integers()),
        })
    }

    /// Decodes a column of a type of which only some values are known. `None` if it has others.
    fn known_column(
        &self,
        rows: &Rows,
        slot: Slot,
        encoding: Encoding,
        names: &mut Names,
    ) -> Option<Column> {
        let values = rows.values(slot);
        if matches!(encoding, Encoding::TaggedBacktrace | Encoding::NoBacktrace) {
            let is_tagged = encoding == Encoding::TaggedBacktrace;
            let stack = |value| self.tagged_stack(value, names).filter(|_| is_tagged);
            let stacks: Result<_, u64> = values.map(each(stack)).collect();
            return stacks.ok().map(Column::Stacks);
        }

        let text = |value| {
            let text = match encoding {
                Encoding::Listed => self.uniques.string(value)?.to_owned(),
                Encoding::Message => self.message(value, MAX_MESSAGE_DEPTH)?,
                Encoding::Argument => self.argument(value)?,
                Encoding::Numbers(between) => self.numbers(value, between)?,
                _ => self.location(value)?,
            };
            Some(names.symbol(&text))
        };
        let texts: Result<_, u64> = values.map(each(text)).collect();
        texts.ok().map(Column::Texts)
    }

    /// Formats the message of a log or of a signpost.
    fn message(&self, value: u64, depth: usize) -> Option<String> {
        let (mut parts, mut length) = (Vec::new(), 0);
        for pair in self.pairs(self.uniques.typed.get(value)?) {
            let (type_id, value) = pair?;
            let part = match types::lookup(type_id).1 {
                Encoding::Undecoded => return None,
                Encoding::Message => self.message(value, depth.checked_sub(1)?)?,
                _ => self.part(type_id, value)?.display,
            };
            let more = part.len() + 1;
            if !self.uniques.affords(length, more) {
                return None;
            }
            length += more;
            parts.push(part);
        }
        Some(parts.join(" "))
    }

    /// Formats an argument of a signpost: numbers without separators, as an export stores them.
    fn argument(&self, value: u64) -> Option<String> {
        let list = self.uniques.typed.get(value)?;
        let (type_id, value) = self.pairs(list).next()??;
        match types::lookup(type_id).1 {
            _ if list.len() != 2 => None,
            Encoding::Undecoded => None,
            Encoding::Number | Encoding::FullNumber => Some(value.to_string()),
            _ => Some(self.part(type_id, value)?.display),
        }
    }

    /// Formats a list of numbers.
    fn numbers(&self, value: u64, between: &str) -> Option<String> {
        let list = self.uniques.arrays.get(value)?;
        let digits = usize::try_from(u64::MAX.ilog10()).ok()? + 1;
        let most = list.len().saturating_mul(digits + between.len());
        let numbers = list.iter().map(|number| number.to_string());
        self.uniques
            .affords(0, most)
            .then(|| numbers.collect::<Vec<_>>().join(between))
    }

    /// Formats the place of a call, such as `30313233-3435-3637-3839-616263646566 + 0x1f`.
    fn location(&self, value: u64) -> Option<String> {
        let [high, low] = self.uniques.pair(value >> 32)?.map(u128::from);
        let uuid = shown_uuid((high << 64 | low).to_be_bytes());
        let offset = value & u64::from(u32::MAX);
        Some(format!("{uuid} + 0x{offset:x}"))
    }

    /// Returns the name and the number of a thread, with two spaces between: `worker  0x1f`.
    fn thread_name(&self, value: u64, names: &mut Names) -> Option<crate::names::Symbol> {
        let (name, thread) = (value >> 32, value & u64::from(u32::MAX));
        let name = self.uniques.name(name)?;
        let tid = self.uniques.arrays.get(thread)?.get(0)?;
        Some(names.symbol(&format!("{name}  0x{tid:x}")))
    }

    /// Formats a call stack, such as `PC:0x1047849c0, 14 frames, 1 regs, pid: 88`.
    fn callstack(&self, value: u64) -> Option<String> {
        let parts = self.uniques.arrays.get(value)?;
        let frames = self.uniques.arrays.get(parts.get(0)?)?.len();
        let (counter, pid) = (
            parts.get(1)?,
            ProcessNames::pid(parts.get(2)?, self.uniques)?,
        );
        let registers = parts.len().saturating_sub(3);
        Some(format!(
            "PC:0x{counter:x}, {frames} frames, {registers} regs, pid: {pid}"
        ))
    }

    /// Decodes a list of a stack and its tag.
    fn tagged_stack(&self, value: u64, names: &mut Names) -> Option<StackId> {
        match self.uniques.pair(value)? {
            [stack, 0] => self.stack(stack, names),
            _ => None,
        }
    }

    /// Decodes a list of pieces, each a list of addresses with its process.
    fn stack(&self, value: u64, names: &mut Names) -> Option<StackId> {
        let mut frames = Vec::new();
        for piece in self.uniques.arrays.get(value)?.iter() {
            let addresses = self.uniques.arrays.get(piece & u64::from(u32::MAX))?;
            if !self.uniques.affords_frames(frames.len(), addresses.len()) {
                return None;
            }
            for (at, number) in addresses.iter().enumerate() {
                let found = self.symbols.find(piece >> 32, number, at == 0);
                let address = names.symbol(&format!("0x{number:x}"));
                let name = found
                    .function
                    .map(|name| names.function(&of_rust(&name.text), name.is_sure));
                let binary = found.binary.map(|binary| names.symbol(&binary));
                frames.push(names.frame_id(Frame {
                    name: name.unwrap_or(address),
                    address,
                    binary,
                }));
            }
        }
        Some(names.stack_id(&frames))
    }

    /// Returns the types and the values in a typed list.
    fn pairs<'a>(&'a self, list: Array<'a>) -> impl Iterator<Item = Option<(&'a str, u64)>> {
        (0..list.len() / 2).map(move |pair| {
            let kind = usize::try_from(list.get(2 * pair)?).ok()?;
            Some((
                self.uniques.types.get(kind)?.as_str(),
                list.get(2 * pair + 1)?,
            ))
        })
    }

    /// Decodes the parts of a typed list.
    pub(super) fn parts<'a>(&'a self, array: Array<'a>) -> Option<Vec<Part<'a>>> {
        let mut length = 0;
        self.pairs(array)
            .map(|pair| {
                let (type_id, value) = pair?;
                let part = self.part(type_id, value)?;
                let more = part.display.len() + 1;
                length += more;
                self.uniques.affords(length - more, more).then_some(part)
            })
            .collect()
    }

    /// Returns the displayed form of one value of a label.
    fn part<'a>(&'a self, type_id: &'a str, value: u64) -> Option<Part<'a>> {
        let (tag, encoding) = types::lookup(type_id);
        let null = is_null(value);
        let display = match encoding {
            Encoding::Text => self.uniques.string(value)?.to_owned(),
            Encoding::Listed => match self.uniques.string(value) {
                Some(text) => text.to_owned(),
                None => number_display(tag, value),
            },
            Encoding::Decimal => display::decimal(value),
            Encoding::Numbers(between) => self.numbers(value, between)?,
            Encoding::Process if null => return Some(Part::null(tag)),
            Encoding::Process => self.process_names.process_display(value, self.uniques)?,
            Encoding::Thread if null => return Some(Part::null(tag)),
            Encoding::Thread => self.process_names.thread_display(value, self.uniques)?,
            _ => number_display(tag, value),
        };
        Some(Part {
            tag,
            value: Some(value),
            display,
        })
    }
}

/// Returns true for a column of raw numbers, because its type was never compared or it has unknown
/// values.
pub(crate) fn is_raw(type_id: &str, column: Option<&Column>) -> bool {
    match (types::lookup(type_id).1, column) {
        (_, Some(Column::Dropped)) => false,
        (Encoding::Undecoded, _) => true,
        (encoding, Some(Column::Integers(_))) => encoding.is_partly_known(),
        _ => false,
    }
}

/// Returns true for a null reference, of either width.
pub(super) fn is_null(value: u64) -> bool {
    value == u64::MAX || value == u64::from(u32::MAX)
}

/// A part of a label.
pub(super) struct Part<'a> {
    pub(super) tag: &'a str,
    pub(super) value: Option<u64>,
    pub(super) display: String,
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

/// Returns the display form of parts, separated by a space. A hexadecimal number has none around
/// it: the text before ends with `0x`.
pub(super) fn displayed(parts: &[Part<'_>]) -> String {
    let mut text = String::new();
    let mut is_apart = false;
    for part in parts {
        let is_hex = part.tag == HEX;
        if is_apart && !is_hex {
            text.push(' ');
        }
        text.push_str(&part.display);
        is_apart = !is_hex;
    }
    text
}

fn number_display(tag: &str, value: u64) -> String {
    match tag {
        "duration" => display::duration(value),
        "start-time" | "event-time" | "sample-time" => display::instant(value),
        "size-in-bytes" => display::bytes(value),
        "uint64" => display::thousands(value),
        HEX => format!("{value:x}"),
        "private" => "<private>".to_owned(),
        SUBMISSION
        | "metal-command-buffer-id"
        | "kdebug-arg"
        | "gpu-driver-surface"
        | "gpu-hardware-trace"
        | "displayed-surface-swap" => format!("0x{value:x}"),
        _ => value.to_string(),
    }
}

/// Decodes each number of a field. Equal numbers are decoded once.
fn of_each<T: Copy>(
    numbers: Numbers,
    decode: impl FnMut(u64) -> Option<T>,
) -> Result<Vec<Option<T>>, u64> {
    let mut each = each(decode);
    map(numbers, move |value| each(Some(value))?.ok_or(value))
}

/// Maps the numbers of a field. Null stays null.
pub(super) fn map<T>(
    numbers: Numbers,
    mut decode: impl FnMut(u64) -> Result<T, u64>,
) -> Result<Vec<Option<T>>, u64> {
    let mut decode = move |value: Option<u64>| value.map(&mut decode).transpose();
    match numbers {
        Numbers::Narrow(numbers) => numbers.into_iter().map(present).map(decode).collect(),
        Numbers::Wide(numbers) => numbers.iter().map(&mut decode).collect(),
    }
}

/// Returns a function that decodes one value after another. Equal numbers are decoded once.
fn each<T: Copy>(
    mut decode: impl FnMut(u64) -> Option<T>,
) -> impl FnMut(Option<u64>) -> Result<Option<T>, u64> {
    /// Number of small values in a list, which is faster than a map: most values are small and
    /// repeated.
    const DENSE: usize = 1 << 12;
    let mut dense: Vec<Option<T>> = Vec::new();
    let mut sparse: HashMap<u64, T, FxBuildHasher> = HashMap::default();
    move |value: Option<u64>| {
        let Some(value) = value else {
            return Ok(None);
        };
        let at = usize::try_from(value).ok().filter(|&at| at < DENSE);
        // It grows with the values: most tables are small, and have many columns.
        if let Some(at) = at.filter(|&at| at >= dense.len()) {
            dense.resize((at + 1).next_power_of_two(), None);
        }
        let found = match at.and_then(|at| dense.get_mut(at)) {
            Some(Some(found)) => *found,
            Some(place) => *place.insert(decode(value).ok_or(value)?),
            None => match sparse.get(&value) {
                Some(&found) => found,
                None => {
                    let found = decode(value).ok_or(value)?;
                    sparse.insert(value, found);
                    found
                }
            },
        };
        Ok(Some(found))
    }
}
