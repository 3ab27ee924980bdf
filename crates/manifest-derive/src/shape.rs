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
    /// Whether its values are found by their names.
    pub is_map: bool,
    pub inner: Type,
}

impl Shape {
    pub fn new(whole: &Type) -> Self {
        let (outer, element) = match generic(whole) {
            Some((name, element)) if name == "Option" => (Outer::Perhaps, element),
            Some((name, element)) if ["Vec", "Rules", "IndexMap"].contains(&&*name) => {
                (Outer::Many, element)
            }
            _ => (Outer::One, whole),
        };
        let is_map = generic(whole).is_some_and(|(name, _)| name == "IndexMap");
        let (spanned, inner) = match generic(element) {
            Some((name, inner)) if name == "Spanned" => (true, inner),
            _ => (false, element),
        };
        Self { outer, spanned, is_map, inner: inner.clone() }
    }

    /// Returns whether the innermost type is called `name`.
    pub fn is_named(&self, name: &str) -> bool {
        matches!(&self.inner, Type::Path(path) if path.path.is_ident(name))
    }
}

fn generic(whole: &Type) -> Option<(String, &Type)> {
    let Type::Path(path) = whole else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    // The values of a map are its last argument.
    match arguments.args.last()? {
        GenericArgument::Type(inner) => Some((last.ident.to_string(), inner)),
        _ => None,
    }
}
