//! Writes inputs that have as many of one thing as a test asks for.

use std::collections::BTreeMap;

use metalens_testing::table_document;

/// An input that has a number of one thing, or of two at once: its name, a number, and the function that
/// makes it.
pub(super) type CountedInput = (&'static str, usize, fn(usize) -> Input);

pub(super) const INPUTS: [CountedInput; 30] = [
    ("xml: unknown elements", 4_000, unknown_elements),
    ("xml: kinds of unknown elements", 4_000, kinds_of_elements),
    ("xml: columns", 120, columns),
    ("xml: tables", 48, tables),
    ("xml: tables of signposts", 48, tables_of_signposts),
    ("xml: channels", 20, channels),
    ("xml: processes", 1_000, processes),
    ("xml: kernels", 500, kernels),
    ("xml: kernels and patterns", 400, kernels_and_patterns),
    ("xml: parts of a label", 1_600, parts_of_a_label),
    ("xml: buffers", 400, buffers),
    ("xml: threads", 1_000, threads),
    ("xml: signposts", 500, signposts),
    (
        "xml: signposts and allocations",
        800,
        signposts_and_allocations,
    ),
    ("xml: notes", 16, notes),
    ("log: kernels of an encoder", 3_200, |count| {
        logged(&buffer(
            1,
            &encoder("", &each(count, |at| format!("\"k{at}\":1"))),
        ))
    }),
    ("log: kernels of an encoder, escaped", 3_200, |count| {
        logged(&buffer(
            1,
            &encoder("", &each(count, |at| format!("\"\\u006b{at}\":1"))),
        ))
    }),
    ("log: encoders of a buffer", 12_800, |count| {
        logged(&buffer(1, &each(count, |_| encoder("", "\"k\":1"))))
    }),
    ("log: labels of a buffer", 800, |count| {
        logged(&buffer(
            1,
            &each(count, |at| encoder(&format!("l{at}"), "\"k\":1")),
        ))
    }),
    ("log: buffers", 3_200, |count| {
        logged(&lines(count, |at| buffer(at, &encoder("", "\"k\":1"))))
    }),
    ("log: threads and buffers", 200, |count| {
        logged(&lines(8 * count, |at| {
            let thread = format!("\"thread\":{}", 1 + at % count);
            buffer(at, &encoder("", "\"k\":1")).replace("\"thread\":7", &thread)
        }))
    }),
    ("log: kernels and buffers", 400, |count| {
        logged(&lines(count, |at| {
            buffer(at, &encoder("", &format!("\"k{at}\":1")))
        }))
    }),
    ("log: buffers and waits", 3_200, |count| {
        logged(&lines(count, |at| {
            format!("{}{}", buffer(at, ""), wait(at, at))
        }))
    }),
    ("log: waits of threads", 800, |count| {
        logged(&lines(count, |at| wait(1, at)))
    }),
    ("log: phases", 800, |count| {
        logged(&lines(count, |at| phase(&format!("p{at}"), at)))
    }),
    ("log: phases of a name", 800, |count| {
        logged(&lines(count, |at| phase("p", at)))
    }),
    ("log: phases and buffers", 1_200, |count| {
        logged(&lines(count, |at| {
            format!("{}{}", buffer(at, ""), phase(&format!("p{at}"), at))
        }))
    }),
    ("log: notes", 800, |count| {
        logged(&lines(count, |at| format!("{{\"note\":\"n{at}\"}}\n")))
    }),
    ("log: errors", 400, |count| logged(&lines(count, failed))),
    ("log: arguments", 2_000, |count| {
        logged_with(&each(count, |at| format!("\"a{at}\"")), "")
    }),
];

/// Name of the file of a log.
pub(super) const LOG: &str = "run.jsonl";

/// The files of a recording, and patterns of kernels to use with it.
pub(super) struct Input {
    pub(super) files: BTreeMap<String, String>,
    pub(super) patterns: Vec<String>,
}

impl Input {
    fn new() -> Self {
        Self {
            files: BTreeMap::new(),
            patterns: vec!["*".to_owned()],
        }
    }

    fn with(mut self, schema: &str, text: String) -> Self {
        self.files.insert(format!("{schema}.xml"), text);
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
        let position = self.files.len() + 1;
        let document = table_document(position, schema, &columns, (0..rows).map(row));
        self.with(schema, document)
    }

    /// Adds GPU intervals that are apart, each with its completion: the process, label and channel of each.
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
        let export = self.table("metal-gpu-intervals", columns, rows, |row| {
            let id = row + 1;
            let numbers = [1_000 * id, 500, id, id, 100].map(|number| number.to_string());
            let [start, duration, buffer, encoder, latency] = numbers;
            let [process, label, channel] = names(row);
            [
                start, duration, buffer, encoder, latency, process, label, channel,
            ]
        });
        let columns = [
            ("timestamp", "event-time"),
            ("cmdbuffer-id", "metal-command-buffer-id"),
        ];
        export.table("metal-command-buffer-completed", columns, rows, |row| {
            let id = row + 1;
            [(1_000 * id + 600).to_string(), id.to_string()]
        })
    }

    /// Adds a text before the end of the first table.
    fn inside(mut self, text: &str) -> Self {
        let document = self.files.get_mut("metal-gpu-intervals.xml").unwrap();
        *document = document.replace("</node>", &format!("{text}</node>"));
        self
    }
}

