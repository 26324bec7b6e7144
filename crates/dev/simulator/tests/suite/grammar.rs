//! Tests that the documents have the grammar of the real ones.

use std::collections::{BTreeMap, HashMap, HashSet};

use metalens_simulator::{Scenario, Table, TruthFile, presets, random_scenario};

use crate::folder::exported;
use crate::xml::{self, Element};

/// Returns scenarios that are small enough to read completely.
fn scenarios() -> impl Iterator<Item = Scenario> {
    let small = presets().iter().filter(|preset| preset.name != "million");
    small
        .map(|preset| preset.scenario().unwrap())
        .chain((0..150).map(random_scenario))
}

/// Every scenario is written once for all of these checks, because writing and reading it takes long.
#[test]
fn the_documents_of_every_scenario_are_right() {
    for scenario in scenarios() {
        let files = exported(&scenario);
        let of_run = |name: &&String| name.ends_with(".xml") && *name != "toc.xml";
        let named = files.keys().filter(of_run);
        let tables: BTreeMap<&str, xml::Table> = named
            .map(|name| (name.as_str(), xml::table(&files[name])))
            .collect();

        rows_are_in_order(&tables, &scenario);
        the_table_of_contents_lists_every_document_at_its_xpath(&tables, &files["toc.xml"]);
        depth_counts_earlier_rows_of_the_channel_that_reach_the_start(&tables, &scenario);
        active_and_idle_tile_the_time_from_first_to_last_event(&tables, &scenario);
    }
}

fn rows_are_in_order(tables: &BTreeMap<&str, xml::Table>, scenario: &Scenario) {
    for (name, table) in tables {
        assert_eq!(
            name.split('.').next(),
            Some(table.name.as_str()),
            "{}",
            scenario.name
        );
        let starts = table.rows.iter().map(|row| row[0].number());
        assert!(starts.is_sorted(), "{} {name}", scenario.name);
    }
}

#[test]
fn rows_are_one_per_line_and_the_first_follows_the_schema() {
    let files = exported(&Scenario::preset("eager").unwrap());
    let text = &files["metal-gpu-intervals.xml"];
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "<?xml version=\"1.0\"?>");
    assert!(lines[2].starts_with("<node xpath='//trace-toc[1]/run[1]/data[1]/table["));
    assert!(lines[2].contains("</schema><row>") && lines[2].ends_with("</row>"));
    assert!(lines[3].starts_with("<row>") && lines[3].ends_with("</row>"));
    assert!(text.ends_with("</row>\n</node></trace-query-result>\n"));
    let empty = &files["metal-shader-profiler-intervals.xml"];
    assert!(empty.ends_with("</schema></node></trace-query-result>\n"));
}

fn the_table_of_contents_lists_every_document_at_its_xpath(
    tables: &BTreeMap<&str, xml::Table>,
    toc: &str,
) {
    let toc = xml::parse(toc);
    let runs: Vec<&Element> = toc.all("run").collect();
    for (name, table) in tables {
        let numbers: Vec<usize> = table
            .xpath
            .split(['[', ']'])
            .filter_map(|part| part.parse().ok())
            .collect();
        let [1, run, 1, position] = numbers[..] else {
            panic!("{}", table.xpath)
        };
        let listed = &runs[run - 1].child("data").children[position - 1];
        assert_eq!(listed.attribute("schema"), table.name, "{name}");
    }
}

#[test]
fn the_table_of_contents_has_the_facts_of_the_recording() {
    let files = exported(&Scenario::preset("no-target-rows").unwrap());
    let toc = xml::parse(&files["toc.xml"]);
    let info = toc.child("run").child("info");
    let target = info.child("target");
    assert_eq!(target.child("device").attribute("name"), "Synthetic Mac");
    assert_eq!(target.child("process").attribute("return-exit-status"), "4");
    assert_eq!(target.child("process").attribute("type"), "launched");
    assert_eq!(
        info.child("summary").child("template-name").text,
        "Metal System Trace"
    );
    let duration = &info.child("summary").child("duration").text;
    assert_eq!(duration.split_once('.').unwrap().1.len(), 6);
}

#[test]
fn the_process_column_refers_into_the_label() {
    let files = exported(&Scenario::preset("eager").unwrap());
    let first = files["metal-gpu-intervals.xml"]
        .lines()
        .find(|line| line.contains("<row>"))
        .unwrap();
    let (label, after) = first.split_once("</formatted-label>").unwrap();
    assert!(label.contains("<process id=") && label.contains("<device-session id="));
    assert!(after.contains("<process ref="));
}

/// Returns the label of the first row in a scenario of a generation.
fn first_label(xcode: &str) -> String {
    let toml = format!(
        "xcode = \"{xcode}\"\n[[process]]\nname = \"a (b)\"\npid = 12\nrole = \"target\"\n\
         [[process.stream]]\ncount = 1\nduration = \"1us\""
    );
    let files = exported(&Scenario::from_toml(&toml).unwrap());
    let table = xml::table(&files["metal-gpu-intervals.xml"]);
    assert_eq!(table.documentation.is_some(), xcode == "27");
    let completed = xml::table(&files["metal-command-buffer-completed.xml"]);
    let commit_type = if xcode == "27" { "uint64" } else { "uint32" };
    assert_eq!(completed.columns[2].2, commit_type);
    table.rows[0][table.column("event-label")].fmt().to_owned()
}

