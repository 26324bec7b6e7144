//! Runs inside the page that opens recordings in a browser.
//!
//! ```text
//! page ─ worker ─ WASI of site/wasi.js ─┬─ /in   the dropped files, read only
//!                                       └─ /out  the answer, in memory
//! ```
//!
//! The program takes a request as JSON in its only argument, and writes its answer as files:
//! `report.json`, `report.html` and `report.md`, the same bytes as `metalens analyze --json`, `--html`
//! and `--markdown` write, or the same of a comparison, or `error.json`. It prints nothing.

mod answer;
mod request;

use std::process::ExitCode;

use crate::answer::AnswerFile;
use crate::request::PageRequest;

fn main() -> ExitCode {
    let Some(text) = std::env::args().nth(1) else {
        return ExitCode::from(2);
    };
    let Ok(request) = serde_json::from_str::<PageRequest>(&text) else {
        return ExitCode::from(2);
    };

    let (files, code) = match answer::answer(&request) {
        Ok(files) => (files, ExitCode::SUCCESS),
        Err(refusal) => (AnswerFile::refused(&refusal), ExitCode::FAILURE),
    };
    // The folder is the page's memory: no other program sees a half-written file.
    let write = |file: &AnswerFile| std::fs::write(request.output.join(file.name), &file.text);
    if files.iter().all(|file| write(file).is_ok()) {
        code
    } else {
        ExitCode::from(3)
    }
}
