//! Implements the commands that record nothing: the version, help, templates, devices, instruments.

use super::arguments::Listing;
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

/// Names and ids of the devices.
const DEVICES: [(&str, &str); 1] = [("Synthetic Mac", "00000000-0000-0000-0000-000000000000")];

const HELP: &str = "\
usage: xctrace [--quiet] <command> [<options>]

commands:
  record    perform a new recording
  export    export data of a trace file
  list      list known devices, instruments, templates
  version   print the version
  help      print this";

/// Prints the version of the tool.
pub(super) fn version(session: &mut Session<'_>) -> Exit {
    session.print(&format!("xctrace version {}", session.settings.version));
    Exit::Code(0)
}

/// Prints the help of the tool.
pub(super) fn help(session: &mut Session<'_>) -> Exit {
    session.print(HELP);
    Exit::Code(0)
}

/// Prints templates, instruments or devices.
pub(super) fn list(listing: Listing, session: &mut Session<'_>) -> Exit {
    match listing {
        Listing::Templates => {
            if !session.misbehaves_at_first(Misbehavior::TemplatesEmptyTwice, 2) {
                session.print("== Standard Templates ==");
                print_all(templates(session), session);
                session.print("\n== Custom Templates ==");
            }
        }
        Listing::Instruments => print_all(INSTRUMENTS.to_vec(), session),
        Listing::Devices => {
            session.print("== Devices ==");
            for (name, id) in DEVICES {
                session.print(&format!("{name} ({id})"));
            }
            session.print("\n== Simulators ==");
        }
    }
    Exit::Code(0)
}

fn print_all(names: Vec<&str>, session: &mut Session<'_>) {
    for name in names {
        session.print(name);
    }
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

/// Returns whether a device has this name or id.
pub(super) fn is_device(device: &str) -> bool {
    DEVICES
        .iter()
        .any(|(name, id)| [name, id].contains(&&device))
}
