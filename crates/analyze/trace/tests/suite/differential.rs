//! Tests that the fast path for plain rows, with windows and several threads, gives the same
//! tables, names, notes and errors as reading every row with quick-xml.

mod documents;
mod mutated;

use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read};

use metalens_simulator::{Scenario, random_scenario, write_export};
use metalens_testing::real_recordings;
use metalens_trace::fuzzing::{self, ReadMethod};
use metalens_trace::{Error, Names, Selection, Table, TraceNote};

use super::second_reader::{exports_in, text_of};
use super::{EVERYTHING, GOOD};

/// Windows of a row or less, so that each border is tested, and larger ones, on one thread and on
/// several.
const WAYS: [ReadMethod; 7] = [
    ReadMethod::Windows(64, 0),
    ReadMethod::Windows(64, 2),
    ReadMethod::Windows(700, 1),
    ReadMethod::Windows(1024, 4),
    ReadMethod::Windows(4096, 3),
    ReadMethod::Windows(256 << 10, 0),
    ReadMethod::Default,
];

/// Returns selections of all, few and no columns. With few, most cells are checked and dropped.
fn selections() -> [Selection; 3] {
    let few: &[&str] = &["start", "duration", "process"];
    [
        Selection::everything().with_rendered_labels(),
        Selection::columns(&[("metal-gpu-intervals", few)]),
        Selection::counts(),
    ]
}

type Reading = (Names, Result<(Vec<Table>, Vec<TraceNote>), Error>);

fn read(input: impl Read, selection: &Selection, cut: bool, way: ReadMethod) -> Reading {
    let mut names = Names::new();
    let read = fuzzing::xml(input, &mut names, selection, cut, way);
    (names, read)
}

/// Checks that all methods agree with the reference.
fn check(what: &str, bytes: &[u8], ways: &[ReadMethod]) {
    for selection in selections() {
        for cut in [false, true] {
            let expected = read(bytes, &selection, cut, ReadMethod::Reference);
            for &way in ways {
                let found = read(Chopped::new(bytes), &selection, cut, way);
                same(what, way, &expected, &found);
            }
        }
    }
}

/// Checks that two readings are equal, also in the ids of names.
fn same(what: &str, way: ReadMethod, expected: &Reading, found: &Reading) {
    if digest(expected) == digest(found) {
        return;
    }
    let shown = |reading: &Reading| {
        let text = format!("{:#?}", reading.1);
        text.chars().take(4000).collect::<String>()
    };
    panic!(
        "{what}, {way:?}: expected {}\nfound {}",
        shown(expected),
        shown(found)
    );
}

fn digest(reading: &Reading) -> u64 {
    let mut digest = Digest(DefaultHasher::new());
    write!(digest, "{reading:?}").unwrap();
    digest.0.finish()
}

/// A hash of the written text.
struct Digest(DefaultHasher);

impl fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

/// An input that returns its bytes in irregular pieces, as pipes do, and may fail at its end.
struct Chopped<'a> {
    bytes: &'a [u8],
    piece: usize,
    end: Option<io::ErrorKind>,
}

impl<'a> Chopped<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            piece: 1,
            end: None,
        }
    }
}

impl Read for Chopped<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.piece = self.piece * 7 % 65_537;
        let count = self.piece.min(out.len()).min(self.bytes.len());
        let (now, later) = self.bytes.split_at(count);
        out[..count].copy_from_slice(now);
        self.bytes = later;
        match self.end {
            Some(kind) if count == 0 && !out.is_empty() => Err(kind.into()),
            _ => Ok(count),
        }
    }
}

#[test]
fn documents_of_all_scenarios_are_read_the_same_way() {
    let presets = ["awkward", "two-runs", "no-target-rows", "renderer"];
    let presets = presets.map(|name| Scenario::preset(name).unwrap());
    for scenario in presets.into_iter().chain((0..6).map(random_scenario)) {
        let folder = metalens_testing::scratch();
        write_export(&scenario, folder.path(), false).unwrap();
        for file in exports_in(folder.path()) {
            let bytes = std::fs::read(&file).unwrap();
            check(&file.display().to_string(), &bytes, &WAYS[3..]);
        }
    }
}

#[test]
fn fixtures_are_read_the_same_way() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures");
    let files = exports_in(&fixtures);
    assert!(files.len() > 3, "no fixtures in {}", fixtures.display());
    for file in files {
        check(
            &file.display().to_string(),
            text_of(&file).as_bytes(),
            &WAYS,
        );
    }
}

#[test]
fn real_tables_are_read_the_same_way() {
    let Some(folder) = real_recordings() else {
        return;
    };
    for file in exports_in(&folder) {
        let text = text_of(&file);
        check(&file.display().to_string(), text.as_bytes(), &WAYS[4..]);
    }
}

#[test]
fn documents_cut_at_every_byte_are_read_the_same_way() {
    for cut in 0..EVERYTHING.len() {
        let bytes = &EVERYTHING.as_bytes()[..cut];
        let few = Selection::everything().with_rendered_labels();
        for leave in [false, true] {
            let expected = read(bytes, &few, leave, ReadMethod::Reference);
            for way in [ReadMethod::Windows(64, 0), ReadMethod::Windows(900, 1)] {
                let found = read(Chopped::new(bytes), &few, leave, way);
                same(&format!("cut at {cut}"), way, &expected, &found);
            }
        }
    }
}

/// If a disk or a pipe fails, or a compressed stream ends early, the bytes before that are read
/// first.
#[test]
fn inputs_that_fail_are_read_the_same_way() {
    let everything = Selection::everything();
    for cut in (0..GOOD.len()).step_by(13) {
        for end in [
            io::ErrorKind::UnexpectedEof,
            io::ErrorKind::PermissionDenied,
        ] {
            let failing = || Chopped {
                end: Some(end),
                ..Chopped::new(&GOOD.as_bytes()[..cut])
            };
            let expected = read(failing(), &everything, true, ReadMethod::Reference);
            for way in [ReadMethod::Windows(64, 2), ReadMethod::Default] {
                let found = read(failing(), &everything, true, way);
                same(&format!("{end:?} at {cut}"), way, &expected, &found);
            }
        }
    }
}
