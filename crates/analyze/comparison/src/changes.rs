//! Computes the changes between two sides, figure by figure and kernel by kernel.

use std::borrow::Cow;

use metalens_analyzer::Note;

use crate::change::{Floor, Judge};
use crate::kernels::{self, KernelChange};
use crate::kinds::in_one_order;
use crate::metric_changes::{self, MetricChange};
use crate::repeated::repeated;
use crate::runs::Runs;
use crate::sessions::Sessions;

/// The changes between two sides, before it is settled what their times are compared per.
#[derive(Debug)]
pub struct Changes<'a> {
    pub(crate) base: Cow<'a, Runs>,
    pub(crate) new: Cow<'a, Runs>,
    pub(crate) judge: Judge,
    pub(crate) sessions: Sessions,
    /// Notes on runs that are given twice.
    pub(crate) repeated: Vec<Note>,
    pub(crate) metrics: Vec<MetricChange>,
    pub(crate) kernels: Vec<KernelChange>,
}

impl<'a> Changes<'a> {
    /// Computes the changes of all figures and kernels.
    #[must_use]
    pub fn between(base: &'a Runs, new: &'a Runs) -> Self {
        let [base, new] = in_one_order(base, new);
        let repeated = repeated(&base, &new);
        let mut judge = Judge::new(Floor::default(), base.count(), new.count());
        if !repeated.is_empty() {
            judge = judge.without_confidence();
        }

        let sessions = Sessions::between(&base, &new);
        Self {
            metrics: metric_changes::changes(&base, &new, &judge, &sessions),
            kernels: kernels::changes(&base, &new, &judge, &sessions),
            base,
            new,
            judge,
            sessions,
            repeated,
        }
    }
}