fn plain(_: usize) -> [String; 3] {
    ["bench (1)", "step:mul", "Compute"].map(str::to_owned)
}

/// Returns an input with little of everything.
pub(super) fn base() -> Input {
    Input::new().intervals(100, plain)
}

fn unknown_elements(count: usize) -> Input {
    base().inside(&"<zzz/>".repeat(count))
}

fn kinds_of_elements(count: usize) -> Input {
    let kinds: String = (0..count).map(|kind| format!("<k{kind}/>")).collect();
    base().inside(&kinds)
}

fn columns(count: usize) -> Input {
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

fn tables(count: usize) -> Input {
    let document = in_one_document(count, |at| format!("table-{at}"));
    base().with("tables", document)
}

fn tables_of_signposts(count: usize) -> Input {
    let document = in_one_document(count, |_| "os-signpost".to_owned());
    base().with("os-signpost", document)
}

fn channels(count: usize) -> Input {
    Input::new().intervals(600, |row| {
        let [process, label, _] = plain(row);
        [process, label, format!("channel {}", row % count)]
    })
}

fn processes(count: usize) -> Input {
    // A replay needs two command buffers of one process.
    Input::new().intervals(count + 2, |row| {
        let [_, label, channel] = plain(row);
        [
            format!("bench ({})", 1 + row.saturating_sub(2)),
            label,
            channel,
        ]
    })
}

fn kernels(count: usize) -> Input {
    Input::new().intervals(2 * count, |row| {
        let [process, _, channel] = plain(row);
        [process, format!("step:kernel {}", row % count), channel]
    })
}

fn kernels_and_patterns(count: usize) -> Input {
    let patterns = (0..count).map(|at| format!("kernel {at}*"));
    Input {
        patterns: patterns.collect(),
        ..kernels(count)
    }
}

fn parts_of_a_label(count: usize) -> Input {
    let parts: Vec<String> = (0..count).map(|part| format!("part {part}")).collect();
    let label = format!("step:{}", parts.join(" &amp; "));
    Input::new().intervals(3, |row| {
        let [process, _, channel] = plain(row);
        [process, format!("{label} {row}"), channel]
    })
}

fn buffers(count: usize) -> Input {
    let numbers = |numbers: [usize; 4]| numbers.map(|number| number.to_string());
    let columns = [
        ("start", "start-time"),
        ("duration", "duration"),
        ("cmdbuffer-id", "metal-command-buffer-id"),
        ("encoder-id", "metal-command-buffer-id"),
        ("process", "process"),
    ];
    let export = Input::new().intervals(count, plain);
    export.table("metal-application-encoders-list", columns, count, |row| {
        let id = row + 1;
        let [start, duration, buffer, encoder] = numbers([1_000 * id - 300, 100, id, id]);
        [start, duration, buffer, encoder, "bench (1)".to_owned()]
    })
}

fn threads(count: usize) -> Input {
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
        let (time, thread) = (1_000 + 100 * row, thread(row));
        let [process, state] = ["bench (1)", "Running"].map(str::to_owned);
        [time.to_string(), thread, process, state]
    })
}

