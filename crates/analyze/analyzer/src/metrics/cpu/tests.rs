//! Tests of CPU samples: drawn by hand, and laws of their sums.

use std::collections::BTreeSet;

use metalens_message::Share;
use metalens_text::number::Float;
use metalens_trace::{Frame, Input, LoadOptions, Process, Thread, Trace};
use proptest::prelude::*;

use super::stacks::collapse;
use super::*;
use crate::questions::cpu_stacks::cpu_stacks;
use crate::report::CpuFrame;

const TICK_NS: u64 = 1_000;

/// Process with threads, and their samples.
struct Scene {
    names: Names,
    samples: Samples,
    threads: Vec<ThreadId>,
    members: Members,
}

/// Draws samples, one line per thread and one letter per tick. `a`: running in a, which nothing
/// called. `c`: running in c, called by b, called by a. `C`: the same, waiting. `d` is a function of a
/// runtime library. `?`: running without a stack. `.`: not sampled.
fn scene(drawing: &[&str]) -> Scene {
    let mut names = Names::new();
    let name = names.symbol("bench");
    let process = names.process_id(Process { name, pid: Some(7) });
    let (running, blocked) = (names.symbol("Running"), names.symbol("Blocked"));
    let mut rows = Vec::new();
    let mut threads = Vec::new();
    for (number, line) in drawing.iter().enumerate() {
        let display = names.symbol(&format!("Thread {number} (bench, pid: 7)"));
        let thread = names.thread_id(Thread {
            display,
            tid: Some(number as u64),
            process: Some(process),
        });
        threads.push(thread);
        for (tick, letter) in line.chars().enumerate().filter(|(_, c)| *c != '.') {
            let deepest = letter.to_ascii_lowercase();
            let frames: Vec<_> = ('a'..=deepest)
                .rev()
                .filter(|_| letter != '?')
                .map(|letter| {
                    let name = names.symbol(&letter.to_string());
                    let binary = (letter == 'd').then(|| names.symbol("/usr/lib/libobjc.A.dylib"));
                    names.frame_id(Frame {
                        name,
                        address: name,
                        binary,
                    })
                })
                .collect();
            rows.push(Sample {
                time_ns: tick as u64 * TICK_NS,
                thread: Some(thread),
                process: Some(process),
                state: Some(if letter.is_ascii_uppercase() {
                    blocked
                } else {
                    running
                }),
                weight: Some(TICK_NS),
                stack: (!frames.is_empty()).then(|| names.stack_id(&frames)),
            });
        }
    }
    rows.sort_by_key(|sample: &Sample| sample.time_ns);
    let members = Members::new(&[process], &names);
    let samples = Samples {
        table: crate::tables::cpu::TIME_PROFILE,
        unit: WeightUnit::Ns,
        waiting_recorded: None,
        rows,
    };
    Scene {
        names,
        samples,
        threads,
        members,
    }
}

/// Returns the stretches drawn with `#`.
fn stretches(drawing: &str) -> Vec<Span> {
    let ticks = drawing.chars().enumerate().filter(|(_, c)| *c == '#');
    let spans = ticks.map(|(at, _)| Span::new(at as u64 * TICK_NS, (at as u64 + 1) * TICK_NS));
    crate::basics::spans::union(spans)
}

fn short(frames: &[CpuFrame]) -> Vec<(String, u64)> {
    let name = |frame: &CpuFrame| frame.function.clone().unwrap_or("0x".to_owned());
    frames
        .iter()
        .map(|frame| (name(frame), frame.samples))
        .collect()
}

struct Expected<'a> {
    samples: u64,
    running: u64,
    waiting: u64,
    coverage: f64,
    own: &'a [(&'a str, u64)],
    total: &'a [(&'a str, u64)],
}

