//! Checks that docs/dataset.md has the tables as they are.

use std::path::Path;

use metalens_dataset::{ColumnInfo, FORM, TableInfo, describe};

#[test]
fn the_page_on_datasets_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/dataset.md");
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains(FORM), "the page names {FORM}");
    let mark = "<!-- the tables: written by scripts/bless -->\n";
    let (before, _) = page.split_once(mark).unwrap();
    let expected = format!("{before}{mark}{}", tables());
    if std::env::var_os("METALENS_BLESS").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(
        page == expected,
        "docs/dataset.md is out of date: run scripts/bless"
    );
}

/// Returns the columns that all tables have, and then those of each. Units are in their names.
fn tables() -> String {
    let tables = describe();
    let (folders, _) = parts(&tables[0]);
    let mut text = format!("\n## Every table\n\n{}", rows(&folders));
    for table in &tables {
        let (shared, own) = parts(table);
        assert_eq!(shared, folders, "{}", table.name);
        text += &format!("\n## {}\n\n{}\n\n{}", table.name, table.meaning, rows(&own));
    }
    text
}

/// Returns the columns that are in the names of folders, and the others.
fn parts(table: &TableInfo) -> (Vec<&ColumnInfo>, Vec<&ColumnInfo>) {
    let columns = table.columns.iter();
    columns.partition(|column| column.is_partition)
}

fn rows(columns: &[&ColumnInfo]) -> String {
    let mut text = "| column | type | meaning |\n| --- | --- | --- |\n".to_owned();
    for column in columns {
        text += &format!(
            "| `{}` | {} | {} |\n",
            column.name,
            column.kind.name(),
            column.meaning
        );
    }
    text
}
