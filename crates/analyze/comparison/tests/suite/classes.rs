//! Checks whether sides are comparable, and the verdicts on scenarios with a known difference.

use metalens_analyzer::{ChosenBy, Report};
use metalens_comparison::{
    ChangeClass, CompareOptions, Comparison, FusionVerdict, Quantity, compare,
};
use metalens_simulator::Scenario;

use super::{SMALL, report};

fn preset(name: &str) -> Report {
    let scenario = Scenario::preset(name).unwrap();
    let presets = metalens_simulator::presets();
    let toml = presets
        .iter()
        .find(|preset| preset.name == name)
        .unwrap()
        .toml;
    report(toml, scenario.seed)
}

fn fusion(base: &Report, new: &Report) -> Comparison {
    let options = CompareOptions {
        taken_as_same: true,
        ..CompareOptions::default()
    };
    compare(
        std::slice::from_ref(base),
        std::slice::from_ref(new),
        &options,
    )
}

/// Checks scenarios. `expected` has the classes of dispatches, gaps, kernel time and wall time.
#[test]
fn quantities_and_fusion_verdicts() {
    use ChangeClass::{Grown, Shrunk, Unchanged};
    let check = |base: &Report, new: &Report, expected: [ChangeClass; 4], verdict, says: &str| {
        let found = fusion(base, new);
        let moved: Vec<ChangeClass> = found.moved.iter().map(|quantity| quantity.class).collect();
        assert_eq!(moved, expected, "{found:#?}");
        let fusion = found.fusion.unwrap();
        assert_eq!(fusion.verdict, verdict, "{}", fusion.says);
        assert!(fusion.says.text.contains(says), "{}", fusion.says);
    };
    let (eager, fused) = (preset("eager"), preset("fused"));
    check(
        &eager,
        &fused,
        [Shrunk, Shrunk, Unchanged, Shrunk],
        FusionVerdict::Consistent,
        "Consistent with fusion",
    );
    check(
        &fused,
        &eager,
        [Grown, Grown, Unchanged, Grown],
        FusionVerdict::NoSign,
        "No sign of fusion",
    );
    // The same dispatches in larger command buffers: gaps disappear, and nothing is fused.
    check(
        &eager,
        &preset("batched"),
        [Unchanged, Shrunk, Unchanged, Shrunk],
        FusionVerdict::NoSign,
        "No sign of fusion",
    );
    // Half the work under the same names.
    let half = report(&SMALL.replace("count = 40", "count = 20"), 1);
    check(
        &report(SMALL, 1),
        &half,
        [Shrunk; 4],
        FusionVerdict::Unclear,
        "fusion would explain this, and so would less work",
    );
    // One encoder holds all dispatches: what a compiler fuses inside shows as shorter intervals.
    let short = SMALL.replace(
        r#"duration = ["9us", "10us"]"#,
        r#"duration = ["4us", "5us"]"#,
    );
    check(
        &report(SMALL, 1),
        &report(&short, 1),
        [Unchanged, Unchanged, Shrunk, Shrunk],
        FusionVerdict::Unclear,
        "The same number of GPU intervals in less GPU time",
    );
}

#[test]
fn circumstances_are_compared() {
    let base = report(SMALL, 0);
    let check = |change: fn(&mut Report), differs: &str, unknown: &str| {
        let mut new = base.clone();
        change(&mut new);
        let found = compare(
            std::slice::from_ref(&base),
            &[new],
            &CompareOptions::default(),
        )
        .comparable;
        let said: Vec<String> = found.differ.iter().map(ToString::to_string).collect();
        assert_eq!(said.join("; "), differs);
        assert_eq!(found.comparable, differs.is_empty());
        let is_said = unknown.is_empty() || found.unknown.iter().any(|fact| fact == unknown);
        assert!(is_said, "{:?}", found.unknown);
    };
    check(|_| {}, "", "");
    check(
        |new| new.run.device.gpu = Some("Apple M9".to_owned()),
        "GPU: base Synthetic GPU, new Apple M9",
        "",
    );
    check(|new| new.run.device.gpu = None, "", "GPU (new)");
    check(
        |new| new.run.synthetic = false,
        "origin: base synthetic, new recorded",
        "",
    );
    check(
        |new| new.run.recording_mode = Some("Windowed (5 seconds)".to_owned()),
        "recording mode: base Deferred, new Windowed (5 seconds)",
        "",
    );
    check(
        |new| new.busy.others_busy_ns = Some(new.window.span_ns / 2),
        "other processes on the GPU: base 0 % of the time, new 50.0 % of the time",
        "",
    );
    check(
        |new| new.machine.thermal.as_mut().unwrap().worst = Some("Serious".to_owned()),
        "thermal state: base Nominal, new Serious",
        "",
    );
    check(
        |new| new.machine.performance.as_mut().unwrap().states[0].state = "Minimum".to_owned(),
        "GPU clock while busy: base Maximum 100 %, Minimum 0 %, new Maximum 0 %, Minimum 100 %",
        "",
    );
    check(
        |new| new.machine.performance = None,
        "",
        "GPU clock while busy (new)",
    );
    // Another program name allows a comparison, unless the process was guessed.
    check(|new| new.process.name = "compiled".to_owned(), "", "");
    check(|new| new.process.chosen_by = ChosenBy::Busiest, "", "");
    check(
        |new| {
            new.process.name = "Compositor".to_owned();
            new.process.chosen_by = ChosenBy::Busiest;
        },
        "program (a recording names none, so the busiest process was taken): base bench, new Compositor",
        "",
    );
}

#[test]
fn force_is_recorded() {
    let base = report(SMALL, 0);
    let mut new = base.clone();
    new.run.device.os = Some("27.1".to_owned());
    let options = CompareOptions {
        allow_different: true,
        ..CompareOptions::default()
    };
    let found = compare(std::slice::from_ref(&base), &[new], &options);
    assert!(found.comparable.forced && !found.comparable.comparable);
    assert!(
        found.notes[0].text().starts_with("FORCED: "),
        "{:?}",
        found.notes
    );
    assert!(
        found.notes[0].text().contains("new 27.1"),
        "{:?}",
        found.notes
    );
    // Equal sides are not forced.
    let found = compare(
        std::slice::from_ref(&base),
        std::slice::from_ref(&base),
        &options,
    );
    assert!(!found.comparable.forced);
}

#[test]
fn the_four_quantities_are_in_order() {
    let base = report(SMALL, 0);
    let found = fusion(&base, &base);

    let what: Vec<Quantity> = found.moved.iter().map(|quantity| quantity.what).collect();
    use Quantity::{Dispatches, Gaps, KernelTime, Wall};
    assert_eq!(what, [Dispatches, Gaps, KernelTime, Wall]);
    assert_eq!(
        found.moved[0].says.text,
        "GPU intervals: no difference that counts, 40"
    );
}
