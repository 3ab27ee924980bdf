//! Options of an attribute: `#[prop("GLOB", name = "in", resolve)]`.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta, Token, parenthesized};

/// Texts in their order, and named values.
#[derive(Default)]
pub struct Options {
    texts: Vec<String>,
    values: Vec<(String, Option<TokenStream>)>,
}

const KNOWN: &[&str] = &[
    "after", "check", "default", "draft", "example", "keep", "kinds", "makes", "many", "name",
    "of", "once", "read", "resolve", "shown", "single", "then", "times", "usage", "via", "within",
];

enum Item {
    Text(String),
    Named(String, Option<TokenStream>),
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(LitStr) {
            return Ok(Self::Text(input.parse::<LitStr>()?.value()));
        }
        let name = input.parse::<Ident>()?.to_string();
        if input.peek(syn::token::Paren) {
            let content;
            parenthesized!(content in input);
            return Ok(Self::Named(name, Some(content.parse()?)));
        }
        if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            let value: Expr = input.parse()?;
            return Ok(Self::Named(name, Some(quote::quote!(#value))));
        }
        Ok(Self::Named(name, None))
    }
}

impl Options {
    /// Parses the attribute's list; an attribute without a list has no options.
    ///
    /// # Errors
    /// If an option is unknown, except the function of `calc`.
    pub fn parse(attribute: &Attribute) -> syn::Result<Self> {
        let mut options = Self::default();
        if let Meta::List(list) = &attribute.meta {
            let items = list.parse_args_with(Punctuated::<Item, Token![,]>::parse_terminated)?;
            for item in items {
                match item {
                    Item::Named(name, _)
                        if !KNOWN.contains(&&*name) && !attribute.path().is_ident("calc") =>
                    {
                        let message = format!("unknown option `{name}`");
                        return Err(syn::Error::new_spanned(list, message));
                    }
                    Item::Text(text) => options.texts.push(text),
                    Item::Named(name, value) => options.values.push((name, value)),
                }
            }
        }
        Ok(options)
    }

    /// Returns the text at an index, or an empty one.
    pub fn text(&self, index: usize) -> &str {
        self.texts.get(index).map_or("", String::as_str)
    }

    /// Returns the name of the first named option.
    pub fn first(&self) -> &str {
        self.values.first().map_or("", |(name, _)| name)
    }

    /// Returns whether the option is given, with or without a value.
    pub fn is_set(&self, name: &str) -> bool {
        self.values.iter().any(|(option, _)| option == name)
    }

    /// Returns the value of an option.
    pub fn value(&self, name: &str) -> Option<&TokenStream> {
        self.values.iter().find(|(option, _)| option == name)?.1.as_ref()
    }

    /// Returns the values of an option that can be repeated.
    pub fn values<'o>(&'o self, name: &'o str) -> impl Iterator<Item = &'o TokenStream> {
        self.values.iter().filter(move |(option, _)| option == name).filter_map(|(_, v)| v.as_ref())
    }

    /// Returns the value of an option that is a text.
    pub fn string(&self, name: &str) -> Option<String> {
        text(&syn::parse2(self.value(name)?.clone()).ok()?)
    }
}

fn text(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// Returns the first paragraph of a doc comment as one line.
pub fn doc(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => text(&pair.value),
        _ => None,
    });
    let first = lines.map(|line| line.trim().to_owned()).take_while(|line| !line.is_empty());
    first.collect::<Vec<_>>().join(" ")
}
