//! Lists the experiments: for each a question, its steps, the expected answer, and its judge.

use crate::evidence::{Answer, Judgment};
use crate::judges::{self, Judged};
use crate::lab::Lab;

/// An experiment.
#[derive(Debug)]
pub struct Experiment {
    /// Short name.
    pub id: &'static str,
    /// Question that it answers.
    pub question: &'static str,
    /// Steps of the experiment, in words.
    pub does: &'static str,
    /// Answer that metalens expects.
    pub expected: &'static str,
    /// Makes or takes the recordings, and judges them.
    pub(crate) judge: fn(&mut Lab<'_, '_>) -> Judged,
}

impl Experiment {
    /// Returns the answer that a judgment gives.
    pub(crate) fn answer(&self, judgment: Judgment) -> Answer {
        Answer {
            id: self.id,
            question: self.question,
            expected: self.expected,
            judgment,
        }
    }
}

/// All experiments, in the order in which they run.
pub const EXPERIMENTS: [Experiment; 19] = [
    Experiment {
        id: "stock",
        question: "Does a recording with Apple's template have the GPU work of the program, and can \
                   metalens read it?",
        does: "records a bundled workload with Metal System Trace and reads the bundle",
        expected: "metalens reads the recording, which has GPU intervals of the program",
        judge: judges::stock,
    },
    Experiment {
        id: "environment",
        question: "Does the program get the environment and the current folder of metalens?",
        does: "lets the bundled workload look for a variable of xctrace's own environment",
        expected: "the variable is there, and the folder is the same",
        judge: judges::environment,
    },
    Experiment {
        id: "streams",
        question: "On which stream does xctrace print, and whose exit code does it return?",
        does: "looks at the lines and the exit code of a recording",
        expected: "all lines are on one stream, and the exit code is 0, 54 or that of the program",
        judge: judges::streams,
    },
    Experiment {
        id: "template",
        question: "Does xctrace record with a changed copy of its template, and export that recording?",
        does: "records with --shader-timeline, and exports one table",
        expected: "xctrace records, and the export has the table",
        judge: judges::template,
    },
    Experiment {
        id: "shaders",
        question: "Does --shader-timeline give shader samples, with and without --target-stdout?",
        does: "records with --shader-timeline twice, once with the program's output in a file",
        expected: "there are samples if the program's output is not in a file",
        judge: judges::shaders,
    },
    Experiment {
        id: "signposts",
        question: "Are signposts recorded when the instrument Points of Interest is added?",
        does: "looks for the interval `measured` of the bundled workload",
        expected: "the interval is in the recording",
        judge: judges::signposts,
    },
    Experiment {
        id: "counters",
        question: "Does --counters give hardware counters?",
        does: "records with the instrument Metal GPU Counters",
        expected: "the recording has samples of counters",
        judge: judges::counters,
    },
    Experiment {
        id: "children",
        question: "Does metalens find the work of a program that another program started?",
        does: "records a shell that runs a bundled workload as its child",
        expected: "metalens names the child and its GPU intervals",
        judge: judges::children,
    },
    Experiment {
        id: "stderr",
        question: "Where does the standard error of a program go that xctrace starts?",
        does: "lets the shell around the workload write a line to standard error",
        expected: "xctrace passes it on",
        judge: judges::stderr,
    },
    Experiment {
        id: "interrupt",
        question: "Is a recording complete that is stopped with Ctrl-C?",
        does: "records a shell that would go on for ten minutes, and interrupts xctrace",
        expected: "the recording is complete",
        judge: judges::interrupt,
    },
    Experiment {
        id: "attach",
        question: "Can xctrace attach to a process by its id?",
        does: "starts the bundled workload, and attaches to it until the time limit",
        expected: "the recording has GPU work of the process",
        judge: judges::attach,
    },
    Experiment {
        id: "left",
        question: "Does a program end with its recording, when the time limit is reached?",
        does: "records a shell that would go on for ten minutes, for at most ten seconds",
        expected: "the shell does not exist after the recording",
        judge: judges::left,
    },
    Experiment {
        id: "scratch",
        question: "What do recordings leave behind in the temporary folder?",
        does: "adds up scratch files before each recording, right after it, and at the end",
        expected: "nothing is left after metalens has removed the files that it may remove",
        judge: judges::scratch,
    },
    Experiment {
        id: "export",
        question: "Does the native reading agree with xctrace export?",
        does: "exports the tables that metalens reads, and compares cell by cell",
        expected: "all cells agree",
        judge: judges::export,
    },
    Experiment {
        id: "counts",
        question: "Does a recording have all work that the program issued?",
        does: "counts command buffers, encoders and labels",
        expected: "the recording has all issued work",
        judge: judges::counts,
    },
    Experiment {
        id: "notification",
        question: "Does xctrace post a notification when it starts to trace?",
        does: "listens with notifyutil for the notification of --notify-tracing-started",
        expected: "notifyutil receives it while xctrace records",
        judge: judges::notification,
    },
    Experiment {
        id: "probe",
        question: "Does the probe reach a program, and do its times agree with those of xctrace?",
        does: "records the bundled workload with the probe in it, and compares log and recording",
        expected: "both have as many command buffers, and their GPU work spans the same time, to 1 µs",
        judge: judges::probe,
    },
    Experiment {
        id: "probe-alone",
        question: "Does the probe record without xctrace, and without Xcode?",
        does: "runs the bundled workload with the probe in it",
        expected: "the log has all issued work",
        judge: judges::probe_alone,
    },
    Experiment {
        id: "pythons",
        question: "Does the probe reach the Pythons of this machine?",
        does: "starts those of Homebrew, python.org, the Command Line Tools and environments with the probe",
        expected: "the probe is in each, and each finds its libraries as before",
        judge: judges::pythons,
    },
];
