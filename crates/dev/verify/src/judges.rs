//! Judges the recordings of each experiment.

use metalens_exporter::TableSelection;
use metalens_recorder::log_beside;
use metalens_trace::{Selection, TableComparison, compare, selection_to_compare};

use crate::counts::{CountVerdict, IssuedWork, RecordedWork, WorkCounts};
use crate::evidence::{EvidenceFact, Judgment};
use crate::inspect;
use crate::lab::Lab;
use crate::recordings::{Absence, MadeRecording, MissingRecording, Purpose};

/// Name of the signpost interval of bundled workloads.
const MEASURED: &str = "measured";
/// Table of shader samples.
const SHADERS: &str = "metal-shader-profiler-intervals";
/// Table that every recording of the GPU has.
const INTERVALS: &str = "metal-gpu-intervals";

/// Returns the judgment on a recording that depends on an option, and is missing: the option may be
/// the reason only if a recording without it was made.
fn missing_with_option(lab: &mut Lab<'_, '_>, missing: &MissingRecording) -> Judgment {
    let word = missing.why.word();
    let is_fine_without = lab.recording(Purpose::Stock).is_ok();
    let judgment = if !missing.why.is_telling() {
        Judgment::unknown(format!("there is no recording to look at: {word}"))
    } else if is_fine_without {
        Judgment::otherwise(format!(
            "this recording failed ({word}), but one with Apple's template succeeded"
        ))
    } else {
        Judgment::unknown(format!(
            "this recording failed ({word}), and so did one with Apple's template"
        ))
    };
    judgment.privately(&missing.private)
}

/// Returns the judgment of an experiment that uses the recording with Apple's template, which is missing.
fn missing_stock(missing: &MissingRecording) -> Judgment {
    let why = format!(
        "there is no recording with Apple's template to look at: {}",
        missing.why.word()
    );
    Judgment::unknown(why).privately(&missing.private)
}

/// Returns the judgment on a recording that cannot be analyzed.
fn unreadable(why: String) -> Judgment {
    Judgment::unknown("metalens cannot analyze the recording").privately(why)
}

/// Judges whether a recording with Apple's template has GPU work.
pub(crate) fn stock(lab: &mut Lab<'_, '_>) -> Result {
    let made = lab.recording(Purpose::Stock);
    let made = match &*made {
        Ok(made) => made,
        Err(missing) if !missing.why.is_telling() => return missing_stock(missing),
        Err(missing) => {
            let why = match missing.why {
                Absence::Empty => {
                    "the recording was saved, but has no GPU work of the program".to_owned()
                }
                other => format!("there is no complete recording: {}", other.word()),
            };
            return Judgment::otherwise(why).privately(&missing.private);
        }
    };
    if made.outcome.recording.other_work.is_some() {
        return Judgment::otherwise(
            "the recording has GPU work of another program, but none of the recorded one",
        );
    }

    match inspect::analysis(bundle(made)) {
        Ok(analysis) => {
            let intervals = analysis.report.counts.intervals;
            Judgment::expected("the recording is complete and has GPU work of the program")
                .count("intervals", intervals)
        }
        Err(why) => Judgment::otherwise("metalens cannot analyze the recording").privately(&why),
    }
}

/// Judges whether environment and folder reach the program.
pub(crate) fn environment(lab: &mut Lab<'_, '_>) -> Result {
    let made = stock_recording(lab)?;
    let Some(reached) = made.outcome.reached else {
        return Judgment::unknown("the workload wrote no work file");
    };
    let judgment = match (reached.environment, reached.folder) {
        (true, Some(true)) => Judgment::expected("environment and folder reach the program"),
        (true, _) => Judgment::otherwise("the program runs in another folder"),
        (false, _) => Judgment::otherwise(
            "the environment does not reach the program: only --env passes variables",
        ),
    };
    let folder = reached.folder.map(EvidenceFact::Yes);
    judgment
        .with("environment", EvidenceFact::Yes(reached.environment))
        .with("folder", folder.unwrap_or(EvidenceFact::Count(None)))
}

