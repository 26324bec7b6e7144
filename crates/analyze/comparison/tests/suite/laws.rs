//! Checks what is true of every comparison.

use std::slice::from_ref;

use metalens_analyzer::Report;
use metalens_comparison::{
    Baseline, Change, ChangeClass, CompareOptions, Comparison, Direction, Gate, GateVerdict,
    KernelFigure, KernelLimit, Limit, MetricGroup, MetricLimit, Number, Runs, compare,
    compare_runs, judge,
};
use metalens_message::Ns;
use serde_json::Value;

use super::{SMALL, report, reports};

fn options() -> CompareOptions {
    CompareOptions {
        taken_as_same: true,
        ..CompareOptions::default()
    }
}

/// Returns a scenario with slower work, one more kernel name, and one kernel less.
fn slower() -> String {
    SMALL
        .replace("\"softmax\"", "\"softmax2\", \"matmul\"")
        .replace("[\"9us\", \"10us\"]", "[\"12us\", \"13us\"]")
}

fn mirrored(class: ChangeClass) -> ChangeClass {
    match class {
        ChangeClass::Grown => ChangeClass::Shrunk,
        ChangeClass::Shrunk => ChangeClass::Grown,
        ChangeClass::Added => ChangeClass::Removed,
        ChangeClass::Removed => ChangeClass::Added,
        same => same,
    }
}

fn check_mirror(there: &Change, back: &Change) {
    assert_eq!((&there.base, &there.new), (&back.new, &back.base));
    assert_eq!(mirrored(there.class), back.class, "{there:?} {back:?}");
    let by = |change: &Change| change.absolute.map(Number::get);
    assert_eq!(by(there), by(back).map(|by| -by));
    let ends = |change: &Change| {
        change
            .interval
            .map(|interval| (interval.low.get(), interval.high.get()))
    };
    assert_eq!(ends(there), ends(back).map(|(low, high)| (-high, -low)));
    let direction = |direction: Direction| match direction {
        Direction::Better => Direction::Worse,
        Direction::Worse => Direction::Better,
    };
    assert_eq!(there.direction, back.direction.map(direction));
}

fn check_mirrors(base: &[Report], new: &[Report]) -> Comparison {
    let there = compare(base, new, &options());
    let back = compare(new, base, &options());
    assert_eq!(there.metrics.len(), back.metrics.len());
    for (metric, other) in there.metrics.iter().zip(&back.metrics) {
        assert_eq!(metric.id, other.id);
        check_mirror(&metric.change, &other.change);
    }
    assert_eq!(there.kernels.len(), back.kernels.len());
    for kernel in &there.kernels {
        let mut all = back.kernels.iter();
        let other =
            all.find(|other| (&other.name, &other.channel) == (&kernel.name, &kernel.channel));
        let other = other.unwrap();
        assert_eq!(mirrored(kernel.class), other.class, "{}", kernel.name);
        check_mirror(&kernel.total_ns, &other.total_ns);
        check_mirror(&kernel.instances, &other.instances);
        check_mirror(&kernel.med_ns, &other.med_ns);
    }
    assert_eq!(there.comparable.comparable, back.comparable.comparable);
    there
}

#[test]
fn swapped_sides_mirror_each_other() {
    let (base, new) = (reports(SMALL, 0..3), reports(&slower(), 10..13));
    let found = check_mirrors(&base, &new);
    let class = |name: &str| {
        let kernel = found.kernels.iter().find(|kernel| kernel.name == name);
        kernel.map(|kernel| kernel.class)
    };
    assert_eq!(class("softmax"), Some(ChangeClass::Removed));
    assert_eq!(class("softmax2"), Some(ChangeClass::Added));
    assert_eq!(class("matmul"), Some(ChangeClass::Grown));

    check_mirrors(&base[..1], &new[..1]);
    check_mirrors(&base[..2], &new);
    check_mirrors(&[], &new);
}

#[test]
fn equal_sides_are_unchanged() {
    let all = reports(SMALL, 0..1);
    let three = [all[0].clone(), all[0].clone(), all[0].clone()];
    for runs in [&all[..], &three[..]] {
        let found = compare(runs, runs, &options());
        assert!(found.comparable.comparable, "{:?}", found.comparable);
        for metric in &found.metrics {
            assert_eq!(metric.change.class, ChangeClass::Unchanged, "{}", metric.id);
            assert_eq!(metric.change.absolute.map(Number::get), Some(0.0));
        }
        for kernel in &found.kernels {
            assert_eq!(kernel.class, ChangeClass::Unchanged, "{}", kernel.name);
        }
        assert!(
            found
                .moved
                .iter()
                .all(|one| one.class == ChangeClass::Unchanged)
        );
    }
}

