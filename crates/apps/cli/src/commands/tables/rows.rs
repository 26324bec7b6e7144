//! Writes the rows of a table as CSV or JSON lines.

use std::io::{self, Write};

use metalens_text::csv;
use metalens_trace::{Column, Names, Table};

use super::cells;

/// Writes a line of column mnemonics, then a line for each row.
pub(crate) fn as_csv(table: &Table, names: &Names, out: &mut impl Write) -> io::Result<()> {
    let mut csv = csv::Writer::new(out);
    let headings = table.columns().map(|(spec, _)| spec.mnemonic.as_str());
    csv.texts(headings)?;

    for row in 0..table.rows() {
        for (_, column) in table.columns() {
            match column {
                Column::Integers(values) => csv.optional(values.get(row))?,
                _ => csv.text(cells::text(column, row, names).as_deref())?,
            }
        }
        csv.end()?;
    }
    Ok(())
}

/// Writes one object per row, with its keys in the order of the columns.
pub(crate) fn as_json_lines(table: &Table, names: &Names, out: &mut impl Write) -> io::Result<()> {
    for row in 0..table.rows() {
        for (index, (spec, column)) in table.columns().enumerate() {
            out.write_all(if index == 0 { b"{" } else { b"," })?;
            serde_json::to_writer(&mut *out, &spec.mnemonic)?;
            out.write_all(b":")?;
            serde_json::to_writer(&mut *out, &cells::json(column, row, names))?;
        }
        out.write_all(b"}\n")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use metalens_trace::{Selection, read_document};

    const XML: &str = r#"
        <trace-query-result><node xpath='/run[1]/table[1]'><schema name="t">
        <col><mnemonic>n</mnemonic><name>N</name><engineering-type>uint64</engineering-type></col>
        <col><mnemonic>s</mnemonic><name>S</name><engineering-type>string</engineering-type></col>
        <col><mnemonic>p</mnemonic><name>P</name><engineering-type>process</engineering-type></col>
        </schema>
        <row><uint64 id="1" fmt="1,000">1000</uint64><string id="2" fmt="a,&quot;b&quot;">a,&quot;b&quot;</string><process id="3" fmt="bench (7)"><pid id="4" fmt="7">7</pid></process></row>
        <row><sentinel/><string id="5" fmt=""></string><process ref="3"/></row>
        <row><uint64 ref="1"/><sentinel/><sentinel/></row>
        </node></trace-query-result>"#;

    fn check(print: impl Fn(&Table, &Names, &mut Vec<u8>) -> io::Result<()>, expected: &str) {
        let mut names = Names::new();
        let selection = Selection::everything();
        let xml = XML.trim_start().as_bytes();
        let tables = read_document(xml, "t.xml", &mut names, &selection).unwrap();
        let mut out = Vec::new();
        print(&tables[0], &names, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn csv_distinguishes_null_from_empty_text() {
        let expected = "n,s,p\n1000,\"a,\"\"b\"\"\",bench (7)\n,\"\",bench (7)\n1000,,\n";
        check(as_csv, expected);
    }

    #[test]
    fn json_has_the_parts_of_a_process() {
        let expected = [
            r#"{"n":1000,"s":"a,\"b\"","p":{"name":"bench","pid":7}}"#,
            r#"{"n":null,"s":"","p":{"name":"bench","pid":7}}"#,
            r#"{"n":1000,"s":null,"p":null}"#,
        ];
        check(as_json_lines, &(expected.join("\n") + "\n"));
    }
}
