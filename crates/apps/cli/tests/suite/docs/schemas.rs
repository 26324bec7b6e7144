//! Checks that the JSON Schemas in docs are those of the types, and the ones that the program prints.
//! `scripts/bless` renews them.

use std::fs;
use std::path::{Path, PathBuf};

use metalens_analyzer::{PROFILE_SCHEMA, Profile, Report, WORK_SCHEMA, WorkFile};
use metalens_batch::Index;
use metalens_bench::Bench;
use metalens_comparison::Comparison;
use metalens_recorder::Provenance;
use metalens_render::folder::{MANIFEST_SCHEMA, Manifest};
use schemars::schema_for;

use crate::{metalens, stdout};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs")
}

/// Returns the schema of a format, made from the types that it describes. None for another format.
fn made(format: &str) -> Option<serde_json::Value> {
    let (mut schema, title) = match format {
        "report" => (schema_for!(Report), metalens_analyzer::SCHEMA),
        "profile" => (schema_for!(Profile), PROFILE_SCHEMA),
        "work" => (schema_for!(WorkFile), WORK_SCHEMA),
        "manifest" => (schema_for!(Manifest), MANIFEST_SCHEMA),
        "recording" => (schema_for!(Provenance), "metalens.recording/1"),
        "comparison" => (schema_for!(Comparison), metalens_comparison::SCHEMA),
        "index" => (schema_for!(Index), metalens_batch::SCHEMA),
        "bench" => (schema_for!(Bench), metalens_bench::SCHEMA),
        _ => return None,
    };
    schema.insert("title".to_owned(), title.into());
    Some(schema.to_value())
}

/// Returns the formats that `metalens schema` describes, from its help.
fn formats() -> Vec<String> {
    let help = stdout(&metalens(&docs(), &["schema", "--help"]));
    let (_, listed) = help.split_once("Possible values:\n").unwrap();
    let names = listed.lines().map_while(|line| {
        let name = line.trim().strip_prefix("- ")?;
        Some(name.split(':').next().unwrap().to_owned())
    });
    names.collect()
}

#[test]
fn docs_has_the_schema_of_each_type() {
    for format in formats() {
        let made = made(&format).unwrap_or_else(|| panic!("no type is known for {format}"));
        let schema = metalens_render::json::document(&made).unwrap();
        let name = format!("{format}.schema.json");
        let file = docs().join(&name);
        if std::env::var_os("METALENS_BLESS").is_some() {
            fs::write(&file, &schema).unwrap();
        }
        let shipped = fs::read_to_string(&file).unwrap_or_default();

        // Not assert_eq, which would print both schemas.
        assert!(
            shipped == schema,
            "docs/{name} is outdated: scripts/bless renews it"
        );
    }
}

#[test]
fn the_program_prints_the_schemas_of_docs() {
    let formats = formats();
    assert_eq!(formats.len(), 8, "{formats:?}");

    for format in formats {
        let printed = metalens(&docs(), &["schema", &format]).stdout;
        let name = format!("{format}.schema.json");
        // A program that was built before the schemas were renewed prints the older ones.
        if std::env::var_os("METALENS_BLESS").is_none() {
            let shipped = fs::read(docs().join(&name)).unwrap();
            assert!(shipped == printed, "not docs/{name}");
        }
    }
}

/// Every description of a JSON Schema says something: users read them.
#[test]
fn schema_descriptions_have_four_words() {
    fn check(value: &serde_json::Value, file: &Path, count: &mut u32) {
        if let Some(text) = value["description"].as_str() {
            *count += 1;
            let words = text.split_whitespace().count();
            assert!(words >= 4, "{}: {text}", file.display());
        }
        let fields = value.as_object().into_iter().flat_map(|map| map.values());
        let items = value.as_array().into_iter().flatten();
        for inner in fields.chain(items) {
            check(inner, file, count);
        }
    }

    let mut count = 0;
    for entry in fs::read_dir(docs()).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_some_and(|kind| kind == "json") {
            let schema = fs::read_to_string(&file).unwrap();
            check(&serde_json::from_str(&schema).unwrap(), &file, &mut count);
        }
    }
    assert!(count > 1_000, "{count}");
}
