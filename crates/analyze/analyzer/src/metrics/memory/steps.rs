//! Divides allocations among the steps of the main series.

use super::lives::Life;
use super::{counted, turnover};
use crate::basics::spans::Span;
use crate::basics::statistics::median;
use crate::report::{GroupSteps, MemoryGrowth, MemorySteps};
use metalens_message::{Bytes, Ns};
use metalens_text::number::Float;

/// Fewer steps are no habit.
const FEWEST: usize = 4;

/// Steps in the window, each from one start to the next.
pub(super) struct Steps(Vec<u64>);

/// Allocations and bytes of one step.
#[derive(Debug, Clone, Copy, Default)]
struct StepMemory {
    allocations: u64,
    bytes: u64,
    /// Allocated minus freed bytes.
    change: i128,
}

impl Steps {
    /// Returns the steps with these starts; `None` if there are few.
    pub(super) fn new(starts: &[u64]) -> Option<Self> {
        (starts.len() > FEWEST).then(|| Self(starts.to_vec()))
    }

    fn span(&self) -> Span {
        let ends = self.0.first().zip(self.0.last());
        ends.map_or(Span::new(0, 0), |(&first, &last)| Span::new(first, last))
    }

    fn index(&self, at_ns: u64) -> Option<usize> {
        let after = self.0.partition_point(|&start| start <= at_ns);
        after.checked_sub(1).filter(|_| after < self.0.len())
    }

    fn shares(&self, lives: &[Life]) -> Vec<StepMemory> {
        let mut shares = vec![StepMemory::default(); self.0.len().saturating_sub(1)];
        for life in lives {
            let born = self.index(life.born_ns);
            if let Some(share) = born.and_then(|index| shares.get_mut(index)) {
                share.allocations += 1;
                share.bytes = share.bytes.saturating_add(life.bytes);
                share.change += i128::from(life.bytes);
            }
            let freed = life.freed_ns.and_then(|at_ns| self.index(at_ns));
            if let Some(share) = freed.and_then(|index| shares.get_mut(index)) {
                share.change -= i128::from(life.bytes);
            }
        }
        shares
    }

    /// Returns what these resources do in the steps.
    pub(super) fn figures(&self, lives: &[Life]) -> MemorySteps {
        let shares = self.shares(lives);
        let middle = |of: fn(&StepMemory) -> u64| median(shares.iter().map(of)).unwrap_or(0);
        MemorySteps {
            start_ns: Ns(self.span().start_ns),
            end_ns: Ns(self.span().end_ns),
            count: shares.len() as u64,
            turnover: turnover(lives, self.span()),
            median_allocations: middle(|share| share.allocations),
            median_bytes: Bytes(middle(|share| share.bytes)),
            growth: growth(&shares),
        }
    }

    /// Returns what a group of resources does in the steps; `None` if none is made in them.
    pub(super) fn of_group(&self, lives: &[Life]) -> Option<GroupSteps> {
        let turnover = turnover(lives, self.span());
        if turnover.allocations == 0 {
            return None;
        }
        let shares = self.shares(lives);
        let allocating = shares.iter().filter(|share| share.allocations > 0);
        let inside = lives
            .iter()
            .filter(|life| self.index(life.born_ns).is_some());
        let passing = inside.filter(|life| life.freed_ns.is_some());
        Some(GroupSteps {
            allocating: allocating.count() as u64,
            turnover,
            passing: counted(passing.map(|life| life.bytes)),
            growth: growth(&shares),
        })
    }
}

/// Returns the mean change of a step and its standard error. Resources that come and go have a
/// large error, so that only a lasting direction stands out.
fn growth(shares: &[StepMemory]) -> MemoryGrowth {
    let changes: Vec<f64> = shares.iter().map(|share| share.change.float()).collect();
    let count = changes.len().max(1).float();
    let mean = changes.iter().sum::<f64>() / count;
    let squares = changes.iter().map(|change| (change - mean).powi(2));
    let variance = squares.sum::<f64>() / (count - 1.0).max(1.0);
    let later = changes.get(changes.len() / 2..).unwrap_or(&[]);
    let total: i128 = shares.iter().map(|share| share.change).sum();

    MemoryGrowth {
        bytes_per_step: mean,
        error_bytes: (variance / count).sqrt(),
        later_bytes_per_step: later.iter().sum::<f64>() / (later.len().max(1).float()),
        total_bytes: i64::try_from(total).unwrap_or(if total < 0 { i64::MIN } else { i64::MAX }),
    }
}
