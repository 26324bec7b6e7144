//! Checks that the JSON Schemas in docs are those of the types, and the ones that the program prints.
//! `scripts/bless` renews them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use metalens_analyzer::{Report, WORK_SCHEMA, WorkFile};
use metalens_batch::Index;
use metalens_bench::Bench;
use metalens_comparison::Comparison;
use metalens_recorder::Provenance;
use schemars::schema_for;

use crate::{metalens, stderr, stdout};

/// The format that people write: its schema is written too.
const SETTINGS: &str = "config";

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs")
}

/// Returns the schema of a format, made from the types that it describes. None for another format.
fn made(format: &str) -> Option<serde_json::Value> {
    let (mut schema, title) = match format {
        "report" => (schema_for!(Report), metalens_analyzer::SCHEMA),
        "work" => (schema_for!(WorkFile), WORK_SCHEMA),
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
    for format in formats()
        .into_iter()
        .filter(|format| format.as_str() != SETTINGS)
    {
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
    assert_eq!(formats.len(), 7, "{formats:?}");

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

/// The schema of settings has the keys that are read, and its examples are read.
#[test]
fn the_schema_of_settings_has_their_keys() {
    let text = fs::read_to_string(docs().join("config.schema.json")).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
    let folder = metalens_testing::scratch();
    let check = |settings: &str| {
        fs::write(folder.path().join("metalens.toml"), settings).unwrap();
        stderr(&metalens(folder.path(), &["analyze", "absent.trace"]))
    };
    let keys = |properties: &serde_json::Value| {
        let keys = properties.as_object().unwrap().keys();
        keys.cloned().collect::<BTreeSet<String>>()
    };
    let known = |settings: &str| {
        let said = check(settings);
        let (_, listed) = said
            .split_once("expected ")
            .unwrap_or_else(|| panic!("{said}"));
        let words = listed.split('`').skip(1).step_by(2);
        words.map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let gate = &schema["properties"]["gate"]["properties"];
    let limit = &schema["$defs"]["limit"]["properties"];
    assert_eq!(known("unknown = 1"), keys(&schema["properties"]));
    assert_eq!(known("[gate]\nunknown = 1"), keys(gate));
    let limits = "[gate.kernels]\n\"*\" = { unknown = 1 }";
    assert_eq!(known(limits), keys(limit));

    for (key, value) in limit.as_object().unwrap() {
        let example = &value["examples"][0];
        let settings = format!("[gate.kernels]\n\"*\" = {{ grow = \"5%\", {key} = {example} }}");
        let settings = settings.replace("grow = \"5%\", grow", "grow");
        assert!(check(&settings).contains("absent.trace"), "{settings}");
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
