//! What is true beside the gaps: latencies, the queue, states, memory,
//! signposts, shaders, errors, hangs, and the ledger with recovered encodings,
//! each against what the simulator counted.

use std::path::Path;

use metalens_analyzer::{
    Distribution, NamedBy, Report, Request, StateTime, analyze, lost_encodings,
    selection_with_recovery,
};
use metalens_simulator::{
    Scenario, Spread, States, Table, Truth, presets, random_scenario, write_export,
};
use metalens_trace::{Input, LoadOptions};

use super::{report, report_of};

#[test]
fn of_the_presets() {
    let mut compared = Compared::default();
    for preset in presets().iter().filter(|preset| preset.name != "million") {
        compared.check(preset.name, &preset.scenario().unwrap());
    }
    assert!(compared.reports >= 8, "{compared:?}");
}

#[test]
fn of_the_findings() {
    let mut compared = Compared::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/findings");
    for rule in std::fs::read_dir(folder).unwrap() {
        for file in std::fs::read_dir(rule.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|ends| ends == "toml") {
                let scenario = Scenario::from_toml(&std::fs::read_to_string(&path).unwrap());
                compared.check(&path.display().to_string(), &scenario.unwrap());
            }
        }
    }
    assert!(compared.reports > 40, "{compared:?}");
    assert!(compared.recovered > 0 && compared.hangs > 0, "{compared:?}");
}

#[test]
fn of_random_scenarios() {
    let mut compared = Compared::default();
    for seed in 0..150 {
        compared.check(&format!("seed {seed}"), &random_scenario(seed));
    }
    // Each comparison was made of something.
    assert!(compared.reports > 80, "{compared:?}");
    assert!(compared.recovered > 10, "{compared:?}");
    assert!(compared.signposts > 10, "{compared:?}");
    assert!(compared.errors > 5 && compared.hangs > 3, "{compared:?}");
    assert!(compared.memory > 50 && compared.states > 50, "{compared:?}");
}

/// With the shader timeline, and one encoder to an interval, kernels are the
/// shaders: as many, and as long.
#[test]
fn of_a_shader_timeline() {
    let mut scenario = Scenario::preset("eager").unwrap();
    scenario.recording.shader_timeline = true;
    scenario.process[0].shaders = ["mul_f16", "add_f16", "rope"].map(str::to_owned).to_vec();
    let mut compared = Compared::default();
    compared.check("shaders", &scenario);
    assert_eq!(compared.shaders, 3);
    let truth = metalens_simulator::truths(&scenario).unwrap();
    let report = report_of(&scenario, &Request::default()).unwrap();
    let found = report.kernels.iter().map(|kernel| {
        assert_eq!(kernel.named_by, NamedBy::ShaderProfiler);
        (kernel.name.as_str(), kernel.instances, kernel.total_ns)
    });
    let mut found: Vec<_> = found.collect();
    found.sort_unstable();
    let truth = truth[0].shaders.iter();
    let truth: Vec<_> = truth
        .map(|one| (one.name.as_str(), one.count, one.total_ns))
        .collect();
    assert_eq!(found, truth);
}

/// How much there was to compare.
#[derive(Debug, Default)]
struct Compared {
    reports: u64,
    recovered: u64,
    memory: u64,
    states: u64,
    signposts: u64,
    shaders: u64,
    errors: u64,
    hangs: u64,
}

impl Compared {
    fn check(&mut self, name: &str, scenario: &Scenario) {
        let folder = tempfile::tempdir().unwrap();
        for truth in write_export(scenario, folder.path(), false).unwrap() {
            let run = Some(u64::from(truth.run));
            // Those without a report are compared in `truth`.
            let Ok(report) = report(folder.path(), run, &Request::default()) else {
                continue;
            };
            self.reports += 1;
            let case = Case {
                name,
                scenario,
                truth: &truth,
                report: &report,
            };
            case.latency();
            case.queue();
            self.states += case.states();
            self.memory += case.memory();
            self.signposts += case.signposts();
            self.shaders += case.shaders();
            self.errors += case.errors();
            self.hangs += case.hangs();
            self.recovered += u64::from(case.recovered(folder.path()));
        }
    }
}

