//! Tests two good documents with one fault at a time, at every place. They must be refused or read
//! to the same answer, or a second reader with another XML library must confirm every cell. They
//! must never cause a panic or an invented number.
//!
//! `METALENS_TORTURE=N` adds N rounds of several faults at once; a million take a minute.
//! `scripts/torture` sets it.

#![expect(
    clippy::print_stdout,
    reason = "how often what came of it; seen with --nocapture"
)]

use std::fmt::Write as _;

use metalens_trace::{Column, Input, LoadOptions, Names, Selection, Table, read_document};
use roxmltree::Document;

use super::{EVERYTHING, GOOD, judge};

/// Numbers of outcomes.
#[derive(Debug, Default)]
struct Outcomes {
    refused: usize,
    same: usize,
    /// Another answer that the second reader confirms.
    confirmed: usize,
    /// Another answer that cannot be judged.
    unjudged: usize,
}

fn read(xml: &[u8], name: &str) -> Option<(Vec<Table>, Names)> {
    let mut names = Names::new();
    let selection = Selection::everything().with_rendered_labels();
    let tables = read_document(xml, name, &mut names, &selection).ok()?;
    Some((tables, names))
}

impl Outcomes {
    fn add(&mut self, xml: &[u8], good: &str, what: &str) {
        let Some((tables, names)) = read(xml, what) else {
            self.refused += 1;
            return;
        };
        let (expected, of) = read(good.as_bytes(), "good").unwrap();
        if shown(&tables, &names) == shown(&expected, &of) {
            self.same += 1;
            return;
        }
        let text = std::str::from_utf8(xml).unwrap_or_else(|error| panic!("{what}: {error}"));
        if judge::agrees(text, what, &tables, &names) {
            self.confirmed += 1;
        } else {
            self.unjudged += 1;
        }
    }
}

/// Returns the contents of tables, cell by cell.
fn shown(tables: &[Table], names: &Names) -> String {
    let mut shown = String::new();
    for table in tables {
        writeln!(shown, "{} {:?}", table.schema.name, table.origin).unwrap();
        for (spec, column) in table.columns() {
            let cells: Vec<String> = (0..table.rows())
                .map(|row| cell(column, row, names))
                .collect();
            writeln!(shown, "{}: {cells:?}", spec.mnemonic).unwrap();
        }
    }
    shown
}

pub(crate) fn cell(column: &Column, row: usize, names: &Names) -> String {
    let text = |symbol| names.text(symbol);
    match column {
        Column::Integers(values) => format!("{:?}", values.get(row)),
        Column::Texts(values) => format!("{:?}", values[row].map(text)),
        Column::Processes(values) => {
            let process = values[row].and_then(|id| names.process(id));
            format!(
                "{:?}",
                process.map(|process| (text(process.name), process.pid))
            )
        }
        Column::Threads(values) => {
            let thread = values[row].and_then(|id| names.thread(id));
            format!(
                "{:?}",
                thread.map(|thread| (text(thread.display), thread.tid))
            )
        }
        Column::Labels(values) => {
            let label = values[row].and_then(|id| names.label(id));
            let parts = |label: metalens_trace::Label| {
                (
                    text(label.text).to_owned(),
                    label.rendered.map(text).map(str::to_owned),
                    label.submission_id(),
                )
            };
            format!("{:?}", label.map(parts))
        }
        Column::Stacks(values) => {
            let frames = values[row].map(|id| names.stack(id).map(|frame| text(frame.name)));
            format!("{:?}", frames.map(Iterator::collect::<Vec<_>>))
        }
        Column::Dropped => unreachable!("everything was asked for"),
    }
}

/// Returns the document with every fault of one byte.
fn broken_bytes(good: &[u8]) -> impl Iterator<Item = (String, Vec<u8>)> {
    (0..good.len()).flat_map(move |at| {
        let with = |what: &str, change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good.to_vec();
            change(&mut bytes);
            (format!("{what} byte {at}"), bytes)
        };
        let mut all: Vec<(String, Vec<u8>)> = (0..8)
            .map(|bit| with(&format!("bit {bit} of"), &|bytes| bytes[at] ^= 1 << bit))
            .collect();
        all.push(with("cut off at", &|bytes| bytes.truncate(at)));
        all.push(with("without", &|bytes| {
            bytes.remove(at);
        }));
        all.push(with("twice", &|bytes| bytes.insert(at, bytes[at])));
        all.push(with("swapped at", &|bytes| {
            if at + 1 < bytes.len() {
                bytes.swap(at, at + 1);
            }
        }));
        for other in *b"<>&\"/ 0\0" {
            let what = format!("{:?} for", char::from(other));
            all.push(with(&what, &|bytes| bytes[at] = other));
        }
        all
    })
}

