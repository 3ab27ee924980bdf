//! `store`: where the artifacts of builds are kept.

use super::{Context, Node};
use crate::reader::Reason;
use crate::{StoreRule, StoreUrl, StoreUrlError};
use base::target::Condition;

pub(super) fn rule<'a>(node: &mut Node<'a>, context: &Context<'a>) -> Option<StoreRule> {
    let name = node.argument::<String>("a name");
    let url = node.required::<StoreUrl>("url");
    let unsigned = node.flag("unsigned");
    let name = name?;
    context.give("store", &name.value, Condition::default(), &name.place);
    Some(StoreRule { name, url: url?, unsigned })
}

impl Reason for StoreUrlError {
    fn message(&self) -> String {
        format!("`{}` is no address of runs in a store", self.url)
    }

    fn label(&self) -> String {
        format!("it {}", self.reason)
    }

    fn help(&self) -> Option<String> {
        Some("write it like \"s3://bucket/{external}{run}-{system}/\"".to_owned())
    }
}
