//! Tests of the engines beside the GPU's channels, on synthetic rows in both forms. No real row was
//! ever seen of any engine but MPSGraph.

use std::path::{Path, PathBuf};

use metalens_analyzer::{Engine, EngineId, NotRecorded, Report, Request};
use metalens_message::{Ns, Share};
use metalens_simulator::{EngineKind, EngineWork, Nanos, Scenario, write_bundle, write_export};
use metalens_testing::{analyze_input, analyze_scenario, real_recordings};
use metalens_trace::{Input, LoadOptions, ProcessId, Selection, Values};

/// Three dispatches of 10 µs, each waited for: 65 µs of completion latency, 8 µs of encoding and
/// 85 µs of submission latency between them.
///
/// ```text
/// µs     0 10        75 83        168 178                336 346
/// GPU    |-|                      |--|                   |--|
/// cause    completion|en|submission   completion, …
/// ```
const DISPATCHES: &str = r#"
    [[process]]
    name = "bench"
    pid = 4200
    role = "target"
    [[process.stream]]
    count = 3
    duration = "10us"

    [[process]]
    name = "other"
    pid = 4300
    [[process.stream]]
    count = 1
    start = "900ms"
    duration = "1us"
"#;

/// Work of an engine, in microseconds since the start of the window.
fn work(kind: EngineKind, [start, length, every, count]: [u64; 4], window_ns: u64) -> EngineWork {
    let us = |us: u64| Nanos::new(us * 1_000);
    EngineWork {
        kind,
        label: format!("{kind:?} work"),
        start: Nanos::new(window_ns + start * 1_000),
        length: us(length),
        every: us(every),
        count: u32::try_from(count).unwrap(),
    }
}

fn scenario() -> Scenario {
    use EngineKind::{CoreMl, DrawableWait, Mps, NeuralEngine};
    let mut scenario = Scenario::from_toml(DISPATCHES).unwrap();
    let plain = analyze_scenario(&scenario, &Request::default()).unwrap();
    let window_ns = plain.report.window.start_ns.0;
    assert!(plain.report.engines.is_empty());
    scenario.process[0].engine = vec![
        work(Mps, [0, 10, 168, 3], window_ns),
        work(CoreMl, [20, 40, 168, 2], window_ns),
        work(DrawableWait, [100, 50, 1, 1], window_ns),
    ];
    // The table of the Neural Engine names no process, so that this counts; the rest does not.
    scenario.process[1].engine = vec![
        work(NeuralEngine, [5, 75, 1, 1], window_ns),
        work(NeuralEngine, [60, 20, 1, 1], window_ns),
        work(Mps, [50, 10, 1, 1], window_ns),
        work(DrawableWait, [50, 10, 1, 1], window_ns),
    ];
    scenario
}

fn reports() -> [Report; 2] {
    let scenario = scenario();
    let folder = metalens_testing::scratch();
    let [bundle, export] = ["run.trace", "export"].map(|name| folder.path().join(name));
    write_bundle(&scenario, &bundle, false).unwrap();
    write_export(&scenario, &export, false).unwrap();
    [bundle, export].map(|path| analyze_input(&path, &Request::default()).unwrap().report)
}

/// Checks the number of intervals, and in microseconds the busy time and its part in which the GPU
/// was idle.
fn check(engine: &Engine, expected: [u64; 3]) {
    let us = |ns: u64| {
        assert_eq!(ns % 1_000, 0);
        ns / 1_000
    };
    let found = [
        engine.intervals,
        us(engine.busy_ns.0),
        us(engine.while_gpu_idle_ns.0),
    ];
    assert_eq!(found, expected, "{:?}", engine.id);
}

#[test]
fn busy_times_of_engines_are_measured_against_the_idle_time() {
    for report in reports() {
        let [mps, neural, core_ml, wait] = report.engines.as_slice() else {
            panic!("{:?}", report.engines);
        };
        check(mps, [3, 30, 0]);
        // From 5 to 80: 5 beside the GPU.
        check(neural, [2, 75, 70]);
        check(core_ml, [2, 80, 80]);
        check(wait, [1, 50, 50]);

        let ids = report
            .engines
            .iter()
            .map(|engine| (engine.id, engine.of_process));
        let expected = [
            (EngineId::Mps, true),
            (EngineId::NeuralEngine, false),
            (EngineId::CoreMl, false),
            (EngineId::DrawableWait, true),
        ];
        assert!(ids.eq(expected));
        // The window has 346 µs.
        assert_eq!(neural.ratio, Some(Share(75.0 / 346.0)));
        assert!(
            !report
                .not_recorded
                .iter()
                .any(|part| part.what.starts_with("engines"))
        );
    }
}

