//! Checks that nothing that new loses turns a missed gate into a kept one. Each table of the
//! recording, the tail of each table, whole runs, each kernel and each field of the report is removed
//! from every built-in scenario, and every limit that was missed before has to be missed still.
//!
//! The slower side is the recording. Base is the same recording with every figure halved (or
//! doubled, for lower limits), so that each limit of each figure is missed. METALENS_MILLION=1 uses
//! a million intervals in the scenario of that name instead of a thousand.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use metalens_analyzer::{Analysis, Bound, Report, Request, analyze, selection};
use metalens_comparison::{
    CompareOptions, Comparison, Gate, KernelFigure, KernelLimit, Limit, MetricLimit, Number, Runs,
    compare_runs, judge, judge_report, metrics,
};
use metalens_simulator::{Scenario, presets, random_scenario, write_export};
use metalens_testing::{analyze_input, analyze_scenario, drawn, without_tail};
use metalens_trace::{Input, LoadOptions};
use serde_json::Value;

/// Name of the table without which there is no report.
const NEEDED: &str = "metal-gpu-intervals";

/// Cuts of each table.
const CUTS: usize = 3;

/// Analyzes the recording in a folder; none if it is refused.
fn read(folder: &Path) -> Option<Report> {
    let analysis = analyze_input(folder, &Request::default()).ok()?;
    Some(analysis.report)
}

fn scenario(name: &str) -> Scenario {
    let preset = presets().iter().find(|preset| preset.name == name).unwrap();
    let toml = match std::env::var_os("METALENS_MILLION") {
        Some(_) => preset.toml.to_owned(),
        None => preset.toml.replace("count = 1000000", "count = 1000"),
    };
    Scenario::from_toml(&toml).unwrap()
}

/// Returns the runs with every figure multiplied by a factor.
fn scaled(runs: &Runs, factor: f64) -> Runs {
    let mut runs = runs.clone();
    let metrics = runs.metrics.values_mut();
    let kernels = runs.kernels.iter_mut();
    let kernels = kernels.flat_map(|kernel| {
        [
            &mut kernel.total_ns,
            &mut kernel.instances,
            &mut kernel.med_ns,
        ]
    });
    for value in metrics.chain(kernels).flatten() {
        *value = value.and_then(|value| Number::new(value.get() * factor));
    }
    runs
}

/// Returns a limit for each rule, and whether it is a lower limit. `max` and `min` are beyond these
/// values.
fn limits(values: &[Option<Number>]) -> Vec<(Limit, bool)> {
    let values = values.iter().flatten().map(|value| value.get());
    let (least, most) = values.fold((f64::MAX, f64::MIN), |(least, most), value| {
        (least.min(value), most.max(value))
    });
    let none = Limit::default();
    vec![
        (
            Limit {
                max: Some(least / 2.0),
                ..none
            },
            false,
        ),
        (
            Limit {
                grow: Some(0.05),
                ..none
            },
            false,
        ),
        (
            Limit {
                range: Some(0.05),
                ..none
            },
            false,
        ),
        (
            Limit {
                min: Some(most * 2.0),
                ..none
            },
            true,
        ),
        (
            Limit {
                shrink: Some(0.05),
                ..none
            },
            true,
        ),
    ]
}

fn gate(metrics: Vec<MetricLimit>, kernels: Vec<KernelLimit>) -> Gate {
    Gate {
        source: "a test".into(),
        metrics,
        kernels,
        runs: None,
        may_change_work: false,
        until_decided: false,
        allow_inconclusive: false,
    }
}

