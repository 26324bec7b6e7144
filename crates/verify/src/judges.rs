//! Judges the recordings of each experiment.

use metalens_analyzer::Performance;
use metalens_comparison::calibration::{
    Calibration, Count, CountVerdict, PairRuns, ProgramRun, RecordedWork,
};
use metalens_doctor::guarded;
use metalens_exporter::TableSelection;
use metalens_trace::{Selection, TableComparison, compare};

use crate::evidence::{Fact, Finding};
use crate::lab::Lab;
use crate::look;
use crate::shot::{Absence, Missing, Shot, Taken};

/// Name of the signpost interval of bundled workloads.
const MEASURED: &str = "measured";
/// Table of shader samples.
const SHADERS: &str = "metal-shader-profiler-intervals";
/// Table that every recording of the GPU has.
const INTERVALS: &str = "metal-gpu-intervals";
/// Share of busy time from which the GPU counts as held at a clock.
const HELD: f64 = 0.95;

/// Returns the finding about a recording that depends on an option, and is missing: the option may be
/// the reason only if a recording without it was made.
fn lacks(lab: &mut Lab<'_, '_>, missing: &Missing) -> Finding {
    let word = missing.why.word();
    let is_fine_without = lab.take(Shot::Stock).is_ok();
    let finding = if !missing.why.is_telling() {
        Finding::unknown(format!("there is no recording to look at: {word}"))
    } else if is_fine_without {
        Finding::otherwise(format!(
            "this recording was not made ({word}), while one with Apple's template was"
        ))
    } else {
        Finding::unknown(format!(
            "no recording was made ({word}), with Apple's template neither"
        ))
    };
    finding.privately(&missing.private)
}

/// Returns the finding of an experiment that uses the recording with Apple's template, which is missing.
fn no_stock(missing: &Missing) -> Finding {
    let why = format!(
        "there is no recording with Apple's template to look at: {}",
        missing.why.word()
    );
    Finding::unknown(why).privately(&missing.private)
}

fn unreadable(why: &str) -> Finding {
    Finding::unknown("metalens cannot analyze the recording").privately(why)
}

pub(crate) fn stock(lab: &mut Lab<'_, '_>) -> Finding {
    let taken = lab.take(Shot::Stock);
    let taken = match &*taken {
        Ok(taken) => taken,
        Err(missing) if !missing.why.is_telling() => return no_stock(missing),
        Err(missing) => {
            let why = match missing.why {
                Absence::Empty => {
                    "the recording was saved, and has no GPU work of the program".to_owned()
                }
                other => format!("there is no complete recording: {}", other.word()),
            };
            return Finding::otherwise(why).privately(&missing.private);
        }
    };
    if taken.outcome.recording.other_work.is_some() {
        return Finding::otherwise(
            "the recording has GPU work of another program, and none of the recorded one",
        );
    }
    match look::analysis(bundle(taken)) {
        Ok(analysis) => {
            let found = analysis.report.counts.intervals;
            Finding::expected("the recording is complete and has GPU work of the program")
                .count("intervals", found)
        }
        Err(why) => Finding::otherwise("metalens cannot analyze the recording").privately(&why),
    }
}

pub(crate) fn template(lab: &mut Lab<'_, '_>) -> Finding {
    let taken = lab.take(Shot::DefaultClock);
    let taken = match &*taken {
        Ok(taken) => taken,
        Err(missing) => return lacks(lab, missing),
    };
    let wanted = || TableSelection::These(vec![INTERVALS.to_owned()]);
    let Err(why) = lab.export(bundle(taken), wanted()) else {
        return Finding::expected(
            "xctrace records with the changed template, and exports the recording",
        );
    };
    if lab.is_stopped() {
        return Finding::unknown("you stopped the export");
    }
    // The template is the cause only if a recording without it can be exported.
    match &*lab.take(Shot::Stock) {
        Ok(stock) if lab.export(bundle(stock), wanted()).is_ok() => Finding::otherwise(
            "xctrace does not export the recording with the changed template, and exports the one with \
             Apple's",
        ),
        Ok(_) => Finding::unknown("xctrace exports neither this recording nor the one with Apple's template"),
        Err(_) => Finding::unknown("xctrace does not export the recording; there is none to compare with"),
    }
    .privately(&why)
}

