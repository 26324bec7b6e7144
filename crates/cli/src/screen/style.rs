//! The few styles. They reach the terminal only if it wants them (`NO_COLOR`, pipes).

use metalens_text::Style;

/// The sentence that matters.
pub(crate) const VERDICT: Style = Style::BOLD;
/// The title of a section.
pub(crate) const TITLE: Style = Style::BOLD_CYAN;
/// What goes without saying.
pub(crate) const FAINT: Style = Style::DIMMED;
/// What must not be missed.
pub(crate) const LOUD: Style = Style::BOLD_YELLOW;
/// The word `error:`.
pub(crate) const ERROR: Style = Style::BOLD_RED;
/// The word `hint:`.
pub(crate) const HINT: Style = Style::BOLD_GREEN;
/// What is as it should be.
pub(crate) const GOOD: Style = Style::BOLD_GREEN;
/// What is not.
pub(crate) const BAD: Style = Style::BOLD_RED;
