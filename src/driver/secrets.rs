//! What a service says back of a credential goes no further: no text that is taken from an answer holds
//! a secret of the request that it answers, however it is written there.

use crate::model::answer::Answer;
use crate::model::facts::Fact;
use crate::model::http::Headers;
use crate::model::pages::Turn;
use crate::rules::classify::RESULT_FACT;
use crate::rules::disguise::Sought;
use crate::rules::text::split_once;

/// Stands for a secret in a text for people.
const WITHHELD: &str = "[withheld]";

/// What is shorter is no secret, in bytes: it stands in many a text by chance.
const SECRET_BYTES_MIN: usize = 8;

/// What names of header fields hold whose values are secrets.
const NAMES: &[&str] =
    &["auth", "cookie", "cred", "key", "pass", "secret", "session", "sign", "token"];

/// The secrets of one credential: each value of its header fields in its parts (`Bearer …`, `sid=…`),
/// and whether its field is named like one. Where it is not, the value may be that of an account or a
/// project, which ids and links name too: it is kept out of messages alone. There is no `Debug`.
pub(super) struct Secrets(Vec<(Sought, bool)>);

impl Secrets {
    pub(super) fn of(credential: &Headers) -> Self {
        let mut all = Vec::new();
        for (name, value) in credential.iter() {
            let name = name.to_ascii_lowercase();
            let named = NAMES.iter().any(|own| holds(&name, own));
            let mut rest = value;
            while !rest.is_empty() {
                let end = rest.bytes().position(|byte| b" ,;=\"".contains(&byte));
                let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
                if part.len() >= SECRET_BYTES_MIN {
                    all.push((Sought::new(part), named));
                }
                rest = after.get(1..).unwrap_or_default();
            }
        }
        Self(all)
    }

    /// Takes the secrets out of an answer: messages are told without them; an id, a link or a word
    /// that holds one is none.
    pub(super) fn cleanse(&self, answer: &mut Answer) {
        let values = &mut answer.facts.values;
        if let Some(Fact::Text(message)) = values.get_mut("message") {
            self.withhold(message);
        }
        let mut spoilt = Vec::new();
        for (name, fact) in values.iter() {
            if let Fact::Text(text) | Fact::Number(text) = fact
                && name != RESULT_FACT
                && self.are_in(text)
            {
                spoilt.push(name.clone());
            }
        }
        for name in spoilt {
            values.remove(&name);
        }
        if let Some(fault) = &mut answer.schema_fault {
            self.withhold(fault);
        }
        if let Some(page) = &answer.page
            && (page.found.iter().any(|id| self.are_in(id.as_str()))
                || page.next.as_ref().is_some_and(|next| self.are_in(next)))
        {
            answer.page = None;
        }
        if let Some(Turn::Next(paged)) = &answer.turn
            && self.are_in(&paged.next)
        {
            answer.turn = None;
        }
        let so_far = match &mut answer.turn {
            Some(Turn::Next(paged)) => Some(&mut paged.kept),
            Some(Turn::Last | Turn::Broken(_) | Turn::Anew) | None => None,
        };
        for kept in answer.kept.iter_mut().chain(so_far) {
            kept.media_type = kept.media_type.take().filter(|own| !self.are_in(own));
        }
    }

    fn are_in(&self, text: &str) -> bool {
        self.0.iter().any(|(secret, named)| *named && secret.is_in(text))
    }

    fn withhold(&self, text: &mut String) {
        for (secret, _) in &self.0 {
            *text = secret.replaced(text, WITHHELD);
        }
    }
}

