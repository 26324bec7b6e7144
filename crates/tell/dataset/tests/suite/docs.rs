//! Checks that docs/dataset.md names the format and the tables.

use std::path::Path;

use metalens_dataset::{ColumnInfo, FORM, TableInfo, describe};

#[test]
fn the_page_on_datasets_names_each_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/dataset.md");
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains(FORM), "the page names {FORM}");
    for table in describe() {
        let cell = format!("`{}`", table.name);
        assert!(page.contains(&cell), "docs/dataset.md lacks {cell}");
    }
}

/// All tables have the same columns in the names of their folders, and the page names them.
#[test]
fn tables_share_the_columns_of_their_folders() {
    let names = |table: &TableInfo| -> Vec<&str> {
        let columns = table.columns.iter();
        let columns = columns.filter(|column: &&ColumnInfo| column.is_partition);
        columns.map(|column| column.name).collect()
    };
    for table in describe() {
        assert_eq!(names(&table), ["device", "date", "run"], "{}", table.name);
    }
}
