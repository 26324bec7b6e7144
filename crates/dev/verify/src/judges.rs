//! Judges the recordings of each experiment.

use std::path::Path;
use std::rc::Rc;

use metalens_exporter::TableSelection;
use metalens_recorder::{Probe, StoppedBy, log_beside};
use metalens_trace::{Selection, TableComparison, compare, selection_to_compare};

use crate::counts::{CountVerdict, IssuedWork, RecordedWork, WorkCounts};
use crate::evidence::Judgment;
use crate::inspect;
use crate::lab::{Lab, SPOKEN};
use crate::pythons::{self, REACHED};
use crate::recordings::{Absence, MadeRecording, MissingRecording, Purpose};

/// Name of the signpost interval of bundled workloads.
const MEASURED: &str = "measured";
/// Table of shader samples.
const SHADERS: &str = "metal-shader-profiler-intervals";
/// Table that every recording of the GPU has.
const INTERVALS: &str = "metal-gpu-intervals";

/// The judgment of an experiment. One that ends early, because something is missing, is the error.
pub(crate) type Judged = Result<Judgment, Judgment>;

/// Returns the recording with Apple's template.
fn stock_recording(lab: &mut Lab<'_, '_>) -> Result<Rc<MadeRecording>, Judgment> {
    lab.recording(Purpose::Stock).map_err(|missing| {
        let why = format!(
            "there is no recording with Apple's template to look at: {}",
            missing.why.word()
        );
        Judgment::unknown(why).privately(missing.private)
    })
}

/// Returns a recording that depends on an option.
fn recording_with_option(
    lab: &mut Lab<'_, '_>,
    purpose: Purpose,
) -> Result<Rc<MadeRecording>, Judgment> {
    let made = lab.recording(purpose);
    made.map_err(|missing| missing_with_option(lab, missing))
}

/// Returns the judgment on a recording that depends on an option, and is missing: the option may be
/// the reason only if a recording without it was made.
fn missing_with_option(lab: &mut Lab<'_, '_>, missing: MissingRecording) -> Judgment {
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
    judgment.privately(missing.private)
}

/// Returns the judgment on a recording that cannot be analyzed.
fn unreadable(why: String) -> Judgment {
    Judgment::unknown("metalens cannot analyze the recording").privately(why)
}

/// Judges whether a recording with Apple's template has GPU work.
pub(crate) fn stock(lab: &mut Lab<'_, '_>) -> Judged {
    let made = match lab.recording(Purpose::Stock) {
        Err(missing) if missing.why.is_telling() => {
            let why = match missing.why {
                Absence::Empty => {
                    "the recording was saved, but has no GPU work of the program".to_owned()
                }
                other => format!("there is no complete recording: {}", other.word()),
            };
            return Err(Judgment::otherwise(why).privately(missing.private));
        }
        _ => stock_recording(lab)?,
    };
    if made.outcome.recording.other_work.is_some() {
        return Err(Judgment::otherwise(
            "the recording has GPU work of another program, but none of the recorded one",
        ));
    }

    let analysis = inspect::analysis(bundle(&made)).map_err(|why| {
        Judgment::otherwise("metalens cannot analyze the recording").privately(why)
    })?;
    let judgment = Judgment::expected("the recording is complete and has GPU work of the program");
    Ok(judgment.fact("intervals", analysis.report.counts.intervals))
}

/// Judges whether environment and folder reach the program.
pub(crate) fn environment(lab: &mut Lab<'_, '_>) -> Judged {
    let made = stock_recording(lab)?;
    let reached = made.outcome.reached;
    let reached = reached.ok_or_else(|| Judgment::unknown("the workload wrote no work file"))?;
    let judgment = match (reached.environment, reached.folder) {
        (true, Some(true)) => Judgment::expected("environment and folder reach the program"),
        (true, _) => Judgment::otherwise("the program runs in another folder"),
        (false, _) => Judgment::otherwise(
            "the environment does not reach the program: only --env passes variables",
        ),
    };
    Ok(judgment
        .fact("environment", reached.environment)
        .fact("folder", reached.folder))
}

/// Judges on which streams `xctrace` prints, and what its exit code is.
pub(crate) fn streams(lab: &mut Lab<'_, '_>) -> Judged {
    let made = stock_recording(lab)?;
    let recording = &made.outcome.recording;
    let transcript = &recording.transcript;
    let [out, err] = transcript.spoke_on;
    let is_usual = matches!(recording.code, Some(0 | 54));
    let judgment = if !out && !err {
        Judgment::otherwise("xctrace did not print that it records")
    } else if out && err {
        Judgment::otherwise("xctrace prints on both streams")
    } else if !is_usual {
        Judgment::otherwise("the exit code is neither 0 nor 54")
    } else {
        Judgment::expected("xctrace prints its progress on one stream")
    };
    Ok(judgment
        .fact("stdout", out)
        .fact("stderr", err)
        .fact("says_saved", transcript.saved_as.is_some())
        .fact("exit_code", recording.code))
}

