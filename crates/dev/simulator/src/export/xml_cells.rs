//! Writes cells as XML elements with dense ids. A value is written once and referred to afterwards.
//!
//! Ids rise by one in document order at every nesting depth. A value that was written before is
//! replaced by a `ref` if it is still remembered. Texts and composites are always remembered. A
//! number is remembered until another one takes its slot. That bounds memory, and real exports also
//! sometimes write the same number again.

use rustc_hash::FxHashMap;

use super::display;
use crate::plan::{Plan, ProcessIndex};
use crate::sheet::functions::{self, Frame, Stack};
use crate::sheet::{Kind, Part, Value};

/// The rows of one document, as bytes.
#[derive(Debug)]
pub(super) struct XmlCells<'a> {
    out: Vec<u8>,
    plan: &'a Plan,
    /// Text between the parts of a label.
    separator: &'static str,
    last_id: u64,
    numbers: Vec<Remembered>,
    texts: Vec<FxHashMap<Box<str>, u64>>,
    labels: FxHashMap<(&'static str, Box<[u8]>), u64>,
    processes: FxHashMap<ProcessIndex, u64>,
    threads: FxHashMap<ProcessIndex, u64>,
    stacks: FxHashMap<(ProcessIndex, Vec<u64>), u64>,
    frames: FxHashMap<(ProcessIndex, u64), u64>,
    binaries: FxHashMap<ProcessIndex, u64>,
}

impl<'a> XmlCells<'a> {
    pub(super) fn new(plan: &'a Plan, separator: &'static str) -> Self {
        Self {
            out: Vec::new(),
            plan,
            separator,
            last_id: 0,
            numbers: vec![Remembered::default(); Kind::ALL.len() << SLOT_BITS],
            texts: vec![FxHashMap::default(); Kind::ALL.len()],
            labels: FxHashMap::default(),
            processes: FxHashMap::default(),
            threads: FxHashMap::default(),
            stacks: FxHashMap::default(),
            frames: FxHashMap::default(),
            binaries: FxHashMap::default(),
        }
    }

