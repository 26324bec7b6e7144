//! Tests `report.html`: its markup, the data of its timeline, and that it works in a browser.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use base64::Engine;
use serde_json::Value;
use tempfile::TempDir;

use crate::{metalens, stderr, with_scenario};

/// Creates a folder with the page and the report of a scenario in `out`.
fn with_page(scenario: &str) -> TempDir {
    let folder = with_scenario(scenario);
    analyze(folder.path(), scenario, &["-o", "out"]);
    folder
}

fn analyze(folder: &Path, input: &str, arguments: &[&str]) {
    let output = metalens(folder, &[&["analyze", input], arguments].concat());
    assert!(output.status.success(), "{}", stderr(&output));
}

fn page_of(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join("out/report.html")).unwrap()
}

fn report_of(folder: &TempDir) -> Value {
    let json = fs::read(folder.path().join("out/report.json")).unwrap();
    serde_json::from_slice(&json).unwrap()
}

const HOSTILE: &str = r#"
[[process]]
name = "</title><script>alert(1)</script>"
pid = 4321
role = "target"

[[process.stream]]
count = 40
duration = "10us"
gap = "0ns"
host = "20us"
encode = "6us"
launch = "40us"
completion = "40us"
submit = "sync"
encoder-label = [
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "\" onmouseover='alert(4)' x=\"",
    "<!--<script>",
    "שלום {{ 7 * 7 }} 🦀",
    "LONG",
]
"#;

fn hostile() -> TempDir {
    let folder = metalens_testing::scratch();
    let scenario = HOSTILE.replace("LONG", &"very_long_".repeat(19));
    fs::write(folder.path().join("hostile.toml"), scenario).unwrap();
    let written = metalens(folder.path(), &["synth", "hostile.toml", "-o", "hostile"]);
    assert!(written.status.success(), "{}", stderr(&written));
    analyze(folder.path(), "hostile", &["-o", "out"]);
    folder
}

/// Returns the opening tags of a page. Fails if elements do not nest.
fn elements(page: &str) -> Vec<String> {
    const EMPTY: [&str; 3] = ["meta", "br", "input"];
    let (mut open, mut seen) = (Vec::new(), Vec::new());
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').unwrap();
        let tag = rest[..end].trim_end_matches('/');
        let is_closed = rest[..end].ends_with('/');
        rest = &rest[end + 1..];
        if tag.starts_with('!') {
            assert_eq!(tag, "!doctype html");
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "<{tag}>");
        let name = tag.trim_start_matches('/').split(' ').next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}>");
            continue;
        }
        seen.push(tag.to_owned());
        if is_closed || EMPTY.contains(&name) {
            continue;
        }
        open.push(name);
        if ["script", "style"].contains(&name) {
            // Markup in a script or style is text up to its closing tag.
            rest = &rest[rest.find(&format!("</{name}>")).unwrap()..];
        }
    }
    assert!(open.is_empty(), "{open:?} are not closed");
    seen
}

#[test]
fn pages_are_well_formed_and_load_nothing() {
    let pages = ["awkward", "eager", "renderer", "shared-machine"];
    for folder in pages.map(with_page).into_iter().chain([hostile()]) {
        let page = page_of(&folder);
        let elements = elements(&page);
        let count = |name: &str| {
            elements
                .iter()
                .filter(|element| element.starts_with(name))
                .count()
        };
        assert_eq!(count("script"), 2);
        assert_eq!(count("style"), 1);
        assert!(count("table") >= 4);
        assert_eq!(count("caption"), count("table"));
        assert_eq!((count("svg"), count("desc"), count("title")), (1, 1, 2));
        for tag in elements
            .iter()
            .filter(|tag| tag.starts_with("th ") || *tag == "th")
        {
            assert!(tag.contains("scope=\""), "<{tag}>");
        }
        for tag in &elements {
            let loads = [" src=", " on", "url("];
            assert!(!loads.iter().any(|one| tag.contains(one)), "<{tag}>");
            let links = tag.matches(" href=").count();
            assert_eq!(links, tag.matches(" href=\"#").count(), "<{tag}>");
        }
        assert!(!page.contains("http://") && !page.contains("https://"));
        for kind in ["<img", "<link", "<iframe", "{{", "{%"] {
            let shown = page.replace("{{ 7 * 7 }}", "");
            assert!(!shown.contains(kind), "{kind}");
        }
    }
}

#[test]
fn markup_in_names_is_escaped() {
    let page = page_of(&hostile());
    assert!(page.contains("&lt;img src=x onerror=alert(3)&gt;"));
    assert!(page.contains(r"\u003c/script\u003e\u003cscript\u003ealert(2)"));
    assert!(page.contains("שלום {{ 7 * 7 }} 🦀"));
    assert!(!page.contains("<img") && !page.contains("alert(2)</"));
    assert_eq!(page.matches("<!--").count(), 0);
}

#[test]
fn html_and_the_folder_have_the_same_page() {
    let folder = with_page("awkward");
    analyze(folder.path(), "awkward", &["--html", "again.html"]);
    let again = fs::read_to_string(folder.path().join("again.html")).unwrap();
    assert_eq!(page_of(&folder), again, "-o writes what --html does");
}

