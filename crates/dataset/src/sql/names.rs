//! What a query says, before it is asked: that it is one, only reads, and only from the
//! tables there are.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Ident, ObjectName, ObjectNamePart, Query, Select, SelectItem, Statement, TableAlias,
    TableFactor, Visit, Visitor,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserOptions};

use super::near;
use super::scope::place_of_name;
use crate::error::{Error, Result};
use crate::tables::Which;

/// A query that may be asked.
pub(crate) struct Asked {
    pub(crate) query: Query,
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
        Ok(Self { query })
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

/// The names that a query has.
#[derive(Default)]
struct Names {
    relations: Vec<Ident>,
    /// Names that the query itself gives.
    given: Vec<String>,
}

impl Names {
    fn give(&mut self, alias: &TableAlias) {
        self.given.push(alias.name.value.clone());
        self.given
            .extend(alias.columns.iter().map(|column| column.name.value.clone()));
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
                place: place_of_name(ident),
                near: near::nearest(name, tables.into_iter()).into_iter().next(),
            });
        }
        Ok(())
    }
}

pub(crate) fn known_table(name: &str) -> Option<Which> {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sql: &str, expected: &str) {
        let said = match Asked::parse(sql) {
            Ok(asked) => format!("asked: {}", asked.query),
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
            "asked: WITH a AS (SELECT * FROM gaps) SELECT b.run FROM a AS b LIMIT 1",
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
}
