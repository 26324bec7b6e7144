//! FROM: the tables that a query names, one after the other.

use sqlparser::ast::{
    Expr as Ast, Ident, JoinConstraint, JoinOperator, TableAlias, TableFactor, TableWithJoins,
};

use super::joins::Side;
use super::names::known_table;
use super::query::{Planner, one_row};
use super::relation::{Col, Found, Relation};
use super::scope::{Around, is_of, matching, only, place_of_name, wrong, wrong_name};
use crate::error::{Error, Result};

impl Planner<'_> {
    /// All the rows that a SELECT is made of. Where tables are only listed, what `condition`
    /// says of two of them joins them.
    pub(crate) fn from(
        &self,
        tables: &[TableWithJoins],
        condition: Option<&Ast>,
        around: &Around,
    ) -> Result<Relation> {
        let mut all: Option<Relation> = None;
        for table in tables {
            let one = self.joined(table, around)?;
            all = Some(match all {
                None => one,
                Some(all) => self.join_where(all, one, condition, around)?,
            });
        }
        Ok(all.unwrap_or_else(|| Relation {
            frame: one_row(&self.fresh("row")),
            columns: Vec::new(),
        }))
    }

    fn joined(&self, table: &TableWithJoins, around: &Around) -> Result<Relation> {
        let mut all = self.factor(&table.relation, around)?;
        for join in &table.joins {
            let right = self.factor(&join.relation, around)?;
            let (side, constraint) = kind_of(&join.join_operator).ok_or_else(|| {
                let what = format!("`{}` is not known here", join.to_string().trim());
                wrong(what, &join.relation)
            })?;
            all = match constraint {
                JoinConstraint::On(condition) => {
                    self.join_on(all, right, side, Some(condition), around)?
                }
                JoinConstraint::None => self.join_on(all, right, side, None, around)?,
                JoinConstraint::Using(names) => {
                    let names: Option<Vec<&Ident>> = names.iter().map(only).collect();
                    let names = names.unwrap_or_default();
                    self.join_using(all, right, side, &names, around)?
                }
                JoinConstraint::Natural => {
                    let shared = shared(&all.columns, &right.columns);
                    let shared: Vec<&Ident> = shared.iter().collect();
                    self.join_using(all, right, side, &shared, around)?
                }
            };
        }
        Ok(all)
    }

    fn factor(&self, factor: &TableFactor, around: &Around) -> Result<Relation> {
        match factor {
            TableFactor::Table {
                name,
                alias,
                args: None,
                ..
            } => {
                let ident = only(name).ok_or_else(|| wrong("no such table", name))?;
                let mut made = match (around.defined(&ident.value), known_table(&ident.value)) {
                    (Some(defined), _) => self.renewed(defined),
                    (None, Some(which)) => self.relation(which)?,
                    (None, None) => {
                        return Err(Error::UnknownTable {
                            name: ident.value.clone(),
                            place: place_of_name(ident),
                            near: None,
                        });
                    }
                };
                made.columns
                    .iter_mut()
                    .for_each(|column| column.table = Some(ident.value.clone()));
                aliased(made, alias.as_ref())
            }
            TableFactor::Derived {
                lateral: false,
                subquery,
                alias,
                sample: None,
            } => aliased(self.query(subquery, around)?, alias.as_ref()),
            TableFactor::NestedJoin {
                table_with_joins,
                alias,
            } => aliased(self.joined(table_with_joins, around)?, alias.as_ref()),
            other => Err(wrong(format!("`{other}` is not known here"), other)),
        }
    }
}

/// On which side rows without a partner are kept, and what makes partners.
fn kind_of(operator: &JoinOperator) -> Option<(Side, &JoinConstraint)> {
    Some(match operator {
        JoinOperator::Join(by) | JoinOperator::Inner(by) | JoinOperator::CrossJoin(by) => {
            (Side::Neither, by)
        }
        JoinOperator::Left(by) | JoinOperator::LeftOuter(by) => (Side::Left, by),
        JoinOperator::Right(by) | JoinOperator::RightOuter(by) => (Side::Right, by),
        JoinOperator::FullOuter(by) => (Side::Both, by),
        _ => return None,
    })
}

fn shared(left: &[Col], right: &[Col]) -> Vec<Ident> {
    let is_there = |column: &&Col| {
        let ident = Ident::with_quote('"', column.name.clone());
        matching(right, None, &ident).next().is_some()
    };
    let shown = left.iter().filter(|column| is_of(column, None));
    shown
        .filter(is_there)
        .map(|column| Ident::with_quote('"', column.name.clone()))
        .collect()
}

fn aliased(made: Relation, alias: Option<&TableAlias>) -> Result<Relation> {
    match alias {
        Some(alias) => named(made, alias),
        None => Ok(made),
    }
}

/// The same rows under a name, and their first columns under others if it has any. What
/// only a table's name inside it found, nothing finds any more.
pub(crate) fn named(mut made: Relation, alias: &TableAlias) -> Result<Relation> {
    made.columns
        .retain(|column| column.found != Found::ByFullName);
    if alias.columns.len() > made.columns.len() {
        let (named, there_are) = (alias.columns.len(), made.columns.len());
        let what = format!("{named} columns are named, and there are {there_are}");
        return Err(wrong_name(what, &alias.name));
    }
    let mut names = alias.columns.iter();
    for column in &mut made.columns {
        column.table = Some(alias.name.value.clone());
        column.found = Found::Always;
        if let Some(name) = names.next() {
            column.name.clone_from(&name.name.value);
        }
    }
    Ok(made)
}

/// The columns that `*`, or a table's `*`, stands for.
pub(crate) fn starred(columns: &[Col], table: Option<&Ident>) -> Vec<Col> {
    let columns = columns.iter().filter(|column| is_of(column, table));
    columns.cloned().collect()
}
