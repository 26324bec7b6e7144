//! Defines the styles of text on terminals. They are used only if the terminal wants them
//! (`NO_COLOR`, pipes).

use metalens_text::Style;

/// The style of the sentence that matters.
pub const VERDICT: Style = Style::BOLD;
/// The style of a section's title.
pub const TITLE: Style = Style::BOLD_CYAN;
/// The style of names and headings.
pub const FAINT: Style = Style::DIMMED;
/// The style of sentences that must not be missed.
pub const LOUD: Style = Style::BOLD_YELLOW;
/// The style of the word `error:`.
pub const ERROR: Style = Style::BOLD_RED;
/// The style of the word `hint:`.
pub const HINT: Style = Style::BOLD_GREEN;
/// The style of good news.
pub const GOOD: Style = Style::BOLD_GREEN;
/// The style of bad news.
pub const BAD: Style = Style::BOLD_RED;