/// A comparison with a baseline equals the comparison with its runs.
#[test]
fn a_baseline_reads_back() {
    let (base, new) = (reports(SMALL, 0..4), reports(&slower(), 10..13));
    let baseline = Baseline::from_reports(&base).unwrap();
    let text = baseline.text().unwrap();
    assert_eq!(Baseline::from_reports(&base).unwrap().text().unwrap(), text);
    let read = Baseline::parse(&text).unwrap();
    assert_eq!(read, baseline);

    let new_runs = Runs::from_reports(&new);
    let mut from_file = compare_runs(&read.runs, &new_runs, &options());
    let from_reports = compare(&base, &new, &options());
    // The file does not keep the folders of the paths.
    from_file.base = from_reports.base.clone();
    assert_eq!(from_file, from_reports);
    // Each list has one line, so that people can review the file.
    let busy = text.lines().find(|line| line.contains("\"busy.busy_ns\""));
    assert!(
        busy.unwrap().contains('[') && busy.unwrap().contains(']'),
        "{busy:?}"
    );
    assert!(
        !text.contains(std::env::temp_dir().to_str().unwrap()),
        "{text}"
    );
}

/// Runs of another day are added as if all had been saved at once, whatever they have that others lack.
#[test]
fn runs_are_added_to_a_baseline() {
    let mut all = reports(SMALL, 0..5);
    all[1].kernels[0].name = "an earlier name".to_owned();
    all[3].kernels[0].name = "zz".to_owned();
    let performance = all[4].machine.performance.as_mut().unwrap();
    performance.states[0].state = "Minimum".to_owned();
    let whole = Baseline::from_reports(&all).unwrap();
    assert_eq!(whole.runs.performance.len(), 2);
    for cut in [3, 4] {
        let first = Baseline::from_reports(&all[..cut]).unwrap();
        assert_eq!(first.with(&all[cut..]).unwrap(), whole, "{cut}");
    }
    let said = whole.with(&all[..1]).unwrap_err().to_string();
    assert!(said.contains("a baseline needs different runs"), "{said}");
}

#[test]
fn unsuitable_runs_and_files_are_refused() {
    let all = reports(SMALL, 0..3);
    assert!(
        Baseline::from_reports(&all[..2])
            .unwrap_err()
            .to_string()
            .contains("at least 3 runs, not 2")
    );

    let mut other = all.clone();
    other[1].run.device.os = Some("another".to_owned());
    let said = Baseline::from_reports(&other).unwrap_err().to_string();
    assert!(
        said.contains("system another and macOS 26.0 (25A0000)"),
        "{said}"
    );
    other[1].run.device.os.clone_from(&all[1].run.device.os);
    other[1].process.name = "another".to_owned();
    let said = Baseline::from_reports(&other).unwrap_err().to_string();
    assert!(said.contains("program another and bench"), "{said}");

    let twice = [all[0].clone(), all[1].clone(), all[0].clone()];
    let said = Baseline::from_reports(&twice).unwrap_err().to_string();
    assert!(said.contains("a baseline needs different runs"), "{said}");

    let text = Baseline::from_reports(&all).unwrap().text().unwrap();
    let check = |text: &str, expected: &str| {
        let said = Baseline::parse(text).unwrap_err().to_string();
        assert!(said.contains(expected), "{said}");
    };
    check("{}", "not a baseline: missing field");
    check(
        &text.replace("metalens.baseline/1", "metalens.baseline/9"),
        "metalens.baseline/9",
    );

    let line = text
        .lines()
        .find(|line| line.contains("\"gaps.count\""))
        .unwrap();
    check(
        &text.replace(line, "\"gaps.count\": [1],"),
        "a list does not have one value for each run",
    );
    check(
        &text.replace(line, ""),
        "metrics are missing: gaps.count; save the baseline again",
    );

    let mut without: Value = serde_json::from_str(&text).unwrap();
    without["kernels"].as_array_mut().unwrap().pop();
    check(
        &without.to_string(),
        "kernels are missing: the instances of run 1",
    );

    let mut same: Value = serde_json::from_str(&text).unwrap();
    for values in same["metrics"].as_object_mut().unwrap().values_mut() {
        values[2] = values[0].clone();
    }
    for kernel in same["kernels"].as_array_mut().unwrap() {
        kernel["instances"][2] = kernel["instances"][0].clone();
    }
    check(&same.to_string(), "a baseline needs different runs");
}

