//! Who looks on while a recording is made.

use std::path::Path;

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The recorder prepares.
    Starting,
    /// It records.
    Recording,
    /// It was asked to stop.
    Stopping,
    /// It ends and saves; the bundle has this size so far.
    Saving {
        /// In bytes.
        bytes: u64,
    },
    /// The target printed this.
    TargetOutput(&'a [u8]),
    /// A line that is not the recorder's own: the target's, on standard error.
    Line(&'a str),
    /// The recorder reports a trouble.
    Trouble(&'a str),
    /// It could not start, and is started again.
    TryingAgain(&'a str),
    /// The bundle came under another name.
    FoundElsewhere(&'a Path),
}

/// What is wished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wish {
    /// Go on.
    GoOn,
    /// Stop and save.
    Stop,
    /// Do not even wait for that.
    GiveUp,
}

/// What a bundle holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// What it should.
    Good,
    /// It can be read, and what it is for is not in it.
    Empty(String),
    /// It is not whole.
    Unreadable(String),
    /// It seems whole, and whoever looks on cannot tell.
    Doubtful(String),
}

/// Looks on, wishes, and judges what was recorded.
pub trait Watcher {
    /// Something happened.
    fn happened(&mut self, event: Event<'_>);

    /// What is wished now. Asked ten times a second or more.
    fn wish(&mut self) -> Wish;

    /// Returns what a bundle holds. Asked once at most.
    fn check(&mut self, bundle: &Path) -> Check;
}
