//! How fast a table is read, next to quick-xml doing nothing with it.
//!
//! `xml_speed bare FILE` runs quick-xml's event loop over the file;
//! `xml_speed table FILE` reads the columns that an analysis needs. Both print
//! the time in seconds and what they counted. `scripts/bench` compares them.

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, Write};
use std::time::Instant;

use metalens_trace::{Names, Selection, read_document};
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
        return Err("usage: xml_speed bare|table FILE".into());
    };
    let start = Instant::now();
    let count = match mode.as_str() {
        "bare" => bare(&file)?,
        "table" => table(&file)?,
        other => return Err(format!("unknown mode {other}").into()),
    };
    let seconds = start.elapsed().as_secs_f64();
    writeln!(std::io::stdout(), "{seconds:.3} {count}")?;
    Ok(())
}

/// Every event, and nothing done with it but counting the rows.
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

fn table(file: &str) -> Result<usize, Box<dyn Error>> {
    let selection = Selection::columns(&[("metal-gpu-intervals", COLUMNS)]);
    let mut names = Names::new();
    let tables = read_document(File::open(file)?, file, &mut names, &selection)?;
    let table = tables.first().ok_or("no metal-gpu-intervals in it")?;
    Ok(table.rows())
}
