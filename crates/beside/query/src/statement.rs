//! Checks a statement before polars runs it: it must be one SELECT from the tables alone, with the
//! same meaning in polars as in other databases.

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, Function, Ident, JoinConstraint, JoinOperator, OrderByExpr, OrderByKind,
    Query, Select, SelectItem, SetExpr, Statement, TableFactor, Value, VisitMut, VisitorMut,
    WindowType,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserOptions};
use sqlparser::tokenizer::Tokenizer;

use crate::error::{Error, Result};

/// Largest number of tokens in a statement: its parts nest, and polars walks them by recursion.
const MOST_TOKENS: usize = 4_000;
/// Largest number of tables after common table expressions are expanded: each use of one is a copy.
const MOST_TABLES: usize = 500;

/// A statement that is allowed to run.
pub(crate) struct CheckedStatement {
    /// The statement for polars, rewritten where polars would read it differently.
    pub(crate) sql: String,
    /// True if the statement itself orders its rows.
    pub(crate) is_ordered: bool,
}

/// Checks whether a statement is allowed to run, as far as that is known without data.
///
/// # Errors
///
/// If it is not SQL, does more than read, or has another meaning in polars than in other databases.
pub fn check(sql: &str) -> Result<()> {
    checked(sql).map(drop)
}

/// Returns the statement for polars if it is allowed to run.
pub(crate) fn checked(sql: &str) -> Result<CheckedStatement> {
    let tokens = Tokenizer::new(&GenericDialect, sql)
        .tokenize()
        .map_err(|error| Error::Syntax(error.to_string()))?;
    if tokens.len() > MOST_TOKENS {
        return Err(Error::Unsupported(format!(
            "the statement has {} words and signs; at most {MOST_TOKENS} are read",
            tokens.len()
        )));
    }

    // polars parses with the same options, so that both see the same statement.
    let options = ParserOptions {
        trailing_commas: true,
        ..ParserOptions::default()
    };
    let statements = Parser::new(&GenericDialect)
        .with_options(options)
        .try_with_sql(sql)
        .and_then(|mut parser| parser.parse_statements())
        .map_err(|error| Error::Syntax(error.to_string()))?;

    let [mut statement] = <[Statement; 1]>::try_from(statements)
        .map_err(|statements| Error::Refused(format!("{} statements", statements.len())))?;
    let Statement::Query(query) = &statement else {
        let text = statement.to_string();
        let word = text.split_whitespace().next().unwrap_or_default();
        return Err(Error::Refused(format!("`{word}`")));
    };
    let is_ordered = query.order_by.is_some();
    if table_count(query) > MOST_TABLES {
        return Err(Error::Unsupported(format!(
            "its common table expressions unfold to more than {MOST_TABLES} tables"
        )));
    }

    let mut visitor = StatementVisitor::default();
    if let ControlFlow::Break(error) = statement.visit(&mut visitor) {
        return Err(error);
    }
    let sql = if visitor.is_changed {
        statement.to_string()
    } else {
        sql.to_owned()
    };
    Ok(CheckedStatement { sql, is_ordered })
}

/// Counts the tables that a query reads after its common table expressions are expanded.
fn table_count(query: &Query) -> usize {
    fn of_body(body: &SetExpr, known: &mut Vec<(String, usize)>) -> usize {
        match body {
            SetExpr::Select(select) => select
                .from
                .iter()
                .flat_map(|from| {
                    let joined = from.joins.iter().map(|join| &join.relation);
                    std::iter::once(&from.relation).chain(joined)
                })
                .map(|factor| of_factor(factor, known))
                .fold(0, usize::saturating_add),
            SetExpr::Query(query) => of_query(query, known),
            SetExpr::SetOperation { left, right, .. } => {
                of_body(left, known).saturating_add(of_body(right, known))
            }
            _ => 0,
        }
    }

    fn of_factor(factor: &TableFactor, known: &mut Vec<(String, usize)>) -> usize {
        match factor {
            TableFactor::Table { name, .. } => {
                let name = name.to_string();
                let uses = known.iter().rev().find(|(alias, _)| *alias == name);
                uses.map_or(1, |(_, count)| *count)
            }
            TableFactor::Derived { subquery, .. } => of_query(subquery, known),
            _ => 1,
        }
    }

    fn of_query(query: &Query, known: &mut Vec<(String, usize)>) -> usize {
        let before = known.len();
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            let count = of_query(&cte.query, known);
            known.push((cte.alias.name.to_string(), count));
        }
        let count = of_body(&query.body, known);
        known.truncate(before);
        count
    }
    of_query(query, &mut Vec::new())
}