pub(crate) fn shaders(lab: &mut Lab<'_, '_>) -> Finding {
    let through = lab.take(Shot::Shaders);
    let through = match &*through {
        Ok(taken) => look::rows(bundle(taken), SHADERS),
        Err(missing) => return lacks(lab, missing),
    };
    let to_file = lab.take(Shot::ShadersToFile);
    let to_file = (*to_file).as_ref().ok();
    let to_file = to_file.and_then(|taken| look::rows(bundle(taken), SHADERS));

    let has = |rows: Option<u64>| rows.is_some_and(|rows| rows > 0);
    let finding = match (has(through), has(to_file)) {
        (true, true) => Finding::expected("there are shader samples, with --target-stdout too"),
        (true, false) => {
            Finding::expected("there are shader samples, and none were seen with --target-stdout")
        }
        (false, true) => Finding::otherwise(
            "there are shader samples only with --target-stdout, which metalens leaves out",
        ),
        (false, false) => {
            Finding::otherwise("there are no shader samples, with and without --target-stdout")
        }
    };
    finding
        .count("samples", through)
        .count("samples_with_target_stdout", to_file)
}

pub(crate) fn signposts(lab: &mut Lab<'_, '_>) -> Finding {
    let taken = lab.take(Shot::Stock);
    let taken = match &*taken {
        Ok(taken) => taken,
        Err(missing) => return no_stock(missing),
    };
    let analysis = match look::analysis(bundle(taken)) {
        Ok(analysis) => analysis,
        Err(why) => return unreadable(&why),
    };
    let phases = analysis.report.phases.signposts.iter();
    let found: u64 = phases
        .filter(|phase| phase.name == MEASURED)
        .map(|phase| phase.count)
        .sum();
    let finding = if found > 0 {
        Finding::expected("the interval of the workload is in the recording")
    } else {
        Finding::otherwise(
            "Points of Interest was asked for, and the workload's interval is not recorded",
        )
    };
    finding.count("intervals", found)
}

pub(crate) fn clock(lab: &mut Lab<'_, '_>) -> Finding {
    let maximum = lab.take(Shot::MaximumClock);
    let maximum = match &*maximum {
        Ok(taken) => states(taken),
        Err(missing) => return lacks(lab, missing),
    };
    let stock = lab.take(Shot::Stock);
    let stock = (*stock).as_ref().ok().and_then(states);
    let default = lab.take(Shot::DefaultClock);
    let default = (*default).as_ref().ok().and_then(states);

    let held = maximum.as_ref().and_then(|states| share(states, "Maximum"));
    let finding = match held {
        None => Finding::unknown("the recording has no clocks of the GPU"),
        Some(held) if held >= HELD => {
            Finding::expected("with --gpu-clock maximum the GPU is at its maximum")
        }
        Some(_) => Finding::otherwise(
            "with --gpu-clock maximum the GPU is not at its maximum: the clock is not heeded, or the \
             machine is too hot",
        ),
    };
    let recordings = [("stock", stock), ("default", default), ("maximum", maximum)];
    recordings
        .into_iter()
        .fold(finding, |finding, (name, states)| {
            ["Minimum", "Medium", "Maximum"]
                .iter()
                .fold(finding, |finding, state| {
                    let share = states.as_ref().and_then(|states| share(states, state));
                    let name = format!("{name}_at_{}", state.to_lowercase());
                    finding.with(&name, Fact::Share(share))
                })
        })
}

fn states(taken: &Taken) -> Option<Performance> {
    let analysis = look::analysis(bundle(taken)).ok()?;
    let performance = analysis.report.machine.performance.clone();
    performance.filter(|performance| !performance.states.is_empty())
}

/// Returns the share of busy time at a clock. None if it is unknown.
fn share(performance: &Performance, state: &str) -> Option<f64> {
    let mut states = performance.states.iter();
    match states.find(|time| time.state == state) {
        Some(time) => time.busy_share,
        // The others tell the time: this one has none of it.
        None => performance.states.first()?.busy_share.map(|_| 0.0),
    }
}

pub(crate) fn counters(lab: &mut Lab<'_, '_>) -> Finding {
    let taken = lab.take(Shot::Counters);
    let taken = match &*taken {
        Ok(taken) => taken,
        Err(missing) => return lacks(lab, missing),
    };
    let analysis = match look::analysis(bundle(taken)) {
        Ok(analysis) => analysis,
        Err(why) => return unreadable(&why),
    };
    let counters = analysis.report.counters.as_ref();
    let (found, kinds) = counters.map_or((0, 0), |counters| {
        (counters.samples, counters.counters.len() as u64)
    });
    let finding = if found > 0 {
        Finding::expected("the recording has samples of hardware counters")
    } else {
        Finding::otherwise("the recording was made, and has no samples of hardware counters")
    };
    finding.count("samples", found).count("counters", kinds)
}