/// The same run is recognized however it was read. Another part of it is another run.
#[test]
fn a_run_that_is_given_twice_is_found() {
    let all = reports(SMALL, 0..3);
    let check = |change: fn(&mut Report), is_same: bool| {
        let mut again = all[0].clone();
        again.source.path = "again".to_owned();
        change(&mut again);
        let side = [all[0].clone(), all[1].clone(), again.clone()];
        let repeated = Runs::from_reports(&side).repeated();
        assert_eq!(
            repeated.map(|one| one.again),
            is_same.then(|| "again".to_owned())
        );
        let found = compare(&side[..2], &[again, all[2].clone()], &options());
        let notes = found.notes.iter();
        let note = notes.filter(|note| {
            note.text()
                .contains("the same run is on both sides (again)")
        });
        assert_eq!(note.count() == 1, is_same, "{:?}", found.notes);
        assert_eq!(found.method.confidence.is_none(), is_same);
        let intervals = found.metrics.iter().map(|metric| metric.change.interval);
        assert!(!is_same || intervals.flatten().count() == 0);
    };
    check(|_| {}, true);
    // An export may lack tables that the bundle has.
    check(|again| again.machine.driver = None, true);
    check(|again| again.latency.completion = None, true);
    check(|again| again.window.span_ns += Ns(1), false);
    check(|again| again.process.name = "another".to_owned(), false);
}

/// Idle time by cause is compared only if little of it has an unknown cause.
#[test]
fn unknown_causes_are_not_compared() {
    let report = report(SMALL, 0);
    let check = |unexplained: u64, is_known: bool| {
        let mut new = report.clone();
        let idle = &mut new.idle;
        idle.parts.unknown_ns = idle.total_ns * unexplained / 100;
        idle.total_ns += idle.parts.unknown_ns;
        let found = compare(
            from_ref(&report),
            from_ref(&new),
            &CompareOptions::default(),
        );
        for metric in found
            .metrics
            .iter()
            .filter(|metric| metric.group == MetricGroup::Idle)
        {
            let is_told = metric.change.new.median.is_some();
            assert_eq!(
                is_told,
                is_known || metric.id == "idle.unknown_ns",
                "{}",
                metric.id
            );
        }
        let is_noted = found
            .notes
            .iter()
            .any(|note| note.text().contains("of the idle time of new is unknown"));
        assert_eq!(is_noted, !is_known, "{:?}", found.notes);
    };
    check(0, true);
    check(4, true);
    check(6, false);
    check(100, false);
}

/// A program without a gap keeps the limits of gaps. One that begins to have gaps is judged by the
/// time it takes.
#[test]
fn without_gaps_a_limit_on_gaps_is_kept() {
    let gaps = report(SMALL, 0);
    let mut none = gaps.clone();
    none.gaps.count = 0;
    none.gaps.total_ns = Ns(0);
    // Two runs that are alike in all else are one.
    none.busy.sum_ns += Ns(1);
    for gap in [
        &mut none.gaps.mean_ns,
        &mut none.gaps.median_ns,
        &mut none.gaps.p95_ns,
        &mut none.gaps.max_ns,
    ] {
        *gap = None;
    }
    let mean = MetricLimit {
        steps: None,
        id: "gaps.mean_ns".to_owned(),
        limit: Limit {
            grow: Some(0.1),
            ..Limit::default()
        },
    };
    let default = Gate::default();
    let gate = Gate {
        metrics: [default.metrics, vec![mean]].concat(),
        ..Gate::default()
    };
    let check = |base: &Report, new: &Report, expected: [GateVerdict; 2]| {
        let compared = compare(from_ref(base), from_ref(new), &CompareOptions::default());
        let found = judge(&compared, &gate);
        let rows = found
            .rows
            .iter()
            .filter(|row| row.what.starts_with("gaps."));
        let verdicts: Vec<GateVerdict> = rows.map(|row| row.verdict).collect();
        assert_eq!(verdicts, expected, "{found:#?}");
        assert_eq!(found.missed, expected.contains(&Miss));
    };

    use GateVerdict::{Miss, NotMeasurable, Pass};
    check(&gaps, &none, [Pass; 2]);
    let mut again = none.clone();
    again.busy.sum_ns += Ns(1);
    check(&none, &again, [Pass; 2]);
    check(&none, &gaps, [NotMeasurable; 2]);
    // If there are gaps, their length is missing.
    none.gaps.count = 1;
    check(&gaps, &none, [Miss, Pass]);
}

/// Edited reports with missing, repeated or huge values are compared without a panic.
#[test]
fn hostile_reports_are_compared() {
    let whole = report(SMALL, 0);
    let mut empty = whole.clone();
    empty.kernels.clear();
    empty.machine.performance = None;
    empty.window.span_ns = Ns(0);
    let mut twice = whole.clone();
    twice.kernels.extend(whole.kernels.clone());
    let mut huge = whole.clone();
    huge.busy.sum_ns = Ns(u64::MAX);
    huge.kernels[0].total_ns = Ns(u64::MAX);
    let found = check_mirrors(from_ref(&whole), from_ref(&empty));
    assert!(
        found
            .kernels
            .iter()
            .all(|kernel| kernel.class == ChangeClass::Removed)
    );
    check_mirrors(&[empty.clone(), whole.clone()], &[twice, huge, empty]);
    check_mirrors(&[], &[]);
}

