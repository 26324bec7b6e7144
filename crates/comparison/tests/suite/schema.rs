//! Checks that the shipped JSON Schemas are the ones that the code makes.

use std::path::Path;

use metalens_comparison::{baseline_json_schema, json_schema};
use serde_json::Value;

#[test]
fn schemas_are_up_to_date() {
    check("comparison.schema.json", &json_schema());
    check("baseline.schema.json", &baseline_json_schema());
}

fn check(name: &str, schema: &Value) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let file = docs.join(name);
    let schema = format!("{}\n", serde_json::to_string_pretty(schema).unwrap());
    if std::env::var_os("METALENS_BLESS").is_some() {
        std::fs::write(&file, &schema).unwrap();
    }
    let shipped = std::fs::read_to_string(&file).unwrap_or_default();
    // assert_eq would print both schemas.
    assert!(
        shipped == schema,
        "docs/{name} is old: scripts/bless renews it"
    );
}
