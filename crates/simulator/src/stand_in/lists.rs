//! What is asked without recording: the version, help, templates, devices, instruments.

use super::arguments::Listing;
use super::stage::Stage;
use super::{Ending, Misbehaviour};

/// The template that everything here is about.
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

/// The devices by name and id.
const DEVICES: [(&str, &str); 1] = [("Synthetic Mac", "00000000-0000-0000-0000-000000000000")];

const HELP: &str = "\
usage: xctrace [--quiet] <command> [<options>]

commands:
  record    perform a new recording
  export    export data of a trace file
  list      list known devices, instruments, templates
  version   print the version
  help      print this";

pub(super) fn version(stage: &mut Stage<'_>) -> Ending {
    stage.say(&format!("xctrace version {}", stage.settings.version));
    Ending::Code(0)
}

pub(super) fn help(stage: &mut Stage<'_>) -> Ending {
    stage.say(HELP);
    Ending::Code(0)
}

pub(super) fn list(listing: Listing, stage: &mut Stage<'_>) -> Ending {
    match listing {
        Listing::Templates => {
            if !stage.does_at_first(Misbehaviour::TemplatesEmptyTwice, 2) {
                stage.say("== Standard Templates ==");
                each(templates(stage), stage);
                stage.say("\n== Custom Templates ==");
            }
        }
        Listing::Instruments => each(INSTRUMENTS.to_vec(), stage),
        Listing::Devices => {
            stage.say("== Devices ==");
            for (name, id) in DEVICES {
                stage.say(&format!("{name} ({id})"));
            }
            stage.say("\n== Simulators ==");
        }
    }
    Ending::Code(0)
}

fn each(names: Vec<&str>, stage: &mut Stage<'_>) {
    for name in names {
        stage.say(name);
    }
}

/// The standard templates.
pub(super) fn templates(stage: &Stage<'_>) -> Vec<&'static str> {
    let without_metal = stage.does(Misbehaviour::NoMetalTemplate);
    let all = TEMPLATES.into_iter();
    all.filter(|name| !(without_metal && *name == METAL))
        .collect()
}

/// Whether there is an instrument of that name.
pub(super) fn is_instrument(name: &str) -> bool {
    INSTRUMENTS.contains(&name)
}

/// Whether there is a device of that name or id.
pub(super) fn is_device(device: &str) -> bool {
    DEVICES
        .iter()
        .any(|(name, id)| [name, id].contains(&&device))
}
