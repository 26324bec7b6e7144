//! Tests of figures beside the gaps against the simulator's truth: latencies, queue depth, states,
//! memory, signposts, shaders, errors, hangs, and idle time with recovered encodings.

use std::collections::BTreeMap;
use std::path::Path;

use metalens_analyzer::{
    CountedBytes, Distribution, NamedBy, Report, Request, StateTime, Turnover, analyze,
    lost_encodings, selection_with_recovery,
};
use metalens_message::{Bytes, Ns, Quantity};
use metalens_simulator::{
    EncodedKernel, OptionalTruth, Scenario, Spread, States, Table, Truth, Wired, presets,
    random_scenario, write_export,
};
use metalens_trace::{Input, LoadOptions};

use super::{report, report_of};

#[test]
fn presets_match_the_truth() {
    let mut compared = Compared::default();
    for preset in presets().iter().filter(|preset| preset.name != "million") {
        compared.check(preset.name, &preset.scenario().unwrap());
    }
    assert!(compared.reports >= 8, "{compared:?}");
}

#[test]
fn findings_match_the_truth() {
    let mut compared = Compared::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/findings");
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
fn random_scenarios_match_the_truth() {
    let mut compared = Compared::default();
    for seed in 0..150 {
        compared.check(&format!("seed {seed}"), &random_scenario(seed));
    }
    // Each kind of comparison happened.
    assert!(compared.reports > 80, "{compared:?}");
    assert!(compared.recovered > 10, "{compared:?}");
    assert!(compared.signposts > 10, "{compared:?}");
    assert!(compared.errors > 5 && compared.hangs > 3, "{compared:?}");
    assert!(
        compared.allocations > 20 && compared.wired > 20,
        "{compared:?}"
    );
    assert!(compared.memory > 50 && compared.states > 50, "{compared:?}");
}

/// Kernels are the shaders if there is a shader timeline and one encoder per interval: they have the
/// same number and duration.
#[test]
fn a_shader_timeline_matches_the_truth() {
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
    let truth = truth[0].optional.shaders.iter();
    let truth: Vec<_> = truth
        .map(|shader| (shader.name.as_str(), shader.count, Ns(shader.total_ns)))
        .collect();
    assert_eq!(found, truth);
}

/// Number of comparisons of each kind.
#[derive(Debug, Default)]
struct Compared {
    reports: u64,
    recovered: u64,
    memory: u64,
    allocations: u64,
    wired: u64,
    states: u64,
    signposts: u64,
    shaders: u64,
    errors: u64,
    hangs: u64,
}

impl Compared {
    fn check(&mut self, name: &str, scenario: &Scenario) {
        let folder = metalens_testing::scratch();
        for truth in write_export(scenario, folder.path(), false).unwrap() {
            let run = Some(u64::from(truth.run));
            // Runs without a report are compared in `truth`.
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
            // A part that is added to the simulator has to be compared, too.
            let OptionalTruth {
                performance: _,
                thermal: _,
                memory: _,
                allocations: _,
                wired: _,
                signposts: _,
                shaders: _,
                hangs: _,
                // Compared in `counters`.
                counters: _,
            } = &truth.optional;
            self.states += case.states();
            self.memory += case.memory();
            self.allocations += case.allocations();
            self.wired += case.wired();
            self.signposts += case.signposts();
            self.shaders += case.shaders();
            self.errors += case.errors();
            self.hangs += case.hangs();
            self.recovered += u64::from(case.recovered(folder.path()));
        }
    }
}

/// Truth of a run, with the report on it.
struct Case<'a> {
    name: &'a str,
    scenario: &'a Scenario,
    truth: &'a Truth,
    report: &'a Report,
}

