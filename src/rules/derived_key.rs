//! Keys that whoever has the same intent makes again.

use crate::model::ids::IdempotencyKey;
use crate::model::operation::Identity;
use crate::rules::digest::{hex, sha256};

/// What other digests cannot begin with.
const DOMAIN: &[u8] = b"holdfast derived key 1";

/// The key of an operation, made from whose it is, its intent, its request and its ordinal: a wiped
/// store or a second device comes to the same, and so to the same execution, as long as the service
/// keeps the key. A UUID of version 8 (RFC 9562), which every profile allows.
pub fn derived_key(identity: &Identity) -> IdempotencyKey {
    let digest = sha256(&[
        DOMAIN,
        identity.account.as_str().as_bytes(),
        identity.service.as_str().as_bytes(),
        identity.intent.as_str().as_bytes(),
        identity.fingerprint.as_bytes(),
        &identity.ordinal.to_be_bytes(),
    ]);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    bytes[6] = 0x80 | (bytes[6] & 0x0F);
    bytes[8] = 0x80 | (bytes[8] & 0x3F);
    let mut text = String::new();
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&hex(&[*byte]));
    }
    IdempotencyKey(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::Timestamp;

    fn identity() -> Identity {
        Identity {
            id: "op".into(),
            account: "ann".into(),
            service: "reports".into(),
            origin: "https://api.example.com".into(),
            intent: "daily".into(),
            ordinal: 0,
            parent: None,
            key: "".into(),
            fingerprint: "f".into(),
            profile: "p".into(),
            profile_digest: "d".into(),
            created_at: Timestamp(1),
        }
    }

    #[test]
    fn it_is_the_same_whoever_makes_it_and_whenever() {
        let elsewhere = Identity { id: "other".into(), created_at: Timestamp(9), ..identity() };
        assert_eq!(derived_key(&elsewhere), derived_key(&identity()));
        assert_eq!(derived_key(&identity()).as_str(), "68b6697c-96dd-8d8a-a5ab-75e2398df76c");
    }

    #[test]
    fn whatever_makes_it_other_work_makes_it_another_key() {
        let others = [
            Identity { account: "bob".into(), ..identity() },
            Identity { service: "maps".into(), ..identity() },
            Identity { intent: "weekly".into(), ..identity() },
            Identity { fingerprint: "g".into(), ..identity() },
            Identity { ordinal: 1, ..identity() },
        ];
        for other in others {
            assert_ne!(derived_key(&other), derived_key(&identity()), "{other:?}");
        }
    }

    #[test]
    fn it_is_a_uuid_of_version_8() {
        let key = derived_key(&identity());
        let uuid = uuid::Uuid::parse_str(key.as_str()).unwrap();
        assert_eq!(uuid.get_version_num(), 8);
        assert_eq!(uuid.get_variant(), uuid::Variant::RFC4122);
    }
}
