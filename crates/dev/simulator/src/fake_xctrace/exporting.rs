//! Implements `xctrace export`: writes the table of contents or a table of a synthetic bundle as XML.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::arguments::ExportOrder;
use super::bundle;
use super::lists;
use super::misbehavior::Misbehavior;
use super::scratch::Scratch;
use super::session::Session;
use super::settings::{Exit, USAGE};
use crate::MARK;
use crate::error::Error;
use crate::export::single::{self, ListedTable};
use crate::scenario::Scenario;

const SIGTRAP: i32 = 5;
const SIGSEGV: i32 = 11;

/// The reason why nothing was exported.
#[derive(Debug)]
struct Refusal {
    text: String,
    code: u8,
}

impl Refusal {
    fn new(code: u8, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { text, code }
    }
}

/// Makes an error of the fake `xctrace` itself.
impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::new(70, format!("the fake xctrace failed: {error}"))
    }
}

pub(super) fn export(order: &ExportOrder, session: &mut Session<'_>) -> Exit {
    attempt(order, session).unwrap_or_else(|refusal| {
        session.print_error(&refusal.text);
        Exit::Code(refusal.code)
    })
}

/// Exports the document, unless a misbehavior or an error prevents it.
fn attempt(order: &ExportOrder, session: &mut Session<'_>) -> Result<Exit, Refusal> {
    if session.misbehaves(Misbehavior::Export43) {
        let text = "Export failed: the document could not be opened";
        return Err(Refusal::new(43, text));
    }
    let is_contents = order.xpath.is_none();
    if session.misbehaves(Misbehavior::Export10)
        || (is_contents && session.misbehaves(Misbehavior::TocFails))
        || (session.misbehaves(Misbehavior::RefusesChanged) && has_custom_template(&order.input))
        || session.misbehaves_at_first(Misbehavior::ExportFlaky, 2)
    {
        return Err(unfinished());
    }

    let ending = order.input.extension();
    let is_trace = ending.is_some_and(|ending| ending == "trace");
    let scenario = is_trace.then(|| bundle::scenario(&order.input)).flatten();
    let scenario = scenario.ok_or_else(unfinished)?;
    if order.in_part {
        session.print_error("the fake xctrace cannot cut a recording; it exports all of it");
    }

    let scratch = Scratch::new()?;
    let document = match &order.xpath {
        None => single::write_contents(&scenario, scratch.dir())?,
        Some(expression) => tables(expression, &scenario, scratch.dir())?,
    };

    if session.misbehaves_each_second_time(Misbehavior::ExportCrashes) {
        return Ok(cut_off(&document, order, session, Exit::Signal(SIGSEGV)));
    }
    let ends = [
        (Misbehavior::ExportTrap, Exit::Signal(SIGTRAP)),
        (Misbehavior::Export133, Exit::Code(133)),
    ];
    for (misbehavior, exit) in ends {
        if !is_contents && session.misbehaves(misbehavior) {
            return Ok(cut_off(&document, order, session, exit));
        }
    }
    if !is_contents && session.misbehaves(Misbehavior::ExportDiffers) {
        falsify(&document)?;
    }
    deliver(&document, order, session)
        .map_err(|error| Refusal::new(1, format!("Export failed: {error}")))?;
    Ok(Exit::Code(0))
}

/// Returns whether a bundle was recorded with a template from a file.
fn has_custom_template(bundle: &Path) -> bool {
    let scenario = bundle::scenario(bundle);
    scenario.is_some_and(|scenario| !lists::is_standard(&scenario.recording.template))
}

/// Returns the error of the real tool for every input that is not a complete bundle.
fn unfinished() -> Refusal {
    Refusal::new(10, "Export failed: Document Missing Template Error")
}

