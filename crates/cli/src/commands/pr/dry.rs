//! What would be posted, without asking anybody: no network, no token, no other program.

use std::io::Write;
use std::process::ExitCode;

use metalens_github::{
    ASSETS_BRANCH, Api, Chart, Environment, Texts, Token, UploadMethod, environment_token, images,
    repository, variable,
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
    let environment = Environment::read(&asked)?;
    let repository = repository(&asked)?;
    let repository = repository.map_or_else(|| "OWNER/NAME".to_owned(), |name| name.to_string());
    let charts = folder.shown();
    let way = way(arguments, &charts, &environment);
    let (pictures, files) = match way {
        UploadMethod::Attach => images::attached(&charts),
        UploadMethod::Assets => {
            let at = (environment.server.as_str(), repository.as_str(), "COMMIT");
            let assets = images::assets(&charts).into_iter();
            let files = assets.map(|asset| asset.path).collect();
            (images::on_branch(&charts, at), files)
        }
        UploadMethod::Summary | UploadMethod::Text => (Vec::new(), Vec::new()),
    };
    let body = texts.comment(environment.commit.as_deref(), &pictures, &[]);
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
fn way(arguments: &PrArguments, charts: &[Chart], environment: &Environment) -> UploadMethod {
    let token = environment_token().unwrap_or(None);
    let api = variable("GITHUB_API_URL");
    let api = Api::parse(api.as_deref().unwrap_or(Api::PUBLIC));
    let has_none = charts.is_empty();
    let kind = token.as_ref().map(Token::kind);
    let may_work = |way: &UploadMethod| match way {
        UploadMethod::Attach => {
            let refused = api
                .as_ref()
                .is_ok_and(|api| images::cannot_attach(api, kind).is_some());
            !has_none && !refused && !environment.is_workflow
        }
        UploadMethod::Assets => !has_none,
        UploadMethod::Summary => environment.summary.is_some(),
        UploadMethod::Text => true,
    };
    let methods = images::methods(arguments.images.into());
    methods
        .into_iter()
        .find(may_work)
        .unwrap_or(UploadMethod::Text)
}

/// What would be asked, of whom.
fn calls(way: UploadMethod, repository: &str, files: &[String]) -> Vec<String> {
    let mut calls = vec![
        "would ask, if it works the first way:".to_owned(),
        "  POST /graphql (whose the token is)".to_owned(),
        format!("  GET /repos/{repository}/pulls/N"),
    ];
    match way {
        UploadMethod::Attach => {
            let attached = files.iter().map(|file| format!(" --attach {file}"));
            let attached: String = attached.collect();
            calls.push(format!("  GET /repos/{repository}/issues/N/comments"));
            calls.push(format!(
                "  gh pr comment N --repo {repository} --body-file -{attached}"
            ));
        }
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
            calls.push("  append the whole report to the job summary".to_owned())
        }
        UploadMethod::Text => {}
    }
    if way != UploadMethod::Attach {
        calls.push(format!("  GET /repos/{repository}/issues/N/comments"));
        calls.push(format!(
            "  PATCH /repos/{repository}/issues/comments/ID (POST /repos/{repository}/issues/N/comments \
             the first time)"
        ));
    }
    calls.push(format!("pictures would be {}", way.outcome()));
    calls
}