/// Judges on which streams `xctrace` prints, and what its exit code is.
pub(crate) fn streams(lab: &mut Lab<'_, '_>) -> Result {
    let made = stock_recording(lab)?;
    let recording = &made.outcome.recording;
    let transcript = &recording.transcript;
    let [out, err] = transcript.spoke_on;
    let code = recording.code.map(i64::from);
    let is_usual = matches!(code, Some(0 | 54));
    let judgment = if !out && !err {
        Judgment::otherwise("xctrace did not print that it records")
    } else if out && err {
        Judgment::otherwise("xctrace prints on both streams")
    } else if !is_usual {
        Judgment::otherwise("the exit code is neither 0 nor 54")
    } else {
        Judgment::expected("xctrace prints its progress on one stream")
    };
    judgment
        .with("stdout", EvidenceFact::Yes(out))
        .with("stderr", EvidenceFact::Yes(err))
        .with(
            "says_saved",
            EvidenceFact::Yes(transcript.saved_as.is_some()),
        )
        .count("exit_code", code.and_then(|code| u64::try_from(code).ok()))
}

/// Judges whether `xctrace` records with a changed template.
pub(crate) fn template(lab: &mut Lab<'_, '_>) -> Result {
    let made = recording_with_option(lab, Purpose::Shaders)?;
    let wanted = || TableSelection::These(vec![INTERVALS.to_owned()]);
    let Err(why) = lab.export(bundle(made), wanted()) else {
        return Judgment::expected(
            "xctrace records with the changed template, and exports the recording",
        );
    };
    if lab.is_stopped() {
        return Judgment::unknown("you stopped the export");
    }
    // The template is the cause only if a recording without it can be exported.
    match &*lab.recording(Purpose::Stock) {
        Ok(stock) if lab.export(bundle(stock), wanted()).is_ok() => Judgment::otherwise(
            "xctrace does not export the recording with the changed template, but exports the one \
             with Apple's",
        ),
        Ok(_) => Judgment::unknown(
            "xctrace exports neither this recording nor the one with Apple's template",
        ),
        Err(_) => Judgment::unknown(
            "xctrace does not export the recording, and there is no other \
                                    one to compare with",
        ),
    }
    .privately(&why)
}

/// Judges whether there are shader samples.
pub(crate) fn shaders(lab: &mut Lab<'_, '_>) -> Result {
    let through = lab.recording(Purpose::Shaders);
    let through = match &*through {
        Ok(made) => inspect::rows(bundle(made), SHADERS),
        Err(missing) => return missing_with_option(lab, missing),
    };
    let to_file = lab.recording(Purpose::ShadersToFile);
    let to_file = (*to_file).as_ref().ok();
    let to_file = to_file.and_then(|made| inspect::rows(bundle(made), SHADERS));

    let has = |rows: Option<u64>| rows.is_some_and(|rows| rows > 0);
    let judgment = match (has(through), has(to_file)) {
        (true, true) => Judgment::expected("there are shader samples, even with --target-stdout"),
        (true, false) => Judgment::expected(
            "there are shader samples without --target-stdout, but none were \
                               seen with it",
        ),
        (false, true) => Judgment::otherwise(
            "there are shader samples only with --target-stdout, which metalens does not use for \
             them",
        ),
        (false, false) => {
            Judgment::otherwise("there are no shader samples, with or without --target-stdout")
        }
    };
    judgment
        .count("samples", through)
        .count("samples_with_target_stdout", to_file)
}

/// Judges whether signposts are recorded.
pub(crate) fn signposts(lab: &mut Lab<'_, '_>) -> Result {
    let made = stock_recording(lab)?;
    let analysis = inspect::analysis(bundle(&made)).map_err(unreadable)?;

    let phases = analysis.report.phases.signposts.iter();
    let phases_ns: u64 = phases
        .filter(|phase| phase.name == MEASURED)
        .map(|phase| phase.count)
        .sum();
    let judgment = if phases_ns > 0 {
        Judgment::expected("the interval of the workload is in the recording")
    } else {
        Judgment::otherwise(
            "the instrument Points of Interest was added, but the workload's interval is not \
             recorded",
        )
    };
    judgment.count("intervals", phases_ns)
}

/// Judges whether there are samples of hardware counters.
pub(crate) fn counters(lab: &mut Lab<'_, '_>) -> Result {
    let made = recording_with_option(lab, Purpose::Counters)?;
    let analysis = inspect::analysis(bundle(&made)).map_err(unreadable)?;
    let counters = analysis.report.counters.as_ref();
    let (samples, kinds) = counters.map_or((0, 0), |counters| {
        (counters.samples, counters.counters.len() as u64)
    });
    let judgment = if samples > 0 {
        Judgment::expected("the recording has samples of hardware counters")
    } else {
        Judgment::otherwise("the recording has no samples of hardware counters")
    };
    judgment.count("samples", samples).count("counters", kinds)
}

