//! What of a file can be changed, and into what.
#![expect(clippy::wildcard_enum_match_arm, reason = "most of the language stays as it is")]

use std::collections::BTreeSet;
use std::ops::Range;

use anyhow::{Context as _, Result};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, Pat, Signature, Stmt, Type, UnOp};

use super::shapes::{bites_in, has_let, is_test, values};

/// One change of one file.
pub(super) struct Change {
    /// Its bytes in the file.
    pub(super) range: Range<usize>,
    pub(super) line: usize,
    pub(super) place: Place,
    /// What stands there instead.
    pub(super) with: String,
    /// In words.
    pub(super) what: String,
}

/// Where a change stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    /// In the place of an expression.
    Expression,
    /// In the place of a statement.
    Statement,
    /// Before the first statement of a function.
    Entry,
}

/// What a file allows.
pub(super) struct Found {
    pub(super) changes: Vec<Change>,
    /// The word `const` of functions: what asks for a switch is not constant.
    pub(super) consts: Vec<Range<usize>>,
}

/// Everything that can be changed in a file; functions of these names stay constant, and as they are.
pub(super) fn find(text: &str, keep_const: &BTreeSet<String>) -> Result<Found> {
    let file = syn::parse_file(text).context("this is no Rust")?;
    let found = Found { changes: Vec::new(), consts: Vec::new() };
    let mut finder = Finder { text, keep_const, found };
    finder.visit_file(&file);
    Ok(finder.found)
}

struct Finder<'t> {
    text: &'t str,
    keep_const: &'t BTreeSet<String>,
    found: Found,
}

