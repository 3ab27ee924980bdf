//! A field of a node's type: one argument, one property, or the nodes of one name in the block.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::options::{Options, doc};
use crate::shape::Shape;

mod block;
mod part;

/// Part of a node that a field holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// `#[arg("NAME", "a name")]`: one argument, or all further ones.
    Arg,
    /// `#[each("GLOB", "a glob")]`: all further arguments; the node makes one value for each.
    Each,
    /// `#[prop("GLOB")]`: a property, a switch or a count.
    Prop,
    /// `#[when]`: `mode` and `on`.
    When,
    /// `#[child]`: nodes that have a type.
    Child,
    /// `#[leaf("NAME", "a name", "Help.")]`: nodes that have arguments alone.
    Leaf,
    /// `#[flat]`: a type of nodes that are in the same block.
    Flat,
    /// `#[calc(function)]`: computed before anything is read.
    Calc,
    /// Filled by the `then` function.
    None,
}

const ROLES: [(&str, Role); 8] = [
    ("arg", Role::Arg),
    ("each", Role::Each),
    ("prop", Role::Prop),
    ("when", Role::When),
    ("child", Role::Child),
    ("leaf", Role::Leaf),
    ("flat", Role::Flat),
    ("calc", Role::Calc),
];

pub struct Field {
    pub ident: Ident,
    pub role: Role,
    pub shape: Shape,
    pub options: Options,
    doc: String,
}

impl Field {
    pub fn parse(field: &syn::Field) -> syn::Result<Self> {
        let ident = field.ident.clone();
        let ident = ident.ok_or_else(|| syn::Error::new_spanned(field, "a field needs a name"))?;
        let marked = field.attrs.iter().find_map(|attribute| {
            let role = ROLES.iter().find(|(name, _)| attribute.path().is_ident(name))?.1;
            Some((role, attribute))
        });
        let (role, options) = match marked {
            Some((role, attribute)) => (role, Options::parse(attribute)?),
            None => (Role::None, Options::default()),
        };
        let (shape, doc) = (Shape::new(&field.ty), doc(&field.attrs));
        Ok(Self { ident, role, shape, options, doc })
    }

    /// Returns the name of the property or node.
    pub fn name(&self) -> String {
        self.options.string("name").unwrap_or_else(|| self.ident.to_string().replace('_', "-"))
    }

    pub fn is_block(&self) -> bool {
        matches!(self.role, Role::Child | Role::Leaf | Role::Flat)
    }

    /// Returns whether the node is nothing without a line of it.
    pub fn is_needed(&self) -> bool {
        self.options.value("times").is_some_and(|times| times.to_string() == "AtLeastOnce")
    }

    /// Returns whether it has lines that can count for some targets only.
    pub fn has_conditions(&self) -> bool {
        matches!(self.role, Role::Child | Role::Flat) && !self.options.is_set("of")
    }

    fn parsed(&self) -> TokenStream {
        let inner = &self.shape.inner;
        self.options.value("via").cloned().unwrap_or_else(|| quote!(#inner))
    }

    fn stored(&self) -> Option<TokenStream> {
        self.options
            .is_set("via")
            .then(|| quote!(.map(|read| base::source::Spanned::new(read.value.0, read.place))))
    }

    fn resolve(&self, variable: &TokenStream) -> Option<TokenStream> {
        self.options.is_set("resolve").then(|| {
            let kind = self.options.value("resolve");
            let kind = kind.map_or_else(|| quote!(None), |kind| quote!(Some(#kind)));
            quote! {
                for name in #variable.iter() {
                    scope.resolve(name, #kind);
                }
            }
        })
    }
}
