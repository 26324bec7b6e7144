//! Measures how fast the bytes of a recording can be read, without and with their meaning.
//!
//! `reading_speed MODE FILE` prints the time in seconds and the number of rows (for `memchr`: of tags;
//! for `inflate`: of bytes):
//!
//! * `memchr`: searches every `<`, which is the lower limit;
//! * `bare`: the event loop of quick-xml, which ignores the events;
//! * `reference`: the columns that an analysis needs, with every row through quick-xml;
//! * `one`: the same columns with the fast path on one thread;
//! * `table`: the same columns as for users;
//! * `inflate`: the bytes of all files of a bundle, on one thread, without looking at them.
//!
//! `scripts/bench` compares them.
#![expect(
    clippy::disallowed_methods,
    reason = "a figure is printed, and no text from outside"
)]

use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::time::Instant;

use flate2::bufread::ZlibDecoder;
use metalens_trace::fuzzing::{self, ReadMethod};
use metalens_trace::{Names, Selection};
use quick_xml::Reader;
use quick_xml::events::Event;

const COLUMNS: &[&str] = &[
    "start",
    "duration",
    "channel-name",
    "event-label",
    "process",
    "gpu",
    "cmdbuffer-id",
    "encoder-id",
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(mode), Some(file)) = (arguments.next(), arguments.next()) else {
        return Err("usage: reading_speed memchr|bare|reference|one|table|inflate FILE".into());
    };
    let start = Instant::now();
    let count = match mode.as_str() {
        "memchr" => memchr(&file)?,
        "bare" => bare(&file)?,
        "reference" => table(&file, ReadMethod::Reference)?,
        "one" => table(&file, ReadMethod::Windows(256 << 10, 0))?,
        "table" => table(&file, ReadMethod::Default)?,
        "inflate" => usize::try_from(inflate(Path::new(&file))?)?,
        other => return Err(format!("unknown mode {other}").into()),
    };
    let seconds = start.elapsed().as_secs_f64();
    writeln!(io::stdout(), "{seconds:.3} {count}")?;
    Ok(())
}

/// Reads the files of a folder, inflates those that are zlib streams, and counts the bytes.
fn inflate(folder: &Path) -> Result<u64, Box<dyn Error>> {
    let mut bytes = 0;
    for entry in folder.read_dir()? {
        let path = entry?.path();
        if path.is_dir() {
            bytes += inflate(&path)?;
            continue;
        }
        let stored = std::fs::read(&path)?;
        bytes += match stored.as_slice() {
            [0x78, ..] => io::copy(&mut ZlibDecoder::new(stored.as_slice()), &mut io::sink())?,
            plain => plain.len() as u64,
        };
    }
    Ok(bytes)
}

/// Counts every `<`.
fn memchr(file: &str) -> Result<usize, Box<dyn Error>> {
    let mut input = File::open(file)?;
    let mut block = vec![0; 1 << 20];
    let mut tags = 0;
    loop {
        let count = input.read(&mut block)?;
        let bytes = block.get(..count).unwrap_or(&[]);
        if bytes.is_empty() {
            return Ok(tags);
        }
        tags += memchr::memchr_iter(b'<', bytes).count();
    }
}

/// Reads every event and only counts the rows.
fn bare(file: &str) -> Result<usize, Box<dyn Error>> {
    let input = BufReader::with_capacity(64 << 10, File::open(file)?);
    let mut reader = Reader::from_reader(input);
    let mut buffer = Vec::new();
    let mut rows = 0;
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer)? {
            Event::Start(tag) if tag.name().as_ref() == "row" => rows += 1,
            Event::Eof => return Ok(rows),
            _ => {}
        }
    }
}

fn table(file: &str, method: ReadMethod) -> Result<usize, Box<dyn Error>> {
    let selection = Selection::columns(&[("metal-gpu-intervals", COLUMNS)]);
    let mut names = Names::new();
    let (tables, _) = fuzzing::xml(File::open(file)?, &mut names, &selection, false, method)?;
    let table = tables.first().ok_or("no metal-gpu-intervals in it")?;
    Ok(table.rows())
}
