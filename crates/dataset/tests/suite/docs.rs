//! docs/dataset.md has the tables and the functions of queries as they are.

use std::path::Path;

use metalens_dataset::{FORM, describe, functions};

#[test]
fn the_page_on_datasets_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/dataset.md");
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains(FORM), "the page names {FORM}");
    let mark = "<!-- the tables: written by scripts/bless -->\n";
    let (before, _) = page.split_once(mark).unwrap();
    let (begin, end) = (
        "<!-- the functions: written by scripts/bless -->\n",
        "<!-- the end of the functions -->\n",
    );
    let (first, rest) = before.split_once(begin).unwrap();
    let (_, last) = rest.split_once(end).unwrap();
    let before = format!("{first}{begin}{}{end}{last}", listed());
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

fn listed() -> String {
    let mut text = "| function | |\n| --- | --- |\n".to_owned();
    for function in functions() {
        let usage = function.usage;
        text += &format!("| `{usage}` | {} |\n", function.about);
    }
    text
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
