//! The JSON Schema that is shipped is the one the code makes.

use std::path::Path;

use metalens_analyzer::json_schema;

#[test]
fn is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/report.schema.json");
    let schema = format!(
        "{}\n",
        serde_json::to_string_pretty(&json_schema()).unwrap()
    );
    if std::env::var_os("METALENS_BLESS").is_some() {
        std::fs::write(&file, &schema).unwrap();
    }
    let shipped = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        shipped, schema,
        "docs/report.schema.json is old: scripts/bless renews it"
    );
}