/// Returns every limit of every figure and every kernel, and whether it is a lower limit.
fn gates(new: &Runs) -> Vec<(Gate, bool)> {
    let mut gates = vec![(Gate::default(), false)];
    for id in metrics().map(|metric| metric.id) {
        // Without a table, more idle time has an unknown cause. That figure is measured and
        // not lost: it does not fall, and in one run of three it is noise.
        let is_lost =
            |from_below: bool| id != "idle.unknown_ns" || !(from_below || new.count() > 1);
        let all = limits(&new.metrics[id]).into_iter();
        let all = all.filter(|(_, from_below)| is_lost(*from_below));
        gates.extend(all.map(|(limit, from_below)| {
            let id = id.to_owned();
            (
                gate(
                    vec![MetricLimit {
                        id,
                        limit,
                        steps: None,
                    }],
                    vec![],
                ),
                from_below,
            )
        }));
    }

    let named = new
        .kernels
        .iter()
        .map(|kernel| (kernel.name.as_str(), kernel));
    let any = new.kernels.first().map(|kernel| ("*", kernel));
    for (pattern, kernel) in named.chain(any) {
        for (figure, values) in [
            (KernelFigure::Total, &kernel.total_ns),
            (KernelFigure::Median, &kernel.med_ns),
            (KernelFigure::Instances, &kernel.instances),
        ] {
            for share in [0.0, 0.05] {
                let all = limits(values).into_iter();
                gates.extend(all.map(|(limit, from_below)| {
                    let pattern = pattern.to_owned();
                    let limit = KernelLimit {
                        is_of_as_many_steps: false,
                        pattern,
                        figure,
                        share,
                        limit,
                    };
                    (gate(vec![], vec![limit]), from_below)
                }));
            }
        }
    }
    gates
}

/// Returns the first runs of some.
fn first(runs: &Runs, count: usize) -> Runs {
    let mut runs = runs.clone();
    let metrics = runs
        .metrics
        .values_mut()
        .chain(runs.performance.values_mut());
    let kernels = runs.kernels.iter_mut();
    let kernels = kernels.flat_map(|kernel| {
        [
            &mut kernel.total_ns,
            &mut kernel.instances,
            &mut kernel.med_ns,
        ]
    });
    metrics
        .chain(kernels)
        .chain([&mut runs.others])
        .for_each(|values| values.truncate(count));
    runs.paths.truncate(count);
    runs.processes.truncate(count);
    runs.guessed.truncate(count);
    for fact in &mut runs.circumstances {
        fact.values.truncate(count);
    }
    runs
}

/// Returns whether a gate limits what only a recording without the driver's times has.
fn is_measured_otherwise(what: &str, gate: &Gate) -> bool {
    let mut limits = gate.metrics.iter();
    let tables = [
        "metal-driver-intervals",
        "metal-command-buffer-to-accelerator-id",
        "metal-gpu-submission-to-command-buffer-id",
    ];
    tables.iter().any(|table| what.contains(table))
        && limits.any(|limit| limit.id == "idle.submission_ns")
}

/// Returns the names of the tables of an export, sorted.
fn tables(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap();
    let files = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let is_table = |file: &String| file.ends_with(".xml") && file != "toc.xml";
    let mut tables: Vec<String> = files.filter(is_table).collect();
    tables.sort();
    tables
}

/// The limits that the slower runs of a scenario miss.
struct Missed {
    name: &'static str,
    /// Three runs, the first of which loses something.
    reports: Vec<Report>,
    /// The first run, and all of them, with nothing lost.
    sides: [Runs; 2],
    /// Bases by the number of runs per side: for upper limits, and for lower limits.
    bases: [[Runs; 2]; 2],
    /// Gates that are missed with one run, and with three.
    gates: [Vec<(Gate, bool)>; 2],
}

impl Missed {
    fn find(name: &'static str, reports: Vec<Report>) -> Self {
        let sides = [&reports[..1], &reports[..]].map(Runs::from_reports);
        let bases = sides
            .each_ref()
            .map(|new| [scaled(new, 0.5), scaled(new, 2.0)]);
        let gates = [0, 1].map(|at| {
            let mut gates = gates(&sides[at]);
            let all = gates.len();
            let compared = compared(&bases[at], &sides[at]);
            gates.retain(|gate| is_missed(&compared, gate));
            assert!(gates.len() * 2 > all, "{name}: {} of {all}", gates.len());
            gates
        });

        Self {
            name,
            reports,
            sides,
            bases,
            gates,
        }
    }

