//! Tests the documents of benchmarks with runs whose truth is known.

use metalens_analyzer::{KernelCount, KernelMix, estimate_kernels};
use metalens_bench::{
    Bench, BenchOptions, BenchOutcome, BenchPlan, BenchRequest, CommandTemplate, Parameter, RunEnd,
    RunRecord, turns,
};
use metalens_comparison::{Number, Unit};
use metalens_message::{Ns, Share};
use metalens_testing::{analysis_of_toml, check_policy};
use metalens_text::Redactor;

use super::*;

/// Returns the report of a program with kernels of this length, and so many of them.
fn record(turn: metalens_bench::Turn, count: u32, kernel_us: u32, is_cut: bool) -> RunRecord {
    let seed = turn.round * 100 + u32::try_from(turn.variant).unwrap();
    let toml = format!(
        "seed = {seed}\n[[process]]\nname = \"bench\"\npid = 4101\nrole = \"target\"\n\
         [[process.stream]]\ncount = {count}\nsubmit = \"sync\"\nencoder-label = \"matmul\"\n\
         duration = [\"{kernel_us}us\", \"{}us\"]\nlaunch = [\"80us\", \"85us\"]\n\
         completion = [\"55us\", \"60us\"]\nencode = \"6us\"\nhost = \"5us\"\n",
        kernel_us + 1
    );
    let end = RunEnd {
        is_cut,
        failure: None,
    };
    RunRecord {
        turn,
        end,
        report: analysis_of_toml(&toml).report,
        folder: None,
    }
}

/// Returns a benchmark of programs, given by the count and the length of their kernels.
fn bench(programs: &[(&str, u32, u32)], rounds: u32, is_cut: bool) -> Bench {
    let request = BenchRequest {
        sources: programs
            .iter()
            .map(|(name, ..)| CommandTemplate::Program((*name).to_owned()))
            .collect(),
        ..BenchRequest::default()
    };
    let plan = BenchPlan::new(&request, &Redactor::default()).unwrap();
    let runs = turns(programs.len(), rounds).map(|turn| {
        let (_, count, kernel_us) = programs[turn.variant];
        record(turn, count, kernel_us, is_cut)
    });
    let outcome = BenchOutcome {
        runs: runs.collect(),
        stored: 0,
        is_complete: true,
    };
    Bench::new(&plan, rounds, &outcome, &BenchOptions::default())
}

fn text(bench: &Bench) -> String {
    let text = crate::terminal::text(&screen(bench), None);
    anstream::adapter::strip_str(&text).to_string()
}

#[test]
fn three_programs_are_shown() {
    let result = bench(
        &[("slow", 40, 60), ("fast", 40, 30), ("twin", 40, 30)],
        5,
        false,
    );
    insta::assert_snapshot!("three-programs", text(&result));
    assert!(!result.standing.unwrap().wins, "fast and twin are alike");
}

/// Runs that a time limit ended are compared per step, because their work depends on their speed.
#[test]
fn cut_runs_are_compared_per_step() {
    let result = bench(&[("one", 80, 30), ("two", 40, 30)], 3, true);
    assert_eq!(result.basis, metalens_comparison::TimeBasis::Step);
    assert!(!result.standing.as_ref().unwrap().wins, "both are as fast");
    let whole = bench(&[("one", 80, 30), ("two", 40, 30)], 3, false);
    assert_eq!(whole.basis, metalens_comparison::TimeBasis::Whole);
    assert!(whole.standing.as_ref().unwrap().wins);
    for result in [&result, &whole] {
        assert!(
            result
                .work
                .as_ref()
                .unwrap()
                .text
                .contains("40 GPU intervals instead of 80")
        );
    }
}

