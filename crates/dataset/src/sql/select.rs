//! SELECT: from the rows that it is made of to those that it shows.
//!
//! ```text
//! FROM → WHERE → GROUP BY, aggregates → HAVING → window functions → QUALIFY → the columns
//! ```

use polars_core::prelude::{PlSmallStr, UniqueKeepStrategy};
use polars_lazy::prelude::*;
use sqlparser::ast::{
    Distinct, Expr as Ast, Function, GroupByExpr, Ident, OrderBy, OrderByExpr, Select, SelectItem,
    SelectItemQualifiedWildcardKind, TableFactor, WildcardAdditionalOptions,
};

use super::calls::{calls, is_aggregate};
use super::expression::written;
use super::from::starred;
use super::query::{Order, Planner, Selected, Sorting, order_by, place_in};
use super::relation::{Col, Found, Relation, Typed, all_of};
use super::scope::{Around, Key, Scope, as_name, matching, only, refuse, same, wrong, wrong_name};
use crate::error::Result;

/// A column that is to be shown.
struct Item {
    name: String,
    what: What,
    /// Whether the query itself named it.
    named: bool,
}

enum What {
    Written(Box<Ast>),
    Column(Col),
}

impl Item {
    fn ast(&self) -> Option<&Ast> {
        match &self.what {
            What::Written(ast) => Some(ast),
            What::Column(_) => None,
        }
    }
}

impl Planner<'_> {
    pub(crate) fn select(
        &self,
        select: &Select,
        order: Option<&OrderBy>,
        around: &Around,
    ) -> Result<Selected> {
        refuse_the_rest(select)?;
        let mut rows = self.from(&select.from, select.selection.as_ref(), around)?;
        if let Some(condition) = &select.selection {
            let test = self.condition(condition, &Scope::of_rows(&rows.columns, around))?;
            rows.frame = rows.frame.filter(test.expr);
        }
        let items = items(select, &rows.columns)?;
        let order = order_by(order)?;
        let Relation { mut frame, columns } = rows;
        let mut scope = Scope::of_rows(&columns, around);
        let every = every_expression(select, &items, order);
        frame = self.grouped(frame, select, &items, &every, &mut scope)?;
        if let Some(having) = &select.having {
            frame = frame.filter(self.condition(having, &scope)?.expr);
        }
        frame = self.windows(frame, select, &every, &mut scope)?;
        if let Some(qualify) = &select.qualify {
            frame = frame.filter(self.condition(qualify, &scope)?.expr);
        }
        let shown = self.shown(frame, &items, order, &scope)?;
        let distinct = matches!(select.distinct, Some(Distinct::Distinct));
        let shown = if distinct {
            distinct_rows(shown, select)?
        } else {
            shown
        };
        Ok(Selected {
            shuffled: distinct || shuffles(select, scope.keys.is_some()),
            ..shown
        })
    }

    /// Rows in groups, if the query wants any: their keys and aggregates.
    fn grouped(
        &self,
        frame: LazyFrame,
        select: &Select,
        items: &[Item],
        every: &[&Ast],
        scope: &mut Scope<'_>,
    ) -> Result<LazyFrame> {
        let wanted = group_by(select, items, scope)?;
        let aggregates = calls(every, is_aggregate);
        if wanted.is_empty() && aggregates.is_empty() && select.having.is_none() {
            return Ok(frame);
        }
        let (mut inputs, mut made, mut computed) = (Vec::new(), Vec::new(), Vec::new());
        for ast in aggregates {
            let Ast::Function(function) = &ast else {
                continue;
            };
            let (aggregate, input, kind) = self.aggregate(function, &ast, scope)?;
            let (name, into) = (self.fresh("of"), self.fresh("made"));
            inputs.push(input.expr.alias(name.clone()));
            let (exprs, answer) = aggregate.computed(&name, &into, kind);
            made.extend(exprs);
            computed.push((ast, answer));
        }
        let mut keys = Vec::new();
        let mut key_exprs = Vec::new();
        for ast in wanted {
            let key = self.expr(&ast, scope)?;
            let inner = self.fresh("by");
            inputs.push(key.expr.clone().alias(inner.clone()));
            key_exprs.push(col(inner.clone()));
            let now = Col::new(&written(&ast), inner, key.kind);
            let was = match &key.expr {
                Expr::Column(name) => Some(name.clone()),
                _ => None,
            };
            computed.push((ast, now.typed()));
            keys.push(Key { was, now });
        }
        scope.keys = Some(keys);
        scope.computed.extend(computed);
        let frame = frame.with_columns(inputs);
        Ok(match (!key_exprs.is_empty(), made.is_empty()) {
            (true, _) => frame.group_by(key_exprs).agg(made),
            (false, false) => frame.select(made),
            // HAVING alone: all rows are one group.
            (false, true) => frame.select([lit(true).alias(self.fresh("rows"))]),
        })
    }

    /// The columns as they are shown, and those that the order needs besides.
    fn shown(
        &self,
        frame: LazyFrame,
        items: &[Item],
        order: &[OrderByExpr],
        scope: &Scope<'_>,
    ) -> Result<Selected> {
        let mut exprs = Vec::new();
        let mut columns = Vec::new();
        // The order can calculate with the names that the query gives, too.
        let mut by_scope = scope.clone();
        for item in items {
            let typed = self.item(item, scope)?;
            let inner = self.fresh(&item.name);
            let ident = Ident::new(item.name.clone());
            if item.named && matching(scope.columns, None, &ident).next().is_none() {
                let given = (Ast::Identifier(ident), typed.clone());
                by_scope.computed.push(given);
            }
            exprs.push(typed.expr.alias(inner.clone()));
            columns.push(Col::new(&item.name, inner, typed.kind));
        }
        let place = |ast: &Ast| shown_place(ast, items, scope);
        let Sorting { order, added } = self.sorting(order, &columns, place, &by_scope)?;
        let is_shown = |by: &PlSmallStr| columns.iter().any(|column| column.inner == *by);
        let mut kept = all_of(&columns);
        let others = order.iter().filter(|one| !is_shown(&one.by));
        kept.extend(others.map(|one| col(one.by.clone())));
        // A literal alone would be one row, and not one in each.
        let frame = frame.with_columns([exprs, added].concat());
        Ok(Selected {
            frame: frame.select(kept),
            columns,
            order,
            shuffled: false,
        })
    }

    fn item(&self, item: &Item, scope: &Scope<'_>) -> Result<Typed> {
        match &item.what {
            What::Written(ast) => self.expr(ast, scope),
            // By way of its name, which says what is wrong if it is not grouped by.
            What::Column(column) => match &scope.keys {
                None => Ok(column.typed()),
                Some(_) => {
                    let quoted = |name: &str| Ident::with_quote('"', name);
                    let table = column.table.as_deref();
                    let table = table.filter(|_| column.found != Found::ByName).map(quoted);
                    scope.column(table.as_ref(), &quoted(&column.name))
                }
            },
        }
    }
}

