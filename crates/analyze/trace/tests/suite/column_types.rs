//! Tests the decoding of types that the small bundle does not have.

use metalens_trace::{Input, LoadOptions, Selection, Trace};

use super::mini_bundle::{Bundled, Store, TIME, Uniques, add_stores, row, written};
use super::torture::cell;

/// Reads a bundle with one table of these columns.
fn load(
    uniques: &Uniques<'_>,
    columns: &[(&'static str, &'static str, u64)],
    rows: &[&[u64]],
) -> Trace {
    let widths = columns
        .iter()
        .map(|(.., width)| 4 * usize::try_from(*width).unwrap());
    let widths: Vec<usize> = [8, 8].into_iter().chain(widths).collect();
    let rows = rows.iter().zip(1..).map(|(numbers, time)| {
        let numbers = [time, 0].into_iter().chain(numbers.iter().copied());
        row(&numbers.zip(widths.iter().copied()).collect::<Vec<_>>())
    });
    let declared = columns.iter().map(|(name, kind, _)| (*name, *kind, None));
    let store = Store {
        schema: "events",
        topology: 7,
        columns: std::iter::once(("time", "XRSampleTimestampTypeID", TIME))
            .chain(declared)
            .collect(),
        fields: columns
            .iter()
            .map(|(name, _, width)| (*name, *width))
            .collect(),
        rows: rows.collect(),
    };
    let mut files = Bundled::new();
    uniques.add_to(&mut files);
    add_stores(&mut files, &[store]);
    let folder = tempfile::tempdir().unwrap();
    let bundle = Input::open(&written(&files, folder.path())).unwrap();
    let selection = Selection::everything().with_rendered_labels();
    bundle.load(&selection, LoadOptions::default()).unwrap()
}

/// Returns the type and the cells of a column.
fn column(trace: &Trace, mnemonic: &str) -> (String, Vec<String>) {
    let table = trace.table("events").unwrap();
    let (spec, column) = table
        .columns()
        .find(|(spec, _)| spec.mnemonic == mnemonic)
        .unwrap();
    let cells = (0..table.rows()).map(|row| cell(column, row, &trace.names));
    (spec.engineering_type.clone(), cells.collect())
}

#[test]
fn cycles_are_whole_numbers() {
    let columns = [("weight", "XRCycleWeightTypeID", 2)];
    let trace = load(&Uniques::default(), &columns, &[&[837_200], &[u64::MAX]]);
    let (kind, cells) = column(&trace, "weight");
    assert_eq!(kind, "cycle-weight");
    assert_eq!(cells, ["Some(837200)", "None"]);
}
