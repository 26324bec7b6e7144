//! Compares pairs of synthetic sides with a known truth: headline, table, picture, gate and exit code
//! agree, and are right.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{metalens, stderr, stdout, transcript};

/// A side: what its runs have in common.
#[derive(Clone, Copy)]
struct Side {
    count: u32,
    kernel_us: u32,
    per_buffer: u32,
    labels: &'static [&'static str],
    gpu: &'static str,
}

const BASE: Side = Side {
    count: 40,
    kernel_us: 30,
    per_buffer: 1,
    labels: &["matmul", "softmax"],
    gpu: "Synthetic GPU",
};

impl Side {
    fn toml(self, seed: usize) -> String {
        let Self {
            count,
            kernel_us,
            per_buffer,
            labels,
            gpu,
        } = self;
        format!(
            "seed = {seed}\n[recording]\ngpu = \"{gpu}\"\n[[process]]\nname = \"bench\"\npid = 4101\n\
             role = \"target\"\n[[process.stream]]\ncount = {count}\nsubmit = \"sync\"\n\
             encoders-per-buffer = {per_buffer}\nencoder-label = {labels:?}\n\
             duration = [\"{kernel_us}us\", \"{}us\"]\nlaunch = [\"80us\", \"81us\"]\n\
             completion = [\"55us\", \"56us\"]\nencode = \"6us\"\nhost = \"5us\"\n",
            kernel_us + 1
        )
    }

    /// Writes runs of this side and returns their names.
    fn write(self, folder: &Path, name: &str, runs: usize, first_seed: usize) -> Vec<String> {
        let write = |run: usize| {
            let name = format!("{name}{run}");
            let file = format!("{name}.toml");
            fs::write(folder.join(&file), self.toml(first_seed + run)).unwrap();
            let output = metalens(folder, &["synth", &file, "-o", &name]);
            assert!(output.status.success(), "{}", transcript(&output));
            name
        };
        (0..runs).map(write).collect()
    }
}

/// Expected results of a pair.
struct Truth {
    name: &'static str,
    new: Side,
    /// Parts of the headline, in their order.
    headline: &'static [&'static str],
    /// `work.amount` and `work.basis`.
    work: [&'static str; 2],
    /// Parts of the table's row of this kernel.
    row: (&'static str, &'static [&'static str]),
    /// The limits that fail, each once.
    failed: &'static [&'static str],
    /// Those of them that only warn with one run per side, which does not show the noise.
    doubtful: &'static [&'static str],
    code: i32,
}

const SAME: [&str; 2] = ["same", "whole"];
const OTHER: [&str; 2] = ["different", "step"];

