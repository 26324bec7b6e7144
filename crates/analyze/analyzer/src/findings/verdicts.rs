//! Compares a report with its thresholds.

use super::distrust::distrust;
use crate::basics::message::{Message, Value, table, ungrouped};
use crate::message;
use crate::report::{Efficiency, Report, ThresholdResult, ThresholdUnit, Verdict, Wanted};
use crate::request::settings::Thresholds;
use crate::tables::commands::{COMPLETIONS, ENCODERS};

/// Returns the result of each threshold that is set.
#[must_use]
pub(crate) fn verdicts(report: &Report, thresholds: &Thresholds) -> Vec<ThresholdResult> {
    let average_gap = thresholds
        .average_gap_ns
        .map(|limit| average_gap(report, limit));
    let utilization = thresholds
        .utilization
        .map(|limit| utilization(report, limit));
    let launch_efficiency = thresholds
        .launch_efficiency
        .map(|limit| launch_efficiency(&report.efficiency, limit));

    let results = [average_gap, utilization, launch_efficiency];
    let results = results.into_iter().flatten();
    results.map(|result| trusted(result, report)).collect()
}

/// Makes a result not measurable if nothing follows from the numbers.
fn trusted(result: ThresholdResult, report: &Report) -> ThresholdResult {
    let Some(why) = distrust(report) else {
        return result;
    };
    ThresholdResult {
        value: None,
        verdict: Verdict::NotMeasurable,
        why,
        ..result
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "gaps are exact up to 2^53 ns, 104 days"
)]
fn average_gap(report: &Report, limit: u64) -> ThresholdResult {
    let gaps = &report.gaps;
    let unseen = "gaps between dispatches inside an encoder are not recorded";
    let (value, why) = match (gaps.mean_ns, report.counts.intervals) {
        (Some(mean), _) => {
            let why = message!(
                "mean of {} gaps between GPU intervals, {} of them below {}; {}",
                ungrouped(gaps.count),
                ungrouped(gaps.below_1us),
                Message::value("1 µs".to_owned(), Value::Time { ns: 1_000 }),
                unseen
            );
            (Some(mean as f64), why)
        }
        (None, 2..) => (
            Some(0.0),
            message!("no gap between GPU intervals; {}", unseen),
        ),
        (None, _) => (None, "a single GPU interval has no gap".into()),
    };

    judged(
        "average-gap",
        value,
        limit as f64,
        ThresholdUnit::Ns,
        Wanted::Below,
        why,
    )
}

fn utilization(report: &Report, limit: f64) -> ThresholdResult {
    let why = match report.busy.ratio {
        Some(_) => {
            "busy time as a share of the window, which reaches from the start of the process's \
             first GPU interval to the end of its last one, minus the parts that were cut off"
        }
        None => "the window has no duration",
    };
    let value = report.busy.ratio;
    judged(
        "utilization",
        value,
        limit,
        ThresholdUnit::Ratio,
        Wanted::Above,
        why.into(),
    )
}

fn launch_efficiency(efficiency: &Efficiency, limit: f64) -> ThresholdResult {
    let why = match efficiency.of_program {
        Some(_) => {
            "GPU time as a share of the time from the first encoding to the last completion".into()
        }
        None => message!(
            "no encodings or no completions of the process are recorded: export the tables {} and \
             {}",
            table(ENCODERS.schema),
            table(COMPLETIONS.schema)
        ),
    };
    let value = efficiency.of_program;
    judged(
        "launch-efficiency",
        value,
        limit,
        ThresholdUnit::Ratio,
        Wanted::Above,
        why,
    )
}

fn judged(
    id: &str,
    value: Option<f64>,
    limit: f64,
    unit: ThresholdUnit,
    wanted: Wanted,
    why: Message,
) -> ThresholdResult {
    let met = value.map(|value| match wanted {
        Wanted::Below => value < limit,
        Wanted::Above => value > limit,
    });
    ThresholdResult {
        id: id.to_owned(),
        value,
        limit,
        unit,
        wanted,
        verdict: match met {
            Some(true) => Verdict::Pass,
            Some(false) => Verdict::Fail,
            None => Verdict::NotMeasurable,
        },
        why,
    }
}

#[cfg(test)]
mod tests {
    use metalens_simulator::{Scenario, write_export};
    use metalens_trace::{Input, LoadOptions};

    use super::*;
    use crate::{Request, analyze, selection};

    /// Returns the report of a scenario with three intervals; each case edits a part of it.
    fn small() -> Report {
        let scenario = r#"
            [[process]]
            name = "bench"
            pid = 4200
            role = "target"
            [[process.stream]]
            count = 3
            duration = "10us"
        "#;
        let folder = tempfile::tempdir().unwrap();
        let scenario = Scenario::from_toml(scenario).unwrap();
        write_export(&scenario, folder.path(), false).unwrap();
        let input = Input::open(folder.path()).unwrap();
        let trace = input.load(&selection(), LoadOptions::default()).unwrap();
        analyze(trace, &Request::default()).unwrap().report
    }

