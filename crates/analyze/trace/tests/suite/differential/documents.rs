//! Tests documents with one unusual part each, in the first rows or after many.

use std::fmt::Write as _;

use metalens_trace::{Names, Selection, Table, read_document};

use super::{WAYS, check};
use crate::{EVERYTHING, GOOD};

/// Returns a document with rows like those of the good one and rising ids. `odd` is inserted before
/// row `odd_at`.
fn long(rows: usize, odd_at: usize, odd: &str) -> String {
    let head = &GOOD[..GOOD.find("<row>").unwrap()];
    let mut text = head.to_owned();
    for row in 0..rows {
        if row == odd_at {
            text.push_str(odd);
        }
        let id = row * 6 + 1;
        let process = match row {
            0 => {
                r#"<process id="900000" fmt="bench (12)"><pid id="900001" fmt="12">12</pid></process>"#
            }
            _ => r#"<process ref="900000"/>"#,
        };
        writeln!(
            text,
            r#"<row><start-time id="{id}" fmt="0">{row}</start-time><duration id="{}" fmt="5 µs">5000</duration><gpu-channel-name id="{}" fmt="C">C{}</gpu-channel-name><duration ref="{}"/><formatted-label id="{}" fmt="w ( bench (12) )  0x1"><string id="{}" fmt="w">w</string></formatted-label>{process}<metal-command-buffer-id id="{}" fmt="0x1">{}</metal-command-buffer-id></row>"#,
            id + 1, id + 2, row % 7, id + 1, id + 3, id + 4, id + 5, u64::MAX - row as u64,
        )
        .unwrap();
    }
    text.push_str("</node></trace-query-result>\n");
    text
}

#[test]
fn the_document_with_everything_is_read() {
    let everything = Selection::everything();
    let mut names = Names::new();
    let read = read_document(EVERYTHING.as_bytes(), "t", &mut names, &everything);
    let rows: Vec<usize> = read.unwrap().iter().map(Table::rows).collect();
    assert_eq!(rows, [5, 3]);
    check("with everything", EVERYTHING.as_bytes(), &WAYS);
    // Frames in the form of other cells must keep their names.
    for frame in ["fmt=\"new\"", "fmt=\"new\" name=\"n\"", ""] {
        let usual = "name=\"main\" addr=\"0x2\"";
        assert!(EVERYTHING.contains(usual));
        let document = EVERYTHING.replace(usual, frame);
        check(frame, document.as_bytes(), &WAYS);
    }
}

