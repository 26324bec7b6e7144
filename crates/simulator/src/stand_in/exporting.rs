//! `xctrace export`: the table of contents or a table of a bundle of ours, as XML.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::arguments::{ExportOrder, What};
use super::scratch::Scratch;
use super::stage::Stage;
use super::xpath::XPath;
use super::{Ending, Misbehaviour, USAGE, document};
use crate::MARK;
use crate::error::Error;
use crate::export::single::{self, Listed};
use crate::scenario::Scenario;

const SIGTRAP: i32 = 5;

/// Why nothing was exported.
#[derive(Debug)]
struct Refusal {
    text: String,
    code: u8,
}

pub(super) fn export(order: &ExportOrder, stage: &mut Stage<'_>) -> Ending {
    let done = attempt(order, stage);
    done.unwrap_or_else(|refusal| {
        stage.complain(&refusal.text);
        Ending::Code(refusal.code)
    })
}

fn attempt(order: &ExportOrder, stage: &mut Stage<'_>) -> Result<Ending, Refusal> {
    if stage.does(Misbehaviour::Export43) {
        let text = "Export failed: the document could not be opened";
        return Err(Refusal {
            text: text.to_owned(),
            code: 43,
        });
    }
    let contents = matches!(order.what, What::Contents);
    if stage.does(Misbehaviour::Export10)
        || (contents && stage.does(Misbehaviour::TocFails))
        || stage.does_at_first(Misbehaviour::ExportFlaky, 2)
    {
        return Err(unfinished());
    }
    let is_trace = order
        .input
        .extension()
        .is_some_and(|ending| ending == "trace");
    let scenario = is_trace.then(|| document::scenario(&order.input)).flatten();
    let scenario = scenario.ok_or_else(unfinished)?;
    if order.in_part {
        stage.complain("the stand-in cannot cut a recording: all of it is exported");
    }
    let scratch = Scratch::new().map_err(|error| own(&error))?;
    let made = match &order.what {
        What::Contents => single::write_contents(&scenario, scratch.dir()),
        What::XPath(expression) => tables(expression, &scenario, scratch.dir())?,
    };
    let made = made.map_err(|error| own(&error))?;
    if !contents && let Some(ending) = break_off(&made, order, stage) {
        return Ok(ending);
    }
    deliver(&made, order, stage).map_err(|error| Refusal {
        text: format!("Export failed: {error}"),
        code: 1,
    })?;
    Ok(Ending::Code(0))
}

/// The one message for everything that is no finished document.
fn unfinished() -> Refusal {
    Refusal {
        text: "Export failed: Document Missing Template Error".to_owned(),
        code: 10,
    }
}

/// Trouble of the stand-in's own.
fn own(error: &Error) -> Refusal {
    Refusal {
        text: format!("the stand-in failed: {error}"),
        code: 70,
    }
}

/// Writes the document of what an expression selects.
fn tables(
    expression: &str,
    scenario: &Scenario,
    dir: &Path,
) -> Result<Result<PathBuf, Error>, Refusal> {
    let usage = |text: String| Refusal { text, code: USAGE };
    let Some(xpath) = XPath::of(expression) else {
        let text = "the stand-in understands only paths to tables, not";
        return Err(usage(format!("{text} {expression}")));
    };
    let listed = xpath.tables(&single::listed(scenario));
    let runs = xpath.runs(scenario.runs);
    match (runs.as_slice(), listed.as_slice()) {
        (
            [run],
            [
                (
                    _,
                    Listed {
                        table: Some(table), ..
                    },
                ),
            ],
        ) => Ok(single::write_table(scenario, *run, *table, dir)),
        (runs, listed) if runs.is_empty() || listed.iter().all(|(_, one)| one.table.is_none()) => {
            Ok(write_rowless(runs, listed, dir))
        }
        _ => Err(usage(format!(
            "the stand-in exports one table per call: {expression}"
        ))),
    }
}

/// A node for each table that nobody writes rows of, or none.
fn write_rowless(runs: &[u32], listed: &[(usize, Listed)], dir: &Path) -> Result<PathBuf, Error> {
    let mut text = format!("<?xml version=\"1.0\"?>\n<trace-query-result synthetic=\"{MARK}\">\n");
    for run in runs {
        for (position, listed) in listed {
            let schema = listed.schema;
            text.push_str(&format!(
                "<node xpath='//trace-toc[1]/run[{run}]/data[1]/table[{position}]'>\
                 <schema name=\"{schema}\"><col><mnemonic>time</mnemonic><name>Timestamp</name>\
                 <engineering-type>sample-time</engineering-type></col></schema></node>"
            ));
        }
    }
    text.push_str("</trace-query-result>\n");
    let path = dir.join("rowless.xml");
    fs::write(&path, text).map_err(Error::io("write", &path))?;
    Ok(path)
}

/// Dies in the middle of a row, if it is to.
fn break_off(made: &Path, order: &ExportOrder, stage: &mut Stage<'_>) -> Option<Ending> {
    let ending = if stage.does(Misbehaviour::ExportTrap) {
        Ending::Signal(SIGTRAP)
    } else if stage.does(Misbehaviour::Export133) {
        Ending::Code(133)
    } else {
        return None;
    };
    let text = fs::read(made).unwrap_or_default();
    let part = text.get(..middle_of_a_row(&text)).unwrap_or_default();
    // As silent as the real one.
    let _ = match &order.output {
        Some(output) => fs::write(output, part),
        None => stage.out().write_all(part),
    };
    Some(ending)
}

/// A little behind the start of the row in the middle.
fn middle_of_a_row(text: &[u8]) -> usize {
    const ROW: &[u8] = b"<row>";
    let starts = |at: &usize| text.get(*at..).is_some_and(|rest| rest.starts_with(ROW));
    let middle = text.len() / 2;
    let row = (middle..text.len()).find(starts);
    let row = row.or_else(|| (0..middle).rev().find(starts));
    row.map_or(middle, |row| row + ROW.len() + 7)
}

/// To the file, which is written over (no source says otherwise), or to stdout.
fn deliver(made: &Path, order: &ExportOrder, stage: &mut Stage<'_>) -> io::Result<()> {
    let Some(output) = &order.output else {
        io::copy(&mut File::open(made)?, &mut stage.out())?;
        return stage.out().flush();
    };
    fs::copy(made, output)?;
    stage.say(&format!(
        "Finished export to the file: {}",
        output.display()
    ));
    Ok(())
}