/// Writes the document of the tables that an expression selects.
fn tables(expression: &str, scenario: &Scenario, dir: &Path) -> Result<PathBuf, Refusal> {
    let Some((run, condition)) = run_and_condition(expression) else {
        let text = "the fake xctrace supports only paths to tables, not";
        return Err(Refusal::new(USAGE, format!("{text} {expression}")));
    };
    let mut selected: Vec<(usize, ListedTable)> = (1..)
        .zip(single::listed_tables(scenario))
        .filter(|(position, listed)| {
            condition == position.to_string()
                || condition == format!("@schema=\"{}\"", listed.schema)
        })
        .collect();
    if run == 0 || run > scenario.runs {
        selected.clear();
    }
    Ok(match selected.iter().find_map(|(_, listed)| listed.table) {
        Some(table) => single::write_table(scenario, run, table, dir)?,
        None => write_rowless(run, &selected, dir)?,
    })
}

/// Parses `/trace-toc/run[@number="1"]/data/table[…]`, the form that metalens uses, into the number of
/// the run and the condition of the table: a position, or a schema.
fn run_and_condition(expression: &str) -> Option<(u32, &str)> {
    let path = expression.strip_prefix("/trace-toc/run[@number=\"")?;
    let (run, table) = path.split_once("\"]/data/table[")?;
    Some((run.parse().ok()?, table.strip_suffix(']')?))
}

/// Writes a document with a node without rows for each of these tables.
fn write_rowless(run: u32, listed: &[(usize, ListedTable)], dir: &Path) -> Result<PathBuf, Error> {
    let mut text = format!("<?xml version=\"1.0\"?>\n<trace-query-result synthetic=\"{MARK}\">\n");
    for (position, listed) in listed {
        let schema = listed.schema;
        text.push_str(&format!(
            "<node xpath='//trace-toc[1]/run[{run}]/data[1]/table[{position}]'>\
             <schema name=\"{schema}\"><col><mnemonic>time</mnemonic><name>Timestamp</name>\
             <engineering-type>sample-time</engineering-type></col></schema></node>"
        ));
    }
    text.push_str("</trace-query-result>\n");
    let path = dir.join("rowless.xml");
    fs::write(&path, text).map_err(Error::io("write", &path))?;
    Ok(path)
}

/// Changes the last digit of the first duration.
fn falsify(document: &Path) -> Result<(), Error> {
    let text = fs::read_to_string(document).map_err(Error::io("read", document))?;
    let Some(start) = text.find("<duration ") else {
        return Ok(());
    };
    let Some(end) = text.get(start..).and_then(|rest| rest.find("</duration>")) else {
        return Ok(());
    };

    let (before, after) = text.split_at(start + end);
    let mut before = before.to_owned();
    let digit = before.pop();
    before.push(if digit == Some('0') { '1' } else { '0' });
    let text = before + after;
    fs::write(document, text).map_err(Error::io("write", document))
}

/// Writes half a document, and returns the end.
fn cut_off(document: &Path, order: &ExportOrder, session: &mut Session<'_>, exit: Exit) -> Exit {
    let text = fs::read(document).unwrap_or_default();
    let part = text.get(..middle_of_a_row(&text)).unwrap_or_default();
    // The real tool prints no error here either.
    let _ = match &order.output {
        Some(output) => fs::write(output, part),
        None => session.out().write_all(part),
    };
    exit
}

/// Returns an offset inside the row in the middle of a document.
fn middle_of_a_row(text: &[u8]) -> usize {
    const ROW: &[u8] = b"<row>";
    let starts = |start: &usize| text.get(*start..).is_some_and(|rest| rest.starts_with(ROW));
    let middle = text.len() / 2;
    let row = (middle..text.len())
        .find(starts)
        .or_else(|| (0..middle).rev().find(starts));
    row.map_or(middle, |row| row + ROW.len() + 7)
}

/// Writes the document to the output file, or to standard output. An existing file is overwritten:
/// a guess.
fn deliver(document: &Path, order: &ExportOrder, session: &mut Session<'_>) -> io::Result<()> {
    let Some(output) = &order.output else {
        io::copy(&mut File::open(document)?, &mut session.out())?;
        return session.out().flush();
    };
    fs::copy(document, output)?;
    let name = output.display();
    session.print(&format!("Finished export to the file: {name}"));
    Ok(())
}