#[test]
fn pages_name_other_processes_only_with_show_names() {
    let folder = with_scenario("awkward");
    let input = folder.path().join("awkward");
    let input = input.to_str().unwrap();
    analyze(folder.path(), input, &["-o", "out"]);
    analyze(
        folder.path(),
        input,
        &["--html", "full.html", "--show-names"],
    );
    let page = page_of(&folder);
    let secrets = [
        "Helper (GPU) (Renderer)",
        "Compositor",
        folder.path().to_str().unwrap(),
    ];
    for secret in secrets {
        assert!(!page.contains(secret), "{secret}");
    }
    assert!(page.contains("other process 1") && page.contains("--show-names"));
    let full = fs::read_to_string(folder.path().join("full.html")).unwrap();
    assert!(full.contains("Helper (GPU) (Renderer)"));
}

/// The timeline data of a page, decoded by other code than the program's.
struct Unpacked {
    data: Value,
}

impl Unpacked {
    fn of(page: &str) -> Self {
        let from = page.find("id=\"timeline-data\">").unwrap();
        let text = &page[from + "id=\"timeline-data\">".len()..];
        let text = &text[..text.find("</script>").unwrap()];
        let data = serde_json::from_str(text).unwrap();
        Self { data }
    }

    fn numbers(text: &Value) -> Vec<u64> {
        numbers_in(&bytes_of(text))
    }

    /// Sums times by cause. Each entry is a set of causes as bits, and the time of each cause;
    /// `before` and `after` numbers around it are skipped.
    fn parts(mut numbers: impl Iterator<Item = u64>, before: usize, after: usize) -> [u64; 10] {
        let mut sums = [0; 10];
        loop {
            let there = numbers.by_ref().nth(before);
            let Some(there) = there else { return sums };
            for (cause, sum) in sums.iter_mut().enumerate() {
                if there & (1 << cause) != 0 {
                    *sum += numbers.next().unwrap();
                }
            }
            for _ in 0..after {
                numbers.next().unwrap();
            }
        }
    }
}

fn bytes_of(text: &Value) -> Vec<u8> {
    let engine = base64::engine::general_purpose::STANDARD;
    engine.decode(text.as_str().unwrap()).unwrap()
}

fn numbers_in(bytes: &[u8]) -> Vec<u64> {
    let mut numbers = Vec::new();
    let (mut value, mut shift) = (0_u64, 0);
    for byte in bytes {
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if *byte < 128 {
            numbers.push(value);
            (value, shift) = (0, 0);
        }
    }
    numbers
}

/// Content of a part of the window, as a page has it.
struct PagePart {
    full: [u64; 2],
    intervals: Vec<PageInterval>,
    buffers: Vec<PageBuffer>,
    /// For each gap: start, end and cause of its parts.
    gaps: Vec<Vec<(u64, u64, usize)>>,
    /// Start and end of each stretch of other processes.
    others: Vec<(u64, u64)>,
    /// For each CPU sample, the number of its function plus 1.
    functions: Vec<u64>,
}

struct PageInterval {
    lane: u64,
    name: u64,
    start: u64,
    ns: u64,
    owner: u64,
}

/// Command buffer of a page: its time on the GPU, and its other stations after the start of that.
struct PageBuffer {
    ns: i128,
    after_start: [Option<i128>; 6],
}

impl PagePart {
    /// Reads the part that a page has from the beginning.
    fn of(data: &Value) -> Self {
        Self::read(data, &bytes_of(&data["packed"]))
    }

    /// Reads the parts that a page unpacks when somebody looks at them.
    fn stored(data: &Value) -> Vec<Self> {
        let parts = data["parts"].as_array().unwrap().iter();
        let part = |part: &Value| {
            let mut bytes = Vec::new();
            flate2::read::DeflateDecoder::new(bytes_of(&part["packed"]).as_slice())
                .read_to_end(&mut bytes)
                .unwrap();
            Self::read(part, &bytes)
        };
        parts.map(part).collect()
    }

