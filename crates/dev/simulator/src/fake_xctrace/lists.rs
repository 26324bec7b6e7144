//! Implements the commands that record nothing: the version and the list of templates.

use super::misbehavior::Misbehavior;
use super::session::Session;
use super::settings::Exit;

/// Name of the template for GPU recordings.
pub(super) const METAL: &str = "Metal System Trace";

const TEMPLATES: [&str; 20] = [
    "Activity Monitor",
    "Allocations",
    "Animation Hitches",
    "App Launch",
    "Audio System Trace",
    "CPU Counters",
    "CPU Profiler",
    "Core ML",
    "Data Persistence",
    "File Activity",
    "Game Memory",
    "Game Performance",
    "Leaks",
    "Logging",
    METAL,
    "Network",
    "SwiftUI",
    "Swift Concurrency",
    "System Trace",
    "Time Profiler",
];

const INSTRUMENTS: [&str; 14] = [
    "Allocations",
    "CPU Counters",
    "CPU Profiler",
    "GPU",
    "Hangs",
    "Leaks",
    "Metal Application",
    "Metal GPU Counters",
    "Metal Resource Events",
    "Points of Interest",
    "Thermal State",
    "Thread States",
    "Time Profiler",
    "os_signpost",
];

/// Prints the version of the tool.
pub(super) fn version(session: &mut Session<'_>) -> Exit {
    session.print(&format!("xctrace version {}", session.settings.version));
    Exit::Code(0)
}

/// Prints the templates.
pub(super) fn list(session: &mut Session<'_>) -> Exit {
    if !session.misbehaves_at_first(Misbehavior::TemplatesEmptyTwice, 2) {
        session.print("== Standard Templates ==");
        for name in templates(session) {
            session.print(name);
        }
        session.print("\n== Custom Templates ==");
    }
    Exit::Code(0)
}

/// Returns the names of the standard templates.
pub(super) fn templates(session: &Session<'_>) -> Vec<&'static str> {
    let without_metal = session.misbehaves(Misbehavior::NoMetalTemplate);
    TEMPLATES
        .into_iter()
        .filter(|name| !(without_metal && *name == METAL))
        .collect()
}

/// Returns whether a standard template has this name.
pub(super) fn is_standard(template: &str) -> bool {
    TEMPLATES.contains(&template)
}

/// Returns whether an instrument has this name.
pub(super) fn is_instrument(name: &str) -> bool {
    INSTRUMENTS.contains(&name)
}
