//! Tests statements that are refused, rewritten, or too long.

use metalens_query::{Error, Library};

use super::{ask_one, dataset_of, preset, rows};

/// The parser takes everything after IS DISTINCT FROM as its right side; the check corrects that.
#[test]
fn is_distinct_from_ends_before_and_and_or() {
    let (_dataset, library) = dataset_of(&preset("eager"));
    let count = |condition: &str| {
        let sql = format!("SELECT count(*) FROM gaps WHERE {condition}");
        ask_one(&library, &sql).concat()
    };
    for (written, meant) in [
        (
            "serialized IS NOT DISTINCT FROM true AND duration_ns > 200000",
            "(serialized IS NOT DISTINCT FROM true) AND duration_ns > 200000",
        ),
        (
            "duration_ns > 50000 AND serialized IS DISTINCT FROM false OR duration_ns < 10000",
            "(duration_ns > 50000 AND (serialized IS DISTINCT FROM false)) OR duration_ns < 10000",
        ),
        (
            "NOT cause IS DISTINCT FROM 'host' OR cause IS DISTINCT FROM 'submission' AND true",
            "(NOT (cause IS DISTINCT FROM 'host')) OR ((cause IS DISTINCT FROM 'submission') AND true)",
        ),
        (
            "cause IS DISTINCT FROM 'host' AND cause IS DISTINCT FROM 'submission' OR false",
            "((cause IS DISTINCT FROM 'host') AND (cause IS DISTINCT FROM 'submission')) OR false",
        ),
    ] {
        assert_eq!(count(written), count(meant), "{written}");
    }
}

#[test]
fn anything_but_one_select_of_the_tables_is_refused() {
    let library = Library::new();
    for sql in [
        "DROP TABLE runs",
        "DELETE FROM runs",
        "CREATE TABLE a AS SELECT * FROM runs",
        "COPY runs TO 'a'",
        "EXPLAIN SELECT 1",
        "SELECT 1; SELECT 2",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_parquet('a')",
        "WITH a AS (SELECT * FROM scan_parquet('a')) SELECT * FROM a",
        "SELECT (SELECT count(*) FROM read_json('a')) AS n",
    ] {
        let error = library.ask(sql).err();
        let refused = matches!(error, Some(Error::Refused(_) | Error::Syntax(_)));
        assert!(refused, "{sql}: {error:?}");
    }
    for sql in ["SELECT * FROM '/etc/passwd'", "SELECT * FROM \"a.csv\""] {
        let error = library.ask(sql).err();
        assert!(matches!(error, Some(Error::Unknown(_))), "{sql}: {error:?}");
    }
}

#[test]
fn an_unknown_name_gets_a_hint_with_a_similar_one() {
    let (_dataset, library) = dataset_of(&preset("eager"));
    for (sql, near) in [
        ("SELECT durtion_ns FROM gaps", "did you mean `duration_ns`?"),
        ("SELECT * FROM gap", "did you mean `gaps`?"),
        ("SELECT r.busy FROM runs r", "busy_ns"),
    ] {
        let error = library.ask(sql).err().unwrap();
        assert!(error.is_usage(), "{error:?}");
        let hint = error.hint().unwrap_or_default();
        assert!(hint.contains(near), "{sql}: {error}\n{hint}");
    }
}

/// Statements that nest or expand too far are refused, before they exhaust the stack or memory.
#[test]
fn too_large_statements_are_refused() {
    let library = Library::new();
    let terms = vec!["1"; 20_000].join("+");
    let unions = vec!["SELECT 1 AS a"; 5_000].join(" UNION ALL ");
    let mut chain = "WITH a0 AS (SELECT run FROM runs)".to_owned();
    for at in 1..30 {
        let before = at - 1;
        chain += &format!(
            ", a{at} AS (SELECT x.run FROM a{before} x JOIN a{before} y ON x.run = y.run)"
        );
    }
    let parentheses = format!("SELECT {}1{}", "(".repeat(1_500), ")".repeat(1_500));
    for sql in [
        format!("SELECT {terms}"),
        unions,
        format!("{chain} SELECT count(*) FROM a29"),
        parentheses,
    ] {
        let error = library.ask(&sql).err();
        assert!(error.is_some_and(|error| error.is_usage()), "{}", sql.len());
    }
}

/// Rows without ORDER BY are sorted by all columns, so that a query has one answer.
#[test]
fn rows_without_order_by_are_sorted() {
    let (_dataset, library) = dataset_of(&preset("renderer"));
    let sql = "SELECT cause, count(*) AS n FROM gaps GROUP BY cause";
    let first = rows(&library.ask(sql).unwrap());
    let mut sorted = first.clone();
    sorted.sort();
    assert_eq!(first, sorted);
    for _ in 0..5 {
        assert_eq!(rows(&library.ask(sql).unwrap()), first);
    }
}
