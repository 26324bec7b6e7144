//! Tests a good document with one named fault at a time: it must be refused with a place and a cause, or
//! give the same result with a note. It must never panic or silently give other numbers.

use std::fmt::Write as _;

use metalens_trace::{
    Input, LabelId, LoadOptions, Names, ProcessId, Selection, Table, TraceNote, Values,
    read_document,
};

use super::GOOD;
use super::mutation::{Mutation, replaced};

fn read(xml: &[u8]) -> Result<(Vec<Table>, Names), metalens_trace::Error> {
    let mut names = Names::new();
    let tables = read_document(xml, "t.xml", &mut names, &Selection::everything())?;
    Ok((tables, names))
}

fn broken(find: &str, replace: &str) -> Vec<u8> {
    replaced(GOOD, find, replace)
}

/// Checks that a document is refused, with this text and a place in the message.
fn refused(what: &str, xml: &[u8], expected: &str) {
    match read(xml) {
        Ok(_) => panic!("{what}: was read"),
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains(expected), "{what}: {message}");
            assert!(
                message.starts_with("t.xml, line "),
                "{what} has no place: {message}"
            );
            assert!(
                error.place().byte.is_some(),
                "{what} has no byte: {message}"
            );
        }
    }
}

#[test]
fn the_good_document_is_read() {
    let (tables, names) = read(GOOD.as_bytes()).unwrap();
    let table = &tables[0];
    let taken = &mut table.clone();
    let labels = Vec::<Option<LabelId>>::take(taken, "event-label").unwrap();
    let processes = Vec::<Option<ProcessId>>::take(taken, "process").unwrap();
    let mut shown = String::new();
    for row in 0..table.rows() {
        let text = |symbol: Option<_>| symbol.map(|symbol| names.text(symbol));
        let label = labels[row].and_then(|id| names.label(id)).unwrap();
        let process = processes[row].and_then(|id| names.process(id));
        writeln!(
            shown,
            "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            table.integers("start").unwrap().get(row),
            table.integers("duration").unwrap().get(row),
            text(table.texts("channel-name").unwrap()[row]),
            table.integers("start-latency").unwrap().get(row),
            names.text(label.text),
            label.submission_id(),
            process.map(|process| (names.text(process.name), process.pid)),
            table.integers("encoder-id").unwrap().get(row),
        )
        .unwrap();
    }
    let expected = r#"Some(0) Some(100) Some("Compute") Some(7000) "Command Buffer 0:sin & more" Some(31) Some(("bench (GPU)", Some(12))) Some(18446744073709551615)
Some(120) Some(50) Some("Compute") Some(7000) "Command Buffer 0:cos" Some(32) Some(("bench (GPU)", Some(12))) Some(0)
Some(200) Some(20) Some("Fragment") None "" Some(33) None None
"#;
    assert_eq!(shown, expected);
    assert_eq!((table.origin.run, table.origin.table), (Some(1), Some(7)));
}

