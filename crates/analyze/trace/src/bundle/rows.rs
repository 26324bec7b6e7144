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
use super::symbols::Symbols;
use super::types::{self, Encoding};
use super::uniquing::{SUBMISSION, Uniques};
use crate::error::{Error, Problem, Result};
use crate::names::{Frame, Names, StackId};
use crate::place::Place;
use crate::select::Columns;
use crate::table::{Column, Origin, Table};

/// The type of a number that labels show in hexadecimal digits.
const HEX: &str = "uint64-hex-lowercase";

/// The column of latencies, which has 0 where an export has none.
const LATENCY: &str = "start-latency";

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
        let latencies = table.integers(LATENCY).ok().cloned().unwrap_or_default();
        if latencies.iter().any(|latency| latency == Some(0)) {
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
        if let Encoding::Word(words) = encoding {
            let word = |value| Some(names.symbol(self.word(value, words)?));
            let texts: Result<_, u64> = rows.values(slot).map(each(word)).collect();
            return Ok(match texts {
                Ok(texts) => Column::Texts(texts),
                Err(_) => Column::Integers(rows.take(slot).into_full_integers()),
            });
        }

        if encoding == Encoding::TaggedBacktrace {
            let stack = |value| self.tagged_stack(value, names);
            let stacks: Result<_, u64> = rows.values(slot).map(each(stack)).collect();
            return Ok(match stacks {
                Ok(stacks) => Column::Stacks(stacks),
                Err(_) => Column::Integers(rows.take(slot).into_full_integers()),
            });
        }

        let numbers = rows.take(slot);
        Ok(match encoding {
            Encoding::Number => Column::Integers(numbers.into_integers()),
            Encoding::FullNumber
            | Encoding::Undecoded
            | Encoding::Word(_)
            | Encoding::TaggedBacktrace => Column::Integers(numbers.into_full_integers()),
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
        })
    }

    /// Returns the string at an index, if it is one of the words of its type.
    fn word(&self, value: u64, words: &[&str]) -> Option<&str> {
        let string = self.uniques.string(value)?;
        words.contains(&string).then_some(string)
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
        let parts = self.uniques.arrays.get(value)?;
        let is_known = parts.len() == 2 && parts.get(1)? == 0;
        is_known.then(|| self.stack(parts.get(0)?, names))?
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
                let name = found.function.map(|name| names.symbol(&name));
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

    /// Decodes the parts of a typed list.
    pub(super) fn parts(&self, array: Array<'_>) -> Option<Vec<Part<'_>>> {
        let mut length = 0;
        let pairs =
            (0..array.len() / 2).map(|at| Some((array.get(2 * at)?, array.get(2 * at + 1)?)));
        pairs
            .map(|pair| {
                let (kind, value) = pair?;
                let type_id = self.uniques.types.get(usize::try_from(kind).ok()?)?;
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
            Encoding::Word(words) => match self.word(value, words) {
                Some(word) => word.to_owned(),
                None => number_display(tag, value),
            },
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
/// words or stacks.
pub(crate) fn is_raw(type_id: &str, column: Option<&Column>) -> bool {
    match (types::lookup(type_id).1, column) {
        (_, Some(Column::Dropped)) => false,
        (Encoding::Undecoded, _) => true,
        (Encoding::Word(_) | Encoding::TaggedBacktrace, Some(Column::Integers(_))) => true,
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
        SUBMISSION | "metal-command-buffer-id" => format!("0x{value:x}"),
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
