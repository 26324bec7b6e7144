//! What a query says, before it is asked: that it only reads, and only from the
//! tables there are. Which identifier it is that nobody knows, when it fails.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, Ident, ObjectName, ObjectNamePart, OrderBy, OrderByExpr,
    OrderByKind, OrderByOptions, Query, Select, SelectItem, SetExpr, Statement, TableAlias,
    TableFactor, Visit, VisitMut, Visitor, VisitorMut,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserOptions};

use crate::error::{Error, Place, Result};
use crate::tables::Which;

/// How much polars may do with a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Everything.
    Whole,
    /// It does not hand conditions to a scan.
    NoConditions,
    /// It does not change the query at all, and reads more than it needs.
    Plain,
}

/// A query that may be asked.
pub(crate) struct Asked {
    query: Query,
    found: Names,
}

impl Asked {
    /// Reads a query, and refuses what is more than that.
    pub(crate) fn parse(sql: &str) -> Result<Self> {
        let options = ParserOptions {
            trailing_commas: true,
            ..ParserOptions::default()
        };
        let syntax = |error: sqlparser::parser::ParserError| Error::Syntax {
            why: error
                .to_string()
                .trim_start_matches("sql parser error: ")
                .to_owned(),
        };
        let parser = Parser::new(&GenericDialect).with_options(options);
        let mut parser = parser.try_with_sql(sql).map_err(syntax)?;
        let statements = parser.parse_statements().map_err(syntax)?;
        let query = match <[Statement; 1]>::try_from(statements) {
            Ok([Statement::Query(query)]) => *query,
            Ok([other]) => return Err(refused(&other)),
            Err(several) => {
                let why = format!("there are {} statements, not one", several.len());
                return Err(Error::Syntax { why });
            }
        };
        let mut found = Names::default();
        if let ControlFlow::Break(what) = Visit::visit(&query, &mut found) {
            return Err(Error::Refused { what });
        }
        found.check_tables()?;
        Ok(Self { query, found })
    }

    /// The query as it is to be asked: where the order of its rows would be left
    /// to chance, it is by all columns, so that the same question has one answer.
    fn ordered(&self) -> Option<String> {
        let mut query = self.query.clone();
        name_columns(&mut query);
        let columns = match query.body.as_ref() {
            SetExpr::Select(select) if !shuffles(select) => return None,
            SetExpr::Select(select) => named_columns(select),
            _ => None,
        };
        match &mut query.order_by {
            None => {
                query.order_by = Some(OrderBy {
                    kind: OrderByKind::All(OrderByOptions::default()),
                    interpolate: None,
                });
            }
            // What the wanted order leaves equal, by the columns' places.
            Some(OrderBy {
                kind: OrderByKind::Expressions(by),
                ..
            }) => by.extend((1..=columns?).map(by_place)),
            Some(_) => return None,
        }
        Some(query.to_string())
    }

    /// What to ask, in which way, until there is an answer. Lists have no order to
    /// be sorted by; some conditions cannot be handed to a scan; one optimisation, of
    /// counting a UNION, wants numbers of 128 bits, which are left out.
    pub(crate) fn attempts(&self) -> Vec<(String, Mode)> {
        let mut named = self.query.clone();
        name_columns(&mut named);
        let asked = [
            self.ordered(),
            Some(named.to_string()),
            Some(self.query.to_string()),
        ];
        let modes = [Mode::Whole, Mode::NoConditions, Mode::Plain];
        let all = modes
            .into_iter()
            .flat_map(|mode| asked.iter().flatten().map(move |sql| (sql, mode)));
        all.map(|(sql, mode)| (sql.clone(), mode)).collect()
    }

    /// Why the query failed, if that is a column that no table of its has.
    pub(crate) fn unknown_column(&self) -> Option<Error> {
        let tables = self.found.tables();
        let columns = |which: Which| -> (String, Vec<String>) {
            let columns = which.columns().into_iter().map(|one| one.name.to_owned());
            (which.name().to_owned(), columns.collect())
        };
        let there_are: Vec<(String, Vec<String>)> = tables.into_iter().map(columns).collect();
        let all = || there_are.iter().flat_map(|(_, columns)| columns);
        let is_known = |ident: &Ident| {
            let name = ident.value.as_str();
            all().any(|column| column == name) || self.found.given.iter().any(|one| one == name)
        };
        let unknown = self.found.columns.iter().find(|ident| !is_known(ident))?;
        let mut near = nearest(&unknown.value, all().map(String::as_str));
        near.dedup();
        Some(Error::UnknownColumn {
            name: unknown.value.clone(),
            place: place(unknown),
            near,
            there_are,
        })
    }
}

/// What has no name is called as it is written: `sum(busy_ns)`.
fn name_columns(query: &mut Query) {
    // It never breaks off.
    let _ = VisitMut::visit(query, &mut Namer);
}

struct Namer;

impl VisitorMut for Namer {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expr) = item
                && !matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
            {
                let name = expr.to_string().replace('"', "");
                *item = SelectItem::ExprWithAlias {
                    expr: expr.clone(),
                    alias: Ident::with_quote('"', name),
                };
            }
        }
        ControlFlow::Continue(())
    }
}

