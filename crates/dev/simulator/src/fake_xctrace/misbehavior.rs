//! Lists the ways to misbehave: each with its name, its effect and its source.

use std::fmt;

macro_rules! misbehaviors {
    ($($variant:ident $name:literal $about:literal $source:literal)*) => {
        /// A way in which the fake `xctrace` misbehaves, because users reported it of the real tool.
        ///
        /// | name | effect | reported by |
        /// | --- | --- | --- |
        $(#[doc = concat!("| `", $name, "` | ", $about, " | ", $source, " |")])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Misbehavior {
            $(#[doc = $about] $variant,)*
        }

        impl Misbehavior {
            /// All misbehaviors, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the name by which users request it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}

misbehaviors! {
    NoXcode "no-xcode"
        "any command: the shim says that only Command Line Tools are selected, exit 1" "LLMTraceFX"
    Xcrun72 "xcrun-72"
        "any command: `xcrun` is unable to find utility \"xctrace\", exit 72" "LLMTraceFX"
    NoLicense "no-license"
        "any command: the license of Xcode is not agreed to, exit 69" "several projects"
    Silent "silent"
        "record: prints nothing, makes nothing, exit 0" "a guess: no rule may rest on the exit code"
    AsksEnter "asks-enter"
        "record: asks for Enter on stdin unless `--no-prompt` is given" "xctrace-query-mcp-server"
    Aborts34ms "aborts-34ms"
        "record: with `--no-prompt`, stops by itself after 34 ms, before the process reached the GPU"
        "one project, on Xcode 26"
    AsksPassword "asks-password"
        "record: asks for a password in a terminal, and waits for ever"
        "a Mac without developer mode, several projects"
    NoInstrument "no-instrument"
        "record: `Instrument with name 'Points of Interest' cannot be found`, exit 1 (a guess)"
        "a Mac of a build service"
    Sandboxed "sandboxed"
        "record: `Could not set the recording priority`, exit 2 (a guess), a stub is left"
        "shells of agents, several projects"
    NeverSays "never-says"
        "record: does not print that Ctrl-C stops it" "one project, over ssh"
    HangsBefore "hangs-before"
        "record: prints nothing, ignores the time limit and SIGINT" "simulator targets (fret)"
    Exit2 "attach-refused"
        "record: `Failed to attach to target process`, exit 2, a stub is left"
        "xctrace-query-mcp-server"
    NotDebuggable "not-debuggable"
        "record: `Permission to debug … was denied`, exit 2 (a guess), a stub is left"
        "hardened runtimes, several projects"
    Restricted "restricted"
        "record: `… restricted and cannot be traced while SIP is enabled`, exit 2 (a guess), a stub is left"
        "system binaries, several projects"
    KperfLocked "kperf-locked"
        "record: once `could not lock kperf`, exit 2, a stub is left; then fine" "several projects"
    Exit19 "exit-19"
        "record: `Cannot find process matching name`, although it exists" "several projects"
    Exit21 "exit-21"
        "record: `Cannot find process for provided pid`, although it exists" "xctrace-query-mcp-server"
    Exit30 "template-collision"
        "record: a custom template has the name of a standard one, exit 30; a path still works"
        "probe-cli"
    OutputExists "output-exists"
        "record: says that the trace file exists already, exit 1 (a guess)" "several projects"
    KilledRecording "killed-recording"
        "record: killed while it records: a stub is left" "GOU, fret, xctrace-query-mcp-server"
    FloodsStderr "floods-stderr"
        "record: 10 MB of text on stderr while it records" "a guess: pipes must be drained"
    StderrOnly "stderr-only"
        "all lines, progress included, are on stderr" "xctrace-query-mcp-server"
    RunIssues "run-issues"
        "record: reports a harmless error and `Recording failed with errors`, the trace is good, exit 54"
        "xctrace-query-mcp-server, probe-cli"
    LostEvents "lost-events"
        "record: events are lost, which only the bundle says, exit 0" "a real bundle with this issue"
    CountersUnsupported "counters-unsupported"
        "record: `Selected counter profile is not supported on target device`, the trace is good, exit 54"
        "mojoboost, rMLX, OpenMM"
    ShaderTimelineRefused "shader-timeline-refused"
        "record: a template that asks for the shader timeline does not get it" "M4 and M5, several"
    Malformed "malformed"
        "record: `Transferred trace file is malformed`, the tables are empty, exit 54"
        "several projects"
    NoTargetRows "no-target-rows"
        "record: the process has no rows, everything else is fine" "several projects"
    ChildWorks "child-works"
        "record: the process has no rows, but one that it started has"
        "several projects: `uv run`, scripts, multiprocess Python"
    OtherCopy "other-copy"
        "record: another file of the program's name is recorded" "four projects, of applications"
    NoConfiguration "no-configuration"
        "record: attached, `No configuration information received, will have to guess`, the process has no rows"
        "rMLX"
    Exit54 "exit-54"
        "record: exit 54 with a good trace, however the process ended" "185 of 212 captures of one project"
    Exit54Stub "exit-54-stub"
        "record: exit 54, no save line, a stub is left" "the captures that `exit-54` does not describe"
    SavesStub "saves-stub"
        "record: exit 0 and a save line, but a stub is left" "a guess: no rule may rest on the save line"
    PropagatesStatus "propagates-status"
        "record: the exit status of the process is the exit code" "one project"
    BasenameInCwd "basename-in-cwd"
        "record: saves under the last part of `--output` in the current folder" "mojolearn"
    SavingGrows "saving-grows"
        "record: saving takes a hundred times as long (3 s), the bundle grows all the while, then fine"
        "xctrace-query-mcp-server, one waits up to 300 s"
    SavingHangs "saving-hangs"
        "record: stops in the middle of saving forever, the bundle does not grow, SIGINT is ignored"
        "fret: CPU Counters, Game Memory"
    SavingCrashes "saving-crashes"
        "record: dies by SIGSEGV in the middle of saving" "a guess after crashes of exports"
    Saving139 "saving-139"
        "as `saving-crashes`, as seen through a shell: exit 139" "a guess after crashes of exports"
    DiskFull "disk-full"
        "record: no space left in the middle of saving, part of the bundle is left, exit 1 (a guess)"
        "xctrace-query-mcp-server; the wording is a guess"
    LeavesRaw "leaves-raw"
        "record: `Unexpected internal error`, a raw recording (`.atrc`) is all that is left, exit 1 (a guess)"
        "one project, after 90 s"
    LeavesTarget "leaves-target"
        "record: leaves the process suspended at the end, in place of ending it" "three projects"
    LeavesScratch "leaves-scratch"
        "record: leaves `instruments*.ktrace` and `xrgpu_aps_*` in the temporary folder"
        "five projects: 1 GB to 529 GB"
    HoldsScratch "holds-scratch"
        "as `leaves-scratch`, and another process has the first open for 8 s after the end"
        "one project: up to 45 s"
    NoSignposts "no-signposts"
        "record: signposts are not recorded, although Points of Interest was asked for"
        "a guess: six projects had to ask for it"
    NoShadersToFile "no-shaders-to-file"
        "record: there are no shader samples with `--target-stdout`" "one project"
    HangsGuarded "hangs-guarded"
        "record: a program below `Documents` hangs from the start and has no rows" "two projects"
    DropsStderr "drops-stderr"
        "record: standard error of the program goes nowhere" "a guess: no project tells where it goes"
    DropsEnvironment "drops-environment"
        "record: the program gets only the variables of `--env`" "two projects; two others say no"
    LosesRows "loses-rows"
        "record: the last encoder of the program is missing" "a guess: what `verify` must find"
    LosesChildren "loses-children"
        "with `child-works`: the work of the child is not recorded either" "a guess"
    NoNotification "no-notification"
        "record: `--notify-tracing-started` posts nothing" "a guess"
    ExportDiffers "export-differs"
        "export: the first duration of a table has another last digit" "a guess: what `verify` must find"
    NoMetalTemplate "no-metal-template"
        "list, record: there is no Metal System Trace template" "several projects"
    TemplatesEmptyTwice "templates-empty-twice"
        "list templates: nothing, nothing, then the list" "mojoboost"
    Export10 "export-10"
        "export: `Document Missing Template Error`, exit 10" "Axiom"
    Export43 "export-43"
        "export: the bundle cannot be read, exit 43 (the wording is a guess)" "xtrace-skill"
    RefusesChanged "refuses-changed"
        "export: `Document Missing Template Error`, exit 10, if the template was a file" "one project"
    ExportFlaky "export-flaky"
        "export: the first two calls fail with 10, then fine" "instruments-mcp-server retries up to 5 times"
    TocFails "toc-fails"
        "export: `--toc` fails with 10, tables work" "exo, attached"
    ExportCrashes "export-crashes"
        "export: each second call dies by SIGSEGV in the middle of a row"
        "Xcode 26.5, several projects"
    ExportTrap "export-trap"
        "export: dies by SIGTRAP, silently, in the middle of a row" "big exports of Xcode 27"
    Export133 "export-133"
        "as `export-trap`, as seen through a shell: exit 133" "big exports of Xcode 27"
}

/// The error of a name that no misbehavior has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the fake xctrace has no misbehavior `{name}`; it has {}", known())]
pub struct UnknownMisbehavior {
    /// Name that the user gave.
    pub name: String,
}

impl Misbehavior {
    /// Parses names separated by commas.
    ///
    /// # Errors
    /// The first name that is unknown.
    pub fn list(names: &str) -> Result<Vec<Self>, UnknownMisbehavior> {
        let names = names.split(',').map(str::trim);
        names
            .filter(|name| !name.is_empty())
            .map(Self::from_name)
            .collect()
    }

    fn from_name(name: &str) -> Result<Self, UnknownMisbehavior> {
        let mut misbehaviors = Self::ALL.iter().copied();
        misbehaviors
            .find(|misbehavior| misbehavior.name() == name)
            .ok_or_else(|| UnknownMisbehavior {
                name: name.to_owned(),
            })
    }

    /// Returns whether the misbehavior counts calls, or has files, in the state folder.
    pub(super) const fn counts_calls(self) -> bool {
        matches!(
            self,
            Self::KperfLocked
                | Self::TemplatesEmptyTwice
                | Self::ExportFlaky
                | Self::ExportCrashes
                | Self::OtherCopy
        )
    }
}

impl fmt::Display for Misbehavior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn known() -> String {
    let names: Vec<&str> = Misbehavior::ALL
        .iter()
        .map(|misbehavior| misbehavior.name())
        .collect();
    names.join(", ")
}
