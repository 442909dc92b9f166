//! Idempotency keys: the first answer is kept and told again.
use super::RunHarvester;
use crate::http::digest;
use crate::{Request, Response};

/// What a key stands for.
#[derive(Clone, Debug)]
pub(super) struct KeyEntry {
    created_ms: u64,
    /// The digest of the request's route and body.
    identity: String,
    answer: Response,
}

impl RunHarvester {
    /// The key of a request that is new, or the answer where the key settles it.
    pub(super) fn fresh_key(&mut self, now: u64, request: &Request) -> Result<String, Response> {
        let key = request.header("idempotency-key").unwrap_or_default().to_owned();
        if key.is_empty() {
            let code = "IDEMPOTENCY_KEY_REQUIRED";
            return Err(self.refuse(400, code, "This call needs an Idempotency-Key."));
        }
        let kept_ms = self.config.key_retention_ms;
        self.keys.retain(|_, entry| now < entry.created_ms.saturating_add(kept_ms));
        match self.keys.get(&key) {
            None => Ok(key),
            Some(entry) if entry.identity == identity(request) => {
                Err(entry.answer.clone().with_header("idempotency-replayed", "true"))
            }
            Some(_) => {
                self.ledger.key_mismatches += 1;
                let code = "IDEMPOTENCY_KEY_REUSED";
                Err(self.refuse(409, code, "This key came with another request before."))
            }
        }
    }

    /// Remembers the answer that an accepted request with this key gets from now on.
    pub(super) fn keep_key(&mut self, now: u64, key: String, request: &Request, got: &Response) {
        let identity = identity(request);
        self.keys.insert(key, KeyEntry { created_ms: now, identity, answer: got.clone() });
    }
}

fn identity(request: &Request) -> String {
    digest(&[request.route().as_bytes(), &request.body])
}
