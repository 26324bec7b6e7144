//! Carries a benchmark out: the hooks, the warm-up runs, and the runs in their order.

use metalens_analyzer::Report;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::turns::{Turn, turns};
use crate::variants::{BenchPlan, Variant};

/// Records and analyzes the runs of a benchmark.
pub trait VariantRunner {
    /// Reason why a run failed.
    type Error;

    /// Returns whether the user wants to stop.
    fn is_stopped(&self) -> bool;

    /// Runs a hook with a shell.
    ///
    /// # Errors
    ///
    /// If the hook fails.
    fn run_hook(&mut self, variant: &Variant, command: &str) -> Result<(), Self::Error>;

    /// Records a run that does not count.
    ///
    /// # Errors
    ///
    /// If the run fails.
    fn warm_up(&mut self, variant: &Variant, number: u32) -> Result<(), Self::Error>;

    /// Records and analyzes a run. None if it was interrupted.
    ///
    /// # Errors
    ///
    /// If the run fails.
    fn record(&mut self, turn: Turn, variant: &Variant) -> Result<Option<RunRecord>, Self::Error>;

    /// Returns whether these runs are enough, so that no other round begins.
    fn is_enough(&self, _: &BenchOutcome) -> bool {
        false
    }
}

/// A run that is complete.
#[derive(Debug, Clone)]
pub struct RunRecord {
    /// The round and the variant.
    pub turn: Turn,
    /// End of the run.
    pub end: RunEnd,
    /// Report on the run.
    pub report: Report,
    /// Folder of the report inside the folder of the benchmark. None if the report is not kept.
    pub folder: Option<String>,
}

/// End of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunEnd {
    /// True if the recording ended at its time limit, so that the amount of work depends on the
    /// speed.
    pub is_cut: bool,
    /// Message about a program that failed, such as `the program exited with code 3`. Null if it
    /// did not.
    pub failure: Option<String>,
}

/// The runs of a benchmark.
#[derive(Debug)]
pub struct BenchOutcome {
    /// Complete runs, in the order of their rounds.
    pub runs: Vec<RunRecord>,
    /// Number of runs that earlier benchmarks had recorded.
    pub stored: usize,
    /// True if no run is missing, or those that are there are enough.
    pub is_complete: bool,
}

/// Carries out the turns of these rounds that are not stored yet, with `warm_ups` runs of each variant before them.
///
/// # Errors
///
/// The first error of the runner. The hooks for cleaning up run in any case.
pub fn carry_out<R: VariantRunner>(
    plan: &BenchPlan,
    rounds: u32,
    warm_ups: u32,
    stored: Vec<RunRecord>,
    runner: &mut R,
) -> Result<BenchOutcome, R::Error> {
    let is_stored = |turn: &Turn| stored.iter().any(|run| run.turn == *turn);
    let missing: Vec<Turn> = turns(plan.variants.len(), rounds)
        .filter(|turn| !is_stored(turn))
        .collect();

    let mut session = Session {
        plan,
        runner,
        set_up: Vec::new(),
        outcome: BenchOutcome {
            stored: stored.len(),
            runs: stored,
            is_complete: false,
        },
    };
    let carried_out = session.run(&missing, warm_ups);
    let cleaned_up = session.clean_up();
    let mut outcome = session.outcome;
    carried_out.and(cleaned_up)?;
    let runs = &mut outcome.runs;
    runs.sort_by_key(|run| (run.turn.round, run.turn.variant));
    Ok(outcome)
}

/// A benchmark that is being carried out.
struct Session<'a, R> {
    plan: &'a BenchPlan,
    runner: &'a mut R,
    /// Variants whose setup has begun.
    set_up: Vec<&'a Variant>,
    outcome: BenchOutcome,
}

