//! Arguments, properties and condition of a node.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{Field, Role};
use crate::shape::Outer;

impl Field {
    /// Returns the part in the usage, with a blank before.
    pub fn usage(&self) -> String {
        if let Some(text) = self.options.string("shown") {
            return format!(" {text}");
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

    /// Returns the specification of the part.
    pub fn parts(&self) -> TokenStream {
        let (kind, says) = (self.kind(), &self.doc);
        let name = match self.role {
            Role::Arg | Role::Each => self.options.text(0).to_owned(),
            Role::Prop => self.name(),
            Role::When => return quote!(crate::node_spec::MODE, crate::node_spec::ON,),
            _ => return TokenStream::new(),
        };
        let kind = format_ident!("{kind}");
        quote!(crate::ArgSpec { takes: crate::ArgKind::#kind, name: #name, says: #says },)
    }

    fn kind(&self) -> &'static str {
        match (self.role, self.shape.outer) {
            (Role::Prop, _) if self.is_flag() => "Flag",
            (Role::Prop, _) if self.shape.is_named("usize") => "Count",
            (Role::Prop, _) if self.is_required() => "Required",
            (Role::Prop, _) => "Optional",
            (_, Outer::Many) if self.options.is_set("many") => "Arguments",
            (Role::Each, _) | (_, Outer::Many) => "OneOrMore",
            (_, Outer::Perhaps) => "OptionalArgument",
            (_, Outer::One) => "Argument",
        }
    }

    fn is_flag(&self) -> bool {
        self.shape.is_named("bool")
    }

    fn is_required(&self) -> bool {
        self.shape.outer == Outer::One && !self.options.is_set("default")
    }

    /// Returns the statements that read the part into a variable of the field's name.
    pub fn read(&self) -> TokenStream {
        let ident = &self.ident;
        let value = match self.role {
            Role::Calc => {
                let function = format_ident!("{}", self.options.first());
                quote!(#function(node, scope))
            }
            Role::When => {
                return quote! {
                    let was_sound = node.is_sound();
                    let #ident = node.condition();
                    let knows_condition = node.is_sound() || !was_sound;
                };
            }
            Role::Arg | Role::Each | Role::Prop => self.read_part(),
            _ => return TokenStream::new(),
        };
        let resolve = self.resolve(&quote!(#ident));
        quote!(let #ident = #value; #resolve)
    }

    fn read_part(&self) -> TokenStream {
        if let Some(read) = self.options.value("read") {
            return quote!(#read(node, scope));
        }
        let (name, noun) = (self.name(), self.options.text(1));
        let (parsed, stored) = (self.parsed(), self.stored());
        let list = stored.as_ref().map(|map| quote!(.into_iter()#map.collect::<Vec<_>>()));
        match self.kind() {
            "Flag" => quote!(node.flag(#name)),
            "Count" => quote!(node.count(#name)),
            "Required" => quote!(node.required::<#parsed>(#name)#stored),
            "Optional" => quote!(node.property::<#parsed>(#name)#stored),
            "Arguments" => quote!(node.arguments::<#parsed>()#list),
            "OneOrMore" => quote!(node.at_least_one::<#parsed>(#noun)#list),
            "OptionalArgument" => quote!(node.optional_argument::<#parsed>()#stored),
            _ => quote!(node.argument::<#parsed>(#noun)#stored),
        }
    }

    /// Returns the variable as checks take it: by reference, unless it is small.
    pub fn passed(&self) -> TokenStream {
        let ident = &self.ident;
        match (self.role, self.kind()) {
            (Role::When, _) | (Role::Prop, "Flag" | "Count") => quote!(#ident),
            (Role::Prop | Role::Flat, _) | (Role::Arg, "Argument" | "OptionalArgument") => {
                quote!(#ident.as_ref())
            }
            _ => quote!(&#ident),
        }
    }

    /// Returns the expression of the field's value, from the variable.
    pub fn value(&self) -> TokenStream {
        let ident = &self.ident;
        match self.role {
            Role::None => quote!(Default::default()),
            Role::When | Role::Calc => quote!(#ident),
            Role::Each if self.shape.spanned => quote!(#ident),
            Role::Each => quote!(#ident.value),
            Role::Arg | Role::Prop => self.part_value(),
            Role::Child | Role::Leaf | Role::Flat => self.block_value(),
        }
    }

    fn part_value(&self) -> TokenStream {
        let (ident, default) = (&self.ident, self.options.value("default"));
        let is_single = self.shape.outer == Outer::One;
        match self.kind() {
            "Count" if is_single => quote!(#ident.unwrap_or(#default)),
            "Flag" | "Count" => quote!(#ident),
            "Required" | "Argument" if self.shape.spanned => quote!(#ident?),
            "Required" | "Argument" => quote!(#ident?.value),
            "Optional" if is_single && default.is_some() => {
                quote!(#ident.map_or(#default, |read| read.value))
            }
            "Optional" if is_single => quote!(#ident.map(|read| read.value).unwrap_or_default()),
            _ if self.shape.spanned => quote!(#ident),
            "Optional" | "OptionalArgument" => quote!(#ident.map(|read| read.value)),
            _ => quote!(#ident.into_iter().map(|read| read.value).collect()),
        }
    }
}
