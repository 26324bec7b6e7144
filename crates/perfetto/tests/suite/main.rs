//! Traces against the rules of their format, and against the analysis they
//! were made from.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a panic is the failure report, in the helpers too"
)]

mod checker;
mod held;

use std::path::{Path, PathBuf};

use metalens_analyzer::{Analysis, Cause, Error, Request, analyze, selection};
use metalens_simulator::{Scenario, random_scenario, write_export};
use metalens_trace::{Input, LoadOptions};
use serde_json::Value;

use checker::{Drawn, Slice, sum};

const SCENARIOS: [&str; 8] = [
    "eager",
    "fused",
    "renderer",
    "shared-machine",
    "awkward",
    "pipelined",
    "batched",
    "two-runs",
];

fn analysis(folder: &Path, request: &Request) -> Result<Analysis, Error> {
    let trace = Input::open(folder)?.load(&selection(), LoadOptions::default())?;
    analyze(trace, request)
}

fn analysis_of(scenario: &str, request: &Request) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    let scenario = Scenario::preset(scenario).unwrap();
    write_export(&scenario, folder.path(), false).unwrap();
    analysis(folder.path(), request).unwrap()
}

fn written(analysis: &Analysis) -> Vec<u8> {
    let mut out = Vec::new();
    metalens_perfetto::write(analysis, &mut out).unwrap();
    out
}

/// The trace keeps the format's rules, and draws what the analysis has, to the nanosecond.
fn check(what: &str, analysis: &Analysis) -> Drawn {
    let text = written(analysis);
    assert_eq!(text, written(analysis), "{what}: the same each time");
    let drawn = Drawn::checked(&text, what);
    let report = &analysis.report;

    assert_eq!(drawn.other["synthetic"], report.run.synthetic, "{what}");
    let pid = report.process.pid.map_or(100_001, u64::from);
    let process = &drawn.processes[&pid];
    assert!(
        process.starts_with(&report.process.name),
        "{what}: {process}"
    );

    gaps_are_tiled(what, analysis, &drawn, pid);
    causes_are_the_ledgers(what, analysis, &drawn);
    what_held_is_whole(what, analysis, &drawn);
    nobody_else_is_named(what, analysis, &text);
    channels_are_whole(what, analysis, &drawn, pid);
    let others = drawn.on(100_000, |track| track == "others");
    assert_eq!(sum(&others), report.busy.others_busy_ns, "{what}: others");
    drawn
}

/// Slices lie end to end in each gap, and nowhere else.
fn gaps_are_tiled(what: &str, analysis: &Analysis, drawn: &Drawn, pid: u64) {
    let idle = drawn.on(pid, |track| track == "idle: whose fault");
    assert_eq!(sum(&idle), analysis.report.gaps.total_ns, "{what}: idle");
    let mut at = 0;
    for gap in analysis.gaps() {
        let end_ns = gap.start_ns + gap.duration_ns;
        let mut next = gap.start_ns;
        while next < end_ns {
            assert_eq!(idle[at].start_ns, next, "{what}: slices tile their gap");
            next = idle[at].end_ns();
            at += 1;
        }
        assert_eq!(next, end_ns, "{what}: and end with it");
    }
    assert_eq!(at, idle.len(), "{what}: and there are no others");
}

/// Each cause has as much time as the ledger says.
fn causes_are_the_ledgers(what: &str, analysis: &Analysis, drawn: &Drawn) {
    let parts = &analysis.report.idle.parts;
    let idle = || drawn.slices.iter().filter(|slice| slice.category == "idle");
    for cause in Cause::ALL {
        let slices: Vec<&Slice> = idle().filter(|slice| slice.name == cause.name()).collect();
        assert_eq!(sum(&slices), parts.get(cause), "{what}: {}", cause.name());
    }
    // A stretch is called foreign where others were on the GPU, all of it.
    let others: Vec<(u64, u64)> = analysis.others().collect();
    for slice in idle().filter(|slice| slice.name == Cause::Contention.name()) {
        let inside = |&(start, end): &(u64, u64)| start <= slice.start_ns && slice.end_ns() <= end;
        assert!(others.iter().any(inside), "{what}: {slice:?}");
    }
}