fn refused(statement: &Statement) -> Error {
    let text = statement.to_string();
    let mut words = text.split_whitespace();
    let word = words.next().unwrap_or("that").to_uppercase();
    Error::Refused {
        what: format!("{word} is refused"),
    }
}

/// Whether polars may hand out the rows in any order.
fn shuffles(select: &Select) -> bool {
    let grouped = match &select.group_by {
        GroupByExpr::All(_) => true,
        GroupByExpr::Expressions(by, _) => !by.is_empty(),
    };
    let several = select.from.len() > 1 || select.from.iter().any(|one| !one.joins.is_empty());
    let nested = |factor: &TableFactor| match factor {
        TableFactor::Table { name, .. } => known_table(&name.to_string()).is_none(),
        _ => true,
    };
    let distinct = !matches!(select.distinct, None | Some(Distinct::All));
    grouped || several || distinct || select.from.iter().any(|one| nested(&one.relation))
}

/// How many columns a query has, if it names each.
fn named_columns(select: &Select) -> Option<usize> {
    let is_named = |item: &SelectItem| {
        matches!(
            item,
            SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. }
        )
    };
    let all = select.projection.iter().all(is_named);
    all.then_some(select.projection.len())
}

fn by_place(number: usize) -> OrderByExpr {
    OrderByExpr {
        expr: Expr::value(sqlparser::ast::Value::Number(number.to_string(), false)),
        options: OrderByOptions::default(),
        with_fill: None,
    }
}

/// The names that a query has.
#[derive(Default)]
struct Names {
    relations: Vec<Ident>,
    columns: Vec<Ident>,
    /// Names that the query itself gives.
    given: Vec<String>,
}

impl Names {
    fn give(&mut self, alias: &TableAlias) {
        self.given.push(alias.name.value.clone());
        self.given
            .extend(alias.columns.iter().map(|column| column.name.value.clone()));
    }

    fn tables(&self) -> Vec<Which> {
        let named = |which: &Which| {
            let mut relations = self.relations.iter();
            relations.any(|ident| known_table(&ident.value) == Some(*which))
        };
        Which::ALL.into_iter().filter(named).collect()
    }

    fn check_tables(&self) -> Result<()> {
        for ident in &self.relations {
            let name = ident.value.as_str();
            if known_table(name).is_some() || self.given.iter().any(|one| one == name) {
                continue;
            }
            let lower = name.to_lowercase();
            if lower.starts_with("read_") || lower.starts_with("scan_") {
                let what = format!("{lower}() would read other files");
                return Err(Error::Refused { what });
            }
            let tables = Which::ALL.map(Which::name);
            return Err(Error::UnknownTable {
                name: name.to_owned(),
                place: place(ident),
                near: nearest(name, tables.into_iter()).into_iter().next(),
            });
        }
        Ok(())
    }
}

fn known_table(name: &str) -> Option<Which> {
    Which::ALL.into_iter().find(|which| which.name() == name)
}