#[test]
fn faults_in_the_structure_are_refused() {
    let cases = [
        (
            "a tag that does not match",
            "</trace-query-result>",
            "</trace-query-resul>",
            "expected `</trace-query-result>`",
        ),
        (
            "a cell missing",
            "<process ref=\"10\"/>",
            "",
            "unexpected <metal-command-buffer-id> in a column of <process>",
        ),
        (
            "the last cell missing",
            "<metal-command-buffer-id id=\"21\" fmt=\"0x0\">0</metal-command-buffer-id>",
            "",
            "the row has 6 cells; the schema has 7 columns",
        ),
        (
            "a cell too many",
            "</row>",
            "<uint64 id=\"99\" fmt=\"1\">1</uint64></row>",
            "unexpected <uint64>: the row has more cells",
        ),
        (
            "a wrong tag",
            "<duration ref=\"4\"/>",
            "<uint64 ref=\"4\"/>",
            "unexpected <uint64> in a column of <duration>",
        ),
        (
            "an empty row",
            "<row>",
            "<row/><row>",
            "the row has 0 cells",
        ),
        (
            "a row inside a row",
            "<row><start-time id=\"1\"",
            "<row><row><start-time id=\"1\"",
            "unexpected <row> in a column",
        ),
        (
            "text between cells",
            "<duration ref=\"4\"/>",
            "7<duration ref=\"4\"/>",
            "unexpected text \"7\"",
        ),
        (
            "text between rows",
            "<row><start-time id=\"16\"",
            "oops<row><start-time id=\"16\"",
            "unexpected text \"oops\"",
        ),
        (
            "a child in a number",
            ">120<",
            "><b/>120<",
            "unexpected <b> inside <start-time>",
        ),
        (
            "a child in a reference",
            "<duration ref=\"4\"/>",
            "<duration ref=\"4\"><b/></duration>",
            "unexpected <b> inside <duration>",
        ),
        (
            "two numbers in a label",
            "<narrative-text ref=\"13\"/><metal-encoder-id id=\"20\"",
            "<metal-encoder-id ref=\"14\"/><metal-encoder-id id=\"20\"",
            "duplicate <metal-encoder-id> inside <formatted-label>",
        ),
        (
            "two pids",
            "<pid id=\"11\" fmt=\"12\">12</pid>",
            "<pid id=\"11\" fmt=\"12\">12</pid><pid id=\"98\" fmt=\"13\">13</pid>",
            "duplicate <pid> inside <process>",
        ),
        (
            "a process without a name",
            "<process id=\"10\" fmt=\"bench (GPU) (12)\">",
            "<process id=\"10\">",
            "<process> has no `fmt` attribute",
        ),
        (
            "text in a reference",
            "<duration ref=\"4\"/>",
            "<duration ref=\"4\">7</duration>",
            "unexpected text \"7\"",
        ),
        (
            "text in a null",
            "<sentinel/>",
            "<sentinel>7</sentinel>",
            "unexpected text \"7\"",
        ),
        (
            "a second schema",
            "<row>",
            "<schema name=\"x\"/><row>",
            "duplicate <schema>",
        ),
        (
            "no schema",
            "<schema name",
            "<chema name",
            "expected `</chema>`",
        ),
        (
            "a second document",
            "</trace-query-result>\n",
            "</trace-query-result>\n<trace-query-result/>",
            "a second document begins",
        ),
        (
            "text after the end",
            "</trace-query-result>\n",
            "</trace-query-result>\nmore",
            "this is text",
        ),
    ];

    for (what, find, replace, expected) in cases {
        refused(what, &broken(find, replace), expected);
    }
}

#[test]
fn faults_in_the_schema_are_refused() {
    let cases = [
        (
            "two columns of a name",
            "<mnemonic>start-latency<",
            "<mnemonic>duration<",
            "two columns have the name `duration`",
        ),
        (
            "no mnemonic",
            "<mnemonic>start<",
            "<mnemonic><",
            "the schema's column 1 has no mnemonic",
        ),
        (
            "no type",
            "<engineering-type>process<",
            "<engineering-type><",
            "the schema's column 6 has no engineering-type",
        ),
        (
            "another type",
            "<engineering-type>start-time<",
            "<engineering-type>event-time<",
            "unexpected <start-time> in a column",
        ),
        (
            "an element in a name",
            "<mnemonic>start<",
            "<mnemonic><b/>start<",
            "unexpected <b> inside <mnemonic>",
        ),
        (
            "a column too many",
            "</schema>",
            "<col><mnemonic>x</mnemonic><name>X</name><engineering-type>uint64</engineering-type></col></schema>",
            "the row has 7 cells; the schema has 8 columns",
        ),
    ];

    for (what, find, replace, expected) in cases {
        refused(what, &broken(find, replace), expected);
    }
}

#[test]
fn faults_in_ids_and_references_are_refused() {
    let cases = [
        (
            "a ref to nothing",
            "<process ref=\"10\"/>",
            "<process ref=\"77\"/>",
            "ref=77 points to an id that was not defined",
        ),
        (
            "a forward ref",
            "<gpu-channel-name ref=\"3\"/>",
            "<gpu-channel-name ref=\"24\"/>",
            "ref=24 points to an id that was not defined",
        ),
        (
            "a ref to itself",
            "<duration id=\"2\" fmt=\"100 ns\">100</duration>",
            "<duration ref=\"2\"/>",
            "ref=2 points to an id that was not defined",
        ),
        (
            "a ref of another type",
            "<gpu-channel-name ref=\"3\"/>",
            "<gpu-channel-name ref=\"2\"/>",
            "<gpu-channel-name> has ref=2, but that id belongs to a <duration>",
        ),
        (
            "an id twice",
            "id=\"17\"",
            "id=\"16\"",
            "id=16 is defined twice",
        ),
        (
            "id and ref",
            "<duration ref=\"4\"/>",
            "<duration id=\"98\" ref=\"4\"/>",
            "both id and ref",
        ),
        (
            "an id twice in a tag",
            "id=\"17\"",
            "id=\"17\" id=\"18\"",
            "attribute id appears twice",
        ),
        (
            "an id that is no number",
            "id=\"17\"",
            "id=\"x17\"",
            "\"x17\" is not a whole number",
        ),
        (
            "a ref beyond 64 bits",
            "ref=\"4\"",
            "ref=\"18446744073709551616\"",
            "is not a whole number",
        ),
    ];

    for (what, find, replace, expected) in cases {
        refused(what, &broken(find, replace), expected);
    }
}