/// Judges whether `xctrace` records with a changed template.
pub(crate) fn template(lab: &mut Lab<'_, '_>) -> Judged {
    let made = recording_with_option(lab, Purpose::Shaders)?;
    let wanted = || TableSelection::These(vec![INTERVALS.to_owned()]);
    let Err(why) = lab.export(bundle(&made), wanted()) else {
        return Ok(Judgment::expected(
            "xctrace records with the changed template, and exports the recording",
        ));
    };
    if lab.is_stopped() {
        return Err(Judgment::unknown("you stopped the export"));
    }
    // The template is the cause only if a recording without it can be exported.
    let judgment = match lab.recording(Purpose::Stock) {
        Ok(stock) if lab.export(bundle(&stock), wanted()).is_ok() => Judgment::otherwise(
            "xctrace does not export the recording with the changed template, but exports the one \
             with Apple's",
        ),
        Ok(_) => Judgment::unknown(
            "xctrace exports neither this recording nor the one with Apple's template",
        ),
        Err(_) => Judgment::unknown(
            "xctrace does not export the recording, and there is no other one to compare with",
        ),
    };
    Ok(judgment.privately(why))
}

/// Judges whether there are shader samples.
pub(crate) fn shaders(lab: &mut Lab<'_, '_>) -> Judged {
    let through = recording_with_option(lab, Purpose::Shaders)?;
    let through = inspect::rows(bundle(&through), SHADERS);
    let to_file = lab.recording(Purpose::ShadersToFile).ok();
    let to_file = to_file.and_then(|made| inspect::rows(bundle(&made), SHADERS));

    let has = |rows: Option<u64>| rows.is_some_and(|rows| rows > 0);
    let judgment = match (has(through), has(to_file)) {
        (true, true) => Judgment::expected("there are shader samples, even with --target-stdout"),
        (true, false) => Judgment::expected(
            "there are shader samples without --target-stdout, but none were seen with it",
        ),
        (false, true) => Judgment::otherwise(
            "there are shader samples only with --target-stdout, which metalens does not use for \
             them",
        ),
        (false, false) => {
            Judgment::otherwise("there are no shader samples, with or without --target-stdout")
        }
    };
    Ok(judgment
        .fact("samples", through)
        .fact("samples_with_target_stdout", to_file))
}

/// Judges whether signposts are recorded.
pub(crate) fn signposts(lab: &mut Lab<'_, '_>) -> Judged {
    let made = stock_recording(lab)?;
    let analysis = inspect::analysis(bundle(&made)).map_err(unreadable)?;

    let phases = analysis.report.phases.signposts.iter();
    let intervals: u64 = phases
        .filter(|phase| phase.name == MEASURED)
        .map(|phase| phase.count)
        .sum();
    let judgment = if intervals > 0 {
        Judgment::expected("the interval of the workload is in the recording")
    } else {
        Judgment::otherwise(
            "the instrument Points of Interest was added, but the workload's interval is not \
             recorded",
        )
    };
    Ok(judgment.fact("intervals", intervals))
}

/// Judges whether there are samples of hardware counters.
pub(crate) fn counters(lab: &mut Lab<'_, '_>) -> Judged {
    let made = recording_with_option(lab, Purpose::Counters)?;
    let analysis = inspect::analysis(bundle(&made)).map_err(unreadable)?;
    let counters = analysis.report.counters.as_ref();
    let (samples, counters) = counters.map_or((0, &[][..]), |counters| {
        (counters.samples, &counters.counters[..])
    });
    let moving = counters.iter().filter(|counter| counter.window.p95 > 0.0);
    let moving = moving.count();
    let judgment = if moving > 0 {
        Judgment::expected("the recording has samples of hardware counters that are not zero")
    } else if samples > 0 {
        Judgment::otherwise("all samples of hardware counters are zero")
    } else {
        Judgment::otherwise("the recording has no samples of hardware counters")
    };
    Ok(judgment
        .fact("samples", samples)
        .fact("counters", counters.len())
        .fact("not_zero", moving))
}

