//! A node: its attribute, and its fields in their order.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Fields, Ident};

use crate::field::{Field, Role};
use crate::options::{Options, doc};

/// A struct with `#[line("NAME", example = "…")]`.
pub struct Node {
    ident: Ident,
    options: Options,
    fields: Vec<Field>,
    doc: String,
}

impl Node {
    pub fn parse(input: &DeriveInput, fields: &Fields) -> syn::Result<Self> {
        let attribute = input.attrs.iter().find(|attribute| attribute.path().is_ident("line"));
        let options = attribute.map(Options::parse).transpose()?.unwrap_or_default();
        let fields = fields.iter().map(Field::parse).collect::<syn::Result<_>>()?;
        Ok(Self { ident: input.ident.clone(), options, fields, doc: doc(&input.attrs) })
    }

    fn has_block(&self) -> bool {
        self.fields.iter().any(Field::is_block)
    }

    fn usage(&self) -> String {
        self.options.string("usage").unwrap_or_else(|| {
            let parts: String = self.fields.iter().map(Field::usage).collect();
            let block = if self.has_block() { " { … }" } else { "" };
            format!("{}{parts}{block}", self.options.text(0))
        })
    }

    /// Returns the node's specification.
    pub fn spec(&self) -> TokenStream {
        let (name, usage, does) = (self.options.text(0), self.usage(), &self.doc);
        let example = self.options.string("example").unwrap_or_else(|| name.to_owned());
        let parts = self.fields.iter().map(Field::parts);
        let nodes = self.nodes();
        quote!(crate::NodeSpec {
            name: #name,
            usage: #usage,
            does: #does,
            times: crate::Arity::Any,
            kinds: &[],
            parts: &[#(#parts)*],
            nodes: #nodes,
            example: #example,
        })
    }

    /// Returns the specifications of the nodes in the block.
    pub fn nodes(&self) -> TokenStream {
        if !self.has_block() {
            return quote!(&[]);
        }
        let nodes = self.fields.iter().filter(|field| field.is_block()).map(Field::nodes);
        let after = self.options.value("after").map(|specs| quote!(&[#specs],));
        quote!({
            const PARTS: &[&[crate::NodeSpec]] = &[#(#nodes)* #after];
            &crate::node_spec::joined::<{ crate::node_spec::count(PARTS) }>(PARTS)
        })
    }

    /// Returns whether it has no name: its nodes are part of another block.
    pub fn is_flat(&self) -> bool {
        self.options.text(0).is_empty()
    }

    /// Returns the body of the function that takes its nodes out of a block.
    pub fn take(&self) -> TokenStream {
        let reads = self.fields.iter().map(Field::read_block);
        let checks = self.options.values("check").map(|call| self.check(call, &quote!(scope)));
        let idents = self.fields.iter().map(|field| &field.ident);
        let values = self.fields.iter().map(Field::value);
        quote! {
            #(#reads)*
            #(#checks)*
            Some(Self { #(#idents: #values),* })
        }
    }

    /// Returns the body of the function that reads a node. A line with an unreadable condition gives no name: its
    /// targets are unknown.
    pub fn read(&self) -> TokenStream {
        let (parts, block): (Vec<_>, Vec<_>) = self.fields.iter().partition(|f| !f.is_block());
        let reads = parts.iter().map(|field| field.read());
        let once = self.once();
        let checks =
            self.options.values("check").map(|call| self.check(call, &quote!(node, scope)));
        let block = self.has_block().then(|| {
            let open = if let Some(open) = self.options.value("within") {
                quote! {
                    let (inner, mut lines) = #open(node, scope);
                    let scope = &inner;
                }
            } else {
                quote!(let mut lines = node.block();)
            };
            let reads = block.iter().map(|field| field.read_block());
            quote! {
                #open
                #(#reads)*
                lines.finish();
            }
        });
        let value = self.value();
        quote! {
            #(#reads)*
            let outer = scope;
            #block
            let scope = outer;
            #once
            #(#checks)*
            #value
        }
    }

    fn check(&self, call: &TokenStream, before: &TokenStream) -> TokenStream {
        let Ok(syn::Expr::Call(call)) = syn::parse2(call.clone()) else {
            return syn::Error::new_spanned(call, "a check is a call").into_compile_error();
        };
        let passed = call.args.iter().map(|name| {
            let text = quote!(#name).to_string();
            let is_named = |field: &&Field| field.ident == text;
            self.fields.iter().find(is_named).map_or_else(|| quote!(#name), Field::passed)
        });
        let function = call.func;
        quote!(#function(#before, #(#passed),*);)
    }

    /// Returns the statement that notes a name that the file or package may have once.
    fn once(&self) -> Option<TokenStream> {
        if !self.options.is_set("once") {
            return None;
        }
        let main = self.fields.iter().find(|field| field.role == Role::Each);
        let main = main.or_else(|| self.fields.iter().find(|field| field.role == Role::Arg))?;
        let ident = &main.ident;
        let condition = self.fields.iter().find(|field| field.role == Role::When);
        let check_condition =
            if condition.is_some() { quote!(knows_condition) } else { quote!(true) };
        let condition = condition.map_or_else(
            || quote!(Default::default()),
            |field| {
                let ident = &field.ident;
                quote!(#ident)
            },
        );
        let noun = self.options.string("once");
        let noun = noun.map_or_else(|| quote!(node.word()), |noun| quote!(#noun));
        let in_file = self.options.value("once").is_some_and(|once| once.to_string() == "in_file");
        let give = if in_file { quote!(give_in_file) } else { quote!(give) };
        Some(quote! {
            if #check_condition {
                for key in #ident.iter() {
                    scope.#give(#noun, &key.value.to_string(), #condition, &key.place);
                }
            }
        })
    }

    fn value(&self) -> TokenStream {
        let list_field = self.fields.iter().find(|field| field.role == Role::Each);
        let Some(list_field) = list_field else {
            let value = self.expression(Field::value);
            return quote!(#value.map(|value| vec![value]));
        };
        let shared = self.fields.iter().filter(|field| field.role != Role::Each);
        let shared = shared.map(|field| {
            let (ident, value) = (&field.ident, field.value());
            quote!(let #ident = #value;)
        });
        let value = self.expression(|field| {
            let ident = &field.ident;
            if field.role == Role::Each { field.value() } else { quote!(#ident.clone()) }
        });
        let list_field = &list_field.ident;
        quote! {
            #(#shared)*
            Some(#list_field.into_iter().filter_map(|#list_field| #value).collect())
        }
    }

    /// Returns the expression of one value: the struct, or `then` of it, which returns a value or an option.
    fn expression(&self, value: impl Fn(&Field) -> TokenStream) -> TokenStream {
        let values: Vec<_> = self.fields.iter().map(value).collect();
        let conversion = self.options.value("then");
        let value = if conversion.is_some() { quote!(Self) } else { self.makes() };
        let idents = self.fields.iter().map(|field| &field.ident);
        let value = quote!(#value { #(#idents: #values,)* });
        if let Some(conversion) = conversion {
            let makes = self.makes();
            quote!(Option::<#makes>::from(#conversion(#value, node, scope)))
        } else {
            quote!(Some(#value))
        }
    }

    /// Returns the type that its values have.
    pub fn makes(&self) -> TokenStream {
        self.options.value("makes").cloned().unwrap_or_else(|| quote!(Self))
    }

    /// Returns the filter for one target: `#[when]`, and the lines in the block.
    pub fn keep(&self) -> Option<TokenStream> {
        if self.options.is_set("makes") {
            return None;
        }
        let name = &self.ident;
        let lines: Vec<&Field> =
            self.fields.iter().filter(|field| field.has_conditions()).collect();
        let idents = lines.iter().map(|field| &field.ident);
        let needed = lines.iter().filter(|field| field.is_needed());
        let needed = needed.map(|field| &field.ident);
        let condition = self.fields.iter().find(|field| field.role == Role::When);
        let condition = condition.map(|field| &field.ident).into_iter();
        let also = self.options.value("keep").map(|keep| quote!(#keep(self, target);));
        Some(quote! {
            impl crate::line::Keep for #name {
                fn keep(&mut self, target: base::target::Target) -> bool {
                    #(crate::line::Keep::keep(&mut self.#idents, target);)*
                    #also
                    let _ = target;
                    true #(&& self.#condition.holds(target))* #(&& !self.#needed.is_empty())*
                }
            }
        })
    }

    /// Returns the traits that single fields give.
    pub fn traits(&self) -> TokenStream {
        let name = &self.ident;
        let has_field =
            |field: &&Field, ident: &str| field.ident == ident && field.role != Role::None;
        let condition = self.fields.iter().find(|field| has_field(field, "when")).map(|_| {
            quote! {
                impl crate::HasCondition for #name {
                    fn when(&self) -> base::target::Condition {
                        self.when
                    }
                }
            }
        });
        let glob = self.fields.iter().find(|field| has_field(field, "glob"));
        let glob = glob.filter(|f| f.shape.spanned && f.shape.is_named("Glob")).map(|_| {
            quote! {
                impl crate::HasGlob for #name {
                    fn glob(&self) -> &crate::Glob {
                        &self.glob
                    }
                }
            }
        });
        let moved = self.options.is_set("makes").then(|| {
            let idents = self.fields.iter().map(|field| &field.ident);
            // Fields of a line that becomes another type are read here alone.
            quote!(const _: fn(&#name) = |line| { let _ = (#(&line.#idents,)*); };)
        });
        let keep = self.keep();
        quote!(#condition #glob #moved #keep)
    }
}
