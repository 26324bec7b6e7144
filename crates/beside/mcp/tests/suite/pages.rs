//! Holds the page about agents and the skill to the server.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::client::Client;

/// Returns a page of the repository.
fn page(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    fs::read_to_string(root.join(name)).unwrap()
}

/// Returns what the server prints instead of serving.
fn printed(option: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metalens-mcp"));
    let output = command.arg(option).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the first block of this language on a page.
fn block<'a>(page: &'a str, language: &str) -> &'a str {
    let fence = format!("```{language}\n");
    let from = page.find(&fence).unwrap() + fence.len();
    let rest = &page[from..];
    &rest[..rest.find("```").unwrap()]
}

/// Returns the names in the first column of tables: `| `name` | …`.
fn first_column(page: &str) -> BTreeSet<String> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let names = rows.filter_map(|row| Some(row.split_once('`')?.0.to_owned()));
    names.collect()
}

fn tools(client: &mut Client) -> BTreeSet<String> {
    let tools = client.ask("tools/list", json!({})).unwrap();
    let tools = tools["tools"].as_array().unwrap().iter();
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    tools.map(name).collect()
}

#[test]
fn the_settings_on_the_page_start_a_server_with_the_tools_on_the_page() {
    let page = page("docs/agents.md");
    let settings: Value = serde_json::from_str(block(&page, "json")).unwrap();
    let server = &settings["mcpServers"]["metalens"];
    assert_eq!(server["command"], "metalens");
    let words: Vec<&str> = server["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|value| value.as_str().unwrap())
        .collect();
    let ["mcp", options @ ..] = words.as_slice() else {
        panic!("{words:?}");
    };
    let toml = block(&page, "toml");
    assert!(toml.contains(&format!(
        "args = {}",
        json!(words).to_string().replace(',', ", ")
    )));

    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("recordings")).unwrap();
    let options = [options, &["--allow-record"]].concat();
    let mut client = Client::start(folder.path(), &options);
    assert_eq!(first_column(&page), tools(&mut client));
    client.close();

    let help = printed("--help");
    assert!(help.contains("[default: 6000]"), "{help}");
    assert!(page.contains("at most 6,000 characters"));
    for option in [
        "--root",
        "--allow-record",
        "--show-names",
        "--budget",
        "--skill",
    ] {
        assert!(help.contains(option) && page.contains(option), "{option}");
    }
}

#[test]
fn the_skill_is_printed_and_names_what_there_is() {
    let skill = page("skills/metalens/SKILL.md");
    assert_eq!(printed("--skill"), skill);

    // The form of agent skills: a name like the folder's, and a description of at most 1024 characters.
    let front = skill
        .strip_prefix("---\nname: metalens\ndescription: ")
        .unwrap();
    let (description, body) = front.split_once("\n---\n").unwrap();
    assert!(!description.contains('\n') && description.chars().count() <= 1024);

    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(folder.path(), &["--allow-record"]);
    for tool in tools(&mut client) {
        assert!(
            body.contains(&format!("`{tool}`")),
            "the skill lacks {tool}"
        );
    }
    client.close();

    // Every verdict of the glossary has its next step.
    let glossary = page("docs/glossary.md");
    let verdicts = glossary
        .split("## Verdict")
        .nth(1)
        .unwrap()
        .split("## ")
        .next()
        .unwrap();
    let mut ids = 0;
    for id in verdicts
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|id| *id != "verdict")
    {
        ids += 1;
        assert!(body.contains(&format!("`{id}`")), "the skill lacks {id}");
    }
    assert_eq!(ids, 8);
}

#[test]
fn packages_can_have_completions() {
    let completions = printed("--completions=bash");
    assert!(completions.contains("--allow-record"), "{completions}");
}

#[test]
fn a_wrong_start_says_what_is_wrong() {
    let started = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metalens-mcp"));
        let output = command.args(arguments).output().unwrap();
        assert!(output.stdout.is_empty());
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, said) = started(&["--root", "no-such-folder"]);
    assert_eq!(code, Some(1));
    assert!(
        said.contains("cannot open the root no-such-folder"),
        "{said}"
    );
    let (code, said) = started(&["--budget", "5"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("1000"), "{said}");
    // Nobody speaks the protocol.
    let (code, said) = started(&[]);
    assert_eq!(code, Some(1));
    assert!(said.contains("a client must start this program"), "{said}");
}
