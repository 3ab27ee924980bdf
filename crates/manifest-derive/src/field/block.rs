//! Nodes in the block of a node.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{Field, Role};
use crate::shape::Outer;

impl Field {
    fn line(&self) -> TokenStream {
        let inner = &self.shape.inner;
        self.options.value("of").cloned().unwrap_or_else(|| quote!(#inner))
    }

    fn times(&self) -> TokenStream {
        if let Some(times) = self.options.value("times") {
            return quote!(crate::Arity::#times);
        }
        let times = match self.shape.outer {
            Outer::Many => "Any",
            Outer::One if !self.options.is_set("default") && !self.is_mark() => "Once",
            _ => "AtMostOnce",
        };
        let times = format_ident!("{times}");
        quote!(crate::Arity::#times)
    }

    fn is_mark(&self) -> bool {
        self.role == Role::Leaf && self.shape.is_named("bool")
    }

    fn is_list(&self) -> bool {
        self.shape.outer == Outer::Many && !self.options.is_set("single")
    }

    /// Returns the statement that reads the nodes into a variable of the field's name.
    pub fn read_block(&self) -> TokenStream {
        let (ident, times, line) = (&self.ident, self.times(), self.line());
        match self.role {
            Role::Child => {
                let name = self.options.string("name").map(|name| quote!(#name));
                let name = name.unwrap_or_else(|| quote!(<#line as crate::line::Line>::SPEC.name));
                quote! {
                    let #ident = lines.collect(#name, #times, |node| {
                        <#line as crate::line::Line>::read(node, scope)
                    });
                }
            }
            Role::Leaf => {
                let (name, read) = (self.name(), self.read_leaf());
                quote!(let #ident = lines.collect(#name, #times, |node| { #read });)
            }
            Role::Flat => {
                let (into, whole) = (self.options.is_set("of"), &self.shape.inner);
                let into = into.then(|| quote!(.map(Into::into)));
                let take = quote!(<#line as crate::line::Lines>::take(&mut lines, scope)#into);
                if self.shape.outer == Outer::Perhaps {
                    let value = quote!(if lines.is_empty() { None } else { Some(#take) });
                    return quote!(let #ident: Option<Option<#whole>> = #value;);
                }
                quote!(let #ident: Option<#whole> = #take;)
            }
            _ => TokenStream::new(),
        }
    }

    fn read_leaf(&self) -> TokenStream {
        if self.is_mark() {
            return quote!(let _ = node; Some(vec![()]));
        }
        let (parsed, stored) = (self.parsed(), self.stored());
        let (name, noun) = (self.name(), self.options.text(1));
        let resolve = self.resolve(&quote!(read));
        let once = self.options.is_set("once").then(|| {
            let subject = self.options.string("once").unwrap_or(name);
            quote! {
                for key in &read {
                    scope.give(#subject, &key.value.to_string(), Default::default(), &key.place);
                }
            }
        });
        let check = self.options.value("check").map(|check| quote!(#check(node, scope, &read);));
        let method = if self.is_list() { "at_least_one" } else { "argument" };
        let method = format_ident!("{method}");
        quote! {
            let read: Vec<_> = node.#method::<#parsed>(#noun).into_iter()#stored.collect();
            #resolve
            #once
            #check
            Some(read)
        }
    }

    pub(super) fn block_value(&self) -> TokenStream {
        let ident = &self.ident;
        if self.role == Role::Flat {
            let perhaps = self.shape.outer == Outer::Perhaps;
            return if perhaps {
                quote!(#ident.map_or(Some(None), |read| read.map(Some))?)
            } else {
                quote!(#ident?)
            };
        }
        if self.is_mark() {
            return quote!(!#ident.is_empty());
        }
        let plain = self.role == Role::Leaf && !self.shape.spanned;
        let plain = plain.then(|| quote!(.map(|read| read.value)));
        if let Some(draft) = self.options.value("draft") {
            return quote!(#ident.into_iter().next()#plain.unwrap_or_else(|| #draft));
        }
        if self.shape.is_map {
            return quote!(#ident.into_iter().map(|node| (node.name.value.clone(), node)).collect());
        }
        match self.shape.outer {
            Outer::Many => quote!(#ident.into_iter()#plain.collect()),
            Outer::Perhaps => quote!(#ident.into_iter().next()#plain),
            Outer::One if self.options.is_set("default") => {
                quote!(#ident.into_iter().next()#plain.unwrap_or_default())
            }
            Outer::One => quote!(#ident.into_iter().next()#plain?),
        }
    }

    /// Returns a list of the nodes' specifications.
    pub fn nodes(&self) -> TokenStream {
        let (line, times) = (self.line(), self.times());
        if self.role == Role::Flat {
            let nodes = quote!(<#line as crate::line::Lines>::NODES);
            return if self.options.is_set("kinds") {
                quote!(&crate::node_spec::of_all::<{ #nodes.len() }>(#nodes),)
            } else {
                quote!(#nodes,)
            };
        }
        let spec = if self.role == Role::Leaf { self.leaf_spec() } else { self.child_spec(&line) };
        let kinds = self.options.is_set("kinds").then(|| {
            let kinds_of_field = self.options.value("kinds").map(|kinds| {
                quote!({
                    use crate::PackageKind::*;
                    const KINDS: &[crate::PackageKind] = &[#kinds];
                    KINDS
                })
            });
            let kinds = kinds_of_field.unwrap_or_else(|| quote!(crate::PackageKind::ALL));
            quote!(.for_kinds(#kinds))
        });
        quote!(&[#spec.times(#times)#kinds],)
    }

    fn child_spec(&self, line: &TokenStream) -> TokenStream {
        let renaming = self.options.string("name").map(|name| {
            let usage = self.options.string("usage");
            let (does, example) = (&self.doc, self.options.string("example"));
            quote!(.named(#name, #usage, #does, #example))
        });
        quote!(<#line as crate::line::Line>::SPEC #renaming)
    }

    fn leaf_spec(&self) -> TokenStream {
        let (name, does) = (self.name(), &self.doc);
        let (word, says) = (self.options.text(0), self.options.text(2));
        let example = self.options.string("example").unwrap_or_else(|| name.clone());
        let (arguments, kind) = if self.is_list() {
            (format!(" \"{word}\" \"{word}\""), "OneOrMore")
        } else {
            (format!(" \"{word}\""), "Argument")
        };
        let arguments =
            self.options.string("shown").map_or(arguments, |arguments| format!(" {arguments}"));
        let usage = if self.is_mark() { name.clone() } else { format!("{name}{arguments}") };
        let kind = format_ident!("{kind}");
        let part = (!self.is_mark()).then(
            || quote!(crate::ArgSpec { takes: crate::ArgKind::#kind, name: #word, says: #says }),
        );
        quote!(crate::NodeSpec {
            name: #name,
            usage: #usage,
            does: #does,
            parts: &[#part],
            example: #example,
            ..crate::NodeSpec::EMPTY
        })
    }
}