#[test]
fn faults_in_numbers_are_refused() {
    let cases = [
        (
            "no number",
            ">120<",
            ">12O<",
            "\"12O\" is not a whole number",
        ),
        ("no text", ">120<", "><", "\"\" is not a whole number"),
        (
            "a fraction",
            ">120<",
            ">120.5<",
            "\"120.5\" is not a whole number",
        ),
        (
            "a thousands separator",
            ">7000<",
            ">7,000<",
            "\"7,000\" is not a whole number",
        ),
        ("hex", ">31<", ">0x1f<", "\"0x1f\" is not a whole number"),
        (
            "a space",
            ">120<",
            "> 120<",
            "\" 120\" is not a whole number",
        ),
        (
            "a plus",
            ">120<",
            ">+120<",
            "\"+120\" is not a whole number",
        ),
        ("a negative duration", ">50<", ">-50<", "-50 is negative"),
        (
            "beyond 64 bits",
            ">120<",
            ">18446744073709551616<",
            "18446744073709551616 does not fit into 64 bits",
        ),
        (
            "an end beyond 64 bits",
            ">120<",
            ">18446744073709551600<",
            "start 18446744073709551600 + duration 50",
        ),
        (
            "a pid beyond 32 bits",
            ">12</pid>",
            ">4294967296</pid>",
            "\"4294967296\" is not a whole number",
        ),
    ];

    for (what, find, replace, expected) in cases {
        refused(what, &broken(find, replace), expected);
    }
}

#[test]
fn unusual_xml_is_refused() {
    let bomb = "<!DOCTYPE t [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>";
    let deep = format!("<row>{}", "<string>".repeat(1000));
    let long = format!("id=\"2\" fmt=\"{}\"", "x".repeat(100 << 20));
    let cases = [
        (
            "a DOCTYPE",
            "<trace-query-result>",
            "<!DOCTYPE x><trace-query-result>",
            "DOCTYPE",
        ),
        (
            "an entity bomb",
            "<trace-query-result>",
            &format!("{bomb}<trace-query-result>"),
            "DOCTYPE",
        ),
        (
            "an unknown entity",
            "&amp; more</string>",
            "&b; more</string>",
            "an unknown entity",
        ),
        (
            "an unknown entity in an attribute",
            "sin &amp; more      (",
            "sin &b; more      (",
            "unknown entity in an attribute",
        ),
        (
            "a bare &",
            "sin &amp; more</string>",
            "sin & more</string>",
            "not closed",
        ),
        (
            "a bare & in an attribute",
            "sin &amp; more      (",
            "sin & more      (",
            "a bare `&`",
        ),
        (
            "a forbidden character reference",
            "&amp; more</string>",
            "&#0; more</string>",
            "an unknown entity",
        ),
        ("CDATA", ">120<", "><![CDATA[120]]><", "CDATA"),
        (
            "no quotes",
            "id=\"17\"",
            "id=17",
            "attribute id is not quoted",
        ),
        (
            "no space",
            "id=\"17\" fmt",
            "id=\"17\"fmt",
            "no space before an attribute",
        ),
        (
            "no space behind a tag's name",
            "<narrative-text ref=\"13\"",
            "<narrative-textref=\"13\"",
            "`narrative-textref=\"13\"` is not a tag name",
        ),
        (
            "a broken tag of nothing",
            "<sentinel/>",
            "<sentinel 7/>",
            "attribute `7` has no value",
        ),
        (
            "an instruction to nobody",
            "<row>",
            "<row><??>",
            "a processing instruction without a name",
        ),
        (
            "a declaration inside",
            ">120<",
            "><?xml version=\"1.0\"?>120<",
            "an XML declaration inside an element",
        ),
        (
            "a name that is none",
            "id=\"17\"",
            "17%=\"17\"",
            "`17%` is not an attribute name",
        ),
        (
            "a < in an attribute",
            "fmt=\"50 ns\"",
            "fmt=\"<50 ns\"",
            "attribute fmt contains `<`",
        ),
        (
            "a thousand deep",
            "<row>",
            &deep,
            "unexpected <string> in a column",
        ),
        (
            "an attribute of 100 MB",
            "id=\"2\" fmt=\"100 ns\"",
            &long,
            "longer than",
        ),
    ];

    for (what, find, replace, expected) in cases {
        refused(what, &broken(find, replace), expected);
    }
    let deep_label = broken(
        "<string id=\"6\"",
        &format!("{}<string id=\"6\"", "<b>".repeat(1000)),
    );
    refused(
        "a label a thousand deep",
        &deep_label,
        "nested deeper than 64",
    );
}

