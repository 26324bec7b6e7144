//! Decides whether anything follows from the numbers of a report.

use metalens_message::{Message, count, counted, message, process, table};

use super::evidence::is_share;
use crate::report::{ChosenBy, DoubtReason, DoubtfulRows, Report, Sanity, SourceKind};

/// Share of the work from which on a verdict could be another one without its fault.
const SHARE: f64 = 0.05;

/// Returns why no verdict and no gain follows from the numbers, as a clause; `None` if they can be
/// trusted so far.
pub fn distrust(report: &Report) -> Option<Message> {
    distrust_of(&report.sanity, report.source.kind)
}

/// Returns why nothing follows from the numbers of a recording with these checks.
pub(crate) fn distrust_of(sanity: &Sanity, source: SourceKind) -> Option<Message> {
    if let Some(rows) = sanity.rows_outside.filter(|&rows| rows > 0) {
        return Some(message!(
            "{} {} outside of the recording",
            counted(rows, "row"),
            if rows == 1 { "is" } else { "are" }
        ));
    }
    let mut doubtful = sanity.doubtful.iter();
    let much = doubtful.find(|doubtful| is_share(doubtful.rows, doubtful.of, SHARE));
    lost_buffers(sanity, source).or_else(|| much.map(in_words))
}

/// Returns the clause that much of the work is missing, if it is.
pub(super) fn lost_buffers(sanity: &Sanity, source: SourceKind) -> Option<Message> {
    let (without, finished) = (sanity.buffers_without_interval?, sanity.buffers_finished?);
    is_share(without, finished, SHARE).then(|| {
        let what = match source {
            SourceKind::Log => "are not in the log",
            SourceKind::Bundle | SourceKind::Export | SourceKind::Xml => {
                "that completed have no GPU interval"
            }
        };
        message!(
            "{} of {} command buffers {}",
            count(without),
            count(finished),
            what
        )
    })
}

fn in_words(doubtful: &DoubtfulRows) -> Message {
    let what = match doubtful.reason {
        DoubtReason::WithoutProcess => "GPU intervals name no process, and may be of this one",
        DoubtReason::UpperBound => {
            "encoders had a single dispatch only to measure it, so that times are upper bounds"
        }
    };
    message!(
        "{} of {} {}",
        count(doubtful.rows),
        count(doubtful.of),
        what
    )
}

/// Returns why a limit that the numbers keep may be missed even so, as a clause; `None` if it is kept.
pub fn doubt(report: &Report) -> Option<Message> {
    if report.process.chosen_by == ChosenBy::Busiest {
        return Some(message!(
            "no process was named, and {} is a guess: name it with --process",
            process(&report.process.name, true)
        ));
    }
    let cut = report.sanity.truncated_tables.first();
    cut.map(|cut| message!("{} is cut off", table(cut)))
        .or_else(|| distrust(report))
}