fn holds(text: &str, part: &str) -> bool {
    split_once(text, part).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ending::ResultRef;
    use crate::model::listing::Page;
    use crate::model::pages::Paged;
    use crate::model::time::Timestamp;

    const SECRET: &str = "sk_live_0123456789";

    fn secrets() -> Secrets {
        let bearer = ["Bearer ", SECRET].concat();
        let cookie = ["sid=", SECRET, "; theme=dark"].concat();
        Secrets::of(&[("Authorization", bearer), ("cookie", cookie)].into_iter().collect())
    }

    fn kept(media_type: &str) -> ResultRef {
        ResultRef {
            download: 1,
            chunks: 1,
            bytes: 1,
            sha256: String::new(),
            media_type: Some(media_type.into()),
            at: None,
            stream: None,
            items: None,
            earlier: Vec::new(),
            captured_at: Timestamp(0),
        }
    }

    /// An answer with this text in every place that a text can be taken from.
    fn answer(text: &str) -> Answer {
        let mut answer = Answer::default();
        for name in ["id", "code", "message", "status", "requestId", "location", "page:next"] {
            let fact = Fact::Text(["a ", text, " b"].concat());
            answer.facts.values.insert(name.into(), fact);
        }
        answer.facts.values.insert("traceId".into(), Fact::Number(text.into()));
        answer.page = Some(Page { found: vec![text.into()], ..Page::default() });
        let next = text.to_owned();
        let paged = Paged { kept: kept("text/plain"), pages: 1, items: 1, next };
        answer.turn = Some(Turn::Next(Box::new(paged)));
        answer.kept = Some(kept(text));
        answer.schema_fault = Some(["not ", text].concat());
        answer
    }

    #[test]
    fn no_text_of_an_answer_keeps_a_secret() {
        let mut own = answer(SECRET);
        secrets().cleanse(&mut own);
        assert!(!format!("{own:?}").contains(SECRET), "{own:?}");
        assert_eq!(own.facts.text("message"), Some("a [withheld] b"));
        assert_eq!(own.facts.text("id"), None);
        let next = Page { next: Some(SECRET.into()), ..Page::default() };
        let mut listed = Answer { page: Some(next), ..Answer::default() };
        secrets().cleanse(&mut listed);
        assert_eq!(listed.page, None);
    }

    #[test]
    fn what_is_kept_of_a_result_that_is_to_go_on_has_no_secret_either() {
        let (kept, next) = (kept(SECRET), "\"tag\"".into());
        let so_far = Paged { kept, pages: 0, items: 0, next };
        let mut own = Answer { turn: Some(Turn::Next(Box::new(so_far))), ..Answer::default() };
        secrets().cleanse(&mut own);
        assert!(own.turn.is_some() && !format!("{own:?}").contains(SECRET), "{own:?}");
    }

    #[test]
    fn a_secret_is_known_in_other_writing() {
        for text in [
            "SK_LIVE_0123456789",
            "sk%5Flive%5F0123456789",
            "sk\\_live\\_0123456789",
            // "x=sk_live_0123456789" in base64.
            "eD1za19saXZlXzAxMjM0NTY3ODk=",
        ] {
            let mut own = answer(text);
            secrets().cleanse(&mut own);
            let left = own.facts.text("message").unwrap_or_default();
            assert!(left.contains(WITHHELD) && !left.contains("0123"), "{left}");
            assert_eq!(own.facts.text("id"), None, "{text}");
        }
    }

    #[test]
    fn what_holds_no_secret_stays_as_it_is() {
        for text in ["Bearer", "invalid_token", "theme", "sk_live_", ""] {
            let mut own = answer(text);
            secrets().cleanse(&mut own);
            assert_eq!(own, answer(text));
        }
    }

    #[test]
    fn the_name_of_a_project_may_stand_in_ids_and_not_in_messages() {
        let fields = [("x-goog-user-project", "weather-maps-7")];
        let mut own = answer("weather-maps-7");
        Secrets::of(&fields.into_iter().collect()).cleanse(&mut own);
        assert_eq!(own.facts.text("id"), Some("a weather-maps-7 b"));
        assert_eq!(own.facts.text("message"), Some("a [withheld] b"));
    }
}
