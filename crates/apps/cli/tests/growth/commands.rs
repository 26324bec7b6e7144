//! Lists the commands that are measured.

use std::path::{Path, PathBuf};

use super::inputs::Input;

/// A command: its name, a part of the names of its inputs, and its arguments.
pub(super) type Command = (&'static str, &'static str, fn(&Written) -> Vec<String>);

/// Reading and analyzing is the most of each, so that two outputs share a run where both are small beside it.
pub(super) const COMMANDS: [Command; 6] = [
    ("full", "", |at| line(["analyze", &at.input, "--full"])),
    ("json and gate", "", |at| {
        let gate = format!("--gate={}", at.gate);
        line(["analyze", &at.input, "--json", &gate])
    }),
    ("page and perfetto", "", |at| {
        line([
            "analyze",
            &at.input,
            "--force",
            "--html",
            &at.output("page.html"),
            "--perfetto",
            &at.output("trace.json"),
        ])
    }),
    ("what-if", "", |at| {
        let mut arguments = line(["what-if", &at.input]);
        let kernels = at.patterns.iter();
        arguments.extend(kernels.map(|pattern| format!("--kernel={pattern}=0.5x")));
        arguments
    }),
    ("compare", "", |at| line(["compare", &at.input, &at.input])),
    ("batch", "log: kernels and", |at| {
        line([
            "batch",
            &at.input,
            "--jobs",
            "1",
            "-o",
            &at.output("reports"),
        ])
    }),
];

/// An input in the file system.
pub(super) struct Written {
    /// Path of the recording.
    input: String,
    /// Path of a file of limits.
    gate: String,
    /// Patterns of kernels.
    patterns: Vec<String>,
    /// Folder for output.
    folder: PathBuf,
}

impl Written {
    fn output(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Writes an input to a new folder.
    pub(super) fn new(input: &Input, folder: &Path) -> Self {
        std::fs::create_dir(folder).unwrap();
        let recording = folder.join("run");
        std::fs::create_dir(&recording).unwrap();
        for (name, text) in &input.files {
            std::fs::write(recording.join(name), text).unwrap();
        }
        let log = recording.join(super::inputs::LOG);
        let path = if log.exists() { log } else { recording };
        let limits = input.patterns.iter();
        let limits = limits.map(|pattern| format!("\"{pattern}\" = {{ max = \"1s\" }}\n"));
        let gate = folder.join("gate.toml");
        let text = format!("[gate.kernels]\n{}", limits.collect::<String>());
        std::fs::write(&gate, text).unwrap();
        Self {
            input: path.display().to_string(),
            folder: folder.to_owned(),
            gate: gate.display().to_string(),
            patterns: input.patterns.clone(),
        }
    }
}

fn line<const N: usize>(arguments: [&str; N]) -> Vec<String> {
    arguments.map(str::to_owned).into()
}