    /// Checks that everything missed before is still missed after the first run lost something.
    fn check(&self, what: &str, first: &Report) {
        let mut reports = self.reports.clone();
        reports[0] = first.clone();
        for (index, side) in [&reports[..1], &reports[..]].into_iter().enumerate() {
            let new = Runs::from_reports(side);
            // No comparison looks at what was lost: this would be the one in which these were missed.
            if new == self.sides[index] {
                continue;
            }
            let compared = compared(&self.bases[index], &new);
            let gates = self.gates[index].iter();
            for gate in gates.filter(|(gate, _)| !is_measured_otherwise(what, gate)) {
                assert!(
                    is_missed(&compared, gate),
                    "{}: without {what} in 1 of {} runs this is kept: {:#?}",
                    self.name,
                    side.len(),
                    gate.0
                );
            }
        }
    }

    fn without_tables(&self, folder: &Path) {
        let tables = tables(folder);
        assert!(tables.len() >= 4, "{}: {tables:?}", self.name);

        let away = folder.join("away");
        for table in tables {
            let file = folder.join(&table);
            fs::rename(&file, &away).unwrap();
            match read(folder) {
                Some(report) => self.check(&table, &report),
                None => assert!(table.starts_with(NEEDED), "{}: {table}", self.name),
            }
            fs::rename(&away, &file).unwrap();
        }
    }

    /// Cuts tables at the end of a row, at random with a fixed seed.
    fn without_tails(&self, folder: &Path) {
        let mut seed = 7;
        for table in tables(folder) {
            let file = folder.join(&table);
            let whole = fs::read_to_string(&file).unwrap();
            for _ in 0..CUTS {
                let Some(cut) = without_tail(&whole, &mut seed) else {
                    continue;
                };
                fs::write(&file, cut.document).unwrap();
                let what = format!("all but {} of {} rows of {table}", cut.kept, cut.all);
                match read(folder) {
                    Some(report) => self.check(&what, &report),
                    None => assert!(table.starts_with(NEEDED), "{}: {what}", self.name),
                }
            }
            fs::write(&file, whole).unwrap();
        }
    }

    /// Takes whole runs away from each side, and from both.
    fn without_runs(&self) {
        let [above, below] = &self.bases[1];
        for (base, new) in [(3, 2), (3, 1), (2, 3), (1, 3), (2, 2), (1, 1), (1, 2)] {
            let new_runs = Runs::from_reports(&self.reports[..new]);
            let compared = compared(&[first(above, base), first(below, base)], &new_runs);
            for (gate, from_below) in &self.gates[1] {
                // Only the limits can say how many runs base should have.
                let runs = (base < 3).then_some(3);
                let gate = Gate {
                    runs,
                    ..gate.clone()
                };
                assert!(
                    is_missed(&compared, &(gate.clone(), *from_below)),
                    "{}: with {base} runs of base and {new} of new this is kept: {gate:#?}",
                    self.name
                );
            }
        }
    }

    fn without_fields(&self) {
        let complete = serde_json::to_value(&self.reports[0]).unwrap();
        let mut places = Vec::new();
        places_in(&complete, "", &mut places);
        let mut fields = 0;
        for place in places {
            for report in without(&complete, &place) {
                // A report without a required field is refused when it is read.
                if let Ok(report) = serde_json::from_value(report) {
                    self.check(&place, &report);
                    fields += 1;
                }
            }
        }
        assert!(fields > 100, "{}: {fields}", self.name);
    }

    fn without_kernels(&self) {
        let complete = &self.reports[0];
        for (index, kernel) in complete.kernels.iter().enumerate() {
            let mut report = complete.clone();
            report.kernels.remove(index);
            self.check(&kernel.name, &report);
            let mut renamed = complete.clone();
            renamed.kernels[index].name.push_str("_v2");
            self.check(&kernel.name, &renamed);
        }
        let mut none = complete.clone();
        none.kernels.clear();
        self.check("kernels", &none);
    }
}

fn compared(bases: &[Runs; 2], new: &Runs) -> [Comparison; 2] {
    bases
        .each_ref()
        .map(|base| compare_runs(base, new, &CompareOptions::default()))
}

fn is_missed([above, below]: &[Comparison; 2], (gate, from_below): &(Gate, bool)) -> bool {
    let compared = if *from_below { below } else { above };
    // Sides that are not comparable are refused before any limit is looked at.
    !compared.comparable.comparable || judge(compared, gate).missed
}