/// Returns the range of each element, the innermost first.
fn elements(xml: &str) -> Vec<std::ops::Range<usize>> {
    let document = Document::parse(xml).unwrap();
    let all = document.descendants().filter(roxmltree::Node::is_element);
    all.map(|node| node.range()).collect()
}

/// Returns the document with every element removed, doubled, and swapped with its neighbor.
fn broken_elements(xml: &str) -> Vec<(String, Vec<u8>)> {
    let all = elements(xml);
    let mut broken = Vec::new();
    for (at, element) in all.iter().enumerate() {
        let (before, rest) = (&xml[..element.start], &xml[element.end..]);
        let this = &xml[element.clone()];
        broken.push((format!("without element {at}"), format!("{before}{rest}")));
        let twice = format!("{before}{this}{this}{rest}");
        broken.push((format!("element {at} twice"), twice));
        for (of, other) in all
            .iter()
            .enumerate()
            .filter(|(_, other)| other.start >= element.end)
        {
            let between = &xml[element.end..other.start];
            let swapped = format!(
                "{before}{}{between}{this}{}",
                &xml[other.clone()],
                &xml[other.end..]
            );
            broken.push((format!("element {at} and {of} swapped"), swapped));
        }
    }

    let bytes = broken.into_iter();
    bytes
        .map(|(what, text)| (what, text.into_bytes()))
        .collect()
}

#[test]
fn every_broken_byte_is_found() {
    for good in [GOOD, EVERYTHING] {
        let mut outcomes = Outcomes::default();
        for (what, xml) in broken_bytes(good.as_bytes()) {
            outcomes.add(&xml, good, &what);
        }
        println!("{outcomes:?}");
        // All three outcomes must occur: values change, spaces do not matter, the rest is
        // structure.
        assert!(
            outcomes.refused > outcomes.confirmed + outcomes.same,
            "{outcomes:?}"
        );
        assert!(
            outcomes.confirmed > 1_000 && outcomes.same > 100,
            "{outcomes:?}"
        );
    }
}

#[test]
fn every_broken_element_is_found() {
    for good in [GOOD, EVERYTHING] {
        let mut outcomes = Outcomes::default();
        for (what, xml) in broken_elements(good) {
            outcomes.add(&xml, good, &what);
        }
        println!("{outcomes:?}");
        assert!(
            outcomes.refused > outcomes.confirmed + outcomes.same,
            "{outcomes:?}"
        );
    }
}

/// A document that is cut off anywhere, except at its last line end, is refused. On request its
/// complete rows are read, with a note.
#[test]
fn documents_that_are_cut_off_are_refused() {
    let whole = GOOD.trim_end().len();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.xml");
    for at in 0..whole {
        assert!(
            read(&GOOD.as_bytes()[..at], "cut").is_none(),
            "at byte {at}"
        );
        std::fs::write(&path, &GOOD.as_bytes()[..at]).unwrap();
        let options = LoadOptions {
            allow_truncated: true,
            ..LoadOptions::default()
        };
        let input = Input::open(&path);
        let loaded = input.and_then(|input| input.load(&Selection::everything(), options));
        if let Ok(trace) = loaded {
            assert!(!trace.notes.is_empty(), "at byte {at}");
        }
    }
}

/// Several random faults at once; the seed makes them repeatable.
#[test]
fn several_faults_are_found() {
    let rounds = std::env::var("METALENS_TORTURE").ok();
    let rounds: u64 = rounds.map_or(50_000, |rounds| rounds.parse().unwrap());
    for good in [GOOD, EVERYTHING] {
        let mut outcomes = Outcomes::default();
        for round in 0..rounds {
            let mut chance = Chance(round.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
            let mut bytes = good.as_bytes().to_vec();
            for _ in 0..=chance.below(3) {
                chance.damage(&mut bytes);
            }
            outcomes.add(&bytes, good, &format!("round {round}"));
        }
        println!("{outcomes:?}");
        assert!(outcomes.refused > 0, "{outcomes:?}");
    }
}

/// A xorshift generator, which gives the same numbers on every machine.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }

    /// Removes, doubles or moves a range, or replaces one byte by another.
    pub(crate) fn damage(&mut self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let at = self.below(bytes.len());
        let until = (at + 1 + self.below(40)).min(bytes.len());
        match self.below(4) {
            0 => drop(bytes.drain(at..until)),
            1 => {
                let stretch = bytes[at..until].to_vec();
                bytes.splice(at..at, stretch);
            }
            2 => {
                let stretch: Vec<u8> = bytes.drain(at..until).collect();
                let to = self.below(bytes.len().max(1));
                bytes.splice(to..to, stretch);
            }
            _ => bytes[at] = bytes[self.below(bytes.len())],
        }
    }
}
