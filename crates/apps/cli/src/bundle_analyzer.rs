//! Reads bundles for the recorder, each once, and keeps the analysis for the report.

use std::path::Path;

use metalens_analyzer::{Analysis, Error, Request, analyze, selection};
use metalens_failure::{Failure, in_one_line};
use metalens_recorder::{
    BundleVerdict, OtherWork, ReadingDepth, RecordedBundle, RecordedIssue, RecordedProgram,
};
use metalens_trace::{Input, LoadOptions, Problem, RunIssue, Target, Trace};

/// Table with the samples of shaders.
const SHADER_SAMPLES: &str = "metal-shader-profiler-intervals";
/// Tables of Metal allocations, since Instruments 16 and before.
const ALLOCATIONS: [&str; 2] = ["metal-resource-allocations", "metal-gpu-allocations"];
/// Start of the setting that says whether shaders were sampled.
const SHADER_TIMELINE: &str = "Shader Timeline:";

/// Reads and analyzes bundles, and keeps the last analysis.
#[derive(Default)]
pub(crate) struct BundleAnalyzer {
    analysis: Option<Analysis>,
}

impl BundleAnalyzer {
    /// Reads a bundle, and returns what the recorder asks about it.
    pub(crate) fn read(&mut self, bundle: &Path, depth: ReadingDepth) -> RecordedBundle {
        let input = match Input::open(bundle) {
            Ok(input) => input,
            Err(error) => {
                let why = in_one_line(&error);
                return RecordedBundle::new(unreadable(&error, why));
            }
        };
        let mut recorded = RecordedBundle::new(BundleVerdict::Good);
        add_facts(&mut recorded, &input);
        if depth == ReadingDepth::Tables
            && let Err(verdict) = self.add_tables(&mut recorded, input)
        {
            recorded.verdict = verdict;
        }
        recorded
    }

    /// Returns the analysis of the last bundle, which is at this path now. Returns `None` if it was not
    /// analyzed, or if a part of its report names the path at which it was read.
    pub(crate) fn take(&mut self, bundle: &Path) -> Option<Analysis> {
        let mut analysis = self.analysis.take()?;
        let path = bundle.display().to_string();
        let former = std::mem::replace(&mut analysis.report.source.path, path);
        let former = serde_json::to_string(&former).ok()?;
        let report = serde_json::to_string(&analysis.report).ok()?;
        (!report.contains(former.trim_matches('"'))).then_some(analysis)
    }

    /// Adds what the tables say, and keeps the analysis. The error says why there is none.
    fn add_tables(
        &mut self,
        recorded: &mut RecordedBundle,
        input: Input,
    ) -> Result<(), BundleVerdict> {
        self.analysis = None;
        let trace = input
            .load(&selection(), LoadOptions::default())
            .map_err(|error| unreadable(&error, in_one_line(&error)))?;
        let samples = trace.find_table(SHADER_SAMPLES);
        recorded.shader_samples = samples.map(|table| table.rows() as u64);
        recorded.lacks_allocations = lacks_allocations(&trace);

        let analysis = analyze(trace, &Request::default()).map_err(|error| {
            recorded.others = others(&error);
            judge(&error)
        })?;
        self.analysis = Some(analysis);
        Ok(())
    }
}

/// Returns whether a recording that was not simulated has no table of allocations.
fn lacks_allocations(trace: &Trace) -> bool {
    let has = |schema: &str| trace.find_table(schema).is_some();
    !trace.run.synthetic && !ALLOCATIONS.into_iter().any(has)
}

/// Adds the facts about the runs.
fn add_facts(recorded: &mut RecordedBundle, input: &Input) {
    let Some(toc) = input.toc() else {
        return;
    };
    let Some(run) = toc.runs.last() else {
        return;
    };
    recorded.issues = run.issues.iter().map(issue).collect();
    let mut settings = run.settings.iter().flat_map(|setting| &setting.values);
    let timeline = settings.find_map(|value| value.strip_prefix(SHADER_TIMELINE));
    recorded.shader_timeline = timeline.map(|value| value.trim().to_owned());

    if let Target::Launched(process) = &run.target {
        let listed = run.processes.iter();
        let mut paths = listed
            .filter(|listed| listed.pid == process.pid)
            .filter_map(|listed| listed.path.as_ref());
        recorded.program = Some(RecordedProgram {
            pid: process.pid,
            path: paths.find(|path| path.starts_with('/')).cloned(),
            exit_status: process.exit_status,
            termination: process.termination.clone(),
        });
    }
}

/// Returns what Instruments reports, with a remedy if it is certain.
fn issue(issue: &RunIssue) -> RecordedIssue {
    RecordedIssue {
        message: issue.message.clone(),
        remedy: issue.remedy(),
    }
}

