//! What a stream tells while it goes on.

use super::Driver;
use super::exchange::add_header_facts;
use super::keep::Reader;
use super::ports::{Clock, Ports};
use super::secrets::Secrets;
use crate::engine::{Input, Transmit};
use crate::model::answer::Answer;
use crate::model::http::Headers;
use crate::model::time::Timestamp;
use crate::rules::bounds::STREAM_NEWS_MS;

/// When the engine was last told of a stream, and what it has not been told yet.
pub(super) struct News {
    told_at: Timestamp,
    id: Option<String>,
    pub(super) pending: bool,
}

impl News {
    /// Nothing is to be told at this time.
    pub(super) const fn since(now: Timestamp) -> Self {
        Self { told_at: now, id: None, pending: false }
    }
}

impl<P: Ports> Driver<P> {
    /// Tells the engine what a stream has told: an id at once, other news at most once a second, and
    /// that it goes on in good time.
    pub(super) fn tell(
        &self,
        transmit: &Transmit,
        secrets: &Secrets,
        (reader, headers): (&Reader, &Headers),
        answer: &Answer,
        news: &mut News,
    ) {
        let since_ms = self.0.ports.runtime().now().since(news.told_at);
        let due = since_ms >= transmit.untold_ms;
        if !(due || news.pending) {
            return;
        }
        let mut facts = reader.told();
        add_header_facts(&transmit.facts, answer.status, headers, &mut facts);
        let id = facts.text("id").map(String::from);
        let named = id.is_some() && id != news.id;
        if !(due || named || since_ms >= STREAM_NEWS_MS) {
            return;
        }
        *news = News { told_at: self.0.ports.runtime().now(), id, pending: false };
        let mut told = Answer { facts, ..answer.clone() };
        secrets.cleanse(&mut told);
        self.feed(Input::Heard(transmit.id.clone(), Box::new(told)));
    }
}