const TRUTHS: [Truth; 12] = [
    Truth {
        name: "nothing changed",
        new: BASE,
        headline: &["Same work: 40 GPU intervals, "],
        work: SAME,
        row: ("matmul", &[]),
        failed: &[],
        doubtful: &[],
        code: 0,
    },
    Truth {
        name: "slower kernels",
        new: Side {
            kernel_us: 45,
            ..BASE
        },
        headline: &[
            " times as long",
            "GPU busy +",
            "Same work: 40 GPU intervals, ",
        ],
        work: SAME,
        row: ("matmul", &["regressed"]),
        failed: &["matmul", "softmax", "steps.own_ns"],
        doubtful: &[],
        code: 5,
    },
    Truth {
        name: "faster kernels",
        new: Side {
            kernel_us: 20,
            ..BASE
        },
        headline: &[
            " times as fast",
            "GPU busy −",
            "Same work: 40 GPU intervals, ",
        ],
        work: SAME,
        row: ("matmul", &["improved"]),
        failed: &[],
        doubtful: &[],
        code: 0,
    },
    Truth {
        name: "less work",
        new: Side { count: 32, ..BASE },
        headline: &[
            "Per step, ",
            "The run is shorter",
            "Different work: 32 GPU intervals instead of 40 (−20.0 %), 32 command buffers instead of \
             40 (−20.0 %), ",
        ],
        work: OTHER,
        row: ("matmul", &["other count"]),
        failed: &[],
        doubtful: &[],
        code: 0,
    },
    Truth {
        name: "less work, and slower kernels: in all less time",
        new: Side {
            count: 32,
            kernel_us: 45,
            ..BASE
        },
        headline: &[
            "Per step, new takes ",
            "The run is shorter",
            "Different work: 32 GPU intervals instead of 40 (−20.0 %)",
        ],
        work: OTHER,
        row: ("matmul", &["regressed"]),
        failed: &["matmul", "softmax", "steps.own_ns"],
        doubtful: &[],
        code: 5,
    },
    Truth {
        name: "more work, and faster kernels: in all more time",
        new: Side {
            count: 50,
            kernel_us: 20,
            ..BASE
        },
        headline: &[
            "Per step, new is ",
            "The run is longer",
            "Different work: 50 GPU intervals instead of 40 (+25.0 %)",
        ],
        work: OTHER,
        row: ("matmul", &["improved"]),
        failed: &[],
        doubtful: &[],
        code: 0,
    },
    Truth {
        name: "fewer intervals in as many command buffers",
        new: Side {
            count: 20,
            per_buffer: 1,
            ..BASE
        },
        headline: &[
            "Per command buffer, new is ",
            "The run is shorter",
            "Different work: 20 GPU intervals instead of 40 (−50.0 %), 20 command buffers, ",
        ],
        work: ["different", "command-buffer"],
        row: ("matmul", &["other count"]),
        // What was one command buffer takes two.
        failed: &["steps.command_buffers"],
        doubtful: &[],
        code: 5,
    },
    Truth {
        name: "another machine",
        new: Side {
            gpu: "Another GPU",
            ..BASE
        },
        headline: &[],
        work: SAME,
        row: ("matmul", &[]),
        failed: &[],
        doubtful: &[],
        code: 6,
    },
    Truth {
        name: "a kernel renamed",
        new: Side {
            labels: &["matmul_v2", "softmax"],
            ..BASE
        },
        headline: &[
            "Same work: 40 GPU intervals",
            "Kernels under another name: matmul → matmul_v2",
        ],
        work: SAME,
        row: ("matmul → matmul_v2", &[]),
        failed: &[],
        doubtful: &[],
        code: 0,
    },
    Truth {
        name: "a kernel gone",
        new: Side {
            labels: &["matmul"],
            ..BASE
        },
        headline: &[
            "Same amount, other kernels: 40 ",
            "1 kernel instead of 2",
            "Kernels only in base: softmax",
        ],
        work: SAME,
        row: ("softmax", &["removed"]),
        failed: &["matmul", "softmax"],
        doubtful: &[],
        code: 5,
    },
    Truth {
        name: "a kernel added",
        new: Side {
            labels: &["matmul", "softmax", "copy"],
            ..BASE
        },
        headline: &[
            "Same amount, other kernels: 40 ",
            "3 kernels instead of 2",
            "Kernels only in new: copy",
        ],
        work: SAME,
        row: ("copy", &["added"]),
        failed: &["matmul", "softmax"],
        doubtful: &[],
        code: 5,
    },
    Truth {
        name: "another program",
        new: Side {
            labels: &["draw", "blur", "tone"],
            ..BASE
        },
        headline: &[
            "No kernel in common: these may be different programs",
            "Same amount, other kernels: 40 GPU intervals",
            "Kernels only in base: ",
            "; only in new: ",
        ],
        work: SAME,
        row: ("draw", &["added"]),
        failed: &["matmul", "softmax"],
        doubtful: &[],
        code: 5,
    },
];

#[test]
fn headline_table_picture_gate_and_exit_code_tell_the_truth() {
    for truth in &TRUTHS {
        for runs in [1, 3] {
            check(truth, runs);
        }
    }
}

fn check(truth: &Truth, runs: usize) {
    let folder = metalens_testing::scratch();
    let folder = folder.path();
    let base = match truth.work {
        [_, "command-buffer"] => Side {
            per_buffer: 2,
            ..BASE
        },
        _ => BASE,
    };
    let (base, new) = (
        base.write(folder, "a", runs, 1),
        truth.new.write(folder, "b", runs, 11),
    );
    let mut arguments = vec!["compare", "--base"];
    arguments.extend(base.iter().map(String::as_str));
    arguments.push("--new");
    arguments.extend(new.iter().map(String::as_str));
    arguments.push("--gate");

    let screen = metalens(folder, &arguments);
    let all = format!("{}, {runs} runs\n{}", truth.name, transcript(&screen));
    assert_eq!(screen.status.code(), Some(truth.code), "{all}");
    if truth.code == 6 {
        assert!(stdout(&screen).is_empty(), "{all}");
        assert!(stderr(&screen).contains(truth.new.gpu), "{all}");
        return;
    }

    arguments.push("--json");
    let json = metalens(folder, &arguments);
    assert_eq!(json.status.code(), Some(truth.code), "{all}");
    assert_eq!(stderr(&json), stderr(&screen), "{all}");
    let json: Value = serde_json::from_str(&stdout(&json)).unwrap();
    check_headline(truth, &json, &all);
    check_sums(&json, &all);

    let (out, err) = (stdout(&screen), stderr(&screen));
    assert!(out.lines().count() <= 40, "{all}");
    *arguments.last_mut().unwrap() = "--full";
    let full = metalens(folder, &arguments);
    assert_eq!(full.status.code(), Some(truth.code), "{all}");
    check_row(truth, runs, &stdout(&full));
    // The first screen has the kernels that changed.
    if is_changed(truth) {
        check_row(truth, runs, &out);
    }

    // The verdict is the first line, and the last one for whom the output is hidden.
    let word = if truth.code == 5 {
        "Gate failed: "
    } else {
        "Gate passed: "
    };
    assert!(out.trim_start().starts_with(word), "{all}");
    assert!(
        err.trim_end().lines().last().unwrap().starts_with(word),
        "{all}"
    );
    assert_eq!(json["gate"]["missed"], truth.code == 5, "{all}");

    let doubtful = if runs == 1 { truth.doubtful } else { &[] };
    let rows = json["gate"]["rows"].as_array().unwrap();
    for (verdict, word, expected) in [
        ("miss", "failed: ", without(truth.failed, doubtful)),
        ("inconclusive", "inconclusive: ", doubtful.to_vec()),
    ] {
        let missed = rows
            .iter()
            .filter(|row| row["verdict"] == verdict && row["severity"] == "error");
        let mut missed: Vec<&str> = missed.map(|row| row["what"].as_str().unwrap()).collect();
        missed.sort_unstable();
        missed.dedup();
        assert_eq!(missed, expected, "{verdict} {all}");
        for what in missed {
            let is_told = |line: &str| line.starts_with(word) && line.contains(what);
            assert!(err.lines().any(is_told), "{what} {all}");
        }
    }

    arguments.pop();
    arguments.extend(["-o", "page"]);
    let page = metalens(folder, &arguments);
    assert_eq!(page.status.code(), Some(truth.code), "{all}");
    check_picture(folder, &json, &stdout(&full), &all);
}