/// Ids of the command buffers of a process, in the order of the GPU's work.
fn buffers(export: &Path, pid: u32) -> Vec<u64> {
    let selection = Selection::table("metal-gpu-intervals");
    let input = Input::open(export).unwrap();
    let trace = input.load(&selection, LoadOptions::default()).unwrap();
    let table = trace.table("metal-gpu-intervals").unwrap();
    let processes = Vec::<Option<ProcessId>>::take(&mut table.clone(), "process").unwrap();
    let processes = processes.into_iter();
    let is_mine = processes.map(|id| trace.names.process(id.unwrap()).unwrap().pid == Some(pid));
    let ids = table.integers("cmdbuffer-id").unwrap().iter();
    let mine = ids.zip(is_mine).filter(|&(_, is_mine)| is_mine);
    mine.map(|(id, _)| id.unwrap()).collect()
}

/// The rows name no process. Where the work lies tells nothing if two processes use the GPU at once;
/// the command buffer in the label does.
#[test]
fn work_of_mpsgraph_is_of_the_process_of_its_command_buffer() {
    let mut scenario = Scenario::from_toml(DISPATCHES).unwrap();
    let plain = analyze_scenario(&scenario, &Request::default()).unwrap();
    let window_ns = plain.report.window.start_ns.0;
    let folder = metalens_testing::scratch();
    let path = folder.path().join("export");
    write_export(&scenario, &path, false).unwrap();
    let [mine, others] = [4200, 4300].map(|pid| buffers(&path, pid));
    let graph = |id: u64, start: u64, length: u64| EngineWork {
        label: format!("MPSGraph:0x1f (CommandBuffer: {id:#x})"),
        ..work(EngineKind::Mps, [start, length, 1, 1], window_ns)
    };
    scenario.process[0].engine = vec![
        graph(mine[0], 0, 10),
        // More than half of it lies outside of the GPU's work.
        graph(mine[1], 170, 20),
        // Ids of another process and of none, inside of the GPU's work.
        graph(others[0], 1, 8),
        graph(u64::MAX, 1, 8),
        // The id of a command buffer that was elsewhere at that time.
        graph(mine[0], 337, 5),
    ];
    let report = analyze_scenario(&scenario, &Request::default())
        .unwrap()
        .report;
    let [mps] = report.engines.as_slice() else {
        panic!("{:?}", report.engines);
    };
    check(mps, [2, 30, 12]);
}

/// In real recordings, each row has the start and the end of the GPU's work on its command buffer.
#[test]
#[expect(clippy::print_stderr, reason = "says why nothing was tested")]
fn work_of_mpsgraph_in_real_recordings_is_of_its_submitter() {
    let Some(folder) = real_recordings() else {
        return;
    };
    let inside = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    };
    let bundles = inside(folder).flat_map(inside);
    let rows_of = |bundle: &Path| {
        let selection = Selection::table("mps-hw-intervals");
        let trace = Input::open(bundle)
            .ok()?
            .load(&selection, LoadOptions::default())
            .ok()?;
        Some(trace.table("mps-hw-intervals").ok()?.rows()).filter(|&rows| rows > 0)
    };
    let mut recordings = 0;
    for bundle in bundles.filter(|path| path.extension().is_some_and(|ending| ending == "trace")) {
        let Some(rows) = rows_of(&bundle) else {
            continue;
        };
        recordings += 1;
        let report = analyze_input(&bundle, &Request::default()).unwrap().report;
        let mps = report
            .engines
            .iter()
            .find(|engine| engine.id == EngineId::Mps);
        let mps = mps.unwrap();
        assert_eq!((mps.intervals, mps.while_gpu_idle_ns), (rows as u64, Ns(0)));
    }
    if recordings == 0 {
        eprintln!("skipped: no real recording with rows of mps-hw-intervals");
    }
}

/// A table without rows in the window tells nothing: the engine is missing, and the report says so.
#[test]
fn engines_without_rows_are_not_recorded() {
    let missing = |kind, start| {
        let mut scenario = Scenario::from_toml(DISPATCHES).unwrap();
        scenario.process[0].engine = vec![work(kind, [0, 1, 1, 1], start)];
        let report = analyze_scenario(&scenario, &Request::default())
            .unwrap()
            .report;
        let parts = report.not_recorded.into_iter();
        parts
            .filter(|part| part.what.starts_with("engines"))
            .collect::<Vec<_>>()
    };
    // The only row ends before the window.
    let [all]: [NotRecorded; 1] = missing(EngineKind::NeuralEngineInternal, 0)
        .try_into()
        .unwrap();
    assert_eq!(all.what, "engines");
    assert!(
        all.why.text.contains("ane-hw-intervals, coreml"),
        "{}",
        all.why.text
    );

    let window = analyze_scenario(
        &Scenario::from_toml(DISPATCHES).unwrap(),
        &Request::default(),
    );
    let window_ns = window.unwrap().report.window.start_ns.0;
    let others = missing(EngineKind::NeuralEngineInternal, window_ns);
    let others: Vec<&str> = others.iter().map(|part| part.what.as_str()).collect();
    let expected = ["engines.mps", "engines.core-ml", "engines.drawable-wait"];
    assert_eq!(others, expected);
}