    fn read(data: &Value, bytes: &[u8]) -> Self {
        let all = numbers_in(bytes);
        let mut rest = all.iter().copied();
        let count =
            |what: &str| usize::try_from(data["counts"][what].as_u64().unwrap_or(0)).unwrap();
        let signed = |number: u64| i128::from(number >> 1) ^ -i128::from(number & 1);
        let ns = |ns: i128| u64::try_from(ns).unwrap();
        let mut column = |length: usize| rest.by_ref().take(length).collect::<Vec<u64>>();
        let full: [u64; 2] = serde_json::from_value(data["full"].clone()).unwrap();

        let columns = [(); 5].map(|()| column(count("intervals")));
        let mut ends: BTreeMap<u64, u64> = BTreeMap::new();
        let intervals = (0..count("intervals")).map(|at| {
            let [lane, name, wait, ns_long, owner] =
                [0, 1, 2, 3, 4].map(|one: usize| columns[one][at]);
            let end = ends.entry(lane).or_default();
            let start = ns(i128::from(*end) + signed(wait));
            *end = start + ns_long;
            PageInterval {
                lane,
                name,
                start,
                ns: ns_long,
                owner,
            }
        });
        let intervals: Vec<PageInterval> = intervals.collect();

        let buffers = (0..count("chains")).map(|_| {
            let [_, ns, there] = column(3).try_into().unwrap();
            let is_there = |station: u32| there & (1 << station) != 0;
            let after_start =
                [0, 1, 2, 3, 4, 5].map(|station| is_there(station).then(|| signed(column(1)[0])));
            PageBuffer {
                ns: ns.into(),
                after_start,
            }
        });
        let buffers = buffers.collect();

        // The guesses of gaps: the times without an interval.
        let (mut reach, mut guesses) = (full[0], Vec::new());
        for one in intervals.iter().filter(|one| one.ns > 0) {
            if one.start > reach {
                guesses.push((reach, one.start));
            }
            reach = reach.max(one.start + one.ns);
        }
        guesses.push((reach, reach.max(full[1])));

        let [starts, ends, _, _, many] = [(); 5].map(|()| column(count("gaps")));
        let causes = column(usize::try_from(many.iter().sum::<u64>()).unwrap());
        let mut causes = causes.into_iter();
        let gaps = (0..count("gaps")).map(|gap| {
            let guess = guesses.get(gap).copied().unwrap_or((0, 0));
            let start = ns(i128::from(guess.0) + signed(starts[gap]));
            let end = ns(i128::from(guess.1) + signed(ends[gap]));
            let mut at = start;
            let parts = (1..=many[gap]).map(|part| {
                let from = at;
                at = if part == many[gap] {
                    end
                } else {
                    at + column(1)[0]
                };
                (from, at, usize::try_from(causes.next().unwrap()).unwrap())
            });
            parts.collect()
        });
        let gaps = gaps.collect();

        let [waits, lengths] = [(); 2].map(|()| column(count("others")));
        let mut at = 0;
        let others = waits.iter().zip(lengths).map(|(wait, ns)| {
            let start = at + wait;
            at = start + ns;
            (start, at)
        });
        let others = others.collect();
        column(count("samples"));
        let functions = column(count("samples"));
        assert!(rest.next().is_none(), "numbers are left over");
        Self {
            full,
            intervals,
            buffers,
            gaps,
            others,
            functions,
        }
    }

    /// Returns the intervals that begin in the part, and at the beginning those that reach into it.
    fn own(&self, beginning: u64) -> impl Iterator<Item = &PageInterval> {
        let is_first = self.full[0] == beginning;
        let all = self.intervals.iter();
        all.filter(move |one| is_first || one.start >= self.full[0])
    }

    /// Returns the parts of all gaps.
    fn idle(&self) -> impl Iterator<Item = (u64, u64, usize)> {
        self.gaps.iter().flatten().copied()
    }
}

fn idle_by_cause(report: &Value, data: &Value) -> Vec<u64> {
    let causes = data["causes"].as_array().unwrap().iter();
    let part = |cause: &Value| format!("{}_ns", cause.as_str().unwrap().replace('-', "_"));
    causes
        .map(|cause| report["idle"][part(cause)].as_u64().unwrap())
        .collect()
}

/// A page with few intervals has all of them, and the parts of each gap.
#[test]
fn the_timeline_data_sums_to_the_report() {
    for scenario in ["awkward", "eager", "renderer"] {
        let folder = with_page(scenario);
        let (report, Unpacked { data }) = (report_of(&folder), Unpacked::of(&page_of(&folder)));
        assert_eq!(data["is_whole"], true);
        assert_eq!(data["buckets"], Value::Null);
        assert_eq!(data["counts"]["intervals"], report["counts"]["intervals"]);
        assert_eq!(data["counts"]["gaps"], report["gaps"]["count"]);
        let part = PagePart::of(&data);
        let mut sums = vec![0; 10];
        for (from, to, cause) in part.idle() {
            sums[cause] += to - from;
        }
        assert_eq!(sums, idle_by_cause(&report, &data), "{scenario}");
        for (lane, channel) in report["channels"].as_array().unwrap().iter().enumerate() {
            let mine = part.intervals.iter().filter(|one| one.lane == lane as u64);
            let sum: u64 = mine.clone().map(|one| one.ns).sum();
            assert_eq!(channel["sum_ns"], sum, "{scenario}");
            assert_eq!(channel["intervals"], mine.count());
        }
        let others: u64 = part.others.iter().map(|(from, to)| to - from).sum();
        assert_eq!(report["busy"]["others_busy_ns"], others, "{scenario}");
    }
}

/// The times between stations are those of the report, which knows them by other code. No scenario lacks
/// all of them.
#[test]
fn the_stations_of_command_buffers_are_those_of_the_report() {
    for scenario in ["eager", "renderer", "shared-machine", "batched"] {
        let folder = with_page(scenario);
        let (report, Unpacked { data }) = (report_of(&folder), Unpacked::of(&page_of(&folder)));
        let PagePart {
            buffers, intervals, ..
        } = PagePart::of(&data);
        assert_eq!(report["counts"]["command_buffers"], buffers.len());
        let check = |name: &str, between: &dyn Fn(&PageBuffer) -> Option<i128>| {
            let times: Vec<i128> = buffers.iter().filter_map(between).collect();
            let expected = &report["latency"][name];
            let count = expected["count"].as_u64().unwrap_or(0);
            assert_eq!(times.len() as u64, count, "{scenario}: {name}");
            let edges = (times.iter().min().copied(), times.iter().max().copied());
            let edge = |key: &str| expected[key].as_i64().map(i128::from);
            assert_eq!(
                edges,
                (edge("min_ns"), edge("max_ns")),
                "{scenario}: {name}"
            );
        };
        check("driver_wait", &|buffer| {
            Some(buffer.after_start[3]? - buffer.after_start[2]?)
        });
        check("driver", &|buffer| {
            Some(buffer.after_start[4]? - buffer.after_start[3]?)
        });
        check("start", &|buffer| Some(-buffer.after_start[4]?));
        check("submission", &|buffer| Some(-buffer.after_start[2]?));
        check("completion", &|buffer| {
            Some(buffer.after_start[5]? - buffer.ns)
        });
        let encodings = buffers.iter().filter(|one| one.after_start[0].is_some());
        assert!(encodings.count() > 0, "{scenario}");

        // Each command buffer has a first interval, in order.
        let firsts = intervals.iter().filter(|one| one.owner == 1).count();
        assert_eq!(firsts, buffers.len(), "{scenario}");
    }
}