/// A program that repeats a step: each command buffer has so many GPU intervals of 20 µs, and the next
/// one is encoded when it is complete.
fn repeated(steps: u32, intervals: u32) -> Report {
    let toml = format!(
        "[[process]]\nname = \"bench\"\npid = 4101\nrole = \"target\"\n[[process.stream]]\n\
         count = {}\nsubmit = \"{}\"\nencoders-per-buffer = {intervals}\n\
         encoder-label = [\"a\", \"b\"]\nduration = \"20us\"\nencode = \"10us\"\n\
         launch = \"40us\"\ncompletion = \"40us\"\nhost = \"10us\"\n",
        steps * intervals,
        if intervals == 1 { "sync" } else { "batched" },
    );
    report(&toml, 1)
}

/// The identical program has the same times per unit, however often it repeats its step.
#[test]
fn more_repetitions_are_no_change_per_unit() {
    const STEPS: [u32; 4] = [10, 20, 100, 1_000];
    for intervals in [1, 4] {
        let all = STEPS.map(|steps| repeated(steps, intervals));
        for (few, many) in all
            .iter()
            .flat_map(|few| all.iter().map(move |many| (few, many)))
        {
            let found = compare(from_ref(few), from_ref(many), &CompareOptions::default());
            let work = found.work;
            assert_eq!(work.per_unit.is_empty(), few.counts == many.counts);
            for metric in &work.per_unit {
                let change = &metric.change;
                let counts = (few.counts.intervals, many.counts.intervals);
                assert_eq!(
                    change.class,
                    ChangeClass::Unchanged,
                    "{} {counts:?}: {change:?}",
                    metric.id
                );
            }
        }
    }
}

/// Less work in less time is neither better nor worse, and neither are fewer waits.
#[test]
fn totals_of_other_work_have_no_direction() {
    let (base, new) = (repeated(40, 1), repeated(20, 1));
    let found = compare(from_ref(&base), from_ref(&new), &CompareOptions::default());
    for id in ["window.span_ns", "gaps.total_ns", "idle.serialized"] {
        let metric = found.metrics.iter().find(|metric| metric.id == id).unwrap();
        assert_eq!(metric.change.class, ChangeClass::Shrunk, "{id}");
        assert_eq!(metric.change.direction, None, "{id}");
    }
}

/// A caveat of one side is said, because the circumstances may not show it.
#[test]
fn a_caveat_of_one_side_is_noted() {
    let base = report(SMALL, 0);
    let mut new = base.clone();
    let mut caveat = base.findings.first().unwrap().clone();
    caveat.severity = metalens_analyzer::Severity::Caveat;
    caveat.id = "low-performance-state".to_owned();
    caveat.title = "the GPU ran at its lowest clock".to_owned();
    new.findings.push(caveat.clone());
    let notes = |base: &Report, new: &Report| {
        let found = compare(from_ref(base), from_ref(new), &CompareOptions::default());
        let notes = found.notes.into_iter().map(|note| note.message.text);
        let notes = notes.filter(|note| note.contains("lowest clock"));
        notes.collect::<Vec<_>>()
    };
    assert_eq!(
        notes(&base, &new),
        ["caveat of new: the GPU ran at its lowest clock"]
    );
    let mut both = base.clone();
    both.findings.push(caveat);
    assert!(notes(&both, &new).is_empty());
}

/// A kernel's name that nothing has is probably a typing error, as a figure's is.
#[test]
fn a_mistyped_kernel_is_guessed() {
    let base = report(SMALL, 0);
    let found = compare(from_ref(&base), from_ref(&base), &CompareOptions::default());
    let check = |pattern: &str, expected: &str| {
        let gate = Gate {
            source: "a test".into(),
            metrics: Vec::new(),
            kernels: vec![KernelLimit {
                is_of_as_many_steps: false,
                pattern: pattern.to_owned(),
                figure: KernelFigure::Total,
                share: 0.0,
                limit: Limit {
                    grow: Some(0.05),
                    ..Limit::default()
                },
            }],
            runs: None,
            may_change_work: false,
            until_decided: false,
            allow_inconclusive: false,
        };
        let rows = judge(&found, &gate).rows;
        assert_eq!(rows[0].why.text, expected, "{pattern}");
    };
    const NONE: &str = "no kernel has a matching name";
    check("matmull", &format!("{NONE}; did you mean matmul?"));
    check("softmx*", &format!("{NONE}; did you mean softmax?"));
    check("zzz", NONE);
}
