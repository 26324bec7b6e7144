//! Tests that the values of every sentence are at their positions, and equal its text.

use std::sync::LazyLock;

use metalens_analyzer::{Report, Request, finding_ids};
use metalens_message::{Message, PlacedValue, Value};
use metalens_simulator::{presets, random_scenario};
use metalens_text::units;

use super::findings::{fixtures, report_of_case};
use super::report_of;

/// Reports of every preset and of its second step, of every finding, and of random
/// scenarios.
static REPORTS: LazyLock<Vec<Report>> = LazyLock::new(|| {
    let whole = Request::default();
    let second = Request {
        step: "2".parse().ok(),
        ..Request::default()
    };
    // A million intervals bring no sentence that the others lack.
    let small = presets().iter().filter(|preset| preset.name != "million");
    let presets: Vec<_> = small.map(|preset| preset.scenario().unwrap()).collect();
    let written = presets
        .iter()
        .flat_map(|scenario| [(scenario, &whole), (scenario, &second)]);
    let written = written.filter_map(|(scenario, request)| report_of(scenario, request).ok());
    let random = (0..20).map(random_scenario);
    let random = random.filter_map(|scenario| report_of(&scenario, &whole).ok());
    let findings = finding_ids().into_iter();
    let findings = findings.map(|id| report_of_case(&fixtures().join(id), "fires"));
    written.chain(random).chain(findings).collect()
});

#[test]
fn values_are_at_their_positions() {
    let (mut sentences, mut values) = (0, 0);
    for mut report in REPORTS.iter().cloned() {
        for message in report.messages_mut() {
            let mut end = 0;
            for value in message.values.iter() {
                let after = value.at + value.text.len();
                assert!(value.at >= end, "{message:?}");
                assert_eq!(&message.text[value.at..after], value.text, "{message:?}");
                end = after;
            }
            sentences += 1;
            values += message.values.len();
        }
    }
    assert!(sentences > 1_000 && values > 3_000, "{sentences} {values}");
}

#[test]
fn values_equal_their_texts() {
    for mut report in REPORTS.iter().cloned() {
        for message in report.messages_mut() {
            message
                .values
                .iter()
                .for_each(|value| check(value, message));
        }
    }
}

/// Checks that the text is the value's own, formatted by its type.
fn check(placed: &PlacedValue, message: &Message) {
    let text = placed.text.as_str();
    let digits = |text: &str| text.replace(',', "");
    let is_right = match &placed.value {
        Value::Time { ns } => {
            let exact = format!("{ns} ns");
            let is_time = text == units::time(*ns) || text == units::rough_time(*ns);
            is_time || text == exact || (*ns == 1_000 && text == "1 µs")
        }
        Value::Moment { ns } => text == units::moment(*ns),
        Value::Share { share } => {
            let percent = text.trim_end_matches(" %").trim_start_matches(['<', '>']);
            (percent.parse::<f64>().unwrap() - share * 100.0).abs() <= 0.51
        }
        Value::Count { count } => {
            let number = digits(text);
            let number = number.split(' ').next().unwrap();
            number == count.to_string()
        }
        Value::Bytes { bytes } => text == units::bytes(*bytes),
        Value::Factor { factor } if *factor < 1.095 => text == format!("{factor:.2}"),
        Value::Factor { factor } => text == format!("{factor:.1}"),
        Value::Bandwidth { gb_per_s } => text == format!("{gb_per_s:.1} GB/s"),
        Value::Throughput { tflop_per_s } => text == format!("{tflop_per_s:.2} TFLOP/s"),
        Value::Number { number } => {
            let shown: f64 = digits(text).parse().unwrap();
            (shown / number - 1.0).abs() < 0.01
        }
        names => names.is_name() || *names == Value::Quote,
    };
    assert!(is_right, "{placed:?} in {message:?}");
}

/// Checks that no text outside of values has a number, so that nobody has to parse prose.
#[test]
fn every_number_of_a_finding_is_a_value() {
    for mut report in REPORTS.iter().cloned() {
        report.notes.clear();
        report.not_recorded.clear();
        for message in report.messages_mut() {
            assert!(message.rewrite(|_| Some(String::new())));
            let mut words = message.text.replace("95th percentile", "");
            for allowed in [
                "p95",
                "p99",
                "--in-flight 2",
                "--per-buffer 10",
                "--host 0",
                "--driver 0",
            ] {
                words = words.replace(allowed, "");
            }
            let is_number = |letter: char| letter.is_ascii_digit();
            assert!(!words.contains(is_number), "{words}");
        }
    }
}

#[test]
fn reports_survive_json() {
    for report in REPORTS.iter() {
        let json = serde_json::to_string(report).unwrap();
        let read = metalens_inputs::parse_report(&json).unwrap();
        assert_eq!(&read, report);
    }
}
