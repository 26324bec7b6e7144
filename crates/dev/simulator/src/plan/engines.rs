//! Plans the work of engines beside the GPU's channels, and frames.

use super::host::processes_in_run;
use super::model::{Plan, PlannedWork};
use crate::scenario::Scenario;

/// Returns the work of all processes that ends within the run.
pub(super) fn engines(scenario: &Scenario, plan: &Plan) -> Vec<PlannedWork> {
    let clock = scenario.clock;
    let mut works = Vec::new();
    for (process, planned) in processes_in_run(scenario, plan) {
        for work in &planned.engine {
            let pieces = (0..u64::from(work.count)).map(|ordinal| {
                let start = work
                    .start
                    .get()
                    .saturating_add(ordinal.saturating_mul(work.every.get()));
                PlannedWork {
                    process,
                    kind: work.kind,
                    label: work.label.clone(),
                    start_ns: clock.cut(start),
                    end_ns: clock.cut(start.saturating_add(work.length.get())),
                }
            });
            works.extend(pieces.take_while(|piece| piece.end_ns <= plan.wall_ns));
        }
    }
    works.sort_by_key(|piece| piece.start_ns);
    works
}
