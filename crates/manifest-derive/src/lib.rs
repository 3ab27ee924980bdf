//! `#[derive(Line)]`: reader and specification of a manifest node, from the type that it becomes.
//!
//! Takes a struct whose doc comments are the node's help; returns an implementation of `crate::line::Line` in the
//! crate `manifest`, or of `Lines` for a struct without a name. Never sees a manifest.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, parse_macro_input};

mod field;
mod node;
mod options;
mod shape;

/// Derives `Line`, and `HasCondition` and `HasGlob` where the fields `when` and `glob` exist.
#[proc_macro_derive(Line, attributes(line, arg, each, prop, when, child, leaf, flat, calc))]
pub fn line(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    derived(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

fn derived(input: &DeriveInput) -> syn::Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(syn::Error::new_spanned(input, "a node is a struct"));
    };
    let node = node::Node::of(input, &data.fields)?;
    let name = &input.ident;
    if node.is_flat() {
        let (nodes, take, keep) = (node.nodes(), node.take(), node.keep());
        return Ok(quote! {
            #keep
            impl crate::line::Lines for #name {
                const NODES: &'static [crate::NodeSpec] = #nodes;

                fn take<'a>(
                    mut lines: &mut crate::reader::Block<'a>,
                    scope: &crate::line::Scope<'_, 'a>,
                ) -> Option<Self> {
                    #take
                }
            }
        });
    }
    let (spec, read, traits) = (node.spec(), node.read(), node.traits());
    let makes = node.makes();
    Ok(quote! {
        impl crate::line::Line for #name {
            type Made = #makes;
            const SPEC: crate::NodeSpec = #spec;

            fn read<'a>(
                node: &mut crate::reader::Node<'a>,
                scope: &crate::line::Scope<'_, 'a>,
            ) -> Option<Vec<Self::Made>> {
                #read
            }
        }
        #traits
    })
}
