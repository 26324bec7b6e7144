//! Writes the table of contents: target, summary, processes and tables of every run.

use std::io::{self, Write};
use std::path::Path;

use metalens_files::Folder;

use super::dates::{date, start_ns};
use super::display;
use super::tables::UNEXPORTED;
use crate::MARK;
use crate::error::Error;
use crate::plan::{Plan, PlannedProcess};
use crate::scenario::Scenario;
use crate::scenario::recording::Recording;
use crate::scenario::table::Table;
use crate::values::kinds::TargetKind;
use crate::values::kinds::{Generation, Role};

/// The part of the table of contents about one run.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) run: u32,
    pub(super) wall_ns: u64,
    pub(super) processes: Vec<PlannedProcess>,
}

impl Contents {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            run: plan.run,
            wall_ns: plan.wall_ns,
            processes: plan.processes.clone(),
        }
    }

    /// Returns the process that was launched or attached to.
    pub(super) fn target(&self) -> Option<&PlannedProcess> {
        self.processes
            .iter()
            .find(|process| process.role == Role::Target)
    }
}

/// Writes `toc.xml` into a folder.
pub(super) fn write(folder: &Folder, scenario: &Scenario, runs: &[Contents]) -> Result<(), Error> {
    let path = Path::new("toc.xml");
    let mut text = Vec::new();
    document(&mut text, scenario, runs).map_err(Error::io("write", path))?;
    Ok(folder.write_bytes(path, true, &text)?)
}

fn document(out: &mut impl Write, scenario: &Scenario, runs: &[Contents]) -> io::Result<()> {
    writeln!(
        out,
        "<?xml version=\"1.0\"?>\n\n<trace-toc synthetic=\"{MARK}\">"
    )?;
    for contents in runs {
        run(out, scenario, contents)?;
    }
    writeln!(out, "</trace-toc>")
}

/// Writes the `<run>` element of one run.
fn run(out: &mut impl Write, scenario: &Scenario, contents: &Contents) -> io::Result<()> {
    let recording = &scenario.recording;
    writeln!(out, "    <run number=\"{}\">\n        <info>", contents.run)?;
    target(out, recording, contents)?;
    summary(out, recording, contents)?;
    writeln!(out, "        </info>\n        <processes>")?;
    for process in &contents.processes {
        let (name, pid) = (escaped(&process.name), process.pid);
        let path = escaped(&path(recording, process));
        writeln!(
            out,
            "            <process name=\"{name}\" pid=\"{pid}\" path=\"{path}\"/>"
        )?;
    }

    writeln!(out, "        </processes>\n        <data>")?;
    for schema in UNEXPORTED {
        writeln!(out, "            <table schema=\"{schema}\"/>")?;
    }

    for table in Table::ALL
        .into_iter()
        .filter(|table| table.has_entry(scenario))
    {
        writeln!(out, "            {}", entry(table, scenario))?;
    }

    writeln!(out, "        </data>\n        <tracks/>\n    </run>")
}

/// Returns the path of a process's program.
pub(super) fn path(recording: &Recording, process: &PlannedProcess) -> String {
    // All runs share the path in the recording, but a run may record another program.
    let program = recording.program.clone().filter(|program| {
        process.role == Role::Target && program.ends_with(&format!("/{}", process.name))
    });
    program.unwrap_or_else(|| format!("/synthetic/{}", process.name))
}

fn entry(table: Table, scenario: &Scenario) -> String {
    let schema = table.form().schema;
    let documentation = match scenario.xcode {
        Generation::Xcode27 => format!(" documentation=\"{}\"", schema.documentation),
        Generation::Xcode16 | Generation::Xcode26 => String::new(),
    };
    let target_pid = match (table.has_target_pid(), scenario.recording.target) {
        (false, _) => "",
        (true, TargetKind::AllProcesses) => " target-pid=\"ALL\"",
        (true, TargetKind::Launched | TargetKind::Attached) => " target-pid=\"SINGLE\"",
    };
    format!(
        "<table schema=\"{}\"{documentation}{target_pid}/>",
        schema.name
    )
}

