//! Having an action executed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use bazel_remote_apis::google::longrunning::operations_client::OperationsClient;
use bazel_remote_apis::google::longrunning::{CancelOperationRequest, Operation, operation};
use prost::Message as _;
use tokio::task::JoinHandle;
use tonic::{Code, Status, Streaming};

use super::action::Digest;
use super::client::{Client, Failure, LARGEST_MESSAGE, too_slow};
use api::execution_client::ExecutionClient;

/// How long a server may take to say that it has understood.
const STALL: Duration = Duration::from_secs(10);
/// How often it is looked whether anybody still needs the result.
pub(super) const TICK: Duration = Duration::from_millis(50);
/// How long it is tried to tell the server that nobody does.
pub(super) const CANCEL: Duration = Duration::from_secs(2);

/// What became of an action.
#[derive(Debug)]
pub(super) enum Answer {
    /// It came to its end, whatever its exit status is.
    Done(Box<api::ActionResult>),
    /// The server says that it lacks something, or something that it says when it does.
    Lacking(String),
    /// Nobody needs the result any more.
    Unneeded,
}

impl Client {
    /// Has an action executed, whose inputs the server has. `fresh` takes no earlier result of it. Waits as
    /// long as `is_needed`.
    pub async fn execute(
        &self,
        action: Digest,
        fresh: bool,
        is_needed: impl Fn() -> bool,
    ) -> Result<Answer, Failure> {
        self.try_often(|| async { (false, self.execute_once(action, fresh, &is_needed).await) })
            .await
    }

    async fn execute_once(
        &self,
        action: Digest,
        fresh: bool,
        is_needed: &impl Fn() -> bool,
    ) -> Result<Answer, Status> {
        let mut begun = Begun::ask(self, action, fresh);
        let answer = tokio::select! {
            answer = begun.follow() => answer,
            () = unneeded(is_needed) => return Ok(Answer::Unneeded),
        };
        begun.name.clear();
        match answer {
            Err(status) if is_lack(status.code()) => Ok(Answer::Lacking(self.said(&status))),
            answer => answer.map(|result| Answer::Done(Box::new(result))),
        }
    }
}

/// What servers say when an input is gone: the protocol has the first, and some have the others.
fn is_lack(code: Code) -> bool {
    matches!(code, Code::FailedPrecondition | Code::NotFound | Code::Internal)
}

async fn unneeded(is_needed: &impl Fn() -> bool) {
    while is_needed() {
        tokio::time::sleep(TICK).await;
    }
}

/// What a server says of an execution first, and where it says the rest.
type First = Result<(Operation, Streaming<Operation>), Status>;

/// An execution that is under way. A server whose answer is not waited for any more is told so, to do something else.
struct Begun<'c> {
    client: &'c Client,
    /// Until the server has answered. A task of its own, as it can be told only with the name that it answers.
    asked: Option<JoinHandle<First>>,
    /// What the server calls it, once it has said so.
    name: String,
}

impl<'c> Begun<'c> {
    fn ask(client: &'c Client, action: Digest, fresh: bool) -> Self {
        let asked = tokio::spawn(first(client.clone(), action, fresh));
        Self { client, asked: Some(asked), name: String::new() }
    }

    /// Waits for its end.
    async fn follow(&mut self) -> Result<api::ActionResult, Status> {
        let asked = self.asked.as_mut().ok_or_else(without_result)?;
        let answered = asked.await;
        self.asked = None;
        let (mut operation, mut answers) = answered.map_err(|_| without_result())??;
        while !operation.done {
            self.name = operation.name;
            operation = answers.message().await?.ok_or_else(without_result)?;
        }
        result(operation)
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        let (asked, mut name) = (self.asked.take(), std::mem::take(&mut self.name));
        if asked.is_none() && name.is_empty() {
            return;
        }
        let client = self.client.clone();
        let leave = async move {
            if let Some(asked) = asked {
                match asked.await {
                    Ok(Ok((operation, _))) if !operation.done => name = operation.name,
                    _ => return,
                }
            }
            let request = client.request(CancelOperationRequest { name });
            // Some servers have no such request. They go on, and know the result when it is asked for again.
            drop(OperationsClient::new(client.channel.clone()).cancel_operation(request).await);
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let leaves = Arc::clone(&self.client.leaves);
            leaves.fetch_add(1, Ordering::SeqCst);
            runtime.spawn(async move {
                drop(tokio::time::timeout(CANCEL, leave).await);
                leaves.fetch_sub(1, Ordering::SeqCst);
            });
        }
    }
}

/// Asks for an execution.
async fn first(client: Client, action: Digest, fresh: bool) -> First {
    let request = client.request(api::ExecuteRequest {
        instance_name: client.instance.clone(),
        skip_cache_lookup: fresh,
        action_digest: Some(action.message()),
        inline_stderr: true,
        ..api::ExecuteRequest::default()
    });
    let mut execution =
        ExecutionClient::new(client.channel.clone()).max_decoding_message_size(LARGEST_MESSAGE);
    let stall = STALL.min(client.timeout());
    let slow = |_| too_slow();
    let answers = tokio::time::timeout(stall, execution.execute(request));
    let mut answers = answers.await.map_err(slow)??.into_inner();
    let first = tokio::time::timeout(stall, answers.message()).await.map_err(slow)??;
    Ok((first.ok_or_else(without_result)?, answers))
}

fn without_result() -> Status {
    Status::unavailable("an execution ended without a result")
}

/// What an operation that is done came to.
fn result(operation: Operation) -> Result<api::ActionResult, Status> {
    let said = |status: bazel_remote_apis::google::rpc::Status| {
        Status::new(Code::from_i32(status.code), status.message)
    };
    let response = match operation.result {
        Some(operation::Result::Response(any)) => api::ExecuteResponse::decode(&*any.value),
        Some(operation::Result::Error(status)) => return Err(said(status)),
        None => return Err(Status::data_loss("an execution has no result")),
    };
    let response = response.map_err(|_| Status::data_loss("an execution has no result"))?;
    match response.status {
        Some(status) if status.code != 0 => Err(said(status)),
        _ => response.result.ok_or_else(|| Status::data_loss("an execution has no result")),
    }
}