#[test]
fn bytes_that_are_not_text_are_refused() {
    let with = |find: &str, bytes: &[u8]| replaced(GOOD, find, [bytes, find.as_bytes()].concat());
    refused(
        "NUL",
        &with("Compute</gpu", b"\0"),
        "byte 0x00 may not appear",
    );
    refused(
        "a control character",
        &with("Compute</gpu", b"\x1b"),
        "byte 0x1b may not appear",
    );
    refused(
        "NUL between tags",
        &with("<row>", b"\0"),
        "byte 0x00 may not appear",
    );
    refused(
        "half a character",
        &with("Compute</gpu", b"\xc3"),
        "not UTF-8",
    );
    refused(
        "Latin-1 in an attribute",
        &with("Compute\">", b"\xb5"),
        "not UTF-8",
    );
}

#[test]
fn unknown_content_is_kept_or_noted() {
    let same_numbers = |xml: &[u8]| {
        let (tables, _) = read(xml).unwrap();
        let starts: Vec<_> = tables[0].integers("start").unwrap().iter().collect();
        assert_eq!(starts, [Some(0), Some(120), Some(200)]);
    };
    same_numbers(&broken(
        "<schema name",
        "<schema documentation=\"a &lt;b&gt;\" name",
    ));
    same_numbers(&broken(
        "<duration id=\"17\"",
        "<duration new=\"1\" id=\"17\"",
    ));
    same_numbers(&broken("<row>", "<!-- a comment --><row>"));
    same_numbers(&broken(">120<", ">1<!-- in a number -->20<"));
    same_numbers(&broken(
        "<?xml version=\"1.0\"?>",
        "\u{feff}<?xml version=\"1.0\"?>",
    ));
    same_numbers(&broken(">Fragment<", ">Tile<"));
    same_numbers(GOOD.replace('\n', "\r\n").as_bytes());

    let folder = metalens_testing::scratch();
    let file = folder.path().join("metal-gpu-intervals.xml");
    std::fs::write(&file, broken("<row>", "<summary><x/>1</summary><row>")).unwrap();
    let trace = Input::open(&file)
        .unwrap()
        .load(&Selection::everything(), LoadOptions::default());
    let notes = trace.unwrap().notes;
    assert!(
        notes
            .iter()
            .any(|note| matches!(note, TraceNote::UnknownElements(_))),
        "{notes:?}"
    );
}

/// Elements that no known export has are counted, in one note.
#[test]
fn unknown_elements_are_counted() {
    let check = |elements: &str, expected: &str| {
        let folder = metalens_testing::scratch();
        let file = folder.path().join("metal-gpu-intervals.xml");
        let document = GOOD.replacen("<row>", &format!("{elements}\n<row>"), 1);
        let document = document.replace("</trace-query-result>", "<end/></trace-query-result>");
        let line = 1 + document.find(elements).map_or(0, |at| {
            document[..at].bytes().filter(|&byte| byte == b'\n').count()
        });
        std::fs::write(&file, document).unwrap();
        let loaded = Input::open(&file).unwrap();
        let loaded = loaded.load(&Selection::everything(), LoadOptions::default());
        let notes = loaded.unwrap().notes;
        let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
        let start = format!(
            "{}, from line {line}: ignored unknown elements: ",
            file.display()
        );
        let unknown = notes.iter().filter_map(|note| note.strip_prefix(&start));
        assert_eq!(unknown.collect::<Vec<_>>(), [expected], "{notes:?}");
    };
    check("<a/>", "<a>, <end>");
    check("<a><b/></a><c/><a>x</a>", "<a> (2 times), <c>, <end>");
    check(&"<zzz/>".repeat(100_000), "<zzz> (100000 times), <end>");
    let kinds: String = (1..=9).map(|kind| format!("<k{kind}/>")).collect();
    check(
        &kinds.repeat(2),
        "<k1> (2 times), <k2> (2 times), <k3> (2 times), <k4> (2 times), <k5> (2 times), \
         <k6> (2 times), <k7> (2 times), <k8> (2 times) and 3 others",
    );
}