/// Writes the `<target>` of a run: its device, and the process or all processes.
fn target(out: &mut impl Write, recording: &Recording, contents: &Contents) -> io::Result<()> {
    let [model, name, os] =
        [&recording.model, &recording.device, &recording.os].map(|text| escaped(text));
    writeln!(out, "            <target>")?;
    writeln!(
        out,
        "                <device uuid=\"00000000-0000-0000-0000-000000000000\" model=\"{model}\" name=\"{name}\" \
         os-version=\"{os}\" platform=\"macOS\"/>"
    )?;
    match contents.target() {
        Some(target) => writeln!(out, "                {}", target_process(recording, target))?,
        None => writeln!(out, "                <all-processes/>")?,
    }
    writeln!(out, "            </target>")
}

/// Formats the `<process>` of a target.
fn target_process(recording: &Recording, target: &PlannedProcess) -> String {
    let target_type = match recording.target {
        TargetKind::Attached => "attached",
        TargetKind::Launched | TargetKind::AllProcesses => "launched",
    };
    let arguments = recording.arguments.as_deref().map(escaped);
    let arguments = arguments.map_or_else(String::new, |text| format!("arguments=\"{text}\" "));
    format!(
        "<process {arguments}type=\"{target_type}\" return-exit-status=\"{}\" name=\"{}\" pid=\"{}\" termination-reason=\"{}\"/>",
        recording.exit_status,
        escaped(&target.name),
        target.pid,
        escaped(&recording.termination),
    )
}

/// Writes the `<summary>` of a run.
fn summary(out: &mut impl Write, recording: &Recording, contents: &Contents) -> io::Result<()> {
    let start_ns = start_ns(contents.run);
    let facts = [
        ("start-date", date(start_ns)),
        ("end-date", date(start_ns + contents.wall_ns)),
        ("duration", seconds(contents.wall_ns)),
        ("end-reason", escaped(&recording.end_reason)),
        ("instruments-version", escaped(&recording.instruments)),
        ("template-name", escaped(&recording.template)),
        ("recording-mode", escaped(&recording.mode)),
        ("time-limit", escaped(&recording.time_limit)),
    ];
    writeln!(out, "            <summary>")?;
    for (tag, value) in facts {
        writeln!(out, "                <{tag}>{value}</{tag}>")?;
    }
    settings(out, recording)?;
    writeln!(out, "            </summary>")
}

/// Returns the settings of the GPU recording. The stock template has neither counters nor shaders.
pub(super) fn gpu_settings(recording: &Recording) -> [&'static str; 3] {
    [
        if recording.counter.is_empty() {
            "Counter Set: (null)"
        } else {
            "Counter Set: Synthetic Counters"
        },
        if recording.shader_timeline {
            "Shader Timeline: Enabled"
        } else {
            "Shader Timeline: Disabled"
        },
        "Induced GPU Performance State: Default",
    ]
}

/// Writes the settings of the recording. "intruments" is Apple's spelling.
fn settings(out: &mut impl Write, recording: &Recording) -> io::Result<()> {
    out.write_all(SETTINGS_HEAD.as_bytes())?;
    for setting in gpu_settings(recording) {
        writeln!(
            out,
            "                                    <value>{setting}</value>"
        )?;
    }
    out.write_all(SETTINGS_TAIL.as_bytes())
}

const SETTINGS_HEAD: &str = r#"                <intruments-recording-settings>
                    <instrument name="Metal Application">
                        <array>
                            <dictionary>
                                <key name="GPU">
"#;

const SETTINGS_TAIL: &str = r"                                </key>
                            </dictionary>
                        </array>
                    </instrument>
                </intruments-recording-settings>
";

/// Formats a duration in seconds, to the nearest microsecond.
fn seconds(ns: u64) -> String {
    let us = (ns + 500) / 1_000;
    format!("{}.{:06}", us / 1_000_000, us % 1_000_000)
}

fn escaped(text: &str) -> String {
    let mut out = Vec::new();
    display::escaped(text, &mut out);
    // Escaping replaces whole characters, so this is lossless.
    String::from_utf8_lossy(&out).into_owned()
}
