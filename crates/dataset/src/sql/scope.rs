//! Which column a name in a query means, at the place where it stands.

use std::rc::Rc;

use sqlparser::ast::{Expr as Ast, Ident, ObjectName, ObjectNamePart, Spanned};

use super::near;
use super::relation::{Col, Found, Relation, Typed};
use crate::error::{Error, Place, Result};

/// What a query can name besides the tables: those that it defines itself, and, to say
/// what is wrong, the columns of the query around it.
#[derive(Clone, Default)]
pub(crate) struct Around {
    pub(crate) defined: Vec<(String, Relation)>,
    pub(crate) outer: Rc<Vec<Col>>,
}

impl Around {
    /// What `WITH` calls so; the last one that does.
    pub(crate) fn defined(&self, name: &str) -> Option<&Relation> {
        let mut defined = self.defined.iter().rev();
        let found = defined.find(|(one, _)| one.eq_ignore_ascii_case(name))?;
        Some(&found.1)
    }

    /// The same, for a query inside this one.
    pub(crate) fn inside(&self, scope: &Scope<'_>) -> Self {
        let mut outer = scope.columns.to_vec();
        outer.extend(self.outer.iter().cloned());
        Self {
            defined: self.defined.clone(),
            outer: Rc::new(outer),
        }
    }
}

/// The columns that an expression may name, and parts of it that have been computed.
#[derive(Clone)]
pub(crate) struct Scope<'a> {
    pub(crate) columns: &'a [Col],
    /// After GROUP BY: only these columns are left of them.
    pub(crate) keys: Option<Vec<Key>>,
    /// Aggregates, keys and window functions, by what is written.
    pub(crate) computed: Vec<(Ast, Typed)>,
    pub(crate) around: &'a Around,
}

/// A column that rows are grouped by.
#[derive(Clone)]
pub(crate) struct Key {
    /// What it was called before.
    pub(crate) was: Option<polars_core::prelude::PlSmallStr>,
    pub(crate) now: Col,
}

impl<'a> Scope<'a> {
    /// Of rows as they come.
    pub(crate) fn of_rows(columns: &'a [Col], around: &'a Around) -> Self {
        Self {
            columns,
            keys: None,
            computed: Vec::new(),
            around,
        }
    }

    /// What was computed of this very expression.
    pub(crate) fn computed(&self, ast: &Ast) -> Option<Typed> {
        let mut computed = self.computed.iter();
        let found = computed.find(|(one, _)| one == ast)?;
        Some(found.1.clone())
    }

    /// The column that a name means.
    pub(crate) fn column(&self, table: Option<&Ident>, name: &Ident) -> Result<Typed> {
        let found = self.find(table, name)?;
        let Some(keys) = &self.keys else {
            return Ok(found.typed());
        };
        let mut keys = keys.iter();
        let key = keys.find(|key| key.was.as_ref() == Some(&found.inner));
        key.map(|key| key.now.typed()).ok_or_else(|| Error::Wrong {
            what: format!("`{name}` is neither in GROUP BY nor inside an aggregate"),
            place: place_of_name(name),
        })
    }

    /// The column that a name means, before any grouping.
    pub(crate) fn find(&self, table: Option<&Ident>, name: &Ident) -> Result<&'a Col> {
        let found: Vec<&Col> = matching(self.columns, table, name).collect();
        match found.as_slice() {
            [only] => Ok(only),
            [] => Err(self.unknown(table, name)),
            several => {
                let full = |column: &&Col| {
                    let table = column.table.as_deref().unwrap_or_default();
                    format!("{table}.{}", column.name)
                };
                let all: Vec<String> = several.iter().map(full).collect();
                Err(Error::Wrong {
                    what: format!("`{name}` may be {}: say which", all.join(" or ")),
                    place: place_of_name(name),
                })
            }
        }
    }

    fn unknown(&self, table: Option<&Ident>, name: &Ident) -> Error {
        if matching(&self.around.outer, table, name).next().is_some() {
            return Error::Wrong {
                what: format!(
                    "`{name}` is of the query around this one, which is asked for each row \
                     only once: use a JOIN"
                ),
                place: place_of_name(name),
            };
        }
        let names = self.columns.iter().map(|column| column.name.as_str());
        let mut near = near::nearest(&name.value, names);
        near.dedup();
        let mut there_are: Vec<(String, Vec<String>)> = Vec::new();
        let of_tables = self.columns.iter();
        for column in of_tables.filter(|column| column.found != Found::ByName) {
            let table = column.table.clone().unwrap_or_default();
            match there_are.iter_mut().find(|(one, _)| *one == table) {
                Some((_, columns)) => columns.push(column.name.clone()),
                None => there_are.push((table, vec![column.name.clone()])),
            }
        }
        Error::UnknownColumn {
            name: name.value.clone(),
            place: place_of_name(name),
            near,
            there_are,
        }
    }
}

/// The columns that a name can mean. What is not in quotes means any spelling of it.
pub(crate) fn matching<'c>(
    columns: &'c [Col],
    table: Option<&Ident>,
    name: &Ident,
) -> impl Iterator<Item = &'c Col> {
    let (table, name) = (table.cloned(), name.clone());
    columns
        .iter()
        .filter(move |column| is_of(column, table.as_ref()) && same(&name, &column.name))
}

/// Whether a column is found in that table; without a table, by its own name.
pub(crate) fn is_of(column: &Col, table: Option<&Ident>) -> bool {
    match (table, &column.table) {
        (None, _) => column.found != Found::ByFullName,
        (Some(ident), Some(table)) => column.found != Found::ByName && same(ident, table),
        (Some(_), None) => false,
    }
}

/// The table, if it says which, and the column that an expression names; none if it is
/// more than a name.
pub(crate) fn as_name(ast: &Ast) -> Option<(Option<&Ident>, &Ident)> {
    match ast {
        Ast::Identifier(name) => Some((None, name)),
        Ast::CompoundIdentifier(parts) => match parts.as_slice() {
            [table, name] => Some((Some(table), name)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a name as written is that name.
pub(crate) fn same(ident: &Ident, name: &str) -> bool {
    match ident.quote_style {
        Some(_) => ident.value == name,
        None => ident.value.eq_ignore_ascii_case(name),
    }
}

/// The one identifier of a name that has one.
pub(crate) fn only(name: &ObjectName) -> Option<&Ident> {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] => Some(ident),
        _ => None,
    }
}

/// Where something stands in the query.
pub(crate) fn place_of(ast: &impl Spanned) -> Place {
    let start = ast.span().start;
    Place((start.line > 0).then_some((start.line, start.column)))
}

/// Where a name stands in the query.
pub(crate) fn place_of_name(name: &Ident) -> Place {
    let start = name.span.start;
    Place((start.line > 0).then_some((start.line, start.column)))
}

/// The same of something that a name says.
pub(crate) fn wrong_name(what: impl Into<String>, name: &Ident) -> Error {
    Error::Wrong {
        what: what.into(),
        place: place_of_name(name),
    }
}

/// Something that cannot be asked, and where it stands.
pub(crate) fn wrong(what: impl Into<String>, ast: &impl Spanned) -> Error {
    Error::Wrong {
        what: what.into(),
        place: place_of(ast),
    }
}

/// Refuses the first of these that is there.
pub(crate) fn refuse(these: &[(bool, &str)], ast: &impl Spanned) -> Result<()> {
    match these.iter().find(|(there, _)| *there) {
        Some((_, what)) => Err(wrong(format!("{what} is not known here"), ast)),
        None => Ok(()),
    }
}
