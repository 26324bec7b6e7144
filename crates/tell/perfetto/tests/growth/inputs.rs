//! Writes inputs that have as many of one thing as a test asks for.

use std::collections::BTreeMap;
use std::path::Path;

use metalens_testing::table_document;

/// An input that has a number of one thing: its name, a number of which each takes some milliseconds,
/// and the function that makes it.
pub(super) type CountedInput = (&'static str, usize, fn(usize) -> Export);

pub(super) const INPUTS: [CountedInput; 13] = [
    ("unknown elements", 50_000, unknown_elements),
    ("kinds of unknown elements", 50_000, kinds_of_elements),
    ("columns", 250, columns),
    ("tables", 1_000, tables),
    ("tables of signposts", 1_000, tables_of_signposts),
    ("channels", 15, channels),
    ("processes", 8_000, processes),
    ("kernels", 2_000, kernels),
    ("parts of a label", 4_000, parts_of_a_label),
    ("buffers", 3_000, buffers),
    ("threads", 4_000, threads),
    ("signposts", 5_000, signposts),
    ("notes", 500, notes),
];

/// The files of an export.
#[derive(Default)]
pub(super) struct Export(BTreeMap<String, String>);

impl Export {
    pub(super) fn write(&self, folder: &Path) {
        for (schema, text) in &self.0 {
            std::fs::write(folder.join(format!("{schema}.xml")), text).unwrap();
        }
    }

    fn with(mut self, schema: &str, text: String) -> Self {
        self.0.insert(schema.to_owned(), text);
        self
    }

    /// Adds a table of rows that a function makes from their numbers.
    fn table<const N: usize>(
        self,
        schema: &str,
        columns: [(&str, &str); N],
        rows: usize,
        row: impl Fn(usize) -> [String; N],
    ) -> Self {
        let position = self.0.len() + 1;
        let document = table_document(position, schema, &columns, (0..rows).map(row));
        self.with(schema, document)
    }

    /// Adds GPU intervals that are apart: the process, label and channel of each.
    fn intervals(self, rows: usize, names: impl Fn(usize) -> [String; 3]) -> Self {
        let columns = [
            ("start", "start-time"),
            ("duration", "duration"),
            ("cmdbuffer-id", "metal-command-buffer-id"),
            ("encoder-id", "metal-command-buffer-id"),
            ("start-latency", "duration"),
            ("process", "process"),
            ("event-label", "string"),
            ("channel-name", "string"),
        ];
        self.table("metal-gpu-intervals", columns, rows, |row| {
            let id = row + 1;
            let numbers = [1_000 * id, 500, id, id, 100].map(|number| number.to_string());
            let [start, duration, buffer, encoder, latency] = numbers;
            let [process, label, channel] = names(row);
            [
                start, duration, buffer, encoder, latency, process, label, channel,
            ]
        })
    }

    /// Adds a text before the end of the first table.
    fn inside(mut self, text: &str) -> Self {
        let document = self.0.get_mut("metal-gpu-intervals").unwrap();
        *document = document.replace("</node>", &format!("{text}</node>"));
        self
    }
}

fn plain(_: usize) -> [String; 3] {
    ["bench (1)", "step:mul", "Compute"].map(str::to_owned)
}

/// Returns an input with little of everything.
pub(super) fn base() -> Export {
    Export::default().intervals(100, plain)
}

fn unknown_elements(count: usize) -> Export {
    base().inside(&"<zzz/>".repeat(count))
}

fn kinds_of_elements(count: usize) -> Export {
    let kinds: String = (0..count).map(|kind| format!("<k{kind}/>")).collect();
    base().inside(&kinds)
}

fn columns(count: usize) -> Export {
    let names: Vec<String> = (0..count).map(|at| format!("column-{at}")).collect();
    let columns: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "string")).collect();
    let document = |at: usize| {
        let row = vec!["x"; count];
        table_document(at, &format!("table-{at}"), &columns, [row])
    };
    let tables = (10..50).map(|at| (format!("table-{at}"), document(at)));
    tables.fold(base(), |export, (name, text)| export.with(&name, text))
}

/// Puts tables of a schema into one document, each with a row.
fn in_one_document(count: usize, schema: impl Fn(usize) -> String) -> String {
    let columns = [("time", "event-time"), ("name", "string")];
    let nodes = (0..count).map(|at| {
        let document = table_document(10 + at, &schema(at), &columns, [["1", "x"]]);
        let (_, rest) = document.split_once("<trace-query-result>").unwrap();
        rest.replace("</trace-query-result>", "")
    });
    let nodes: String = nodes.collect();
    format!("<trace-query-result>{nodes}</trace-query-result>")
}

