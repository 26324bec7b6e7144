//! What a bundle is to say of the recording it comes from.

use super::{Prepared, Recorded, Why};
use crate::error::Error;
use crate::scenario::Scenario;
use crate::scenario::recording::TargetKind;
use crate::stand_in::Misbehaviour;
use crate::stand_in::arguments::{Length, RecordOrder, Subject};
use crate::stand_in::facts::{self, Facts, Named, Rows};
use crate::stand_in::stage::Stage;
use crate::stand_in::template::Template;

/// What the bundle is to say.
pub(super) fn scenario(
    order: &RecordOrder,
    prepared: &Prepared,
    recorded: Recorded,
    stage: &Stage<'_>,
) -> Result<Scenario, Error> {
    let facts = facts(order, &prepared.template, recorded, stage);
    let told = facts::told(stage.settings.scenario.clone(), &facts);
    told.validate()?;
    match &prepared.earlier {
        Some(earlier) => facts::appended(earlier.clone(), told),
        None => Ok(told),
    }
}

fn facts(order: &RecordOrder, template: &Template, recorded: Recorded, stage: &Stage<'_>) -> Facts {
    let (kind, arguments) = match &order.subject {
        Subject::AllProcesses => (TargetKind::AllProcesses, String::new()),
        Subject::Attach(_) => (TargetKind::Attached, String::new()),
        Subject::Launch { arguments, .. } => {
            let arguments: Vec<_> = arguments
                .iter()
                .map(|word| word.to_string_lossy())
                .collect();
            (TargetKind::Launched, arguments.join(" "))
        }
    };
    let samples = |name: &str| name == "Time Profiler" || name == "CPU Profiler";
    let refused = stage.does(Misbehaviour::ShaderTimelineRefused);
    Facts {
        kind,
        target: recorded.target.map(|target| Named {
            name: target.name,
            pid: target.pid,
            arguments,
        }),
        template: template.name.clone(),
        instruments: stage.settings.version.clone(),
        mode: mode(order, template),
        time_limit: order
            .time_limit
            .map_or_else(|| "12 hours".to_owned(), Length::words),
        end_reason: match recorded.why {
            Why::Limit => "Time limit reached",
            Why::Exited => "Target app exited",
            Why::Stopped | Why::Aborted => "User stopped recording",
        },
        end: recorded.end,
        samples: samples(&template.name) || order.instruments.iter().any(|name| samples(name)),
        shader_timeline: template.shader_timeline && !refused,
        rows: rows(kind, recorded.why, stage),
    }
}

/// Two templates keep only the last seconds unless told otherwise.
fn mode(order: &RecordOrder, template: &Template) -> String {
    let windowed = matches!(template.name.as_str(), "System Trace" | "Game Performance");
    match order.window {
        Some(window) => format!("Windowed ({})", window.words()),
        None if windowed => "Windowed (5 seconds)".to_owned(),
        None => "Deferred".to_owned(),
    }
}

fn rows(kind: TargetKind, why: Why, stage: &Stage<'_>) -> Rows {
    let unconfigured = stage.does(Misbehaviour::NoConfiguration) && kind == TargetKind::Attached;
    if stage.does(Misbehaviour::Malformed) {
        Rows::None
    } else if unconfigured || why == Why::Aborted || stage.does(Misbehaviour::NoTargetRows) {
        Rows::OthersOnly
    } else {
        Rows::Everyones
    }
}
