//! What would be posted, without asking anybody: no network, no token, no other program.

use std::io::Write;
use std::process::ExitCode;

use metalens_github::{
    ASSETS_BRANCH, Api, Around, Chart, Texts, Token, Way, environment_token, images, repository,
    variable,
};

use super::folder::Folder;
use super::tell;
use super::texts::CommentTexts;
use crate::args::posting::PrArguments;
use metalens_render::markdown::COMMENT_LIMIT;

pub(super) fn run(
    arguments: &PrArguments,
    folder: &Folder,
    texts: &CommentTexts,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    let asked = arguments.place();
    let around = Around::here(&asked)?;
    let repository = repository(&asked)?;
    let repository = repository.map_or_else(|| "OWNER/NAME".to_owned(), |name| name.to_string());
    let charts = folder.shown();
    let way = way(arguments, &charts, &around);
    let (pictures, files) = match way {
        Way::Attach => images::attached(&charts),
        Way::Assets => {
            let at = (around.server.as_str(), repository.as_str(), "COMMIT");
            let assets = images::assets(&charts).into_iter();
            let files = assets.map(|asset| asset.path).collect();
            (images::on_branch(&charts, at), files)
        }
        Way::Summary | Way::Text => (Vec::new(), Vec::new()),
    };
    let body = texts.comment(around.commit.as_deref(), &pictures, &[]);
    let body = body.map_err(anyhow::Error::from_boxed)?;
    for why in &folder.left {
        tell(quiet, &format!("note: {why}"));
    }
    for line in calls(way, &repository, &files) {
        tell(quiet, &line);
    }
    tell(
        quiet,
        &format!(
            "the comment has {} of at most {COMMENT_LIMIT} bytes",
            body.len()
        ),
    );
    match &arguments.output {
        Some(file) => {
            metalens_files::write_bytes(file, arguments.force, body.as_bytes())?;
        }
        None => crate::out::page().write_all(body.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The first way that may work, as far as can be told from here.
fn way(arguments: &PrArguments, charts: &[Chart], around: &Around) -> Way {
    let token = environment_token().unwrap_or(None);
    let api = variable("GITHUB_API_URL");
    let api = Api::parse(api.as_deref().unwrap_or(Api::PUBLIC));
    let has_none = charts.is_empty();
    let kind = token.as_ref().map(Token::kind);
    let may_work = |way: &Way| match way {
        Way::Attach => {
            let refused = api
                .as_ref()
                .is_ok_and(|api| images::cannot_attach(api, kind).is_some());
            !has_none && !refused && !around.is_workflow
        }
        Way::Assets => !has_none,
        Way::Summary => around.summary.is_some(),
        Way::Text => true,
    };
    let ladder = images::ladder(arguments.images.into());
    ladder.into_iter().find(may_work).unwrap_or(Way::Text)
}

/// What would be asked, of whom.
fn calls(way: Way, repository: &str, files: &[String]) -> Vec<String> {
    let mut calls = vec![
        "would ask, if it works the first way:".to_owned(),
        "  POST /graphql (whose the token is)".to_owned(),
        format!("  GET /repos/{repository}/pulls/N"),
    ];
    match way {
        Way::Attach => {
            let attached = files.iter().map(|file| format!(" --attach {file}"));
            let attached: String = attached.collect();
            calls.push(format!("  GET /repos/{repository}/issues/N/comments"));
            calls.push(format!(
                "  gh pr comment N --repo {repository} --body-file -{attached}"
            ));
        }
        Way::Assets => {
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
        Way::Summary => calls.push("  append the whole report to the job summary".to_owned()),
        Way::Text => {}
    }
    if way != Way::Attach {
        calls.push(format!("  GET /repos/{repository}/issues/N/comments"));
        calls.push(format!(
            "  PATCH /repos/{repository}/issues/comments/ID (POST /repos/{repository}/issues/N/comments \
             the first time)"
        ));
    }
    calls.push(format!("pictures would be {}", way.says()));
    calls
}
