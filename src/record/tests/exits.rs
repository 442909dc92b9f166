use super::arbitrary::usual;
use crate::model::dice::Dice;
use crate::model::hold::{Hold, ParkReason};
use crate::model::life::Life;
use crate::model::operation::Operation;
use crate::model::policy::LimitsPatch;
use crate::model::profile::Profile;
use crate::model::time::Timestamp;
use crate::rules::exits::exits;
use crate::rules::profile;
use crate::rules::step::{Command, Input, Resolution, step};

const NOW: Timestamp = Timestamp(1_790_000_100_000);

fn own_profile() -> Profile {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/pkg-template/profiles/runharvester.json");
    profile::read(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// How far operations come before they park.
fn lives() -> Vec<Life> {
    let unsent = Life::new();
    let mut unknown = Life::new();
    unknown.write_ahead(Timestamp(1), 1, 1, Some("org_1".into())).unwrap();
    unknown.lost().unwrap();
    let work = usual().life;
    let mut complete = work.clone();
    complete.completed(None, false).unwrap();
    vec![unsent, unknown, work, complete]
}

fn parked() -> Vec<(ParkReason, Operation)> {
    let mut all = Vec::new();
    for life in lives() {
        for reason in ParkReason::ALL {
            let mut operation = Operation { life: life.clone(), ..usual() };
            operation.life.park(NOW, *reason).unwrap();
            all.push((*reason, operation));
        }
    }
    all
}

fn commands() -> Vec<(&'static str, Command)> {
    let resume = |limits, accept_duplicate| Command::Resume { limits, accept_duplicate };
    let patch = LimitsPatch { attempts: Some(99), ..LimitsPatch::default() };
    vec![
        ("resume()", resume(None, false)),
        ("resume({limits})", resume(Some(patch), false)),
        ("resume({acceptRisk: \"duplicate\"})", resume(None, true)),
        ("resolve({found})", Command::Resolve(Resolution::Found("j".into()))),
        ("resolve(\"not-executed\")", Command::Resolve(Resolution::NotExecuted)),
        ("resolve(\"abandon\")", Command::Resolve(Resolution::Abandon)),
    ]
}

#[test]
fn every_park_has_exits_and_they_are_public() {
    let types = concat!(env!("CARGO_MANIFEST_DIR"), "/pkg-template/index.d.ts");
    let types = std::fs::read_to_string(types).unwrap();
    for (reason, operation) in parked() {
        let offered = exits(&operation);
        assert!(!offered.is_empty(), "{}", reason.name());
        for exit in offered {
            let quoted = [format!("\"{exit}\""), format!("'{exit}'")];
            assert!(quoted.iter().any(|text| types.contains(text)), "{exit}");
        }
    }
    assert!(exits(&usual()).is_empty());
}

#[test]
fn what_is_offered_leads_out_of_the_park() {
    let profile = own_profile();
    for (reason, operation) in parked() {
        let offered = exits(&operation);
        for (exit, command) in commands() {
            if !offered.contains(&exit) {
                continue;
            }
            let mut dice = Dice::seeded(1);
            let done = step(&operation, &profile, NOW, &mut dice, Input::Command(command));
            let after =
                done.unwrap_or_else(|refused| panic!("{}: {exit}: {refused}", reason.name()));
            assert!(!matches!(after.operation.life.hold, Hold::Parked { .. }), "{exit}");
        }
    }
}

#[test]
fn what_is_not_offered_is_refused() {
    let profile = own_profile();
    for (reason, operation) in parked() {
        let offered = exits(&operation);
        for (exit, command) in commands() {
            // Where plain resume() leads on, its options do no harm.
            let resumes = exit.starts_with("resume(") && offered.contains(&"resume()");
            if offered.contains(&exit) || resumes {
                continue;
            }
            let mut dice = Dice::seeded(1);
            let done = step(&operation, &profile, NOW, &mut dice, Input::Command(command));
            assert!(done.is_err(), "{}: {exit}", reason.name());
        }
    }
}

#[test]
fn accepting_the_risk_frees_an_operation_from_its_first_scope() {
    let mut operation = Operation { life: lives().swap_remove(1), ..usual() };
    operation.life.park(NOW, ParkReason::ScopeChanged).unwrap();
    let profile = own_profile();
    let command = Command::Resume { limits: None, accept_duplicate: true };
    let mut dice = Dice::seeded(1);
    let resumed = step(&operation, &profile, NOW, &mut dice, Input::Command(command)).unwrap();
    let purpose = crate::model::profile::Purpose::Submit;
    let send = Input::Send { purpose, scope: Some("org_2".into()) };
    let sent = step(&resumed.operation, &profile, NOW, &mut dice, send).unwrap();
    assert_eq!(sent.send, Some(purpose));
}