/// Checks the table's row of the kernel. One run per side does not show noise, so nothing is known to
/// have regressed or improved.
fn check_row(truth: &Truth, runs: usize, screen: &str) {
    let said = |part: &str| match runs {
        1 => part
            .replace("regressed", "higher")
            .replace("improved", "lower"),
        _ => part.to_owned(),
    };
    let row = screen.lines().filter(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some(truth.row.0)
    });
    let row: Vec<&str> = row.collect();
    let mut parts = truth.row.1.iter();
    let has_parts = parts.all(|part| row.iter().any(|row| row.contains(&said(part))));
    assert!(has_parts, "{:?} {row:?} {screen}", truth.row);
}

/// Returns whether the kernel changed.
fn is_changed(truth: &Truth) -> bool {
    let words = ["regressed", "improved", "added", "removed"];
    let mut parts = truth.row.1.iter();
    parts.any(|part| words.iter().any(|word| part.contains(word)))
}

fn without<'a>(all: &[&'a str], some: &[&str]) -> Vec<&'a str> {
    let rest = all.iter().filter(|name| !some.contains(name));
    rest.copied().collect()
}

/// Checks that the picture tells what the headline tells, with the same numbers.
fn check_picture(folder: &Path, json: &Value, full: &str, all: &str) {
    let picture = fs::read(folder.join("page/charts/compare.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"), "{all}");
    let page = fs::read_to_string(folder.join("page/comparison.md")).unwrap();
    let mut lines = page.lines();
    let alt = lines.find(|line| line.starts_with("![Before and after. "));
    let alt = alt.unwrap().replace('\\', "");

    // The sentence about the time is the headline's first one, up to its causes.
    let headline = json["headline"]["text"].as_str().unwrap();
    let first = headline.split(". ").next().unwrap();
    let time = first.split("; ").next().unwrap();
    assert!(alt.contains(time), "{time}\n{alt}\n{all}");
    let mut metrics = json["metrics"].as_array().unwrap().iter();
    let amount = metrics
        .find(|metric| metric["id"] == "counts.intervals")
        .unwrap();
    let said = format!("{} GPU intervals", amount["fitted"]["new"]);
    assert!(alt.contains(&said), "{said}\n{alt}\n{all}");

    // What is drawn says the same as the tables.
    let html = fs::read_to_string(folder.join("page/comparison.html")).unwrap();
    let drawn = html.split("<text ").skip(1).filter_map(|text| {
        let (_, text) = text.split_once('>')?;
        text.split('<').next()
    });
    const BUSY: &str = "GPU busy ";
    let changes = drawn.filter_map(|text| text.strip_prefix(BUSY));
    // The heading has the idle time behind a comma.
    let mut changes = changes.filter(|text| !text.contains(','));
    let change = changes.next().unwrap();
    let mut rows = full.lines().filter(|line| line.trim().starts_with(BUSY));
    assert!(rows.any(|row| row.contains(change)), "{change}\n{full}");
}