/// Lists the places of all values in a document. Of a list only the first entry counts, except for
/// kernels and targets.
fn places_in(value: &Value, place: &str, places: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
                let place = format!("{place}/{name}");
                places_in(value, &place, places);
                places.push(place);
            }
        }
        Value::Array(list) => {
            let is_whole = ["/kernels", "/targets"].contains(&place);
            let most = if is_whole { list.len() } else { 1 };
            for (index, value) in list.iter().enumerate().take(most) {
                let place = format!("{place}/{index}");
                places_in(value, &place, places);
                places.push(place);
            }
        }
        _ => {}
    }
}

/// Returns the document without the value at a place: as null, as an empty list, and removed.
fn without(document: &Value, place: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut null = document.clone();
    let value = null.pointer_mut(place).unwrap();
    if value.is_array() {
        let mut empty = document.clone();
        *empty.pointer_mut(place).unwrap() = Value::Array(Vec::new());
        all.push(empty);
    }
    *value = Value::Null;
    all.push(null);

    let (parent, last) = place.rsplit_once('/').unwrap();
    let mut less = document.clone();
    match less.pointer_mut(parent) {
        Some(Value::Array(list)) => drop(list.remove(last.parse().unwrap())),
        Some(Value::Object(fields)) => drop(fields.remove(last)),
        _ => unreachable!("{place}"),
    }
    all.push(less);
    all
}

/// Removes everything from a scenario, one thing after the other.
fn check(name: &'static str) {
    let mut scenario = scenario(name);
    let folders = [0, 1, 2].map(|more| {
        let folder = metalens_testing::scratch();
        scenario.seed += more;
        write_export(&scenario, folder.path(), false).unwrap();
        folder
    });
    let reports: Option<Vec<Report>> = folders.iter().map(|folder| read(folder.path())).collect();
    let Some(reports) = reports else {
        // There is no report, so no limit can be kept.
        assert_eq!(name, "no-target-rows");
        return;
    };
    let missed = Missed::find(name, reports);
    missed.without_tables(folders[0].path());
    missed.without_tails(folders[0].path());
    missed.without_runs();
    missed.without_fields();
    missed.without_kernels();
}

macro_rules! scenarios {
    ($($test:ident $name:literal)*) => {
        $(#[test]
        fn $test() {
            check($name);
        })*

        #[test]
        fn every_built_in_scenario_is_tested() {
            let all = presets().iter().map(|one| one.name);
            assert_eq!(all.collect::<Vec<_>>(), [$($name),*]);
        }
    };
}

scenarios! {
    eager "eager"
    fused "fused"
    batched "batched"
    pipelined "pipelined"
    renderer "renderer"
    shared_machine "shared-machine"
    awkward "awkward"
    two_runs "two-runs"
    no_target_rows "no-target-rows"
    million "million"
}

/// Figures of a recording that are limited, and by how much its limits are missed.
const LIMITED: [&str; 5] = [
    "window.span_ns",
    "busy.busy_ns",
    "busy.ratio",
    "gaps.total_ns",
    "counts.intervals",
];
const MISSED_BY: f64 = 0.07;

/// Returns limits that a recording misses, one each.
fn limits_of(report: &Report) -> Vec<Gate> {
    let known = metrics().filter(|metric| LIMITED.contains(&metric.id));
    let gates = known.filter_map(|metric| {
        let value = metric.known(report).filter(|&value| value > 0.0)?;
        let none = Limit::default();
        let upper = Limit {
            max: Some(value * (1.0 - MISSED_BY)),
            ..none
        };
        let lower = Limit {
            min: Some(value * (1.0 + MISSED_BY)),
            ..none
        };
        let id = metric.id.to_owned();
        Some([upper, lower].map(|limit| {
            gate(
                vec![MetricLimit {
                    steps: None,
                    id: id.clone(),
                    limit,
                }],
                vec![],
            )
        }))
    });
    let gates: Vec<Gate> = gates.flatten().collect();
    let missed = gates.iter().filter_map(|gate| judge_report(report, gate));
    assert!(missed.filter(|result| result.missed).count() == gates.len());
    gates
}

