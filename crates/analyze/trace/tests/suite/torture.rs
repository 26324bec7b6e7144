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

use metalens_trace::{Column, Names, Selection, Table, read_document};
use roxmltree::Document;

use super::mutation::{Mutation, RandomFault};
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
    /// Reads a broken document, and compares it with what the good one contains.
    fn add(&mut self, xml: &[u8], expected: &str, what: &str) {
        let Some((tables, names)) = read(xml, what) else {
            self.refused += 1;
            return;
        };
        if shown(&tables, &names) == expected {
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

/// Returns the contents of a good document, cell by cell.
fn contents(good: &str) -> String {
    let (tables, names) = read(good.as_bytes(), "good").unwrap();
    shown(&tables, &names)
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

/// Returns the range of each element, the innermost first.
fn elements(xml: &str) -> Vec<std::ops::Range<usize>> {
    let document = Document::parse(xml).unwrap();
    let all = document.descendants().filter(roxmltree::Node::is_element);
    all.map(|node| node.range()).collect()
}

#[test]
fn every_broken_byte_is_found() {
    for good in [GOOD, EVERYTHING] {
        let (mut outcomes, expected) = (Outcomes::default(), contents(good));
        for mutation in Mutation::every_byte(good.len()) {
            let xml = mutation.of(good.as_bytes());
            outcomes.add(&xml, &expected, &format!("{mutation:?}"));
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
        let (mut outcomes, expected) = (Outcomes::default(), contents(good));
        for mutation in Mutation::every_element(&elements(good)) {
            let xml = mutation.of(good.as_bytes());
            outcomes.add(&xml, &expected, &format!("{mutation:?}"));
        }
        println!("{outcomes:?}");
        assert!(
            outcomes.refused > outcomes.confirmed + outcomes.same,
            "{outcomes:?}"
        );
    }
}

/// Several random faults at once; the seed makes them repeatable.
#[test]
fn several_faults_are_found() {
    let rounds = std::env::var("METALENS_TORTURE").ok();
    let rounds: u64 = rounds.map_or(50_000, |rounds| rounds.parse().unwrap());
    for good in [GOOD, EVERYTHING] {
        let (mut outcomes, expected) = (Outcomes::default(), contents(good));
        for round in 0..rounds {
            let mut bytes = good.as_bytes().to_vec();
            RandomFault::apply_several(round, &mut bytes);
            outcomes.add(&bytes, &expected, &format!("round {round}"));
        }
        println!("{outcomes:?}");
        assert!(outcomes.refused > 0, "{outcomes:?}");
    }
}
