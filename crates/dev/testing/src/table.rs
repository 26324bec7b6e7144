//! Writes tables by hand, as `xctrace export` does.

use std::fmt::Write;

/// Returns a document with one table, at a position of the table of contents. A column is a
/// mnemonic and a type; a cell is a text, `name (12)` for a process. An empty cell is null.
pub fn table_document<R: AsRef<[S]>, S: AsRef<str>>(
    position: usize,
    schema: &str,
    columns: &[(&str, &str)],
    rows: impl IntoIterator<Item = R>,
) -> String {
    let mut xml = format!(
        "<?xml version=\"1.0\"?>\n<trace-query-result>\n\
         <node xpath='//trace-toc[1]/run[1]/data[1]/table[{position}]'><schema name=\"{schema}\">"
    );
    for (mnemonic, kind) in columns {
        write!(
            xml,
            "<col><mnemonic>{mnemonic}</mnemonic><name>{mnemonic}</name>\
             <engineering-type>{kind}</engineering-type></col>"
        )
        .unwrap();
    }

    xml.push_str("</schema>");
    let mut ids = 1..;
    for row in rows {
        xml.push_str("<row>");
        for ((_, kind), text) in columns.iter().zip(row.as_ref()) {
            xml.push_str(&cell(kind, text.as_ref(), &mut ids));
        }
        xml.push_str("</row>\n");
    }
    xml.push_str("</node></trace-query-result>\n");
    xml
}

fn cell(kind: &str, text: &str, ids: &mut impl Iterator<Item = u32>) -> String {
    if text.is_empty() {
        return "<sentinel/>".to_owned();
    }

    let mut id = || ids.next().unwrap();
    let pid = text
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once('('));
    let inside = match (kind, pid) {
        ("process", Some((_, pid))) => {
            let (own, inner) = (id(), id());
            return format!(
                "<process id=\"{own}\" fmt=\"{text}\">\
                 <pid id=\"{inner}\" fmt=\"{pid}\">{pid}</pid></process>"
            );
        }
        ("thread", _) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            let (own, inner) = (id(), id());
            return format!(
                "<thread id=\"{own}\" fmt=\"Thread {text}\">\
                 <tid id=\"{inner}\" fmt=\"{text}\">{text}</tid></thread>"
            );
        }
        ("formatted-label", _) => "",
        _ => text,
    };
    format!("<{kind} id=\"{}\" fmt=\"{text}\">{inside}</{kind}>", id())
}