    /// Returns the bytes so far, which the caller takes and clears.
    pub(super) const fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    fn parts(&mut self, tag: &'static str, parts: &[Part<'_>]) {
        self.put("\">");
        for part in parts {
            match *part {
                Part::Number(kind, value) => self.number(kind, value),
                Part::Text(kind, value) => self.text(kind, value),
                Part::Process(process) => self.process(process),
                Part::Thread(process) => self.thread(process),
                Part::NoProcess => self.put("<sentinel/>"),
            }
        }
        self.close(tag);
    }

    /// Writes an element up to its display form, and returns its id.
    fn open(&mut self, tag: &str) -> u64 {
        let id = self.define(tag);
        self.put(" fmt=\"");
        id
    }

    /// Writes an element up to its id, and returns the id.
    fn define(&mut self, tag: &str) -> u64 {
        self.last_id += 1;
        self.put("<");
        self.put(tag);
        self.put(" id=\"");
        display::decimal(self.last_id, &mut self.out);
        self.put("\"");
        self.last_id
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.put(" ");
        self.put(name);
        self.put("=\"");
        display::escaped(value, &mut self.out);
        self.put("\"");
    }

    /// Writes `<frame id="1" name="main" addr="0x100001080"><binary …/></frame>`.
    fn frame(&mut self, process: ProcessIndex, frame: &Frame<'_>) {
        if let Some(id) = self.frames.get(&(process, frame.address)) {
            return self.refer("frame", *id);
        }
        let id = self.define("frame");
        self.frames.insert((process, frame.address), id);
        self.attribute("name", frame.name);
        self.attribute("addr", &format!("{:#x}", frame.address));
        self.put(">");
        self.binary(process);
        self.close("frame");
    }

    /// Writes a binary, or a reference to it.
    fn binary(&mut self, process: ProcessIndex) {
        if let Some(id) = self.binaries.get(&process) {
            return self.refer("binary", *id);
        }
        let id = self.define("binary");
        self.binaries.insert(process, id);
        let plan = self.plan;
        self.attribute("name", &plan.process(process).name);
        self.attribute(
            "UUID",
            &functions::shown_uuid(functions::uuid(plan, process)),
        );
        self.attribute("arch", "arm64");
        self.attribute("load-addr", &format!("{:#x}", functions::LOAD_ADDRESS));
        self.attribute("path", &functions::path(plan, process));
        self.put("/>");
    }

    fn close(&mut self, tag: &str) {
        self.put("</");
        self.put(tag);
        self.put(">");
    }

    fn refer(&mut self, tag: &str, id: u64) {
        self.put("<");
        self.put(tag);
        self.put(" ref=\"");
        display::decimal(id, &mut self.out);
        self.put("\"/>");
    }

    pub(super) fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Writes a value in a column of a kind.
    pub(super) fn cell(&mut self, kind: Kind, value: Value<'_>) {
        match (value, kind) {
            (Value::Number(billionths), Kind::Percent) => self.percent(billionths),
            (Value::Number(value), _) => self.number(kind, value),
            (Value::Text(text), _) => self.text(kind, text),
            (Value::Process(process), Kind::Thread) => self.thread(process),
            (Value::Process(process), _) => self.process(process),
            (Value::Label(parts), _) => self.label(kind.facts().xml_name, parts),
            (Value::LabelOnce(parts), _) => self.label_once(kind.facts().xml_name, parts),
            (Value::Stack(stack), _) => self.stack(stack),
            (Value::Null | Value::Usual | Value::Worker(_), _) => self.put("<sentinel/>"),
        }
    }

    fn number(&mut self, kind: Kind, value: u64) {
        let tag = kind.facts().xml_name;
        let slot = slot(kind, value);
        let known = self.numbers[slot];
        if known.id != 0 && known.value == value {
            return self.refer(tag, known.id);
        }
        let id = self.open(tag);
        show(kind, value, &mut self.out);
        self.put("\">");
        if kind == Kind::FixedDecimal {
            display::billionths(value, &mut self.out);
        } else {
            display::decimal(value, &mut self.out);
        }
        self.close(tag);
        self.numbers[slot] = Remembered { value, id };
    }

    /// Writes `<percent id="1" fmt="60.0%">60.000000000</percent>`, the form of published rows of
    /// `core-animation-fps-estimate` and `metal-gpu-counter-intervals`.
    fn percent(&mut self, billionths: u64) {
        let shown = billionths as f64 / 1e9;
        self.open("percent");
        self.put(&format!("{shown:.1}%\">"));
        display::billionths(billionths, &mut self.out);
        self.close("percent");
    }

    fn text(&mut self, kind: Kind, value: &str) {
        let tag = kind.facts().xml_name;
        if let Some(id) = self.texts[kind as usize].get(value) {
            return self.refer(tag, *id);
        }
        let id = self.open(tag);
        display::escaped(value, &mut self.out);
        self.put("\">");
        display::escaped(value, &mut self.out);
        self.close(tag);
        self.texts[kind as usize].insert(value.into(), id);
    }

    /// Writes `<process fmt="P (1)"><pid>1</pid><device-session>TODO</device-session></process>`.
    fn process(&mut self, process: ProcessIndex) {
        if let Some(id) = self.processes.get(&process) {
            return self.refer("process", *id);
        }
        let id = self.open("process");
        self.processes.insert(process, id);
        show_process(self.plan, process, &mut self.out);
        self.put("\">");
        self.number(Kind::Pid, u64::from(self.plan.process(process).pid));
        self.text(Kind::DeviceSession, "TODO");
        self.close("process");
    }

    /// Writes `<thread fmt="Main Thread 0x1f (P, pid: 1)"><tid>31</tid><process>…</process></thread>`.
    fn thread(&mut self, process: ProcessIndex) {
        if let Some(id) = self.threads.get(&process) {
            return self.refer("thread", *id);
        }
        let id = self.open("thread");
        self.threads.insert(process, id);
        show_thread(self.plan, process, &mut self.out);
        self.put("\">");
        self.number(Kind::Tid, self.plan.process(process).tid);
        self.process(process);
        self.close("thread");
    }

    fn stack(&mut self, stack: &Stack<'_>) {
        let addresses = stack.frames.iter().map(|frame| frame.address).collect();
        let key = (stack.process, addresses);
        if let Some(id) = self.stacks.get(&key) {
            return self.refer("backtrace", *id);
        }
        let id = self.define("backtrace");
        self.stacks.insert(key, id);
        self.put(">");
        for frame in &stack.frames {
            self.frame(stack.process, frame);
        }
        self.close("backtrace");
    }

    fn label(&mut self, tag: &'static str, parts: &[Part<'_>]) {
        let mut shown = Vec::new();
        show_parts(self.plan, self.separator, parts, &mut shown);
        let shown_bytes = shown.len();
        // Different values may look the same: 1290853 and 1291748 ns are both 1.29 ms.
        numbers_of(parts).for_each(|value| shown.extend_from_slice(&value.to_le_bytes()));
        let key = (tag, shown.into_boxed_slice());
        if let Some(id) = self.labels.get(&key) {
            return self.refer(tag, *id);
        }

        let id = self.open(tag);
        self.out.extend_from_slice(&key.1[..shown_bytes]);
        self.labels.insert(key, id);
        self.parts(tag, parts);
    }

    fn label_once(&mut self, tag: &'static str, parts: &[Part<'_>]) {
        self.open(tag);
        show_parts(self.plan, self.separator, parts, &mut self.out);
        self.parts(tag, parts);
    }
}