/// States and named phases have as much time as the report says, and lie in the
/// window; so does the warm-up.
fn what_held_is_whole(what: &str, analysis: &Analysis, drawn: &Drawn) {
    let report = &analysis.report;
    let of = |category: &str, name: &str| -> Vec<&Slice> {
        let all = drawn.slices.iter();
        all.filter(|slice| slice.category == category && slice.name == name)
            .collect()
    };
    let held = ["performance", "phase", "warm-up"];
    for slice in &drawn.slices {
        let window = &report.window;
        let inside = window.start_ns <= slice.start_ns && slice.end_ns() <= window.end_ns;
        let is_held = held.contains(&slice.category.as_str());
        assert!(inside || !is_held, "{what}: {slice:?}");
    }
    for state in report
        .machine
        .performance
        .iter()
        .flat_map(|all| &all.states)
    {
        let slices = of("performance", &state.state);
        assert_eq!(sum(&slices), state.total_ns, "{what}: {}", state.state);
        let induced = slices
            .into_iter()
            .filter(|slice| slice.arguments.contains_key("induced"));
        let induced: Vec<&Slice> = induced.collect();
        assert_eq!(sum(&induced), state.induced_ns, "{what}: {}", state.state);
    }
    for phase in report.phases.signposts.iter().filter(|one| one.is_analyzed) {
        let slices = of("phase", &phase.name);
        assert_eq!(union_ns(&slices), phase.window_ns, "{what}: {}", phase.name);
    }
    let warm_up = report.phases.warm_up.as_ref();
    let warm_up = warm_up.filter(|one| one.end_ns > report.window.start_ns);
    let drawn: Vec<u64> = of("warm-up", "warm-up")
        .iter()
        .map(|slice| slice.end_ns())
        .collect();
    let expected = warm_up.map(|one| one.end_ns.min(report.window.end_ns));
    assert_eq!(drawn, Vec::from_iter(expected), "{what}: warm-up");
}

/// How long any of them held.
fn union_ns(slices: &[&Slice]) -> u64 {
    let mut spans: Vec<(u64, u64)> = slices
        .iter()
        .map(|slice| (slice.start_ns, slice.end_ns()))
        .collect();
    spans.sort_unstable();
    let (mut total, mut until) = (0, 0);
    for (start, end) in spans {
        total += end.max(until) - start.max(until);
        until = until.max(end);
    }
    total
}

/// Other processes' names are nowhere in the file, unless something of the
/// target's has the same.
fn nobody_else_is_named(what: &str, analysis: &Analysis, text: &[u8]) {
    let report = &analysis.report;
    let text = std::str::from_utf8(text).unwrap();
    let own = serde_json::to_string(&(&report.process, &report.kernels)).unwrap();
    let others = report.processes.iter().filter(|one| !one.is_analyzed);
    let others = others.map(|one| one.name.as_str());
    let loggers = report
        .phases
        .signposts
        .iter()
        .filter(|one| !one.is_analyzed);
    let loggers = loggers.flat_map(|one| [Some(one.name.as_str()), one.process.as_deref()]);
    for name in others.chain(loggers.flatten()) {
        let quoted = serde_json::to_string(name).unwrap();
        let name = &quoted[1..quoted.len() - 1];
        // A word of this crate's own says nothing of anybody.
        let is_own = own.contains(name) || name.len() < 4;
        assert!(is_own || !text.contains(name), "{what}: {name}");
    }
}

/// Every interval is there once, on its channel, under its name.
fn channels_are_whole(what: &str, analysis: &Analysis, drawn: &Drawn, pid: u64) {
    let mut intervals = 0;
    for channel in &analysis.report.channels {
        let name = channel.name.as_deref().unwrap_or("(no channel)");
        let lane = |track: &str| track == name || track.starts_with(&format!("{name} ("));
        let slices = drawn.on(pid, lane);
        assert_eq!(sum(&slices), channel.sum_ns, "{what}: {name}");
        intervals += slices.len();
    }
    assert_eq!(intervals, analysis.intervals().count(), "{what}: intervals");
    let mut drawn_names: Vec<&str> = drawn
        .slices
        .iter()
        .filter(|slice| slice.category == "gpu")
        .map(|slice| slice.name.as_str())
        .collect();
    let mut names: Vec<&str> = analysis.intervals().map(|one| one.kernel).collect();
    drawn_names.sort_unstable();
    names.sort_unstable();
    assert_eq!(drawn_names, names, "{what}: kernels by name");
}

#[test]
fn scenarios() {
    for scenario in SCENARIOS {
        check(scenario, &analysis_of(scenario, &Request::default()));
    }
}