    /// Checks the result of one threshold after an edit of the report.
    fn check(id: &str, edit: impl FnOnce(&mut Report), value: Option<f64>, expected: Verdict) {
        let mut report = small();
        edit(&mut report);
        let all = verdicts(&report, &Thresholds::SATURATED);

        let found = all.iter().find(|result| result.id == id).unwrap();
        assert_eq!((found.value, found.verdict), (value, expected), "{found:?}");
        assert_eq!(value.is_none(), expected == Verdict::NotMeasurable);
        assert!(found.why.text.len() > 20, "{found:?}");
    }

    #[test]
    fn the_average_gap_has_an_upper_limit() {
        use Verdict::{Fail, NotMeasurable, Pass};
        let mean = |ns: Option<u64>| move |report: &mut Report| report.gaps.mean_ns = ns;
        let id = "average-gap";
        check(id, mean(Some(999)), Some(999.0), Pass);
        check(id, mean(Some(1_000)), Some(1_000.0), Fail);
        check(id, mean(Some(50_000)), Some(50_000.0), Fail);
        // Two intervals that touch have no gap; one alone has nothing to touch.
        check(id, mean(None), Some(0.0), Pass);
        let alone = |report: &mut Report| {
            report.gaps.mean_ns = None;
            report.counts.intervals = 1;
        };
        check(id, alone, None, NotMeasurable);
    }

    #[test]
    fn utilization_has_a_lower_limit() {
        use Verdict::{Fail, NotMeasurable, Pass};
        let busy = |ratio: Option<f64>| move |report: &mut Report| report.busy.ratio = ratio;
        check("utilization", busy(Some(0.81)), Some(0.81), Pass);
        check("utilization", busy(Some(0.8)), Some(0.8), Fail);
        check("utilization", busy(Some(0.0)), Some(0.0), Fail);
        check("utilization", busy(None), None, NotMeasurable);
    }

    #[test]
    fn launch_efficiency_has_a_lower_limit() {
        use Verdict::{Fail, NotMeasurable, Pass};
        let program =
            |ratio: Option<f64>| move |report: &mut Report| report.efficiency.of_program = ratio;
        let id = "launch-efficiency";
        check(id, program(Some(0.71)), Some(0.71), Pass);
        check(id, program(Some(0.7)), Some(0.7), Fail);
        check(id, program(None), None, NotMeasurable);
        // The other two denominators have no threshold.
        let others = |report: &mut Report| {
            report.efficiency.of_program = None;
            report.efficiency.of_steady = Some(0.9);
            report.efficiency.of_wall = Some(0.9);
        };
        check(id, others, None, NotMeasurable);
    }

    const GAP: Thresholds = Thresholds {
        average_gap_ns: Some(1_000_000),
        utilization: None,
        launch_efficiency: None,
    };
    const UTILIZATION: Thresholds = Thresholds {
        average_gap_ns: None,
        utilization: Some(0.0),
        launch_efficiency: None,
    };
    const EFFICIENCY: Thresholds = Thresholds {
        average_gap_ns: None,
        utilization: None,
        launch_efficiency: Some(0.0),
    };

    /// Returns whether an edited report keeps the thresholds.
    fn passes(edit: impl FnOnce(&mut Report), thresholds: &Thresholds) -> bool {
        let mut report = small();
        edit(&mut report);
        report.thresholds = verdicts(&report, thresholds);
        report.missed_thresholds().is_empty()
    }

    #[test]
    fn thresholds_must_be_measured() {
        let unedited = |_: &mut Report| {};
        let without_program = |report: &mut Report| report.efficiency.of_program = None;
        let nothing = |report: &mut Report| {
            without_program(report);
            report.gaps.mean_ns = None;
            report.counts.intervals = 1;
            report.busy.ratio = None;
        };

        assert!(passes(unedited, &Thresholds::default()));
        assert!(passes(unedited, &EFFICIENCY));
        assert!(passes(without_program, &UTILIZATION));
        assert!(!passes(without_program, &EFFICIENCY));
        for thresholds in [GAP, UTILIZATION, EFFICIENCY] {
            assert!(passes(unedited, &thresholds));
            assert!(!passes(nothing, &thresholds));
        }
    }

    /// Compares with figures computed by hand: three intervals of 10 µs, with 8 µs of encoding,
    /// 85 µs of submission latency and 65 µs of completion latency.
    ///
    /// ```text
    /// 8 + 85 + 10 + 65 = 168 µs each, encoding to completion: 504 µs
    /// from the first start to the last end: 504 - 8 - 85 - 65 = 346 µs
    /// ```
    #[test]
    fn figures_of_a_scenario_are_those_computed_by_hand() {
        let report = small();
        let unedited = |_: &mut Report| {};
        let gap_ns = 65_000.0 + 8_000.0 + 85_000.0;
        check("average-gap", unedited, Some(gap_ns), Verdict::Fail);
        let busy = Some(30.0 / 346.0);
        check("utilization", unedited, busy, Verdict::Fail);
        let efficiency = Some(30.0 / 504.0);
        check("launch-efficiency", unedited, efficiency, Verdict::Fail);
        assert_eq!(report.efficiency.program_ns, Some(504_000));
    }
}