impl Finder<'_> {
    fn text(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    fn add(&mut self, node: proc_macro2::Span, place: Place, with: String, what: String) {
        let range = node.byte_range();
        // The deliberate faults are the simulation's.
        if self.text(range.clone()).contains("bites(") {
            return;
        }
        let line = node.start().line;
        self.found.changes.push(Change { range, line, place, with, what });
    }

    fn expression(&mut self, expr: &Expr, with: String, what: impl Into<String>) {
        self.add(expr.span(), Place::Expression, with, what.into());
    }

    /// The expression with some of its bytes replaced.
    fn swapped(&self, expr: &Expr, part: &Range<usize>, by: &str) -> String {
        let all = expr.span().byte_range();
        format!("{}{by}{}", self.text(all.start..part.start), self.text(part.end..all.end))
    }

    fn negate(&mut self, expr: &Expr, what: &str) {
        let with = format!("!({})", self.text(expr.span().byte_range()));
        self.expression(expr, with, what);
    }

    fn binary(&mut self, expr: &Expr, op: &BinOp) {
        let range = op.span().byte_range();
        let sign = self.text(range.clone()).to_owned();
        let by = match op {
            BinOp::Lt(_) => "<=",
            BinOp::Le(_) => "<",
            BinOp::Gt(_) => ">=",
            BinOp::Ge(_) => ">",
            BinOp::Eq(_) => "!=",
            BinOp::Ne(_) => "==",
            BinOp::And(_) => "||",
            BinOp::Or(_) => "&&",
            BinOp::Add(_) | BinOp::Mul(_) => {
                if sign == "+" {
                    "-"
                } else {
                    "+"
                }
            }
            BinOp::Sub(_) => "+",
            BinOp::AddAssign(_) => "-=",
            BinOp::SubAssign(_) => "+=",
            _ => return,
        };
        let with = self.swapped(expr, &range, by);
        self.expression(expr, with, format!("replace {sign} by {by}"));
        if matches!(op, BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_)) {
            self.negate(expr, &format!("negate {sign}"));
        }
    }

    fn call(&mut self, expr: &Expr, receiver: &Expr, method: &syn::Ident) {
        let name = method.to_string();
        let by = match name.as_str() {
            "saturating_add" => "saturating_sub",
            "saturating_sub" => "saturating_add",
            "min" => "max",
            "max" => "min",
            "any" => "all",
            "all" => "any",
            "is_some" => "is_none",
            "is_none" => "is_some",
            "is_empty" | "is_some_and" | "is_none_or" | "contains" | "starts_with" => {
                return self.negate(expr, &format!("negate {name}"));
            }
            "filter" => {
                let with = self.text(receiver.span().byte_range()).to_owned();
                return self.expression(expr, with, "delete filter");
            }
            _ => return,
        };
        let with = self.swapped(expr, &method.span().byte_range(), by);
        self.expression(expr, with, format!("replace {name} by {by}"));
    }

    fn condition(&mut self, cond: &Expr) {
        let is_changed_anyway = match cond {
            Expr::Unary(_) | Expr::Macro(_) => true,
            Expr::Binary(own) => !matches!(own.op, BinOp::And(_) | BinOp::Or(_)),
            Expr::MethodCall(own) => {
                let name = own.method.to_string();
                ["is_some", "is_none", "is_empty", "is_some_and", "is_none_or", "contains"]
                    .contains(&name.as_str())
            }
            _ => false,
        };
        if !is_changed_anyway && !has_let(cond) {
            self.negate(cond, "negate the condition");
        }
    }

    /// A function's body: `false` where it stays as it is.
    fn function(&mut self, attributes: &[syn::Attribute], sig: &Signature, body: &Block) -> bool {
        let name = sig.ident.to_string();
        if is_test(attributes) {
            return false;
        }
        if let Some(word) = &sig.constness {
            if self.keep_const.contains(&name) {
                return false;
            }
            self.found.consts.push(word.span().byte_range());
        }
        let open = body.brace_token.span.open();
        for value in values(&sig.output) {
            let range = open.byte_range();
            self.found.changes.push(Change {
                range: range.end..range.end,
                line: sig.ident.span().start().line,
                place: Place::Entry,
                with: format!("return {value};"),
                what: format!(
                    "{name} returns {}",
                    if value.is_empty() { "at once" } else { value }
                ),
            });
        }
        true
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        if !is_test(&node.attrs) {
            visit::visit_item_mod(self, node);
        }
    }

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        if self.function(&node.attrs, &node.sig, &node.block) {
            self.visit_block(&node.block);
        }
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        if self.function(&node.attrs, &node.sig, &node.block) {
            self.visit_block(&node.block);
        }
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Binary(own) if bites_in(expr) => return,
            Expr::Binary(own) if !has_let(expr) => self.binary(expr, &own.op),
            Expr::MethodCall(own) => self.call(expr, &own.receiver, &own.method),
            Expr::Unary(own) if matches!(own.op, UnOp::Not(_)) => {
                let with = format!("({})", self.text(own.expr.span().byte_range()));
                self.expression(expr, with, "delete !");
            }
            Expr::Macro(own) if own.mac.path.is_ident("matches") => {
                self.negate(expr, "negate matches!");
            }
            Expr::If(own) if bites_in(&own.cond) => {
                // Nothing of this is ever done without one.
                return own.else_branch.iter().for_each(|(_, other)| self.visit_expr(other));
            }
            Expr::If(own) => self.condition(&own.cond),
            Expr::While(own) => self.condition(&own.cond),
            Expr::Repeat(own) => return self.visit_expr(&own.expr),
            Expr::Const(_) => return,
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        if let Stmt::Expr(expr, Some(_)) = stmt {
            let asked = if let Expr::Try(own) = expr { &own.expr } else { expr };
            if matches!(asked, Expr::Call(_) | Expr::MethodCall(_) | Expr::Assign(_)) {
                let first = self.text(stmt.span().byte_range()).lines().next().unwrap_or_default();
                let what = format!("delete {first}");
                self.add(stmt.span(), Place::Statement, String::new(), what);
            }
        }
        visit::visit_stmt(self, stmt);
    }

    fn visit_pat(&mut self, pat: &'ast Pat) {
        let Pat::Guard(own) = pat else { return };
        if !has_let(&own.guard) {
            for value in ["true", "false"] {
                self.expression(&own.guard, value.to_owned(), format!("the guard is {value}"));
            }
        }
        self.visit_expr(&own.guard);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if !matches!(&arm.pat, Pat::Guard(own) if bites_in(&own.guard)) {
            visit::visit_arm(self, arm);
        }
    }

    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_generics(&mut self, _: &'ast syn::Generics) {}
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
}
