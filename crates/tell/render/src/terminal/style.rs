//! Defines the styles of text on terminals. They are used only if the terminal wants them
//! (`NO_COLOR`, pipes).

use metalens_analyzer::Cause;
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

/// Returns the color of a cause of idle time: of the 256 that terminals have, the one that is nearest to
/// the color on pages.
pub(super) const fn cause_color(cause: Cause) -> Style {
    Style::of(match cause {
        Cause::Completion => "38;5;178",
        Cause::Host => "38;5;166",
        Cause::Encoding => "38;5;175",
        Cause::DriverWait => "38;5;184",
        Cause::Driver => "38;5;99",
        Cause::StartLatency => "38;5;86",
        Cause::Submission => "38;5;36",
        Cause::Queued => "38;5;74",
        Cause::Contention => "38;5;243",
        Cause::Unknown => "38;5;249",
    })
}
