//! Holds the folders of `crates` to their order: imports go one way, and `ARCHITECTURE.md` draws it.

use std::path::Path;

use super::imports::crates;

/// The folders, and those that the crates of each may import beside their own.
const LAYERS: [(&str, &[&str]); 8] = [
    ("base", &[]),
    ("export", &["base"]),
    ("record", &["base"]),
    ("analyze", &["base", "export"]),
    ("tell", &["base", "analyze"]),
    ("dev", &["base", "record", "export", "analyze"]),
    (
        "apps",
        &["base", "record", "export", "analyze", "tell", "dev"],
    ),
    ("beside", &["base", "analyze", "tell"]),
];

/// Returns the name of a crate, and those of the crates of this house that it links.
fn manifest(folder: &Path) -> (String, Vec<String>) {
    let text = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let manifest: toml::Table = text.parse().unwrap();
    let name = manifest["package"]["name"].as_str().unwrap().to_owned();
    let linked = manifest
        .get("dependencies")
        .and_then(|linked| linked.as_table());
    let linked = linked.into_iter().flat_map(|linked| linked.keys());
    let own = linked.filter(|name| name.starts_with("metalens-"));
    (name, own.cloned().collect())
}

fn layer(folder: &Path) -> String {
    let group = folder.parent().unwrap().file_name().unwrap();
    group.to_string_lossy().into_owned()
}

#[test]
fn imports_go_one_way() {
    let crates = crates();
    let names = crates
        .iter()
        .map(|folder| (manifest(folder).0, layer(folder)));
    let names: std::collections::BTreeMap<String, String> = names.collect();
    assert!(names.len() > 20, "only {} crates were found", names.len());

    let mut wrong = Vec::new();
    for folder in &crates {
        let own = layer(folder);
        let (_, below) = LAYERS.iter().find(|(name, _)| *name == own).expect(&own);
        let (name, linked) = manifest(folder);
        for other in linked {
            let of = names[&other].as_str();
            if of != own && !below.contains(&of) {
                wrong.push(format!("{name} ({own}) links {other} ({of})"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_picture_shows_each_folder_and_crate() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../ARCHITECTURE.md");
    let page = std::fs::read_to_string(page).unwrap();
    for (layer, below) in LAYERS {
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| `{layer}` |")));
        let row = row.unwrap_or_else(|| panic!("no row of {layer}"));
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let shown = |name: &str| format!("`{name}`");
        for folder in crates()
            .iter()
            .filter(|folder| self::layer(folder) == layer)
        {
            let name = folder.file_name().unwrap().to_string_lossy();
            assert!(cells[2].contains(&shown(&name)), "{layer} lacks {name}");
        }
        let imports: Vec<String> = below.iter().map(|name| shown(name)).collect();
        assert_eq!(
            cells[3],
            if below.is_empty() {
                "–".to_owned()
            } else {
                imports.join(", ")
            }
        );
    }
}

/// The simulator has one door in the program, behind the feature `simulate`: no other file names it
/// outside of its tests.
#[test]
fn the_simulator_has_one_door() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![source.clone()];
    let mut doors = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            if code.contains("metalens_simulator") {
                doors.push(path.strip_prefix(&source).unwrap().display().to_string());
            }
        }
    }
    assert!(!doors.is_empty());
    assert!(
        // The exit code knows the errors of every crate.
        doors
            .iter()
            .all(|door| door.starts_with("simulate/") || door == "exit.rs"),
        "{doors:?}"
    );
}