fn numbers_of<'p>(parts: &'p [Part<'_>]) -> impl Iterator<Item = u64> + 'p {
    parts.iter().filter_map(|part| match *part {
        Part::Number(_, value) => Some(value),
        _ => None,
    })
}

fn show_parts(plan: &Plan, separator: &str, parts: &[Part<'_>], out: &mut Vec<u8>) {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(separator.as_bytes());
        }
        match *part {
            Part::Number(kind, value) => show(kind, value, out),
            Part::Text(_, value) => display::escaped(value, out),
            Part::Process(process) => show_process(plan, process, out),
            Part::Thread(process) => show_thread(plan, process, out),
            Part::NoProcess => out.extend_from_slice(b"n/a"),
        }
    }
}

fn show_process(plan: &Plan, process: ProcessIndex, out: &mut Vec<u8>) {
    let process = plan.process(process);
    display::escaped(&process.name, out);
    out.extend_from_slice(b" (");
    display::decimal(u64::from(process.pid), out);
    out.push(b')');
}

fn show_thread(plan: &Plan, process: ProcessIndex, out: &mut Vec<u8>) {
    let process = plan.process(process);
    out.extend_from_slice(b"Main Thread ");
    display::hex(process.tid, out);
    out.extend_from_slice(b" (");
    display::escaped(&process.name, out);
    out.extend_from_slice(b", pid: ");
    display::decimal(u64::from(process.pid), out);
    out.push(b')');
}

/// A number that was written before. Id 0 means none.
#[derive(Debug, Default, Clone, Copy)]
struct Remembered {
    value: u64,
    id: u64,
}

const SLOT_BITS: u32 = 10;

/// Returns the slot in which a number of a kind is remembered (Fibonacci hashing). Another value may
/// have the same slot.
fn slot(kind: Kind, value: u64) -> usize {
    let hash = value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOT_BITS);
    ((kind as usize) << SLOT_BITS) | usize::try_from(hash).unwrap_or(0)
}

/// Writes a number as Instruments displays it.
fn show(kind: Kind, value: u64, out: &mut Vec<u8>) {
    match kind {
        Kind::StartTime | Kind::EventTime | Kind::SampleTime => display::instant(value, out),
        Kind::Duration | Kind::Weight => display::duration(value, out),
        Kind::Uint64 => display::thousands(value, out),
        Kind::HardwareTraceId
        | Kind::CommandBufferId
        | Kind::EncoderId
        | Kind::Tid
        | Kind::Priority
        | Kind::SignpostId => display::hex(value, out),
        Kind::Core => {
            out.extend_from_slice(b"CPU ");
            display::decimal(value, out);
            out.extend_from_slice(b" (P Core)");
        }
        Kind::FixedDecimal => display::billionths(value, out),
        Kind::Frame => {
            out.extend_from_slice(b"Frame ");
            display::decimal(value, out);
        }
        Kind::SizeInBytes => display::bytes(value, out),
        Kind::Boolean => out.extend_from_slice(if value == 0 { b"No" } else { b"Yes" }),
        _ => display::decimal(value, out),
    }
}