/// The unusual part is before the first row, or before one that another thread reads.
#[test]
fn unusual_rows_are_read_the_same_way() {
    let row = |cells: &str| format!("<row>{cells}</row>");
    let seven = "<start-time ref=\"1\"/><duration ref=\"2\"/><gpu-channel-name ref=\"3\"/><duration ref=\"2\"/><formatted-label ref=\"4\"/><process ref=\"900000\"/>";
    let last = |cell: &str| row(&format!("{seven}{cell}"));
    let deep = |depth: usize| {
        let open: String = (0..depth)
            .map(|at| format!("<b id=\"{}\" fmt=\"\">", 800_000 + at))
            .collect();
        let label = format!(
            "<formatted-label id=\"700000\" fmt=\"\">{open}{}</formatted-label>",
            "</b>".repeat(depth)
        );
        row(&format!("{seven}<sentinel/>").replace("<formatted-label ref=\"4\"/>", &label))
    };

    let odd: Vec<String> = [
        "",
        "\r\n\t ",
        "\u{a0}",
        "text",
        "<!-- </row> -->",
        "<?pi <row> </row>?>",
        "<row/>",
        "<row></row>",
        "<row",
        "</row>",
        "<row>",
        "<rows></rows>",
        "<schema/>",
        "<summary><row><x/></row></summary>",
        "</node><node>",
        "</node>",
        "\u{1}",
        "\u{feff}",
        "]]>",
        "&amp;",
        "&nope;",
        "&",
        "<![CDATA[<row>]]>",
        "<!DOCTYPE x>",
    ]
    .into_iter()
    .map(str::to_owned)
    .chain([
        last("<sentinel/>"),
        last("<sentinel></sentinel>"),
        last("<sentinel id=\"1\"/>"),
        last("<sentinel>1</sentinel>"),
        last("<sentinel/><sentinel/>"),
        last(""),
        last(" <sentinel/> "),
        last("x<sentinel/>"),
        last("<metal-command-buffer-id ref=\"6\"/>"),
        last("<metal-command-buffer-id ref=\"6\" />"),
        last("<metal-command-buffer-id ref='6'/>"),
        last("<metal-command-buffer-idref=\"6\"/>"),
        last("<metal-command-buffer-id\"6\"/>"),
        last("<metal-command-buffer-id ref=\"06\"/>"),
        last("<metal-command-buffer-id ref=\"1\"/>"),
        last("<metal-command-buffer-id ref=\"899999\"/>"),
        last("<metal-command-buffer-id ref=\"\"/>"),
        last("<metal-command-buffer-id ref=\"18446744073709551616\"/>"),
        last("<metal-command-buffer-id ref=\"6\" id=\"7\"/>"),
        last("<metal-command-buffer-id/>"),
        last("<metal-command-buffer-id fmt=\"1\">1</metal-command-buffer-id>"),
        last("<metal-command-buffer-id fmt=\"1\" id=\"899999\">1</metal-command-buffer-id>"),
        last("<metal-command-buffer-id id=\"1\" fmt=\"1\">1</metal-command-buffer-id>"),
        last("<metal-command-buffer-id id=\"899999\" fmt=\"1\"/>"),
        last("<metal-command-buffer-id id=\"899999\" fmt=\"&amp;\">1</metal-command-buffer-id>"),
        last("<metal-command-buffer-id id=\"899999\" fmt=\"&\">1</metal-command-buffer-id>"),
        last("<metal-command-buffer-id id=\"899999\" fmt=\"<\">1</metal-command-buffer-id>"),
        last("<metal-command-buffer-id id=\"899999\" fmt=\">\">1</metal-command-buffer-id>"),
        last("<metal-command-buffer-id id=\"899999\" fmt=\"1\" fmt=\"1\">1</metal-command-buffer-id>"),
        last("<metal-command-buffer-id id=\"899999\" fmt=\"1\">-1</metal-command-buffer-id>"),
        last("<metal-command-buffer-id id=\"899999\" fmt=\"1\">1<!-- -->2</metal-command-buffer-id>"),
        last("<metal-command-buffer-id id=\"899999\" fmt=\"1\">&#49;2</metal-command-buffer-id>"),
        last("<metal-command-buffer-id id=\"899999\" fmt=\"1\">18446744073709551616</metal-command-buffer-id>"),
        last("<metal-command-buffer-id id=\"899999\" fmt=\"1\">00000000000000000000007</metal-command-buffer-id>"),
        last("<metal-command-buffer-id id=\"899999\" fmt=\"1\">1</metal-command-buffer-id >"),
        last("<metal-command-buffer-id id=\"899999\" fmt=\"1\">1</metal-command-buffer-i>"),
        last("<metal-command-buffer-id id=\"899999\" fmt=\"1\">1<b/></metal-command-buffer-id>"),
        last("<uint64 id=\"899999\" fmt=\"1\">1</uint64>"),
        last("< metal-command-buffer-id/>"),
        last("<1/>"),
        row(seven).replace("<formatted-label ref=\"4\"/>", "<formatted-label id=\"700000\" fmt=\"\"><string ref=\"700000\"/></formatted-label>"),
        row(&format!("{seven}<sentinel/>")).replace("<formatted-label ref=\"4\"/>", "<formatted-label id=\"700000\" fmt=\"a &amp; b\">mixed<string id=\"700001\" fmt=\"s\">s</string>text<late-tag id=\"700002\" fmt=\"l\">l</late-tag></formatted-label>"),
        row(&format!("{seven}<sentinel/>")).replace("<formatted-label ref=\"4\"/>", "<formatted-label id=\"700000\" fmt=\"a\nb\tc\r\nd&#10;e\"/>"),
        last("<sentinel 1/>"),
        last("<sentinel><?xml version=\"1.0\"?></sentinel>"),
        row(&format!("{seven}<sentinel/>")).replace("<formatted-label ref=\"4\"/>", "<formatted-label id=\"700000\" fmt=\"a\"><stringref=\"7\"/></formatted-label>"),
        row(&format!("{seven}<sentinel/>")).replace("<formatted-label ref=\"4\"/>", "<formatted-label id=\"700000\" fmt=\"x ( new (7) )  0x1\"/>"),
        row(&format!("{seven}<sentinel/>")).replace("<process ref=\"900000\"/>", "<process id=\"700000\" fmt=\"p (7)\"><pid id=\"700001\" fmt=\"\">4294967296</pid></process>"),
        row(&format!("{seven}<sentinel/>")).replace("<start-time ref=\"1\"/>", "<start-time id=\"700000\" fmt=\"\">18446744073709551615</start-time>"),
        deep(20),
        deep(31),
        deep(33),
        deep(59),
        deep(60),
        deep(61),
        deep(62),
        last(&format!("<metal-command-buffer-id id=\"899999\" fmt=\"{}\">1</metal-command-buffer-id>", "x".repeat(70_000))),
    ])
    .collect();

    for odd in odd {
        for at in [0, 1, 40] {
            let what = format!(
                "{} in front of row {at}",
                odd.chars().take(300).collect::<String>()
            );
            check(&what, long(60, at, &odd).as_bytes(), &WAYS);
        }
    }
}