/// DISTINCT: the order can only be by what is shown.
fn distinct_rows(shown: Selected, select: &Select) -> Result<Selected> {
    let is_shown = |order: &Order| shown.columns.iter().any(|column| column.inner == order.by);
    if !shown.order.iter().all(is_shown) {
        let what = "SELECT DISTINCT can be ordered only by what it shows";
        return Err(wrong(what, select));
    }
    let frame = shown.frame.select(all_of(&shown.columns));
    Ok(Selected {
        frame: frame.unique(None, UniqueKeepStrategy::Any),
        ..shown
    })
}

/// The place of the shown column that ORDER BY means: its number, the name that the query
/// gives to it, or what it is.
fn shown_place(ast: &Ast, items: &[Item], scope: &Scope<'_>) -> Result<Option<usize>> {
    if let Some(place) = place_in(ast, items.len())? {
        return Ok(Some(place));
    }
    let is = |item: &Item| match (&item.what, ast) {
        _ if item.named && named_so(ast, item) => true,
        (What::Written(written), _) => **written == *ast,
        (What::Column(column), _) => {
            plain(ast, scope).is_some_and(|found| found.inner == column.inner)
        }
    };
    // A name that the query gives goes before all others.
    let mut given = items.iter();
    let given = given.position(|item| item.named && named_so(ast, item));
    Ok(given.or_else(|| items.iter().position(is)))
}

fn named_so(ast: &Ast, item: &Item) -> bool {
    matches!(ast, Ast::Identifier(ident) if same(ident, &item.name))
}

/// The column that an expression is, if it is one and nothing else.
fn plain<'c>(ast: &Ast, scope: &Scope<'c>) -> Option<&'c Col> {
    let (table, name) = as_name(ast)?;
    scope.find(table, name).ok()
}

/// What GROUP BY names: a column of the tables, if there is one of that name, else one that
/// is shown.
fn group_by(select: &Select, items: &[Item], scope: &Scope<'_>) -> Result<Vec<Ast>> {
    match &select.group_by {
        GroupByExpr::All(with) if with.is_empty() => {
            let asts = items.iter().filter_map(Item::ast);
            let keys = asts.filter(|ast| calls(&[*ast], is_aggregate).is_empty());
            Ok(keys.cloned().collect())
        }
        GroupByExpr::Expressions(by, with) if with.is_empty() => by
            .iter()
            .map(|ast| {
                let place = match plain(ast, scope) {
                    Some(_) => None,
                    None => shown_place(ast, items, scope)?,
                };
                let meant = place.and_then(|place| items.get(place)).and_then(Item::ast);
                Ok(meant.unwrap_or(ast).clone())
            })
            .collect(),
        other => Err(wrong(format!("`{other}` is not known here"), select)),
    }
}

