//! A field of a node's type: one argument, one property, or the nodes of one name in the block.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;

use crate::options::{Options, doc};
use crate::shape::{Outer, Shape};

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
    pub fn of(field: &syn::Field) -> syn::Result<Self> {
        let ident = field.ident.clone();
        let ident = ident.ok_or_else(|| syn::Error::new_spanned(field, "a field needs a name"))?;
        let marked = field.attrs.iter().find_map(|attribute| {
            let role = ROLES.iter().find(|(name, _)| attribute.path().is_ident(name))?.1;
            Some((role, attribute))
        });
        let (role, options) = match marked {
            Some((role, attribute)) => (role, Options::of(attribute)?),
            None => (Role::None, Options::default()),
        };
        let (shape, doc) = (Shape::of(&field.ty), doc(&field.attrs));
        Ok(Self { ident, role, shape, options, doc })
    }

    /// Returns the name of the property or node.
    pub fn name(&self) -> String {
        self.options.string("name").unwrap_or_else(|| self.ident.to_string().replace('_', "-"))
    }

    pub fn is_block(&self) -> bool {
        matches!(self.role, Role::Child | Role::Leaf | Role::Flat)
    }

    /// Returns whether it has lines that can count for some targets only.
    pub fn has_conditions(&self) -> bool {
        matches!(self.role, Role::Child | Role::Flat)
            && (self.options.has("keep") || !self.options.has("of"))
    }

    /// Returns whether the field's text is part of the key that can be given once.
    pub fn is_key(&self) -> bool {
        self.options.has("key") || self.role == Role::Each
    }

    /// Returns the part as the usage shows it, with a blank before.
    pub fn usage(&self) -> String {
        if let Some(shown) = self.options.string("shown") {
            return if shown.is_empty() { shown } else { format!(" {shown}") };
        }
        let text = self.options.text(0);
        match self.role {
            Role::Arg if self.shape.outer != Outer::Many => format!(" \"{text}\""),
            Role::Arg | Role::Each => format!(" \"{text}\" \"{text}\""),
            Role::Prop if self.is_flag() => format!(" {}=#true", self.name()),
            Role::Prop => {
                format!(" {}=\"{}\"", self.name(), if text.is_empty() { "…" } else { text })
            }
            Role::When => " mode=\"…\" on=\"…\"".to_owned(),
            _ => String::new(),
        }
    }

    /// Returns the specification of its arguments and properties.
    pub fn parts(&self) -> TokenStream {
        let (name, says) = (self.name(), &self.doc);
        let (takes, name) = match self.role {
            Role::Arg | Role::Each => (self.argument_kind(), self.options.text(0).to_owned()),
            Role::Prop if self.is_flag() => ("Flag", name),
            Role::Prop if self.is_count() => ("Count", name),
            Role::Prop if self.is_required() => ("Required", name),
            Role::Prop => ("Optional", name),
            Role::When => return quote!(crate::node_spec::MODE, crate::node_spec::ON,),
            _ => return TokenStream::new(),
        };
        let takes = format_ident!("{takes}");
        quote!(crate::ArgSpec { takes: crate::ArgKind::#takes, name: #name, says: #says },)
    }

    fn argument_kind(&self) -> &'static str {
        match self.shape.outer {
            Outer::Many if self.options.has("many") => "Arguments",
            Outer::Many => "OneOrMore",
            _ if self.role == Role::Each => "OneOrMore",
            Outer::Perhaps => "OptionalArgument",
            Outer::One => "Argument",
        }
    }

    fn is_flag(&self) -> bool {
        self.shape.is("bool") && !self.options.has("present")
    }

    fn is_count(&self) -> bool {
        self.shape.is("usize")
    }

    fn is_required(&self) -> bool {
        self.options.has("required")
            || self.shape.outer == Outer::One
                && !self.options.has("default")
                && !self.options.has("present")
    }

    /// Returns the statement that reads the part into a variable of the field's name.
    pub fn read(&self) -> TokenStream {
        let (ident, name, what) = (&self.ident, self.name(), self.options.text(1));
        if let Some(read) = self.options.value("read") {
            return quote!(let #ident = #read(node, scope););
        }
        if self.role == Role::Calc {
            let function = format_ident!("{}", self.options.first());
            return quote!(let #ident = #function(node, scope););
        }
        let parsed = self.options.value("via").cloned().unwrap_or_else(|| {
            let inner = &self.shape.inner;
            quote!(#inner)
        });
        let value = match (self.role, self.argument_kind()) {
            (Role::Arg | Role::Each, "Argument") => quote!(node.argument::<#parsed>(#what)),
            (Role::Arg | Role::Each, "OptionalArgument") => {
                quote!(node.optional_argument::<#parsed>())
            }
            (Role::Arg | Role::Each, "Arguments") => quote!(node.arguments::<#parsed>()),
            (Role::Arg | Role::Each, _) => quote!(node.at_least_one::<#parsed>(#what)),
            (Role::Prop, _) if self.is_flag() => quote!(node.flag(#name)),
            (Role::Prop, _) if self.is_count() => quote!(node.count(#name)),
            (Role::Prop, _) if self.is_required() => quote!(node.required::<#parsed>(#name)),
            (Role::Prop, _) => quote!(node.property::<#parsed>(#name)),
            (Role::When, _) => quote!(node.condition()),
            _ => return TokenStream::new(),
        };
        let plain = self.options.has("via") && !self.options.has("present");
        let value = match (plain, self.argument_kind()) {
            (false, _) => value,
            (true, "Arguments" | "OneOrMore") if self.role != Role::Prop => {
                quote!(#value.into_iter().map(|read| base::source::Spanned::new(read.value.0, read.place)).collect::<Vec<_>>())
            }
            (true, _) => {
                quote!(#value.map(|read| base::source::Spanned::new(read.value.0, read.place)))
            }
        };
        let value = match self.options.value("except") {
            Some(kind) => quote! {
                if scope.kind == Some(crate::PackageKind::#kind) { None } else { #value }
            },
            None => value,
        };
        let resolve = self.options.has("resolve").then(|| {
            let kind = self.options.value("resolve");
            let kind = kind.map_or_else(|| quote!(None), |kind| quote!(Some(#kind)));
            quote!(#ident.iter().for_each(|name| scope.resolve(name, #kind));)
        });
        if self.role == Role::When {
            return quote! {
                let was_sound = node.is_sound();
                let #ident = #value;
                let knows_condition = node.is_sound() || !was_sound;
            };
        }
        quote!(let #ident = #value; #resolve)
    }

    /// Returns the expression that makes the field's value of what was read.
    pub fn value(&self) -> TokenStream {
        let ident = &self.ident;
        let spanned = self.shape.spanned;
        match (self.role, self.shape.outer) {
            (Role::None, _) => quote!(Default::default()),
            (Role::When | Role::Calc, _) => quote!(#ident),
            (Role::Flat, Outer::Perhaps) => quote!(match #ident {
                Some(read) => Some(read?),
                None => None,
            }),
            (Role::Flat, _) => quote!(#ident?),
            (Role::Each, _) if spanned => quote!(#ident),
            (Role::Each, _) => quote!(#ident.value),
            (Role::Prop, _) if self.options.has("present") => quote!(#ident.is_some()),
            (Role::Prop, _) if self.is_flag() => quote!(#ident),
            (Role::Prop, Outer::One) if self.is_count() => {
                let default = self.options.value("default");
                quote!(#ident.unwrap_or(#default))
            }
            (Role::Prop, Outer::Perhaps) if self.is_count() => quote!(#ident),
            (Role::Child | Role::Leaf, _) => self.block_value(),
            (_, Outer::One) => match (self.options.has("default"), self.options.value("default")) {
                (false, _) if spanned => quote!(#ident?),
                (false, _) => quote!(#ident?.value),
                (true, Some(default)) => quote!(#ident.map_or(#default, |read| read.value)),
                (true, None) => quote!(#ident.map(|read| read.value).unwrap_or_default()),
            },
            (_, Outer::Perhaps) if self.options.has("required") => quote!(Some(#ident?.value)),
            (_, Outer::Perhaps) if spanned => quote!(#ident),
            (_, Outer::Perhaps) => quote!(#ident.map(|read| read.value)),
            (_, Outer::Many) if spanned => quote!(#ident),
            (_, Outer::Many) => quote!(#ident.into_iter().map(|read| read.value).collect()),
        }
    }

    fn block_value(&self) -> TokenStream {
        let ident = &self.ident;
        if self.role == Role::Leaf && self.shape.is("bool") {
            let absent = quote!(#ident.is_empty());
            return if self.options.has("not") { absent } else { quote!(!#absent) };
        }
        let plain = (self.role == Role::Leaf && !self.shape.spanned)
            .then(|| quote!(.map(|read| read.value)));
        if let Some(draft) = self.options.value("draft") {
            return quote!(#ident.into_iter().next()#plain.unwrap_or_else(|| #draft));
        }
        if let Some(key) = self.options.value("by") {
            return quote!(#ident.into_iter().map(|made| (made.#key.value.clone(), made)).collect());
        }
        match self.shape.outer {
            Outer::Many => quote!(#ident.into_iter()#plain.collect()),
            Outer::Perhaps => quote!(#ident.into_iter().next()#plain),
            Outer::One if self.options.has("default") => {
                quote!(#ident.into_iter().next()#plain.unwrap_or_default())
            }
            Outer::One => quote!(#ident.into_iter().next()#plain?),
        }
    }

    /// Returns the type that reads the nodes: `of`, or the field's own.
    fn line(&self) -> TokenStream {
        let inner = &self.shape.inner;
        self.options.value("of").cloned().unwrap_or_else(|| quote!(#inner))
    }

    fn times(&self) -> TokenStream {
        let times = match self.shape.outer {
            _ if self.options.has("once") && self.role == Role::Child => "Once",
            Outer::Many if self.options.has("at_least_once") => "AtLeastOnce",
            Outer::Many if self.options.has("at_most_once") => "AtMostOnce",
            Outer::Many => "Any",
            Outer::Perhaps => "AtMostOnce",
            Outer::One if self.options.has("default") => "AtMostOnce",
            Outer::One if self.shape.is("bool") => "AtMostOnce",
            Outer::One => "Once",
        };
        let times = format_ident!("{times}");
        quote!(crate::Arity::#times)
    }

    /// Returns the statement that reads the nodes into a variable of the field's name.
    pub fn read_block(&self) -> TokenStream {
        let (ident, times) = (&self.ident, self.times());
        let inner = self.line();
        match self.role {
            Role::Child => {
                let name = match self.options.string("name") {
                    Some(name) => quote!(#name),
                    None => quote!(<#inner as crate::line::Line>::SPEC.name),
                };
                quote! {
                    let #ident = lines.collect(#name, #times, |node| {
                        <#inner as crate::line::Line>::read(node, scope)
                    });
                }
            }
            Role::Leaf => {
                let name = self.name();
                let read = self.read_leaf();
                quote!(let #ident = lines.collect(#name, #times, |node| { #read });)
            }
            Role::Flat => {
                let into = self.options.has("of").then(|| quote!(.map(Into::into)));
                let take = quote!(<#inner as crate::line::Lines>::take(&mut lines, scope)#into);
                let whole = &self.shape.inner;
                match self.shape.outer {
                    Outer::Perhaps => quote! {
                        let #ident: Option<Option<#whole>> =
                            if lines.is_empty() { None } else { Some(#take) };
                    },
                    _ => quote!(let #ident: Option<#whole> = #take;),
                }
            }
            _ => TokenStream::new(),
        }
    }

    fn read_leaf(&self) -> TokenStream {
        let (name, what) = (self.name(), self.options.text(1));
        if self.shape.is("bool") {
            return quote!(let _ = node; Some(vec![()]));
        }
        let inner = &self.shape.inner;
        let parsed = self.options.value("via").cloned().unwrap_or_else(|| quote!(#inner));
        let via = self
            .options
            .has("via")
            .then(|| quote!(.map(|read| base::source::Spanned::new(read.value.0, read.place))));
        let resolve = self.options.has("resolve").then(|| {
            let kind = self.options.value("resolve");
            let kind = kind.map_or_else(|| quote!(None), |kind| quote!(Some(#kind)));
            quote!(read.iter().for_each(|name| scope.resolve(name, #kind));)
        });
        let once = self.options.has("once").then(|| {
            let what = self.options.string("once").unwrap_or_else(|| name.clone());
            quote!(read.iter().for_each(|key| { scope.give(#what, &key.value.to_string(), Default::default(), &key.place); });)
        });
        let check = self.options.value("check").map(|check| quote!(#check(node, scope, &read);));
        let read = if self.is_list() {
            quote!(let read: Vec<_> = node.at_least_one::<#parsed>(#what).into_iter()#via.collect();)
        } else {
            quote!(let read: Vec<_> = node.argument::<#parsed>(#what).into_iter()#via.collect();)
        };
        quote!(#read #resolve #once #check Some(read))
    }

    /// Returns whether a leaf takes a list of arguments.
    fn is_list(&self) -> bool {
        self.shape.outer == Outer::Many && !self.options.has("single")
    }

    /// Returns the specification of the nodes in the block.
    pub fn nodes(&self) -> TokenStream {
        let (inner, times) = (&self.line(), self.times());
        if self.role == Role::Flat {
            let nodes = quote!(<#inner as crate::line::Lines>::NODES);
            return match self.options.has("kinds") {
                true => quote!(&crate::node_spec::of_all::<{ #nodes.len() }>(#nodes),),
                false => quote!(#nodes,),
            };
        }
        let spec = self.spec(inner, &times);
        let kinds = self.options.has("kinds").then(|| match self.options.value("kinds") {
            Some(kinds) => quote!(.of({
                use crate::PackageKind::*;
                const KINDS: &[crate::PackageKind] = &[#kinds];
                KINDS
            })),
            None => quote!(.of(crate::PackageKind::ALL)),
        });
        quote!(&[#spec #kinds],)
    }

    fn spec(&self, inner: &TokenStream, times: &TokenStream) -> TokenStream {
        match self.role {
            Role::Child => {
                let named = self.options.string("name").map(|name| {
                    let usage = self.options.string("usage");
                    let (does, example) = (&self.doc, self.options.string("example"));
                    quote!(.named(#name, #usage, #does, #example))
                });
                quote!(<#inner as crate::line::Line>::SPEC #named .times(#times))
            }
            Role::Leaf => {
                let (name, does) = (self.name(), &self.doc);
                let (word, says) = (self.options.text(0), self.options.text(2));
                let example = self.options.string("example").unwrap_or_else(|| name.clone());
                let (usage, parts) = if self.shape.is("bool") {
                    (name.clone(), TokenStream::new())
                } else {
                    let (shown, takes) = if self.is_list() {
                        (format!("\"{word}\" \"{word}\""), "OneOrMore")
                    } else {
                        (format!("\"{word}\""), "Argument")
                    };
                    let takes = format_ident!("{takes}");
                    let shown = self.options.string("usage").unwrap_or(shown);
                    let part = quote! {
                        crate::ArgSpec { takes: crate::ArgKind::#takes, name: #word, says: #says }
                    };
                    (format!("{name} {shown}"), part)
                };
                quote!(crate::NodeSpec {
                    name: #name, usage: #usage, does: #does, times: #times, kinds: &[],
                    parts: &[#parts], nodes: &[], example: #example,
                })
            }
            _ => TokenStream::new(),
        }
    }
}