impl Case<'_> {
    /// Returns whether the export has a table. The simulator leaves out those that would be empty.
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
        let area_ns = found.mean_depth * self.report.window.span_ns.number();
        let expected = truth.area_ns as f64;
        assert!(
            (area_ns - expected).abs() <= 1e-9 * expected,
            "{}: queue {area_ns} {expected}",
            self.name
        );
    }

    fn states(&self) -> u64 {
        let machine = &self.report.machine;
        let truth = self.truth.optional.performance.as_ref().unwrap();
        let mut compared = 0;
        if let Some(found) = &machine.performance {
            assert_eq!(states(&found.states), expected(truth), "{}", self.name);
            assert_eq!(found.unknown_ns, Ns(truth.uncovered_ns), "{}", self.name);
            compared += 1;
        } else {
            assert!(
                !self.has(Table::GpuPerformanceStateIntervals),
                "{}",
                self.name
            );
        }
        let truth = self.truth.optional.thermal.as_ref().unwrap();
        if let Some(found) = &machine.thermal {
            assert_eq!(states(&found.states), expected(truth), "{}", self.name);
            assert_eq!(found.unknown_ns, Ns(truth.uncovered_ns), "{}", self.name);
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
        let truth = self.truth.optional.memory.as_ref();
        let truth = truth.map(|known| [known.first_bytes, known.peak_bytes, known.last_bytes]);
        let truth = truth.map_or([None; 3], |known| known.map(|bytes| Some(Bytes(bytes))));
        assert_eq!(found, truth, "{}: memory", self.name);
        u64::from(truth[0].is_some())
    }

    /// Compares what was allocated, freed and live, also by caller, and the sums of its parts.
    fn allocations(&self) -> u64 {
        let (Some(found), Some(truth)) = (&self.report.memory, &self.truth.optional.allocations)
        else {
            let has_rows = self.truth.optional.allocations.is_some();
            let has_table = self.has(Table::MetalResourceAllocations);
            assert!(!has_rows || !has_table, "{}", self.name);
            return 0;
        };
        let whole = found.whole;
        let expected = Turnover {
            allocations: truth.allocations,
            inside_others: truth.inside_others,
            bytes: Bytes(truth.bytes),
            freed: truth.freed,
            freed_bytes: Bytes(truth.freed_bytes),
        };
        assert_eq!(whole, expected, "{}", self.name);
        assert_eq!(found.peak_bytes, Bytes(truth.peak_bytes), "{}", self.name);
        assert_eq!(found.freed_from_before.count, truth.freed_from_before);
        assert_eq!((found.unread, found.without_stack), (0, 0));

        assert_eq!(found.live.bytes, whole.bytes - whole.freed_bytes);
        assert_eq!(found.live.count, whole.allocations - whole.freed);
        let parts = [found.before_window, found.in_window, found.after_window];
        let sum = |of: fn(&Turnover) -> u64| parts.iter().map(of).sum::<u64>();
        assert_eq!(sum(|part| part.allocations), whole.allocations);
        assert_eq!(Bytes(sum(|part| part.bytes.0)), whole.bytes);
        assert_eq!(sum(|part| part.freed), whole.freed);
        assert_eq!(Bytes(sum(|part| part.freed_bytes.0)), whole.freed_bytes);

        if let (Some(outside), [only]) = (found.outside_phases, found.phases.as_slice()) {
            assert_eq!(outside.bytes + only.turnover.bytes, whole.bytes);
            assert_eq!(outside.freed + only.turnover.freed, whole.freed);
        }

        let callers = found.callers.iter().map(|caller| {
            let sums = (caller.allocations, caller.bytes.0, caller.live.bytes.0);
            (caller.name.clone().unwrap(), sums)
        });
        assert_eq!(callers.collect::<BTreeMap<_, _>>(), truth.callers);
        u64::from(whole.allocations > 0)
    }

    /// Compares what the driver wired and unwired.
    fn wired(&self) -> u64 {
        let (Some(found), Some(truth)) = (&self.report.machine.wiring, &self.truth.optional.wired)
        else {
            let has_table = self.has(Table::MetalDriverEventIntervals);
            assert!(
                self.truth.optional.wired.is_none() || !has_table,
                "{}",
                self.name
            );
            return 0;
        };
        let sum = |sum: CountedBytes| (sum.count, sum.bytes.0);
        let found = Wired {
            before_window: sum(found.before_window),
            in_window: sum(found.in_window),
            unwired: sum(found.unwire_requests),
            in_gaps_ns: found.in_gaps_ns.0,
        };
        assert_eq!(found, *truth, "{}: wired", self.name);
        found.in_window.0
    }

    /// Compares all signposts together, since processes may share a name. Events without a length are
    /// not phases.
    fn signposts(&self) -> u64 {
        if !self.has(Table::OsSignpost) {
            return 0;
        }
        let found = self.report.phases.signposts.iter();
        let mut found: Vec<_> = found
            .filter(|phase| phase.count > 0)
            .map(|phase| {
                let process = phase.process.clone().unwrap();
                (phase.name.clone(), process, phase.count, phase.total_ns.0)
            })
            .collect();
        let name = |pid: u32| {
            let mut all = self.scenario.process.iter();
            all.find(|process| process.pid == pid).unwrap().name.clone()
        };
        let truth = self.truth.optional.signposts.iter();
        let truth = truth.filter(|phase| phase.count > 0);
        let mut truth: Vec<_> = truth
            .map(|phase| {
                (
                    phase.name.clone(),
                    name(phase.pid),
                    phase.count,
                    phase.total_ns,
                )
            })
            .collect();
        found.sort();
        truth.sort();
        assert_eq!(found, truth, "{}: signposts", self.name);
        if self.has(Table::MetalApplicationEncodersList) {
            self.encoded();
        }
        truth.len() as u64
    }

    /// Compares the work that was encoded during each phase of the process, by kernel.
    fn encoded(&self) {
        for truth in &self.truth.optional.signposts {
            let mut phases = self.report.phases.signposts.iter();
            let found = phases.find(|phase| {
                phase.is_analyzed
                    && phase.name == truth.name
                    && phase.subsystem.as_ref() == Some(&truth.subsystem)
                    && phase.category.as_ref() == Some(&truth.category)
            });
            let is_analyzed = self.report.process.processes.iter();
            let mut pids = is_analyzed.map(|process| process.pid);
            let (Some(found), true) = (found, pids.any(|pid| pid == Some(truth.pid))) else {
                continue;
            };
            let Some(encoded) = &found.encoded else {
                panic!("{}: {} has no work", self.name, found.name);
            };
            let kernels = encoded.kernels.iter().map(|kernel| EncodedKernel {
                name: kernel.name.clone(),
                channel: kernel.channel.clone().unwrap(),
                instances: kernel.instances,
                total_ns: kernel.total_ns.0,
            });
            // Kernels of one name and channel differ by the origin of their names.
            let mut kernels: Vec<EncodedKernel> = kernels.collect();
            kernels.sort();
            kernels.dedup_by(|next, first| {
                let same = (&next.name, &next.channel) == (&first.name, &first.channel);
                if same {
                    first.instances += next.instances;
                    first.total_ns += next.total_ns;
                }
                same
            });
            if encoded.kernels_count <= 20 {
                assert_eq!(kernels, truth.encoded, "{}: {}", self.name, found.name);
            }
            let intervals = truth.encoded.iter().map(|kernel| kernel.instances);
            assert_eq!(encoded.intervals, intervals.sum::<u64>(), "{}", self.name);
        }
    }

    /// Checks that the shaders that ran are listed.
    fn shaders(&self) -> u64 {
        let listed = self.report.shaders.iter();
        let listed: Vec<&str> = listed.map(|shader| shader.name.as_str()).collect();
        for shader in &self.truth.optional.shaders {
            assert!(
                listed.contains(&shader.name.as_str()),
                "{}: {} is not in {listed:?}",
                self.name,
                shader.name
            );
        }
        self.truth.optional.shaders.len() as u64
    }

    /// Compares errors. A buffer is not known to be of the process if none of its rows names one.
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
            assert_eq!(found, self.truth.optional.hangs, "{}: hangs", self.name);
        }
        found
    }

    /// Checks that the tables with lost encodings recover all that they contain. Without any, the
    /// idle time stays as it was.
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
        let found = analyze(trace, &Request::default()).unwrap().report;
        let truth = self.truth.recovered_idle.or(self.truth.idle).unwrap();
        let (found, mut truth) = (
            serde_json::to_value(found).unwrap(),
            serde_json::to_value(truth).unwrap(),
        );
        super::truth::fold_idle(&found, &mut truth, self.name);
        let found = &found["idle"];
        for (key, value) in truth.as_object().unwrap() {
            assert_eq!(found.get(key), Some(value), "{}: {key}", self.name);
        }
        self.truth.recovered_idle.is_some()
    }
}

/// Returns a distribution as the simulator's type.
fn spread(found: Option<Distribution>) -> Spread {
    found.map_or_else(Spread::default, |found| Spread {
        count: found.count,
        min_ns: Some(found.min_ns.0),
        median_ns: Some(found.median_ns.0),
        p95_ns: Some(found.p95_ns.0),
        max_ns: Some(found.max_ns.0),
    })
}

/// Returns states by name: total, busy, and whether a part was induced.
fn states(found: &[StateTime]) -> Vec<(&str, u64, u64, bool)> {
    let found = found.iter();
    let mut found: Vec<_> = found
        .map(|state| {
            (
                state.state.as_str(),
                state.total_ns.0,
                state.busy_ns.0,
                state.induced_ns > Ns(0),
            )
        })
        .collect();
    found.sort_unstable();
    found
}

fn expected(truth: &States) -> Vec<(&str, u64, u64, bool)> {
    let truth = truth.states.iter();
    truth
        .map(|state| {
            (
                state.state.as_str(),
                state.total_ns,
                state.busy_ns,
                state.induced,
            )
        })
        .collect()
}