/// Judges whether the work of a child is found.
pub(crate) fn children(lab: &mut Lab<'_, '_>) -> Judged {
    let made = match lab.recording(Purpose::Wrapper) {
        Err(missing) if missing.why == Absence::Empty && lab.recording(Purpose::Stock).is_ok() => {
            let text = "the recording has no work of the shell or of its child";
            return Err(Judgment::otherwise(text).privately(missing.private));
        }
        _ => recording_with_option(lab, Purpose::Wrapper)?,
    };
    let work = made.outcome.recording.other_work.as_ref();
    let work = work.ok_or_else(|| {
        Judgment::otherwise("the recording has the work of the child as work of the shell")
    })?;
    let text = "the recording has the work under the process that the shell started";
    Ok(Judgment::expected(text).fact("intervals", work.intervals))
}

/// Judges where the standard error of a program goes.
pub(crate) fn stderr(lab: &mut Lab<'_, '_>) -> Judged {
    recording_with_option(lab, Purpose::Wrapper)?;
    let lines = lab.transcript(Purpose::Wrapper);
    let spoken = lines.iter().find(|line| line.contains(SPOKEN));
    Ok(match spoken {
        Some(_) => Judgment::expected("xctrace passes the program's standard error on"),
        None => Judgment::otherwise("what the program wrote to standard error is lost"),
    })
}

/// Judges whether a recording that is stopped early is complete.
pub(crate) fn interrupt(lab: &mut Lab<'_, '_>) -> Judged {
    let made = recording_with_option(lab, Purpose::Interrupted)?;
    let recording = &made.outcome.recording;
    let judgment = if recording.stopped_by == StoppedBy::User {
        Judgment::expected("the recording was stopped, and is complete")
    } else {
        Judgment::unknown("the program ended before the recording was stopped")
    };
    Ok(judgment.fact("exit_code", recording.code))
}

/// Judges whether a process that runs can be recorded.
pub(crate) fn attach(lab: &mut Lab<'_, '_>) -> Judged {
    let made = recording_with_option(lab, Purpose::Attached)?;
    let analysis = inspect::analysis(bundle(&made)).map_err(unreadable)?;
    let judgment = Judgment::expected("the recording is complete and has GPU work of the process");
    Ok(judgment.fact("intervals", analysis.report.counts.intervals))
}

/// Judges whether a program ends with its recording.
pub(crate) fn left(lab: &mut Lab<'_, '_>) -> Judged {
    let made = lab.recording(Purpose::Outlasting).map_err(|missing| {
        let why = format!("there is no recording to look at: {}", missing.why.word());
        Judgment::unknown(why).privately(missing.private)
    })?;
    let judgment = match made.left {
        None => Judgment::unknown("ps does not list the processes"),
        Some(0) => Judgment::expected("the program ended with its recording"),
        Some(_) => Judgment::otherwise(
            "the program still existed after the recording; `metalens verify` ended it",
        ),
    };
    Ok(judgment.fact("processes_left", made.left))
}

/// Judges which scratch files recordings leave.
pub(crate) fn scratch(lab: &mut Lab<'_, '_>) -> Judged {
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
    Ok(judgment
        .fact("recordings", scratch.recordings)
        .fact("bytes_before", scratch.before)
        .fact("most_new_bytes_when_xctrace_ended", scratch.most)
        .fact("new_bytes_left", scratch.left))
}

/// Judges whether the native reading agrees with an export.
pub(crate) fn export(lab: &mut Lab<'_, '_>) -> Judged {
    let made = stock_recording(lab)?;
    let bundle = bundle(&made);
    let exported = lab.export(bundle, TableSelection::Known).map_err(|why| {
        if lab.is_stopped() {
            return Judgment::unknown("you stopped the export");
        }
        Judgment::otherwise("xctrace does not export all tables that metalens reads").privately(why)
    })?;
    let tables = compared(bundle, &exported).map_err(|why| {
        Judgment::otherwise("metalens cannot read the export, or the bundle").privately(why)
    })?;
    if tables.is_empty() {
        return Err(Judgment::unknown("the export has no table to compare"));
    }

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
        .fact("tables", tables.len())
        .fact("cells", total(|table| table.cells))
        .fact("different", different)
        .fact("unnamed", total(|table| table.unnamed))
        .fact("undecoded", total(|table| table.undecoded));
    let differing = tables.iter().filter(|table| table.different > 0);
    Ok(differing.fold(judgment, |judgment, table| {
        judgment.fact(&format!("different_in_{}", table.schema), table.different)
    }))
}

