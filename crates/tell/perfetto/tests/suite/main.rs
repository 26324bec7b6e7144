//! Checks traces against the rules of their format, and against the analysis they were made from.

#![expect(
    clippy::unwrap_used,
    reason = "a panic is the failure report, in the helpers too"
)]

mod checker;
mod states;

use metalens_analyzer::{Analysis, Cause, Request};
use metalens_message::{Ns, Quantity};
use metalens_simulator::{Scenario, random_scenario};
use metalens_testing::{analyze_input, analyze_scenario};
use serde_json::Value;

use checker::{DrawnTrace, Slice, sum};

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

fn analysis_of(scenario: &str, request: &Request) -> Analysis {
    analyze_scenario(&Scenario::preset(scenario).unwrap(), request).unwrap()
}

fn written(analysis: &Analysis) -> Vec<u8> {
    let mut out = Vec::new();
    metalens_perfetto::write(analysis, &mut out).unwrap();
    out
}

/// Checks that the trace keeps the format's rules and draws what the analysis has, to the
/// nanosecond.
fn check(what: &str, analysis: &Analysis) -> DrawnTrace {
    let text = written(analysis);
    assert_eq!(text, written(analysis), "{what}: the same each time");
    let drawn = DrawnTrace::read_checked(&text, what);
    let report = &analysis.report;

    assert_eq!(drawn.other["synthetic"], report.run.synthetic, "{what}");
    let pid = report.process.pid.map_or(100_001, u64::from);
    let process = &drawn.processes[&pid];
    assert!(
        process.starts_with(&report.process.name),
        "{what}: {process}"
    );

    check_gaps(what, analysis, &drawn, pid);
    check_causes(what, analysis, &drawn);
    check_states(what, analysis, &drawn);
    check_names(what, analysis, &text);
    check_channels(what, analysis, &drawn, pid);
    let others = drawn.on(100_000, |track| track == "others");
    assert_eq!(
        Some(Ns(sum(&others))),
        report.busy.others_busy_ns,
        "{what}: others"
    );
    drawn
}

