//! Tests that the published JSON Schemas are those of the code.

use std::path::Path;

use metalens_analyzer::{json_schema, profile_json_schema, work_json_schema};
use serde_json::Value;

#[test]
fn schemas_are_up_to_date() {
    check("report.schema.json", &json_schema());
    check("profile.schema.json", &profile_json_schema());
    check("work.schema.json", &work_json_schema());
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
