//! Compares pairs of programs that differ in one known way, and checks what the headline and the default
//! gate say of them.

use metalens_analyzer::{Report, StepsBy};
use metalens_comparison::{
    CompareOptions, FusionVerdict, Gate, GateSeverity, GateVerdict, PerUnit, compare, judge,
};
use metalens_message::Ns;

use super::report;

/// Runs of each side.
const RUNS: u64 = 3;

/// A program that runs a list of kernels over and over, with times in microseconds.
#[derive(Debug, Clone, Copy)]
struct Program<'a> {
    kernels: &'a [(&'a str, u64)],
    steps: usize,
    /// Other settings of the stream, in TOML.
    settings: &'a str,
    /// False if the recording does not say at which clock the GPU runs.
    has_clock: bool,
}

/// Settings of a program that waits for each kernel.
const WAITS: &str = "submit = \"sync\"\nencode = [\"6us\", \"7us\"]\n\
                     launch = [\"40us\", \"42us\"]\ncompletion = [\"55us\", \"57us\"]\n";

/// Returns a program that waits for each kernel.
fn steps<'a>(kernels: &'a [(&'a str, u64)], steps: usize) -> Program<'a> {
    Program {
        kernels,
        steps,
        settings: WAITS,
        has_clock: true,
    }
}

impl<'a> Program<'a> {
    fn with(self, settings: &'a str) -> Self {
        Self { settings, ..self }
    }

    /// Returns the scenario, in which all kernels take longer by a factor.
    fn toml(&self, factor: u64) -> String {
        let labels: Vec<&str> = self.kernels.iter().map(|(name, _)| *name).collect();
        // Each time varies by a hundredth from run to run.
        let times = self.kernels.iter().map(|(_, us)| {
            let ns = us * 1_000 * factor;
            format!("[\"{}ns\", \"{}ns\"]", ns - ns / 100, ns + ns / 100)
        });
        let times: Vec<String> = times.collect();
        let durations = match times.as_slice() {
            [only] => only.clone(),
            _ => {
                let times = self
                    .kernels
                    .iter()
                    .map(|(_, us)| format!("\"{}us\"", us * factor));
                format!("{{ cycle = [{}] }}", times.collect::<Vec<_>>().join(", "))
            }
        };
        let recording = if self.has_clock {
            ""
        } else {
            // The only state ends before the work begins.
            "[[recording.performance]]\nstate = \"Maximum\"\nstart = \"0ms\"\nend = \"1ms\"\n"
        };
        format!(
            "{recording}[[process]]\nname = \"bench\"\npid = 4101\nrole = \"target\"\n\
             [[process.stream]]\ncount = {}\nencoder-label = {labels:?}\nduration = {durations}\n{}",
            self.steps * self.kernels.len(),
            self.settings
        )
    }
}

/// Returns the reports of three runs.
fn runs(program: Program<'_>, first_seed: u64) -> Vec<Report> {
    let seeds = first_seed..first_seed + RUNS;
    seeds.map(|seed| report(&program.toml(1), seed)).collect()
}

/// Verdict of the default gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passes,
    Fails,
    CannotDecide,
}

/// Compares three runs of each, and checks the headline: the sentences that it has, and those that it
/// has not.
fn check(
    name: &str,
    (base, new): (Program<'_>, Program<'_>),
    said: &[&str],
    not_said: &[&str],
    verdict: Verdict,
) {
    let found = compare(&runs(base, 0), &runs(new, 100), &CompareOptions::default());
    for words in said {
        assert!(
            found.headline.text.contains(words),
            "{name}: {words}\n{}",
            found.headline
        );
    }
    for words in not_said {
        assert!(
            !found.headline.text.contains(words),
            "{name}: {words}\n{}",
            found.headline
        );
    }
    let gate = judge(&found, &Gate::default());
    let judged = match (gate.missed, gate.inconclusive) {
        (false, _) => Verdict::Passes,
        (true, false) => Verdict::Fails,
        (true, true) => Verdict::CannotDecide,
    };
    assert_eq!(
        judged, verdict,
        "{name}\n{}\n{:#?}",
        found.headline, gate.rows
    );
}

/// Sentences on the speed of one program, which say nothing about other work.
const SPEED: [&str; 4] = [
    "times as",
    "er step, ",
    "er interval, ",
    "er command buffer, ",
];

#[test]
fn programs_that_do_the_same_work_are_faster_or_slower() {
    let layers: &[(&str, u64)] = &[("matmul", 100), ("softmax", 50), ("add", 30)];
    let base = steps(layers, 60);
    check(
        "same",
        (base, base),
        &["No change seen"],
        &[],
        Verdict::Passes,
    );
    let slower = steps(&[("matmul", 130), ("softmax", 65), ("add", 39)], 60);
    let without_clock = |program| Program {
        has_clock: false,
        ..program
    };
    check(
        "all kernels slower at a known clock",
        (base, slower),
        &[" times as long"],
        &["alike"],
        Verdict::Fails,
    );
    check(
        "a clock that is not recorded",
        (without_clock(base), without_clock(slower)),
        &[
            " times as long",
            "All 3 kernels that both sides have changed alike",
            "clock",
        ],
        &[],
        Verdict::Fails,
    );
    check(
        "one faster, one slower",
        (
            steps(&[("a", 60), ("b", 20)], 60),
            steps(&[("a", 20), ("b", 60)], 60),
        ),
        &["No change seen"],
        &["alike"],
        Verdict::Fails,
    );
    check(
        "more host work",
        (base, base.with(&format!("{WAITS}host = \"80us\"\n"))),
        &[" times as long", "host work"],
        &["shorter"],
        Verdict::Fails,
    );
    let slow_encoding = WAITS.replace(
        "encode = [\"6us\", \"7us\"]",
        "encode = [\"40us\", \"41us\"]",
    );
    check(
        "slow encoding",
        (base, base.with(&slow_encoding)),
        &[" times as long", "encoding"],
        &[],
        Verdict::Fails,
    );
    let batched = WAITS.replace(
        "submit = \"sync\"",
        "submit = \"batched\"\nencoders-per-buffer = 10",
    );
    check(
        "ten dispatches per buffer",
        (base, base.with(&batched)),
        &[" times as fast", "Same work"],
        &["slower", "longer", "times as long"],
        Verdict::Passes,
    );
    let ahead = "submit = \"pipelined\"\nencode = [\"200us\", \"201us\"]\nlaunch = \"40us\"\n\
                 completion = \"50us\"\n";
    check(
        "a slower kernel behind the CPU",
        (
            steps(&[("matmul", 60)], 200).with(ahead),
            steps(&[("matmul", 90)], 200).with(ahead),
        ),
        &["No change that counts", "; GPU busy +6.0"],
        &[],
        Verdict::Fails,
    );
}

#[test]
fn a_tail_is_no_slower_kernel() {
    let even: Vec<(&str, u64)> = vec![("gemm", 20); 50];
    let mut tail = even.clone();
    tail[25].1 = 600;
    check(
        "a tail",
        (steps(&even, 6), steps(&tail, 6)),
        &["Only some instances became longer or shorter", "gemm"],
        &[],
        // Slow steps are context.
        Verdict::Passes,
    );
}

/// A kernel that takes 20 or 30 µs, about as often: two instances in a hundred move its median by half.
#[test]
fn a_kernel_of_two_lengths_is_not_slower_by_its_median() {
    let mix = |short: usize| -> Vec<(&str, u64)> {
        let lengths = (0..100).map(|number| if number < short { 20 } else { 30 });
        lengths.map(|us| ("gemm", us)).collect()
    };
    let (base, new) = (mix(51), mix(49));
    check(
        "two lengths",
        (steps(&base, 6), steps(&new, 6)),
        &["No change "],
        &["gemm"],
        Verdict::Passes,
    );
}

#[test]
fn other_work_has_a_longer_or_shorter_run_and_no_speed() {
    let layers: &[(&str, u64)] = &[("matmul", 100), ("softmax", 50), ("add", 30)];
    let with = |more: &[(&'static str, u64)]| -> Vec<(&'static str, u64)> {
        let layers = [("matmul", 100), ("softmax", 50), ("add", 30)];
        layers.iter().chain(more).copied().collect()
    };
    let base = steps(layers, 60);
    type Case<'a> = (&'a str, Vec<(&'a str, u64)>, &'a str, &'a str);
    let cases: [Case<'_>; 3] = [
        (
            "a kernel added",
            with(&[("dropout", 40)]),
            "The run is longer",
            "only in new: dropout",
        ),
        (
            "a fill added",
            with(&[("fill", 2), ("fill", 2), ("fill", 2)]),
            "The run is longer",
            "fill",
        ),
        (
            "a kernel more often",
            with(&[("add", 30)]),
            "The run is longer",
            "Instances: add 120 instead of 60",
        ),
    ];
    for (name, kernels, time, said) in cases {
        let other = steps(&kernels, 60);
        check(name, (base, other), &[time, said], &SPEED, Verdict::Fails);
        let shorter = time.replace("longer", "shorter");
        let said = said.replace("only in new", "only in base");
        let said = said.replace("120 instead of 60", "60 instead of 120");
        check(
            name,
            (other, base),
            &[&shorter, &said],
            &SPEED,
            Verdict::Fails,
        );
    }
}

#[test]
fn a_loop_that_ran_longer_is_compared_per_unit() {
    let layers: &[(&str, u64)] = &[("matmul", 100), ("softmax", 50), ("add", 30)];
    let base = steps(layers, 60);
    check(
        "three times as long",
        (base, steps(layers, 180)),
        &["The run is longer", "Per step, no change seen"],
        &["times as"],
        Verdict::Passes,
    );
    check(
        "one step more",
        (base, steps(layers, 61)),
        &["No change that counts: ", "; at most 1.8 % slower (90 %)"],
        &["er interval", "er step"],
        Verdict::Passes,
    );
    check(
        "fewer and longer",
        (steps(&[("a", 20)], 400), steps(&[("a", 36)], 200)),
        &["The run is shorter", "Per step, new takes "],
        &["times as fast"],
        Verdict::Fails,
    );
    check(
        "more and shorter",
        (steps(&[("a", 100)], 100), steps(&[("a", 60)], 200)),
        &["The run is longer", "Per step, new is "],
        &["times as long"],
        Verdict::Passes,
    );
    // A mean over all intervals would be shorter, because the prefill is in more of them.
    let decode = |gemv: u64, tokens: usize| {
        let token = [("gemv", gemv), ("sample", 30)];
        let once = std::iter::once(("prefill", 13_000));
        let kernels = once.chain(token.into_iter().cycle().take(2 * tokens));
        kernels.collect::<Vec<_>>()
    };
    check(
        "a prefill, and twice as many slower tokens",
        (steps(&decode(100, 100), 1), steps(&decode(120, 200), 1)),
        &["The run is longer", "Per step, new takes 1.0"],
        &["times as fast"],
        Verdict::Fails,
    );
}

/// The median step tells that the code is as fast; what makes the run longer comes after it.
#[test]
fn one_cold_step_is_no_slower_code() {
    let layers = [("matmul", 100), ("softmax", 50)];
    let even: Vec<_> = layers.into_iter().cycle().take(200).collect();
    let mut cold = even.clone();
    for (_, us) in &mut cold[..2] {
        *us *= 40;
    }
    check(
        "a cold first step",
        (steps(&even, 1), steps(&cold, 1)),
        &[
            "Per step, no change seen",
            "The run is longer by ",
            "; unusual steps +5.8",
        ],
        &["times as long"],
        Verdict::Passes,
    );
}

#[test]
fn another_mix_of_the_same_amount_is_told() {
    let more: &[(&str, u64)] = &[("a", 40), ("a", 40), ("a", 40), ("b", 60)];
    let even: &[(&str, u64)] = &[("a", 40), ("b", 60), ("a", 40), ("b", 60)];
    check(
        "another mix",
        (steps(even, 30), steps(more, 30)),
        &[
            "Same amount, another mix",
            "Instances: ",
            "a 90 instead of 60",
            "b 30 instead of 60",
        ],
        &[],
        Verdict::Fails,
    );
}

#[test]
fn renamed_kernels_are_found_by_their_times() {
    let base: &[(&str, u64)] = &[("matmul", 100), ("softmax", 50), ("add", 20)];
    let new: &[(&str, u64)] = &[("matmul", 100), ("soft_max_v2", 50), ("add_v2", 20)];
    check(
        "two of three are renamed",
        (steps(base, 60), steps(new, 60)),
        &[
            "under another name: add → add_v2; probably renamed: softmax → soft_max_v2",
            "No change seen",
        ],
        &["cannot be told"],
        Verdict::Fails,
    );
    let alike: &[(&str, u64)] = &[("matmul", 100), ("softmax", 50), ("add", 50)];
    let new: &[(&str, u64)] = &[("matmul", 100), ("one", 50), ("two", 50)];
    check(
        "two alike are renamed",
        (steps(alike, 60), steps(new, 60)),
        &["only in base: add, softmax", "cannot be told"],
        &["probably renamed"],
        Verdict::Fails,
    );
}

#[test]
fn fusion_is_seen_without_being_asked_for() {
    let eager: &[(&str, u64)] = &[("cos", 20), ("exp", 20), ("log", 20), ("add", 20)];
    let (base, new) = (steps(eager, 60), steps(&[("fused", 76)], 60));
    check(
        "four kernels fused into one",
        (base, new),
        &["The run is shorter", "only in new: fused"],
        &SPEED,
        Verdict::Fails,
    );
    let runs = |program: Program<'_>, first: u64| {
        let runs = (first..first + RUNS).map(|seed| report(&program.toml(1), seed));
        runs.collect::<Vec<_>>()
    };
    let options = CompareOptions::default();
    let verdict = |base, new| {
        let found = compare(&runs(base, 0), &runs(new, 100), &options);
        found.fusion.map(|fusion| fusion.verdict)
    };
    assert_eq!(verdict(base, new), Some(FusionVerdict::Consistent));
    assert_eq!(verdict(base, base), None);
}

/// The wall time of a program that keeps a pace is that of its display.
#[test]
fn paced_programs_have_headroom() {
    let side = |busy_ms: u64, missed: u64| {
        let mut paced = report(&steps(&[("draw", 100)], 60).toml(1), 0);
        let main = &mut paced.steps[0];
        (main.by, main.period_ns, main.missed) =
            (StepsBy::Paced, Some(Ns(16_666_667)), Some(missed));
        main.kinds[0].gpu_ns = Some(Ns(busy_ms * 1_000_000));
        [paced]
    };
    let found = compare(&side(5, 0), &side(10, 3), &CompareOptions::default());
    let expected = "Both sides keep a pace: period 16.67 ms, GPU busy in a step 5.000 ms → 10.00 ms, late \
                    steps 0 → 3";
    assert!(found.headline.text.contains(expected), "{}", found.headline);
}

/// A unit that somebody names is compared even if the rest of the work differs.
#[test]
fn a_requested_unit_is_compared() {
    let layers: &[(&str, u64)] = &[("matmul", 100), ("add", 30)];
    let more: &[(&str, u64)] = &[("matmul", 100), ("add", 30), ("fill", 40)];
    let check = |per: PerUnit, expected: &str, is_missing: bool| {
        let options = CompareOptions {
            per: Some(per.clone()),
            ..CompareOptions::default()
        };
        let sides = (runs(steps(layers, 60), 0), runs(steps(more, 60), 100));
        let found = compare(&sides.0, &sides.1, &options);
        let text = &found.headline.text;
        assert!(text.starts_with(expected), "{per:?}\n{text}");
        assert!(text.contains(". The run is longer"), "{text}");
        assert_eq!(found.missing_unit().is_some(), is_missing, "{per:?}");
    };
    // Each matmul comes with one more fill and its wait, each command buffer holds one kernel.
    check(
        PerUnit::Kernel("matmul".to_owned()),
        "Per instance of matmul, new takes 1.4",
        false,
    );
    check(PerUnit::Step, "Per step, new takes 1.4", false);
    check(PerUnit::CommandBuffer, "Per command buffer, ", false);
    check(PerUnit::Kernel("absent".to_owned()), "", true);
}

/// Fused kernels are other work, which fails unless somebody says that it was meant to change: then a step may
/// not have become slower.
#[test]
fn work_that_was_meant_to_change_is_judged_by_the_step() {
    let eager: &[(&str, u64)] = &[("load", 30), ("cos", 20), ("exp", 20), ("log", 20)];
    let check = |fused_us: u64, may_change_work: bool, expected: &str| {
        let new: &[(&str, u64)] = &[("load", 30), ("fused", fused_us)];
        let gate = Gate {
            may_change_work,
            ..Gate::default()
        };
        let sides = (runs(steps(eager, 60), 0), runs(steps(new, 60), 100));
        let found = compare(&sides.0, &sides.1, &CompareOptions::default());
        let result = judge(&found, &gate);
        let failed = result
            .rows
            .iter()
            .filter(|row| row.verdict == GateVerdict::Miss && row.severity == GateSeverity::Error);
        let failed: Vec<&str> = failed.map(|row| row.what.as_str()).collect();
        assert_eq!(failed.join(" "), expected, "{fused_us} {:#?}", result.rows);
        assert_eq!(result.missed, !failed.is_empty(), "{fused_us}");
    };
    // A kernel that is gone is one row.
    check(55, false, "steps.intervals cos exp log");
    check(55, true, "");
    check(600, true, "steps.own_ns");
}

/// One slow run of base hides what the gate looks for.
#[test]
fn a_wide_base_cannot_decide() {
    let program = steps(&[("matmul", 100), ("softmax", 50)], 60);
    let base = [1, 1, 3].into_iter().zip(0..);
    let base: Vec<_> = base
        .map(|(factor, seed)| report(&program.toml(factor), seed))
        .collect();
    let new: Vec<_> = (100..103)
        .map(|seed| report(&program.toml(1), seed))
        .collect();
    let found = compare(&base, &new, &CompareOptions::default());
    assert!(
        found.headline.text.starts_with("Inconclusive"),
        "{}",
        found.headline
    );
    // Runs of new that are within the limit of the fastest run of base have certainly not become slower.
    assert!(!judge(&found, &Gate::default()).missed);

    let slower = steps(&[("matmul", 120), ("softmax", 60)], 60);
    let new: Vec<_> = (100..103)
        .map(|seed| report(&slower.toml(1), seed))
        .collect();
    let found = compare(&base, &new, &CompareOptions::default());
    let gate = judge(&found, &Gate::default());
    assert!(gate.missed && gate.inconclusive, "{:#?}", gate.rows);
}
