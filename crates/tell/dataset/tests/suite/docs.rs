//! Checks that docs/dataset.md has the tables as they are.

use std::path::Path;

use metalens_dataset::{FORM, describe};

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

fn tables() -> String {
    let mut text = String::new();
    for table in describe() {
        text += &format!("\n## {}\n\n{}\n\n", table.name, table.meaning);
        text += "| column | type | unit | meaning |\n| --- | --- | --- | --- |\n";
        for column in &table.columns {
            let place = if column.is_partition { " (folder)" } else { "" };
            text += &format!(
                "| `{}` | {}{place} | {} | {} |\n",
                column.name,
                column.kind.name(),
                column.unit,
                column.meaning
            );
        }
    }
    text
}