/// Checks that slices are end to end in each gap, and nowhere else.
fn check_gaps(what: &str, analysis: &Analysis, drawn: &DrawnTrace, pid: u64) {
    let idle = drawn.on(pid, |track| track == "idle time by cause");
    assert_eq!(sum(&idle), analysis.report.gaps.total_ns.0, "{what}: idle");
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

/// Checks that each cause has as much time as in the report.
fn check_causes(what: &str, analysis: &Analysis, drawn: &DrawnTrace) {
    let parts = &analysis.report.idle.parts;
    let idle = || drawn.slices.iter().filter(|slice| slice.category == "idle");
    for cause in Cause::ALL {
        let slices: Vec<&Slice> = idle().filter(|slice| slice.name == cause.name()).collect();
        assert_eq!(sum(&slices), parts.get(cause).0, "{what}: {}", cause.name());
    }
    // During contention another process used the GPU all the time.
    let others: Vec<(u64, u64)> = analysis.others().collect();
    for slice in idle().filter(|slice| slice.name == Cause::Contention.name()) {
        let inside = |&(start, end): &(u64, u64)| start <= slice.start_ns && slice.end_ns() <= end;
        assert!(others.iter().any(inside), "{what}: {slice:?}");
    }
}

/// Checks that states and named phases have as much time as in the report, and are in the window.
fn check_states(what: &str, analysis: &Analysis, drawn: &DrawnTrace) {
    let report = &analysis.report;
    let slices_of = |category: &str, name: &str| -> Vec<&Slice> {
        let all = drawn.slices.iter();
        all.filter(|slice| slice.category == category && slice.name == name)
            .collect()
    };
    let lasting = ["performance", "phase", "step"];
    for slice in &drawn.slices {
        let window = &report.window;
        let inside = window.start_ns.0 <= slice.start_ns && slice.end_ns() <= window.end_ns.0;
        let is_lasting = lasting.contains(&slice.category.as_str());
        assert!(inside || !is_lasting, "{what}: {slice:?}");
    }
    for state in report
        .machine
        .performance
        .iter()
        .flat_map(|all| &all.states)
    {
        let slices = slices_of("performance", &state.state);
        assert_eq!(sum(&slices), state.total_ns.0, "{what}: {}", state.state);
        let induced = slices
            .into_iter()
            .filter(|slice| slice.arguments.contains_key("induced"));
        let induced: Vec<&Slice> = induced.collect();
        assert_eq!(sum(&induced), state.induced_ns.0, "{what}: {}", state.state);
    }

    for phase in report
        .phases
        .signposts
        .iter()
        .filter(|phase| phase.is_analyzed)
    {
        let slices = slices_of("phase", &phase.name);
        assert_eq!(
            union_ns(&slices),
            phase.window_ns.0,
            "{what}: {}",
            phase.name
        );
    }

    let steps = analysis.steps();
    let slices = drawn.slices.iter();
    let drawn: Vec<(&str, u64)> = slices
        .filter(|slice| slice.category == "step")
        .map(|slice| (slice.name.as_str(), slice.end_ns()))
        .collect();
    let expected: Vec<(&str, u64)> = steps
        .iter()
        .map(|step| (step.what.as_str(), step.end_ns))
        .collect();
    assert_eq!(drawn, expected, "{what}: steps");
}

/// Returns the length of the union of slices.
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

/// Checks that the file has no names of other processes, unless something of the analyzed process
/// has the same name.
fn check_names(what: &str, analysis: &Analysis, text: &[u8]) {
    let report = &analysis.report;
    let text = std::str::from_utf8(text).unwrap();
    let own = serde_json::to_string(&(&report.process, &report.kernels)).unwrap();
    let others = report
        .processes
        .iter()
        .filter(|process| !process.is_analyzed);
    let others = others.map(|process| process.name.as_str());
    let loggers = report
        .phases
        .signposts
        .iter()
        .filter(|phase| !phase.is_analyzed);
    let loggers = loggers.flat_map(|phase| [Some(phase.name.as_str()), phase.process.as_deref()]);
    for name in others.chain(loggers.flatten()) {
        let quoted = serde_json::to_string(name).unwrap();
        let name = &quoted[1..quoted.len() - 1];
        // A short name may be part of a word of this crate.
        let is_own = own.contains(name) || name.len() < 4;
        assert!(is_own || !text.contains(name), "{what}: {name}");
    }
}

/// Checks that every interval is there once, on its channel, with its name.
fn check_channels(what: &str, analysis: &Analysis, drawn: &DrawnTrace, pid: u64) {
    let mut intervals = 0;
    for channel in &analysis.report.channels {
        let name = channel.name.as_deref().unwrap_or("(no channel)");
        let lane = |track: &str| track == name || track.starts_with(&format!("{name} ("));
        let slices = drawn.on(pid, lane);
        assert_eq!(sum(&slices), channel.sum_ns.0, "{what}: {name}");
        intervals += slices.len();
    }
    assert_eq!(intervals, analysis.intervals().count(), "{what}: intervals");

    let mut drawn_names: Vec<&str> = drawn
        .slices
        .iter()
        .filter(|slice| slice.category == "gpu")
        .map(|slice| slice.name.as_str())
        .collect();
    let mut names: Vec<&str> = analysis
        .intervals()
        .map(|interval| interval.kernel)
        .collect();
    drawn_names.sort_unstable();
    names.sort_unstable();
    assert_eq!(drawn_names, names, "{what}: kernels by name");
}

#[test]
fn traces_of_built_in_scenarios_are_valid() {
    for scenario in SCENARIOS {
        check(scenario, &analysis_of(scenario, &Request::default()));
    }
}

#[test]
fn traces_of_random_scenarios_are_valid() {
    let mut checked = 0;
    for seed in 0..100 {
        // Some scenarios have no process on the GPU.
        if let Ok(analysis) = analyze_scenario(&random_scenario(seed), &Request::default()) {
            check(&format!("seed {seed}"), &analysis);
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked}");
}

/// Checks windows whose edges cut intervals and gaps. Each fact about an interval or a completion
/// is that of the whole recording, or missing.
#[test]
fn windows_that_cut_intervals() {
    for scenario in ["eager", "renderer", "pipelined", "batched"] {
        let analysis = analysis_of(scenario, &Request::default());
        let window = &analysis.report.window;
        let at = |part: u64| (window.start_ns + window.span_ns * part / 32).0;
        let mut windows = vec![(at(5), at(8)), (at(2), at(3)), (at(10), at(31))];

        // Another window ends between two intervals of one command buffer.
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
                let found = all.any(|other| is_part(slice, other));
                assert!(found, "{what}: {slice:?}");
            }
        }
    }
}