/// The page has the samples of the threads that encode, of which the report counts those in host work.
#[test]
fn the_page_has_the_functions_of_cpu_samples() {
    let folder = metalens_testing::scratch();
    let scenario = "[[process]]\nname = \"bench\"\npid = 4200\nrole = \"target\"\n\
                    samples = { period = \"20us\", host-function = \"tokenize\" }\n\
                    [[process.stream]]\ncount = 20\nsubmit = \"sync\"\nduration = \"20us\"\n\
                    host = \"200us\"\nencode = \"30us\"\nlaunch = \"40us\"\ncompletion = \"40us\"\n";
    fs::write(folder.path().join("sampled.toml"), scenario).unwrap();
    let written = metalens(folder.path(), &["synth", "sampled.toml", "-o", "sampled"]);
    assert!(written.status.success(), "{}", stderr(&written));
    analyze(folder.path(), "sampled", &["-o", "out"]);

    let (report, Unpacked { data }) = (report_of(&folder), Unpacked::of(&page_of(&folder)));
    let functions = PagePart::of(&data).functions;
    let threads = report["cpu"]["threads"].as_array().unwrap().iter();
    let submitting = threads.filter(|thread| thread["submits"] == true);
    let samples: u64 = submitting.map(|one| one["samples"].as_u64().unwrap()).sum();
    assert!(samples > 0);
    assert_eq!(functions.len() as u64, samples);
    let names = data["names"].as_array().unwrap();
    let is_tokenize = |number: u64| {
        let name = &names[usize::try_from(number).unwrap() - 1];
        name.as_str().unwrap().starts_with("tokenize")
    };
    let found = functions
        .into_iter()
        .filter(|&one| one > 0 && is_tokenize(one));
    let found = found.count() as u64;
    let callers = report["cpu"]["host"]["callers"].as_array().unwrap().iter();
    let expected = callers.filter(|one| one["function"] == "tokenize");
    let expected: u64 = expected.map(|one| one["samples"].as_u64().unwrap()).sum();
    assert!(expected > 0 && found >= expected, "{found}, {expected}");
    let Some(shown) = self_test(&folder) else {
        return;
    };
    check_self_test("sampled", &shown);
    let text = shown["gap_functions"].as_str().unwrap();
    assert!(text.contains("tokenize"), "{text}");
}

/// Returns how much of a stretch lies in other stretches, which do not overlap.
fn overlap(from: u64, to: u64, others: &[(u64, u64)]) -> u64 {
    let common = others.iter().map(|span| (span.0.max(from), span.1.min(to)));
    common.map(|(from, to)| to.saturating_sub(from)).sum()
}

/// Contention lies where other processes used the GPU, submission and queued time do not. The
/// parts of all gaps sum to the report.
#[test]
fn contention_is_where_other_processes_ran() {
    for scenario in ["shared-machine", "awkward", "renderer"] {
        let folder = with_page(scenario);
        let (report, Unpacked { data }) = (report_of(&folder), Unpacked::of(&page_of(&folder)));
        let part = PagePart::of(&data);
        let mut sums = vec![0; 10];
        for (from, to, at) in part.idle() {
            sums[at] += to - from;
            let contended = overlap(from, to, &part.others);
            match data["causes"][at].as_str().unwrap() {
                "contention" => assert_eq!(contended, to - from, "{scenario}: {from}"),
                "submission" | "queued" => assert_eq!(contended, 0, "{scenario}: {from}"),
                _ => {}
            }
        }
        assert_eq!(sums, idle_by_cause(&report, &data), "{scenario}");
    }
}

const PHASES_AND_STATES: &str = r#"
[[recording.performance]]
state = "Minimum"
start = "0ms"

[[recording.performance]]
state = "Maximum"
start = "705ms"

[[process]]
name = "bench"
pid = 4200
role = "target"

[[process.signpost]]
name = "epoch"
from = "690ms"
to = "708ms"

[[process.signpost]]
name = "step"
every = STEPS

[[process.stream]]
count = COUNT
duration = "20us"
completion = "40us"
host = "10us"
encode = "10us"
launch = "40us"
encoder-label = ["matmul", "add"]
"#;

fn with_phases_and_states(steps: &str, count: &str) -> TempDir {
    let folder = metalens_testing::scratch();
    let scenario = PHASES_AND_STATES
        .replace("STEPS", steps)
        .replace("COUNT", count);
    fs::write(folder.path().join("held.toml"), scenario).unwrap();
    let written = metalens(folder.path(), &["synth", "held.toml", "-o", "held"]);
    assert!(written.status.success(), "{}", stderr(&written));
    analyze(folder.path(), "held", &["-o", "out"]);
    folder
}

