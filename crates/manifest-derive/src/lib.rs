//! `#[derive(Line)]`: reader and specification of a manifest node, from its Rust type.
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
    let node = node::Node::parse(input, &data.fields)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn derived_from(text: &str) -> String {
        let input: DeriveInput = syn::parse_str(text).unwrap();
        derived(&input).unwrap_or_else(syn::Error::into_compile_error).to_string()
    }

    #[test]
    fn a_usage_has_every_part_in_the_order_of_the_fields() {
        let node = r#"/// Leaves files out.
            #[line("drop", once)]
            struct Rule {
                /// Paths.
                #[each("GLOB", "a glob")]
                glob: Spanned<Glob>,
                /// Everywhere.
                #[prop]
                everywhere: bool,
                /// Package.
                #[prop("PACKAGE", name = "in")]
                package: Option<String>,
                /// Targets.
                #[when]
                when: Condition,
            }"#;
        let text = derived_from(node);
        let usage = r#"drop \"GLOB\" \"GLOB\" everywhere=#true in=\"PACKAGE\" mode=\"…\" on=\"…\""#;
        assert!(text.contains(usage), "{text}");
        assert!(text.contains("Leaves files out.") && text.contains("HasGlob"), "{text}");
    }

    #[test]
    fn reports_mistakes_in_attributes_as_compile_errors() {
        for (attributes, says) in [
            ("#[line(\"a\", onces)]", "unknown option `onces`"),
            ("#[line(\"a\", check(b))]", "a check is a call"),
        ] {
            let text = derived_from(&format!("{attributes} struct A {{ b: String }}"));
            assert!(text.contains("compile_error") && text.contains(says), "{text}");
        }
        assert!(derived_from("enum A {}").contains("a node is a struct"));
    }
}