pub(crate) fn children(lab: &mut Lab<'_, '_>) -> Finding {
    let taken = lab.take(Shot::Wrapper);
    match &*taken {
        Ok(taken) => match &taken.outcome.recording.other_work {
            Some(work) => {
                Finding::expected("the work is found, under the process that the shell started")
                    .count("intervals", work.intervals)
            }
            None => {
                Finding::otherwise("the work of the child is in the recording as that of the shell")
            }
        },
        Err(missing) if missing.why == Absence::Empty && lab.take(Shot::Stock).is_ok() => {
            Finding::otherwise("the recording has neither work of the shell nor of its child")
                .privately(&missing.private)
        }
        Err(missing) => lacks(lab, missing),
    }
}

pub(crate) fn protected(lab: &mut Lab<'_, '_>) -> Finding {
    let Some(folder) = lab.protected_folder() else {
        return Finding::unknown(
            "it runs only with --protected-folder, since it puts a program there for a moment",
        );
    };
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from);
    if guarded(&[("it", folder)], home.as_deref()).is_none() {
        return Finding::unknown("the folder of --protected-folder is none that macOS guards");
    }
    match &*lab.take(Shot::Guarded) {
        Ok(_) => Finding::expected("a program in the guarded folder is recorded as elsewhere"),
        Err(missing) => lacks(lab, missing),
    }
}

pub(crate) fn copies(lab: &mut Lab<'_, '_>) -> Finding {
    let mut recorded = 0;
    for shot in [Shot::Application, Shot::OtherCopy] {
        let taken = lab.take(shot);
        let traced = match &*taken {
            Ok(taken) => &taken.outcome.traced,
            Err(missing) => return lacks(lab, missing),
        };
        let finding = match traced {
            None => Finding::unknown("the recording does not name the program that it is of"),
            Some(traced) if traced.is_same() => {
                recorded += 1;
                continue;
            }
            Some(traced) if traced.is_other_copy() => Finding::otherwise(
                "another copy of the application was recorded than the named one",
            ),
            Some(_) => {
                Finding::otherwise("another program was recorded than the named application")
            }
        };
        return finding.count("copies_recorded_as_named", recorded);
    }
    Finding::expected("each copy of the application was recorded as it was named")
        .count("copies_recorded_as_named", recorded)
}

pub(crate) fn left(lab: &mut Lab<'_, '_>) -> Finding {
    let taken = lab.take(Shot::Outlasting);
    let left = match &*taken {
        Ok(taken) => taken.left,
        Err(missing) => {
            let why = format!("there is no recording to look at: {}", missing.why.word());
            return Finding::unknown(why).privately(&missing.private);
        }
    };
    let finding = match left {
        None => Finding::unknown("ps does not list the processes"),
        Some(0) => Finding::expected("the program ended with its recording"),
        Some(_) => Finding::otherwise(
            "the program was still there after the recording; `metalens verify` ended it",
        ),
    };
    finding.count("processes_left", left)
}

pub(crate) fn scratch(lab: &mut Lab<'_, '_>) -> Finding {
    if lab.scratch.recordings == 0 {
        let _ = lab.take(Shot::Stock);
    }
    let scratch = lab.scratch;
    let finding = match (scratch.recordings, scratch.most, scratch.left) {
        (0, ..) => Finding::unknown("nothing was recorded"),
        (_, 0, 0) => Finding::expected("xctrace left no scratch files"),
        (_, _, 0) => Finding::expected("xctrace left scratch files, and metalens removed them"),
        _ => Finding::otherwise(
            "scratch files are left in the temporary folder; `metalens doctor` lists them",
        ),
    };
    finding
        .count("recordings", scratch.recordings)
        .count("bytes_before", scratch.before)
        .count("most_new_bytes_when_xctrace_ended", scratch.most)
        .count("new_bytes_left", scratch.left)
}