/// Returns the processes with GPU work, if an analysis failed because the recorded one has none.
fn others(error: &Error) -> Vec<OtherWork> {
    let Error::NoGpuIntervals { present, .. } = error.cause() else {
        return Vec::new();
    };
    let others = present.iter().filter_map(|process| {
        Some(OtherWork {
            name: process.name.clone(),
            pid: process.pid?,
            intervals: process.intervals,
        })
    });
    others.collect()
}

/// Judges a bundle by the error of its analysis.
fn judge(error: &Error) -> BundleVerdict {
    let why = with_hint(error);
    match error.cause() {
        Error::Trace(error) | Error::IntervalsNotRecorded(error) => unreadable(error, why),
        Error::NoRows { .. }
        | Error::NoGpuIntervals { .. }
        | Error::NoProcesses { .. }
        | Error::OnlyCpu { .. } => BundleVerdict::Empty(why),
        _ => BundleVerdict::Doubtful(why),
    }
}

/// Judges a bundle by the error of its reading.
fn unreadable(error: &metalens_trace::Error, why: String) -> BundleVerdict {
    match error.problem() {
        // The bundle may be newer than the versions that metalens knows; xctrace may read it.
        Problem::UnsupportedBundle { .. } | Problem::UnreadableTable { .. } => {
            BundleVerdict::Doubtful(format!("metalens cannot read it natively: {why}"))
        }
        _ => BundleVerdict::Unreadable(why),
    }
}

fn with_hint(error: &Error) -> String {
    let why = in_one_line(error);
    match error.hint() {
        Some(hint) => format!("{why}: {hint}"),
        None => why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_scenario(change: impl Fn(&mut metalens_simulator::Scenario)) -> RecordedBundle {
        let folder = tempfile::tempdir().unwrap();
        let export = folder.path().join("export");
        let mut scenario = metalens_simulator::Scenario::preset("eager").unwrap();
        change(&mut scenario);
        metalens_simulator::write_export(&scenario, &export, false).unwrap();
        BundleAnalyzer::default().read(&export, ReadingDepth::Tables)
    }

    #[test]
    fn recordings_tell_whether_there_are_samples() {
        let stock = of_scenario(|_| {});
        assert_eq!(stock.shader_timeline.as_deref(), Some("Disabled"));
        assert_eq!(stock.verdict, BundleVerdict::Good);

        let on = of_scenario(|scenario| {
            scenario.recording.shader_timeline = true;
            for process in &mut scenario.process {
                process.shaders = vec!["sin_kernel".to_owned()];
            }
        });
        assert_eq!(on.shader_timeline.as_deref(), Some("Enabled"));
        assert!(on.shader_samples.is_some_and(|count| count > 0), "{on:?}");

        let path = Path::new("/no/such.trace");
        let absent = BundleAnalyzer::default().read(path, ReadingDepth::Tables);
        assert_eq!(
            (absent.shader_samples, absent.shader_timeline),
            (None, None)
        );
        assert!(matches!(absent.verdict, BundleVerdict::Unreadable(_)));
    }

    /// Checks an export that does not say that it is synthetic, with the table and without.
    #[test]
    fn a_recording_without_allocations_is_noticed() {
        let check = |has_table: bool, is_synthetic: bool, expected: bool| {
            let folder = tempfile::tempdir().unwrap();
            let export = folder.path().join("export");
            let mut scenario = metalens_simulator::Scenario::preset("eager").unwrap();
            if has_table {
                let tables = metalens_simulator::Table::recorded(&scenario);
                let allocations = [metalens_simulator::Table::MetalResourceAllocations];
                scenario.tables = Some(tables.chain(allocations).collect());
            }
            metalens_simulator::write_export(&scenario, &export, false).unwrap();
            if !is_synthetic {
                for document in std::fs::read_dir(&export).unwrap() {
                    let path = document.unwrap().path();
                    let text = std::fs::read_to_string(&path).unwrap();
                    if let Some((before, rest)) = text.split_once(" synthetic=\"") {
                        let (_, after) = rest.split_once('"').unwrap();
                        std::fs::write(&path, format!("{before}{after}")).unwrap();
                    }
                }
            }
            let recorded = BundleAnalyzer::default().read(&export, ReadingDepth::Tables);
            assert_eq!(
                recorded.lacks_allocations, expected,
                "{has_table} {is_synthetic}"
            );
        };
        check(true, false, false);
        check(false, false, true);
        check(false, true, false);
    }

    #[test]
    fn an_analysis_is_kept_under_the_final_path() {
        let folder = tempfile::tempdir().unwrap();
        let export = folder.path().join("export");
        let scenario = metalens_simulator::Scenario::preset("eager").unwrap();
        metalens_simulator::write_export(&scenario, &export, false).unwrap();
        let mut analyzer = BundleAnalyzer::default();
        assert!(analyzer.take(&export).is_none());

        analyzer.read(&export, ReadingDepth::Facts);
        assert!(analyzer.take(&export).is_none());
        analyzer.read(&export, ReadingDepth::Tables);
        let kept = analyzer.take(Path::new("final.trace")).unwrap();
        assert_eq!(kept.report.source.path, "final.trace");
    }
}
