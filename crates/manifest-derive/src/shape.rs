//! Shape of a field's type: `Option<Spanned<T>>`, `Vec<T>`, `T`.

use syn::{GenericArgument, PathArguments, Type};

/// Container of a field's values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outer {
    /// One value.
    One,
    /// `Option`.
    Perhaps,
    /// `Vec` or another collection.
    Many,
}

/// A type without its container and `Spanned`.
pub struct Shape {
    pub outer: Outer,
    pub spanned: bool,
    pub inner: Type,
}

impl Shape {
    pub fn of(whole: &Type) -> Self {
        let (outer, element) = match generic(whole) {
            Some((name, element)) if name == "Option" => (Outer::Perhaps, element),
            Some((name, element)) if ["Vec", "Rules", "IndexMap"].contains(&&*name) => {
                (Outer::Many, element)
            }
            _ => (Outer::One, whole),
        };
        let (spanned, inner) = match generic(element) {
            Some((name, inner)) if name == "Spanned" => (true, inner),
            _ => (false, element),
        };
        Self { outer, spanned, inner: inner.clone() }
    }

    /// Returns whether the innermost type is called `name`.
    pub fn is(&self, name: &str) -> bool {
        matches!(&self.inner, Type::Path(path) if path.path.is_ident(name))
    }
}

fn generic(whole: &Type) -> Option<(String, &Type)> {
    let Type::Path(path) = whole else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(inner) => Some((last.ident.to_string(), inner)),
        _ => None,
    }
}