pub(crate) fn children(lab: &mut Lab<'_, '_>) -> Result {
    let made = lab.recording(Purpose::Wrapper);
    match &*made {
        Ok(made) => match &made.outcome.recording.other_work {
            Some(work) => Judgment::expected(
                "the recording has the work under the process that the shell \
                                   started",
            )
            .count("intervals", work.intervals),
            None => {
                Judgment::otherwise("the recording has the work of the child as work of the shell")
            }
        },
        Err(missing) if missing.why == Absence::Empty && lab.recording(Purpose::Stock).is_ok() => {
            Judgment::otherwise("the recording has no work of the shell or of its child")
                .privately(&missing.private)
        }
        Err(missing) => missing_with_option(lab, missing),
    }
}

/// Judges whether a program ends with its recording.
pub(crate) fn left(lab: &mut Lab<'_, '_>) -> Result {
    let made = lab.recording(Purpose::Outlasting);
    let left = match &*made {
        Ok(made) => made.left,
        Err(missing) => {
            let why = format!("there is no recording to look at: {}", missing.why.word());
            return Judgment::unknown(why).privately(&missing.private);
        }
    };
    let judgment = match left {
        None => Judgment::unknown("ps does not list the processes"),
        Some(0) => Judgment::expected("the program ended with its recording"),
        Some(_) => Judgment::otherwise(
            "the program still existed after the recording; `metalens verify` ended it",
        ),
    };
    judgment.count("processes_left", left)
}

/// Judges which scratch files recordings leave.
pub(crate) fn scratch(lab: &mut Lab<'_, '_>) -> Result {
    if lab.scratch.recordings == 0 {
        let _ = lab.recording(Purpose::Stock);
    }
    let scratch = lab.scratch;
    let judgment = match (scratch.recordings, scratch.most, scratch.left) {
        (0, ..) => Judgment::unknown("nothing was recorded"),
        (_, 0, 0) => Judgment::expected("xctrace left no scratch files"),
        (_, _, 0) => Judgment::expected("xctrace left scratch files, and metalens removed them"),
        _ => Judgment::otherwise(
            "scratch files are left in the temporary folder; `metalens doctor` lists them",
        ),
    };
    judgment
        .count("recordings", scratch.recordings)
        .count("bytes_before", scratch.before)
        .count("most_new_bytes_when_xctrace_ended", scratch.most)
        .count("new_bytes_left", scratch.left)
}

/// Judges whether the native reading agrees with an export.
pub(crate) fn export(lab: &mut Lab<'_, '_>) -> Result {
    let made = stock_recording(lab)?;
    let bundle = bundle(made);
    let exported = match lab.export(bundle, TableSelection::Known) {
        Ok(folder) => folder,
        Err(_) if lab.is_stopped() => return Judgment::unknown("you stopped the export"),
        Err(why) => {
            return Judgment::otherwise("xctrace does not export all tables that metalens reads")
                .privately(&why);
        }
    };

    let tables = match compared(bundle, &exported) {
        Ok(tables) if tables.is_empty() => {
            return Judgment::unknown("the export has no table to compare");
        }
        Ok(tables) => tables,
        Err(why) => {
            return Judgment::otherwise("metalens cannot read the export, or the bundle")
                .privately(&why);
        }
    };

    let total = |number: fn(&TableComparison) -> u64| tables.iter().map(number).sum::<u64>();
    let different = total(|table| table.different);
    let judgment = if different == 0 {
        Judgment::expected("all cells of the export equal those that metalens reads")
    } else {
        Judgment::otherwise(
            "cells of the export differ from those that metalens reads; `metalens verify --compare` shows \
             them",
        )
    };

    let judgment = judgment
        .count("tables", tables.len() as u64)
        .count("cells", total(|table| table.cells))
        .count("different", different)
        .count("unnamed", total(|table| table.unnamed))
        .count("undecoded", total(|table| table.undecoded));
    let differing = tables.iter().filter(|table| table.different > 0);
    differing.fold(judgment, |judgment, table| {
        judgment.count(&format!("different_in_{}", table.schema), table.different)
    })
}

/// Compares the tables of an export with those of its bundle.
fn compared(
    bundle: &std::path::Path,
    export: &std::path::Path,
) -> Result<Vec<TableComparison>, String> {
    let exported = inspect::load(export, &Selection::everything().with_rendered_labels())?;
    let native = inspect::load(bundle, &selection_to_compare(&exported))?;
    Ok(compare(&native, &exported))
}