/// Phases and states have the times of the scenario; the window begins with the first interval.
#[test]
fn phases_and_performance_states_have_lanes() {
    let folder = with_phases_and_states("10", "100");
    let Unpacked { data } = Unpacked::of(&page_of(&folder));
    let start = data["start_ns"].as_u64().unwrap();
    let lanes = data["held"].as_array().unwrap();
    let lane = |at: usize| {
        let mut begun = 0;
        let numbers = Unpacked::numbers(&lanes[at]["pieces"]);
        let piece = |piece: &[u64]| {
            begun += piece[0];
            let name = &data["names"][usize::try_from(piece[3]).unwrap()];
            (
                name.as_str().unwrap().to_owned(),
                start + begun,
                start + begun + piece[1],
                piece[2],
            )
        };
        numbers.chunks(5).map(piece).collect::<Vec<_>>()
    };

    let (steps, phases, states) = (lane(0), lane(1), lane(2));
    assert_eq!(lanes.len(), 3);
    assert_eq!(steps[0].0, "step 1", "{steps:?}");
    let epoch = ("epoch".to_owned(), start, 708_000_000, 0);
    assert!(phases.contains(&epoch), "{phases:?}");
    let steps = phases
        .iter()
        .filter(|phase| phase.0 == "step" && phase.3 == 1);
    assert_eq!((steps.count(), phases.len()), (10, 11), "{phases:?}");
    let end = start + data["span_ns"].as_u64().unwrap();
    let expected = [
        ("Minimum".to_owned(), start, 705_000_000, 0),
        ("Maximum".to_owned(), 705_000_000, end, 0),
    ];
    assert_eq!(states, expected);
    let Some(found) = self_test(&folder) else {
        return;
    };

    check_self_test("held", &found);
    assert_eq!(found["held"].as_array().unwrap().len(), 3);
}

/// The page has the longest phases in full, and the share of all phases in buckets.
#[test]
fn only_the_longest_of_many_phases_are_in_full() {
    let folder = with_phases_and_states("1", "6000");
    let Unpacked { data } = Unpacked::of(&page_of(&folder));
    let lane = &data["held"][1];
    assert_eq!(
        (&lane["count"], &lane["of"]),
        (&2_000.into(), &6_001.into())
    );
    assert_eq!(lane["covered"]["count"], 2_048);
    let Some(found) = self_test(&folder) else {
        return;
    };

    check_self_test("many phases", &found);
    assert_eq!(found["held"][1]["of"], 6_001);
}

/// Channels and kernels have hundreds of names of 10 kB each.
#[test]
fn long_names_keep_the_page_below_3_mb() {
    let folder = metalens_testing::scratch();
    let mut scenario = "[[process]]\nname = \"nnn\"\npid = 4200\nrole = \"target\"\n".to_owned();
    for at in 0..200 {
        // A recording has at most 64 channels.
        let channel = at % 60;
        scenario += &format!(
            "[[process.stream]]\nchannel = \"nnn{channel}\"\ncount = 4\nduration = \"10us\"\n\
             host = \"30us\"\nencoder-label = [\"nnn{at}a\", \"nnn{at}b\"]\n"
        );
    }
    fs::write(folder.path().join("long.toml"), scenario).unwrap();
    let written = metalens(folder.path(), &["synth", "long.toml", "-o", "long"]);
    assert!(written.status.success(), "{}", stderr(&written));
    let long = "&lt;&quot;&amp;é".repeat(2_000);
    for table in fs::read_dir(folder.path().join("long")).unwrap() {
        let table = table.unwrap().path();
        if table.extension().is_some_and(|kind| kind == "xml") {
            let text = fs::read_to_string(&table).unwrap();
            fs::write(&table, text.replace("nnn", &format!("{long}n"))).unwrap();
        }
    }
    analyze(folder.path(), "long", &["-o", "out", "--show-names"]);
    let page = page_of(&folder);
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    assert!(page.contains("… and 200 more."), "kernels");
    assert!(page.contains("… and 10 more."), "channels");
    let Some(found) = self_test(&folder) else {
        return;
    };

    assert_eq!(found["errors"], Value::Array(Vec::new()));
    assert_eq!(found["overflow"], 0, "it scrolls sideways");
}

