//! Runs the commands of remedies that are safe, after a question for each.

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::{Command, Stdio};

use metalens_doctor::{Check, CheckVerdict, Remedy};
use metalens_text::shown;

use crate::args::recording::DoctorArguments;
use crate::exit::Misuse;
use crate::out;

/// Returns an error if nobody can answer the questions.
pub(super) fn check(arguments: &DoctorArguments) -> anyhow::Result<()> {
    if arguments.fix && !arguments.yes && !io::stdin().is_terminal() {
        let text = "--fix asks before it runs a command, but there is no terminal to answer on: \
                    add --yes to run all commands that are safe";
        return Err(Misuse(text.to_owned()).into());
    }
    Ok(())
}

/// Fixes what is safe to fix. Returns whether no command failed.
pub(super) fn run(checks: &[Check], is_agreed: bool) -> anyhow::Result<bool> {
    let mut say = |text: &str| Ok(writeln!(out::notes(), "{}", shown(text))?);
    let mut ask = |text: &str| {
        if is_agreed {
            return Ok(true);
        }
        write!(out::notes(), "{} [y/N] ", shown(text))?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
    };
    fix(checks, &mut ask, &mut run_in_shell, &mut say)
}

/// Runs a command of a remedy, which is quoted for a shell. Returns why it failed.
fn run_in_shell(command: &str) -> Result<(), String> {
    let output = Command::new("/bin/sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .output()
        .map_err(|cause| cause.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {}", output.status, said.trim()))
}

type Ask<'a> = &'a mut dyn FnMut(&str) -> anyhow::Result<bool>;
type RunCommand<'a> = &'a mut dyn FnMut(&str) -> Result<(), String>;
type Say<'a> = &'a mut dyn FnMut(&str) -> anyhow::Result<()>;

/// Offers the safe commands of all checks, and names those that only the user can run.
fn fix(checks: &[Check], ask: Ask<'_>, run: RunCommand<'_>, say: Say<'_>) -> anyhow::Result<bool> {
    let remedy = |check: &'_ Check| {
        check
            .remedy
            .clone()
            .filter(|_| check.verdict >= CheckVerdict::Warning)
    };
    let remedies: Vec<(&str, Remedy)> = checks
        .iter()
        .filter_map(|check| Some((check.id.as_str(), remedy(check)?)))
        .filter(|(_, remedy)| !remedy.commands.is_empty())
        .collect();

    let mut is_fine = true;
    let (safe, others): (Vec<_>, Vec<_>) = remedies
        .into_iter()
        .partition(|(_, remedy)| remedy.is_safe && remedy.file.is_none());
    if safe.is_empty() {
        say("there is nothing that metalens can fix on its own")?;
    }
    for (id, command) in commands(&safe) {
        if !ask(&format!("{id}: run `{command}`?"))? {
            say(&format!("{id}: not run: {command}"))?;
            continue;
        }
        match run(command) {
            Ok(()) => say(&format!("{id}: done: {command}"))?,
            Err(why) => {
                is_fine = false;
                say(&format!("{id}: failed: {command}: {why}"))?;
            }
        }
    }
    for (id, command) in commands(&others) {
        say(&format!("{id}: run this yourself: {command}"))?;
    }
    Ok(is_fine)
}

fn commands<'a>(remedies: &'a [(&'a str, Remedy)]) -> impl Iterator<Item = (&'a str, &'a str)> {
    remedies.iter().flat_map(|(id, remedy)| {
        let commands = remedy.commands.iter();
        commands.map(move |command| (*id, command.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(id: &str, verdict: CheckVerdict, command: &str, is_safe: bool) -> Check {
        Check {
            id: id.to_owned(),
            verdict,
            found: String::new(),
            remedy: Some(Remedy {
                commands: vec![command.to_owned()],
                is_safe,
                ..Remedy::default()
            }),
        }
    }

    /// Fixes with a given answer, in a real shell. Returns what was asked, and what was said.
    fn fixed(checks: &[Check], answer: bool) -> (bool, Vec<String>, Vec<String>) {
        let (mut asked, mut said) = (Vec::new(), Vec::new());
        let mut ask = |text: &str| {
            asked.push(text.to_owned());
            Ok(answer)
        };
        let mut say = |text: &str| {
            said.push(text.to_owned());
            Ok(())
        };
        let is_fine = fix(checks, &mut ask, &mut run_in_shell, &mut say).unwrap();
        (is_fine, asked, said)
    }

    #[test]
    fn only_safe_commands_run_and_only_after_a_question() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("it is");
        std::fs::write(&file, "x").unwrap();
        let remove = format!("rm '{}'", file.display());
        let sudo = "sudo xcodebuild -license";
        let checks = [
            check("scratch", CheckVerdict::Warning, &remove, true),
            check("license", CheckVerdict::Problem, sudo, false),
            check("fine", CheckVerdict::Ok, "false", true),
        ];
        let yours = format!("license: run this yourself: {sudo}");

        let (is_fine, asked, said) = fixed(&checks, false);
        assert!(is_fine && file.exists());
        assert_eq!(asked, [format!("scratch: run `{remove}`?")]);
        assert_eq!(said, [format!("scratch: not run: {remove}"), yours.clone()]);

        let (is_fine, _, said) = fixed(&checks, true);
        assert!(is_fine && !file.exists());
        assert_eq!(said, [format!("scratch: done: {remove}"), yours.clone()]);

        let (is_fine, _, said) = fixed(&checks, true);
        assert!(!is_fine && said[0].contains("failed: rm"), "{said:?}");
        let (is_fine, asked, said) = fixed(&checks[1..], true);
        assert!(is_fine && asked.is_empty());
        assert_eq!(
            said,
            [
                "there is nothing that metalens can fix on its own".to_owned(),
                yours
            ]
        );
    }
}