/// Refuses or rewrites the parts of a statement that polars reads differently.
#[derive(Default)]
struct StatementVisitor {
    is_changed: bool,
}

impl VisitorMut for StatementVisitor {
    type Break = Error;

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Error> {
        self.is_changed |= name_columns(&mut select.projection);
        let joins = select.from.iter().flat_map(|from| &from.joins);
        let refused = joins
            .map(|join| &join.join_operator)
            .find_map(refused_outer_join);
        refused.map_or(ControlFlow::Continue(()), ControlFlow::Break)
    }

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        if let Some(order) = &mut query.order_by
            && let OrderByKind::Expressions(expressions) = &mut order.kind
        {
            self.is_changed |= nulls_last(expressions);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
        match factor {
            TableFactor::Table {
                name,
                args: Some(_),
                ..
            } => ControlFlow::Break(Error::Refused(format!("`FROM {name}(…)`"))),
            TableFactor::Table { .. }
            | TableFactor::Derived { .. }
            | TableFactor::NestedJoin { .. } => ControlFlow::Continue(()),
            other => ControlFlow::Break(Error::Refused(format!("`FROM {other}`"))),
        }
    }

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<Error> {
        self.is_changed |= end_distinct_from(expression) | distinguish_null(expression);
        match expression {
            Expr::Function(function) => {
                refused_window(function).map_or(ControlFlow::Continue(()), ControlFlow::Break)
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Gives each column without a name its expression as name. Returns whether there was such a column.
///
/// polars names `min(x)` and `max(x)` both `x`, and then refuses two columns of one name.
fn name_columns(projection: &mut [SelectItem]) -> bool {
    let mut has_named = false;
    for item in projection {
        let SelectItem::UnnamedExpr(expression) = item else {
            continue;
        };
        if matches!(
            expression,
            Expr::Identifier(_) | Expr::CompoundIdentifier(_)
        ) {
            continue;
        }
        let alias = Ident::with_quote('"', expression.to_string().replace('"', "'"));
        let expr = std::mem::replace(expression, *empty());
        *item = SelectItem::ExprWithAlias { expr, alias };
        has_named = true;
    }
    has_named
}

/// Sorts nulls last where the statement gives no place for them: polars sorts them first in
/// descending order, and last otherwise. Returns whether it changed an expression.
fn nulls_last(expressions: &mut [OrderByExpr]) -> bool {
    let mut has_changed = false;
    for expression in expressions {
        if expression.options.nulls_first.is_none() {
            expression.options.nulls_first = Some(false);
            has_changed = true;
        }
    }
    has_changed
}

/// Rewrites `x IS [NOT] TRUE` and `x IS [NOT] FALSE` as comparisons that distinguish null: polars
/// reads them as plain comparisons. Returns whether the expression was one of them.
fn distinguish_null(expression: &mut Expr) -> bool {
    let (tested, flag, is_negated) = match expression {
        Expr::IsTrue(tested) => (tested, true, false),
        Expr::IsNotTrue(tested) => (tested, true, true),
        Expr::IsFalse(tested) => (tested, false, false),
        Expr::IsNotFalse(tested) => (tested, false, true),
        _ => return false,
    };
    let tested = Box::new(Expr::Nested(std::mem::replace(tested, empty())));
    let flag = Box::new(Expr::value(Value::Boolean(flag)));
    let comparison = if is_negated {
        Expr::IsDistinctFrom(tested, flag)
    } else {
        Expr::IsNotDistinctFrom(tested, flag)
    };
    *expression = Expr::Nested(Box::new(comparison));
    true
}

/// Returns an error if an outer join is refused: polars gives other rows or columns than other
/// databases if the join has other conditions than equal columns, or USING.
fn refused_outer_join(operator: &JoinOperator) -> Option<Error> {
    use JoinOperator as Join;
    let (constraint, may_use) = match operator {
        Join::Left(constraint) | Join::LeftOuter(constraint) => (constraint, true),
        Join::Right(constraint) | Join::RightOuter(constraint) | Join::FullOuter(constraint) => {
            (constraint, false)
        }
        _ => return None,
    };
    match constraint {
        JoinConstraint::On(condition) if is_equality(condition) => None,
        JoinConstraint::Using(_) if may_use => None,
        _ => Some(Error::Unsafe {
            what: "polars gives other rows for this outer join than other databases".to_owned(),
            instead: "write ON a.x = b.x AND …, and put other conditions into a subquery: \
                      LEFT JOIN (SELECT … WHERE …) b ON a.x = b.x",
        }),
    }
}

/// Returns whether a condition is `a = b`, or several of them joined by AND.
fn is_equality(condition: &Expr) -> bool {
    match condition {
        Expr::Nested(inner) => is_equality(inner),
        Expr::BinaryOp {
            left,
            op: BinaryOperator::And,
            right,
        } => is_equality(left) && is_equality(right),
        Expr::BinaryOp {
            left,
            op: BinaryOperator::Eq,
            right,
        } => [left, right]
            .iter()
            .all(|side| matches!(***side, Expr::Identifier(_) | Expr::CompoundIdentifier(_))),
        _ => false,
    }
}

/// Returns an error if a window function is refused: polars gives the same values as other databases
/// only for the forms below.
fn refused_window(function: &Function) -> Option<Error> {
    const RANKS: [&str; 5] = ["row_number", "rank", "dense_rank", "lag", "lead"];
    const WHOLES: [&str; 5] = ["sum", "avg", "min", "max", "count"];

    let spec = match function.over.as_ref()? {
        WindowType::WindowSpec(spec) => spec,
        WindowType::NamedWindow(_) => return Some(unsafe_window()),
    };
    let name = function.name.to_string().to_lowercase();
    let is_plain = spec.window_name.is_none() && spec.window_frame.is_none();
    let is_by_column = spec
        .partition_by
        .iter()
        .all(|by| matches!(by, Expr::Identifier(_) | Expr::CompoundIdentifier(_)));
    let is_rank = RANKS.contains(&name.as_str()) && !spec.order_by.is_empty();
    let is_whole = WHOLES.contains(&name.as_str())
        && spec.order_by.is_empty()
        && !spec.partition_by.is_empty()
        && !has_aggregate(function);

    let is_same = is_plain && is_by_column && (is_rank || is_whole);
    (!is_same).then(unsafe_window)
}

fn unsafe_window() -> Error {
    Error::Unsafe {
        what: "polars gives other values for this window function than other databases".to_owned(),
        instead: "row_number, rank, dense_rank, lag and lead OVER (PARTITION BY columns ORDER BY …), \
                  and sum, avg, min, max and count OVER (PARTITION BY columns) are the same; for \
                  frames and named windows ask DuckDB, which reads the same files",
    }
}

/// Returns whether a function has a call of another function among its arguments.
fn has_aggregate(function: &Function) -> bool {
    function
        .args
        .to_string()
        .trim_matches(['(', ')'])
        .contains('(')
}

/// Ends the right side of `IS [NOT] DISTINCT FROM` before the next AND or OR, by parentheses.
/// Returns whether it changed the expression.
///
/// In SQL, the operator binds closer than AND and OR. The parser instead takes the rest of the
/// expression as its right side: `a IS DISTINCT FROM b AND c` becomes `a IS DISTINCT FROM (b AND c)`.
/// This function rewrites it as `(a IS DISTINCT FROM b) AND c`.
fn end_distinct_from(expression: &mut Expr) -> bool {
    let is_distinct = matches!(expression, Expr::IsDistinctFrom(..));
    let (Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right)) = expression
    else {
        return false;
    };
    if !is_and_or(right) {
        return false;
    }
    let left = std::mem::replace(left, empty());
    let mut chain = std::mem::replace(right, empty());

    let first = first_operand(&mut chain);
    let right = Box::new(std::mem::replace(first, *empty()));
    let distinct = if is_distinct {
        Expr::IsDistinctFrom(left, right)
    } else {
        Expr::IsNotDistinctFrom(left, right)
    };
    *first = Expr::Nested(Box::new(distinct));
    *expression = *chain;
    true
}

fn is_and_or(expression: &Expr) -> bool {
    matches!(
        expression,
        Expr::BinaryOp {
            op: BinaryOperator::And | BinaryOperator::Or,
            ..
        }
    )
}

/// Returns the operand that is written first in a chain of ANDs and ORs.
fn first_operand(mut chain: &mut Expr) -> &mut Expr {
    while is_and_or(chain) {
        let Expr::BinaryOp { left, .. } = chain else {
            break;
        };
        chain = left;
    }
    chain
}

fn empty() -> Box<Expr> {
    Box::new(Expr::value(Value::Null))
}