/// The page stays small, its buckets sum to the report exactly, and a
/// browser goes from them to intervals.
#[test]
fn more_intervals_than_fit_become_buckets_that_sum_to_the_report() {
    let folder = metalens_testing::scratch();
    let many =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/scenarios/million.toml");
    let many = fs::read_to_string(many).unwrap();
    // A tenth of them is more than twice of what a page holds in full, and read in a tenth of the
    // time.
    assert!(many.contains("count = 1000000\n"));
    let many = many.replace("count = 1000000\n", "count = 100000\n");
    fs::write(folder.path().join("many.toml"), many).unwrap();
    let written = metalens(folder.path(), &["synth", "many.toml", "-o", "many.trace"]);
    assert!(written.status.success(), "{}", stderr(&written));
    analyze(folder.path(), "many.trace", &["-o", "out"]);

    let (report, page) = (report_of(&folder), page_of(&folder));
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let Unpacked { data } = Unpacked::of(&page);
    let buckets = &data["buckets"];
    let count = buckets["count"].as_u64().unwrap();
    assert!(count * buckets["width_ns"].as_u64().unwrap() >= data["span_ns"].as_u64().unwrap());
    let idle = Unpacked::numbers(&buckets["idle"]).into_iter();
    let sums = Unpacked::parts(idle, 0, 0);
    assert_eq!(sums.to_vec(), idle_by_cause(&report, &data));
    let busy = Unpacked::numbers(&buckets["busy"]);
    let rows = busy.chunks(usize::try_from(count).unwrap());
    let lanes = buckets["rows"].as_array().unwrap();
    assert_eq!(rows.len(), lanes.len());
    let mut sums: BTreeMap<u64, u64> = BTreeMap::new();
    for (row, lane) in rows.zip(lanes) {
        *sums.entry(lane[0].as_u64().unwrap()).or_default() += row.iter().sum::<u64>();
    }
    let channels = report["channels"].as_array().unwrap().iter();
    let expected = channels.map(|channel| channel["busy_ns"].as_u64().unwrap());
    let expected = expected.chain([report["busy"]["others_busy_ns"].as_u64().unwrap()]);
    assert!(sums.into_values().eq(expected));
    let begun: u64 = Unpacked::numbers(&buckets["begun"]).into_iter().sum();
    assert_eq!(report["counts"]["intervals"], begun);
    check_stored(&report, &data);
    check_contention(&data);
    let Some(found) = self_test(&folder) else {
        return;
    };

    assert_eq!(found["mode"], "buckets");
    assert!(
        found["bucket_hover"].as_str().unwrap().contains("busy 8"),
        "{found}"
    );
    check_self_test("many", &found);
    check_use("many", &found, &report, &data);
    for link in found["links"].as_array().unwrap() {
        assert_eq!(link["is_exact"], true, "{link}");
    }
}

/// Checks that the stored parts tile the window, and that together they have what the report has.
fn check_stored(report: &Value, data: &Value) {
    let parts = PagePart::stored(data);
    assert!(parts.len() > 2);
    let edges = parts.iter().map(|part| part.full);
    let mut at = 0;
    for [from, to] in edges {
        assert_eq!(from, at);
        at = to;
    }
    assert_eq!(data["span_ns"], at);
    let own = parts.iter().flat_map(|part| part.own(0));
    assert_eq!(report["counts"]["intervals"], own.count());
    let mut sums = vec![0; 10];
    let (mut gaps, mut others) = (0, 0);
    for part in &parts {
        let [first, last] = part.full;
        let inside = |from: u64, to: u64| to.min(last).saturating_sub(from.max(first));
        for (from, to, cause) in part.idle() {
            sums[cause] += inside(from, to);
        }
        gaps += part.gaps.iter().filter(|gap| gap[0].0 >= first).count();
        others += part
            .others
            .iter()
            .map(|&(from, to)| inside(from, to))
            .sum::<u64>();
    }
    assert_eq!(sums, idle_by_cause(report, data));
    assert_eq!(report["gaps"]["count"], gaps);
    assert_eq!(report["busy"]["others_busy_ns"], others);
}

/// Checks that no bucket has more contention than time of other processes on the GPU.
fn check_contention(data: &Value) {
    let buckets = &data["buckets"];
    let count = usize::try_from(buckets["count"].as_u64().unwrap()).unwrap();
    let busy = Unpacked::numbers(&buckets["busy"]);
    let others = &busy[busy.len() - count..];
    let mut idle = Unpacked::numbers(&buckets["idle"]).into_iter();
    let names = data["causes"].as_array().unwrap();
    let mut seen = 0;
    for (index, &others) in others.iter().enumerate() {
        let there = idle.next().unwrap();
        for (cause, name) in names.iter().enumerate() {
            let ns = if there & (1 << cause) == 0 {
                0
            } else {
                idle.next().unwrap()
            };
            if name == "contention" {
                assert!(ns <= others, "bucket {index}: {ns} of {others}");
                seen += ns;
            }
        }
    }
    assert!(seen > 0);
}

/// Runs the page's test of itself in Chromium, and returns its result. None without Chromium.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn self_test(folder: &TempDir) -> Option<Value> {
    let profile = metalens_testing::scratch();
    let page = folder.path().join("out/report.html");
    let run = |name: &str| {
        let mut chromium = Command::new(name);
        chromium
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--window-size=1000,900",
            ])
            .args([
                "--disable-dev-shm-usage",
                "--virtual-time-budget=5000",
                "--dump-dom",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(format!("file://{}#selftest", page.display()));
        chromium.output().ok()
    };

    let Some(output) = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find_map(run)
    else {
        eprintln!("skipped: no chromium on this machine, so the page was not tried in one");
        return None;
    };

    let document = String::from_utf8(output.stdout).unwrap();
    let from = document.find("data-selftest=\"");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(from.is_some(), "no result; {complaint}");
    let from = from?;
    let text = &document[from + "data-selftest=\"".len()..];
    let text = &text[..text.find('"').unwrap()];
    let text = text
        .replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    let text = text.replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
    Some(serde_json::from_str(&text).unwrap())
}