#[test]
fn random_scenarios() {
    let mut checked = 0;
    for seed in 0..100 {
        let folder = tempfile::tempdir().unwrap();
        write_export(&random_scenario(seed), folder.path(), false).unwrap();
        // Some have nobody on the GPU.
        if let Ok(analysis) = analysis(folder.path(), &Request::default()) {
            check(&format!("seed {seed}"), &analysis);
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked}");
}

/// A window in the middle, whose edges cut intervals and gaps. What is said of
/// an interval or a completion is what the whole recording says, or nothing.
#[test]
fn a_window_that_cuts() {
    for scenario in ["eager", "renderer", "pipelined", "batched"] {
        let analysis = analysis_of(scenario, &Request::default());
        let window = &analysis.report.window;
        let at = |part: u64| window.start_ns + window.span_ns * part / 32;
        let mut windows = vec![(at(5), at(8)), (at(2), at(3)), (at(10), at(31))];
        // And one that ends between two intervals of one command buffer.
        let intervals: Vec<_> = analysis.intervals().collect();
        let apart = intervals.windows(2).find(|pair| {
            let same = pair[0].command_buffer == pair[1].command_buffer;
            same && pair[0].end_ns + 1 < pair[1].start_ns
        });
        windows.extend(apart.map(|pair| (at(0), pair[1].start_ns - 1)));
        let whole = check(scenario, &analysis);
        for (from_ns, to_ns) in windows {
            let request = Request {
                from_ns: Some(from_ns),
                to_ns: Some(to_ns),
                ..Request::default()
            };
            let what = format!("{scenario} {from_ns}..{to_ns}");
            let part = check(&what, &analysis_of(scenario, &request));
            for slice in &part.slices {
                let mut all = whole.slices.iter();
                let found = all.any(|one| is_part(slice, one));
                assert!(found, "{what}: {slice:?}");
            }
        }
    }
}

/// Whether a slice says nothing that the same slice of the whole recording does not.
fn is_part(slice: &Slice, whole: &Slice) -> bool {
    let same = slice.category == whole.category
        && slice.name == whole.name
        && slice.start_ns >= whole.start_ns
        && slice.end_ns() <= whole.end_ns();
    let known = |(key, value)| whole.arguments.get(key) == Some(value);
    match slice.category.as_str() {
        // A gap that is cut has another length.
        "idle" | "others" | "performance" | "phase" => same,
        // Another window has another beginning.
        "warm-up" => true,
        "gpu" => same && slice.arguments.iter().all(known),
        _ => {
            let all = slice.length_ns == whole.length_ns && slice.start_ns == whole.start_ns;
            let unknown = slice.length_ns == 0 && slice.start_ns == whole.end_ns();
            same && (all || unknown) && slice.arguments == whole.arguments
        }
    }
}

/// Vertex and Fragment work at once, and several frames do.
#[test]
fn what_overlaps_has_lanes() {
    let drawn = check("renderer", &analysis_of("renderer", &Request::default()));
    let tracks: Vec<&str> = drawn.tracks.values().map(String::as_str).collect();
    for name in ["Vertex", "Fragment"] {
        assert!(tracks.contains(&name), "{tracks:?}");
    }
}

/// In the eager scenario every interval is encoded, runs, and is heard of.
#[test]
fn arrows_go_all_the_way() {
    let analysis = analysis_of("eager", &Request::default());
    let drawn = check("eager", &analysis);
    let whole = drawn.arrows.values().filter(|stops| stops.len() == 3);
    assert_eq!(whole.count(), analysis.intervals().count());
    for stops in drawn.arrows.values() {
        let kinds: Vec<&str> = stops
            .iter()
            .map(|stop| stop.slice_category.as_str())
            .collect();
        assert_eq!(kinds, ["encode", "gpu", "completion"]);
    }
}

#[test]
fn counters_are_the_reports() {
    let analysis = analysis_of("shared-machine", &Request::default());
    let report = &analysis.report;
    let drawn = check("shared-machine", &analysis);
    let pid = report.process.pid.map(u64::from).unwrap();
    let busy = &drawn.counters[&(pid, "GPU busy".to_owned())];
    assert_eq!(busy.len(), report.shape.utilization.len() + 1);
    // Their mean over time is the ratio.
    let area = |points: &[(u64, f64)]| -> f64 {
        let pairs = points.windows(2);
        #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
        pairs
            .map(|pair| (pair[1].0 - pair[0].0) as f64 * pair[0].1)
            .sum()
    };
    #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
    let span = report.window.span_ns as f64;
    let ratio = area(busy) / span / 100.0;
    assert!((ratio - report.busy.ratio.unwrap()).abs() < 1e-4, "{ratio}");
    let others = &drawn.counters[&(100_000, "GPU busy".to_owned())];
    assert!(area(others) > 0.0);
}

#[test]
fn real_recordings() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/real");
    let folder = std::env::var_os("METALENS_REAL").map_or(beside, PathBuf::from);
    if !folder.is_dir() {
        eprintln!("skipped: no real recordings at hand (METALENS_REAL names their folder)");
        return;
    }
    for name in ["m1-launched-1000", "m1-bundle-and-export/export"] {
        let analysis = analysis(&folder.join(name), &Request::default()).unwrap();
        let drawn = check(name, &analysis);
        assert_eq!(drawn.other["synthetic"], Value::Bool(false));
    }
}
