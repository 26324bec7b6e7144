//! `metalens pr`: a report or a comparison as a comment on a pull request, which the
//! next run updates.

mod dry;
mod folder;
mod texts;

use std::io::Write;
use std::process::ExitCode;

use metalens_github::{Client, Destination, Gh, Posting, Token, environment_token, post};
use metalens_render::markdown::marker;
use metalens_render::{comparison, redacted, report};
use metalens_text::shown;

use crate::args::posting::PrArguments;
use crate::exit::Misuse;
use crate::out;
use folder::{Document, Folder};
use texts::CommentTexts;

pub(crate) fn run(arguments: &PrArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let folder = Folder::open(&arguments.folder, arguments.show_names)?;
    let key = key(arguments.key.as_deref(), &folder.document)?;
    let links = links(arguments)?;
    let texts = CommentTexts {
        document: document(&folder.document, arguments.show_names),
        key: key.clone(),
        charts: folder.charts.iter().filter(|chart| !chart.is_dark).count(),
        links,
    };
    if arguments.dry_run {
        return dry::run(arguments, &folder, &texts, quiet);
    }
    let destination = Destination::find(&arguments.place())?;
    let token = token()?;
    let client = Client::new(destination.api.clone(), token.clone());
    let client = match quiet {
        true => client,
        false => client.with_notices(|text| tell(false, text)),
    };
    let posting = Posting {
        texts: &texts,
        key: &key,
        marker: marker(&key),
        charts: &folder.shown(),
        folder: &folder.path,
        images: arguments.images.into(),
        notes: &folder.left,
        notify: &|text| tell(quiet, text),
    };
    let done = post(&posting, &destination, &client, &token)?;
    if let Some(url) = done {
        writeln!(out::page(), "{}", shown(&url))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The document without what may not be posted.
fn document(found: &Document, show_names: bool) -> metalens_render::document::Document {
    match found {
        Document::Report(found) => {
            let redacted = (!show_names).then(|| redacted(found));
            report::document(redacted.as_ref().unwrap_or(found))
        }
        Document::Comparison(found) => comparison::document(found, show_names),
    }
}

/// What the comment is called: letters, digits and a few marks, so that it cannot end
/// the marker that it is in.
fn key(asked: Option<&str>, document: &Document) -> Result<String, Misuse> {
    const LONGEST: usize = 64;
    let is_good = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if let Some(key) = asked {
        let is_key = !key.is_empty() && key.len() <= LONGEST && key.chars().all(is_good);
        return match is_key && !key.contains("--") {
            true => Ok(key.to_owned()),
            false => Err(Misuse(format!(
                "--key {key:?} is none: up to {LONGEST} letters, digits, and single . _ - make one"
            ))),
        };
    }
    let (kind, target) = match document {
        Document::Report(report) => ("report", report.process.name.as_str()),
        Document::Comparison(comparison) => {
            let first = comparison.new.runs.first();
            ("comparison", first.map_or("", |run| run.process.as_str()))
        }
    };
    let mut key = kind.to_owned();
    for letter in format!("-{target}")
        .chars()
        .skip(usize::from(target.is_empty()))
    {
        let letter = if is_good(letter) { letter } else { '-' };
        if key.len() < LONGEST && !(letter == '-' && key.ends_with('-')) {
            key.push(letter);
        }
    }
    Ok(key.trim_end_matches('-').to_owned())
}

/// The token of the environment, or `gh`'s.
fn token() -> anyhow::Result<Token> {
    if let Some(token) = environment_token()? {
        return Ok(token);
    }
    Gh::token().map_err(|error| {
        let said = format!(
            "there is no token to post with: set GITHUB_TOKEN, or log in with gh ({error}); \
             --dry-run needs none"
        );
        Misuse(said).into()
    })
}

/// Links at the end of the comment.
fn links(arguments: &PrArguments) -> Result<Vec<(String, String)>, Misuse> {
    let Some(url) = &arguments.artifact_url else {
        return Ok(Vec::new());
    };
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:?&=%#@+,".contains(&byte);
    match url.starts_with("https://") && url.bytes().all(is_good) {
        true => Ok(vec![(
            "The whole report, as an artifact".to_owned(),
            url.clone(),
        )]),
        false => Err(Misuse(format!(
            "--artifact-url {url:?} is no address that begins with https://"
        ))),
    }
}

/// Tells how it goes, on stderr.
fn tell(quiet: bool, text: &str) {
    if !quiet {
        out::note(&shown(text));
    }
}
