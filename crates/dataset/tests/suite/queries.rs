//! What can be asked, and what is said when it cannot.

use metalens_dataset::{Choices, Error, Library, write};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

use super::{ask_one, preset, rows, stored};

fn library() -> Library {
    let mut library = Library::new();
    for name in ["eager", "fused", "renderer"] {
        library
            .add_analysis(&preset(name), Choices::default())
            .unwrap();
    }
    library
}

/// The laws of SQL on these tables, each side a query of its own.
#[test]
fn answers_agree_with_each_other() {
    let library = library();
    for (one, other) in [
        (
            "SELECT run, sum(instances) AS n FROM kernels GROUP BY run ORDER BY run",
            "SELECT run, interval_count AS n FROM runs ORDER BY run",
        ),
        (
            "SELECT r.run, sum(g.duration_ns) FROM runs r JOIN gaps g ON r.run = g.run GROUP BY r.run",
            "SELECT run, gaps_ns FROM runs ORDER BY run",
        ),
        (
            "WITH long AS (SELECT * FROM gaps WHERE duration_ns > 10000) SELECT count(*) FROM long",
            "SELECT sum(CASE WHEN duration_ns > 10000 THEN 1 ELSE 0 END) FROM gaps",
        ),
        (
            "SELECT count(*) FROM (SELECT run FROM kernels UNION ALL SELECT run FROM runs) AS a",
            "SELECT sum(kernel_count) + count(*) AS n FROM runs",
        ),
        (
            "SELECT max(end_ns) FROM intervals WHERE role = 'target' AND channel = 'Compute'",
            "SELECT end_ns FROM intervals WHERE 'target' = role AND channel = 'Compute' ORDER BY end_ns DESC LIMIT 1",
        ),
        (
            "SELECT count(*) FROM (SELECT * FROM gaps LIMIT 5) AS five WHERE duration_ns >= 0",
            "SELECT 5 AS n FROM runs LIMIT 1",
        ),
        (
            "SELECT kernel FROM kernels ORDER BY total_ns DESC, kernel LIMIT 1",
            "SELECT kernel FROM kernels WHERE total_ns IN (SELECT max(total_ns) FROM kernels) ORDER BY kernel LIMIT 1",
        ),
    ] {
        let [left, right] = [one, other].map(|sql| match library.ask(sql) {
            Ok(answer) => rows(&answer),
            Err(error) => panic!("{sql}: {error}"),
        });
        assert_eq!(left, right, "{one}\n{other}");
    }
}

/// What DuckDB answers, of
///
/// ```text
/// a: k av    b: bv k    c: k cv
///    1 x        10 2       3  7
///    2 y        20 3       9  8
/// ```
#[test]
fn using_makes_one_column_of_two() {
    let library = library();
    let tables = "WITH a AS (SELECT 1 AS k, 'x' AS av UNION ALL SELECT 2, 'y'), \
                  b AS (SELECT 10 AS bv, 2 AS k UNION ALL SELECT 20, 3), \
                  c AS (SELECT 3 AS k, 7 AS cv UNION ALL SELECT 9, 8)";
    let check = |sql: &str, names: &[&str], expected: &[&[&str]]| {
        let answer = library
            .ask(&format!("{tables} {sql}"))
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
        let columns = answer.columns();
        let found: Vec<&str> = columns.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(found, names, "{sql}");
        assert_eq!(rows(&answer), expected, "{sql}");
    };
    let names = ["k", "av", "bv"];
    check(
        "SELECT * FROM a JOIN b USING (k)",
        &names,
        &[&["2", "y", "10"]],
    );
    check(
        "SELECT * FROM a LEFT JOIN b USING (k)",
        &names,
        &[&["1", "x", "null"], &["2", "y", "10"]],
    );
    for join in ["RIGHT JOIN b USING (k)", "NATURAL RIGHT JOIN b"] {
        check(
            &format!("SELECT * FROM a {join}"),
            &names,
            &[&["2", "y", "10"], &["3", "null", "20"]],
        );
    }
    for join in ["FULL JOIN b USING (k)", "NATURAL FULL JOIN b"] {
        check(
            &format!("SELECT * FROM a {join}"),
            &names,
            &[&["1", "x", "null"], &["2", "y", "10"], &["3", "null", "20"]],
        );
    }
    check(
        "SELECT b.*, a.* FROM a NATURAL RIGHT JOIN b",
        &["bv", "k", "k_1", "av"],
        &[&["10", "2", "2", "y"], &["20", "3", "null", "null"]],
    );
    check(
        "SELECT a.k AS one, b.k AS other, k FROM a FULL JOIN b USING (k) ORDER BY k",
        &["one", "other", "k"],
        &[&["1", "null", "1"], &["2", "2", "2"], &["null", "3", "3"]],
    );
    check(
        "SELECT * FROM a FULL JOIN b USING (k) WHERE a.k IS NULL GROUP BY k, av, bv",
        &names,
        &[&["3", "null", "20"]],
    );
    for join in ["RIGHT", "NATURAL RIGHT"] {
        let using = |table: &str| match join {
            "RIGHT" => format!("RIGHT JOIN {table} USING (k)"),
            _ => format!("NATURAL RIGHT JOIN {table}"),
        };
        check(
            &format!("SELECT * FROM a {} {}", using("b"), using("c")),
            &["k", "av", "bv", "cv"],
            &[&["3", "null", "20", "7"], &["9", "null", "null", "8"]],
        );
    }
    check(
        "SELECT k, j.av, cv FROM (a FULL JOIN b USING (k)) AS j JOIN c USING (k)",
        &["k", "av", "cv"],
        &[&["3", "null", "7"]],
    );
    check(
        "SELECT * FROM c RIGHT JOIN (a FULL JOIN b USING (k)) USING (k)",
        &["k", "cv", "av", "bv"],
        &[
            &["1", "null", "x", "null"],
            &["2", "null", "y", "10"],
            &["3", "7", "null", "20"],
        ],
    );
    check(
        "SELECT * FROM a FULL JOIN (SELECT 2.5 AS k) AS d USING (k)",
        &["k", "av"],
        &[&["1.0", "x"], &["2.0", "y"], &["2.5", "null"]],
    );
    // Nothing is shared, which DuckDB refuses: every row of the right side is kept.
    check(
        "SELECT * FROM (SELECT av FROM a WHERE k > 5) AS e NATURAL RIGHT JOIN (SELECT cv FROM c) AS f",
        &["av", "cv"],
        &[&["null", "7"], &["null", "8"]],
    );
}

