//! Writes a few made-up inputs for each target to `corpus/`, or to the folder
//! that is given; `cargo run --example seeds [folder]`.

#[path = "../../crates/trace/tests/suite/mini_bundle.rs"]
mod mini_bundle;

use std::fs;
use std::path::Path;

use mini_bundle::{core, good, store, zip};

fn main() {
    let folder = std::env::args().nth(1).unwrap_or("corpus".to_owned());
    let write = |target: &str, name: &str, bytes: &[u8]| {
        let folder = Path::new(&folder).join(target);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(name), bytes).expect("room on the disk");
    };
    let files = good();
    let file = |path: String| files[&path].as_slice();
    for number in 1..=3 {
        let descriptor = file(store(number, "bulkstore_descriptor"));
        let layout = [file(store(number, "schema.xml")), &[0], descriptor].concat();
        write("layout", &format!("store-{number}"), &layout);
        write("keyed", &format!("descriptor-{number}"), descriptor);
    }
    write("keyed", "template", file("form.template".to_owned()));
    write("keyed", "tables", file(core("table-manager/tables.plist")));
    let uniques = [
        "arrayUniquer/integeruniquer.index",
        "arrayUniquer/integeruniquer.data",
        "strings",
        "EngineeringTypes.etypes",
    ];
    let uniques = uniques.map(|name| file(core(&format!("uniquing/{name}"))));
    let framed = uniques.iter().flat_map(|bytes| {
        let length = u16::try_from(bytes.len()).expect("a small file");
        [&length.to_le_bytes(), *bytes].concat()
    });
    write("uniques", "lists", &framed.collect::<Vec<u8>>());
    write("bundle", "zip", &zip(&files));
    write("bundle", "unchanged", &[]);
    for place in 0..files.len() {
        let place = u8::try_from(place).expect("few files");
        let change = [place, 40, 0, 4, 1, 0, 0, 0];
        write("bundle", &format!("changed-{place}"), &change);
    }
    for (name, document) in DOCUMENTS {
        write("xml", name, document);
        for how in [0, 1, 2, 33, 66, 0x1c, 0xc0] {
            let input = [&[how], *document].concat();
            write("xml_differential", &format!("{name}-{how}"), &input);
        }
    }
    write("toc", "toc", TOC.as_bytes());
}

/// `everything` has every form that can be taken.
const DOCUMENTS: &[(&str, &[u8])] = &[
    (
        "table",
        include_bytes!("../../crates/trace/tests/suite/good.xml"),
    ),
    (
        "everything",
        include_bytes!("../../crates/trace/tests/suite/everything.xml"),
    ),
];

const TOC: &str = r#"<trace-toc><run number="1"><info><target><device name="a" model="b" os-version="1"/><process type="launched" name="bench" pid="12" return-exit-status="0"/></target><summary><start-date>2026-01-01T00:00:00.000+01:00</start-date><duration>1.5</duration><end-reason>Target app exited</end-reason><template-name>t</template-name></summary></info><processes><process name="bench" pid="12" path="/bin/bench"/></processes><data><table schema="x" target-pid="ALL"/></data><tracks><track name="t"><details><detail name="d" kind="table"/></details></track></tracks></run></trace-toc>"#;