/// Checks that what was taken away from a recording made nothing better, unless a loud note that the
/// whole recording has not tells of it. Returns whether it is loud.
fn assert_no_better(what: &str, whole: &Report, taken: Option<&Report>) -> bool {
    let Some(taken) = taken else {
        return true;
    };
    let mut loud = taken.loud_notes();
    if loud.any(|note| whole.loud_notes().all(|known| known.text() != note.text())) {
        return true;
    }
    for gate in limits_of(whole) {
        let result = judge_report(taken, &gate).unwrap();
        assert!(
            result.missed,
            "{what}: quietly kept: {gate:#?}\n{:#?}",
            taken.notes
        );
    }
    let failing = |report: &Report| -> Vec<String> {
        let checks = report.sanity.checks.iter().filter(|check| !check.ok);
        checks.map(|check| check.id.clone()).collect()
    };
    let now = failing(taken);
    for id in failing(whole) {
        assert!(
            now.contains(&id),
            "{what}: the check {id} does not fail any more"
        );
    }
    let is_gpu = |report: &Report| report.verdict.bound == Some(Bound::Gpu);
    assert!(is_gpu(whole) || !is_gpu(taken), "{what}: quietly GPU-bound");
    false
}

/// Returns the rows of a table's document, with what is before and after them.
fn rows(document: &str) -> Option<(&str, Vec<&str>, &str)> {
    let start = document.find("<row>")?;
    let end = document.rfind("</row>")? + "</row>".len();
    let (head, tail) = (&document[..start], &document[end..]);
    Some((
        head,
        document[start..end].split_inclusive("</row>").collect(),
        tail,
    ))
}

/// Takes something away from an export, at random. Returns what, if there was any.
fn take_from_export(folder: &Path, whole: &Report, seed: &mut u64) -> Option<String> {
    let tables = tables(folder);
    let table = &tables[drawn(seed, tables.len())];
    let intervals = folder.join(format!("{NEEDED}.xml"));
    let (file, what) = match drawn(seed, 7) {
        0 => {
            fs::remove_file(folder.join("toc.xml")).unwrap();
            return Some("toc.xml".to_owned());
        }
        1 => (intervals, "processes"),
        2 => (intervals, "process and command buffer"),
        3 => (intervals, "rows"),
        4 => (intervals, "labels"),
        5 => (folder.join(table), "labels"),
        _ => (folder.join(table), "rows"),
    };
    // Some recordings have raw events instead.
    let document = fs::read_to_string(&file).ok()?;
    let (head, rows, tail) = rows(&document)?;
    let share = 1 + drawn(seed, 9);
    // Nothing tells how many intervals a command buffer had: it loses all, if other tables tell of it.
    let is_grouped = ["rows", "process and command buffer"].contains(&what);
    let told = whole.sanity.buffers_finished.unwrap_or(0);
    if is_grouped && file.ends_with(format!("{NEEDED}.xml")) && told < whole.counts.command_buffers
    {
        return None;
    }
    let (mut taken, mut defined, mut buffers) = (0, HashMap::new(), HashMap::new());
    let kept: String = rows
        .iter()
        .filter_map(|row| {
            let row = without_references(row, &mut defined);
            let buffer = row
                .split("<metal-command-buffer-id")
                .nth(1)
                .filter(|_| is_grouped);
            let buffer = buffer
                .and_then(|cell| cell.split('<').next())
                .map(str::to_owned);
            let is_drawn = drawn(seed, 10) < share;
            let is_taken = buffer.map_or(is_drawn, |id| *buffers.entry(id).or_insert(is_drawn));
            taken += usize::from(is_taken);
            match what {
                _ if !is_taken => Some(row),
                "rows" => None,
                "labels" => Some(without_cells(
                    row,
                    &["formatted-label", "metal-object-label"],
                )),
                "processes" => Some(without_cells(row, &["process"])),
                _ => Some(without_cells(row, &["process", "metal-command-buffer-id"])),
            }
        })
        .collect();
    fs::write(&file, [head, &kept, tail].concat()).unwrap();
    let of = rows.len();
    (taken > 0).then(|| format!("{what} of {taken} of {of} rows in {}", file.display()))
}