/// Every expression that may have aggregates and window functions in it.
fn every_expression<'q>(
    select: &'q Select,
    items: &'q [Item],
    order: &'q [OrderByExpr],
) -> Vec<&'q Ast> {
    let shown = items.iter().filter_map(Item::ast);
    let by = order.iter().map(|one| &one.expr);
    let tests = select.having.iter().chain(&select.qualify);
    shown.chain(by).chain(tests).collect()
}

/// What the query shows, `*` spelled out.
fn items(select: &Select, columns: &[Col]) -> Result<Vec<Item>> {
    let mut items = Vec::new();
    for item in &select.projection {
        let one = |name: String, ast: &Ast, named| Item {
            name,
            what: What::Written(Box::new(ast.clone())),
            named,
        };
        match item {
            SelectItem::UnnamedExpr(ast) => items.push(one(written(ast), ast, false)),
            SelectItem::ExprWithAlias { expr, alias } => {
                items.push(one(alias.value.clone(), expr, true));
            }
            SelectItem::Wildcard(options) => {
                items.extend(star(columns, None, options, select)?);
            }
            SelectItem::QualifiedWildcard(
                SelectItemQualifiedWildcardKind::ObjectName(name),
                options,
            ) => items.extend(star(columns, only(name), options, select)?),
            other => return Err(wrong(format!("`{other}` is not known here"), other)),
        }
    }
    Ok(items)
}

fn star(
    columns: &[Col],
    table: Option<&Ident>,
    options: &WildcardAdditionalOptions,
    select: &Select,
) -> Result<Vec<Item>> {
    use sqlparser::ast::ExcludeSelectItem::{Multiple, Single};
    let found = starred(columns, table);
    if found.is_empty() {
        return Err(wrong("there is nothing that * could stand for", select));
    }
    let odd = options.opt_ilike.is_some()
        || options.opt_replace.is_some()
        || options.opt_rename.is_some();
    if odd {
        return Err(wrong(
            "of the forms of * only EXCLUDE is known here",
            select,
        ));
    }
    let mut excluded: Vec<&Ident> = match &options.opt_exclude {
        None => Vec::new(),
        Some(Single(name)) => only(name).into_iter().collect(),
        Some(Multiple(names)) => names.iter().filter_map(only).collect(),
    };
    if let Some(except) = &options.opt_except {
        excluded.push(&except.first_element);
        excluded.extend(&except.additional_elements);
    }
    if let Some(unknown) = excluded
        .iter()
        .find(|ident| matching(&found, None, ident).next().is_none())
    {
        return Err(wrong_name(format!("* has no column `{unknown}`"), unknown));
    }
    let left = |column: &Col| !excluded.iter().any(|ident| same(ident, &column.name));
    let left = found.into_iter().filter(left);
    Ok(left
        .map(|column| Item {
            name: column.name.clone(),
            what: What::Column(column),
            named: false,
        })
        .collect())
}

/// Whether the rows may come in any order.
fn shuffles(select: &Select, grouped: bool) -> bool {
    let several = select.from.len() > 1 || select.from.iter().any(|one| !one.joins.is_empty());
    let nested = |factor: &TableFactor| match factor {
        TableFactor::Table { name, .. } => {
            only(name).is_none_or(|ident| super::names::known_table(&ident.value).is_none())
        }
        _ => true,
    };
    grouped || several || select.from.iter().any(|one| nested(&one.relation))
}

fn refuse_the_rest(select: &Select) -> Result<()> {
    let rest = [
        (
            matches!(select.distinct, Some(Distinct::On(_))),
            "DISTINCT ON",
        ),
        (select.top.is_some(), "TOP"),
        (select.exclude.is_some(), "EXCLUDE without *"),
        (!select.lateral_views.is_empty(), "LATERAL VIEW"),
        (select.prewhere.is_some(), "PREWHERE"),
        (!select.connect_by.is_empty(), "CONNECT BY"),
        (!select.cluster_by.is_empty(), "CLUSTER BY"),
        (!select.distribute_by.is_empty(), "DISTRIBUTE BY"),
        (!select.sort_by.is_empty(), "SORT BY"),
        (select.value_table_mode.is_some(), "SELECT AS"),
        (select.projection.is_empty(), "a SELECT that shows nothing"),
    ];
    refuse(&rest, select)
}

/// Whether a call looks at other rows of the answer.
pub(crate) fn is_over(function: &Function) -> bool {
    function.over.is_some()
}