/// A truth and the report of the same.
struct Case<'a> {
    name: &'a str,
    scenario: &'a Scenario,
    truth: &'a Truth,
    report: &'a Report,
}

impl Case<'_> {
    /// Whether the export has a table. The simulator leaves out those that would be empty.
    fn has(&self, table: Table) -> bool {
        let tables = self.scenario.tables.as_ref();
        tables.is_none_or(|tables| tables.contains(&table))
    }

    fn latency(&self) {
        let (found, truth) = (&self.report.latency, self.truth.latency.as_ref().unwrap());
        assert_eq!(
            spread(found.submission),
            truth.first_start,
            "{}: start",
            self.name
        );
        if self.has(Table::MetalCommandBufferCompleted) {
            let completion = spread(found.completion);
            assert_eq!(completion, truth.completion, "{}: completion", self.name);
        } else {
            assert_eq!(found.completion, None, "{}", self.name);
        }
    }

    fn queue(&self) {
        let (found, truth) = (&self.report.latency.queue, self.truth.queue.unwrap());
        let Some(found) = found else {
            assert_eq!(truth.area_ns, 0, "{}: queue", self.name);
            return;
        };
        assert_eq!(found.max_depth, truth.max, "{}: queue", self.name);
        let area_ns = found.mean_depth * self.report.window.span_ns as f64;
        let expected = truth.area_ns as f64;
        assert!(
            (area_ns - expected).abs() <= 1e-9 * expected,
            "{}: queue {area_ns} {expected}",
            self.name
        );
    }

    fn states(&self) -> u64 {
        let machine = &self.report.machine;
        let truth = self.truth.performance.as_ref().unwrap();
        let mut compared = 0;
        if let Some(found) = &machine.performance {
            assert_eq!(states(&found.states), expected(truth), "{}", self.name);
            assert_eq!(found.unknown_ns, truth.uncovered_ns, "{}", self.name);
            compared += 1;
        } else {
            assert!(
                !self.has(Table::GpuPerformanceStateIntervals),
                "{}",
                self.name
            );
        }
        let truth = self.truth.thermal.as_ref().unwrap();
        if let Some(found) = &machine.thermal {
            assert_eq!(states(&found.states), expected(truth), "{}", self.name);
            assert_eq!(found.unknown_ns, truth.uncovered_ns, "{}", self.name);
            assert_eq!(found.worst, truth.worst, "{}", self.name);
            compared += 1;
        } else {
            assert!(
                !self.has(Table::DeviceThermalStateIntervals),
                "{}",
                self.name
            );
        }
        compared
    }

    fn memory(&self) -> u64 {
        let Some(found) = &self.report.machine.allocated else {
            assert!(!self.has(Table::MetalCurrentAllocatedSize), "{}", self.name);
            return 0;
        };
        let found = [found.first_bytes, found.peak_bytes, found.last_bytes];
        let truth = self.truth.memory.as_ref();
        let truth = truth.map(|known| [known.first_bytes, known.peak_bytes, known.last_bytes]);
        let truth = truth.map_or([None; 3], |known| known.map(Some));
        assert_eq!(found, truth, "{}: memory", self.name);
        u64::from(truth[0].is_some())
    }

    /// Processes may share a name, so that all are compared at once. Events,
    /// which have no length, are no phases.
    fn signposts(&self) -> u64 {
        if !self.has(Table::OsSignpost) {
            return 0;
        }
        let found = self.report.phases.signposts.iter();
        let mut found: Vec<_> = found
            .filter(|one| one.count > 0)
            .map(|one| {
                let process = one.process.clone().unwrap();
                (one.name.clone(), process, one.count, one.total_ns)
            })
            .collect();
        let name = |pid: u32| {
            let mut all = self.scenario.process.iter();
            all.find(|one| one.pid == pid).unwrap().name.clone()
        };
        let truth = self.truth.signposts.iter().filter(|one| one.count > 0);
        let mut truth: Vec<_> = truth
            .map(|one| (one.name.clone(), name(one.pid), one.count, one.total_ns))
            .collect();
        found.sort();
        truth.sort();
        assert_eq!(found, truth, "{}: signposts", self.name);
        truth.len() as u64
    }

    /// Those that ran are among those listed.
    fn shaders(&self) -> u64 {
        let listed = self.report.shaders.iter();
        let listed: Vec<&str> = listed.map(|one| one.name.as_str()).collect();
        for shader in &self.truth.shaders {
            assert!(
                listed.contains(&shader.name.as_str()),
                "{}: {} is not in {listed:?}",
                self.name,
                shader.name
            );
        }
        self.truth.shaders.len() as u64
    }

    /// A buffer none of whose rows name it is not known to be the target's.
    fn errors(&self) -> u64 {
        let found = self.report.machine.errors.as_ref();
        let found = found.map_or(0, |errors| errors.of_process);
        let all_named = self.truth.counts.unattributed == 0;
        if all_named && self.has(Table::MetalCommandBufferError) {
            assert_eq!(found, self.truth.errors, "{}: errors", self.name);
        }
        assert!(found <= self.truth.errors, "{}: errors", self.name);
        found
    }

    fn hangs(&self) -> u64 {
        let found = self.report.machine.hangs.as_ref();
        let found = found.map_or(0, |hangs| hangs.count);
        if self.has(Table::PotentialHangs) {
            assert_eq!(found, self.truth.hangs, "{}: hangs", self.name);
        }
        found
    }

    /// With the tables in which lost encodings stand, whatever can be found is:
    /// that is the ledger, or the one that it was if there is nothing to find.
    fn recovered(&self, folder: &Path) -> bool {
        if !lost_encodings(self.report) || !self.has(Table::MetalApplicationIntervals) {
            let listed = self.has(Table::MetalApplicationEncodersList);
            let recoverable = listed && self.has(Table::MetalApplicationIntervals);
            assert!(
                self.truth.recovered_idle.is_none() || !recoverable,
                "{}: encodings could be found",
                self.name
            );
            return false;
        }
        let options = LoadOptions {
            run: Some(u64::from(self.truth.run)),
            ..LoadOptions::default()
        };
        let trace = Input::open(folder)
            .unwrap()
            .load(&selection_with_recovery(), options)
            .unwrap();
        let found = analyze(trace, &Request::default()).unwrap().report.idle;
        let truth = self.truth.recovered_idle.or(self.truth.idle).unwrap();
        let (found, truth) = (
            serde_json::to_value(found).unwrap(),
            serde_json::to_value(truth).unwrap(),
        );
        for (key, value) in truth.as_object().unwrap() {
            assert_eq!(found.get(key), Some(value), "{}: {key}", self.name);
        }
        self.truth.recovered_idle.is_some()
    }
}

/// A distribution in the simulator's words.
fn spread(found: Option<Distribution>) -> Spread {
    found.map_or_else(Spread::default, |found| Spread {
        count: found.count,
        min_ns: Some(found.min_ns),
        median_ns: Some(found.median_ns),
        p95_ns: Some(found.p95_ns),
        max_ns: Some(found.max_ns),
    })
}

/// By name: total, busy, and whether any of it was induced.
fn states(found: &[StateTime]) -> Vec<(&str, u64, u64, bool)> {
    let found = found.iter();
    let mut found: Vec<_> = found
        .map(|one| {
            (
                one.state.as_str(),
                one.total_ns,
                one.busy_ns,
                one.induced_ns > 0,
            )
        })
        .collect();
    found.sort_unstable();
    found
}

fn expected(truth: &States) -> Vec<(&str, u64, u64, bool)> {
    let truth = truth.states.iter();
    truth
        .map(|one| (one.state.as_str(), one.total_ns, one.busy_ns, one.induced))
        .collect()
}
