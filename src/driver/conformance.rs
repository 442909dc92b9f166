//! What every store must do, one behaviour a function, to be run where the store really lives.
//!
//! A behaviour gets a closure that opens a handle on storage that is empty at first; each call
//! gives another handle on the same storage. Run them one test each with
//! [`store_behaviours!`](crate::store_behaviours), or all together with [`all`]:
//!
//! ```
//! use holdfast::driver::memory::MemoryStore;
//!
//! macro_rules! tests {
//!     ($($name:ident)*) => {$(
//!         fn $name() {
//!             let store = MemoryStore::new();
//!             pollster::block_on(holdfast::driver::conformance::$name(|| store.clone()));
//!         }
//!     )*};
//! }
//! holdfast::store_behaviours!(tests);
//! # repeated_writes_change_nothing();
//! ```
#![allow(clippy::unwrap_used, missing_docs, reason = "test code, and the names are sentences")]

mod bodies;
mod commits;
mod erasure;
pub(super) mod fixtures;
mod handles;
mod journal;
mod lanes;
mod likeness;
mod list;
mod names;
mod queues;

pub use bodies::*;
pub use commits::*;
pub use erasure::*;
pub use handles::*;
pub use journal::*;
pub use lanes::*;
pub use likeness::*;
pub use list::*;
pub use names::*;
pub use queues::*;

use super::ports::store::Store;

/// Calls a macro with the names of all behaviours.
#[macro_export]
macro_rules! store_behaviours {
    ($callback:ident) => {
        $callback! {
            an_empty_store_answers_with_nothing
            an_empty_batch_is_complete
            a_row_is_read_back_as_it_was_written
            a_first_write_onto_a_stored_row_is_stale
            a_write_replaces_the_revision_that_it_states
            a_write_that_states_another_revision_is_stale
            a_write_that_replaces_a_missing_row_is_stale
            repeated_writes_change_nothing
            a_repeated_write_is_late_once_its_lane_is_lost
            a_write_that_was_replaced_since_is_stale
            a_failing_member_is_skipped_whole
            two_operations_change_together
            of_two_that_change_together_neither_does_where_one_has_moved
            a_failing_member_hinders_no_other
            members_see_what_earlier_members_wrote
            a_name_finds_its_operation
            a_taken_name_is_refused_with_its_operation
            a_name_moves_to_the_newest_operation
            a_name_does_not_move_from_where_it_does_not_stand
            an_operation_may_state_its_own_name_again
            names_are_apart_by_account_and_service
            a_service_id_belongs_to_one_operation
            an_operation_may_take_its_own_service_id_again
            service_ids_are_apart_by_profile
            a_key_belongs_to_one_operation
            keys_are_apart_by_account_and_service_and_from_service_ids
            of_a_write_that_is_refused_for_one_thing_nothing_is_taken
            a_body_is_read_back_byte_for_byte
            a_body_is_written_once
            a_profile_may_be_stated_by_many_operations
            pieces_of_results_are_apart
            a_piece_of_a_result_may_be_written_again
            only_the_owner_of_the_lane_keeps_pieces
            the_last_piece_of_a_result_is_there_with_its_write_or_not_at_all
            content_goes_and_the_rest_stays
            everything_goes_and_is_free_again
            erasing_everything_again_is_done
            erasing_leaves_what_has_come_to_stand_for_others
            what_has_moved_on_is_not_erased
            journal_entries_come_oldest_first
            a_journal_entry_replaces_that_of_its_number
            a_journal_keeps_the_newest_entries
            journals_of_operations_are_apart
            what_is_due_comes_soonest_first
            due_rows_come_whole
            what_is_due_later_is_only_told_as_next
            what_is_due_beyond_the_limit_is_only_told_as_next
            what_is_due_together_comes_by_id
            a_row_that_is_not_due_is_in_no_queue
            a_queue_follows_its_rows
            work_and_delivery_are_queues_apart
            queues_of_lanes_are_apart
            a_list_begins_with_the_newest
            a_list_gives_whole_rows_whether_due_or_not
            pages_of_a_list_have_every_row_once
            a_cursor_needs_no_row_of_its_own
            the_work_of_one_account_is_not_listed_for_another
            a_new_lane_is_claimed
            a_held_lane_stays_as_it_is
            a_lease_of_a_clock_that_jumped_back_begins_anew
            an_overdue_lane_changes_hands
            a_dead_owners_lane_changes_hands_at_once
            an_owner_claims_again_under_its_epoch
            an_owners_write_renews_its_lease
            a_gate_stays_until_another_is_set
            what_has_left_in_a_lane_is_known_to_its_next_owner
            a_former_owner_writes_nothing
            an_older_epoch_of_the_same_context_is_fenced
            a_write_to_a_lane_that_nobody_owns_is_fenced
            being_fenced_is_told_before_being_stale
            a_lane_that_is_given_back_is_free
            a_former_owner_gives_nothing_back
            another_contexts_write_shortens_the_lease
            a_write_that_pokes_nobody_leaves_the_lane
            what_one_handle_writes_another_reads
            of_two_handles_one_gets_the_name
            of_two_handles_one_replaces_the_revision
            of_two_handles_one_gets_the_lane
            calls_on_one_handle_may_overlap
            a_dropped_connection_loses_nothing
            a_store_answers_as_the_store_in_memory_does
        }
    };
}

/// Runs all behaviours, each on the storage of its own name, and tells of each that has passed.
/// Panics at the first that fails.
pub async fn all<S: Store>(open: impl Fn(&str) -> S, mut passed: impl FnMut(&str)) {
    macro_rules! each {
        ($($name:ident)*) => {$(
            $name(|| open(stringify!($name))).await;
            passed(stringify!($name));
        )*};
    }
    store_behaviours!(each);
}

#[cfg(test)]
mod tests {
    use crate::driver::memory::MemoryStore;

    macro_rules! of_the_store_in_memory {
        ($($name:ident)*) => {$(
            #[test]
            fn $name() {
                let store = MemoryStore::new();
                pollster::block_on(super::$name(|| store.clone()));
            }
        )*};
    }
    store_behaviours!(of_the_store_in_memory);
}