/// The windows must not decide which of two errors is reported.
#[test]
fn the_first_of_two_errors_is_reported() {
    let bad = "<row><start-time ref=\"7777777\"/></row>";
    for second in ["\u{1}", "<row", "&", "<![CDATA[]]>"] {
        for between in [0, 10, 60, 3000] {
            let space = " ".repeat(between);
            for odd in [
                format!("{bad}{space}{second}"),
                format!("{second}{space}{bad}"),
            ] {
                check(&odd, long(50, 30, &odd).as_bytes(), &WAYS);
            }
        }
    }
}

#[test]
fn bytes_that_are_not_text_are_refused_the_same_way() {
    let document = long(40, 99, "").into_bytes();
    let row = document
        .windows(5)
        .rposition(|bytes| bytes == b"<row>")
        .unwrap();
    for bytes in [&b"\xc2"[..], b"\xff", b"\xed\xa0\x80", b"\xc2\xb5", b"\0"] {
        for into in [0, 5, 6, 20, 26, 40, 110, 140] {
            let at = row + into;
            let broken = [&document[..at], bytes, &document[at..]].concat();
            check(&format!("{bytes:x?} at {at}"), &broken, &WAYS);
            check(
                &format!("{bytes:x?} at the end"),
                &broken[..at + bytes.len()],
                &WAYS,
            );
        }
    }
}

/// These types are not valid tag names, or have another meaning.
#[test]
fn types_with_unusual_names_are_read_the_same_way() {
    for name in [
        "sentinel", "a b", "a ref", "a/", "a&gt;", "&quot;", "1", "-", "é", "row", "!--",
    ] {
        let cells = |tag: &str| {
            [
                format!("<{tag} id=\"1\" fmt=\"7\">7</{tag}>"),
                format!("<{tag} ref=\"1\"/>"),
                format!("<{tag}=\"x\" ref=\"1\"/>"),
                format!("<{tag}/>"),
                "<sentinel ref=\"1\"/>".to_owned(),
            ]
        };
        let tag = name.replace("&gt;", ">").replace("&quot;", "\"");
        for last in cells(&tag).into_iter().chain(cells("a")) {
            for first in cells(&tag) {
                let document = format!(
                    "<trace-query-result><node><schema name=\"t\"><col><mnemonic>m</mnemonic>\
                     <name>m</name><engineering-type>{name}</engineering-type></col></schema>\
                     <row>{first}</row><row>{last}</row></node></trace-query-result>"
                );
                check(&document, document.as_bytes(), &WAYS[..2]);
            }
        }
    }
}

/// The document has more tags than any export, each new to the tokenizing threads.
#[test]
fn many_tags_are_read_the_same_way() {
    let labels: String = (0..5000)
        .map(|at| {
            let id = 1_000_000 + at * 2;
            format!("<row><start-time ref=\"1\"/><duration ref=\"2\"/><gpu-channel-name ref=\"3\"/><duration ref=\"2\"/><formatted-label id=\"{id}\" fmt=\"\"><tag-{at} id=\"{}\" fmt=\"t\">t</tag-{at}></formatted-label><process ref=\"900000\"/><sentinel/></row>", id + 1)
        })
        .collect();
    check("many tags", long(50, 49, &labels).as_bytes(), &WAYS[3..]);
}

/// Rows are too long for a window, and tokens are about as long as allowed.
#[test]
fn long_rows_are_read_the_same_way() {
    let with_text = |length: usize| {
        let text = "y".repeat(length);
        let row = format!(
            "<row><start-time ref=\"1\"/><duration ref=\"2\"/><gpu-channel-name id=\"899999\" fmt=\"l\">{text}</gpu-channel-name><duration ref=\"2\"/><formatted-label ref=\"4\"/><process ref=\"900000\"/><sentinel/></row>"
        );
        long(50, 20, &row)
    };

    let limit = 4 << 20;
    for length in [
        300_000,
        1_048_576,
        2_000_000,
        limit - 1,
        limit,
        limit + 1,
        limit + 70_000,
    ] {
        let document = with_text(length);
        check(
            &format!("a text of {length}"),
            document.as_bytes(),
            &WAYS[4..],
        );
    }
}