fn check_self_test(name: &str, found: &Value) {
    let number = |key: &str| found[key].as_f64().unwrap();
    let text = |key: &str| found[key].as_str().unwrap();
    assert_eq!(found["errors"], Value::Array(Vec::new()), "{name}");
    assert!(
        number("shades") > 20.0,
        "{name}: nothing is painted: {found}"
    );
    assert!(
        number("wheeled_ns") < 0.6 * number("span_ns"),
        "{name}: {found}"
    );
    assert!(
        (number("zoomed_ns") / number("wheeled_ns") - 0.5).abs() < 1e-6,
        "{name}"
    );
    assert!(
        (number("moved_ns") / number("zoomed_ns") - 0.2).abs() < 1e-6,
        "{name}"
    );
    assert_eq!(number("reset_ns"), number("span_ns"), "{name}");
    assert!(text("readout").starts_with("In the middle: "), "{name}");
    assert_eq!(found["exact"], "exact", "{name}");
    let exact = |key: &str| {
        let ns = found[key].as_u64().unwrap();
        exactly(ns)
    };

    let hover = text("hover");
    assert!(hover.starts_with(text("kernel")), "{name}: {hover}");
    assert!(hover.contains(&exact("duration_ns")), "{name}: {hover}");
    let gap = text("gap_hover");
    assert!(gap.starts_with("gap: mostly "), "{name}: {gap}");
    assert!(gap.contains(&exact("gap_ns")), "{name}: {gap}");
    let stages = text("gap_stages");
    assert!(
        stages.starts_with("The command buffer after it:encoding"),
        "{name}: {stages}"
    );
    assert!(stages.contains("GPU after"), "{name}: {stages}");
    let column = |key: &str| -> Vec<u64> { serde_json::from_value(found[key].clone()).unwrap() };
    let (ascending, descending) = (column("ascending"), column("descending"));
    assert!(ascending.is_sorted(), "{name}: {ascending:?}");
    assert!(
        descending.is_sorted_by(|a, b| a >= b),
        "{name}: {descending:?}"
    );
    assert_eq!(found["sort"], "ascending", "{name}");
    assert_eq!(found["overflow"], 0, "{name}: it scrolls sideways");
    assert_eq!(found["picture"], 1, "{name}: hidden, and with a title");
    for lane in found["held"].as_array().unwrap() {
        let hover = lane["hover"].as_str().unwrap();
        assert!(
            hover.starts_with(lane["name"].as_str().unwrap()),
            "{name}: {lane}"
        );
        let ns = lane["ns"].as_u64().unwrap();
        assert!(hover.contains(&exactly(ns)), "{name}: {lane}");
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    let all = value.as_array().unwrap().iter();
    all.map(|value| value.as_f64().unwrap()).collect()
}

/// Checks that links lead to what they name, that keys and drags move the view, that the sums of
/// everything are those of the report, and that the search finds what is there.
fn check_use(name: &str, found: &Value, report: &Value, data: &Value) {
    let start = data["start_ns"].as_f64().unwrap();
    let span = data["span_ns"].as_f64().unwrap();
    let links = found["links"].as_array().unwrap();
    let in_section = |id: &str| {
        links
            .iter()
            .filter(|link| link["section"] == id)
            .collect::<Vec<_>>()
    };
    let gaps = in_section("longest-gaps");
    let top = report["gaps"]["top"].as_array().unwrap();
    assert_eq!(gaps.len(), top.len().min(10), "{name}");
    for (link, gap) in gaps.iter().zip(top) {
        assert_eq!(link["at_ns"], gap["start_ns"], "{name}");
        let selected = numbers(&link["selected"]);
        let long = gap["duration_ns"].as_f64().unwrap();
        let by = selected[1] - selected[0] - long;
        assert!(by.abs() < 0.5, "{name}: {link}, {gap}");
    }
    assert!(
        !in_section("findings").is_empty(),
        "{name}: no finding has a place"
    );
    for link in links {
        let (view, selected) = (numbers(&link["view"]), numbers(&link["selected"]));
        let at = link["at_ns"].as_f64().unwrap() - start;
        assert!(view[0] <= at && at <= view[1], "{name}: {link}");
        assert!(selected[0] <= at && at <= selected[1], "{name}: {link}");
        assert!(
            view[1] - view[0] < 0.9 * span || selected[1] - selected[0] > 0.3 * span,
            "{name}: {link}"
        );
        assert_eq!(link["has_focus"], true, "{name}");
    }

    let keys: Vec<Value> = found["keys"].as_array().unwrap().clone();
    let view = |at: usize| (keys[at][1].as_f64().unwrap(), keys[at][2].as_f64().unwrap());
    let about = |is: f64, expected: f64| {
        assert!(
            (is - expected).abs() < 1e-6 * span,
            "{name}: {is}, {expected}: {keys:?}"
        );
    };
    about(view(0).1 - view(0).0, span / 2.0);
    about(view(1).1 - view(1).0, span / 4.0);
    about(view(2).0 - view(1).0, span / 20.0);
    about(view(3).1 - view(3).0, span / 2.0);
    about(view(3).0 - view(4).0, span / 10.0);
    about(view(5).0, view(4).0);
    about(view(7).1 - view(7).0, span);

    let all = &found["all_sums"];
    assert_eq!(all["ns"], report["window"]["span_ns"], "{name}");
    assert_eq!(all["busy"], report["busy"]["busy_ns"], "{name}");
    let idle: Vec<u64> = serde_json::from_value(all["idle"].clone()).unwrap();
    assert_eq!(idle, idle_by_cause(report, data), "{name}");
    assert_eq!(all["intervals"], report["counts"]["intervals"], "{name}");
    let busy = metalens_text::units::time(report["busy"]["busy_ns"].as_u64().unwrap());
    let text = all["text"].as_str().unwrap();
    assert!(
        text.contains(&format!("GPU busy {}", busy.replace(' ', "\u{a0}"))),
        "{name}: {text}"
    );
    assert_eq!(found["cleared"], true, "{name}");

    let share = |value: &Value, expected: [f64; 2]| {
        for (is, expected) in numbers(value).into_iter().zip(expected) {
            assert!((is - expected).abs() < 0.01, "{name}: {value}");
        }
    };
    share(&found["brushed"], [0.25, 0.5]);
    share(&found["strip_moved"], [0.5, 0.75]);
    let moved = found["shift_moved"].as_f64().unwrap();
    assert!((moved - 100.0).abs() < 0.5, "{name}: {moved}");

    assert_eq!(found["tapped"], "gap", "{name}");
    assert_eq!(found["find_has_focus"], true, "{name}");
    let search = &found["search"];
    // The first row, after the table was sorted.
    let kernel = search["name"].as_str().unwrap();
    let wanted = kernel.to_lowercase();
    let has = |number: u64| {
        let name = data["names"][usize::try_from(number).unwrap()]
            .as_str()
            .unwrap();
        number > 0 && name.to_lowercase().contains(&wanted)
    };
    let full: [u64; 2] = serde_json::from_value(search["full"].clone()).unwrap();
    let mut parts = vec![PagePart::of(data)];
    if parts[0].full != full {
        parts = PagePart::stored(data);
    }
    let is_here = |part: &&PagePart| full[0] <= part.full[0] && part.full[1] <= full[1];
    let parts = parts.iter().filter(is_here);
    let intervals = parts.flat_map(|part| part.own(full[0]));
    let count = intervals.filter(|one| has(one.name)).count() as u64;
    let count = metalens_text::units::count(count);
    assert!(
        search["all"]
            .as_str()
            .unwrap()
            .starts_with(&format!("{count} found")),
        "{name}: {search}"
    );
    let found_ones = search["found"].as_array().unwrap();
    assert_eq!(found_ones.len(), 2, "{name}: {search}");
    assert!(
        found_ones[0][0].as_u64() < found_ones[1][0].as_u64(),
        "{name}: {search}"
    );
    for interval in found_ones {
        let what = interval[2].as_str().unwrap();
        assert!(what.to_lowercase().contains(&wanted), "{name}: {search}");
        assert!(
            interval[3]
                .as_str()
                .unwrap()
                .contains(&format!(" of {count}")),
            "{name}: {search}"
        );
    }
    assert_eq!(found["hovered"], serde_json::json!([kernel]), "{name}");
    assert_eq!(
        (&found["unhovered"], &found["jumped"]),
        (&true.into(), &kernel.into()),
        "{name}"
    );
    let mut times: BTreeMap<&str, u64> = BTreeMap::new();
    for kernel in report["kernels"].as_array().unwrap() {
        *times.entry(kernel["name"].as_str().unwrap()).or_default() +=
            kernel["total_ns"].as_u64().unwrap();
    }
    let longer = times.values().filter(|&&ns| ns > times[kernel]).count();
    let class = format!("swatch kernel-{}", longer.min(5));
    assert_eq!(found["kernel_colors"][0], class, "{name}: {times:?}");
}

/// Checks the sums of a selected part against those that the page's data has, read by other code.
fn check_sums(name: &str, sums: &Value, data: &Value) {
    let (from, to) = (sums["from"].as_u64().unwrap(), sums["to"].as_u64().unwrap());
    let view = numbers(&sums["view"]);
    let wide = view[1] - view[0];
    assert!(
        (from as f64 - view[0] - 0.25 * wide).abs() < 0.01 * wide,
        "{name}: {sums}"
    );
    assert!(
        (view[1] - 0.25 * wide - to as f64).abs() < 0.01 * wide,
        "{name}: {sums}"
    );
    let mut idle = vec![0; 10];
    let part = PagePart::of(data);
    for (start, end, cause) in part.idle() {
        idle[cause] += end.min(to).saturating_sub(start.max(from));
    }
    assert_eq!(sums["idle"], serde_json::json!(idle), "{name}");
    assert_eq!(sums["ns"], to - from, "{name}");
    assert_eq!(sums["busy"], to - from - idle.iter().sum::<u64>(), "{name}");
    let begun = part.intervals.iter();
    let begun = begun.filter(|one| (from..to).contains(&one.start));
    assert_eq!(sums["intervals"], begun.count(), "{name}");
}

/// Formats a length as the tooltip does.
fn exactly(ns: u64) -> String {
    format!("({}\u{a0}ns)", metalens_text::units::count(ns))
}

/// The page loads without errors, zooms, pans, shows tooltips and sorts tables.
#[test]
fn the_page_works_in_a_browser() {
    for scenario in ["awkward", "renderer"] {
        let folder = with_page(scenario);
        let Some(found) = self_test(&folder) else {
            return;
        };
        assert_eq!(found["mode"], "exact");
        check_self_test(scenario, &found);
        let (report, Unpacked { data }) = (report_of(&folder), Unpacked::of(&page_of(&folder)));
        check_use(scenario, &found, &report, &data);
        check_sums(scenario, &found["dragged"], &data);
    }
    let Some(found) = self_test(&hostile()) else {
        return;
    };

    check_self_test("hostile", &found);
}
