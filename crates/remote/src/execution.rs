//! Remote execution of actions.

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
use super::observed::Call;
use api::execution_client::ExecutionClient;

/// Time for a server to acknowledge an execution.
const STALL: Duration = Duration::from_secs(10);
/// Interval of checks if the result is still needed.
pub(super) const TICK: Duration = Duration::from_millis(50);
/// Time for cancelling unneeded executions: the build ends without waiting longer for the server.
pub(super) const CANCEL: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) enum Answer {
    /// With any exit status.
    Done(Box<api::ActionResult>),
    /// Missing input, or an error that can mean this.
    Lacking(String),
    Unneeded,
}

impl Client {
    /// Executes an action while `is_needed`. `fresh` ignores earlier results.
    pub async fn execute(
        &self,
        action: Digest,
        fresh: bool,
        is_needed: impl Fn() -> bool,
    ) -> Result<Answer, Failure> {
        let once = || async { (false, self.execute_once(action, fresh, &is_needed).await) };
        self.try_often(&Call::new("Execute"), once).await
    }

    async fn execute_once(
        &self,
        action: Digest,
        fresh: bool,
        is_needed: &impl Fn() -> bool,
    ) -> Result<Answer, Status> {
        let mut running = RunningExecution::start(self, action, fresh);
        let answer = tokio::select! {
            answer = running.follow() => answer,
            () = unneeded(is_needed) => return Ok(Answer::Unneeded),
        };
        running.name.clear();
        match answer {
            Err(status) if is_lack(status.code()) => Ok(Answer::Lacking(self.status_text(&status))),
            answer => answer.map(|result| Answer::Done(Box::new(result))),
        }
    }
}

/// Missing inputs: the first is the protocol's code, some servers use the others.
fn is_lack(code: Code) -> bool {
    matches!(code, Code::FailedPrecondition | Code::NotFound | Code::Internal)
}

async fn unneeded(is_needed: &impl Fn() -> bool) {
    while is_needed() {
        tokio::time::sleep(TICK).await;
    }
}

type First = Result<(Operation, Streaming<Operation>), Status>;

/// Execution in progress. Dropping cancels it on the server.
struct RunningExecution<'c> {
    client: &'c Client,
    /// Separate task, because cancelling needs the name in the answer.
    task: Option<JoinHandle<First>>,
    name: String,
}

impl<'c> RunningExecution<'c> {
    fn start(client: &'c Client, action: Digest, fresh: bool) -> Self {
        let task = tokio::spawn(first(client.clone(), action, fresh));
        Self { client, task: Some(task), name: String::new() }
    }

    async fn follow(&mut self) -> Result<api::ActionResult, Status> {
        let task = self.task.as_mut().ok_or_else(without_result)?;
        let joined = task.await;
        self.task = None;
        let (mut operation, mut answers) = joined.map_err(|_| without_result())??;
        while !operation.done {
            self.name = operation.name;
            operation = answers.message().await?.ok_or_else(without_result)?;
            // Answers without a pause would keep the other branch of `select!` from its turn.
            tokio::task::yield_now().await;
        }
        result(operation)
    }
}

impl Drop for RunningExecution<'_> {
    fn drop(&mut self) {
        let (task, mut name) = (self.task.take(), std::mem::take(&mut self.name));
        if task.is_none() && name.is_empty() {
            return;
        }
        let client = self.client.clone();
        let leave = async move {
            if let Some(task) = task {
                match task.await {
                    Ok(Ok((operation, _))) if !operation.done => name = operation.name,
                    _ => return,
                }
            }
            let request = client.request(CancelOperationRequest { name });
            // Some servers lack this request; they have the result for a later one.
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

fn result(operation: Operation) -> Result<api::ActionResult, Status> {
    let status_of = |status: bazel_remote_apis::google::rpc::Status| {
        Status::new(Code::from_i32(status.code), status.message)
    };
    let response = match operation.result {
        Some(operation::Result::Response(any)) => api::ExecuteResponse::decode(&*any.value),
        Some(operation::Result::Error(status)) => return Err(status_of(status)),
        None => return Err(Status::data_loss("an execution has no result")),
    };
    let response = response.map_err(|_| Status::data_loss("an execution has no result"))?;
    match response.status {
        Some(status) if status.code != 0 => Err(status_of(status)),
        _ => response.result.ok_or_else(|| Status::data_loss("an execution has no result")),
    }
}