#[test]
fn labels_are_spaced_as_in_their_generation() {
    let spaced = "Command Buffer 0:Compute Command 0      ( a (b) (12) )  0xd1690001";
    assert_eq!(first_label("26.0"), spaced);
    assert_eq!(first_label("27"), spaced);
    assert_eq!(
        first_label("16"),
        "Command Buffer 0:Compute Command 0   (a (b) (12)) 0xd1690001"
    );
}

#[test]
fn unattributed_rows_have_no_process_no_latency_and_no_ids() {
    let files = exported(&Scenario::preset("awkward").unwrap());
    let table = xml::table(&files["metal-gpu-intervals.xml"]);
    let cell = |row: &'_ [Element], name: &str| row[table.column(name)].clone();
    let mut unattributed = 0;

    for row in &table.rows {
        let none = cell(row, "process").tag == "sentinel";
        unattributed += u64::from(none);
        assert_eq!(cell(row, "start-latency").tag == "sentinel", none);
        assert_eq!(cell(row, "cmdbuffer-id").number() == 0, none);
        assert_eq!(cell(row, "encoder-id").number() == 0, none);
        assert_eq!(cell(row, "event-label").fmt().contains("( n/a )"), none);
        let submission = format!("{:#x}", cell(row, "gpu-submission-id").number());
        assert!(cell(row, "event-label").fmt().ends_with(&submission));
    }
    assert_eq!(unattributed, truth(&files).runs[0].counts.unattributed);
}

fn truth(files: &BTreeMap<String, String>) -> TruthFile {
    serde_json::from_str(&files["truth.json"]).unwrap()
}

fn depth_counts_earlier_rows_of_the_channel_that_reach_the_start(
    tables: &BTreeMap<&str, xml::Table>,
    scenario: &Scenario,
) {
    // Each row is compared with all before it.
    if scenario.intervals_planned() >= 1_000 {
        return;
    }
    for (name, table) in tables {
        if !name.starts_with("metal-gpu-intervals") {
            continue;
        }
        let mut earlier: HashMap<&str, Vec<u64>> = HashMap::new();
        for row in &table.rows {
            let (start, end) = (row[0].number(), row[0].number() + row[1].number());
            let ends = earlier.entry(row[2].text.as_str()).or_default();
            let reaching = ends.iter().filter(|end| **end >= start).count();
            assert_eq!(row[5].number(), reaching as u64, "{}", scenario.name);
            ends.push(end);
        }
    }
}

fn active_and_idle_tile_the_time_from_first_to_last_event(
    tables: &BTreeMap<&str, xml::Table>,
    scenario: &Scenario,
) {
    if scenario.runs != 1 {
        return;
    }
    let rows = &tables["metal-gpu-intervals.xml"].rows;
    let states = &tables["metal-gpu-state-intervals.xml"].rows;
    let start = |row: &Vec<Element>| row[0].number();
    let end = |row: &Vec<Element>| row[0].number() + row[1].number();
    assert_eq!(states.first().map(start), rows.iter().map(start).min());
    assert_eq!(states.last().map(end), rows.iter().map(end).max());
    for pair in states.windows(2) {
        assert_eq!(end(&pair[0]), start(&pair[1]));
    }
    for state in states {
        assert_eq!(state[5].number() > 0, state[2].text == "Active");
    }
}

#[test]
fn the_tables_join() {
    let files = exported(&Scenario::preset("batched").unwrap());
    let ids = |table: Table, column: &str| {
        let table = xml::table(&files[&format!("{}.xml", table.name())]);
        let at = table.column(column);
        table
            .rows
            .iter()
            .map(|row| row[at].number())
            .collect::<Vec<_>>()
    };

    let set = |ids: Vec<u64>| ids.into_iter().collect::<HashSet<_>>();
    let encoders = set(ids(Table::MetalGpuIntervals, "encoder-id"));
    assert_eq!(
        encoders,
        set(ids(Table::MetalApplicationEncodersList, "encoder-id"))
    );
    assert_eq!(
        encoders,
        set(ids(
            Table::MetalGpuSubmissionToCommandBufferId,
            "encoder-id"
        ))
    );
    let buffers = set(ids(Table::MetalGpuIntervals, "cmdbuffer-id"));
    assert_eq!(
        buffers,
        set(ids(Table::MetalCommandBufferCompleted, "cmdbuffer-id"))
    );
    assert_eq!(
        buffers,
        set(ids(
            Table::MetalApplicationCommandBufferSubmissions,
            "cmdbuffer-id"
        ))
    );
    let objects = set(ids(Table::MetalObjectLabel, "object-id"));
    assert_eq!(objects, &encoders | &buffers);
    let submissions = ids(Table::MetalGpuIntervals, "gpu-submission-id");
    assert_eq!(
        ids(Table::MetalGpuExecutionPoints, "gpu-submission-id").len(),
        2 * submissions.len()
    );
}

#[test]
fn a_24_mhz_clock_shows_only_whole_ticks() {
    let files = exported(&Scenario::preset("awkward").unwrap());
    let is_tick = |ns: u64| (ns * 24).div_ceil(1_000) * 1_000 / 24 == ns;
    for row in xml::table(&files["metal-gpu-intervals.xml"]).rows {
        assert!(
            is_tick(row[0].number()) && is_tick(row[1].number()),
            "{row:?}"
        );
        assert!(row[1].number() > 0);
    }
}