fn check(drawing: &[&str], submitters: &[usize], host: &str, expected: &Expected<'_>) {
    let scene = scene(drawing);
    let submitters: Vec<ThreadId> = submitters.iter().map(|&at| scene.threads[at]).collect();
    let window = Span::new(0, host.len() as u64 * TICK_NS);
    let found = facts(
        &scene.samples,
        &scene.members,
        &submitters,
        &CpuSpans {
            window,
            before: None,
            host: &stretches(host),
        },
        &scene.names,
    );
    let found = found.0.host.unwrap();
    assert_eq!(
        (found.samples, found.running, found.waiting),
        (expected.samples, expected.running, expected.waiting)
    );
    assert_eq!(found.coverage, Some(Share(expected.coverage)));
    let text = |list: &[(&str, u64)]| -> Vec<(String, u64)> {
        list.iter().map(|&(name, n)| (name.to_owned(), n)).collect()
    };
    assert_eq!(short(&found.self_frames), text(expected.own));
    assert_eq!(short(&found.total_frames), text(expected.total));
}

#[test]
fn host_work_is_named_by_samples() {
    // The second thread submits nothing; c is reached through a and b.
    check(
        &[
            "aacc.Bbaaa?", //
            "bbbbbbbbbbb",
        ],
        &[0],
        "..####....#",
        &Expected {
            samples: 4,
            running: 2,
            waiting: 1,
            coverage: 4.0 / 5.0,
            own: &[("c", 2), ("b", 1)],
            total: &[("a", 3), ("b", 3), ("c", 2)],
        },
    );
}

#[test]
fn without_known_submitters_every_thread_counts() {
    check(
        &["a.", "a."],
        &[],
        "##",
        &Expected {
            samples: 2,
            running: 2,
            waiting: 0,
            coverage: 1.0,
            own: &[("a", 2)],
            total: &[("a", 2)],
        },
    );
}

/// Before the window, samples in a runtime library count for its caller.
#[test]
fn what_came_before_the_window_is_named_by_callers() {
    let scene = scene(&["dbd?dd"]);
    let window = Span::new(4 * TICK_NS, 6 * TICK_NS);
    let facts = |before| {
        let spans = CpuSpans {
            window,
            before,
            host: &[],
        };
        facts(&scene.samples, &scene.members, &[], &spans, &scene.names).0
    };
    let before = facts(Some(Span::new(0, window.start_ns))).before.unwrap();
    assert_eq!(before.samples, 4);
    let expected = [("c".to_owned(), 2), ("b".to_owned(), 1)];
    assert_eq!(short(&before.callers), expected);
    assert_eq!(facts(None).before, None);
}

/// The second thread submits nothing, and the last sample is after the window.
#[test]
fn samples_have_their_functions() {
    let scene = scene(&["a.d?Ba", "bbbbbb"]);
    let spans = CpuSpans {
        window: Span::new(0, 5 * TICK_NS),
        before: None,
        host: &[],
    };
    let submitters = &scene.threads[..1];
    let (_, found) = facts(
        &scene.samples,
        &scene.members,
        submitters,
        &spans,
        &scene.names,
    );
    assert_eq!(found.names, ["a", "c", "b"]);
    let expected = [(0, Some(0)), (2, Some(1)), (3, None), (4, Some(2))];
    let expected = expected.map(|(tick, function)| (tick * TICK_NS, function));
    assert_eq!(found.samples, expected);
}

#[test]
fn functions_have_the_files_of_their_binaries() {
    let mut names = Names::new();
    let [f, binary] = ["f", "/usr/lib/libmine.dylib"].map(|name| Some(names.symbol(name)));
    let name = |function, binary| function_name((function, binary), &names);
    assert_eq!(name(f, binary), "f of libmine.dylib");
    assert_eq!(name(f, None), "f");
    assert_eq!(name(None, binary), "a function of libmine.dylib");
    assert_eq!(name(None, None), "a function without a name");
}

#[test]
fn a_start_belongs_to_its_stretch() {
    let host = [Span::new(10, 20), Span::new(20, 30), Span::new(40, 50)];
    let inside: Vec<u64> = (0..60).filter(|&at| is_inside(&host, at)).collect();
    let expected: Vec<u64> = (10..30).chain(40..50).collect();
    assert_eq!(inside, expected);
}