/// A document may not have more columns, tables or attributes than any recording.
#[test]
fn more_than_any_recording_has_is_refused() {
    let column = |at: usize| {
        format!(
            "<col><mnemonic>c{at}</mnemonic><name>c</name><engineering-type>string\
             </engineering-type></col>"
        )
    };
    let columns = |count: usize| (0..count).map(column).collect::<String>();
    let table = |at: usize, columns: &str| {
        format!(
            "<node xpath='//trace-toc[1]/run[1]/data[1]/table[{at}]'><schema name='t{at}'>\
             {columns}</schema></node>"
        )
    };
    let tables = |count: usize| {
        (0..count)
            .map(|at| table(at, &column(0)))
            .collect::<String>()
    };
    let attributes = |count: usize| {
        let attributes = (0..count).map(|at| format!(" a{at}='1'"));
        format!("<x{}/>{}", attributes.collect::<String>(), tables(1))
    };
    let check = |nodes: String, expected: Option<&str>| {
        let document = format!("<trace-query-result>{nodes}</trace-query-result>");
        let error = read(document.as_bytes()).err();
        let error = error.map(|error| error.problem().to_string());
        assert_eq!(error.as_deref(), expected);
    };
    check(table(1, &columns(1_000)), None);
    let too_many = "more than 1000 columns in one table";
    check(table(1, &columns(1_001)), Some(too_many));
    check(tables(10_000), None);
    check(tables(10_001), Some("more than 10000 tables in one file"));
    check(attributes(250), None);
    let too_many = "more than 250 attributes of one element";
    check(attributes(251), Some(too_many));
}

/// A document that is cut off is refused. If that is allowed, its complete rows are read, with a
/// note.
#[test]
fn a_document_may_be_cut_off_at_every_byte() {
    let folder = metalens_testing::scratch();
    let file = folder.path().join("t.xml");
    let (whole, _) = read(GOOD.as_bytes()).unwrap();
    let starts: Vec<_> = whole[0].integers("start").unwrap().iter().collect();
    for cut in 0..GOOD.trim_end().len() {
        let text = Mutation::CutOff(cut).of(GOOD.as_bytes());
        let text = text.as_slice();
        assert!(read(text).is_err(), "cut at {cut} was read");
        std::fs::write(&file, text).unwrap();
        let options = LoadOptions {
            allow_truncated: true,
            ..LoadOptions::default()
        };
        let loaded = Input::open(&file).and_then(|i| i.load(&Selection::everything(), options));
        let schema_seen = GOOD.find("</schema>").unwrap() + "</schema>".len() <= cut;
        match loaded {
            Err(_) => assert!(!schema_seen, "cut at {cut} was refused"),
            Ok(trace) => {
                let table = &trace.tables()[0];
                let rows = String::from_utf8_lossy(text).matches("</row>").count();
                let read: Vec<_> = table.integers("start").unwrap().iter().collect();
                assert_eq!(read, starts[..rows], "cut at {cut}");
                let flagged = trace
                    .notes
                    .iter()
                    .any(|n| matches!(n, TraceNote::Truncated { .. }));
                assert!(table.truncated && flagged, "cut at {cut} was not flagged");
            }
        }
    }
}

/// Xcode 27 writes several tables into one file, and a schema only for the first. That one is certain.
#[test]
fn rows_without_a_schema_after_a_table_are_refused() {
    let later = "</node><node xpath='//trace-toc[1]/run[1]/data[1]/table[8]'><row><start-time id='90' \
                 fmt='5'>5</start-time></row><row><start-time ref='90'/></row></node></trace-query-result>";
    let text = GOOD.replace("</node></trace-query-result>", later);
    let folder = metalens_testing::scratch();
    let path = folder.path().join("several.xml");
    std::fs::write(&path, &text).unwrap();
    let input = Input::open(&path).unwrap();
    let trace = input.load(&Selection::everything(), LoadOptions::default());
    let trace = trace.unwrap();
    let rows: Vec<usize> = trace.tables().iter().map(Table::rows).collect();
    assert_eq!(rows, [3]);
    let note = trace.notes.iter().map(TraceNote::to_string);
    let note = note.filter(|note| note.contains("refused 2 rows of later tables"));
    assert_eq!(note.count(), 1, "{:?}", trace.notes);

    // A schema after rows is not certain either.
    let late = text.replace("<row><start-time ref='90'/></row>", "<schema name='late'/>");
    let read = read_document(
        late.as_bytes(),
        "x",
        &mut Names::new(),
        &Selection::everything(),
    );
    assert!(read.unwrap_err().to_string().contains("without a <schema>"));

    // A first table without a schema is not certain.
    let without = GOOD.replace("<schema", "<x").replace("</schema", "</x");
    let read = read_document(
        without.as_bytes(),
        "x",
        &mut Names::new(),
        &Selection::everything(),
    );
    assert!(read.is_err());
}