/// Returns a row with all that it refers to, so that each row is whole without the others.
fn without_references(row: &str, defined: &mut HashMap<String, String>) -> String {
    let (mut whole, mut open) = (String::new(), Vec::new());
    for piece in row.split_inclusive('>') {
        let (text, tag) = piece.split_at(piece.find('<').unwrap_or(piece.len()));
        whole.push_str(text);
        let value = |key: &str| Some(tag.split_once(key)?.1.split('"').next()?.to_owned());
        if let Some(id) = value(" ref=\"") {
            whole.push_str(&defined[&id]);
            continue;
        }
        let id = value(" id=\"");
        if !tag.starts_with("</") {
            open.push((whole.len(), id.clone()));
        }
        whole.push_str(&tag.replace(&format!(" id=\"{}\"", id.unwrap_or_default()), ""));
        if tag.starts_with("</") || tag.ends_with("/>") {
            let (start, id) = open.pop().unwrap();
            defined.extend(id.map(|id| (id, whole[start..].to_owned())));
        }
    }
    whole
}

/// Takes the cells of some types away from a row.
fn without_cells(mut row: String, tags: &[&str]) -> String {
    for tag in tags {
        let end = format!("</{tag}>");
        while let Some(start) = row.find(&format!("<{tag} ")) {
            let last = start + row[start..].find(&end).unwrap() + end.len();
            row.replace_range(start..last, "<sentinel/>");
        }
    }
    row
}

/// Writes the command buffers of a recording as a log: a line each.
fn log_of(analysis: &Analysis) -> Vec<String> {
    /// The clock began before the recording.
    const BEFORE: i64 = 10_000_000_000;
    let mut buffers =
        analysis.command_buffers(analysis.spans().filter_map(|span| span.command_buffer));
    buffers.sort_by_key(|buffer| buffer.gpu_ns);
    let at = |ns: u64| i64::try_from(ns).unwrap() + BEFORE;
    let known = buffers
        .iter()
        .filter_map(|buffer| Some((buffer, buffer.committed_ns? + BEFORE)));
    let lines = known.zip(1..).map(|((buffer, commit), number)| {
        let [start, end] = [buffer.gpu_ns.0, buffer.gpu_ns.1].map(at);
        let encode = buffer.encoded_ns.map_or(commit, |(encode, _)| at(encode).min(commit));
        let completed = buffer.completed_ns.map_or(end, |completed| at(completed).max(end));
        let kernel = if number % 3 == 0 { "softmax" } else { "gemm" };
        format!(
            r#"{{"command_buffer":{number},"encode":{encode},"commit":{commit},"gpu_start":{start},"gpu_end":{end},"completed":{completed},"label":"step","encoders":[{{"kind":"compute","label":"{kernel}","kernels":{{"{kernel}":1}}}}]}}"#
        )
    });
    lines.collect()
}

/// Takes labels and kernels away from a line of a log, at random.
fn without_labels(line: &str, share: usize, seed: &mut u64) -> String {
    let mut line: Value = serde_json::from_str(line).unwrap();
    let places = [
        ("", "label"),
        ("/encoders/0", "label"),
        ("/encoders/0", "kernels"),
    ];
    for (place, key) in places {
        if drawn(seed, 10) < share {
            line.pointer_mut(place)
                .unwrap()
                .as_object_mut()
                .unwrap()
                .remove(key);
        }
    }
    line.to_string()
}

/// Reads a log of these lines and its last one, which a cut one lacks; none if it is refused.
fn read_log(folder: &Path, lines: &[String], last: &str, allow_truncated: bool) -> Option<Report> {
    let header = r#"{"format":"command-buffer-log/1","program":"bench","pid":12,"synthetic":true}"#;
    let file = folder.join("x.jsonl");
    fs::write(&file, format!("{header}\n{}\n{last}", lines.join("\n"))).unwrap();
    let options = LoadOptions {
        allow_truncated,
        ..LoadOptions::default()
    };
    let trace = Input::open(&file)
        .unwrap()
        .load(&selection(), options)
        .ok()?;
    Some(analyze(trace, &Request::default()).ok()?.report)
}

