//! The few styles. They reach the terminal only if it wants them (`NO_COLOR`, pipes).

use anstyle::{AnsiColor, Style};

/// The sentence that matters.
pub(crate) const VERDICT: Style = Style::new().bold();
/// The title of a section.
pub(crate) const TITLE: Style = Style::new()
    .bold()
    .fg_color(Some(anstyle::Color::Ansi(AnsiColor::Cyan)));
/// What goes without saying.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// What must not be missed.
pub(crate) const LOUD: Style = Style::new()
    .bold()
    .fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow)));
/// The word `error:`.
pub(crate) const ERROR: Style = Style::new()
    .bold()
    .fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));
/// The word `hint:`.
pub(crate) const HINT: Style = Style::new()
    .bold()
    .fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
/// What is as it should be.
pub(crate) const GOOD: Style = Style::new()
    .bold()
    .fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
/// What is not.
pub(crate) const BAD: Style = Style::new()
    .bold()
    .fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));
