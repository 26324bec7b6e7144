//! Tests recordings whose command-buffer ids repeat, as a program for Metal 4 might make them. What an
//! id alone cannot tell is unknown, and everything else is as without the repetition.

use metalens_analyzer::{Report, Request};
use metalens_message::Ns;
use metalens_simulator::Scenario;

use super::report_of;

const SCENARIO: &str = r#"
[[process]]
name = "bench"
pid = 12
role = "target"

[[process.stream]]
count = 24
duration = "20us"
submit = "SUBMIT"
encoders-per-buffer = 2
oddities = { ODDITIES }
"#;

/// Stream of the same process whose command buffers are new each time.
const PLAIN_STREAM: &str = r#"
[[process.stream]]
count = 5
follows = true
duration = "20us"
"#;

fn report(submit: &str, oddities: &str, more: &str) -> Report {
    let text = SCENARIO.replace("SUBMIT", submit);
    let text = text.replace("ODDITIES", oddities) + more;
    let scenario = Scenario::from_toml(&text).unwrap();
    report_of(&scenario, &Request::default()).unwrap()
}

/// Compares a report with the one of the same work in new command buffers.
fn check(submit: &str, oddities: &str, reused: u64) {
    let found = report(submit, oddities, "");
    let plain = report(submit, "", "");
    assert_eq!(plain.counts.command_buffers, 12);
    assert!(plain.latency.queue.is_some() && plain.latency.completion.is_some());

    assert_eq!(found.counts.command_buffers, reused);
    assert_eq!(found.counts.reused_command_buffers, reused);
    assert_eq!(found.counts.known_command_buffers(), None);
    assert_eq!(found.latency.queue, None);
    assert_eq!(found.latency.submission, None);
    assert_eq!(found.latency.completion, None);
    assert_eq!(found.latency.commit_interval, None);
    assert_eq!(found.efficiency.program_ns, None);
    assert_eq!(found.shape.command_buffers.span, None);
    assert_eq!(found.shape.command_buffers.median_encoders, None);
    assert_eq!(found.shape.command_buffers.gaps_inside, 0);
    assert_eq!(found.idle.parts.unknown_ns, found.idle.total_ns);

    assert_eq!(found.busy, plain.busy);
    assert_eq!(found.gaps.histogram, plain.gaps.histogram);
    assert_eq!(found.idle.total_ns, plain.idle.total_ns);
    assert_eq!(found.latency.encoding, plain.latency.encoding);

    let is_about_queue = |what: &&str| *what == "latency.queue";
    let absent = |report: &Report| {
        let absent = report.not_recorded.iter().map(|part| part.what.as_str());
        absent.filter(is_about_queue).count()
    };
    assert_eq!((absent(&plain), absent(&found)), (0, 1));
    let start = format!("{reused} of {reused} command buffers were committed several times");
    let notes = |report: &Report| {
        let about = report
            .notes
            .iter()
            .filter(|note| note.text().starts_with(&start));
        about.count()
    };
    assert_eq!((notes(&plain), notes(&found)), (0, 1));
}

#[test]
fn figures_of_reused_buffers_are_unknown() {
    check("batched", "reuse-buffers = 1", 1);
    check("batched", "reuse-buffers = 3", 3);
    // Two buffers are committed for the third and the fourth time before their work is done.
    check("pipelined", "reuse-buffers = 2", 2);
}

/// Only the first of two completions was recorded, and later work shows that the buffer was committed
/// again.
#[test]
fn a_commit_after_the_completion_shows_the_reuse() {
    let oddities = "reuse-buffers = 11, lose-completion-every = 2";
    let found = report("batched", oddities, "");
    assert_eq!(found.counts.command_buffers, 11);
    assert_eq!(found.counts.reused_command_buffers, 1);
    assert_eq!(found.latency.queue, None);
    // The first, the third, … and the eleventh completed once, and the first is the reused one.
    assert_eq!(found.latency.completion.unwrap().count, 5);
    assert_eq!(found.latency.submission.unwrap().count, 10);
}

/// Other command buffers of the process keep their figures, except where all buffers count.
#[test]
fn other_buffers_keep_their_figures() {
    let found = report("batched", "reuse-buffers = 2", PLAIN_STREAM);
    assert_eq!(found.counts.command_buffers, 7);
    assert_eq!(found.counts.reused_command_buffers, 2);
    assert_eq!(found.latency.submission.unwrap().count, 5);
    assert_eq!(found.latency.completion.unwrap().count, 5);
    assert_eq!(found.shape.command_buffers.median_encoders, Some(1));
    assert_eq!(found.latency.queue, None);
    let parts = &found.idle.parts;
    assert!(parts.unknown_ns > Ns(0) && parts.unknown_ns < found.idle.total_ns);
}
