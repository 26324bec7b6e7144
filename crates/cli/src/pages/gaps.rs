//! Every gap as a line of CSV, for spreadsheets and scripts.

use std::io::Write;

use metalens_analyzer::Analysis;

/// A heading, and a line per gap; the parts of each sum to its length.
pub(crate) fn gaps(analysis: &Analysis, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(
        out,
        "start_ns,duration_ns,cause,completion_ns,host_ns,encode_ns,launch_ns,queued_ns,\
         foreign_ns,unexplained_ns,serialised,before,after"
    )?;
    for gap in analysis.gaps() {
        write!(
            out,
            "{},{},{}",
            gap.start_ns,
            gap.duration_ns,
            gap.cause.name()
        )?;
        for (_, ns) in gap.parts.by_cause() {
            write!(out, ",{ns}")?;
        }
        let serialised = gap
            .serialised
            .map_or("", |yes| if yes { "true" } else { "false" });
        let (before, after) = (quoted(gap.before), quoted(gap.after));
        writeln!(out, ",{serialised},{before},{after}")?;
    }
    Ok(())
}

/// A field: nothing is empty, an empty text is "", and quotes are doubled.
fn quoted(text: Option<&str>) -> String {
    match text {
        None => String::new(),
        Some(text) => format!("\"{}\"", text.replace('"', "\"\"")),
    }
}
