//! What would be posted, without asking anybody: no network, no token, no other program.

use std::io::Write;
use std::process::ExitCode;

use metalens_github::{ASSETS_BRANCH, Api};

use super::place::{self, Around};
use super::post::Posted;
use super::tell;
use super::ways::{self, Way};
use crate::pages::comment::COMMENT_LIMIT;

pub(super) fn run(posted: &Posted<'_>) -> anyhow::Result<ExitCode> {
    let around = Around::here(posted.arguments)?;
    let repository = place::repository(posted.arguments)?;
    let repository = ways::name_or_stand_in(repository.as_ref());
    let way = way(posted, &around);
    let (pictures, files) = match way {
        Way::Attach => ways::attached(posted.folder),
        Way::Assets => {
            let at = (around.server.as_str(), repository.as_str(), "COMMIT");
            let assets = ways::assets(posted.folder).into_iter();
            let files = assets.map(|asset| asset.path).collect();
            (ways::on_branch(posted.folder, at), files)
        }
        Way::Summary | Way::Text => (Vec::new(), Vec::new()),
    };
    let body = posted.body(around.commit.as_deref(), pictures, &[], COMMENT_LIMIT)?;
    for why in &posted.folder.left {
        tell(posted.quiet, &format!("note: {why}"));
    }
    for line in calls(way, &repository, &files) {
        tell(posted.quiet, &line);
    }
    tell(
        posted.quiet,
        &format!(
            "the comment has {} of at most {COMMENT_LIMIT} bytes",
            body.len()
        ),
    );
    match &posted.arguments.output {
        Some(file) => {
            metalens_files::write_bytes(file, posted.arguments.force, body.as_bytes())?;
        }
        None => crate::out::page().write_all(body.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The first way that may work, as far as can be told from here.
fn way(posted: &Posted<'_>, around: &Around) -> Way {
    let token = place::token().unwrap_or(None);
    let api = place::variable("GITHUB_API_URL");
    let api = Api::parse(api.as_deref().unwrap_or(Api::PUBLIC));
    let has_none = ways::shown(posted.folder).is_empty();
    let may_work = |way: &Way| match way {
        Way::Attach => {
            let refused = api
                .as_ref()
                .is_ok_and(|api| ways::cannot_attach(api, ways::kind_of(token.as_ref())).is_some());
            !has_none && !refused && !around.is_workflow
        }
        Way::Assets => !has_none,
        Way::Summary => around.summary.is_some(),
        Way::Text => true,
    };
    let ladder = ways::ladder(posted.arguments.images);
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