impl<R: VariantRunner> Session<'_, R> {
    /// Carries out the missing turns. Ends early, without an error, when the runs are enough, or the user stops it.
    fn run(&mut self, missing: &[Turn], warm_ups: u32) -> Result<(), R::Error> {
        if self.is_enough() {
            return Ok(());
        }
        // A variant whose runs are all stored needs neither its setup nor warm-ups.
        let is_needed = |number: usize| missing.iter().any(|turn| turn.variant == number);
        let variants = self.plan.variants.iter().enumerate();
        let needed: Vec<&Variant> = variants
            .filter(|&(number, _)| is_needed(number))
            .map(|(_, variant)| variant)
            .collect();

        for &variant in &needed {
            if self.runner.is_stopped() {
                return Ok(());
            }
            // Noted before the hook runs, so that a setup that fails halfway is cleaned up, too.
            self.set_up.push(variant);
            self.hook(variant, variant.run.hooks.setup.as_deref())?;
        }

        for number in 1..=warm_ups {
            for &variant in &needed {
                self.hook(variant, variant.run.hooks.prepare.as_deref())?;
                if self.runner.is_stopped() {
                    return Ok(());
                }
                self.runner.warm_up(variant, number)?;
            }
        }

        let mut round = missing.first().map_or(0, |turn| turn.round);
        for &turn in missing {
            if turn.round != round && self.is_enough() {
                return Ok(());
            }
            round = turn.round;
            let Some(variant) = self.plan.variants.get(turn.variant) else {
                continue;
            };
            self.hook(variant, variant.run.hooks.prepare.as_deref())?;
            if self.runner.is_stopped() {
                return Ok(());
            }
            match self.runner.record(turn, variant)? {
                Some(run) => self.outcome.runs.push(run),
                None => return Ok(()),
            }
        }
        self.outcome.is_complete = true;
        Ok(())
    }

    /// Returns whether the complete rounds are enough; then the benchmark is complete.
    fn is_enough(&mut self) -> bool {
        self.outcome.is_complete = self.runner.is_enough(&self.outcome);
        self.outcome.is_complete
    }

    /// Runs the hooks for cleaning up, all of them even if one fails.
    fn clean_up(&mut self) -> Result<(), R::Error> {
        let mut result = Ok(());
        for variant in std::mem::take(&mut self.set_up) {
            if let Some(command) = &variant.run.hooks.cleanup {
                let cleaned_up = self.runner.run_hook(variant, command);
                result = result.and(cleaned_up);
            }
        }
        result
    }

    /// Runs a hook, unless there is none or the user wants to stop.
    fn hook(&mut self, variant: &Variant, command: Option<&str>) -> Result<(), R::Error> {
        match command {
            Some(command) if !self.runner.is_stopped() => self.runner.run_hook(variant, command),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use metalens_testing::analysis_of;
    use metalens_text::Redactor;

    use super::*;
    use crate::variants::{BenchRequest, CommandTemplate, Hooks};

    /// Notes what it is asked to do, and fails or stops at a certain step.
    struct Notebook {
        report: Report,
        done: Vec<String>,
        fails_at: Option<usize>,
        stops_at: Option<usize>,
        enough: Option<usize>,
    }

    impl Notebook {
        fn step(&mut self, what: String) -> Result<(), String> {
            let fails = self.fails_at == Some(self.done.len());
            self.done.push(what);
            if fails {
                Err("it failed".to_owned())
            } else {
                Ok(())
            }
        }
    }

    impl VariantRunner for Notebook {
        type Error = String;

        fn is_stopped(&self) -> bool {
            self.stops_at.is_some_and(|at| self.done.len() >= at)
        }

        fn run_hook(&mut self, _: &Variant, command: &str) -> Result<(), String> {
            self.step(command.to_owned())
        }

        fn warm_up(&mut self, variant: &Variant, number: u32) -> Result<(), String> {
            self.step(format!("warm {}{number}", variant.name))
        }

        fn record(&mut self, turn: Turn, variant: &Variant) -> Result<Option<RunRecord>, String> {
            self.step(format!("{}{}", variant.name, turn.round))?;
            Ok((!self.is_stopped()).then(|| record(turn, &self.report)))
        }

        fn is_enough(&self, outcome: &BenchOutcome) -> bool {
            self.enough.is_some_and(|runs| outcome.runs.len() >= runs)
        }
    }

    fn record(turn: Turn, report: &Report) -> RunRecord {
        RunRecord {
            turn,
            end: RunEnd::default(),
            report: report.clone(),
            folder: None,
        }
    }

    fn plan(hooks: bool) -> BenchPlan {
        let hook = |text: &str| hooks.then(|| text.to_owned());
        let request = BenchRequest {
            sources: ["a", "b"]
                .map(|command| CommandTemplate::Program(command.to_owned()))
                .to_vec(),
            hooks: Hooks {
                setup: hook("setup"),
                prepare: hook("prepare"),
                cleanup: hook("cleanup"),
            },
            ..BenchRequest::default()
        };
        BenchPlan::new(&request, &Redactor::default()).unwrap()
    }

    fn notebook() -> Notebook {
        Notebook {
            report: analysis_of("eager").report,
            done: Vec::new(),
            fails_at: None,
            stops_at: None,
            enough: None,
        }
    }

    #[test]
    fn hooks_and_runs_come_in_their_order() {
        let mut notebook = notebook();
        let outcome = carry_out(&plan(true), 2, 1, Vec::new(), &mut notebook).unwrap();
        assert_eq!(
            notebook.done.join(", "),
            "setup, setup, prepare, warm a1, prepare, warm b1, prepare, a1, prepare, b1, prepare, \
             b2, prepare, a2, cleanup, cleanup"
        );
        assert!(outcome.is_complete);
        assert_eq!(outcome.runs.len(), 4);
    }

    #[test]
    fn stored_runs_are_not_recorded_again() {
        let mut notebook = notebook();
        let stored = |round, variant| record(Turn { round, variant }, &notebook.report);
        let stored = vec![stored(1, 0), stored(1, 1), stored(2, 1)];
        let outcome = carry_out(&plan(true), 2, 0, stored, &mut notebook).unwrap();
        assert_eq!(notebook.done.join(", "), "setup, prepare, a2, cleanup");
        let order = outcome
            .runs
            .iter()
            .map(|run| (run.turn.round, run.turn.variant));
        assert_eq!(order.collect::<Vec<_>>(), [(1, 0), (1, 1), (2, 0), (2, 1)]);
        assert_eq!(outcome.stored, 3);
    }

    #[test]
    fn a_failed_benchmark_is_cleaned_up() {
        let mut notebook = notebook();
        notebook.fails_at = Some(3);
        let failed = carry_out(&plan(true), 2, 0, Vec::new(), &mut notebook);
        assert_eq!(failed.unwrap_err(), "it failed");
        assert_eq!(
            notebook.done.join(", "),
            "setup, setup, prepare, a1, cleanup, cleanup"
        );
    }

    #[test]
    fn a_stopped_benchmark_keeps_its_runs_without_the_last() {
        let mut notebook = notebook();
        notebook.stops_at = Some(3);
        let outcome = carry_out(&plan(false), 5, 0, Vec::new(), &mut notebook).unwrap();
        assert_eq!(notebook.done.join(", "), "a1, b1, b2");
        assert_eq!(outcome.runs.len(), 2);
        assert!(!outcome.is_complete);
    }

    /// A round is never cut in two, and what is stored may be enough.
    #[test]
    fn a_benchmark_ends_when_its_runs_are_enough() {
        let mut notebook = notebook();
        let check = |enough: usize, stored: Vec<RunRecord>, notebook: &mut Notebook| {
            notebook.enough = Some(enough);
            let outcome = carry_out(&plan(false), 9, 0, stored, notebook).unwrap();
            assert!(outcome.is_complete);
            outcome.runs
        };
        let runs = check(3, Vec::new(), &mut notebook);
        assert_eq!(notebook.done.join(", "), "a1, b1, b2, a2");
        assert_eq!(check(4, runs, &mut notebook).len(), 4);
        assert_eq!(notebook.done.len(), 4);
    }
}
