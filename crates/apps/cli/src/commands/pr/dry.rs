//! Prints the comment that would be posted, without network, token or other programs.

use std::io::Write;

use metalens_github::{
    ASSETS_BRANCH, ChartFile, CheckRun, EnvironmentFacts, PostTexts, UploadMethod, images,
    repository,
};
use metalens_render::markdown::COMMENT_LIMIT;

use super::folder::PostedFolder;
use super::texts::CommentTexts;
use crate::args::posting::PrArguments;

pub(super) fn run(
    arguments: &PrArguments,
    folder: &PostedFolder,
    check: Option<&CheckRun>,
    texts: &CommentTexts,
    note: &dyn Fn(&str),
) -> anyhow::Result<()> {
    let requested = arguments.place();
    let environment = EnvironmentFacts::read(&requested)?;
    let repository =
        repository(&requested)?.map_or_else(|| "OWNER/NAME".to_owned(), |name| name.to_string());

    let charts = folder.shown();
    let method = upload_method(arguments, &charts, &environment);
    let (pictures, files) = match method {
        UploadMethod::Assets => {
            let target = (environment.server.as_str(), repository.as_str(), "COMMIT");
            let assets = images::assets(&charts).into_iter();
            let files = assets.map(|asset| asset.path).collect();
            (images::on_branch(&charts, target), files)
        }
        UploadMethod::Summary | UploadMethod::Text => (Vec::new(), Vec::new()),
    };
    let body = texts
        .comment(environment.commit.as_deref(), &pictures, &[])
        .map_err(anyhow::Error::from_boxed)?;

    for why in &folder.skipped {
        note(&format!("note: {why}"));
    }
    for line in calls(method, &repository, &files, check) {
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

/// Returns the first method for pictures that may work, without asking the server.
fn upload_method(
    arguments: &PrArguments,
    charts: &[ChartFile],
    environment: &EnvironmentFacts,
) -> UploadMethod {
    let has_charts = !charts.is_empty();
    images::methods(arguments.images.into())
        .into_iter()
        .find(|method| match method {
            UploadMethod::Assets => has_charts,
            UploadMethod::Summary => environment.summary.is_some(),
            UploadMethod::Text => true,
        })
        .unwrap_or(UploadMethod::Text)
}

/// Returns lines that list the requests and commands of a posting.
fn calls(
    method: UploadMethod,
    repository: &str,
    files: &[String],
    check: Option<&CheckRun>,
) -> Vec<String> {
    let mut calls = vec![
        "would send, if the first method for pictures works:".to_owned(),
        "  POST /graphql (the account of the token)".to_owned(),
        format!("  GET /repos/{repository}/pulls/N"),
    ];

    match method {
        UploadMethod::Assets => {
            let git = format!("/repos/{repository}/git");
            calls.extend(
                files
                    .iter()
                    .map(|file| format!("  POST {git}/blobs ({file})")),
            );
            calls.push(format!("  POST {git}/trees, {git}/commits"));
            calls.push(format!(
                "  PATCH {git}/refs/heads/{ASSETS_BRANCH} (POST {git}/refs the first time)"
            ));
        }
        UploadMethod::Summary => {
            calls.push("  append the whole report to the job summary".to_owned());
        }
        UploadMethod::Text => {}
    }

    calls.push(format!("  GET /repos/{repository}/issues/N/comments"));
    calls.push(format!(
        "  PATCH /repos/{repository}/issues/comments/ID (POST /repos/{repository}/issues/N/comments \
         the first time)"
    ));
    if let Some(run) = check {
        calls.push(format!(
            "  POST /repos/{repository}/check-runs ({}: {})",
            run.name, run.title
        ));
        calls.extend(run.annotations.iter().map(|annotation| {
            format!(
                "  {}:{}: {}",
                annotation.path, annotation.line, annotation.message
            )
        }));
    }
    calls.push(format!("pictures would be {}", method.outcome()));
    calls
}
