//! What a service says back of a credential goes no further: no text that is taken from an answer holds
//! a secret of the request that it answers, however it is written there.

use crate::model::answer::Answer;
use crate::model::facts::Fact;
use crate::model::http::Headers;
use crate::model::pages::Turn;
use crate::rules::classify::RESULT_FACT;
use crate::rules::credential::parts;
use crate::rules::disguise::Sought;

/// Stands for a secret in a text for people.
const WITHHELD: &str = "[withheld]";

/// The parts of one credential that go no further, and whether each is a secret (see [`parts`]): what is
/// none is kept out of messages alone. There is no `Debug`.
pub(super) struct Secrets(Vec<(Sought, bool)>);

impl Secrets {
    pub(super) fn of(credential: &Headers) -> Self {
        let all = credential.iter().flat_map(|(name, value)| parts(name, value));
        Self(all.map(|(text, secret)| (Sought::new(&text), secret)).collect())
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
        self.0.iter().any(|(part, secret)| *secret && part.is_in(text))
    }

    /// Secrets first: what is none may be a piece of one, and would leave the rest of it.
    fn withhold(&self, text: &mut String) {
        for wanted in [true, false] {
            for (part, _) in self.0.iter().filter(|(_, secret)| *secret == wanted) {
                *text = part.replaced(text, WITHHELD);
            }
        }
    }
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
        let paged = Paged { kept: kept("text/plain"), pages: 1, items: 1, next, digest: None };
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
        let so_far = Paged { kept, pages: 0, items: 0, next, digest: None };
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

    fn cleansed(field: &str, value: &str, name: &str, text: &str) -> Option<String> {
        let mut own = Answer::default();
        own.facts.values.insert(name.into(), Fact::Text(text.into()));
        Secrets::of(&[(field, value)].into_iter().collect()).cleanse(&mut own);
        own.facts.text(name).map(String::from)
    }

    #[test]
    fn the_name_of_a_scheme_or_parameter_is_no_secret() {
        for (value, code) in [
            (
                "Signature keyId=\"k1\",algorithm=\"rsa-sha256\",signature=\"AbCdEfGhIjKl\"",
                "SIGNATURE_EXPIRED",
            ),
            ("ApiToken 0123456789abcdef", "INVALID_APITOKEN"),
            (
                "AWS4-HMAC-SHA256 Credential=AKIA/x, SignedHeaders=host, Signature=0a1b2c3d4e",
                "InvalidCredentials",
            ),
        ] {
            assert_eq!(cleansed("authorization", value, "code", code).as_deref(), Some(code));
        }
    }

    #[test]
    fn an_account_beside_the_secret_may_stand_in_ids() {
        let value = "HMAC account=acme-production, mac=0123456789abcdef";
        let id = "acme-production/jobs/17";
        assert_eq!(cleansed("authorization", value, "id", id).as_deref(), Some(id));
    }

    #[test]
    fn what_the_credential_is_made_of_is_a_secret_too() {
        for (value, secret) in [
            ("Basic YW5uOmNvcnJlY3QtaG9yc2U=", "correct-horse"),
            ("Key key-id-0001:secret-half-0123456789", "secret-half-0123456789"),
        ] {
            let message = ["the password ", secret, " is wrong"].concat();
            let told = cleansed("authorization", value, "message", &message).unwrap_or_default();
            assert!(!told.contains(secret), "{told}");
        }
    }

    #[test]
    fn an_escape_of_json_hides_nothing() {
        let told = cleansed(
            "authorization",
            "Bearer sk_live_0123456789",
            "message",
            "no \\u0073k_live_0123456789",
        );
        assert!(!told.unwrap_or_default().contains("k_live_0123456789"));
    }
}