/// Returns whether a slice has only facts that the same slice of the whole recording has.
fn is_part(slice: &Slice, whole: &Slice) -> bool {
    let same = slice.category == whole.category
        && slice.name == whole.name
        && slice.start_ns >= whole.start_ns
        && slice.end_ns() <= whole.end_ns();
    let known = |(key, value)| whole.arguments.get(key) == Some(value);
    match slice.category.as_str() {
        // A cut gap has another length.
        "idle" | "others" | "performance" | "phase" | "step" => same,
        "gpu" => same && slice.arguments.iter().all(known),
        _ => {
            let all = slice.length_ns == whole.length_ns && slice.start_ns == whole.start_ns;
            let unknown = slice.length_ns == 0 && slice.start_ns == whole.end_ns();
            same && (all || unknown) && slice.arguments == whole.arguments
        }
    }
}

/// Checks that vertex and fragment work of several frames, which overlaps, has lanes.
#[test]
fn overlapping_work_has_lanes() {
    let drawn = check("renderer", &analysis_of("renderer", &Request::default()));
    let tracks: Vec<&str> = drawn.tracks.values().map(String::as_str).collect();
    for name in ["Vertex", "Fragment"] {
        assert!(tracks.contains(&name), "{tracks:?}");
    }
}

/// Every interval of the eager scenario is encoded, runs, and completes.
#[test]
fn arrows_reach_the_completion() {
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
fn counters_match_the_report() {
    let analysis = analysis_of("shared-machine", &Request::default());
    let report = &analysis.report;
    let drawn = check("shared-machine", &analysis);
    let pid = report.process.pid.map(u64::from).unwrap();
    let busy = &drawn.counters[&(pid, "GPU busy".to_owned())];
    assert_eq!(busy.len(), report.shape.utilization.len() + 1);
    // The mean over time is the busy ratio.
    let area = |points: &[(u64, f64)]| -> f64 {
        let pairs = points.windows(2);
        pairs
            .map(|pair| (pair[1].0 - pair[0].0).number() * pair[0].1)
            .sum()
    };
    let span = report.window.span_ns.number();
    let ratio = area(busy) / span / 100.0;
    assert!(
        (ratio - report.busy.ratio.unwrap().0).abs() < 1e-4,
        "{ratio}"
    );
    let others = &drawn.counters[&(100_000, "GPU busy".to_owned())];
    assert!(area(others) > 0.0);
}

#[test]
fn traces_of_real_recordings_follow_the_rules() {
    let Some(folder) = metalens_testing::real_recordings() else {
        return;
    };
    for name in ["m1-launched-1000", "m1-bundle-and-export/export"] {
        let analysis = analyze_input(&folder.join(name), &Request::default()).unwrap();
        let drawn = check(name, &analysis);
        assert_eq!(drawn.other["synthetic"], Value::Bool(false));
    }
}
