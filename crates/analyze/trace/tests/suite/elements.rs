//! Tests elements that only some versions of Xcode write.

use metalens_trace::{Error, Names, Selection, StackId, Table, Values, read_document};

use super::torture::cell;

/// Reads the rows of a table with a column `at` of times, and one of a type.
fn read(engineering_type: &str, cells: &[&str]) -> Result<(Table, Names), Error> {
    let column = |name: &str, kind: &str| {
        format!(
            "<col><mnemonic>{name}</mnemonic><name>{name}</name>\
             <engineering-type>{kind}</engineering-type></col>"
        )
    };
    let rows = cells.iter().zip(1..).map(|(cell, row)| {
        let weight = format!("<weight id='{row}' fmt='1.00 ms'>1000000</weight>");
        format!("<row>{weight}{cell}</row>\n")
    });
    let xml = format!(
        "<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>\
         <schema name=\"t\">{}{}</schema>{}</node></trace-query-result>\n",
        column("weight", "weight"),
        column("cell", engineering_type),
        rows.collect::<String>()
    );
    let mut names = Names::new();
    let selection = Selection::everything();
    let mut tables = read_document(xml.as_bytes(), "t.xml", &mut names, &selection)?;
    Ok((tables.remove(0), names))
}

fn check(engineering_type: &str, cells: &[(&str, &str)]) {
    let elements: Vec<&str> = cells.iter().map(|(element, _)| *element).collect();
    let (table, names) = read(engineering_type, &elements).unwrap();
    let (_, column) = table.columns().nth(1).unwrap();
    for (row, (element, expected)) in cells.iter().enumerate() {
        assert_eq!(cell(column, row, &names), *expected, "{element}");
    }
    assert_eq!(table.integers("weight").unwrap().get(0), Some(1_000_000));
}

#[test]
fn columns_of_any_type_have_the_elements_themselves() {
    check(
        "any",
        &[
            (
                "<pmc-event id='100' fmt='1.00 M'>1000000</pmc-event>",
                "Some(\"1000000\")",
            ),
            ("<pmc-event ref='100'/>", "Some(\"1000000\")"),
            (
                "<weight id='101' fmt='2.00 ms'>2000000</weight>",
                "Some(\"2000000\")",
            ),
            ("<weight ref='101'/>", "Some(\"2000000\")"),
            // The weight in the other column of the first row.
            ("<weight ref='1'/>", "Some(\"1000000\")"),
            ("<sentinel/>", "None"),
            ("<string id='102' fmt='a'>a</string>", "Some(\"a\")"),
            (
                "<private id='103' fmt='&lt;private&gt;'>0</private>",
                "Some(\"<private>\")",
            ),
            ("<any id='104' fmt='b'>b</any>", "Some(\"b\")"),
        ],
    );
    for (kind, element) in [
        ("any", "<weight ref='9'/>"),
        ("any", "<backtrace id='100'/>"),
        ("any", "<process id='100' fmt='bench (12)'/>"),
        ("string", "<pmc-event id='100' fmt='1'>1</pmc-event>"),
    ] {
        assert!(read(kind, &[element]).is_err(), "{element}");
    }
}

#[test]
fn stacks_of_addresses_are_read() {
    let first = "<backtrace id='100' fmt='sin&lt;int&gt; ← (3 other frames)'>\
         <process id='101' fmt='bench (12)'><pid id='102' fmt='12'>12</pid></process>\
         <text-addresses id='103' fmt='frag 7'>4097 8192</text-addresses>\
         <process ref='101'/><text-addresses id='104' fmt='frag 8'>12288 0</text-addresses></backtrace>";
    let again = "<backtrace id='105' fmt='0x3000'><process ref='101'/><text-addresses ref='104'/></backtrace>";
    let (table, names) = read("backtrace", &[first, "<backtrace ref='100'/>", again]).unwrap();
    let stacks = Vec::<Option<StackId>>::take(&mut table.clone(), "cell").unwrap();
    let shown = |row: usize| -> Vec<(&str, &str)> {
        let frames = names.stack(stacks[row].unwrap());
        frames
            .map(|frame| (names.text(frame.name), names.text(frame.address)))
            .collect()
    };
    let expected = [
        ("sin<int>", "0x1001"),
        ("0x2000", "0x2000"),
        ("0x3000", "0x3000"),
    ];
    assert_eq!(shown(0), expected);
    assert_eq!(shown(1), expected);
    assert_eq!(shown(2), expected[2..]);

    let piece = |addresses: &str| {
        let process = "<process id='101' fmt='bench (12)'/>";
        format!("{process}<text-addresses id='103' fmt='frag 7'>{addresses}</text-addresses>")
    };
    let stack = |addresses: &str, more: usize| {
        let more = "<text-addresses ref='103'/>".repeat(more);
        format!(
            "<backtrace id='100' fmt='a'>{}{more}</backtrace>",
            piece(addresses)
        )
    };
    assert!(read("backtrace", &[&stack("1 2 3 4", 1_023)]).is_ok());
    for refused in [stack("1 2 3 4", 1_024), stack("1 b", 0), stack("-1", 0)] {
        assert!(read("backtrace", &[&refused]).is_err());
    }
    let inside = format!("<uint64 id='100' fmt='1'>1{}</uint64>", piece("1"));
    assert!(read("uint64", &[&inside]).is_err());
    let inside =
        "<uint64 id='100' fmt='1'>1<text-addresses id='101' fmt='a'>1</text-addresses></uint64>";
    assert!(read("uint64", &[inside]).is_err());
}