/// Compares the tables of an export with those of its bundle.
fn compared(bundle: &Path, export: &Path) -> Result<Vec<TableComparison>, String> {
    let exported = inspect::load(export, &Selection::everything().with_rendered_labels())?;
    let native = inspect::load(bundle, &selection_to_compare(&exported))?;
    Ok(compare(&native, &exported))
}

/// Judges whether a recording has all work that was issued.
pub(crate) fn counts(lab: &mut Lab<'_, '_>) -> Judged {
    let made = stock_recording(lab)?;
    judged_counts(bundle(&made))
}

/// Judges whether a recording or a log has what its workload issued.
fn judged_counts(recording: &Path) -> Judged {
    let counts = work_counts(recording).map_err(unreadable)?;
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
    Ok(counters
        .into_iter()
        .fold(judgment, |judgment, (name, count)| {
            judgment
                .fact(&format!("{name}_issued"), count.issued)
                .fact(&format!("{name}_found"), count.found)
        }))
}

/// Counts what the recorded workload issued, and what its recording has.
fn work_counts(bundle: &Path) -> Result<WorkCounts, String> {
    let issued = IssuedWork::from_file(&inspect::work(bundle)?)?;
    let recorded = RecordedWork::from_analysis(&inspect::analysis(bundle)?);
    Ok(WorkCounts::new(&issued, &recorded))
}

/// Judges whether the notification of the start was heard.
pub(crate) fn notification(lab: &mut Lab<'_, '_>) -> Judged {
    Ok(match stock_recording(lab)?.heard {
        Some(true) => Judgment::expected("notifyutil received the notification"),
        Some(false) => {
            Judgment::otherwise("the recording was made, but notifyutil received nothing")
        }
        None => {
            Judgment::unknown("notifyutil did not start, or this xctrace posts no notification")
        }
    })
}

/// Largest difference between the spans of the work by the probe and by `xctrace`, in nanoseconds.
const AGREES: u64 = 1_000;

/// Judges whether the probe and `xctrace` tell the same of one run.
pub(crate) fn probe(lab: &mut Lab<'_, '_>) -> Judged {
    if lab.is_fake() {
        return Err(Judgment::unknown(
            "a fake xctrace starts no program that the probe could be in",
        ));
    }
    let made = recording_with_option(lab, Purpose::WithProbe)?;
    let logged = gpu_work(&log_beside(bundle(&made))).map_err(|why| {
        let text = "the workload was recorded, but there is no log of the probe";
        Judgment::otherwise(text).privately(why)
    })?;
    let recorded = gpu_work(bundle(&made)).map_err(unreadable)?;
    Ok(judge_log(&recorded, &logged))
}

/// Judges whether the probe records without `xctrace`.
pub(crate) fn probe_alone(lab: &mut Lab<'_, '_>) -> Judged {
    if lab.is_fake() {
        return Err(Judgment::unknown(
            "the workload that a fake xctrace shows uses no GPU",
        ));
    }
    let log = lab.log_by_probe().map_err(|why| {
        Judgment::otherwise("the probe wrote no log of the workload").privately(why)
    })?;
    let notes = inspect::notes(&log);
    judged_counts(&log).map(|judgment| judgment.fact("notes", notes))
}

/// Judges whether the probe reaches the Pythons of this machine.
pub(crate) fn pythons(_: &mut Lab<'_, '_>) -> Judged {
    let probe = Probe::unpack().map_err(|error| {
        let why = "the probe cannot be written to the caches";
        Judgment::unknown(why).privately(error.to_string())
    })?;
    let found = pythons::found(&probe);
    let lost = found.iter().filter(|(_, reach)| *reach != REACHED);
    let judgment = match (found.len(), lost.count()) {
        (0, _) => Judgment::unknown("there is no Python"),
        (_, 0) => Judgment::expected("the probe is in each Python, and changes no prefix"),
        _ => Judgment::otherwise("the probe does not reach each Python as it should"),
    };
    Ok(found
        .into_iter()
        .fold(judgment, |judgment, (python, reach)| {
            judgment.fact(python, reach)
        }))
}

/// Reads the GPU work of a recording, or of a log.
fn gpu_work(path: &Path) -> Result<GpuWork, String> {
    let report = inspect::analysis(path)?.report;
    Ok(GpuWork {
        command_buffers: report.counts.command_buffers,
        span_ns: report.window.span_ns.0,
    })
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
        .fact("recorded", recorded.command_buffers)
        .fact("logged", logged.command_buffers)
        .fact("recorded_span_ns", recorded.span_ns)
        .fact("logged_span_ns", logged.span_ns)
}

/// Returns the path of a recording.
fn bundle(made: &MadeRecording) -> &Path {
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