#[expect(clippy::panic, reason = "it is the failure report")]
fn check_headline(truth: &Truth, json: &Value, all: &str) {
    let headline = json["headline"]["text"].as_str().unwrap();
    let mut rest = headline;
    for part in truth.headline {
        let Some((_, after)) = rest.split_once(part) else {
            panic!("{part} is not in {headline}\n{all}");
        };
        rest = after;
    }
    assert_eq!(
        [&json["work"]["amount"], &json["work"]["basis"]],
        truth.work,
        "{all}"
    );

    // The headline and the class of the figure that it is about.
    let figures = if json["work"]["basis"] == "whole" {
        &json["metrics"]
    } else {
        &json["work"]["per_unit"]
    };
    let mut figures = figures.as_array().unwrap().iter();
    let wall = figures
        .find(|figure| figure["id"] == "window.span_ns")
        .unwrap();
    let word = match wall["class"].as_str().unwrap() {
        "grown" => " times as long",
        "shrunk" => " times as fast",
        "unchanged" if wall["interval"].is_null() => "o difference that counts",
        "unchanged" => "o change seen",
        _ if headline.contains("o change seen") => "at most ",
        _ => "nconclusive",
    };
    assert!(headline.contains(word), "{word} {all}");
    let is_nothing = truth.name == "nothing changed";
    let is_small = wall["size"].is_null() || wall["size"] == "small";
    assert!(!is_nothing || is_small, "{all}");
}

/// Checks that base, new and change of every figure add up, and that no total over other work is
/// called better or worse.
fn check_sums(json: &Value, all: &str) {
    for metric in json["metrics"].as_array().unwrap() {
        let number = |value: &Value| value.as_f64();
        let (Some(base), Some(new), Some(change)) = (
            number(&metric["fitted"]["base"]),
            number(&metric["fitted"]["new"]),
            number(&metric["absolute"]),
        ) else {
            assert!(metric["absolute"].is_null(), "{metric} {all}");
            continue;
        };
        assert!((new - base - change).abs() < 1e-6, "{metric} {all}");
        if let Some(share) = number(&metric["relative"]) {
            assert!((share - change / base.abs()).abs() < 1e-9, "{metric} {all}");
        }
        let is_total = metric["id"] == "window.span_ns" && json["work"]["basis"] == "step";
        assert!(!is_total || metric["direction"].is_null(), "{metric} {all}");
    }
}

/// Runs the commands of the example in docs/gating.md, each with the exit code that stands beside
/// it. Its recordings are synthetic.
#[test]
fn the_whole_example_of_the_page_runs() {
    const PAGE: &str = include_str!("../../../../../../docs/gating.md");
    let (_, example) = PAGE.split_once("## A whole example").unwrap();
    let (_, example) = example.split_once("```sh\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();

    let folder = metalens_testing::scratch();
    let folder = folder.path();
    let slower = Side {
        kernel_us: 45,
        ..BASE
    };
    for (side, name, seed) in [(BASE, "a", 0), (BASE, "b", 10), (slower, "c", 20)] {
        for run in 1..=3 {
            fs::write(folder.join("run.toml"), side.toml(seed + run)).unwrap();
            let name = format!("{name}{run}.trace");
            let output = metalens(folder, &["synth", "run.toml", "-o", &name]);
            assert!(output.status.success(), "{}", transcript(&output));
        }
    }

    let mut codes = Vec::new();
    for line in example.lines().filter(|line| line.starts_with("metalens ")) {
        let (command, comment) = line.split_once('#').unwrap_or((line, ""));
        let arguments: Vec<&str> = command.split_whitespace().skip(1).collect();
        let output = metalens(folder, &arguments);
        let code = comment.trim().strip_prefix("exit code ");
        let code: i32 = code.map_or(0, |code| code.split(':').next().unwrap().parse().unwrap());
        assert_eq!(
            output.status.code(),
            Some(code),
            "{line}\n{}",
            transcript(&output)
        );
        codes.push(code);
    }
    assert_eq!(codes, [0, 0, 5]);
}

#[test]
fn mistaken_arguments_are_explained() {
    let folder = metalens_testing::scratch();
    let folder = folder.path();
    BASE.write(folder, "a", 3, 1);
    let run = |arguments: &str, code: i32, expected: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let output = metalens(folder, &arguments);
        assert_eq!(output.status.code(), Some(code), "{}", transcript(&output));
        let told = format!("{}{}", stdout(&output), stderr(&output));
        assert!(told.contains(expected), "{told}");
    };

    run("compare --gate a0 a1", 0, "Gate passed: ");
    run(
        "compare a0 a1 --gate limits.toml",
        2,
        "write --gate=limits.toml",
    );
    run("baseline save a0 a1 a2 -o base.json", 0, "wrote base.json");
    run(
        "compare base.json a0",
        2,
        "base.json is a baseline, not a run: use --baseline base.json",
    );
    run("baseline show a0", 1, "a0 is a folder, not a baseline");
    run("baseline figures", 0, "window.span_ns ");
}