/// A column that is of one kind to the reader of a file is of that kind in it, too.
#[test]
fn a_file_has_the_kinds_that_are_shown() {
    let sql = "SELECT * FROM (SELECT 1 AS k) AS a FULL JOIN (SELECT 2.5 AS k) AS b USING (k)";
    let answer = library().ask(sql).unwrap();
    let mut file = tempfile::tempfile().unwrap();
    answer.write_parquet(&mut file, "a file".as_ref()).unwrap();
    let file = SerializedFileReader::new(file).unwrap();
    let rows = file.get_row_iter(None).unwrap();
    let numbers: Vec<f64> = rows
        .map(|row| row.unwrap().get_double(0).unwrap())
        .collect();
    assert_eq!(numbers, [1.0, 2.5]);
}

#[test]
fn the_same_question_has_one_answer() {
    let sql = "SELECT kernel, channel, sum(total_ns) FROM kernels GROUP BY kernel, channel";
    let first = rows(&library().ask(sql).unwrap());
    assert!(first.len() > 3 && first.is_sorted());
    for _ in 0..5 {
        assert_eq!(rows(&library().ask(sql).unwrap()), first);
    }
}

#[test]
fn a_run_counts_once_however_often_it_is_named() {
    let dataset = tempfile::tempdir().unwrap();
    write(&preset("eager"), dataset.path(), Choices::default()).unwrap();
    let mut library = stored(dataset.path());
    library
        .add_analysis(&preset("eager"), Choices::default())
        .unwrap();
    library
        .add_analysis(&preset("fused"), Choices::default())
        .unwrap();
    assert_eq!((library.len(), library.twice().len()), (2, 1));
    assert_eq!(
        ask_one(&library, "SELECT count(*), count(DISTINCT run) FROM runs"),
        ["2", "2"]
    );
}