#[test]
fn threads_and_states() {
    let scene = scene(&["aAa.", "bbbb"]);
    let window = Span::new(0, 3 * TICK_NS);
    let found = facts(
        &scene.samples,
        &scene.members,
        &scene.threads[..1],
        &CpuSpans {
            window,
            before: None,
            host: &[],
        },
        &scene.names,
    );
    let found = found.0;
    let threads = found.threads.iter();
    let threads: Vec<_> = threads
        .map(|thread| {
            (
                thread.tid,
                thread.submits,
                thread.samples,
                thread.running_share,
            )
        })
        .collect();
    // Equal weights: by name. The sample at the window's end is outside.
    assert_eq!(
        threads,
        [
            (Some(0), Some(true), 3, Some(Share(2.0 / 3.0))),
            (Some(1), Some(false), 3, Some(Share(1.0))),
        ]
    );
    assert_eq!(found.states.len(), 2);
    assert_eq!((found.period, found.host), (Some(TICK_NS), None));
}

#[test]
fn collapsed() {
    let scene = scene(&["cc.?"]);
    let rows = &scene.samples.rows;
    assert_eq!(
        collapse(WeightUnit::Ns, rows, &scene.names).to_string(),
        "bench;Thread 0;[no stack] 1000\nbench;Thread 0;a;b;c 2000\n"
    );
}

const HEAD: &str = "<trace-query-result><node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>";
const WHO: &str = "<thread id='2' fmt='Main 0x5 (b;c, pid: 7)'><tid id='3' fmt='0x5'>5</tid>\
    <process id='4' fmt='b;c (7)'><pid id='5' fmt='7'>7</pid></process></thread>";

