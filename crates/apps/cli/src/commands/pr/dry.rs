//! Prints the comment that would be posted, without network, token or other programs.

use std::io::Write;

use metalens_github::{
    ASSETS_BRANCH, ChartFile, EnvironmentFacts, PostTexts, on_branch, repository,
};
use metalens_render::markdown::COMMENT_LIMIT;

use super::folder::PostedFolder;
use super::texts::CommentTexts;
use crate::args::posting::PrArguments;

pub(super) fn run(
    arguments: &PrArguments,
    folder: &PostedFolder,
    texts: &CommentTexts,
    note: &dyn Fn(&str),
) -> anyhow::Result<()> {
    let requested = arguments.place();
    let environment = EnvironmentFacts::read(&requested)?;
    let repository =
        repository(&requested)?.map_or_else(|| "OWNER/NAME".to_owned(), |name| name.to_string());

    let charts = folder.shown(arguments.text);
    let pictures = on_branch(&charts, &environment.server, &repository);
    let body = texts
        .comment(environment.commit.as_deref(), &pictures)
        .map_err(anyhow::Error::from_boxed)?;

    for why in &folder.skipped {
        note(&format!("note: {why}"));
    }
    for line in calls(&repository, &charts) {
        note(&line);
    }
    let size = body.len();
    note(&format!(
        "the comment has {size} bytes; the limit is {COMMENT_LIMIT}"
    ));

    match &arguments.output {
        Some(file) => {
            metalens_files::write_bytes(file, arguments.force, body.as_bytes())?;
        }
        None => crate::out::page().write_all(body.as_bytes())?,
    }
    Ok(())
}

/// Returns lines that list the requests of a posting.
fn calls(repository: &str, charts: &[ChartFile]) -> Vec<String> {
    let repos = format!("/repos/{repository}");
    let mut calls = vec![
        "would send through gh:".to_owned(),
        "  POST /graphql (the account of the token)".to_owned(),
        format!("  GET {repos}/pulls/N"),
    ];
    calls.extend(charts.iter().map(|chart| {
        let path = chart.asset();
        format!("  PUT {repos}/contents/{path} (on the branch {ASSETS_BRANCH})")
    }));
    calls.push(format!("  GET {repos}/issues/N/comments"));
    calls.push(format!(
        "  PATCH {repos}/issues/comments/ID (POST {repos}/issues/N/comments the first time)"
    ));
    calls
}