/// Returns every small scenario: the built-in ones, and random ones.
fn scenarios() -> impl Iterator<Item = (String, Scenario)> {
    let named = presets()
        .iter()
        .map(|preset| (preset.name.to_owned(), scenario(preset.name)));
    named.chain((0..12).map(|seed| (format!("random {seed}"), random_scenario(seed))))
}

#[test]
fn what_is_taken_from_an_export_is_loud_or_changes_nothing() {
    let (mut seed, mut loud) = (17, 0);
    for (name, scenario) in scenarios() {
        let folder = metalens_testing::scratch();
        let whole = folder.path().join("whole");
        write_export(&scenario, &whole, false).unwrap();
        let Some(report) = read(&whole) else {
            continue;
        };
        for number in 0..6 {
            let taken = folder.path().join(number.to_string());
            write_export(&scenario, &taken, false).unwrap();
            if let Some(what) = take_from_export(&taken, &report, &mut seed) {
                let found = read(&taken);
                loud += usize::from(assert_no_better(
                    &format!("{name}, {what}"),
                    &report,
                    found.as_ref(),
                ));
            }
        }
    }
    assert!(loud > 20, "{loud}");
}

#[test]
fn what_is_taken_from_a_log_is_loud_or_changes_nothing() {
    let (mut seed, mut checked) = (23, 0);
    for (name, scenario) in scenarios() {
        let Ok(analysis) = analyze_scenario(&scenario, &Request::default()) else {
            continue;
        };
        let lines = log_of(&analysis);
        let folder = metalens_testing::scratch();
        let end = |count: usize, lost: usize| {
            format!(r#"{{"end":9000000000000,"command_buffers":{count},"lost":{lost}}}"#)
        };
        let read =
            |lines: &[String], last: &str, allowed| read_log(folder.path(), lines, last, allowed);
        let Some(whole) = read(&lines, &end(lines.len(), 0), false).filter(|_| lines.len() > 1)
        else {
            continue;
        };
        for _ in 0..8 {
            let share = 1 + drawn(&mut seed, 9);
            let (last, before) = lines.split_last().unwrap();
            let mut kept = before.to_vec();
            kept.retain(|_| drawn(&mut seed, 10) >= share);
            // Its number tells how many there were.
            kept.push(last.clone());
            let lost = lines.len() - kept.len();
            let tail = lines[..drawn(&mut seed, lines.len())].to_vec();
            let upper: Vec<String> = lines
                .iter()
                .map(|line| line.replace("}}]}", r#"},"upper_bound":true}]}"#))
                .collect();
            let note = r#"{"note":"class X is not known"}"#.to_owned();
            let noted = [tail.clone(), vec![note]].concat();
            let cases: [(&str, &[String], String, bool); 8] = [
                ("lost", &kept, end(kept.len(), lost), false),
                ("numbers", &kept, end(kept.len(), 0), false),
                (
                    "lost tail",
                    &tail,
                    end(tail.len(), lines.len() - tail.len()),
                    false,
                ),
                ("tail", &tail, String::new(), false),
                ("tail, allowed", &tail, String::new(), true),
                ("end, allowed", &lines, r#"{"end":90"#.to_owned(), true),
                ("bounds", &upper, end(lines.len(), 0), false),
                ("tail, noted", &noted, end(tail.len(), 0), false),
            ];
            for (what, lines, last, allowed) in cases {
                let taken = read(lines, &last, allowed);
                let is_loud = assert_no_better(&format!("{name}, {what}"), &whole, taken.as_ref());
                assert!(
                    is_loud || lost == 0,
                    "{name}, {what}: {:#?}",
                    taken.unwrap().notes
                );
                checked += 1;
            }
            let unlabeled: Vec<String> = lines
                .iter()
                .map(|line| without_labels(line, share, &mut seed))
                .collect();
            let taken = read(&unlabeled, &end(lines.len(), 0), false);
            assert!(taken.is_some(), "{name}: {}", unlabeled[0]);
            assert_no_better(&format!("{name}, labels"), &whole, taken.as_ref());
        }
    }
    assert!(checked > 400, "{checked}");
}