/// Judges whether a recording has all work that was issued.
pub(crate) fn counts(lab: &mut Lab<'_, '_>) -> Result {
    let made = stock_recording(lab)?;
    let counts = work_counts(bundle(&made)).map_err(unreadable)?;
    let judgment = match counts.verdict {
        CountVerdict::Equal => {
            Judgment::expected("everything that the workload issued is in the recording")
        }
        CountVerdict::Coalesced => Judgment::expected(
            "everything that the workload issued is in the recording; the driver merged some of it",
        ),
        CountVerdict::Different => {
            Judgment::otherwise("the recording does not have exactly what the workload issued")
        }
    };

    let counters = [
        ("command_buffers", &counts.command_buffers),
        ("encoders", &counts.encoders),
        ("dispatches", &counts.dispatches),
    ];
    counters
        .into_iter()
        .fold(judgment, |judgment, (name, count)| {
            judgment
                .count(&format!("{name}_issued"), count.issued)
                .count(&format!("{name}_found"), count.found)
        })
}

/// Counts what the recorded workload issued, and what its recording has.
fn work_counts(bundle: &std::path::Path) -> Result<WorkCounts, String> {
    let issued = IssuedWork::from_file(&inspect::work(bundle)?)?;
    let recorded = RecordedWork::from_analysis(&inspect::analysis(bundle)?);
    Ok(WorkCounts::new(&issued, &recorded))
}

pub(crate) fn notification(lab: &mut Lab<'_, '_>) -> Result {
    match &*lab.recording(Purpose::Stock) {
        Err(missing) => missing_stock(missing),
        Ok(made) => match made.heard {
            Some(true) => Judgment::expected("notifyutil received the notification"),
            Some(false) => {
                Judgment::otherwise("the recording was made, but notifyutil received nothing")
            }
            None => {
                Judgment::unknown("notifyutil did not start, or this xctrace posts no notification")
            }
        },
    }
}

/// Largest difference between the spans of the work by the probe and by `xctrace`, in nanoseconds.
const AGREES: u64 = 1_000;

/// Judges whether the probe and `xctrace` tell the same of one run.
pub(crate) fn probe(lab: &mut Lab<'_, '_>) -> Result {
    if lab.is_fake() {
        return Judgment::unknown("a fake xctrace starts no program that the probe could be in");
    }
    let made = recording_with_option(lab, Purpose::WithProbe)?;
    let facts = |path: &std::path::Path| {
        let report = inspect::analysis(path)?.report;
        Ok::<_, String>(GpuWork {
            command_buffers: report.counts.command_buffers,
            span_ns: report.window.span_ns.0,
        })
    };
    let logged = match facts(&log_beside(bundle(made))) {
        Ok(logged) => logged,
        Err(why) => {
            let text = "the workload was recorded, but there is no log of the probe";
            return Judgment::otherwise(text).privately(&why);
        }
    };
    match facts(bundle(made)) {
        Ok(recorded) => judge_log(&recorded, &logged),
        Err(why) => unreadable(&why),
    }
}

/// The GPU work of a run, as one of its recordings tells it.
struct GpuWork {
    command_buffers: u64,
    span_ns: u64,
}

/// Judges whether the log has the command buffers of the recording, with the same span of GPU work.
fn judge_log(recorded: &GpuWork, logged: &GpuWork) -> Judgment {
    let judgment = if recorded.command_buffers != logged.command_buffers {
        Judgment::otherwise("the log and the recording do not have the same command buffers")
    } else if recorded.span_ns.abs_diff(logged.span_ns) > AGREES {
        Judgment::otherwise("the probe and xctrace have different GPU times")
    } else {
        Judgment::expected("the probe and xctrace have the same command buffers and GPU times")
    };
    judgment
        .count("recorded", recorded.command_buffers)
        .count("logged", logged.command_buffers)
        .count("recorded_span_ns", recorded.span_ns)
        .count("logged_span_ns", logged.span_ns)
}

/// Returns the path of a recording.
fn bundle(made: &MadeRecording) -> &std::path::Path {
    &made.outcome.recording.bundle
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::ExperimentVerdict;

    #[test]
    fn a_log_agrees_if_nothing_is_missing_and_its_span_is_close() {
        let work = |command_buffers, span_ns| GpuWork {
            command_buffers,
            span_ns,
        };
        let check = |logged, span_ns, expected| {
            let judgment = judge_log(&work(50, 70_000), &work(logged, span_ns));
            assert_eq!(judgment.verdict, expected, "{logged} {span_ns}");
        };
        check(50, 71_000, ExperimentVerdict::AsExpected);
        check(50, 71_001, ExperimentVerdict::Otherwise);
        check(50, 68_999, ExperimentVerdict::Otherwise);
        check(49, 70_000, ExperimentVerdict::Otherwise);
    }
}
