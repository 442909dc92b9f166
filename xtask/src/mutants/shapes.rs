//! What is asked of code before it is changed.
#![expect(clippy::wildcard_enum_match_arm, reason = "most of the language stays as it is")]

use syn::{Attribute, BinOp, Expr, GenericArgument, Meta, PathArguments, ReturnType, Type};

/// Whether this is compiled for tests only.
pub(super) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|own| match &own.meta {
        Meta::List(list) => own.path().is_ident("cfg") && list.tokens.to_string() == "test",
        Meta::Path(_) | Meta::NameValue(_) => own.path().is_ident("test"),
    })
}

/// Whether a chain of conditions binds names.
pub(super) fn has_let(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(own) => has_let(&own.left) || has_let(&own.right),
        _ => false,
    }
}

/// Whether a chain of `&&` asks for a deliberate fault, so that without one all of it is false.
pub(super) fn bites_in(expr: &Expr) -> bool {
    match expr {
        Expr::Binary(own) if matches!(own.op, BinOp::And(_)) => {
            bites_in(&own.left) || bites_in(&own.right)
        }
        Expr::Call(own) => match &*own.func {
            Expr::Path(path) => path.path.is_ident("bites"),
            _ => false,
        },
        _ => false,
    }
}

/// The plainest values of a type.
pub(super) fn values(output: &ReturnType) -> &'static [&'static str] {
    let ReturnType::Type(_, own) = output else { return &[""] };
    let Type::Path(own) = &**own else { return &[] };
    let Some(last) = own.path.segments.last() else { return &[] };
    match last.ident.to_string().as_str() {
        "bool" => &["true", "false"],
        "Option" => &["None"],
        "Vec" => &["Vec::new()"],
        "String" => &["String::new()"],
        "u8" | "u16" | "u32" | "u64" | "usize" | "i64" => &["0"],
        "Result" if is_of_nothing(&last.arguments) => &["Ok(())"],
        _ => &[],
    }
}

/// Whether a result that is good says nothing more.
fn is_of_nothing(arguments: &PathArguments) -> bool {
    let PathArguments::AngleBracketed(own) = arguments else { return false };
    matches!(own.args.first(), Some(GenericArgument::Type(Type::Tuple(own))) if own.elems.is_empty())
}