/// Each figure of two runs is their mean, in the sentence, in the tables and in the bars.
#[test]
fn one_number_is_shown_everywhere() {
    let result = bench(&[("one", 40, 30), ("two", 40, 60)], 2, false);
    let mean = |at: usize, id: &str| {
        let values = &result.variants[at].figure(id).unwrap().values;
        let values: Vec<f64> = values.iter().flatten().map(|value| value.get()).collect();
        let mean = Number::new(f64::midpoint(values[0], values[1])).unwrap();
        metalens_comparison::sentences::value(mean, Unit::Ns).text
    };
    let walls = [0, 1].map(|at| mean(at, "window.span_ns"));
    let said = &result.verdict.text;
    let both = format!("{} → {}", walls[1], walls[0]);
    assert!(said.contains(&both), "{both}: {said}");

    let text = text(&result);
    let page = crate::html::bench_page(&result).unwrap();
    check_policy(&page);
    let (_, idle) = text.split_once("Why the GPU was idle").unwrap();
    for (at, name) in ["one", "two"].into_iter().enumerate() {
        let row = |part: &str| {
            let mut rows = part.lines().map(str::trim);
            rows.find(|row| row.starts_with(name)).unwrap().to_owned()
        };
        let (_, variants) = text.split_once("Variants: ").unwrap();
        assert!(row(variants).contains(&walls[at]), "{text}");
        assert!(row(idle).contains(&mean(at, "gaps.total_ns")), "{text}");
        let bar = format!(
            "<span class=\"value\">{}</span>",
            walls[at].replace(' ', "\u{a0}")
        );
        assert!(page.contains(&bar), "{bar}");
    }
}

#[test]
fn none_of_equal_variants_is_the_fastest() {
    let result = bench(&[("a", 40, 30), ("b", 40, 30), ("c", 40, 30)], 5, false);
    let said = &result.verdict.text;
    assert!(
        said.starts_with(
            "No difference between the 3 variants counts: the lowest median is that of "
        ),
        "{said}"
    );
    let result = bench(&[("a", 40, 30), ("b", 40, 30), ("c", 40, 90)], 5, false);
    let said = &result.verdict.text;
    assert!(said.contains(" are the fastest of 3, with no "), "{said}");
}

#[test]
fn the_page_is_safe_and_complete() {
    let mut result = bench(&[("one", 10, 30), ("two", 10, 30)], 2, false);
    for variant in &mut result.variants {
        variant.name = format!("<script>{}</script>", variant.name);
    }
    let page = crate::html::bench_page(&result).unwrap();
    assert!(!page.contains("<script>one"), "names are escaped");
    for part in ["class=\"times\"", "id=\"variants-table\""] {
        assert!(page.contains(part), "{part}");
    }
}

/// Two kernels of 50 and 20 µs, and 8 µs of each interval: no value of the parameter alone tells them apart, all
/// together do. Without a parameter, the variants are different programs.
#[test]
fn kernels_that_share_intervals_are_told_by_all_values_together() {
    let mixes = |value: usize| {
        let counts: &[[u64; 2]] = [&[[1, 0], [1, 1]], &[[2, 1], [3, 1]], &[[1, 4], [0, 2]]][value];
        let mixes = counts.iter().map(|&[long, short]| KernelMix {
            kernels: [("long", long), ("short", short)]
                .into_iter()
                .filter(|&(_, count)| count > 0)
                .map(|(name, count)| KernelCount {
                    name: name.to_owned(),
                    count,
                })
                .collect(),
            intervals: 50,
            median_ns: Ns(50_000 * long + 20_000 * short + 8_000),
            deviation: Share(0.01),
        });
        estimate_kernels(mixes.collect())
    };
    let check = |sources: &[&str], values: Option<&str>| {
        let request = BenchRequest {
            sources: sources
                .iter()
                .map(|words| CommandTemplate::Program((*words).to_owned()))
                .collect(),
            parameters: values
                .map(|values| Parameter::list("ops", values).unwrap())
                .into_iter()
                .collect(),
            ..BenchRequest::default()
        };
        let plan = BenchPlan::new(&request, &Redactor::default()).unwrap();
        let runs = turns(3, 2).map(|turn| {
            let mut run = record(turn, 3, 10, false);
            let alone = mixes(turn.variant);
            assert!(alone.kernels.is_empty(), "{alone:?}");
            run.report.mixes = Some(alone);
            run
        });
        let outcome = BenchOutcome {
            runs: runs.collect(),
            stored: 0,
            is_complete: true,
        };
        Bench::new(&plan, 2, &outcome, &BenchOptions::default())
    };
    let result = check(&["./p {ops}"], Some("1,2,3"));
    let told = result.mixes.as_ref().unwrap();
    let times = told
        .kernels
        .iter()
        .map(|each| (each.kernels[0].name.as_str(), each.time.ns));
    let times: Vec<(&str, Ns)> = times.collect();
    assert_eq!(times, [("long", Ns(50_000)), ("short", Ns(20_000))]);
    assert_eq!(told.boundary.unwrap().ns, Ns(8_000));
    assert!(
        text(&result).contains("Estimated from 12 mixes"),
        "{}",
        text(&result)
    );
    assert_eq!(check(&["./p", "./q", "./r"], None).mixes, None);
}