pub(crate) fn export(lab: &mut Lab<'_, '_>) -> Finding {
    let taken = lab.take(Shot::Stock);
    let taken = match &*taken {
        Ok(taken) => taken,
        Err(missing) => return no_stock(missing),
    };
    let bundle = bundle(taken);
    let exported = match lab.export(bundle, TableSelection::Known) {
        Ok(folder) => folder,
        Err(_) if lab.is_stopped() => return Finding::unknown("you stopped the export"),
        Err(why) => {
            return Finding::otherwise("xctrace does not export all tables that metalens reads")
                .privately(&why);
        }
    };
    let tables = compared(bundle, &exported);
    let tables = match tables {
        Ok(tables) if tables.is_empty() => {
            return Finding::unknown("the export has no table to compare");
        }
        Ok(tables) => tables,
        Err(why) => {
            return Finding::otherwise("metalens cannot read the export, or the bundle")
                .privately(&why);
        }
    };

    let total = |number: fn(&TableComparison) -> u64| tables.iter().map(number).sum::<u64>();
    let different = total(|table| table.different);
    let finding = if different == 0 {
        Finding::expected("all cells of the export are those that metalens reads")
    } else {
        Finding::otherwise(
            "cells of the export differ from those that metalens reads; `metalens selfcheck` shows them",
        )
    };
    let finding = finding
        .count("tables", tables.len() as u64)
        .count("cells", total(|table| table.cells))
        .count("different", different)
        .count("unnamed", total(|table| table.unnamed))
        .count("undecoded", total(|table| table.undecoded));
    let differing = tables.iter().filter(|table| table.different > 0);
    differing.fold(finding, |finding, table| {
        finding.count(&format!("different_in_{}", table.schema), table.different)
    })
}

/// Compares the tables of an export with those of its bundle.
fn compared(
    bundle: &std::path::Path,
    export: &std::path::Path,
) -> Result<Vec<TableComparison>, String> {
    let exported = look::load(export, &Selection::everything().with_rendered_labels())?;
    let tables = exported.tables().iter();
    let mut schemas: Vec<String> = tables.map(|table| table.schema.name.clone()).collect();
    schemas.dedup();
    let selection = Selection::tables(&schemas)
        .where_readable()
        .with_rendered_labels();
    Ok(compare(&look::load(bundle, &selection)?, &exported))
}

pub(crate) fn counts(lab: &mut Lab<'_, '_>) -> Finding {
    let taken = lab.take(Shot::Stock);
    let taken = match &*taken {
        Ok(taken) => taken,
        Err(missing) => return no_stock(missing),
    };
    let pair = match pair(taken) {
        Ok(pair) => pair,
        Err(why) => return unreadable(&why),
    };
    let counts = Calibration::from_pairs(vec![pair], true, false).counts;
    let finding = match counts.verdict {
        CountVerdict::Equal => {
            Finding::expected("everything that the workload issued is in the recording")
        }
        CountVerdict::Coalesced => Finding::expected(
            "everything that the workload issued is in the recording; the driver merged some of it",
        ),
        CountVerdict::Different => {
            Finding::otherwise("the recording does not have exactly what the workload issued")
        }
    };
    let all = [
        ("command_buffers", &counts.command_buffers),
        ("encoders", &counts.encoders),
        ("dispatches", &counts.dispatches),
    ];
    all.into_iter()
        .fold(finding, |finding, (name, count): (&str, &Count)| {
            finding
                .count(&format!("{name}_issued"), count.issued)
                .count(&format!("{name}_found"), count.found.first().copied())
        })
}

/// Returns the run of the recorded workload, with what its recording has. No run without the recorder
/// is needed to compare counts.
fn pair(taken: &Taken) -> Result<PairRuns, String> {
    let work = look::work(bundle(taken))?;
    let run = || ProgramRun::from_sidecar(&work).map_err(|error| error.to_string());
    Ok(PairRuns {
        is_with_first: true,
        without: run()?,
        with: run()?,
        recorded: RecordedWork::from_analysis(&look::analysis(bundle(taken))?),
    })
}

pub(crate) fn notification(lab: &mut Lab<'_, '_>) -> Finding {
    match &*lab.take(Shot::Stock) {
        Err(missing) => no_stock(missing),
        Ok(taken) => match taken.heard {
            Some(true) => Finding::expected("notifyutil heard the notification"),
            Some(false) => {
                Finding::otherwise("the recording was made, and notifyutil heard nothing")
            }
            None => {
                Finding::unknown("notifyutil did not start, or this xctrace posts no notification")
            }
        },
    }
}

fn bundle(taken: &Taken) -> &std::path::Path {
    &taken.outcome.recording.bundle
}