#[test]
fn what_is_wrong_with_a_query_is_said() {
    let library = library();
    let check = |sql: &str, expected: &str, hint: &str| {
        let Err(error) = library.ask(sql) else {
            panic!("{sql} was answered");
        };
        assert!(error.to_string().contains(expected), "{sql}: {error}");
        let said = error.hint().unwrap_or_default();
        assert!(said.contains(hint), "{sql}: {said}");
    };
    check(
        "SELECT nosuch FROM runs",
        "there is no column `nosuch` (line 1, column 8",
        "runs has device, date, run",
    );
    check(
        "SELECT durations_ns FROM gaps",
        "no column `durations_ns`",
        "did you mean duration_ns",
    );
    check("SELECT g.nosuch FROM gaps g", "no column `nosuch`", "g has");
    check("SELECT * FROM gap", "no table `gap`", "did you mean gaps?");
    check(
        "SELECT count( FROM runs",
        "no SQL that can be read",
        "the tables are runs",
    );
    check(
        "SELECT nosuch(run) FROM runs",
        "there is no function nosuch()",
        "",
    );
    check("SELECT maxx(run) FROM runs", "did you mean max?", "");
    check(
        "SELECT * FROM gaps WHERE duration_ns = 'long'",
        "`duration_ns = 'long'` compares a whole number with text (line 1, column 26",
        "",
    );
    check(
        "SELECT * FROM runs WHERE date > 'yesterday'",
        "'yesterday' is no date: write 'YYYY-MM-DD'",
        "",
    );
    check(
        "SELECT run FROM runs r JOIN gaps g ON r.run = g.run",
        "`run` may be r.run or g.run: say which (line 1, column 8",
        "",
    );
    check(
        "SELECT cause, duration_ns FROM gaps GROUP BY cause",
        "`duration_ns` is neither in GROUP BY nor inside an aggregate (line 1, column 15",
        "",
    );
    check(
        "SELECT run FROM runs WHERE busy_ns",
        "is a whole number, and no condition",
        "",
    );
    check(
        "SELECT run FROM runs WHERE sum(busy_ns) > 1",
        "sum() cannot stand here",
        "",
    );
    check(
        "SELECT lower(busy_ns) FROM runs",
        "lower(text) was called with a whole number",
        "",
    );
    check(
        "SELECT run FROM runs r WHERE EXISTS (SELECT 1 FROM gaps g WHERE g.run = r.run)",
        "`run` is of the query around this one",
        "",
    );
    check(
        "SELECT (SELECT run FROM runs) FROM runs",
        "has more than one row",
        "",
    );
    check(
        "SELECT run FROM runs UNION SELECT run, date FROM runs",
        "one side has 1 columns",
        "",
    );
    check(
        "SELECT 9223372036854775807 + busy_ns FROM runs",
        "is beyond 64 bits",
        "",
    );
    check(
        "SELECT sum(9000000000000000000) FROM gaps",
        "is beyond 64 bits",
        "",
    );
    check(
        "SELECT CAST(run AS BIGINT) FROM runs",
        "cannot become a whole number",
        "",
    );
    check(
        "SELECT run FROM runs ORDER BY 3",
        "there is no column 3: the query shows 1",
        "",
    );
    check(
        "SELECT count(*) FROM intervals a, intervals b, intervals c",
        "a join without `column = column` would compare",
        "",
    );
    check(
        "SELECT 1 FROM runs a LEFT JOIN gaps g ON a.run = g.run AND a.busy_ns > g.start_ns",
        "put the rest into WHERE",
        "",
    );
    check(
        "SELECT kernel ~ '(' FROM kernels",
        "'(' is no regular expression",
        "",
    );
    for call in ["ntile(2, 3)", "lag(run, 1, 'none', 4)", "rank(run)"] {
        check(
            &format!("SELECT {call} OVER (ORDER BY run) FROM runs"),
            "has other arguments than it takes",
            "",
        );
    }
    check(
        "SELECT concat_or_null(run, run) FROM runs",
        "there is no function concat_or_null(); did you mean concat?",
        "",
    );
    check(
        "SELECT run FROM runs ORDER BY run FOR UPDATE",
        "FOR UPDATE is not known here",
        "",
    );
    check(
        "SELECT DISTINCT ON (run) run FROM runs",
        "DISTINCT ON is not known here",
        "",
    );
    check(
        "SELECT run FROM runs UNION SELECT kernel FROM kernels ORDER BY 2",
        "there is no column 2: the query shows 1",
        "",
    );
    check(
        "SELECT k FROM (SELECT 1 AS k) AS a FULL JOIN (SELECT 2 AS k) AS b USING (k) \
         JOIN (SELECT 2 AS k) AS c ON true",
        "`k` may be a.k or c.k: say which",
        "",
    );
    check(
        "SELECT nosuch FROM (SELECT 1 AS k) AS a FULL JOIN (SELECT 2 AS k) AS b USING (k)",
        "no column `nosuch`",
        "a has k; b has k",
    );
    check(
        "SELECT sum(run) + 1 FROM runs GROUP",
        "no SQL that can be read",
        "",
    );
    let refused = library
        .ask("SELECT * FROM read_csv('/etc/passwd')")
        .err()
        .unwrap();
    assert!(matches!(refused, Error::Refused { .. }) && refused.is_usage());
}

#[test]
fn forms_of_an_answer() {
    let library = library();
    let sql = "SELECT 9007199254740993 AS big, 0.5 AS half, NULL AS none, 'a,\"b' AS text, '' AS empty, \
               true AS flag FROM runs LIMIT 2";
    let answer = library.ask(sql).unwrap();
    let mut csv = Vec::new();
    answer.write_csv(&mut csv).unwrap();
    let line = "9007199254740993,0.5,,\"a,\"\"b\",\"\",true\n";
    let expected = format!("big,half,none,text,empty,flag\n{line}{line}");
    assert_eq!(String::from_utf8(csv).unwrap(), expected);
    let mut json = Vec::new();
    answer.write_json(&mut json).unwrap();
    let parsed: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let row = serde_json::json!({
        "big": 9_007_199_254_740_993_i64, "half": 0.5, "none": null, "text": "a,\"b", "empty": "",
        "flag": true
    });
    assert_eq!(parsed, serde_json::json!([row, row]));
    let none = library
        .ask("SELECT run FROM runs WHERE busy_ns < 0")
        .unwrap();
    let mut json = Vec::new();
    none.write_json(&mut json).unwrap();
    assert_eq!(String::from_utf8(json).unwrap(), "[\n]\n");
}

/// Differences of times may be negative.
#[test]
fn times_can_be_subtracted() {
    let library = library();
    let one = ask_one(
        &library,
        "SELECT min(start_ns - end_ns) <= 0, max(start_ns) - min(start_ns) >= 0 FROM gaps",
    );
    assert_eq!(one, ["true", "true"]);
}