fn document(schema: &str, columns: &[(&str, &str)], rows: &str) -> Trace {
    let column = |(name, kind): &(&str, &str)| {
        format!(
            "<col><mnemonic>{name}</mnemonic><name>{name}</name>\
             <engineering-type>{kind}</engineering-type></col>"
        )
    };
    let columns: String = columns.iter().map(column).collect();
    let text = format!(
        "<?xml version=\"1.0\"?>{HEAD}<schema name=\"{schema}\">{columns}</schema>{rows}</node>\
         </trace-query-result>"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(format!("{schema}.xml"));
    std::fs::write(&file, text).unwrap();
    let input = Input::open(&file).unwrap();
    input
        .load(&crate::stacks_selection(), LoadOptions::default())
        .unwrap()
}

/// Weights in cycles are not times, and a function without a name is its binary.
#[test]
fn cycles_are_weights() {
    let trace = document(
        "cpu-profile",
        &[
            ("time", "sample-time"),
            ("thread", "thread"),
            ("process", "process"),
            ("thread-state", "thread-state"),
            ("weight", "cycle-weight"),
            ("stack", "backtrace"),
        ],
        &format!(
            "<row><sample-time id='1' fmt='x'>9</sample-time>{WHO}<process ref='4'/>\
             <thread-state id='6' fmt='Running'>Running</thread-state>\
             <cycle-weight id='7' fmt='1.00 Mc'>1000000</cycle-weight>\
             <backtrace id='8'><frame id='9' name='0x1ab' addr='0x1ab'>\
             <binary id='10' name='lib' UUID='' arch='' load-addr='0x1' path='/lib'/></frame>\
             <frame id='11' name='f(a; b)' addr='0x2'><binary ref='10'/></frame></backtrace></row>"
        ),
    );
    let found = cpu_stacks(&trace, &crate::Request::default()).unwrap();
    let unit = found.stacks.unit;
    assert_eq!((unit, found.weight), (WeightUnit::Cycles, 1_000_000));
    assert!(found.notes[2].starts_with("only running threads were sampled"));
    assert_eq!(found.stacks.to_string(), "b:c;Main;f(a: b);[lib] 1000000\n");
}

/// The list of threads at the start of a recording does not count as samples.
#[test]
fn stackshots_are_not_samples() {
    let row = |time: u64, who: &str, state: &str, kind: u64| {
        format!(
            "<row><sample-time fmt='x'>{time}</sample-time>{who}<thread-state fmt='{state}'>\
             {state}</thread-state><time-sample-kind fmt='k'>{kind}</time-sample-kind></row>"
        )
    };
    let again = "<thread ref='2'/>";
    let rows = [
        row(1, WHO, "Blocked", 3),
        row(2, again, "Running", 0),
        row(3, again, "Running", 0),
    ];
    let trace = document(
        "time-sample",
        &[
            ("time", "sample-time"),
            ("thread", "thread"),
            ("thread-state", "thread-state"),
            ("sample-type", "time-sample-kind"),
        ],
        &rows.concat(),
    );
    let found = cpu_stacks(&trace, &crate::Request::default()).unwrap();
    assert_eq!(
        (found.samples, found.weight, found.stacks.unit),
        (2, 2, WeightUnit::Samples)
    );
    // Nothing says whether waiting threads were sampled.
    let [_, note] = &found.notes[..] else {
        panic!("{found:?}");
    };
    assert!(note.starts_with("the call stacks of time-sample have no names"));
    let stranger = crate::Request {
        processes: vec!["nobody".to_owned()],
        ..crate::Request::default()
    };
    let error = cpu_stacks(&trace, &stranger).unwrap_err();
    assert_eq!(
        error.to_string(),
        "nobody has no CPU samples in this recording; sampled processes: b;c (pid 7)"
    );
}

/// Only the innermost function counts: its callers neither trace nor wait. `expected` is the
/// number of samples in tracing, and in a call that waits.
#[test]
fn only_the_innermost_function_counts() {
    for (stack, expected) in [
        (&["__kdebug_trace64", "commit"][..], (1, 0)),
        (&["kdebug_is_enabled"][..], (1, 0)),
        (&["commit", "kdebug_trace"][..], (0, 0)),
        (&["my_kdebug_trace"][..], (0, 0)),
        (&["__psynch_cvwait", "waitUntilCompleted"][..], (0, 1)),
        (&["mach_msg2_trap"][..], (0, 1)),
        (&["__semwait_signal_nocancel"][..], (0, 1)),
        (&["tokenize", "__psynch_cvwait"][..], (0, 0)),
        (&["select_kernel"][..], (0, 0)),
    ] {
        let mut names = Names::new();
        let frame = |name: &&str| {
            let name = names.symbol(name);
            names.frame_id(Frame {
                name,
                address: name,
                binary: None,
            })
        };
        let frames: Vec<_> = stack.iter().map(frame).collect();
        let sample = Sample {
            time_ns: 0,
            thread: None,
            process: None,
            state: None,
            weight: Some(5),
            stack: Some(names.stack_id(&frames)),
        };
        let samples = [sample];
        let waiting = WaitingCalls::new(&samples, &names).has(&sample);
        let found = (in_tracing(&samples, &names).samples, u64::from(waiting));
        assert_eq!(found, expected, "{stack:?}");
    }
}

/// A thread that is caught running in a call that waits is waiting, and counts once. Without the name
/// of the call nothing is known of it, unless it cannot be such a call.
#[test]
fn a_call_that_waits_is_not_running() {
    let mut names = Names::new();
    let [running, blocked] = ["Running", "Blocked"].map(|state| names.symbol(state));
    let mut stack = |name: &str, binary: Option<&str>| {
        let (name, binary) = (
            names.symbol(name),
            binary.map(|binary| names.symbol(binary)),
        );
        let frame = names.frame_id(Frame {
            name,
            address: name,
            binary,
        });
        names.stack_id(&[frame])
    };
    let [call, work] = ["__psynch_cvwait", "commit"].map(|name| stack(name, None));
    let unnamed = [None, Some("libsystem_kernel.dylib"), Some("bench")];
    let [anywhere, in_kernel, own] = unnamed.map(|binary| stack("0x1f00", binary));
    let sample = |state, stack| Sample {
        time_ns: 0,
        thread: None,
        process: None,
        state,
        weight: Some(1),
        stack,
    };
    for (state, stack, expected) in [
        (Some(running), Some(work), Activity::Running),
        (Some(running), Some(call), Activity::Waiting),
        (Some(running), None, Activity::Unknown),
        (Some(running), Some(anywhere), Activity::Unknown),
        (Some(running), Some(in_kernel), Activity::Unknown),
        (Some(running), Some(own), Activity::Running),
        (Some(blocked), Some(in_kernel), Activity::Waiting),
        (Some(blocked), Some(work), Activity::Waiting),
        (None, Some(call), Activity::Waiting),
        (None, Some(work), Activity::Unknown),
    ] {
        let sample = sample(state, stack);
        let calls = WaitingCalls::new(&[sample], &names);
        assert_eq!(calls.activity(&sample, &names), expected);
        let (_, threads) = threads(&[sample], &[], &names);
        let running = u64::from(expected == Activity::Running);
        assert_eq!(threads[0].running, running);
        let is_known = expected != Activity::Unknown;
        assert_eq!(
            threads[0].running_share,
            is_known.then_some(Share(running.float()))
        );
    }
}

#[test]
fn names_lose_what_differs_in_each_run() {
    for (name, expected) in [
        ("app::run::h0123456789abcdef", "app::run"),
        ("app::run::h0123456789abcde", "app::run::h0123456789abcde"),
        ("app::run::h0123456789abcdeX", "app::run::h0123456789abcdeX"),
        ("main", "main"),
    ] {
        assert_eq!(stacks::without_hash(name), expected);
    }
    for (name, expected) in [
        ("Main Thread 0x1f", "Main Thread"),
        ("worker  0x1f", "worker"),
        ("0x1f", ""),
        ("worker 12", "worker 12"),
    ] {
        assert_eq!(stacks::without_id(name), expected);
    }
}

#[test]
fn addresses_are_not_names() {
    for (name, expected) in [
        ("0x10255e3d5", true),
        ("0x", false),
        ("0xhello", false),
        ("main", false),
        ("", false),
    ] {
        assert_eq!(tally::is_address(name), expected, "{name}");
    }
}

proptest! {
    /// Each sample counts for one innermost function, and once for each function on its stack;
    /// collapsing loses no weight.
    #[test]
    fn nothing_is_lost_or_counted_twice(
        stacks in prop::collection::vec(prop::collection::vec(0_usize..5, 0..6), 0..40),
    ) {
        let mut names = Names::new();
        let name = names.symbol("bench");
        let process = Some(names.process_id(Process { name, pid: Some(1) }));
        let functions: Vec<_> = ["p", "q", "r", "0x1", "0x2"]
            .map(|name| {
                let name = names.symbol(name);
                names.frame_id(Frame { name, address: name, binary: None })
            })
            .to_vec();
        let rows: Vec<Sample> = stacks
            .iter()
            .enumerate()
            .map(|(at, stack)| {
                let frames: Vec<_> = stack.iter().map(|&at| functions[at]).collect();
                let stack = (!frames.is_empty()).then(|| names.stack_id(&frames));
                Sample {
                    time_ns: at as u64,
                    thread: None,
                    process,
                    state: None,
                    weight: Some(at as u64 + 1),
                    stack,
                }
            })
            .collect();
        let found = rank(&rows, &names);
        let own: u64 = found.self_frames.iter().map(|frame| frame.samples).sum();
        prop_assert_eq!(own + found.without_stack, rows.len() as u64);
        for frame in &found.total_frames {
            // The two addresses are one function: the one without a name.
            let wanted: BTreeSet<usize> = match frame.function.as_deref() {
                Some("p") => [0].into(),
                Some("q") => [1].into(),
                Some("r") => [2].into(),
                _ => [3, 4].into(),
            };
            let on = stacks.iter().enumerate();
            let on = on.filter(|(_, stack)| stack.iter().any(|at| wanted.contains(at)));
            let weight: u64 = on.map(|(at, _)| at as u64 + 1).sum();
            prop_assert_eq!(frame.weight, weight);
        }
        let collapsed = collapse(WeightUnit::Ns, &rows, &names);
        let weight: u64 = collapsed.lines.iter().map(|(_, weight)| weight).sum();
        prop_assert_eq!(weight, rows.iter().map(Sample::weight_or_zero).sum::<u64>());
        prop_assert!(collapsed.lines.is_sorted_by(|a, b| a.0 < b.0));
    }
}