fn signposts(count: usize) -> Input {
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

fn signposts_and_allocations(count: usize) -> Input {
    let columns = [
        ("timestamp", "event-time"),
        ("process", "process"),
        ("resource-id", "uint64"),
        ("label", "string"),
        ("resource-size", "size-in-bytes"),
        ("event-type", "event-type"),
    ];
    signposts(count).table("metal-resource-allocations", columns, count, |row| {
        let [time, id] = [10 * row, row + 1].map(|number| number.to_string());
        let texts = ["bench (1)", "weights", "4096", "Allocation"].map(str::to_owned);
        let [process, label, size, event] = texts;
        [time, process, id, label, size, event]
    })
}

fn notes(count: usize) -> Input {
    let broken = |at: usize| (format!("broken-{at}"), "<trace-query-result>".to_owned());
    let files = (0..count).map(broken);
    files.fold(base(), |export, (name, text)| export.with(&name, text))
}

/// Returns a log with two command buffers and these lines.
fn logged(lines: &str) -> Input {
    logged_with("", lines)
}

/// Returns a log of a program with these arguments.
fn logged_with(arguments: &str, lines: &str) -> Input {
    // They come after all else, and no number is missing.
    let counted = lines.matches("\"command_buffer\"").count();
    let few = [1, 2].map(|more| {
        let encoders = encoder("", "\"k\":1");
        buffer_at(counted + more, 1_000_000 + more, &encoders)
    });
    let buffers = counted + 2;
    let text = format!(
        "{{\"format\":\"command-buffer-log/1\",\"program\":\"bench\",\"pid\":1,\"arguments\":[{arguments}]}}\n\
         {lines}{}{{\"end\":90000000000,\"command_buffers\":{buffers}}}\n",
        few.concat()
    );
    let mut input = Input::new();
    input.files.insert(LOG.to_owned(), text);
    input
}

fn each(count: usize, item: impl Fn(usize) -> String) -> String {
    let items: Vec<String> = (0..count).map(item).collect();
    items.join(",")
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (1..=count).map(line).collect()
}

fn buffer(number: usize, encoders: &str) -> String {
    buffer_at(number, number, encoders)
}

fn buffer_at(number: usize, place: usize, encoders: &str) -> String {
    let at = 10_000 * place;
    let [start, end, done] = [3_000, 9_000, 9_100].map(|later| at + later);
    let encoders = if encoders.is_empty() {
        String::new()
    } else {
        format!(",\"encoders\":[{encoders}]")
    };
    format!(
        "{{\"command_buffer\":{number},\"thread\":7,\"commit\":{at},\"gpu_start\":{start},\
         \"gpu_end\":{end},\"completed\":{done}{encoders}}}\n"
    )
}

fn failed(number: usize) -> String {
    format!(
        "{{\"command_buffer\":{number},\"commit\":{},\"error\":\"e{number}\"}}\n",
        10_000 * number
    )
}

fn encoder(label: &str, kernels: &str) -> String {
    format!("{{\"kind\":\"compute\",\"label\":\"{label}\",\"kernels\":{{{kernels}}}}}")
}

fn wait(buffer: usize, number: usize) -> String {
    let [start, end] = [100, 9_200].map(|later| 10_000 * number + later);
    format!("{{\"wait\":{buffer},\"start\":{start},\"end\":{end},\"thread\":{number}}}\n")
}

fn phase(name: &str, number: usize) -> String {
    let [start, end] = [100, 9_200].map(|later| 10_000 * number + later);
    format!("{{\"phase\":\"{name}\",\"start\":{start},\"end\":{end}}}\n")
}