fn tables(count: usize) -> Export {
    let document = in_one_document(count, |at| format!("table-{at}"));
    base().with("tables", document)
}

fn tables_of_signposts(count: usize) -> Export {
    let document = in_one_document(count, |_| "os-signpost".to_owned());
    base().with("os-signpost", document)
}

fn channels(count: usize) -> Export {
    Export::default().intervals(6_000, |row| {
        let [process, label, _] = plain(row);
        [process, label, format!("channel {}", row % count)]
    })
}

fn processes(count: usize) -> Export {
    Export::default().intervals(count, |row| {
        let [_, label, channel] = plain(row);
        [format!("bench ({})", 1 + row), label, channel]
    })
}

fn kernels(count: usize) -> Export {
    Export::default().intervals(2 * count, |row| {
        let [process, _, channel] = plain(row);
        [process, format!("step:kernel {}", row % count), channel]
    })
}

fn parts_of_a_label(count: usize) -> Export {
    let parts: Vec<String> = (0..count).map(|part| format!("part {part}")).collect();
    let label = format!("step:{}", parts.join(" &amp; "));
    Export::default().intervals(10, |row| {
        let [process, _, channel] = plain(row);
        [process, format!("{label} {row}"), channel]
    })
}

fn buffers(count: usize) -> Export {
    let numbers = |numbers: [usize; 4]| numbers.map(|number| number.to_string());
    let columns = [
        ("start", "start-time"),
        ("duration", "duration"),
        ("cmdbuffer-id", "metal-command-buffer-id"),
        ("encoder-id", "metal-command-buffer-id"),
        ("process", "process"),
    ];
    let export = Export::default().intervals(count, plain);
    let export = export.table("metal-application-encoders-list", columns, count, |row| {
        let id = row + 1;
        let [start, duration, buffer, encoder] = numbers([1_000 * id - 300, 100, id, id]);
        [start, duration, buffer, encoder, "bench (1)".to_owned()]
    });
    let columns = [
        ("timestamp", "event-time"),
        ("cmdbuffer-id", "metal-command-buffer-id"),
    ];
    export.table("metal-command-buffer-completed", columns, count, |row| {
        let id = row + 1;
        [(1_000 * id + 600).to_string(), id.to_string()]
    })
}

fn threads(count: usize) -> Export {
    let thread = |at: usize| format!("Thread {at} (bench, pid: 1)");
    let columns = [
        ("start", "start-time"),
        ("duration", "duration"),
        ("encoder-id", "metal-command-buffer-id"),
        ("thread", "thread"),
    ];
    let export = base().table("metal-application-encoders-list", columns, count, |row| {
        let [start, id] = [row, row + 1].map(|number| number.to_string());
        [start, "5".to_owned(), id, thread(row)]
    });
    let columns = [
        ("time", "sample-time"),
        ("thread", "thread"),
        ("process", "process"),
        ("thread-state", "thread-state"),
    ];
    export.table("time-profile", columns, count, |row| {
        let (time, thread) = (1_000 + 90_000 * row / count, thread(row));
        let [process, state] = ["bench (1)", "Running"].map(str::to_owned);
        [time.to_string(), thread, process, state]
    })
}

fn signposts(count: usize) -> Export {
    let columns = [
        ("time", "event-time"),
        ("process", "process"),
        ("event-type", "event-type"),
        ("identifier", "os-signpost-identifier"),
        ("name", "string"),
        ("subsystem", "subsystem"),
        ("category", "category"),
    ];
    base().table("os-signpost", columns, 2 * count, |row| {
        let event = if row < count { "Begin" } else { "End" };
        let (time, id) = (10 * row, row % count);
        let texts = [event, "app", "steps"].map(str::to_owned);
        let [event, subsystem, category] = texts;
        [
            time.to_string(),
            "bench (1)".to_owned(),
            event,
            id.to_string(),
            format!("phase {id}"),
            subsystem,
            category,
        ]
    })
}

fn notes(count: usize) -> Export {
    let broken = |at: usize| (format!("broken-{at}"), "<trace-query-result>".to_owned());
    let files = (0..count).map(broken);
    files.fold(base(), |export, (name, text)| export.with(&name, text))
}
