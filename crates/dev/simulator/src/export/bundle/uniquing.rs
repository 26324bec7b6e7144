//! Stores values that rows refer to, each once: texts, processes, threads and labels.

use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::archive::{self, Node};
use super::file::compressed;
use super::integers::Integers;
use crate::error::Error;
use crate::export::display;
use crate::plan::{Plan, ProcessIndex};
use crate::scenario::Scenario;
use crate::sheet::functions::{self, Stack};
use crate::sheet::{Kind, Part};

/// The uniquers of one run.
#[derive(Debug)]
pub(super) struct Uniquing {
    dir: PathBuf,
    /// XML text of the `<string>` elements.
    strings: Vec<u8>,
    known_strings: FxHashMap<Box<str>, u32>,
    arrays: Integers,
    typed: Integers,
    /// True if each stack is stored with a tag.
    tagged_stacks: bool,
}

/// Texts that every recording starts with; the empty one has index 0.
const FIRST_STRINGS: [&str; 4] = ["", "Unknown", "Running", "Blocked"];

/// Tag of every stack: the only tag in known real bundles.
const TAG: u64 = 0;

/// Session of every process: the placeholder that Apple writes.
const SESSION: &str = "TODO";

impl Uniquing {
    /// Creates the folder and starts the uniquers in it.
    pub(super) fn create(dir: &Path, scenario: &Scenario) -> Result<Self, Error> {
        let uniquer = |name: &str| {
            let dir = dir.join(name);
            fs::create_dir_all(&dir).map_err(Error::io("create folder", &dir))?;
            Integers::create(&dir)
        };

        let mut uniquing = Self {
            dir: dir.to_owned(),
            strings: Vec::new(),
            known_strings: FxHashMap::default(),
            arrays: uniquer("arrayUniquer")?,
            typed: uniquer("typedArrayUniquer")?,
            tagged_stacks: scenario.recording.tagged_stacks,
        };

        for text in FIRST_STRINGS {
            uniquing.string(text);
        }
        // Real recordings start with a list that is not a process.
        uniquing.arrays.push(&[0x1000, 0x2000, 0x3000]);
        Ok(uniquing)
    }

    /// Returns the index of a text.
    pub(super) fn string(&mut self, text: &str) -> u32 {
        if let Some(known) = self.known_strings.get(text) {
            return *known;
        }
        let index = u32::try_from(self.known_strings.len()).unwrap_or(u32::MAX);
        self.strings.extend_from_slice(b"\t<string>");
        display::escaped(text, &mut self.strings);
        self.strings.extend_from_slice(b"</string>\n");
        self.known_strings.insert(text.into(), index);
        index
    }

    /// Returns the index of the list of a process: its pid and its session.
    pub(super) fn process(&mut self, plan: &Plan, process: ProcessIndex) -> u32 {
        let session = self.string(SESSION);
        let pid = plan.process(process).pid;
        self.arrays.index_of(&[u64::from(pid), u64::from(session)])
    }

    /// Returns the index of the list of a main thread: its id and its process.
    pub(super) fn thread(&mut self, plan: &Plan, process: ProcessIndex) -> u32 {
        let owner = self.process(plan, process);
        let tid = plan.process(process).tid;
        self.arrays.index_of(&[tid, owner.into()])
    }

    /// Returns the index of the list of the other thread of a process.
    pub(super) fn worker(&mut self, plan: &Plan, process: ProcessIndex) -> u32 {
        let owner = self.process(plan, process);
        let tid = functions::worker_tid(plan, process);
        self.arrays.index_of(&[tid, owner.into()])
    }

    /// Returns the name of that thread and the thread, packed into one value.
    pub(super) fn worker_name(&mut self, plan: &Plan, process: ProcessIndex) -> u64 {
        let name = self.string("synthetic worker");
        (u64::from(name) << 32) | u64::from(self.worker(plan, process))
    }

    /// Returns the index of the list of a stack. The list has one part: the index of the addresses,
    /// with the process in the upper half. The newest layout wraps it in a list with a tag.
    pub(super) fn stack(&mut self, plan: &Plan, stack: &Stack<'_>) -> u32 {
        let owner = self.process(plan, stack.process);
        let addresses: Vec<u64> = stack.frames.iter().map(|frame| frame.address).collect();
        let addresses = self.arrays.index_of(&addresses);
        let part = (u64::from(owner) << 32) | u64::from(addresses);
        let index = self.arrays.index_of(&[part]);
        if self.tagged_stacks {
            return self.arrays.index_of(&[u64::from(index), TAG]);
        }
        index
    }

    /// Returns the index of the list of a label: types and values alternating. A label that
    /// `may_repeat` is looked up first.
    pub(super) fn label(&mut self, plan: &Plan, parts: &[Part<'_>], may_repeat: bool) -> u32 {
        let parts = parts.iter();
        let list: Vec<u64> = parts.flat_map(|part| self.typed_part(plan, part)).collect();
        if may_repeat {
            self.typed.index_of(&list)
        } else {
            self.typed.push(&list)
        }
    }

    fn typed_part(&mut self, plan: &Plan, part: &Part<'_>) -> [u64; 2] {
        let (kind, value) = match *part {
            Part::Number(kind, value) => (kind, value),
            Part::Text(kind, text) => (kind, self.string(text).into()),
            Part::Process(process) => (Kind::Process, self.process(plan, process).into()),
            Part::Thread(process) => (Kind::Thread, self.thread(plan, process).into()),
            // No known real bundle has a label without a process. Other cells store NULL as all ones.
            Part::NoProcess => (Kind::Process, u64::MAX),
        };
        // The list of types starts with the invalid one.
        [kind as u64 + 1, value]
    }

    /// Writes full buffers to disk.
    pub(super) fn flush_full(&mut self) -> Result<(), Error> {
        self.arrays.flush_full()?;
        self.typed.flush_full()
    }

    /// Ends the files, and adds the lists of texts and types and the table of contents.
    pub(super) fn finish(self) -> Result<(), Error> {
        let identifiers = u64::from(self.arrays.len()) + u64::from(self.typed.len());
        self.arrays.finish()?;
        self.typed.finish()?;

        compressed(&self.dir.join("strings"), |out| {
            out.write_all(STRINGS_HEAD.as_bytes())?;
            out.write_all(&self.strings)?;
            out.write_all(b"</array>\n</plist>\n")
        })?;
        compressed(&self.dir.join("EngineeringTypes.etypes"), |out| {
            let is_listed = |kind: &Kind| self.tagged_stacks || *kind != Kind::TaggedBacktrace;
            let kinds = Kind::ALL.into_iter().filter(is_listed);
            let names = kinds.map(|kind| kind.facts().bundle_name);
            let names = std::iter::once("XRInvalidEngineeringTypeID").chain(names);
            archive::write(Node::mutable_array(names.map(Node::mutable_text)), out)
        })?;
        compressed(&self.dir.join("TOC"), |out| {
            archive::write(contents(identifiers), out)
        })
    }
}

const STRINGS_HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<array>
"#;

/// Returns the table of contents, which names the files.
fn contents(identifiers: u64) -> Node {
    let file = |name| Node::text(name);
    Node::object(
        &["XRAnalysisCoreObjectRegistryTOC", "NSObject"],
        [
            ("typedArrayUniquer", file("typedArrayUniquer")),
            ("arrayUniquer", file("arrayUniquer")),
            ("nextUniqueIdentifier", Node::inline(identifiers)),
            ("strings", file("strings")),
            ("etypeMap", file("EngineeringTypes.etypes")),
        ],
    )
}
