//! What the app asks of operations.

use super::{intent, limits, media_type, params, read};
use crate::model::ids::{Intent, JobId};
use crate::model::operation::Carried;
use crate::model::policy::LimitsPatch;
use crate::rules::bounds::JOB_ID_BYTES_MAX;
use crate::rules::reader::{Fault, Reader};
use crate::rules::step::{Command, Resolution};

/// What the app asks of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiCommand {
    /// Something that happens to the operation itself.
    Step(Command),
    /// Running its failed job again.
    Retry {
        /// The failure that was read.
        reviewed: String,
        /// Although the input is unchanged.
        anyway: bool,
        /// Other bounds.
        limits: LimitsPatch,
    },
}

/// Reads a command.
///
/// # Errors
/// Everything that is wrong, by name.
pub fn command(text: &str) -> Result<ApiCommand, Vec<Fault>> {
    read(text, |reader| {
        reader.only(&["cancel", "resume", "resolve", "retry", "acknowledge", "delete"]);
        let mut members = reader.members();
        if members.len() != 1 {
            reader.fault("it must be one command");
        }
        let own = members.pop()?;
        Some(match own.name() {
            "cancel" => {
                own.only(&[]);
                ApiCommand::Step(Command::Cancel)
            }
            "delete" => {
                own.only(&[]);
                ApiCommand::Step(Command::Delete)
            }
            "acknowledge" => {
                own.only(&[]);
                ApiCommand::Step(Command::Acknowledge)
            }
            "resume" => {
                own.only(&["limits", "acceptRisk"]);
                let risk = own.member("acceptRisk").map(|risk| risk.one_of(&["duplicate"], |n| n));
                ApiCommand::Step(Command::Resume {
                    limits: own
                        .member("limits")
                        .map(|limits_of| limits(&limits_of))
                        .filter(|patch| *patch != LimitsPatch::default()),
                    accept_duplicate: risk.is_some(),
                })
            }
            "resolve" => ApiCommand::Step(Command::Resolve(resolution(&own)?)),
            "retry" => {
                own.only(&["reviewed", "anyway", "limits"]);
                let reviewed = own.required("reviewed").and_then(|id| id.text());
                let anyway = own.member("anyway").map_or(Some(false), |flag| flag.bool());
                let limits = own.member("limits").map(|own| limits(&own)).unwrap_or_default();
                ApiCommand::Retry { reviewed: reviewed?.into(), anyway: anyway?, limits }
            }
            _ => return None,
        })
    })
}

/// Reads an adoption: intent and job.
///
/// # Errors
/// Everything that is wrong, by name.
pub fn adoption(text: &str) -> Result<(Intent, JobId), Vec<Fault>> {
    read(text, |reader| {
        reader.only(&["intent", "jobId"]);
        let intent = reader.required("intent").and_then(|own| intent(&own));
        let job = reader.required("jobId").and_then(|own| job_id(&own));
        Some((Intent(intent?), job?))
    })
}

/// Reads a revision without its body: media type and bounds.
///
/// # Errors
/// Everything that is wrong, by name.
pub fn revision(text: &str) -> Result<(Option<String>, LimitsPatch), Vec<Fault>> {
    read(text, |reader| {
        reader.only(&["contentType", "limits"]);
        let content_type = reader.member("contentType").and_then(|own| media_type(&own));
        let patch = reader.member("limits").map(|own| limits(&own)).unwrap_or_default();
        Some((content_type, patch))
    })
}

/// Reads a question for a price without its body: media type and parameters.
///
/// # Errors
/// Everything that is wrong, by name.
pub fn inquiry(text: &str) -> Result<(Option<String>, Carried), Vec<Fault>> {
    read(text, |reader| {
        reader.only(&["contentType", "params"]);
        let content_type = reader.member("contentType").and_then(|own| media_type(&own));
        Some((content_type, params(reader)))
    })
}

fn resolution(reader: &Reader<'_>) -> Option<Resolution> {
    if reader.value_is_map() {
        reader.only(&["found"]);
        return Some(Resolution::Found(job_id(&reader.required("found")?)?));
    }
    match reader.text()? {
        "not-executed" => Some(Resolution::NotExecuted),
        "abandon" => Some(Resolution::Abandon),
        _ => {
            reader.fault("it must be {found: id}, \"not-executed\" or \"abandon\"");
            None
        }
    }
}

fn job_id(reader: &Reader<'_>) -> Option<JobId> {
    let text = reader.text()?;
    if text.is_empty() || text.len() > JOB_ID_BYTES_MAX {
        reader.fault("it must be the job's id");
    }
    Some(JobId(text.into()))
}