impl Visitor for Names {
    type Break = String;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<String> {
        for table in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.give(&table.alias);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<String> {
        for item in &select.projection {
            if let SelectItem::ExprWithAlias { alias, .. } = item {
                self.given.push(alias.value.clone());
            }
        }
        match select.into {
            Some(_) => ControlFlow::Break("SELECT INTO would write a table".to_owned()),
            None => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<String> {
        let parts = relation.0.iter().filter_map(ObjectNamePart::as_ident);
        let parts: Vec<&Ident> = parts.collect();
        match parts.as_slice() {
            [only] => self.relations.push((*only).clone()),
            _ => self.relations.push(Ident::new(relation.to_string())),
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<String> {
        let alias = match factor {
            TableFactor::Table { alias, .. }
            | TableFactor::Derived { alias, .. }
            | TableFactor::UNNEST { alias, .. } => alias,
            TableFactor::NestedJoin { alias, .. } => alias,
            TableFactor::Function { name, .. } => {
                return ControlFlow::Break(format!("the table function {name}() is refused"));
            }
            TableFactor::TableFunction { expr, .. } => {
                return ControlFlow::Break(format!("the table function {expr} is refused"));
            }
            _ => &None,
        };
        alias.iter().for_each(|alias| self.give(alias));
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<String> {
        match expr {
            Expr::Identifier(ident) => self.columns.push(ident.clone()),
            Expr::CompoundIdentifier(parts) => self.columns.extend(parts.last().cloned()),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn place(ident: &Ident) -> Place {
    let start = ident.span.start;
    Place((start.line > 0).then_some((start.line, start.column)))
}

/// The most alike names, at most three: those that begin alike or are spelled alike.
fn nearest<'n>(name: &str, all: impl Iterator<Item = &'n str>) -> Vec<String> {
    let name = name.to_lowercase();
    let distance = |other: &str| match other.contains(&name) || name.contains(other) {
        true => 1,
        false => edits(&name, other),
    };
    let mut near: Vec<(usize, &str)> = all.map(|one| (distance(one), one)).collect();
    near.retain(|&(distance, other)| distance <= 1 + other.len() / 5);
    near.sort_unstable();
    near.dedup();
    near.into_iter()
        .take(3)
        .map(|(_, one)| one.to_owned())
        .collect()
}

/// How many letters must be added, taken away or changed.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut before = i;
        let mut next = vec![i + 1];
        for (&y, &above) in b.iter().zip(row.iter().skip(1)) {
            let left = next.last().copied().unwrap_or_default();
            let changed = before + usize::from(x != y);
            next.push(changed.min(above + 1).min(left + 1));
            before = above;
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sql: &str, expected: &str) {
        let said = match Asked::parse(sql) {
            Ok(asked) => format!(
                "asked: {}",
                asked.ordered().unwrap_or_else(|| asked.query.to_string())
            ),
            Err(error) => error.to_string(),
        };
        assert_eq!(said, expected, "{sql}");
    }

    #[test]
    fn only_reading_is_allowed() {
        let refused =
            |what: &str| format!("{what}: a query can only SELECT from the tables that were named");
        for (sql, what) in [
            ("DROP TABLE runs", "DROP is refused"),
            ("CREATE TABLE a AS SELECT * FROM runs", "CREATE is refused"),
            ("DELETE FROM runs", "DELETE is refused"),
            ("INSERT INTO runs VALUES (1)", "INSERT is refused"),
            ("COPY runs TO 'a.csv'", "COPY is refused"),
            ("EXPLAIN SELECT * FROM runs", "EXPLAIN is refused"),
            (
                "SELECT * INTO a FROM runs",
                "SELECT INTO would write a table",
            ),
            (
                "SELECT * FROM read_parquet('/etc/passwd')",
                "read_parquet() would read other files",
            ),
            (
                "SELECT (SELECT count(*) FROM READ_CSV('a')) FROM runs",
                "read_csv() would read other files",
            ),
        ] {
            check(sql, &refused(what));
        }
    }

    #[test]
    fn tables_are_those_there_are() {
        check(
            "SELECT *\nFROM run",
            "there is no table `run` (line 2, column 6 of the query)",
        );
        check("SELECT * FROM 'a.parquet'", "there is no table `a.parquet`");
        check("SELECT * FROM a.runs", "there is no table `a.runs`");
        check(
            "WITH a AS (SELECT * FROM gaps) SELECT b.run FROM a AS b LIMIT 1",
            "asked: WITH a AS (SELECT * FROM gaps) SELECT b.run FROM a AS b ORDER BY ALL LIMIT 1",
        );
    }

    #[test]
    fn the_order_is_never_left_to_chance() {
        check("SELECT * FROM runs", "asked: SELECT * FROM runs");
        check(
            "SELECT run, sum(busy_ns) FROM runs GROUP BY run",
            "asked: SELECT run, sum(busy_ns) AS \"sum(busy_ns)\" FROM runs GROUP BY run ORDER BY ALL",
        );
        check(
            "SELECT run, count(*) AS n FROM gaps GROUP BY run ORDER BY n DESC LIMIT 2",
            "asked: SELECT run, count(*) AS n FROM gaps GROUP BY run ORDER BY n DESC, 1, 2 LIMIT 2",
        );
        check(
            "SELECT DISTINCT device FROM runs",
            "asked: SELECT DISTINCT device FROM runs ORDER BY ALL",
        );
    }

    #[test]
    fn bad_syntax_says_where() {
        check(
            "SELEC 1",
            "this is no SQL that can be read: Expected: an SQL statement, found: SELEC at Line: 1, \
             Column: 1",
        );
        check(
            "SELECT 1; SELECT 2",
            "this is no SQL that can be read: there are 2 statements, not one",
        );
    }

    #[test]
    fn a_column_that_is_not_there_has_neighbours() {
        let check = |sql: &str, expected: Option<(&str, &[&str])>| {
            let found = Asked::parse(sql).unwrap().unknown_column();
            let found = found.map(|error| match error {
                Error::UnknownColumn { name, near, .. } => (name, near),
                other => panic!("{other}"),
            });
            let expected = expected.map(|(name, near)| {
                (
                    name.to_owned(),
                    near.iter().map(ToString::to_string).collect(),
                )
            });
            assert_eq!(found, expected, "{sql}");
        };
        check(
            "SELECT duration FROM gaps",
            Some(("duration", &["duration_ns"])),
        );
        check(
            "SELECT g.durtion_ns FROM gaps g",
            Some(("durtion_ns", &["duration_ns"])),
        );
        check("SELECT xyz FROM gaps", Some(("xyz", &[])));
        check("SELECT cause AS why FROM gaps ORDER BY why", None);
    }

    #[test]
    fn edits_are_counted() {
        for (a, b, expected) in [
            ("", "", 0),
            ("a", "", 1),
            ("kitten", "sitting", 3),
            ("ab", "ba", 2),
        ] {
            assert_eq!(edits(a, b), expected, "{a} {b}");
        }
    }
}
