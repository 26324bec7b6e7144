//! Numbers to columns: what the numbers of a store stand for.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::display;
use super::files::Files;
use super::layout::Slot;
use super::manager::Store;
use super::people::People;
use super::store::Rows;
use super::symbols::Symbols;
use super::types::{self, Encoding};
use super::uniquing::{Array, Uniques};
use crate::error::{Error, Place, Problem, Result};
use crate::kind::Kind;
use crate::names::{Frame, Label, LabelId, Names, ProcessId, StackId};
use crate::select::Columns;
use crate::table::{Column, Integers, Origin, Table};

/// All that is needed to say what a run's numbers stand for.
pub(crate) struct Decoder<'a> {
    pub(crate) files: &'a Files,
    pub(crate) uniques: &'a Uniques,
    pub(crate) people: &'a People,
    /// The names of functions.
    pub(crate) symbols: Symbols<'a>,
    /// Labels as displayed, too.
    pub(crate) rendered: bool,
}

impl Decoder<'_> {
    /// A store as a table; columns that are not wanted are left out.
    pub(crate) fn table(
        &self,
        store: &Store,
        rows: &Rows,
        origin: Origin,
        wanted: &Columns,
        names: &mut Names,
    ) -> Result<Table> {
        let file = format!("{}/{}", self.files.name(), store.path);
        let mut columns = Vec::new();
        let mut schema = rows
            .layout
            .declared(|type_id| types::of(type_id).0.to_owned());
        for (column, spec) in rows.layout.columns.iter().zip(&mut schema.columns) {
            let decoded = match wanted.contains(&column.mnemonic) {
                true => self.column(rows, column.slot, &column.type_id, names),
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
            if is_raw(&column.type_id, columns.last()) {
                spec.engineering_type.clone_from(&column.type_id);
            }
        }
        Ok(Table {
            schema,
            origin,
            file,
            truncated: false,
            synthetic: false,
            rows: rows.count(),
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
        Ok(match encoding {
            Encoding::Number => Column::Integers(Integers::from_rows(rows.values(slot))),
            Encoding::FullNumber | Encoding::Undecoded => {
                Column::Integers(Integers::from_rows(rows.numbers(slot).map(Some)))
            }
            Encoding::NumberText => Column::Texts(each(rows.values(slot), |value| {
                Some(names.symbol(&value.to_string()))
            })?),
            Encoding::Text => Column::Texts(each(rows.values(slot), |value| {
                Some(names.symbol(self.uniques.string(value)?))
            })?),
            Encoding::Word(words) => {
                let word = |value| Some(names.symbol(self.word(value, words)?));
                match each(rows.values(slot), word) {
                    Ok(texts) => Column::Texts(texts),
                    Err(_) => Column::Integers(Integers::from_rows(rows.numbers(slot).map(Some))),
                }
            }
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
            Encoding::Label => Column::Labels(self.labels(rows.values(slot), names)?),
            Encoding::Narrative => Column::Texts(each(rows.values(slot), |value| {
                let parts = self.parts(self.uniques.typed.get(value)?)?;
                Some(names.symbol(&displayed(&parts)))
            })?),
        })
    }

    /// The string at a place, if it is one of the words that its type has.
    fn word(&self, value: u64, words: &[&str]) -> Option<&str> {
        let string = self.uniques.string(value)?;
        words.contains(&string).then_some(string)
    }

    /// `worker  0x1f`: the name and the thread's number, two blanks apart.
    fn thread_name(&self, value: u64, names: &mut Names) -> Option<crate::names::Symbol> {
        let (name, thread) = (value >> 32, value & u64::from(u32::MAX));
        let name = self.uniques.name(name)?;
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

    /// Labels are nearly all unique, but some columns have one in every row.
    fn labels(
        &self,
        values: impl Iterator<Item = Option<u64>>,
        names: &mut Names,
    ) -> Result<Vec<Option<LabelId>>, u64> {
        let mut known = Known::new(self.uniques);
        let mut last: Option<(u64, LabelId)> = None;
        let mut labels = Vec::new();
        for value in values {
            labels.push(match (value, last) {
                (None, _) => None,
                (Some(value), Some((before, id))) if value == before => Some(id),
                (Some(value), _) => {
                    let array = self.uniques.typed.get(value).ok_or(value)?;
                    let plain =
                        (!self.rendered).then(|| self.plain_label(array, &mut known, names));
                    let label = match plain.flatten() {
                        Some(label) => label,
                        None => self.label(array, names).ok_or(value)?,
                    };
                    let id = names.label_id(label);
                    last = Some((value, id));
                    Some(id)
                }
            });
        }
        Ok(labels)
    }

    /// A GPU label of the common form, without displaying it: at most one text,
    /// a process, a number. `None` if it is anything else.
    fn plain_label(&self, array: Array<'_>, known: &mut Known, names: &mut Names) -> Option<Label> {
        let (mut words, mut process, mut submission) = (None, None, None);
        for at in 0..array.len() / 2 {
            let (kind, value) = (array.get(2 * at)?, array.get(2 * at + 1)?);
            match *known.roles.get(usize::try_from(kind).ok()?)? {
                Role::Narrative => drop(self.uniques.string(value)?),
                Role::Submission => submission = Some(value),
                Role::Process if is_null(value) => {}
                Role::Process if process.is_none() => {
                    process = Some(match known.processes.get(&value) {
                        Some(&known) => known,
                        None => {
                            let found = self.people.process(value, self.uniques, names)?;
                            *known.processes.entry(value).or_insert(found)
                        }
                    });
                }
                Role::Words => {
                    let text = self.uniques.string(value)?.trim();
                    match (text.is_empty(), words) {
                        (true, _) => {}
                        (false, None) => words = Some(names.symbol(text)),
                        (false, Some(_)) => return None,
                    }
                }
                Role::Process | Role::Other => return None,
            }
        }
        let words = words.unwrap_or_else(|| names.symbol(""));
        Some(Label::new(words, process, Some(submission?)))
    }

    fn label(&self, array: Array<'_>, names: &mut Names) -> Option<Label> {
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
        Some(label)
    }

    /// The parts of a typed list.
    fn parts(&self, array: Array<'_>) -> Option<Vec<Part<'_>>> {
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

    fn part<'a>(&'a self, type_id: &'a str, value: u64) -> Option<Part<'a>> {
        let (tag, encoding) = types::of(type_id);
        let null = is_null(value);
        let display = match encoding {
            Encoding::Text => self.uniques.string(value)?.to_owned(),
            Encoding::Word(words) => match self.word(value, words) {
                Some(word) => word.to_owned(),
                None => number_display(tag, value),
            },
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

/// Whether a column is of raw numbers whose meaning nobody compared, or whose
/// words nobody has met.
pub(crate) fn is_raw(type_id: &str, column: Option<&Column>) -> bool {
    match (types::of(type_id).1, column) {
        (_, Some(Column::Dropped)) => false,
        (Encoding::Undecoded, _) => true,
        (Encoding::Word(_), Some(Column::Integers(_))) => true,
        _ => false,
    }
}

/// A reference to nobody, in either width.
fn is_null(value: u64) -> bool {
    value == u64::MAX || value == u64::from(u32::MAX)
}

/// What a column's labels have in common, looked up once.
struct Known {
    /// By the number of a type.
    roles: Vec<Role>,
    processes: HashMap<u64, ProcessId, FxBuildHasher>,
}

/// What a part is to its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Narrative,
    Submission,
    Process,
    Words,
    Other,
}

impl Known {
    fn new(uniques: &Uniques) -> Self {
        let role = |type_id: &String| match types::of(type_id) {
            ("narrative-text", _) => Role::Narrative,
            ("metal-encoder-id", _) => Role::Submission,
            (_, Encoding::Process) => Role::Process,
            (_, Encoding::Text) => Role::Words,
            _ => Role::Other,
        };
        Self {
            roles: uniques.types.iter().map(role).collect(),
            processes: HashMap::default(),
        }
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
    /// Most numbers are small and come again and again: a list finds them fastest.
    const DENSE: usize = 1 << 12;
    let mut dense: Vec<Option<T>> = vec![None; DENSE];
    let mut sparse: HashMap<u64, T, FxBuildHasher> = HashMap::default();
    let mut decoded = Vec::with_capacity(values.size_hint().0);
    for value in values {
        let Some(value) = value else {
            decoded.push(None);
            continue;
        };
        let place = usize::try_from(value).ok().and_then(|at| dense.get_mut(at));
        let found = match place {
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
        decoded.push(Some(found));
    }
    Ok(decoded)
}
