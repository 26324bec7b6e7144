//! A report, and what it was made from, for those who want every gap.

use crate::gaps::Gap;
use crate::kernels::NamedIntervals;
use crate::ledger::Book;
use crate::report::{Cause, GapParts, Report};
use crate::subject::Subject;

/// A report, and what it was made from.
pub struct Analysis {
    /// The report.
    pub report: Report,
    subject: Subject,
    gaps: Vec<Gap>,
    kernels: NamedIntervals,
}

/// One gap, explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExplainedGap<'a> {
    /// When it began.
    pub start_ns: u64,
    /// How long it lasted.
    pub duration_ns: u64,
    /// The kernel before it; none at the window's start.
    pub before: Option<&'a str>,
    /// The kernel after it; none at the window's end.
    pub after: Option<&'a str>,
    /// What most of it was spent on.
    pub cause: Cause,
    /// What all of it was spent on.
    pub parts: GapParts,
    /// Whether the program waited for the work before it ere it began with what
    /// comes after; unknown where that cannot be joined.
    pub serialised: Option<bool>,
}

impl Analysis {
    pub(crate) fn new(
        report: Report,
        subject: Subject,
        gaps: Vec<Gap>,
        kernels: NamedIntervals,
    ) -> Self {
        Self {
            report,
            subject,
            gaps,
            kernels,
        }
    }

    /// Every gap of the window, in order of time.
    pub fn gaps(&self) -> impl Iterator<Item = ExplainedGap<'_>> {
        let book = Book::of(&self.subject);
        let name = |at: Option<usize>| Some(self.kernels.name(self.kernels.number_of(at?)?));
        self.gaps.iter().map(move |gap| {
            let entry = book.entry(gap);
            ExplainedGap {
                start_ns: gap.span.start_ns,
                duration_ns: gap.span.length_ns(),
                before: name(gap.before),
                after: name(gap.after),
                cause: entry.parts.cause(),
                parts: entry.parts,
                serialised: entry.pair.is_serialised(),
            }
        })
    }
}
