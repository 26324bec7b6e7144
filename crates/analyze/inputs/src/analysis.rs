//! Reads and analyzes an input, and reads it again if rows were lost.

use std::path::Path;

use metalens_analyzer::{
    Analysis, Note, Request, analyze, lacks_intervals, lost_encodings, message, selection,
    selection_with_raw_events, selection_with_recovery,
};
use metalens_exporter::ExportManifest;
use metalens_trace::{Selection, Trace};

use crate::error::{Error, cannot_read};

/// Reads and analyzes an input. If the encoder list lost rows, or there are no GPU intervals, which
/// is rare, reads the input again with the tables that can replace them.
///
/// # Errors
///
/// Returns the errors of `read`, those of the analysis, and those of files beside the input.
pub fn analysis<E: From<metalens_analyzer::Error> + From<Error>>(
    path: &Path,
    request: &Request,
    read: impl Fn(&Selection) -> Result<Trace, E>,
) -> Result<Analysis, E> {
    let analyzed = |selection: &Selection| {
        let mut analysis = analyze(read(selection)?, request);
        let part = part(path)?;
        if let (Ok(analysis), Some(part)) = (&mut analysis, part) {
            analysis.report.notes.push(part);
        }
        Ok::<_, E>(analysis)
    };

    let analysis = match analyzed(&selection())? {
        Err(error) if lacks_intervals(&error) && can_read_again(path) => {
            return Ok(analyzed(&selection_with_raw_events())??);
        }
        analysis => analysis?,
    };
    if lost_encodings(&analysis.report) && can_read_again(path) {
        Ok(analyzed(&selection_with_recovery())??)
    } else {
        Ok(analysis)
    }
}

/// Returns whether an input can be read a second time, unlike a pipe.
fn can_read_again(path: &Path) -> bool {
    path.is_file() || path.is_dir()
}

/// Returns the note on an export that has only a part of the recording.
fn part(path: &Path) -> Result<Option<Note>, Error> {
    let manifest = ExportManifest::load(path).map_err(cannot_read(path))?;
    let Some(manifest) = manifest.filter(ExportManifest::is_part) else {
        return Ok(None);
    };

    let time = |ns: Option<u64>, end: &'static str| ns.map_or(end.into(), message::moment);
    let text = message!(
        "the export has only a part of the recording, from {} to {}; everything else is missing",
        time(manifest.basis.from_ns, "its start"),
        time(manifest.basis.to_ns, "its end"),
    );
    Ok(Some(Note::quiet("part-exported", text)))
}
