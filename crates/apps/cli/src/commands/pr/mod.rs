//! Runs `metalens pr`: posts a report, a comparison or a benchmark as a comment on a pull request,
//! or updates the comment of an earlier run.

mod dry;
mod folder;
mod texts;

use std::io::Write;
use std::process::ExitCode;

use metalens_comparison::GateResult;
use metalens_github::{Destination, Gh, Posting, post, server};
use metalens_render::folder::WrittenDocument;
use metalens_render::markdown::marker;
use metalens_render::{bench, comparison, for_page, report};
use metalens_text::shown;

use crate::args::posting::PrArguments;
use crate::exit::{self, Misuse};
use crate::out;
use folder::PostedFolder;
use texts::CommentTexts;

pub(crate) fn run(arguments: &PrArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let folder = PostedFolder::open(&arguments.folder, arguments.show_names)?;
    let key = key(arguments.key.as_deref(), &folder.document)?;
    let links = links(arguments)?;
    let code = if arguments.check {
        exit::of_gates(gates(&folder.document), |_| false)
    } else {
        ExitCode::SUCCESS
    };
    let texts = CommentTexts {
        document: document(&folder.document, arguments.show_names),
        key: key.clone(),
        charts: folder.charts.iter().filter(|chart| !chart.is_dark).count(),
        links,
    };
    let note = |text: &str| {
        if !quiet {
            out::note(&shown(text));
        }
    };
    if arguments.dry_run {
        dry::run(arguments, &folder, &texts, &note)?;
        return Ok(code);
    }

    let gh = Gh::new(server().as_deref(), &note);
    let destination = Destination::find(&arguments.place(), &gh)?;
    let charts = folder.shown(arguments.text);
    let posting = Posting {
        texts: &texts,
        key: &key,
        marker: marker(&key),
        charts: &charts,
        notes: &folder.skipped,
        notify: &note,
    };
    if let Some(url) = post(&posting, &destination, &gh)? {
        writeln!(out::page(), "{}", shown(&url))?;
        if arguments.key.is_none() {
            let text = "the next post about this process replaces this comment; --key NAME keeps \
                        several comments apart";
            note(text);
        }
    }
    Ok(code)
}

/// Returns the document to post, without the names of others unless asked for.
fn document(written: &WrittenDocument, show_names: bool) -> metalens_render::document::Document {
    match written {
        WrittenDocument::Report(report) => report::for_comment(&for_page(report, show_names)),
        WrittenDocument::Comparison(comparison) => comparison::for_comment(comparison, show_names),
        WrittenDocument::Bench(bench) => bench::screen(bench),
    }
}

/// Returns the key that identifies the comment: the requested one, else one of the process.
///
/// A key has only letters, digits and a few marks, so that it cannot end the HTML comment that it
/// is written into.
fn key(requested: Option<&str>, document: &WrittenDocument) -> Result<String, Misuse> {
    const LONGEST: usize = 64;
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);

    if let Some(key) = requested {
        let is_key = !key.is_empty() && key.len() <= LONGEST && key.chars().all(is_allowed);
        return if is_key && !key.contains("--") {
            Ok(key.to_owned())
        } else {
            Err(Misuse(format!(
                "--key {key:?} is not valid: use 1 to {LONGEST} letters, digits, `.`, `_` or `-`, \
                 without `--`"
            )))
        };
    }

    let (kind, process) = match document {
        WrittenDocument::Report(report) => ("report", report.process.name.as_str()),
        WrittenDocument::Comparison(comparison) => {
            let first = comparison.new.runs.first();
            ("comparison", first.map_or("", |run| run.process.as_str()))
        }
        WrittenDocument::Bench(bench) => {
            let first = bench.variants.first();
            (
                "benchmark",
                first.map_or("", |variant| variant.name.as_str()),
            )
        }
    };

    let mut key = kind.to_owned();
    for letter in format!("-{process}")
        .chars()
        .skip(usize::from(process.is_empty()))
    {
        let letter = if is_allowed(letter) { letter } else { '-' };
        if key.len() < LONGEST && !(letter == '-' && key.ends_with('-')) {
            key.push(letter);
        }
    }
    Ok(key.trim_end_matches('-').to_owned())
}

/// Returns the gates of the document.
fn gates(document: &WrittenDocument) -> Vec<(Option<&str>, &GateResult)> {
    let gates: Vec<&GateResult> = match document {
        WrittenDocument::Report(report) => report.gate.iter().collect(),
        WrittenDocument::Comparison(comparison) => comparison.gate.iter().collect(),
        WrittenDocument::Bench(bench) => {
            let pairs = bench.pairs.iter();
            pairs
                .filter_map(|pair| pair.comparison.gate.as_ref())
                .collect()
        }
    };
    gates.into_iter().map(|gate| (None, gate)).collect()
}

/// Returns the links at the end of the comment, each with its text.
fn links(arguments: &PrArguments) -> Result<Vec<(String, String)>, Misuse> {
    let Some(url) = &arguments.artifact_url else {
        return Ok(Vec::new());
    };

    // Other characters could end the Markdown link.
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:?&=%#@+,".contains(&byte);
    if url.starts_with("https://") && url.bytes().all(is_allowed) {
        let text = "The whole report, as an artifact".to_owned();
        Ok(vec![(text, url.clone())])
    } else {
        Err(Misuse(format!(
            "--artifact-url {url:?} is not an address that starts with https://"
        )))
    }
}
